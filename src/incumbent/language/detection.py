"""Detection: which values in office a new statement replaces, and how sure that is.

The port is a question about pairs: a value that stands, marked in its statement, and the turn that
may replace it. A detector answers with a confidence for each pair. What is done about it (a
supersession, a contested pair, nothing) is decided by those who ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple, Protocol

from incumbent.language.kinship import KIN, kinship
from incumbent.language.lexicon import lexicon
from incumbent.language.values.comparing import same
from incumbent.language.values.kinds import Value, ValueKind
from incumbent.model.fact import Part


class Relation(IntEnum):
    """How a statement in office and a new one belong together, from loosely to closely."""

    OTHER = -1
    """They name different things, or different sides of one."""
    APART = 0
    """Nothing tells that they belong together, nor that they do not."""
    NEARBY = 1
    """It was said a moment ago, and the new statement names nothing of its own."""
    SAME_THING = 2
    """Both name the same thing."""
    SAME_MATTER = 3
    """Both are about the matter at hand: one request and what is said further on it."""
    SAME_WORDS = 4
    """But for their values both say the same."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A value in office: the statement that says it, and where."""

    fact_id: str
    text: str
    """The statement, such that who reads it alone knows what it is about."""
    part: Part
    """The value, placed in the fact's own words."""
    start: int
    """Where in the text the fact's own words begin."""
    age: int = 0
    """How many statements ago it was said."""

    @property
    def span(self) -> tuple[int, int]:
        """Where in the text the value is."""
        return self.start + self.part.start, self.start + self.part.end


@dataclass(frozen=True, slots=True)
class Pair:
    """A value in office, and what was said that may replace it."""

    standing: Standing
    candidate: Part | None
    """The value in the new statement that would take its place; None asks whether it is simply no
    longer so."""
    relation: Relation
    statement: str
    """The new statement."""
    turn: str
    """The turn that the statement is part of, or what stands around it in a long one."""
    start: int
    """Where in the turn, or in the one before, the statement begins."""
    is_in_previous: bool = False
    """Whether it is the assistant's offer, which the turn accepts."""
    previous: str = ""
    """What the assistant had said right before."""
    is_cued: bool = False
    """Whether the statement says of itself that it corrects something."""
    is_denied: bool = False
    """Whether the statement names the old value as what is not so."""
    has_failed: bool = False
    """Whether the assistant had just said that it cannot be as it was."""
    is_fragment: bool = False
    """Whether the statement says values and hardly anything else."""
    is_added: bool = False
    """Whether it says of itself that it comes on top of something."""
    is_request: bool = False
    is_at_hand: bool = False
    """Whether the value was said since the matter at hand was opened."""
    is_repeated: bool = False
    """Whether the statement says the old value itself, beside the new one."""
    is_same_turn: bool = False
    """Whether the old value was said in the same turn, a sentence or two before."""


class Judged(NamedTuple):
    """What a detector says of a pair."""

    confidence: float
    """How sure it is that the value is replaced: 0 for not at all."""
    because: str
    """The name of the reason, for the record."""


class Detector(Protocol):
    """Tells which values are replaced. Safe to share between threads; the same pairs give the same
    answers."""

    @property
    def name(self) -> str:
        """What it is called in verdicts."""
        ...

    @property
    def reach(self) -> Relation:
        """How closely two statements must belong together for it to be asked."""
        ...

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judged]:
        """One answer per pair, in order."""
        ...


_NO: Final = Judged(0.0, "")
WORDS: Final = frozenset({"term", ValueKind.NAME, ValueKind.QUOTED, ValueKind.ADDRESS})
_PLACES = frozenset({"from", "to", "in", "at", "on", "by"})
_ELSEWHERE = frozenset({"from", "since", "of", "per"})
WORTH_ASKING: Final = 0.5
"""Below this nothing is said about a pair; above it, it is at least contested."""
OPPOSED: Final = "opposed"
"""Why a value surely does not replace another: it is there for the opposite."""
DOUBTED: Final = "doubted"
"""Why a value is not taken to replace another although it would fit: it is not said in earnest."""
_BASE = {
    Relation.NEARBY: 0.6,
    Relation.SAME_THING: 0.65,
    Relation.SAME_MATTER: 0.72,
    Relation.SAME_WORDS: 0.85,
}


class RuleDetector:
    """Goes by what can be written down: kinds of values, what they are there for, cues."""

    name: Final = "rules"
    reach: Final = Relation.NEARBY

    def __init__(self, language: str = "en") -> None:
        self._lexicon = lexicon(language)

    def judge(self, pairs: Sequence[Pair]) -> list[Judged]:
        return [self._judge(pair) for pair in pairs]

    def _judge(self, pair: Pair) -> Judged:
        old, new = pair.standing.part, pair.candidate
        base = _BASE.get(pair.relation, 0.0)
        if new is None:
            return _NO
        if self._are_opposed(old, new):
            return Judged(0.0, OPPOSED)
        if not base or pair.is_added or same_part(old, new):
            return _NO
        if pair.is_denied:
            return _denied(old, new)
        if pair.is_repeated:
            return _NO
        fits = self._fit(old, new, pair)
        if fits is None:
            return _NO
        cue = 0.2 if pair.is_cued else 0.1 if pair.has_failed else 0.0
        return Judged(round(min(0.99, max(0.0, base + fits + cue)), 2), old.kind)

    def _fit(self, old: Part, new: Part, pair: Pair) -> float | None:
        """How well a value fits into the place of another: None where it cannot."""
        if old.kind in WORDS and new.kind in WORDS:
            return self._fit_words(old, new, pair)
        if old.kind != new.kind:
            return None
        ends, other_ends = _role(old), _role(new)
        if any(map(self._contrast, ends[:2], other_ends[:2])) or _end_differs(ends, other_ends):
            return None
        if old.kind == ValueKind.NUMBER:
            return _fit_numbers(ends, other_ends, pair)
        if ends[1] != other_ends[1]:
            due = pair.is_cued or pair.has_failed
            if self._tells(other_ends[1]) or (self._tells(ends[1]) and not due):
                return None  # one names an end of something, and the other is not known to be that
        return _fit_anchors(ends[1], other_ends[1], pair)

    def _fit_words(self, old: Part, new: Part, pair: Pair) -> float | None:
        (place, anchor, _), (other_place, other_anchor, _) = _role(old), _role(new)
        if self._contrast(place, other_place):
            return None
        near = kinship(old.text, new.text)
        named = old.kind == new.kind != "term"
        if place == other_place and place in _PLACES:
            if named or near >= KIN:
                return 0.08
            return -0.1 if old.kind == new.kind else None
        if place == other_place == "mod":
            if near < KIN:
                due = pair.is_cued or pair.has_failed
                return 0.0 if due and anchor == other_anchor else None
            return 0.1 if anchor == other_anchor else 0.0
        if place == other_place == "is" and old.kind == new.kind:
            if pair.relation is Relation.NEARBY:
                return None
            return 0.05 if near >= KIN else 0.0 if pair.is_cued else None
        if {place, other_place} == {"mod", "is"} and pair.is_request:
            return 0.0 if near >= KIN + 0.1 else None
        if pair.is_cued and named and (place == other_place or not other_place + other_anchor):
            return -0.05
        return None

    def _are_opposed(self, old: Part, new: Part) -> bool:
        """Whether what the values go with tells them apart: leaving and arriving, from and to."""
        (place, anchor, _), (other_place, other_anchor, _) = _role(old), _role(new)
        ends = anchor.split(" ")[0], other_anchor.split(" ")[0]
        return self._contrast(place, other_place) or self._contrast(*ends)

    def _tells(self, anchor: str) -> bool:
        """Whether a word tells one end of something from the other: leaving, returning."""
        return anchor.split(" ")[0] in self._lexicon.telling

    def _contrast(self, left: str, right: str) -> bool:
        return left != right and frozenset((left, right)) in self._lexicon.contrasts


def _end_differs(old: tuple[str, str, str], new: tuple[str, str, str]) -> bool:
    """Whether one value is the end of a term, and the other is not known to be."""
    return (old[0] == "until") != (new[0] == "until") and (not old[1] or old[1] != new[1])


def _denied(old: Part, new: Part) -> Judged:
    """A value that is named as wrong gives way to what is named beside it, if of a kind."""
    if old.kind == new.kind != "term":
        return Judged(0.97, "denied")
    if old.kind not in WORDS or new.kind not in WORDS:
        return _NO
    near = _role(old)[0] == _role(new)[0] in _PLACES or kinship(old.text, new.text) >= KIN
    return Judged(0.97 if near else 0.7, "denied")


def _fit_numbers(old: tuple[str, str, str], new: tuple[str, str, str], pair: Pair) -> float | None:
    """Numbers exclude each other only where they count the same thing."""
    if old[2] and new[2]:
        return 0.1 if old[2] == new[2] else None
    if pair.relation is Relation.SAME_WORDS:
        return 0.0
    if pair.is_cued and new[0] not in _ELSEWHERE and old[0] not in _ELSEWHERE:
        return 0.0 if pair.is_fragment or new[2] or old[0] == new[0] else None
    return 0.0 if old[:2] == new[:2] and any(old[:2]) else None


def _fit_anchors(anchor: str, other: str, pair: Pair) -> float | None:
    if anchor and anchor == other:
        return 0.12
    if not anchor or not other or pair.is_request:
        return 0.02
    return -0.2 if not pair.is_cued else -0.1


def _role(part: Part) -> tuple[str, str, str]:
    """Where a value stands, the word it goes with, and what it counts."""
    place, anchor, counted, *_ = (*part.role.split("|"), "", "")
    return place, anchor, counted


def as_value(part: Part) -> Value:
    return Value(ValueKind(part.kind), part.text, part.start, part.end, part.normal)


def same_part(left: Part, right: Part) -> bool:
    """Whether two parts say the same, however they put it."""
    if left.normal == right.normal:
        return True
    if left.kind in WORDS and right.kind in WORDS:
        return _is_within(left.normal, right.normal) or _is_within(right.normal, left.normal)
    if "term" in (left.kind, right.kind):
        return False
    return same(as_value(left), as_value(right))


def are_comparable(old: Part, new: Part) -> bool:
    """Whether one value could take the place of the other at all: of a kind, and not the same."""
    alike = old.kind == new.kind or (old.kind in WORDS and new.kind in WORDS)
    return alike and not same_part(old, new)


def _is_within(short: str, long: str) -> bool:
    """Whether a name is a shorter form of another: Asya and Asya Restaurant."""
    words, others = short.split(), long.split()
    return bool(words) and len(words) < len(others) and set(words) <= set(others)
