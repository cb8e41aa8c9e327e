"""Readings: from the entries of an answer to one `Reading` of a turn, as any reader gives it.

The sentences are those of the offline reading, with its values and terms. A model says which of
them are worth keeping and what they do; what it copied is looked up, what it wrote is checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time
from typing import Final

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


@dataclass(frozen=True)
class ReadTurn:
    """A turn that is read again: its words, the offline reading, and its sentences by name."""

    text: str
    speaker: str
    at: datetime
    offline: Reading
    sentences: Mapping[str, int]


@dataclass
class Understood:
    """What came of the entries of one turn."""

    reading: Reading
    entries: list[Entry | None] = field(default_factory=list)
    """For each statement of the reading the entry it is from; None for one left as it was."""
    refused: list[tuple[Entry, str]] = field(default_factory=list)
    """What could not be believed, and why."""


def understood(
    turn: ReadTurn,
    entries: Sequence[Entry],
    known: Callable[[str], Known | None],
    grounds: Grounds,
    reader: str,
) -> Understood:
    """The reading of a turn. `known` finds what a name stands for, as it is by now."""
    made = Understood(Reading())
    chosen = sorted(
        (one for one in entries if one.sentence in turn.sentences),
        key=lambda one: turn.sentences[one.sentence],
    )
    stated: list[tuple[int, Statement, Entry | None]] = []
    for entry in chosen:
        number = turn.sentences[entry.sentence]
        base = turn.offline.statements[number]
        if not base.awaits:
            stated.append((number, _stated(turn, base, entry, known, grounds, made), entry))
    told, shown = {number for number, _, _ in stated}, set(turn.sentences.values())
    for number, base in enumerate(turn.offline.statements):
        is_left = base.kind in _LEFT or base.awaits or number not in shown
        if number not in told and is_left:
            stated.append((number, base, None))
        elif number not in told and _has_figures(base) and not is_machine(turn.speaker):
            stated.append((number, replace(base, cues=(*base.cues, READ)), None))
    stated.sort(key=lambda one: one[0])
    made.entries = [entry for _, _, entry in stated]
    places: dict[str, int] = {}
    for place, (_, _, chosen_by) in enumerate(stated):
        if chosen_by is not None:
            places.setdefault(chosen_by.sentence, place)
    relations: list[Relation] = []
    for place, (number, _, told_by) in enumerate(stated):
        if told_by is None:
            relations += _left(turn.offline, number, place)
            continue
        base = turn.offline.statements[number]
        for link in told_by.does:
            found = _related(link, stated[place], place, places, turn, known)
            earlier = found.earlier if isinstance(found, Relation) else None
            if isinstance(found, Relation) and link.kind is RelationKind.PART:
                if earlier is not None:
                    found = _in_earlier(found, link, stated[earlier][1], base)
                elif (fact := known(link.to)) is not None:
                    found = _in_part(found, link, fact.text, base)
            if isinstance(found, str):
                made.refused.append((told_by, found))
            else:
                relations.append(replace(found, rests_on=reader))
    statements = _own(turn.text, [said for _, said, _ in stated], relations)
    made.reading = Reading(tuple(statements), tuple(relations))
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


# statements


def _stated(
    turn: ReadTurn,
    base: Statement,
    entry: Entry,
    known: Callable[[str], Known | None],
    grounds: Grounds,
    made: Understood,
) -> Statement:
    kind = StatementKind.STATES if base.kind in _LEFT[:2] else base.kind
    pointed = [one for link in entry.does if (one := known(link.to)) is not None]
    claim = _claim(turn, base, entry, pointed) or (None if entry.says else base.claim)
    cues = (READ,) if claim == base.claim else (READ, NAMED)
    said = replace(base, kind=kind, claim=claim, cues=(*base.cues, *cues))
    if entry.begins is not None or entry.ends is not None:
        term = _term(turn, entry)
        said = replace(said, term=term or base.term)
    wording = " ".join(entry.says.split())
    if not wording or wording == base.text:
        return said
    heard = grounds.also((one.text, turn.at) for one in pointed)
    if not heard.holds(wording, turn.at):
        made.refused.append((entry, "its wording has a name or a number that nobody said"))
        return said
    return replace(said, wording=wording, parts=parts_of(wording, turn.at))


def _claim(turn: ReadTurn, base: Statement, entry: Entry, pointed: Sequence[Known]) -> Claim | None:
    """The name that a model gives, where its value stands in the sentence. One in plain sight goes
    before, unless it is known under the other."""
    key = "_".join(re.findall(r"[^\W_]+", entry.attribute.lower()))[:_LONGEST_KEY].strip("_")
    span = placed(entry.value, base.text) if entry.value else None
    if not key or span is None or base.kind is StatementKind.REPORTS:
        return None
    about = " ".join(entry.about.lower().split()).removeprefix("the ")
    start, end = span[0] + base.start, span[1] + base.start
    is_known = any(one.key == key for one in pointed)
    if base.claim is not None and base.claim.value == turn.text[start:end] and not is_known:
        return base.claim
    return Claim(about or None, key, turn.text[start:end], start, end, not about)


def _term(turn: ReadTurn, entry: Entry) -> Term | None:
    """From when until when it holds, as far as that is still to come when it is said."""
    begins, ends = _moment(entry.begins, turn.at), _moment(entry.ends, turn.at, is_end=True)
    begins = begins if begins is not None and begins > turn.at else None
    if ends is not None and ends <= (begins or turn.at):
        ends = None
    return Term(begins, ends) if begins or ends else None


def _moment(day: date | None, at: datetime, *, is_end: bool = False) -> datetime | None:
    if day is None:
        return None
    return datetime.combine(day, time.max if is_end else time.min, at.tzinfo or UTC)


# relations


def _related(
    link: Link,
    stated: tuple[int, Statement, Entry | None],
    place: int,
    places: Mapping[str, int],
    turn: ReadTurn,
    known: Callable[[str], Known | None],
) -> Relation | str:
    """What an entry does to what it names, or why that is not believed."""
    number, said, _ = stated
    base = turn.offline.statements[number]
    if base.kind is StatementKind.REPORTS and base.chance == 1.0 and link.kind in _STRONG:
        return "what is quoted acts on nothing"
    earlier = places.get(link.to)
    if earlier is None and link.to in turn.sentences:
        return f"{link.to} is not kept"
    if earlier is not None and (earlier == place or earlier > place):
        return f"{link.to} does not come before it"
    fact = None if earlier is not None else known(link.to)
    if earlier is None and fact is None:
        return f"{link.to!r:.20} was not shown, or is over by now"
    kind = link.kind
    is_unsaid = base.kind in _UNSAID and PARTLY not in base.cues
    if kind in _STRONG and (not link.is_sure or is_unsaid):
        kind = RelationKind.DOUBTS
    return Relation(
        kind,
        fact.id if fact is not None else "",
        place,
        SURE if link.is_sure else PERHAPS,
        earlier=earlier,
        begins=said.term.begins if said.term is not None else None,
    )


def _in_earlier(made: Relation, link: Link, earlier: Statement, base: Statement) -> Relation:
    """One stretch of an earlier sentence of the turn changes; a value under a name goes whole."""
    if earlier.claim is not None and made.kind is RelationKind.PART:
        return replace(made, kind=RelationKind.REPLACES)
    return _in_part(made, link, earlier.wording or earlier.text, base)


def _in_part(made: Relation, link: Link, told: str, base: Statement) -> Relation:
    """One stretch of a fact changes, where old and new are both found; else both are shown."""
    old = placed(link.old, told)
    new = placed(link.new, base.text) if link.new else None
    if old is None or (link.new and new is None) or made.kind is RelationKind.DOUBTS:
        return replace(made, kind=RelationKind.DOUBTS, old=old)
    moved = (new[0] + base.start, new[1] + base.start) if new is not None else None
    return replace(made, old=old, new=moved)
