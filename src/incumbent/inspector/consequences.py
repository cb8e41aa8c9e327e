"""Consequences: what a rehearsed call would change, in the order and words of a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from incumbent.model.fact import Fact
from incumbent.model.records import Change
from incumbent.model.verdict import Verdict
from incumbent.words import account


@dataclass(frozen=True)
class Consequence:
    """One fact that would stand differently."""

    kind: str
    """For the eye: new, back, leaves, review, lifted, noted."""
    says: str
    before: Fact | None
    after: Fact | None

    @property
    def fact(self) -> Fact:
        """The fact as it would be, or as it was."""
        found = self.after or self.before
        assert found is not None
        return found


_ORDER = ("new", "back", "leaves", "gone", "review", "lifted", "noted")


def consequences_of(changes: Iterable[Change]) -> list[Consequence]:
    """What would happen, the facts that move first, then those that a change reaches."""
    found = [one for change in changes if (one := _consequence(change)) is not None]
    return sorted(found, key=lambda one: _ORDER.index(one.kind))


def _consequence(change: Change) -> Consequence | None:
    """None where only links change, which nobody reads."""
    before, after = change.before, change.after
    if after is None:
        return Consequence("gone", "is gone", before, after)
    if before is None:
        kind, says = ("new", "takes office") if after.is_valid else ("noted", _stays_out(after))
        return Consequence(kind, says, before, after)
    if before.status is not after.status:
        return Consequence(*_moved(before, after), before, after)
    found = _marked(before, after)
    return None if found is None else Consequence(*found, before, after)


def _stays_out(fact: Fact) -> str:
    return f"is put on record as {fact.status}"


def _moved(before: Fact, after: Fact) -> tuple[str, str]:
    if after.is_valid:
        review = ", and needs review" if after.needs_review else ""
        return "back", f"takes office{review}"
    if before.is_valid:
        return "leaves", f"leaves office: {after.status}"
    return "noted", f"is {after.status} instead of {before.status}"


def _marked(before: Fact, after: Fact) -> tuple[str, str] | None:
    if after.needs_review and not before.needs_review:
        return "review", "needs review"
    if before.needs_review and not after.needs_review:
        return "lifted", "no longer needs review"
    if {one.token for one in before.causes} != {one.token for one in after.causes}:
        return "review", "needs review for another reason"
    if before.acknowledged != after.acknowledged:
        return "noted", "is noted as still right"
    if before.until != after.until:
        return "noted", "holds for another time"
    return None


@dataclass(frozen=True)
class AccountLine:
    """A line of a verdict's account, with the fact that it leads to."""

    label: str
    text: str
    fact: Fact | None


def account_of(
    verdict: Verdict, find: Callable[[str], Fact | None], *, most: int
) -> Iterator[AccountLine]:
    """The account of a verdict in plain words, each line with its fact.

    The facts of further lines are not looked up: thousands may rest on one that changed.
    """
    met: list[Fact] = []

    def noting(fact_id: str) -> Fact | None:
        fact = find(fact_id)
        if fact is not None:
            met.append(fact)
        return fact

    for label, text in islice(account(verdict, noting), most):
        # A line about a path names the fact that it is about last.
        yield AccountLine(label, text, met[-1] if met else None)
        met.clear()
