"""The reader that ships: rules and a small model, on the CPU, with no key and no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Final

from incumbent.language.cues import Cues
from incumbent.language.reading import BlockKind
from incumbent.language.speakers import as_heard, is_machine
from incumbent.language.values.finding import find
from incumbent.language.voice import Manner, Voice
from incumbent.model.fact import Part
from incumbent.reading import thresholds
from incumbent.reading.acts import acts, is_worked_on
from incumbent.reading.alternatives import alternatives
from incumbent.reading.attributed import attributed
from incumbent.reading.beside import LONGEST, Window, likeliest, nearest, shown, windows
from incumbent.reading.displayed import announces, is_displayed, may_be_shown
from incumbent.reading.form import (
    GOING_BACK,
    PARTLY,
    RETOLD,
    Heard,
    Known,
    Reading,
    Relation,
    RelationKind,
    Span,
    Statement,
    StatementKind,
)
from incumbent.reading.judging import Judging
from incumbent.reading.learned.model import Model
from incumbent.reading.naming import named, named_things, taken_apart, without_recalled
from incumbent.reading.overtaking import besides, instead_of, overtaken
from incumbent.reading.segments import Segment, run_on, segments
from incumbent.reading.sorting import in_lists, is_unreal_in_part, kind_of
from incumbent.reading.sparing import spared
from incumbent.reading.terms import names_of
from incumbent.reading.things import name_of
from incumbent.reading.ties import ties

TELLING: Final = frozenset({StatementKind.STATES, StatementKind.ORDERS, StatementKind.AGREES})
"""What may put something out of date."""
_MOST_VALUES: Final = 32
"""A statement with more values is a table, whose values are compared with nothing."""
_MOST_WINDOWS: Final = 8
"""More stretches or corrections of one turn are read by their words alone."""
_REACH: Final = 3
"""So many statements of the same turn may be corrected by a later one."""
_USUAL: Final = 0.5
"""How alike in meaning neighbours in a turn are."""
_RETOLD: Final = 0.9
"""How surely words are somebody else's that stand in no quotation: they are kept as they are."""
_INTRODUCING: Final = frozenset({StatementKind.ASKS, StatementKind.ORDERS})
_WITHIN: Final = (RelationKind.REPLACES, RelationKind.PART, RelationKind.ENDS)
"""What is said in one breath is not in doubt: a reader sees both, in their order."""
_UNREAL: Final = frozenset({StatementKind.SUPPOSES, StatementKind.PROPOSES})
_NOT_OWN: Final = frozenset({Manner.QUOTED, Manner.INTRODUCED, Manner.REPORTED, Manner.DENIED})
_BLOCKS = {BlockKind.CODE: StatementKind.VERBATIM, BlockKind.LOG: StatementKind.VERBATIM}


def parts_of(text: str, at: datetime) -> tuple[Part, ...]:
    """The values of a text, as many as a sentence has."""
    return tuple(
        Part(value.kind.value, value.text, value.normal, value.unit, value.start, value.end)
        for value in islice(find(text, at), _MOST_VALUES)
    )


class OfflineReader:
    """Reads a turn by rules and, where there is one, by a model; what that finds likely to change,
    a larger one is asked about again, where there is one. Safe to share between threads."""

    def __init__(self, model: Model | None, larger: Model | None = None) -> None:
        self._model = model
        self._larger = larger
        self.name = " + ".join(one.name for one in (model, larger) if one is not None) or "rules"

    def read(self, heard: Heard) -> Reading:
        """What a turn states, what that does to what is known, and what it asks of the memory."""
        by_machine = is_machine(heard.speaker)
        read = [
            self._apart(one, heard, by_machine=by_machine)
            for one in self._windows(heard, segments(heard.text), by_machine=by_machine)
        ]
        statements = tuple(self._statements(heard, read, by_machine=by_machine))
        if by_machine:
            return Reading(statements, tuple(self._relations(heard, read, statements, set())))
        found = [one for window in read for one in window.found]
        asked = tuple(
            acts(heard.text, found, heard.previous, after_machine=heard.previous_by_machine)
        )
        if is_displayed(heard.text):
            return Reading(tuple(replace(one, claim=None) for one in statements), (), asked)
        statements = tuple(in_lists(heard.text, without_recalled(statements)))
        sure = (one for one in asked if one.is_sure or one.kind not in GOING_BACK)
        spoken = {(act.start, act.end) for act in sure}
        relations = tuple(self._relations(heard, read, statements, spoken))
        relations += tuple(self._within(heard, statements, spoken))
        relations += tuple(besides(relations, alternatives(heard, statements)))
        relations = instead_of(relations, overtaken(statements, heard.known))
        relations = instead_of(relations, spared(statements, heard.known))
        relations += tuple(ties(statements, heard.known, heard.text))
        return Reading(statements, relations, asked)

    # what is read at once

    def _windows(
        self, heard: Heard, found: Sequence[Segment], *, by_machine: bool
    ) -> Iterator[Window]:
        """The stretches of a turn that are read together, with what the model says of them.

        Long replies are the bulk of a chat, and mostly advice: they are read by their words.
        """
        open_to = [one for one in heard.known if one.by_machine or not by_machine]
        previous = heard.previous
        passed_over = by_machine and (len(heard.text) > LONGEST or not open_to)
        for number, window in enumerate(windows(heard.text, found)):
            if number >= _MOST_WINDOWS or passed_over:
                yield window
                continue
            near = nearest(open_to, window.text)
            if self._model is None:
                yield replace(window, near=near)
                continue
            text, shift = as_heard(window.text, heard.speaker)
            read = self._model.read(previous, text, [shown(one) for one in near])
            yield replace(window, near=near, read=read, shift=shift, previous=previous)
            previous = window.text

    def _again(self, window: Window, speaker: str) -> Window:
        """The same window, with what a larger model says of what is likeliest changed in it."""
        if self._larger is None or window.read is None:
            return window
        asked = likeliest(window.read)
        if not asked:
            return window
        text, _ = as_heard(window.text, speaker)
        beside = [shown(window.near[number]) for number in asked]
        again = self._larger.read(window.previous, text, beside)
        return replace(window, again=again, asked=asked[: len(again.becomes)])

    def _apart(self, window: Window, heard: Heard, *, by_machine: bool) -> Window:
        """A window with the stretches of those who type on and on apart, and a reason apart from
        what follows from it."""
        if by_machine:
            return window
        read, found = window.read, list(window.found)
        if read is not None:

            def begins(one: Segment, word: Span) -> float:
                moved = one.start - window.start + window.shift
                return read.begins((word[0] + moved, word[1] + moved))

            found = [part for one in found for part in run_on(one, begins)]
        apart = taken_apart(found, lambda text: parts_of(text, heard.at))
        return replace(window, found=tuple(apart))

    # statements

    def _statements(
        self, heard: Heard, read: Sequence[Window], *, by_machine: bool
    ) -> Iterator[Statement]:
        voice = Voice(heard.text)
        apart = [] if by_machine else may_be_shown(heard.text)
        known = named_things(heard.known)
        held = names_of((fact.key, fact.subject) for fact in heard.known)
        for window in read:
            for one in window.found:
                moved = window.shift - window.start
                kinds = None
                if window.read is not None:
                    kinds = window.read.kinds((one.start + moved, one.end + moved))
                said = self._statement(heard, one, voice, kinds)
                if apart and RETOLD not in said.cues and _may_be_shown(said, apart):
                    said = replace(said, cues=(*said.cues, RETOLD))
                said = named(said, heard.at, known, held, names=not by_machine)
                said = said if by_machine else attributed(said)
                if said.claim is not None and not said.awaits:
                    known |= {name_of(said.claim.attribute, said.claim.subject)}
                yield said

    def _statement(
        self, heard: Heard, one: Segment, voice: Voice, told: Mapping[str, float] | None
    ) -> Statement:
        plain = Statement(one.text, one.start, one.end, StatementKind.REPORTS)
        if one.block in _BLOCKS:
            return replace(plain, kind=_BLOCKS[one.block])
        is_stated = told is not None and told["states"] >= thresholds.OWN
        if one.block is BlockKind.QUOTE or is_worked_on(voice.text, one.end):
            return plain
        if voice.is_retold(one.start, one.end) and not is_stated:
            is_shown = voice.is_shown(one.start, one.end)
            return plain if is_shown else replace(plain, chance=_RETOLD, cues=(RETOLD,))
        parts = parts_of(one.text, heard.at)
        kind, chance = kind_of(one.text, told, has_values=bool(parts))
        cues: tuple[str, ...] = ("correction",) if Cues(one.text).corrects else ()
        if kind in _UNREAL and is_unreal_in_part(one.text):
            cues += (PARTLY,)
        if not is_machine(heard.speaker) and _is_retold(voice, one):
            cues += (RETOLD,)
        return replace(plain, kind=kind, chance=chance, parts=parts, cues=cues)

    # relations

    def _relations(
        self,
        heard: Heard,
        read: Sequence[Window],
        statements: Sequence[Statement],
        acted: set[tuple[int, int]],
    ) -> Iterator[Relation]:
        by_machine = is_machine(heard.speaker)
        best: dict[str, Relation] = {}
        for window in read:
            end = window.start + len(window.text)
            numbers = [
                n
                for n, one in enumerate(statements)
                if window.start <= one.start < end
                and _may_change(one, by_machine=by_machine)
                and (one.start, one.end) not in acted
            ]
            if not numbers:
                continue
            here = [statements[n] for n in numbers]
            asked = self._again(window, heard.speaker)
            for relation in Judging(asked, here, numbers).relations():
                known = best.get(relation.fact_id)
                if known is None or known.chance < relation.chance:
                    best[relation.fact_id] = relation
        yield from best.values()

    def _within(
        self, heard: Heard, statements: Sequence[Statement], acted: set[tuple[int, int]]
    ) -> Iterator[Relation]:
        """What later statements of a turn do to earlier ones of it: "40 desks. No, 45."."""
        looked = 0
        for number, said in enumerate(statements):
            if "correction" not in said.cues or (said.start, said.end) in acted:
                continue
            first = max(0, number - _REACH)
            near = tuple(
                _as_known(n, one, heard.speaker, age=number - 1 - n)
                for n, one in enumerate(statements[first:number], first)
                if one.kind in TELLING and one.text != said.text
            )
            if not near:
                continue
            text, shift = as_heard(said.text, heard.speaker)
            read = None
            looked += 1
            if self._model is not None and looked <= _MOST_WINDOWS:
                before = heard.text[: said.start]
                read = self._model.read(before, text, [shown(one) for one in near])
            window = Window(said.text, said.start, (), near, read, shift, heard.text[: said.start])
            asked = self._again(window, heard.speaker)
            for found in Judging(asked, [said], [number]).relations():
                if found.kind in _WITHIN:
                    yield replace(found, fact_id="", earlier=int(found.fact_id))


def _is_retold(voice: Voice, one: Segment) -> bool:
    """Whether what a stretch tells, mostly at its end, is not the speaker's own word."""
    last = len(one.text.rstrip(" .!?)\"'”’»`")) - 1
    manners = {voice.manner(at, one.end) for at in (one.start, one.start + max(0, last))}
    if announces(one.text):
        manners.discard(Manner.INTRODUCED)
    return not _NOT_OWN.isdisjoint(manners)


def _may_be_shown(one: Statement, apart: Sequence[Span]) -> bool:
    """Whether a statement of a turn that may show words is, or may introduce, such words."""
    introduces = one.kind in _INTRODUCING or one.text.rstrip(" \n").endswith((":", "?"))
    return introduces or any(a <= one.start < b for a, b in apart)


def _may_change(one: Statement, *, by_machine: bool) -> bool:
    """Whether a statement may put something out of date."""
    if one.kind in TELLING or (by_machine and one.kind is StatementKind.VERBATIM):
        return True
    # A question may say what something is to be: "can you make it 6 pm?".
    return one.kind is StatementKind.ASKS and bool(one.parts)


def _as_known(number: int, one: Statement, speaker: str, *, age: int) -> Known:
    """A statement of the same turn, as something that is known already."""
    name = str(number)
    return Known(
        name, one.text, parts=one.parts, likeness=_USUAL, age=age, is_here=True, speaker=speaker
    )
