"""The reader that ships: rules and a small model, on the CPU, with no key and no network."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Final

from incumbent.language.cues import Cues
from incumbent.language.learned.kinds import KINDS
from incumbent.language.learned.model import Model, Opinion
from incumbent.language.learned.voices import as_heard
from incumbent.language.reading import BlockKind
from incumbent.language.speakers import is_machine
from incumbent.language.values.finding import find
from incumbent.language.voice import Voice
from incumbent.model.fact import Part
from incumbent.reading import thresholds
from incumbent.reading.acts import acts, is_worked_on
from incumbent.reading.alternatives import alternatives
from incumbent.reading.amending import amendment
from incumbent.reading.attributed import attributed
from incumbent.reading.comparing import compared
from incumbent.reading.form import (
    Act,
    Heard,
    Known,
    Reading,
    Relation,
    RelationKind,
    Statement,
    StatementKind,
)
from incumbent.reading.naming import named, named_things, taken_apart, without_recalled
from incumbent.reading.overtaking import besides, echoed, instead_of, overtaken
from incumbent.reading.relating import restates
from incumbent.reading.segments import Segment, segments
from incumbent.reading.sorting import kind_of
from incumbent.reading.terms import names_of
from incumbent.reading.things import name_of
from incumbent.reading.ties import ties
from incumbent.reading.weighing import (
    ReadOpinion,
    Value,
    Weighed,
    leaves_out,
    of_one_thing,
    pairing,
    says_again,
    weighed,
)
from incumbent.reading.windows import LONGEST, Window, likest, nearest, windows

TELLING: Final = frozenset({StatementKind.STATES, StatementKind.ORDERS, StatementKind.AGREES})
"""What may put something out of date."""
WEIGHTS: Final = Path(__file__).parent / "weights"
_MOST_VALUES: Final = 32
"""A statement with more values is a table, whose values are compared with nothing."""
_MOST_WINDOWS: Final = 8
_REACH: Final = 3
"""So many statements of the same turn may be corrected by a later one."""
_USUAL: Final = 0.5
"""How alike in meaning neighbours in a turn are."""
_FORGETS = re.compile(r"\b(?:forget(?:ting)?|erase|disregard|unlearn)\b", re.IGNORECASE)
_REMOVES = re.compile(r"\b(?:delete|remove|wipe|purge|scrub)\b", re.IGNORECASE)
"""What is removed may be something that a fact only mentions."""
_BLOCKS = {BlockKind.CODE: StatementKind.VERBATIM, BlockKind.LOG: StatementKind.VERBATIM}


def parts_of(text: str, at: datetime) -> tuple[Part, ...]:
    """The values of a text, as many as a sentence has."""
    return tuple(
        Part(value.kind.value, value.text, value.normal, value.unit, value.start, value.end)
        for value in islice(find(text, at), _MOST_VALUES)
    )


class OfflineReader:
    """Reads a turn by rules and, where there is one, by a model. Safe to share between threads."""

    def __init__(self, model: Model | None) -> None:
        self._model = model
        self.name = model.name if model is not None else "rules"

    def read(self, heard: Heard) -> Reading:
        """What a turn states, what that does to what is known, and what it asks of the memory."""
        by_machine = is_machine(heard.speaker)
        begins = None if self._model is None or by_machine else self._model.begins
        found = segments(heard.text, begins)
        if not by_machine:
            found = list(taken_apart(found, heard.known, lambda text: parts_of(text, heard.at)))
        statements = tuple(self._statements(heard, found, by_machine=by_machine))
        if not by_machine:
            statements = tuple(without_recalled(statements))
        asked = () if by_machine else tuple(self._acts(heard, found))
        spoken = {(act.start, act.end) for act in asked}
        relations = tuple(self._relations(heard, statements, spoken))
        if not by_machine:
            relations += tuple(self._within(heard, statements, spoken))
            relations += tuple(besides(relations, alternatives(heard, statements)))
            relations = instead_of(relations, overtaken(statements, heard.known))
            relations += tuple(echoed(statements, heard.known, relations))
            relations += tuple(ties(statements, heard.known, heard.text))
        return Reading(statements, relations, asked)

    def _acts(self, heard: Heard, found: Sequence[Segment]) -> Iterator[Act]:
        return acts(heard.text, found, heard.previous, after_machine=heard.previous_by_machine)

    # statements

    def _statements(
        self, heard: Heard, found: Sequence[Segment], *, by_machine: bool
    ) -> Iterator[Statement]:
        # Long replies are the bulk of a chat, and mostly advice: they are read by their words.
        told = {} if by_machine and len(heard.text) > LONGEST else self._told(heard, found)
        voice = Voice(heard.text)
        known, before = named_things(heard.known), ""
        held = names_of((fact.key, fact.subject) for fact in heard.known)
        for number, one in enumerate(found):
            said = self._statement(heard, one, voice, told.get(number))
            said = named(said, heard.at, known, before, held, names=not by_machine)
            said = said if by_machine else attributed(said)
            if said.claim is not None and not said.awaits:
                known |= {name_of(said.claim.attribute, said.claim.subject)}
            before = one.text
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
            return plain
        parts = parts_of(one.text, heard.at)
        kind, chance = kind_of(one.text, told, has_values=bool(parts))
        cues = ("correction",) if Cues(one.text).corrects else ()
        return replace(plain, kind=kind, chance=chance, parts=parts, cues=cues)

    def _told(self, heard: Heard, found: Sequence[Segment]) -> dict[int, dict[str, float]]:
        """What the model makes of each stretch, several in one reading."""
        if self._model is None:
            return {}
        told: dict[int, dict[str, float]] = {}
        previous = heard.previous
        for window in windows(heard.text, found)[:_MOST_WINDOWS]:
            text, shift = as_heard(window.text, heard.speaker)
            spans = [
                (found[n].start - window.start + shift, found[n].end - window.start + shift)
                for n in window.statements
            ]
            for number, (_, kinds) in zip(
                window.statements, self._model.turn(text, spans, previous), strict=True
            ):
                told[number] = dict(zip(KINDS, kinds, strict=True))
            previous = window.text
        return told

    # relations

    def _relations(
        self,
        heard: Heard,
        statements: Sequence[Statement],
        acted: set[tuple[int, int]],
    ) -> Iterator[Relation]:
        best: dict[str, Relation] = {}
        for window, here, near in self._beside(heard, statements, acted):
            for relation in self._related(heard, window, here, near):
                known = best.get(relation.fact_id)
                if known is None or known.chance < relation.chance:
                    best[relation.fact_id] = relation
        yield from best.values()

    def _within(
        self, heard: Heard, statements: Sequence[Statement], acted: set[tuple[int, int]]
    ) -> Iterator[Relation]:
        """What later statements of a turn do to earlier ones of it: "40 desks. No, 45."."""
        for number, said in enumerate(statements):
            if "correction" not in said.cues or (said.start, said.end) in acted:
                continue
            first = max(0, number - _REACH)
            near = [
                _as_known(n, one, heard.speaker, age=number - 1 - n)
                for n, one in enumerate(statements[first:number], first)
                if one.kind in TELLING and one.text != said.text
            ]
            window = Window(said.text, said.start, (number,))
            for found in self._related(heard, window, [said], near) if near else ():
                if found.kind is not RelationKind.CONFIRMS:
                    yield replace(found, fact_id="", earlier=int(found.fact_id))

    def _beside(
        self,
        heard: Heard,
        statements: Sequence[Statement],
        acted: set[tuple[int, int]],
    ) -> Iterator[tuple[Window, list[Statement], list[Known]]]:
        """Statements that may put something out of date, with what they may be about."""
        by_machine = is_machine(heard.speaker)
        open_to = [one for one in heard.known if one.by_machine or not by_machine]
        telling = [
            n
            for n, one in enumerate(statements)
            if (
                one.kind in TELLING
                or _sets(one)
                or (by_machine and one.kind is StatementKind.VERBATIM)
            )
            and (one.start, one.end) not in acted
        ]
        if not telling or not open_to:
            return
        for window in windows(heard.text, statements, telling)[:_MOST_WINDOWS]:
            here = [statements[n] for n in window.statements]
            yield window, here, nearest(open_to, here)

    def paired(self, heard: Heard) -> Iterator[list[Weighed]]:
        """What is weighed for a turn, for those who learn the weights."""
        statements = tuple(self._statements(heard, segments(heard.text), by_machine=False))
        for window, here, near in self._beside(heard, statements, set()):
            yield self._compared(heard, window, here, near)

    def _related(
        self, heard: Heard, window: Window, here: Sequence[Statement], near: Sequence[Known]
    ) -> Iterator[Relation]:
        """What the statements of a window do to what they may be about."""
        beside = self._compared(heard, window, here, near)
        for known, pair, opinion, number, chance in weighed(beside):
            statement = window.statements[number]
            said = here[number]
            how = compared(known.text, pair.new)
            if how.is_same or says_again(known, said):
                yield Relation(RelationKind.CONFIRMS, known.id, statement, 1.0, "the same words")
                continue
            part = self._part_told(window, here, known) or self._part_by_model(
                window, here, known, opinion, chance
            )
            if part is not None:
                yield part
                continue
            if said.kind is StatementKind.ASKS:
                continue
            if _FORGETS.search(said.text):
                continue  # what is asked of the memory is for `acts` to say
            corrects = "correction" in said.cues
            if corrects and how.one_slot is not None and of_one_thing(known, said):
                chance = max(chance, thresholds.TOLD)
            if restates(pair):
                chance = max(chance, thresholds.RESTATED)
            is_alike = how.share >= thresholds.ALIKE
            pointed = [one.chance for one in opinion.values if one.is_pointed and known.is_here]
            likeliest = max([chance, *pointed])
            if likeliest < (thresholds.DOUBTED_ALIKE if is_alike else thresholds.DOUBTED):
                continue
            kind = RelationKind.DOUBTS
            if chance >= thresholds.ENDED - (thresholds.CUE if corrects else 0.0):
                kind = RelationKind.ENDS if opinion.is_ended else RelationKind.REPLACES
            elif Cues(known.text).is_provisional and Cues(said.text).is_definite:
                kind = RelationKind.REPLACES  # a draft price, and the final one
            if kind is not RelationKind.DOUBTS and _REMOVES.search(said.text):
                kind = RelationKind.DOUBTS
            if kind is RelationKind.REPLACES and leaves_out(known, said):
                kind = RelationKind.DOUBTS
            yield Relation(kind, known.id, statement, likeliest, self.name, is_told=corrects)

    def _compared(
        self, heard: Heard, window: Window, here: Sequence[Statement], near: Sequence[Known]
    ) -> list[Weighed]:
        """What the model says of each thing that a turn may be about, beside what is said."""
        read = [self._opinion(heard, window, here, known) for known in near]
        numbers = [likest(known, here) for known in near]
        pairs = [
            pairing(known, here[number], opinion)
            for known, number, opinion in zip(near, numbers, read, strict=True)
        ]
        return [
            Weighed(known, pair, opinion, number)
            for known, pair, opinion, number in zip(near, pairs, read, numbers, strict=True)
        ]

    def _part_told(
        self, window: Window, here: Sequence[Statement], known: Known
    ) -> Relation | None:
        """The one stretch of something known that surely changes, by the words."""
        for number, said in zip(window.statements, here, strict=True):
            change = amendment(known, said)
            if change is not None:
                new = _moved(change.new, said.start)
                return Relation(
                    RelationKind.PART, known.id, number, 0.95, said.text, True, change.old, new
                )
        return None

    def _part_by_model(
        self,
        window: Window,
        here: Sequence[Statement],
        known: Known,
        opinion: ReadOpinion,
        chance: float,
    ) -> Relation | None:
        """The one value of something known that is over, where another like it is said."""
        again = {part.normal for one in here for part in one.parts}
        dead = [
            one
            for one in opinion.values
            if one.part.normal not in again and one.is_pointed and one.chance >= thresholds.PART
        ]
        if len(dead) != 1 or (len(opinion.values) == 1 and chance >= thresholds.ENDED):
            return None
        if not known.is_here:
            return None  # of what was said on another day the model is not certain enough
        (value,) = dead
        number, new = value.number, value.new
        if new is None:
            return None
        return Relation(
            RelationKind.PART,
            known.id,
            window.statements[number],
            value.chance,
            self.name,
            "correction" in here[number].cues,
            (value.part.start, value.part.end),
            _moved((new.start, new.end), here[number].start),
        )

    def _opinion(
        self, heard: Heard, window: Window, here: Sequence[Statement], known: Known
    ) -> ReadOpinion:
        """What the model makes of something known beside what is said, in one reading."""
        if self._model is None:
            return ReadOpinion(0.2, is_ended=False)
        text, shift = as_heard(known.text, known.speaker)
        turn, moved = as_heard(window.text, heard.speaker)
        typed = [part for part in known.parts if part.kind != "term"]
        asked = [(0, 0), *((part.start + shift, part.end + shift) for part in typed)]
        whole, *told = self._model.pair(text, asked, heard.previous, turn)
        if whole is None:
            return ReadOpinion(0.0, is_ended=False)
        values = tuple(
            Value(
                part,
                one.replaces + one.retracts,
                *_stretch_at(window, here, part, _at(one, window.start - moved)),
            )
            for part, one in zip(typed, told, strict=True)
            if one is not None
        )
        return ReadOpinion(whole.replaces + whole.retracts, whole.retracts > whole.replaces, values)


def _at(one: Opinion, shift: int) -> int:
    return -1 if one.span is None or one.in_previous else one.span[0] + shift


def _as_known(number: int, one: Statement, speaker: str, *, age: int) -> Known:
    """A statement of the same turn, as something that is known already."""
    name = str(number)
    return Known(
        name, one.text, parts=one.parts, likeness=_USUAL, age=age, is_here=True, speaker=speaker
    )


def _stretch_at(
    window: Window, here: Sequence[Statement], old: Part, at: int
) -> tuple[int, Part | None]:
    """The statement that says a new value, and the value where it is one like the old."""
    for number, one in enumerate(here):
        for new in one.parts:
            if new.start <= at - one.start < new.end:
                fits = new.kind == old.kind and new.normal != old.normal
                return number, new if fits else None
    return len(here) - 1, None


def _sets(one: Statement) -> bool:
    """Whether a question may say what something is to be: "can you make it 6 pm?"."""
    return one.kind is StatementKind.ASKS and bool(one.parts)


def _moved(span: tuple[int, int], by: int) -> tuple[int, int]:
    return span[0] + by, span[1] + by
