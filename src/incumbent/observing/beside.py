"""Beside: a turn, read beside the statements in office that it may put out of date.

A reading takes the model some milliseconds, and rules often tell beforehand that nothing would come
of it. So only those statements are read that somebody asks for. How likely one of them is out of
date also hangs a little on what the model says of the others: where that could make a difference,
all of them are read. What comes out is the same as if all had been.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from incumbent.language.learned.model import Opinion
from incumbent.language.learned.voices import as_heard
from incumbent.language.learned.weighing import Read
from incumbent.language.tokens import stems
from incumbent.model.fact import Fact, Part
from incumbent.model.values import text_of
from incumbent.observing.relating import parts_in, sentence_of
from incumbent.observing.touching import LONGEST, Likeness, Lines, Reads, Said, Touched, at_most_of
from incumbent.observing.understanding import typed

SURE_OF_PART = 0.5
_READ = 6
"""How many statements the model reads for one turn."""
_WORTH_A_LOOK = 0.03
"""Below this nothing of a statement is out of date, and its values need not be read."""
_ALIKE = 0.12
"""Below this a statement and a turn have nothing in common in meaning: of 600 such pairs without a
word in common, one in fifty was a change."""
_OF_A_REQUEST = 0.3
"""How likely a value of the request at hand must be out of date for it to go: who asks for
something else says the new value and leaves the rest as it is."""
_TELLING = 3
_WINDOW = 400


class Beside:
    """What a turn puts out of date, of these facts; `alike` tells how they were found.

    Those `requested` belong to the request at hand.
    """

    def __init__(
        self,
        reads: Reads,
        facts: Sequence[Fact],
        alike: Mapping[str, Likeness],
        previous: str,
        said: Said,
        lines: Lines,
        *,
        is_cued: bool,
        requested: Container[str] = (),
    ) -> None:
        self.facts = _worth_reading(facts, alike, said.text)
        """Those that are worth reading, the likeliest first."""
        self.requested = requested
        newest_first = sorted(self.facts, key=lambda fact: (fact.order, fact.id), reverse=True)
        self._ages = {fact.id: age for age, fact in enumerate(newest_first)}
        self._alike = alike
        self._heard = _Heard(reads, previous, *as_heard(said.text[:_WINDOW], said.speaker))
        self._lines = lines
        self._is_cued = is_cued
        self._looked: dict[str, _Looked | None] = {}

    def touched(self, wanted: Container[str]) -> list[Touched]:
        """What of the facts with these ids is out of date, in whole or in part."""
        asked = [fact for fact in self.facts if fact.id in wanted]
        if not asked:
            return []
        found = self._told_by(asked) if len(asked) < len(self.facts) else None
        if found is None:
            found = [one for one in self._told_by_all() if one.fact.id in wanted]
        return [one for one in found if one.chance >= self._lines.doubtful]

    def _told_by(self, asked: Sequence[Fact]) -> list[Touched] | None:
        """What becomes of some facts; None where that may hang on what is said of the others."""
        at_most = at_most_of(self._heard.reads)
        if at_most is None:
            return None
        self._look_at(asked)
        known = [one for one in self._looked.values() if one is not None]
        unread = [self._meaning(fact.id) for fact in self.facts if fact.id not in self._looked]
        chances = at_most(self._heard.turn, self._read_as(known), unread, follows=self._follows)
        most = {one.whole.fact.id: chance for one, chance in zip(known, chances, strict=True)}
        found = []
        for one in filter(None, (self._looked[fact.id] for fact in asked)):
            if one.settled is not None:
                found.append(one.settled)
            elif one.parts is not None and not self._goes(most[one.whole.fact.id]):
                found.append(one.parts)
            elif one.parts is not None or most[one.whole.fact.id] >= self._lines.doubtful:
                return None
        return found

    def _told_by_all(self) -> list[Touched]:
        """What becomes of all the facts, each weighed beside the others."""
        self._look_at(self.facts)
        known = [one for fact in self.facts if (one := self._looked[fact.id]) is not None]
        chances = self._heard.reads.weigh(
            self._heard.turn, self._read_as(known), follows=self._follows
        )
        return [
            one.settled
            if one.settled is not None
            # Some of its values, unless it is surely all of it that is over.
            else one.parts
            if one.parts is not None and not self._goes(chance)
            else one.whole._replace(chance=chance)
            for one, chance in zip(known, chances, strict=True)
        ]

    def _look_at(self, facts: Sequence[Fact]) -> None:
        for fact in facts:
            if fact.id not in self._looked:
                is_at_hand = fact.id in self.requested
                self._looked[fact.id] = self._heard.look_at(fact, is_at_hand, self._lines)

    def _read_as(self, looked: Sequence[_Looked]) -> list[Read]:
        return [
            Read(
                one.sentence,
                one.whole.chance,
                one.likeliest or one.whole.chance,
                self._meaning(one.whole.fact.id),
                self._ages[one.whole.fact.id],
            )
            for one in looked
        ]

    def _meaning(self, fact_id: str) -> float | None:
        return self._alike[fact_id].meaning if fact_id in self._alike else None

    def _goes(self, chance: float) -> bool:
        return self._lines.goes(chance, is_cued=self._is_cued)

    @property
    def _follows(self) -> bool:
        return bool(self._heard.previous)


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
        sentence, begin = sentence_of(fact, text_of(fact.value)[:LONGEST])
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
        or not words.isdisjoint(stems(text_of(fact.value)[:LONGEST], shortest=_TELLING))
    ]


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
