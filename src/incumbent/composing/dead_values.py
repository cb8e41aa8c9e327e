"""The dead values that anything in a context could repeat."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from incumbent.composing.inquiry import Inquiry
from incumbent.context.guard import (
    DeadValue,
    Spoken,
    dead_values,
    has_several_words,
    held_values,
    is_statement,
    sayings,
)
from incumbent.context.reach import MEASURED, longest_line
from incumbent.context.rendering import signals
from incumbent.context.said_lines import TimeNote
from incumbent.model.fact import Fact, Status
from incumbent.model.forms import Read, common, held_as
from incumbent.model.records import WorkingItem
from incumbent.model.values import is_longer, leaves, text_of
from incumbent.model.words import Words, beginning, is_long, said
from incumbent.rules.scope import View
from incumbent.search import analysis
from incumbent.search.marks import Heard
from incumbent.search.space import SearchSpace

_NOT_DEAD = frozenset({Status.OFFICE, Status.WAITING, Status.DISCARDED})
_LONG = 2_000
Ways = tuple[Words, ...]
"""Several ways to say the same."""
_MOST_SPOKEN = 200_000
_FEW = 4


def is_dead(fact: Fact) -> bool:
    """True if the value of a fact is not true, or not known to be true, for this reader now.

    A fact that waits is not dead, and neither is one that was never kept.
    """
    return fact.status not in _NOT_DEAD or fact.needs_review


class DeadValueFinder:
    """Finds dead values by the words of the texts that are about to be shown."""

    def __init__(
        self,
        inquiry: Inquiry,
        space: SearchSpace,
        view: View,
        items: Sequence[WorkingItem],
        read: Read,
        ahead: Sequence[Fact] = (),
    ) -> None:
        """`items` are the notes and turns that may be shown, `ahead` what is said to come."""
        self._inquiry = inquiry
        self._items = items
        self._read = read
        self._ahead = ahead
        self._space = space
        self._view = view
        self._aside: dict[str, Fact] = {}
        """Facts in office that step aside for others here. This session does not go by them."""
        self._set_aside(view)

    def dead(self, shown: Sequence[Fact], notes: Sequence[TimeNote] = ()) -> list[DeadValue]:
        """The values that these texts could repeat and that no visible fact in office holds.

        `notes` are the days that we say time words mean.
        """
        if not self._aside and not self._doubled and not self._space.has_suspects:
            return []
        texts = [*self._texts(shown), *(("", note.text) for note in notes)]
        words = set[str]().union(*(analysis.words(f"{name} {text}") for name, text in texts))
        words.update(form.probe for told in texts for one in told for form in self._read(one))
        # A value whose words are not all in one text needs no further look.
        spoken = Spoken(texts, self._read)
        self._look_beside(spoken)
        suspects = [*self._suspects(words, spoken), *self._aside.values()]
        found = dead_values(self._only_dead(suspects), self._read)
        return self._not_held(list(filter(spoken.can_repeat, found)))

    def _not_held(self, found: list[DeadValue]) -> list[DeadValue]:
        if not found:
            return []
        rare = [
            dead
            for dead in found
            if not self._is_among_held(dead)
            and not (is_statement(dead.fact) and self._is_said(dead))
            and not self._is_to_come(dead)
        ]
        held = self._held_elsewhere(rare)
        return [dead for dead in rare if is_long(dead.text) or dead.words not in held]

    @cached_property
    def _live(self) -> list[Fact]:
        return [fact for fact in self._view.effective if not is_dead(fact)]

    def _is_to_come(self, dead: DeadValue) -> bool:
        """Whether a value was taken back as what is so, and is said as what is to be so."""
        taken_back = dead.fact.status is Status.WITHDRAWN
        return taken_back and _is_one(held_values(self._ahead, self._read), dead.ways)

    def _is_among_held(self, dead: DeadValue) -> bool:
        if is_long(dead.text):
            return dead.text.strip() in self._held_at_length
        return _is_one(self._held, dead.ways)

    @cached_property
    def _held(self) -> set[Words]:
        """The values of the facts in office, except very large ones. A value that only a large fact
        holds is cut out of other texts."""
        short = (fact for fact in self._live if not is_longer(fact.value, MEASURED))
        return held_values(short, self._read)

    @cached_property
    def _held_at_length(self) -> set[str]:
        """The long texts of the facts in office. They are compared character by character."""
        texts = (fact.value for fact in self._live if isinstance(fact.value, str))
        return {text.strip() for text in texts if is_long(text)}

    @cached_property
    def _spoken(self) -> str:
        """The words of each fact in office, a row each, up to a limit on the whole text."""
        rows: list[str] = []
        left = _MOST_SPOKEN
        for fact in self._live:
            if is_longer(fact.value, MEASURED):
                continue
            text = text_of(fact.value)[: min(_LONG, left)]
            left -= len(text)
            rows.append(" ".join(said(text)))
        return "".join(f" {row} \n" for row in rows)

    def _is_spoken(self, dead: DeadValue) -> bool:
        """Whether a fact in office uses the words of a value that a statement lost."""
        return f" {' '.join(dead.words)} " in self._spoken

    @cached_property
    def _spoken_forms(self) -> set[Words]:
        """The days, times and amounts in the facts in office."""
        facts = (fact for fact in self._live if not is_longer(fact.value, MEASURED))
        texts = (text_of(fact.value)[:_LONG] for fact in facts)
        return {(word,) for text in texts for form in self._read(text) for word in held_as(form)}

    def _is_said(self, dead: DeadValue) -> bool:
        """Whether a fact in office has a value that a statement lost, in any form."""
        return _is_one(self._spoken_forms, dead.ways) or self._is_spoken(dead)

    def _texts(self, shown: Sequence[Fact]) -> list[tuple[str, str]]:
        """Every running text that may be shown, with its name."""
        texts = [(item.key, _all_text(item.value)) for item in self._items]
        longest = longest_line(self._inquiry.request.budget)
        told = signals(self._inquiry.environment)
        texts.extend((n, _all_text(v)) for n, v in told if not is_longer(v, longest))
        texts.extend((fact.key, _all_text(fact.value)) for fact in shown if _is_running(fact))
        return texts

    def _suspects(self, words: set[str], spoken: Spoken) -> list[Fact]:
        inquiry, space = self._inquiry, self._space
        if space.facts is not None:
            return inquiry.everything

        def may_be_repeated(heard: Heard) -> bool:
            return spoken.can_repeat_one(heard.sayings)

        if (then := inquiry.bygone(space)) is not None:
            told = then.suspected(words, may_be_repeated)
            space.hear({entry: self._hearing(fact) for entry, fact in told})
            return [fact for _, fact in told]
        entries = space.suspects(words, may_be_repeated)
        facts = self._listened_to(entries).values()
        lens = inquiry.lens
        return [
            lens.seen(inquiry.reader, fact)
            for fact in facts
            if fact.place in lens.places
            and fact.status is not Status.ERASED
            and lens.sees(inquiry.reader, fact)
        ]

    @cached_property
    def _doubled(self) -> set[int]:
        """Entries on matters with several entries; empty if all facts are looked at anyway."""
        return set() if self._inquiry.looks_at_all(self._space) else self._space.doubled()

    def _look_beside(self, spoken: Spoken) -> None:
        """Also set aside the facts that the query did not find and that one of the texts may
        repeat."""
        inquiry, space = self._inquiry, self._space
        if space.facts is not None and not inquiry.looks_at_all(space):
            self._set_aside(inquiry.resolved(space.facts))
        if (then := inquiry.bygone(space)) is not None and not inquiry.looks_at_all(space):
            self._set_aside(inquiry.resolved(then.doubled()))
        told = {entry: self._heard(entry) for entry in self._doubled}
        wanted = [
            entry
            for entry, heard in told.items()
            if heard is None or spoken.can_repeat_one(heard.sayings)
        ]
        facts = self._listened_to(wanted).values() if wanted else ()
        repeated = [fact for fact in facts if spoken.can_repeat_one(sayings(fact, self._read))]
        if repeated:
            seen = inquiry.lens.in_office(inquiry.reader, repeated)
            self._set_aside(inquiry.resolved(inquiry.nearby(seen, space)))

    def _set_aside(self, view: View) -> None:
        pairs = (*view.shadowed, *view.overruled)
        self._aside.update((fact.id, fact) for fact, _ in pairs)

    def _only_dead(self, facts: Iterable[Fact]) -> list[Fact]:
        return [fact for fact in facts if fact.id in self._aside or is_dead(fact)]

    def _listened_to(self, entries: Iterable[int]) -> dict[int, Fact]:
        """The facts of entries. Their sayings are remembered."""
        rows = self._space.collection.rows(sorted(entries))
        facts = self._inquiry.reader.facts(row.fact_id for row in rows) if rows else ()
        by_id = {fact.id: fact for fact in facts}
        found = {row.entry: by_id[row.fact_id] for row in rows if row.fact_id in by_id}
        self._space.hear({entry: self._hearing(fact) for entry, fact in found.items()})
        return found

    def _hearing(self, fact: Fact) -> Heard:
        held = None if fact.depends_on else frozenset(held_values([fact], self._read))
        return Heard(fact.id, sayings(fact, self._read), held)

    def _held_elsewhere(self, dead: Sequence[DeadValue]) -> set[Words]:
        """The words among these values that a fact in office holds which was not looked at yet."""
        if self._space.facts is not None or self._space.then is not None:
            return set()
        short = [value for value in dead if not is_long(value.text)]
        ways = {value.words: value.ways for value in short}
        wanted = {words: self._holding(said) for words, said in ways.items()}
        unheard = {entry for those in wanted.values() for entry in those if not self._heard(entry)}
        if unheard:
            self._listened_to(unheard)
        return {words for words, those in wanted.items() if self._is_held(ways[words], those)}

    def _holding(self, ways: Ways) -> list[int]:
        """The newest entries in office that may hold this. Mostly one of them is enough."""
        return list(islice(self._all_holding(ways), _FEW))

    def _all_holding(self, ways: Ways) -> Iterator[int]:
        for mark in dict.fromkeys(analysis.mark(common(words)) for words in ways):
            for stack in self._space.stacks:
                yield from (e for e in stack.holding(mark) if e not in self._space.hidden)

    def _heard(self, entry: int) -> Heard | None:
        found = (stack.heard(entry) for stack in self._space.stacks)
        return next((heard for heard in found if heard is not None), None)

    def _is_held(self, ways: Ways, entries: Sequence[int]) -> bool:
        """Whether one of these entries, or of any further ones, holds this."""
        if any(self._holds(entry, ways) for entry in entries):
            return True
        rest = islice(self._all_holding(ways), _FEW, None) if len(entries) == _FEW else ()
        return any(self._holds(entry, ways) for entry in rest)

    def _holds(self, entry: int, ways: Ways) -> bool:
        heard = self._heard(entry)
        if heard is not None and heard.fact_id in self._aside:
            return False
        if heard is not None and heard.held is not None:
            return _is_one(heard.held, ways)
        lens, reader = self._inquiry.lens, self._inquiry.reader
        seen = lens.in_office(reader, self._listened_to([entry]).values())
        held = (fact for fact in seen if not is_dead(fact) and fact.id not in self._aside)
        return _is_one(held_values(held, self._read), ways)

    def gone(self, items: Sequence[WorkingItem]) -> dict[str, list[DeadValue]]:
        """The dead facts among those that notes say they stated, with their values.

        If a fact in office has the same value, the note is right again, and its fact is left out.
        """
        stated = sorted({fact_id for item in items for fact_id in item.stated})
        lens, reader = self._inquiry.lens, self._inquiry.reader
        found: dict[str, list[DeadValue]] = {}
        facts = lens.by_ids(reader, stated)
        values = {f.id: dead_values([f], self._read) for f in facts.values() if is_dead(f)}
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
        """Whether a statement was retracted, is past its time, or was superseded by one that keeps
        none of its words, or changes some that are no value of it: "painted [blue]"."""
        if fact.status in (Status.RETRACTED, Status.EXPIRED):
            return True
        if fact.superseded_by is None:
            return False
        after = self._inquiry.lens.by_id(self._inquiry.reader, fact.superseded_by)
        if after is None or not is_statement(after):
            return False
        told = text_of(after.value)
        return not after.source.earlier or all(part.text in told for part in fact.parts)


def _is_one(held: Container[Words], ways: Ways) -> bool:
    """Whether one of these ways to say something is held."""
    return any(words in held for words in ways)


def _whole(fact: Fact) -> DeadValue:
    """The whole value of a fact, as one dead value."""
    text = text_of(fact.value)
    return DeadValue(said(beginning(text)), text, fact)


def _all_text(value: Any) -> str:
    """The whole text of a value; for a list or an object, as it is shown and text by text."""
    if isinstance(value, str):
        return value
    return " ".join((text_of(value), *leaves(value)))


def _is_running(fact: Fact) -> bool:
    """Whether a value is long enough to quote another."""
    return has_several_words(text_of(fact.value)[:200])
