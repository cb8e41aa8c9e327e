"""Touching: which statements in office a turn puts out of date, as the model reads both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeGuard

from incumbent.engine.lens import Lens
from incumbent.language.detection import Detector
from incumbent.language.learned.model import Opinion
from incumbent.language.learned.weighing import Read
from incumbent.language.speakers import is_machine
from incumbent.language.stances import Opposition, opposition
from incumbent.language.statements import Kind
from incumbent.model.fact import Fact, Part
from incumbent.model.values import text_of
from incumbent.observing import limiting
from incumbent.observing.relating import sentence_of
from incumbent.observing.situation import VERBATIM, Situation
from incumbent.observing.understanding import Understood
from incumbent.search.index import Index
from incumbent.search.retrieval import search
from incumbent.settings import Settings
from incumbent.stores.port import Reader

_CUE = 0.1
"""How much less likely it may be where a word of correction is said."""
_FOUND = 16
_LATEST = 2
"""So many of the last statements are read whatever they are about."""
LONGEST = 400
"""So many characters of a fact are looked at."""


class Reads(Detector, Protocol):
    """A detector that reads a statement as a whole."""

    def read(
        self, statement: str, marked: Sequence[tuple[int, int]], previous: str, turn: str
    ) -> tuple[Opinion | None, ...]:
        """What becomes of each marked stretch of a statement."""
        ...

    def weigh(self, turn: str, reads: Sequence[Read], *, follows: bool) -> Sequence[float]:
        """How likely each of the statements that a turn may be about is out of date; `follows`
        where something was said before the turn."""
        ...

    def kind(self, stretch: str, context: str, role: str) -> Mapping[str, float]:
        """How likely a stretch of a turn is of each kind."""
        ...

    def begins(self, turn: str, words: Sequence[tuple[int, int]]) -> tuple[float, ...]:
        """How likely a statement begins with each of these words."""
        ...


_READING = ("read", "weigh", "kind", "begins")


def is_reading(detector: Detector) -> TypeGuard[Reads]:
    """Whether a detector reads statements as a whole. It is asked many times a turn, for which the
    check that comes with protocols is too slow."""
    return all(hasattr(detector, name) for name in _READING)


class AtMost(Protocol):
    """The most that `weigh` can come to for statements that were read, whatever it would hear of
    others that were not: of those there are their likenesses in meaning to the turn."""

    def __call__(
        self,
        turn: str,
        reads: Sequence[Read],
        unread: Sequence[float | None],
        *,
        follows: bool,
    ) -> Sequence[float]: ...


def at_most_of(detector: Reads) -> AtMost | None:
    """How a detector tells that, if it does."""
    found: AtMost | None = getattr(detector, "at_most", None)
    return found


_TOLD = (Kind.ASSERTION, Kind.COMMITMENT, Kind.RETRACTION)
_CHANCES = {Opposition.SURE: 0.9, Opposition.LIKELY: 0.4}
"""How likely what is denied, or in another state, is out of date."""


class Lines(NamedTuple):
    """How likely it must be that a statement is out of date for it to go, and to be in doubt."""

    sure: float
    doubtful: float

    @classmethod
    def of(cls, settings: Settings) -> Lines:
        return cls(settings.retire_from, settings.doubt_from)

    def goes(self, chance: float, *, is_cued: bool) -> bool:
        """Whether what is so likely out of date goes."""
        return chance >= (self.sure - _CUE if is_cued else self.sure)


class Said(NamedTuple):
    """A turn, and who says it."""

    text: str
    speaker: str


class Likeness(NamedTuple):
    """How a fact was found that a turn may be about."""

    score: float
    meaning: float
    """The cosine between both meanings."""


class Touched(NamedTuple):
    """A fact that a turn puts out of date, or a part of it."""

    fact: Fact
    chance: float
    parts: tuple[Part, ...]
    """The values of it that are over; none where all of it is."""
    place: int | None
    """Where in the turn the new value is said."""
    is_ended: bool
    """Whether nothing takes its place."""
    at_hand: bool = False
    """Whether it is of the request that is being talked about."""


@dataclass(frozen=True)
class Surroundings:
    """What it takes to find the statements that a turn may be about."""

    reader: Reader
    lens: Lens
    found: Mapping[str, Likeness]
    """Ids of facts that were found by search, with how well they fit."""
    situation: Situation


def nearby(around: Surroundings) -> list[Fact]:
    """What a person has in office that a turn may be about, whenever it was said, the likeliest
    first."""
    own = around.lens.identity.user_id
    latest = [fact for fact in around.situation.facts.values() if _is_open(fact, own)]
    known = {fact.id: fact for fact in latest}
    scores = {fact.id: 0.15 / (1 + age) for age, fact in enumerate(reversed(latest))}
    there = around.reader.facts(list(around.found)) if around.found else []
    for fact in around.lens.in_office(around.reader, there, marks=False):
        if _is_open(fact, own):
            known[fact.id] = fact
            scores[fact.id] = scores.get(fact.id, 0.0) + around.found[fact.id].score
    first = [fact.id for fact in latest[-_LATEST:]]
    order = sorted(known, key=lambda fact_id: (fact_id not in first, -scores[fact_id]))
    return [known[fact_id] for fact_id in order[:_FOUND]]


def _is_open(fact: Fact, own: str) -> bool:
    return fact.owner == own and fact.key != VERBATIM


def open_to(speaker: str, facts: Iterable[Fact]) -> list[Fact]:
    """The facts that a speaker's words may touch: a machine's, only what a machine said."""
    is_free = not is_machine(speaker)
    return [fact for fact in facts if is_free or fact.source.by_machine]


def at_hand(situation: Situation, heard: Iterable[Understood], speaker: str) -> frozenset[str]:
    """The facts of the request that a turn may change: a machine changes none, nor does a limit."""
    if is_machine(speaker) or any(limiting.is_limit(said) for said in heard):
        return frozenset()
    return situation.at_hand


def found_by_search(reader: Reader, lens: Lens, index: Index, text: str) -> dict[str, Likeness]:
    """The ids of a person's facts that a turn may be about by its words and its meaning.

    For use before a turn is filed: what a transaction has not committed is no matter of an index.
    """
    if not index.is_current(reader) or not text.strip():
        return {}
    own = lens.identity.user_id
    shelves = [s for s in reader.shelves(lens.owners, lens.places) if s.owner == own]
    if not shelves:
        return {}
    with index.shelved(reader, shelves, lens.when, ()) as space:
        hits = search(space.collection, text[:LONGEST], index.meaning, limit=_FOUND)
    scored = {
        hit.fact_id: Likeness(0.3 * hit.text + 0.6 * max(0.0, hit.meaning), hit.meaning)
        for hit in hits
    }
    best = sorted(scored, key=lambda fact_id: -scored[fact_id].score)[:_FOUND]
    return {fact_id: scored[fact_id] for fact_id in best}


def opposed(facts: Sequence[Fact], heard: Sequence[Understood]) -> list[Touched]:
    """The facts that a turn denies, or of whose things it tells another state."""
    found = []
    for fact in facts:
        sentence, _ = sentence_of(fact, text_of(fact.value)[:LONGEST])
        for said in heard:
            how = opposition(said.statement.text, sentence) if said.kind in _TOLD else 0
            if how:
                place = said.statement.start
                found.append(Touched(fact, _CHANCES[Opposition(how)], (), place, is_ended=False))
    return found


def either(one: Sequence[Touched], other: Sequence[Touched]) -> list[Touched]:
    """What is touched by one or the other, each fact once, as the surer of the two has it."""
    best: dict[str, Touched] = {}
    for found in (*one, *other):
        known = best.get(found.fact.id)
        if known is None or known.chance < found.chance:
            best[found.fact.id] = found
    return list(best.values())
