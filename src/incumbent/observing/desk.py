"""The desk: what all who see to the statements of a turn work with, and the record they keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from incumbent.engine.registrar import Registrar
from incumbent.language.cues import Cues
from incumbent.language.detection import Detector, Judged, Pair, RuleDetector, same_part
from incumbent.language.statements import Kind
from incumbent.language.voice import Voice
from incumbent.model.errors import NotPermitted
from incumbent.model.fact import Fact, MemoryType, Part
from incumbent.model.values import text_of
from incumbent.model.verdict import Outcome, Verdict
from incumbent.observing.circumstances import Circumstances
from incumbent.observing.filing import Filing
from incumbent.observing.labels import label_end
from incumbent.observing.replacing import Replacing
from incumbent.observing.rewriting import Swap
from incumbent.observing.situation import Situation
from incumbent.observing.stretches import Stretches
from incumbent.observing.understanding import Understood, typed

LONGEST_REASON = 500
_MOST_PAIRS = 96
"""An ordinary turn is compared with a dozen or two of the values in office."""


@dataclass
class Record:
    """What the statements of a turn have led to so far."""

    facts: list[Fact] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    retired: list[Part] = field(default_factory=list)
    doomed: list[str] = field(default_factory=list)
    """Ids of facts that are to be erased."""
    wants_all_gone: bool = False
    """Whether it asks for all that is the speaker's own to be erased."""
    outdated: list[tuple[int, int]] = field(default_factory=list)
    """Where the turn says what had been replaced by the time it came."""
    said: Sequence[Understood] = ()
    """The statements of the turn, as they were read in its situation."""
    readings: list[Kind] = field(default_factory=list)
    """What each statement was taken for, in order."""


class Rationed:
    """A detector that is asked about so many pairs of one turn, and then the rules alone.

    A turn of hundreds of corrections must not keep others waiting.
    """

    def __init__(self, detector: Detector) -> None:
        self.name = detector.name
        self.reach = detector.reach
        self._detector = detector
        self.spent = 0
        """How many pairs it was asked about."""

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judged]:
        if self.spent >= _MOST_PAIRS:
            return RuleDetector().judge(pairs)
        self.spent += len(pairs)
        return self._detector.judge(pairs)

    def may_doubt(self, pairs: Sequence[Pair]) -> bool:
        """Whether it could doubt one of these. Where it cannot, they count as asked about."""
        may_doubt = getattr(self._detector, "may_doubt", None)
        if may_doubt is None or self.spent >= _MOST_PAIRS or may_doubt(pairs):
            return True
        self.spent += len(pairs)
        return False


class ForeseenSwaps(NamedTuple):
    """What a statement replaces, looked up before the transaction that files it."""

    said: Understood
    key: str
    subject: str | None
    swaps: list[Swap]
    pairs: int
    """How many pairs were asked for it."""


class Desk:
    """What there is to work with for one turn, inside one transaction."""

    def __init__(
        self,
        registrar: Registrar,
        situation: Situation,
        detector: Detector,
        circumstances: Circumstances,
        foreseen: Sequence[ForeseenSwaps] = (),
    ) -> None:
        """`foreseen` holds as long as the situation is as it was then."""
        self.registrar = registrar
        self.situation = situation
        self.detector = detector
        self.around = circumstances
        self._foreseen = foreseen
        self._rationed = Rationed(detector)
        self.replacing = Replacing(situation, self._rationed, circumstances.text)
        self.filing = Filing(registrar, situation, circumstances)
        self.stretches = Stretches(detector, situation, circumstances)
        # What a statement is does not hang on which detector is in use.
        self.by_rules = Replacing(situation, RuleDetector(), circumstances.text)
        self.voice = Voice(circumstances.text, begin=label_end(circumstances.text))
        self.record = Record()
        self.granted: list[Fact] = []
        """Facts that a clause took for granted, which the next one follows from."""

    def swaps(self, said: Understood, key: str, subject: str | None) -> list[Swap]:
        """The values that a statement replaces, looked up once."""
        if self.situation.is_untouched:
            for known in self._foreseen:
                if known.said is said and (known.key, known.subject) == (key, subject):
                    self._rationed.spent += known.pairs
                    return known.swaps
        return self.replacing.swaps(said, key, subject)

    def is_meant(self, said: Understood, *, whole: bool = False) -> bool:
        """Whether what a statement ends is ended by the speaker's own words, said straight out.

        Nothing is erased, taken back or gone back on by a turn without asking this. With `whole`
        the rest of its sentence has to be the speaker's own as well.
        """
        start, end = said.statement.start, said.statement.end
        if not self.voice.is_own(start, end):
            return False
        # "He asked me:" ends nothing by itself, and what follows is not the speaker's.
        return not whole or self.voice.is_own(*self.voice.sentence(start, end))

    def is_retold(self, said: Understood) -> bool:
        """Whether a statement only shows or repeats somebody else's words, who has no office."""
        if said.by is not None:
            return self.voice.is_shown(said.statement.start, said.statement.end)
        return self.voice.is_retold(said.statement.start, said.statement.end)

    def within_reach(self, said: Understood, facts: Iterable[Fact]) -> list[Fact]:
        """Of these facts, those that whoever speaks may act on, here and at this time."""
        ladder, around = self.registrar.ladder, self.around
        rank = ladder.rank(self.filing.rung(said))
        return [
            fact
            for fact in facts
            if rank >= ladder.rank(fact.standing)
            and (fact.owner or self.filing.memory_type(said) is MemoryType.ORGANIZATIONAL)
            and (around.branch is None or fact.place == around.branch)
            and (around.at is None or around.at >= fact.order)
        ]

    def last(self) -> list[Fact]:
        """The facts that were stated last."""
        here = [fact for fact in self.record.facts if fact.id in self.situation.facts]
        if here:
            return here[-1:]
        last = self.situation.last_said
        return [fact for fact in self.situation.facts.values() if fact.id in last]

    def fetched(self, fact_ids: Sequence[str]) -> list[Fact]:
        return self.registrar.transaction.facts(fact_ids) if fact_ids else []

    def note(
        self, verdict: Verdict, gone: Sequence[Fact] = (), retired: Iterable[Part] = ()
    ) -> None:
        self.record.verdicts.append(verdict)
        self.record.retired.extend(retired)
        brought = []
        if verdict.fact is not None and verdict.outcome is not Outcome.RETRACTED:
            brought = [verdict.fact]
            self.record.facts.extend(brought)
        self.situation.add(brought, [fact.id for fact in gone])

    def take_back(self, fact: Fact, reason: str, evidence: Mapping[str, Any] | None = None) -> None:
        """End a fact within reach, from when the turn was said."""
        try:
            verdict = self.registrar.retract(
                fact, at=self.around.at, reason=reason[:LONGEST_REASON], evidence=evidence
            )
        except NotPermitted:
            return
        self.note(verdict, gone=[fact], retired=said_by(fact))


def said_by(fact: Fact) -> tuple[Part, ...]:
    """What goes out of office with a fact."""
    return typed(fact.parts) or fact.parts


def of_all(facts: Iterable[Fact]) -> list[Part]:
    return [part for fact in facts for part in said_by(fact)]


def lost(live: Fact, earlier: Fact) -> list[Part]:
    return [p for p in said_by(live) if not any(same_part(p, old) for old in earlier.parts)]


def tells_of_an_end(fact: Fact) -> bool:
    return Cues(text_of(fact.value)).what_is_over is not None
