"""The story of a fact, as a page tells it: what it rests on, and every verdict with its account."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from incumbent.inspector.consequences import AccountLine, account_of
from incumbent.model.fact import Cause, Fact, Status
from incumbent.model.records import Explanation
from incumbent.model.verdict import Action, Verdict

Find = Callable[[str], Fact | None]


@dataclass(frozen=True)
class StoryEntry:
    """One verdict of the story."""

    verdict: Verdict
    lines: tuple[AccountLine, ...]

    @property
    def not_told(self) -> int:
        """How many consequences are not among the lines."""
        repair = self.verdict.repair
        reached = (repair.marked, repair.lifted, repair.took_office, repair.stepped_back)
        return sum(map(len, reached)) - sum(line.label == "then" for line in self.lines)

    @property
    def can_be_undone(self) -> bool:
        """Whether there is something to undo: an undone verdict is brought back by its undo."""
        return self.verdict.undone_by is None and self.verdict.action is not Action.FORGET


@dataclass(frozen=True)
class ChangedBase:
    """Why a fact needs review: the base that changed, and the way from there."""

    base: Fact | None
    """None where it was erased or may not be seen."""
    now: Fact | None
    path: tuple[Fact, ...]


def entries_of(explained: Explanation, find: Find, *, most: int, lines: int) -> list[StoryEntry]:
    """The last verdicts on a fact and its chain, oldest first."""
    return [
        StoryEntry(verdict, tuple(account_of(verdict, find, most=lines)))
        for verdict in explained.verdicts[-most:]
    ]


def changed_bases(causes: Iterable[Cause], find: Find) -> list[ChangedBase]:
    """The causes for a review, with the facts that they name."""
    return [
        ChangedBase(
            find(cause.base),
            find(cause.now) if cause.now else None,
            tuple(fact for step in cause.path if (fact := find(step)) is not None),
        )
        for cause in causes
    ]


def chain_of(explained: Explanation, *, most: int) -> list[Fact]:
    """The facts of the story in the order in which they were recorded, the last ones.

    With the statements that never took office: overruled, contested, waiting, or withdrawn.
    """
    chain = explained.chain
    found = {fact.id: fact for fact in (*chain.facts, *chain.overruled, explained.fact)}
    for verdict in explained.verdicts:
        if verdict.fact is not None and verdict.fact.address == explained.fact.address:
            found.setdefault(verdict.fact.id, verdict.fact)
    seen = [fact for fact in found.values() if fact.status is not Status.ERASED]
    return sorted(seen, key=lambda fact: (fact.recorded_at, fact.id))[-most:]


def finder(get: Find, known: Iterable[Fact] = ()) -> Find:
    """Looks each fact up once."""
    there = {fact.id: fact for fact in known}
    looked_up = cache(get)
    return lambda fact_id: there.get(fact_id) or looked_up(fact_id)
