"""Scenes out of marked conversations: what a turn does to what holds, and what its lines are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import numpy as np

from incumbent.language.speakers import as_heard
from incumbent.reading.learned.model import KINDS, TAGS
from incumbent.reading.learned.pieces import Age
from incumbent.reading.segments import segments
from incumbent_eval.conversations.format import (
    LineRelation,
    MarkedConversation,
    MarkedLine,
    MarkedTurn,
    RelationKind,
    Triple,
)
from training.scenes import Becomes, KnownText, Line, Place, Scene, Value

MARKS: Final = {
    "-": "chats",
    "?": "asks",
    "~": "supposes",
    '"': "reports",
    "<": "recalls",
    "!": "orders",
}
_WITHOUT_BREAK: Final = 0.25
"""How often the turn before is read though it was on another day."""
_AS_MARKED: Final = 0.5
"""How often a statement is cut as it was marked, and not as Incumbent cuts it."""
_APART: Final = 0.8
_LONGEST: Final = 420
"""So many characters of a turn are read at once."""
_GOES: Final = (RelationKind.REPLACES, RelationKind.ENDS)
_STRENGTH: Final = (
    RelationKind.LATER,
    RelationKind.DOUBTS,
    RelationKind.DEPENDS,
    RelationKind.ADDS,
    RelationKind.CONFIRMS,
)
_MOST_KNOWN: Final = 8
_LEAST_KNOWN: Final = 2
_NOISE: Final = 0.15
_STRANGERS: Final = 0.3
"""How often statements of others are among those that a turn may be about."""


@dataclass
class Held:
    """A statement that holds, with the lines of the file that it has words of."""

    text: str
    speaker: str
    day: Any
    turn: int
    lines: dict[int, dict[Triple, tuple[int, int]]] = field(default_factory=dict)
    over: set[tuple[int, Triple]] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)

    @property
    def is_over(self) -> bool:
        return set(self.lines) <= self.gone

    @property
    def heard(self) -> str:
        return as_heard(self.text, self.speaker)[0]


@dataclass(frozen=True)
class _Act:
    """What a line does to an earlier one, and where it begins in what is read."""

    relation: LineRelation
    line: MarkedLine
    begin: int


Likeness = Any
"""Tells how near in meaning a text is to others: a function of a text and a list of them."""


def scenes(
    conversation: MarkedConversation,
    source: str,
    rng: Random,
    likeness: Likeness,
    strangers: Sequence[KnownText] = (),
) -> Iterator[Scene]:
    """What each turn does to the statements that hold when it is said."""
    held: list[Held] = []
    previous, day = "", None
    for number, turn in enumerate(conversation.turns):
        if turn.at.date() != day and rng.random() >= _WITHOUT_BREAK:
            previous = ""
        day = turn.at.date()
        before = previous
        for text, shift, lines in windows(turn):
            heard, by = as_heard(text, turn.speaker)
            told = [(line, b - shift + by, e - shift + by) for line, b, e in lines]
            acts: dict[int, list[_Act]] = {}
            for line, begin, _ in told:
                for relation in line.relations:
                    acts.setdefault(relation.to, []).append(_Act(relation, line, begin))
            live = [one for one in held if not one.is_over]
            known = [_told(one, acts, before, heard, number, day) for one in live]
            chosen = _chosen(known, live, heard, rng, likeness)
            if len(strangers) >= _MOST_KNOWN and rng.random() < _STRANGERS:
                chosen = _joined(chosen, rng.sample(list(strangers), rng.randint(1, 3)), rng)
            marked = tuple(_lines(told, heard))
            yield Scene(before, heard, tuple(chosen), marked, source, tells_cuts=True)
            before = text
        held.extend(_said(turn, number, rng))
        previous = turn.text


def windows(turn: MarkedTurn) -> Iterator[tuple[str, int, list[tuple[MarkedLine, int, int]]]]:
    """The lines of a turn that are read at once, with their text and where it begins."""
    text = turn.text
    here: list[tuple[MarkedLine, int, int]] = []
    for line, begin, end in _placed(turn):
        if end == begin:
            continue
        if here and end - here[0][1] > _LONGEST:
            yield text[here[0][1] : here[-1][2]], here[0][1], here
            here = []
        here.append((line, begin, end))
    if here:
        yield text[here[0][1] : here[-1][2]], here[0][1], here


def _placed(turn: MarkedTurn) -> Iterator[tuple[MarkedLine, int, int]]:
    """The lines of a turn, with where they are in its text."""
    at = 0
    for line in turn.lines:
        begin = turn.text.index(line.text, at)
        at = begin + len(line.text)
        yield line, begin, at


# what becomes of what holds


def _told(
    held: Held, acts: dict[int, list[_Act]], previous: str, turn: str, number: int, day: Any
) -> KnownText:
    """What a turn does to a statement: to each of its values, and to all of it."""
    text, shift = as_heard(held.text, held.speaker)
    values: list[Value] = []
    over: set[tuple[int, Triple]] = set()
    mine = [act for line in held.lines for act in acts.get(line, [])]
    kinds = {act.relation.kind for act in mine}
    gone = {n for n in held.lines if any(a.relation.kind in _GOES for a in acts.get(n, []))}
    for line, found in held.lines.items():
        for triple, (start, end) in found.items():
            if (line, triple) in held.over:
                continue
            is_over, new = _becomes(triple, acts.get(line, []), previous, turn)
            values.append(Value(start + shift, end + shift, is_over, new))
            if is_over:
                over.add((line, triple))
    live = {n for n in held.lines if n not in held.gone}
    label = _of_all(kinds, gone >= live and bool(gone), bool(gone))
    by = next((a.begin for a in mine if _fits(a.relation.kind, label)), None)
    new = next((v.new for v in values if v.is_over and v.new), None)
    held.over |= over
    held.gone |= gone
    age = Age.BEFORE
    if held.day == day:
        age = Age.JUST if held.turn >= number - 2 else Age.HERE
    return KnownText(
        text,
        age,
        label,
        by,
        new if label in ("replaces", "part") else None,
        tuple(_apart(values)),
        is_whole=label not in ("replaces", "ends"),
    )


def _fits(kind: RelationKind, label: Becomes) -> bool:
    return kind.value == label or (label == "part" and kind in (RelationKind.PART, *_GOES))


def _of_all(kinds: set[RelationKind], is_gone: bool, is_partly: bool) -> Becomes:
    if is_gone:
        return "replaces" if RelationKind.REPLACES in kinds else "ends"
    if is_partly or RelationKind.PART in kinds:
        return "part"
    found = next((kind for kind in _STRENGTH if kind in kinds), None)
    return found.value if found is not None else "leaves"  # type: ignore[return-value]


def _apart(values: list[Value]) -> Iterator[Value]:
    """Values in order; of those that overlap, the first."""
    end = -1
    for value in sorted(values, key=lambda one: one.start):
        if value.start >= end:
            end = value.end
            yield value


def _becomes(
    triple: Triple, acts: list[_Act], previous: str, turn: str
) -> tuple[bool, Place | None]:
    """Whether a value is over, and where the new one is said."""
    is_over, new = False, None
    for act in acts:
        kind, old = act.relation.kind, act.relation.old.casefold()
        value = triple.value.casefold()
        if kind is RelationKind.REPLACES:
            is_over, new = True, _instead(triple, act.line, previous, turn)
        elif kind is RelationKind.ENDS:
            is_over = True
        elif kind is RelationKind.PART and (old in value or value in old):
            is_over = True
            new = located(previous, turn, act.relation.new) or _instead(
                triple, act.line, previous, turn
            )
    return is_over, new


def _instead(triple: Triple, line: MarkedLine, previous: str, turn: str) -> Place | None:
    """Where the value is said that a line has for the same attribute, or its only one."""
    told = [one for one in line.triples if not one.accepted]
    for one in told:
        if (one.subject, one.attribute) == (triple.subject, triple.attribute):
            found = located(previous, turn, one.value)
            if found is not None:
                return found
    return located(previous, turn, told[0].value) if len(told) == 1 else None


def located(previous: str, turn: str, value: str) -> Place | None:
    """Where a value is last said."""
    if not value:
        return None
    pattern = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE)
    for text, in_previous in ((turn, False), (previous, True)):
        found = list(pattern.finditer(text))
        if found:
            return Place(*found[-1].span(), in_previous)
    return None


def _said(turn: MarkedTurn, number: int, rng: Random) -> list[Held]:
    """The statements of a turn, mostly as Incumbent cuts it, with the values that they have."""
    text = turn.text
    cut = segments(text)
    made: dict[tuple[int, int], Held] = {}
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
                day = turn.at.date()
                held = made.setdefault(
                    (start, stop), Held(text[start:stop], turn.speaker, day, number)
                )
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


# what is read beside a turn


def _chosen(
    known: list[KnownText], held: list[Held], turn: str, rng: Random, likeness: Likeness
) -> list[KnownText]:
    """The statements that are read beside a turn: the likeliest, and with luck what it is about."""
    if not known:
        return []
    near = likeness(turn, [one.text for one in known])
    words = _stems(turn)
    scored = []
    for place, (one, like) in enumerate(zip(known, near, strict=True)):
        own = _stems(one.text)
        shared = len(own & words) / max(1, min(len(own), len(words)))
        last = 0.2 / (len(known) - place) if one.age is not Age.BEFORE else 0.0
        scored.append((like + 0.5 * shared + last + rng.gauss(0, _NOISE), place))
    scored.sort(reverse=True)
    count = rng.choice((*range(_LEAST_KNOWN, _MOST_KNOWN), *[_MOST_KNOWN] * 6))
    kept = [known[place] for _, place in scored[:count]]
    for _, place in scored[count:]:
        if known[place].becomes not in ("leaves", "confirms") and rng.random() < 0.9:
            kept[rng.randrange(len(kept))] = known[place]
    return kept


def _joined(own: list[KnownText], others: list[KnownText], rng: Random) -> list[KnownText]:
    kept = own[: _MOST_KNOWN - len(others)]
    for one in others:
        kept.insert(rng.randint(0, len(kept)), one)
    return kept


def _stems(text: str) -> set[str]:
    return {word.lower()[:5] for word in re.findall(r"\w{3,}", text)}


# the lines of a turn


def _lines(told: list[tuple[MarkedLine, int, int]], turn: str) -> Iterator[Line]:
    begins = {line.number: begin for line, begin, _ in told if line.number is not None}
    for line, begin, end in told:
        name = MARKS.get(line.mark, "chats") if line.number is None else "states"
        rests = None
        if line.number is not None and len(begins) > 1:
            on = [r.to for r in line.relations if r.kind is RelationKind.DEPENDS]
            rests = next((begins[one] for one in on if one in begins), -1)
        yield Line(begin, end, KINDS.index(name), tuple(_tags(line, begin, end, turn)), rests)


def _tags(line: MarkedLine, begin: int, end: int, turn: str) -> Iterator[tuple[int, int, int]]:
    low = turn.casefold()
    taken: list[tuple[int, int]] = []

    def find(text: str) -> tuple[int, int] | None:
        for found in re.finditer(rf"(?<!\w){re.escape(text.casefold())}(?!\w)", low[:end]):
            a, b = found.span()
            if a >= begin and not any(x < b and a < y for x, y in taken):
                return a, b
        return None

    for name in ("value", "subject", "attribute"):
        for triple in line.triples:
            text = getattr(triple, name).strip()
            if triple.accepted or not text or (where := find(text)) is None:
                continue
            taken.append(where)
            yield (*where, TAGS.index("begins" if name == "value" else name))


def embedding_likeness(embed: Any) -> Likeness:
    """Likeness by the meaning of texts, each of which is looked at once."""
    known: dict[str, Any] = {}

    def vectors(texts: Sequence[str]) -> Any:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, embed.embed([text[:400] for text in new]), strict=True))
        return np.stack([known[text] for text in texts])

    def likeness(text: str, others: Sequence[str]) -> list[float]:
        found = vectors([text, *others])
        return [float(one) for one in found[1:] @ found[0]]

    return likeness
