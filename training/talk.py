"""Examples out of marked conversations: what a turn does to what was said, and what a line is.

A *relation* has a statement that holds, a later turn, and what becomes of the statement and of its
values. A *turn* has its lines: where each begins, and what it is: something said, a question, an
order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from incumbent.language.learned.kinds import WORD
from incumbent.language.learned.voices import as_heard
from incumbent.reading.segments import segments
from incumbent_eval.conversations.format import (
    LineRelation,
    MarkedConversation,
    MarkedLine,
    MarkedTurn,
    RelationKind,
    Triple,
)
from training.examples import CUT, TURN, Example, Kind, Mark, RelationLabel, joined

KINDS: Final[dict[str, Kind]] = {
    "-": "chats",
    "?": "asks",
    "~": "supposes",
    '"': "reports",
    "<": "recalls",
    "!": "orders",
}
SENTENCES: Final = Path(__file__).parent / "orders"
_SEED = 9
_WITHOUT_BREAK = 0.25
"""How often the turn before is read though it was on another day."""
_AS_MARKED = 0.35
"""How often a statement is cut as it was marked, and not as Incumbent cuts it."""
_APART = 0.8
_LINES = 6
"""So many lines are read at once when it is asked where they begin."""
_GOES = (RelationKind.REPLACES, RelationKind.ENDS)


@dataclass
class _Held:
    """A statement that holds, with the lines of the file that it has words of."""

    text: str
    speaker: str
    lines: dict[int, dict[Triple, tuple[int, int]]] = field(default_factory=dict)
    over: set[tuple[int, Triple]] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)

    @property
    def is_over(self) -> bool:
        return set(self.lines) <= self.gone


@dataclass(frozen=True)
class _Act:
    """What a line does to an earlier one."""

    relation: LineRelation
    line: MarkedLine


def relations(conversation: MarkedConversation, source: str) -> Iterator[Example]:
    """What each turn does to each statement that holds when it is said."""
    rng = Random(f"{_SEED} {conversation.id}")
    held: list[_Held] = []
    previous, day = "", None
    for turn in conversation.turns:
        if turn.at.date() != day and rng.random() >= _WITHOUT_BREAK:
            previous = ""
        day = turn.at.date()
        acts: dict[int, list[_Act]] = {}
        for line in turn.lines:
            for relation in line.relations:
                acts.setdefault(relation.to, []).append(_Act(relation, line))
        for one in held:
            if not one.is_over:
                yield from _told(one, acts, previous, turn, source, conversation.id)
        held.extend(_said(turn, rng))
        previous = turn.text


def _told(
    held: _Held,
    acts: dict[int, list[_Act]],
    previous: str,
    turn: MarkedTurn,
    source: str,
    group: str,
) -> Iterator[Example]:
    """What a turn does to a statement: to each of its values, and to all of it."""
    text, shift = as_heard(held.text, held.speaker)
    said, _ = as_heard(turn.text, turn.speaker)
    reply = joined(previous, said)
    marks: list[tuple[int, Triple, Mark]] = []
    names: set[str] = set()
    gone: list[int] = []
    for number, values in held.lines.items():
        mine = acts.get(number, [])
        names |= {act.relation.kind for act in mine}
        for triple, (start, end) in values.items():
            if (number, triple) not in held.over:
                label, new = _becomes(triple, mine, reply)
                marks.append((number, triple, Mark(start + shift, end + shift, label, new)))
        if any(act.relation.kind in _GOES for act in mine):
            gone.append(number)
    form = "+".join(sorted(names)) or "none"
    live = [number for number in held.lines if number not in held.gone]
    new = next((m.new for *_, m in marks if m.label == "replace" and m.new), None)
    label = _of_all(gone if set(gone) >= set(live) else [], names)
    whole = Mark(0, 0, label, new if label == "replace" else None)
    yield Example(text, previous, said, (whole, *_apart(m for *_, m in marks)), form, source, group)
    held.over |= {(n, t) for n, t, m in marks if m.label in ("replace", "retract")}
    held.gone |= set(gone)


def _of_all(gone: list[int], names: set[str]) -> RelationLabel:
    if gone:
        ends = RelationKind.ENDS in names and RelationKind.REPLACES not in names
        return "retract" if ends else "replace"
    return "confirm" if RelationKind.CONFIRMS in names else "leave"


def _apart(marks: Iterable[Mark]) -> tuple[Mark, ...]:
    """Marks in order; of those that overlap, the first."""
    found: list[Mark] = []
    for mark in sorted(marks, key=lambda one: one.start):
        if not found or mark.start >= found[-1].end:
            found.append(mark)
    return tuple(found)


def _becomes(
    triple: Triple, acts: list[_Act], reply: str
) -> tuple[RelationLabel, tuple[int, int] | None]:
    """What becomes of a value, and where the new one is said."""
    label: RelationLabel = "leave"
    new = None
    for act in acts:
        kind, old = act.relation.kind, act.relation.old.casefold()
        value = triple.value.casefold()
        if kind is RelationKind.REPLACES:
            label, new = "replace", _instead(triple, act.line, reply)
        elif kind is RelationKind.ENDS:
            label = "retract"
        elif kind is RelationKind.PART and (old in value or value in old):
            label = "replace"
            new = _located(reply, act.relation.new) or _instead(triple, act.line, reply)
        elif kind is RelationKind.CONFIRMS and label == "leave":
            label = "confirm"
    return label, new


def _instead(triple: Triple, line: MarkedLine, reply: str) -> tuple[int, int] | None:
    """Where the value is said that a line has for the same attribute, or its only one."""
    told = [one for one in line.triples if not one.accepted]
    for one in told:
        if (one.subject, one.attribute) == (triple.subject, triple.attribute):
            found = _located(reply, one.value)
            if found is not None:
                return found
    return _located(reply, told[0].value) if len(told) == 1 else None


def _located(reply: str, value: str) -> tuple[int, int] | None:
    found = list(re.finditer(rf"(?<!\w){re.escape(value)}(?!\w)", reply, re.IGNORECASE))
    return found[-1].span() if found and value else None


def _placed(turn: MarkedTurn) -> Iterator[tuple[MarkedLine, int, int]]:
    """The lines of a turn, with where they are in its text."""
    at = 0
    for line in turn.lines:
        begin = turn.text.index(line.text, at)
        at = begin + len(line.text)
        yield line, begin, at


def _said(turn: MarkedTurn, rng: Random) -> list[_Held]:
    """The statements of a turn, mostly as Incumbent cuts it, with the values that they have."""
    text = turn.text
    cut = segments(text)
    made: dict[tuple[int, int], _Held] = {}
    for line, begin, end in _placed(turn):
        if line.number is None or not line.text:
            continue
        cover = [one for one in cut if one.start < end and begin < one.end]
        first = min([begin, *(one.start for one in cover)])
        last = max([end, *(one.end for one in cover)])
        if rng.random() < _AS_MARKED:
            first, last = begin, end
        places = [(first, last)]
        if len(cover) > 1 and rng.random() < _APART:
            places = [(one.start, one.end) for one in cover]
        for start, stop in places:
            values = _values(text, line, max(begin, start), min(end, stop), start)
            if values or len(places) == 1:
                held = made.setdefault((start, stop), _Held(text[start:stop], turn.speaker))
                held.lines[line.number] = values
    return list(made.values())


def _values(
    text: str, line: MarkedLine, begin: int, end: int, start: int
) -> dict[Triple, tuple[int, int]]:
    found = {}
    for triple in line.triples:
        at = text.casefold().find(triple.value.casefold(), begin, end)
        if at >= 0 and triple.value and not triple.accepted:
            found[triple] = (at - start, at - start + len(triple.value))
    return found


# turns


def turn_kinds(conversation: MarkedConversation, source: str) -> Iterator[Example]:
    """What the lines of each turn are, all in one reading of it, at their first words."""
    for previous, text, lines in _in_stretches(conversation):
        marks = tuple(
            Mark(begin, end, KINDS.get(line.mark, "chats") if line.number is None else "states")
            for line, begin, end in lines
        )
        yield Example("", previous, text, marks, TURN, source, conversation.id)


def turn_cuts(conversation: MarkedConversation, source: str) -> Iterator[Example]:
    """Where the lines of each turn begin, after the turn before it."""
    for previous, text, lines in _in_stretches(conversation):
        starts = {begin for _, begin, _ in lines}
        first = min(starts)
        marks = tuple(
            Mark(*word.span(), "begins" if word.start() in starts else "goes_on")
            for word in WORD.finditer(text)
            if word.start() > first
        )
        if marks:
            yield Example("", previous, text, marks, CUT, source, conversation.id)


def _in_stretches(
    conversation: MarkedConversation,
) -> Iterator[tuple[str, str, list[tuple[MarkedLine, int, int]]]]:
    """The turns with who speaks before each; long ones in stretches of a few lines."""
    previous, day = "", None
    for turn in conversation.turns:
        if turn.at.date() != day:
            previous = ""
        day = turn.at.date()
        placed = [(line, begin, end) for line, begin, end in _placed(turn) if end > begin]
        for number in range(0, len(placed), _LINES):
            here = placed[number : number + _LINES]
            start, stop = here[0][1], here[-1][2]
            text, shift = as_heard(turn.text[start:stop], turn.speaker)
            moved = [(line, b - start + shift, e - start + shift) for line, b, e in here]
            yield (previous if number == 0 else turn.text[:start]), text, moved
        previous = turn.text


# sentences


def orders() -> list[Example]:
    """The labelled sentences of `training/orders`, as stretches that somebody says first."""
    found = []
    for path in sorted(SENTENCES.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            label, _, text = line.partition("\t")
            kind: Kind = "orders" if label == "order" else "states"
            mark = Mark(0, len(text), kind)
            found.append(Example("", "", text, (mark,), TURN, path.stem, text))
    return found
