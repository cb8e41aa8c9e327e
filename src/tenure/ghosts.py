"""Ghosts: the dead values that anything in a context could repeat."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tenure.context.guard import (
    Dead,
    dead_values,
    has_several_words,
    held_values,
    is_statement,
    repeatable,
    said,
)
from tenure.context.rendering import signals
from tenure.model.fact import Fact, Status
from tenure.model.records import WorkingItem
from tenure.model.values import leaves, text_of
from tenure.rules.scope import View
from tenure.search import analysis
from tenure.search.places import Hall

if TYPE_CHECKING:
    from tenure.gathering import Gathering

_ALIVE = frozenset({Status.OFFICE, Status.WAITING})
_FREQUENT = 2_000
_LONG = 2_000


def is_dead(fact: Fact) -> bool:
    """Whether what a fact says is not so, or not known to be so, for this reader now.

    A fact that waits for its time is not dead, only early.
    """
    return fact.status not in _ALIVE or fact.needs_review


class Ghosts:
    """Finds dead values by the words of the texts that are about to be shown."""

    def __init__(self, gathering: Gathering, hall: Hall, view: View) -> None:
        self._gathering = gathering
        self._hall = hall
        self._view = view
        pairs = (*view.shadowed, *view.overruled)
        self._aside = {fact.id: fact for fact, _ in pairs}
        """Facts in office that step aside for others here: not what this session goes by."""

    def dead(self, shown: Sequence[Fact]) -> list[Dead]:
        """The values that no visible fact in office holds and that these texts could have."""
        aside = list(self._aside.values())
        if not aside and not self._hall.has_suspects:
            return []
        texts = self._texts(shown)
        words = set[str]().union(*map(analysis.words, texts))
        suspects = [*self._suspects(words), *aside]
        # What no text has all the words of needs no further thought.
        found = dead_values(self._only_dead(suspects))
        return self._not_held(repeatable(found, texts))

    def _not_held(self, found: list[Dead]) -> list[Dead]:
        if not found:
            return []
        rare = [
            dead
            for dead in found
            if dead.words not in self._held
            and not (is_statement(dead.fact) and _is_said(dead, self._spoken))
        ]
        if self._hall.facts is None:
            wanted = {term for dead in rare for term in analysis.terms(dead.text)}
            self._hall.collection.expect(sorted(wanted), _FREQUENT)
        held = self._held_elsewhere(rare)
        return [dead for dead in rare if dead.words not in held]

    @cached_property
    def _live(self) -> list[Fact]:
        return [fact for fact in self._view.effective if not is_dead(fact)]

    @cached_property
    def _held(self) -> set[tuple[str, ...]]:
        """What the facts in office say."""
        return held_values(self._live)

    @cached_property
    def _spoken(self) -> list[str]:
        """The words of each of them, in a row."""
        return [f" {' '.join(said(text_of(fact.value)[:_LONG]))} " for fact in self._live]

    def _texts(self, shown: Sequence[Fact]) -> list[str]:
        """Every running text that may be shown."""
        texts = [f"{item.key} {_all_text(item.value)}" for item in self._gathering.items]
        told = signals(self._gathering.environment)
        texts.extend(f"{name} {_all_text(value)}" for name, value in told)
        texts.extend(f"{fact.key} {_all_text(fact.value)}" for fact in shown if _is_running(fact))
        return texts

    def _suspects(self, words: set[str]) -> list[Fact]:
        gathering, hall = self._gathering, self._hall
        if hall.facts is not None:
            return gathering.everything
        entries = hall.suspects(words)
        if not entries:
            return []
        rows = hall.collection.rows(sorted(entries))
        facts = gathering.reader.facts(row.fact_id for row in rows)
        lens = gathering.lens
        return [
            lens.seen(gathering.reader, fact)
            for fact in facts
            if fact.place in lens.places
            and fact.status is not Status.ERASED
            and lens.sees(gathering.reader, fact)
        ]

    def _only_dead(self, facts: Iterable[Fact]) -> list[Fact]:
        return [fact for fact in facts if fact.id in self._aside or is_dead(fact)]

    def _held_elsewhere(self, dead: Sequence[Dead]) -> set[tuple[str, ...]]:
        """What visible facts in office say that were not looked at yet, as far as it is of use."""
        if self._hall.facts is not None:
            return set()
        entries = sorted(set[int]().union(*map(self._with_all_terms, dead)))
        lens, reader = self._gathering.lens, self._gathering.reader
        rows = self._hall.collection.rows(entries) if entries else ()
        facts = lens.in_office(reader, reader.facts(row.fact_id for row in rows)) if rows else ()
        return held_values(f for f in facts if not is_dead(f) and f.id not in self._aside)

    def _with_all_terms(self, dead: Dead) -> set[int]:
        """The entries that have every term of a value, but for terms that very many have."""
        wanted = analysis.terms(dead.text)
        posted = [self._hall.collection.postings(term, _FREQUENT).entries for term in wanted]
        known = [set(entries) for entries in posted if entries is not None]
        return set.intersection(*known) if known else set()

    def gone(self, items: Sequence[WorkingItem]) -> dict[str, list[Dead]]:
        """Of the facts that notes say they stated, those that are dead now, with what they said.

        Where a fact in office says the same, the note is right again, and nothing is gone.
        """
        stated = sorted({fact_id for item in items for fact_id in item.states})
        lens, reader = self._gathering.lens, self._gathering.reader
        found: dict[str, list[Dead]] = {}
        facts = lens.by_ids(reader, stated)
        values = {fact.id: dead_values([fact]) for fact in facts.values() if is_dead(fact)}
        left = self._not_held([dead for those in values.values() for dead in those])
        for fact_id in stated:
            fact = facts.get(fact_id)
            if fact is None:
                found[fact_id] = []
            elif is_dead(fact):
                only = [dead for dead in left if dead.fact is fact]
                if is_statement(fact) and self._is_gone_whole(fact):
                    # Nothing of it stands, not even the words around its values.
                    only = [*only, _whole(fact)]
                if only or not values[fact_id]:
                    found[fact_id] = only
            elif fact.place not in lens.places:
                # A draft, a what-if, another task's: so it is only there.
                found[fact_id] = [_whole(fact)]
        return found

    def _is_gone_whole(self, fact: Fact) -> bool:
        """Whether a statement was taken back, or overtaken by one that keeps none of its words."""
        if fact.status is Status.RETRACTED:
            return True
        if fact.superseded_by is None:
            return False
        after = self._gathering.lens.by_id(self._gathering.reader, fact.superseded_by)
        return after is not None and not after.source.earlier and is_statement(after)


def _whole(fact: Fact) -> Dead:
    """All that a fact says, as one value."""
    text = text_of(fact.value)
    return Dead(said(text), text, fact)


def _is_said(dead: Dead, spoken: Sequence[str]) -> bool:
    """Whether a fact in office uses the words of a value that a statement lost."""
    words = f" {' '.join(dead.words)} "
    return any(words in text for text in spoken)


def _all_text(value: Any) -> str:
    """Everything that a value says: of a list or an object, as it is shown and text by text."""
    if isinstance(value, str):
        return value
    return " ".join((text_of(value), *leaves(value)))


def _is_running(fact: Fact) -> bool:
    """Whether a value is long enough to quote another."""
    return has_several_words(text_of(fact.value)[:200])
