"""Readings: from the entries of an answer to one `Reading` of a turn, as any reader gives it.

The sentences are those of the offline reading, with its values and terms. A model says which of
them are worth keeping and what they do; what it copied is looked up, what it wrote is checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time
from typing import Final, NamedTuple

from incumbent.language.speakers import is_machine
from incumbent.language.voice import Manner, Voice
from incumbent.reading.asked.answer import Entry, Link
from incumbent.reading.asked.grounds import Grounds, placed
from incumbent.reading.form import (
    NAMED,
    PARTLY,
    READ,
    RETOLD,
    Claim,
    Known,
    Reading,
    Relation,
    RelationKind,
    Statement,
    StatementKind,
    Term,
)
from incumbent.reading.offline import parts_of

SURE: Final = 0.9
"""How likely it is what a model is sure of."""
PERHAPS: Final = 0.5
_STATED: Final = 0.9
"""So surely must a sentence with figures state something to be kept where a model leaves it out."""
_LEFT: Final = (StatementKind.SUPPOSES, StatementKind.PROPOSES, StatementKind.VERBATIM)
"""What is kept apart, as the offline reading has it, where a model says nothing of it."""
_UNSAID: Final = (
    StatementKind.ASKS,
    StatementKind.SUPPOSES,
    StatementKind.PROPOSES,
    StatementKind.REPORTS,
)
"""What nobody says straight out, nor anything beside it, brings doubt at most."""
_STRONG: Final = (
    RelationKind.REPLACES,
    RelationKind.PART,
    RelationKind.ENDS,
    RelationKind.REVERTS,
)
_AGAINST: Final = (*_STRONG, RelationKind.DOUBTS)
_LONGEST_KEY: Final = 80


class _Stated(NamedTuple):
    """A statement of a turn, and the entry that it is from; None for one left as it was."""

    number: int
    said: Statement
    entry: Entry | None = None


@dataclass
class Understanding:
    """What comes of the entries of one turn: its words, the offline reading, and its sentences by
    name. `known` finds what a name stands for, as it is by now."""

    text: str
    speaker: str
    at: datetime
    offline: Reading
    sentences: Mapping[str, int]
    known: Callable[[str], Known | None]
    grounds: Grounds
    reader: str
    reading: Reading = Reading()
    entries: list[Entry | None] = field(default_factory=list)
    """For each statement of the reading the entry it is from; None for one left as it was."""
    refused: list[tuple[Entry, str]] = field(default_factory=list)
    """What could not be believed, and why."""

    def read(self, entries: Iterable[Entry]) -> None:
        """Make the reading of the turn."""
        stated = self._chosen(entries)
        self.entries = [one.entry for one in stated]
        places: dict[str, int] = {}
        for place, one in enumerate(stated):
            if one.entry is not None:
                places.setdefault(one.entry.sentence, place)
        relations: list[Relation] = []
        for place, (number, _, entry) in enumerate(stated):
            if entry is None:
                relations += _left(self.offline, number, place)
                continue
            for link in entry.does:
                found = self._related(link, place, stated, places)
                if isinstance(found, str):
                    self.refused.append((entry, found))
                else:
                    relations.append(replace(found, rests_on=self.reader))
        statements = _own(self.text, [one.said for one in stated], relations)
        self.reading = Reading(tuple(statements), tuple(relations))

    # statements

    def _chosen(self, entries: Iterable[Entry]) -> list[_Stated]:
        """The statements that are kept, in order."""
        stated: list[_Stated] = []
        for entry in entries:
            number = self.sentences.get(entry.sentence)
            if number is not None and not self.offline.statements[number].awaits:
                stated.append(_Stated(number, self._stated(number, entry), entry))
        told, shown = {one.number for one in stated}, set(self.sentences.values())
        for number, base in enumerate(self.offline.statements):
            if number in told:
                continue
            if base.kind in _LEFT or base.awaits or number not in shown:
                stated.append(_Stated(number, base))
            elif _has_figures(base) and not is_machine(self.speaker):
                stated.append(_Stated(number, replace(base, cues=(*base.cues, READ))))
        return sorted(stated, key=lambda one: one.number)

    def _stated(self, number: int, entry: Entry) -> Statement:
        base = self.offline.statements[number]
        kind = StatementKind.STATES if base.kind in _LEFT[:2] else base.kind
        pointed = [one for link in entry.does if (one := self.known(link.to)) is not None]
        claim = self._claim(base, entry, pointed) or (None if entry.says else base.claim)
        cues = (READ,) if claim == base.claim else (READ, NAMED)
        term = _term(entry, self.at) or base.term
        said = replace(base, kind=kind, claim=claim, cues=(*base.cues, *cues), term=term)
        wording = " ".join(entry.says.split())
        if not wording or wording == base.text:
            return said
        heard = self.grounds.also((one.text, self.at) for one in pointed)
        if not heard.holds(wording, self.at):
            self.refused.append((entry, "its wording has a name or a number that nobody said"))
            return said
        return replace(said, wording=wording, parts=parts_of(wording, self.at))

    def _claim(self, base: Statement, entry: Entry, pointed: Sequence[Known]) -> Claim | None:
        """The name that a model gives, where its value stands in the sentence. One in plain sight
        goes before, unless it is known under the other."""
        key = "_".join(re.findall(r"[^\W_]+", entry.attribute.lower()))[:_LONGEST_KEY].strip("_")
        span = placed(entry.value, base.text) if entry.value else None
        if not key or span is None or base.kind is StatementKind.REPORTS:
            return None
        about = " ".join(entry.about.lower().split()).removeprefix("the ")
        start, end = span[0] + base.start, span[1] + base.start
        value = self.text[start:end]
        is_known = any(one.key == key for one in pointed)
        if base.claim is not None and base.claim.value == value and not is_known:
            return base.claim
        return Claim(about or None, key, value, start, end, not about)

    # relations

    def _related(
        self, link: Link, place: int, stated: Sequence[_Stated], places: Mapping[str, int]
    ) -> Relation | str:
        """What an entry does to what it names, or why that is not believed."""
        number, said, _ = stated[place]
        base = self.offline.statements[number]
        if base.kind is StatementKind.REPORTS and base.chance == 1.0 and link.kind in _STRONG:
            return "what is quoted acts on nothing"
        earlier = places.get(link.to)
        if earlier is None and link.to in self.sentences:
            return f"{link.to} is not kept"
        if earlier is not None and earlier >= place:
            return f"{link.to} does not come before it"
        fact = None if earlier is not None else self.known(link.to)
        if earlier is None and fact is None:
            return f"{link.to!r:.20} was not shown, or is over by now"
        kind = link.kind
        is_unsaid = base.kind in _UNSAID and PARTLY not in base.cues
        if kind in _STRONG and (not link.is_sure or is_unsaid):
            kind = RelationKind.DOUBTS
        made = Relation(
            kind,
            fact.id if fact is not None else "",
            place,
            SURE if link.is_sure else PERHAPS,
            earlier=earlier,
            begins=said.term.begins if said.term is not None else None,
        )
        if link.kind is RelationKind.PART and fact is not None:
            return _in_part(made, link, fact.text, base)
        if link.kind is RelationKind.PART and earlier is not None:
            told = stated[earlier].said
            if told.claim is not None and made.kind is RelationKind.PART:
                return replace(made, kind=RelationKind.REPLACES)  # a value under a name goes whole
            return _in_part(made, link, told.wording or told.text, base)
        return made


def _own(
    text: str, statements: Sequence[Statement], relations: Sequence[Relation]
) -> Iterator[Statement]:
    """The statements; one of which only the rest is somebody else's word is the speaker's own."""
    for number, said in enumerate(statements):
        if RETOLD in said.cues and READ in said.cues:
            taken = [one.new for one in relations if one.statement == number and one.new]
            if said.claim is not None:
                taken.append((said.claim.start, said.claim.end))
            voice = Voice(text)
            if taken and all(voice.manner(*span) is Manner.OWN for span in taken):
                said = replace(said, cues=tuple(one for one in said.cues if one != RETOLD))
        yield said


def _left(offline: Reading, number: int, place: int) -> Iterator[Relation]:
    """What a statement that is left as it was rests on, and what it says again. That it ends
    something is for the model to say."""
    for one in offline.relations:
        if one.statement == number and one.earlier is None and one.kind not in _AGAINST:
            yield replace(one, statement=place)


def _has_figures(base: Statement) -> bool:
    """Whether a sentence surely states something with a figure in it. What a model leaves out may
    be chat, or an oversight of a weak one; with figures the oversight does more harm."""
    return (
        base.kind is StatementKind.STATES
        and base.chance >= _STATED
        and any(letter.isdigit() for part in base.parts for letter in part.text)
    )


def _term(entry: Entry, at: datetime) -> Term | None:
    """From when until when it holds, as far as that is still to come when it is said."""
    begins, ends = _moment(entry.begins, time.min, at), _moment(entry.ends, time.max, at)
    begins = begins if begins is not None and begins > at else None
    if ends is not None and ends <= (begins or at):
        ends = None
    return Term(begins, ends) if begins or ends else None


def _moment(day: date | None, hour: time, at: datetime) -> datetime | None:
    return None if day is None else datetime.combine(day, hour, at.tzinfo or UTC)


def _in_part(made: Relation, link: Link, told: str, base: Statement) -> Relation:
    """One stretch of a fact changes, where old and new are both found; else both are shown."""
    old = placed(link.old, told)
    new = placed(link.new, base.text) if link.new else None
    if old is None or (link.new and new is None) or made.kind is RelationKind.DOUBTS:
        return replace(made, kind=RelationKind.DOUBTS, old=old)
    moved = (new[0] + base.start, new[1] + base.start) if new is not None else None
    return replace(made, old=old, new=moved)
