"""Touching: which statements in office a turn puts out of date, as the model reads both."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeGuard

from tenure.engine.lens import Lens
from tenure.language.detection import Detector
from tenure.language.learned.model import Opinion
from tenure.language.learned.voices import as_heard
from tenure.language.learned.weighing import Read
from tenure.language.speakers import is_machine
from tenure.language.stances import Opposition, opposition
from tenure.language.statements import Kind
from tenure.language.tokens import stems
from tenure.model.fact import Fact, Part
from tenure.model.values import text_of
from tenure.observing import limiting
from tenure.observing.relating import parts_in, sentence_of
from tenure.observing.situation import VERBATIM, Situation
from tenure.observing.understanding import Understood, typed
from tenure.search.index import Index
from tenure.search.retrieval import search
from tenure.settings import Settings
from tenure.stores.port import Reader

SURE_OF_PART = 0.5
_CUE = 0.1
"""How much less likely it may be where a word of correction is said."""
_READ = 6
"""How many statements the model reads for one turn."""
_FOUND = 16
_LATEST = 2
"""So many of the last statements are read whatever they are about."""
_WORTH_A_LOOK = 0.03
"""Below this nothing of a statement is out of date, and its values need not be read."""
_ALIKE = 0.12
"""Below this a statement and a turn have nothing in common in meaning: of 600 such pairs without a
word in common, one in fifty was a change."""
_OF_A_REQUEST = 0.3
"""How likely a value of the request at hand must be out of date for it to go: who asks for
something else says the new value and leaves the rest as it is."""
_TELLING = 3
_LONGEST = 400
_WINDOW = 400


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
        hits = search(space.collection, text[:_LONGEST], index.meaning, limit=_FOUND)
    scored = {
        hit.fact_id: Likeness(0.3 * hit.text + 0.6 * max(0.0, hit.meaning), hit.meaning)
        for hit in hits
    }
    best = sorted(scored, key=lambda fact_id: -scored[fact_id].score)[:_FOUND]
    return {fact_id: scored[fact_id] for fact_id in best}


def touched(
    reads: Reads,
    facts: Sequence[Fact],
    alike: Mapping[str, Likeness],
    previous: str,
    said: Said,
    lines: Lines,
    *,
    is_cued: bool,
    requested: Container[str] = (),
) -> list[Touched]:
    """What a turn puts out of date, of these facts; `alike` tells how they were found.

    Those `requested` belong to the request at hand.
    """
    facts = _worth_reading(facts, alike, said.text)
    newest_first = sorted(facts, key=lambda fact: (fact.order, fact.id), reverse=True)
    ages = {fact.id: age for age, fact in enumerate(newest_first)}
    heard = _Heard(reads, previous, *as_heard(said.text[:_WINDOW], said.speaker))
    looked = [one for fact in facts if (one := heard.look_at(fact, fact.id in requested, lines))]
    reads_of = []
    for one in looked:
        fact_id, chance = one.whole.fact.id, one.whole.chance
        meaning = alike[fact_id].meaning if fact_id in alike else None
        of_values = one.likeliest or chance
        reads_of.append(Read(one.sentence, chance, of_values, meaning, ages[fact_id]))
    chances = reads.weigh(heard.turn, reads_of, follows=bool(previous))
    weighed = [
        one.settled
        if one.settled is not None
        # Some of its values, unless it is surely all of it that is over.
        else one.parts
        if one.parts is not None and not lines.goes(chance, is_cued=is_cued)
        else one.whole._replace(chance=chance)
        for one, chance in zip(looked, chances, strict=True)
    ]
    return [one for one in weighed if one.chance >= lines.doubtful]


class _Looked(NamedTuple):
    """What the model makes of a fact and a turn."""

    sentence: str
    whole: Touched
    parts: Touched | None
    likeliest: float
    """How likely the likeliest of its values is over."""
    settled: Touched | None
    """What surely goes of it, where it is of the request at hand."""


class _Heard(NamedTuple):
    """A turn as the model reads it."""

    reads: Reads
    previous: str
    turn: str
    before: int
    """How far the name of who speaks moves the turn."""

    def look_at(self, fact: Fact, is_at_hand: bool, lines: Lines) -> _Looked | None:
        """What the turn does to a fact, and to its values where that is worth a look."""
        sentence, begin = sentence_of(fact, text_of(fact.value)[:_LONGEST])
        sentence, shift = as_heard(sentence, fact.source.speaker)
        begin += shift
        (whole,) = self.reads.read(sentence, [(shift, len(sentence))], self.previous, self.turn)
        if whole is None:
            return None
        of_whole = _of_whole(fact, whole, self.before)
        parts = [
            part
            for part in typed(parts_in(fact))
            if begin + part.end <= len(sentence) and part.start < part.end
        ]
        if not parts or (of_whole.chance < _WORTH_A_LOOK and not is_at_hand):
            return _Looked(sentence, of_whole, None, 0.0, None)
        spans = [(begin + part.start, begin + part.end) for part in parts]
        opinions = self.reads.read(sentence, spans, self.previous, self.turn)
        likeliest = max((_over(one) for one in opinions if one is not None), default=0.0)
        of_parts = _of_parts(fact, parts, opinions, self.before) if len(parts) > 1 else None
        settled = None
        if is_at_hand and likeliest >= _OF_A_REQUEST:
            settled = _settled(fact, parts, opinions, self.before, lines)
        return _Looked(sentence, of_whole, of_parts, likeliest, settled)


def _worth_reading(
    facts: Sequence[Fact], alike: Mapping[str, Likeness], turn: str
) -> Sequence[Fact]:
    """The likeliest facts, without those that have nothing in common with a turn."""
    words = stems(turn[:_WINDOW], shortest=_TELLING)
    last = max((fact.order, fact.id) for fact in facts) if facts else None
    return [
        fact
        for fact in facts[:_READ]
        if fact.id not in alike
        or alike[fact.id].meaning >= _ALIKE
        or (fact.order, fact.id) == last
        or not words.isdisjoint(stems(text_of(fact.value)[:_LONGEST], shortest=_TELLING))
    ]


def opposed(facts: Sequence[Fact], heard: Sequence[Understood]) -> list[Touched]:
    """The facts that a turn denies, or of whose things it tells another state."""
    found = []
    for fact in facts:
        sentence, _ = sentence_of(fact, text_of(fact.value)[:_LONGEST])
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


def _over(opinion: Opinion) -> float:
    return opinion.replaces + opinion.retracts


def _place(opinion: Opinion, before: int) -> int | None:
    """Where in a turn the new value is said; `before` is how far a name moves the turn."""
    if opinion.in_previous or opinion.span is None:
        return None
    return max(0, opinion.span[0] - before)


def _of_whole(fact: Fact, opinion: Opinion, before: int) -> Touched:
    chance = _over(opinion)
    place = _place(opinion, before)
    return Touched(fact, chance, (), place, opinion.retracts > opinion.replaces)


def _settled(
    fact: Fact,
    parts: Sequence[Part],
    opinions: Sequence[Opinion | None],
    before: int,
    lines: Lines,
) -> Touched:
    """What goes of the request at hand, where one of its values surely does."""
    read = zip(parts, opinions, strict=True)
    gone = [(part, one) for part, one in read if one and _over(one) >= _OF_A_REQUEST]
    place = _place(max(gone, key=lambda pair: _over(pair[1]))[1], before)
    is_ended = all(one.retracts > one.replaces for _, one in gone)
    # What a machine says of a request sums it up, and is over as a whole.
    is_all = len(gone) == len(parts) or fact.source.by_machine
    over = () if is_all else tuple(part for part, _ in gone)
    return Touched(fact, lines.sure, over, place, is_ended, at_hand=True)


def _of_parts(
    fact: Fact, parts: Sequence[Part], opinions: Sequence[Opinion | None], before: int
) -> Touched | None:
    read = [(p, o) for p, o in zip(parts, opinions, strict=True) if o is not None]
    gone = [(p, o) for p, o in read if _over(o) >= SURE_OF_PART]
    if not gone:
        return None
    chance = max(_over(o) for _, o in gone)
    place = _place(gone[0][1], before)
    over = () if len(gone) == len(parts) else tuple(p for p, _ in gone)
    return Touched(fact, chance, over, place, all(o.retracts > o.replaces for _, o in gone))
