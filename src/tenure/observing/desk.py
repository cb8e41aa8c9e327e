"""The desk: what all who see to the statements of a turn work with, and the record they keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tenure.engine.registrar import Registrar
from tenure.language.attributes import Attribute
from tenure.language.cues import Cues
from tenure.language.detection import Detector, Judged, Pair, RuleDetector, same_part
from tenure.language.frames import frame_again, frame_of
from tenure.language.lexicon import lexicon
from tenure.language.reasoning import value_told
from tenure.language.statements import Kind
from tenure.language.things import opens_with_bare_thing, says_more
from tenure.language.tokens import stems
from tenure.language.voice import Voice
from tenure.model.errors import NotPermitted
from tenure.model.fact import Fact, MemoryType, Part
from tenure.model.values import text_of
from tenure.model.verdict import Outcome, Verdict
from tenure.observing.circumstances import Circumstances
from tenure.observing.filing import Filing
from tenure.observing.labels import label_end
from tenure.observing.relating import opens_with_pronoun
from tenure.observing.replacing import Replacing
from tenure.observing.situation import Situation
from tenure.observing.stretches import Stretches
from tenure.observing.understanding import Understood, typed, understood

LONGEST_REASON = 500
_MUCH = 4
"""So many words tell something by themselves."""
_SOMETHING = 2
_TELLING = 4
"""Words of fewer letters tell little."""
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
        self._left = _MOST_PAIRS

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judged]:
        if self._left <= 0:
            return RuleDetector().judge(pairs)
        self._left -= len(pairs)
        return self._detector.judge(pairs)


class Desk:
    """What there is to work with for one turn, inside one transaction."""

    def __init__(
        self,
        registrar: Registrar,
        situation: Situation,
        detector: Detector,
        circumstances: Circumstances,
    ) -> None:
        self.registrar = registrar
        self.situation = situation
        self.detector = detector
        self.around = circumstances
        self.replacing = Replacing(situation, Rationed(detector), circumstances.text)
        self.filing = Filing(registrar, situation, circumstances)
        self.stretches = Stretches(detector, situation, circumstances)
        # What a statement is does not hang on which detector is in use.
        self.by_rules = Replacing(situation, RuleDetector(), circumstances.text)
        self.voice = Voice(circumstances.text, begin=label_end(circumstances.text))
        self.record = Record()
        self.granted: list[Fact] = []
        """Facts that a clause took for granted, which the next one follows from."""

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


def as_said(said: Understood, text: str, kind: Kind) -> Understood:
    """Other words as if they had been said in a statement."""
    statement = replace(said.statement, text=text, kind=kind, cues=())
    again = understood(statement, said.at, lambda _: False)
    return replace(again, statement=replace(said.statement, kind=kind), lead="")


def all_in_own_words(heard: Sequence[Understood]) -> list[Understood]:
    """The statements of a turn as they were said; what several were read off is read in full."""
    read: dict[tuple[int, int], list[str]] = {}
    for said in heard:
        place = (said.statement.start, said.statement.end)
        read.setdefault(place, []).extend((said.text, *said.bases))
    return [
        in_own_words(said, " ".join(read[said.statement.start, said.statement.end]))
        for said in heard
    ]


def in_own_words(said: Understood, read: str = "") -> Understood:
    """A statement as it was said, where it was read in other words.

    What follows from what stays as it was read. `read` is all that was read off the statement.
    """
    if said.kind is Kind.REQUEST and opens_with_bare_thing(said.text):
        # "Order status is approved" asks for nothing.
        said = replace(said, statement=replace(said.statement, kind=Kind.ASSERTION, cues=()))
    if said.waiting or said.relation or (said.is_anchored and not _is_cut_short(said, read)):
        return said
    if said.is_anchored and said.outdated and said.is_change:
        return _renewing(said)
    if said.attribute is not None and (_is_no_name(said.attribute) or _tells_more(said)):
        said = replace(said, attribute=None)
    if said.text in said.statement.text and not _leaves_out(said, read):
        return _with_its_thing(said)
    if _is_under_its_name(said) and not _is_cut_short(said, read, _SOMETHING):
        return said
    again = _with_its_thing(as_said(said, said.statement.text, said.kind))
    return replace(
        again,
        statement=said.statement,
        cues=Cues(said.statement.text),
        by=said.by,
        derives=said.derives,
        lead=said.lead,
        bases=said.bases,
        is_presumed=said.is_presumed,
        is_change=said.is_change,
        returns=said.returns,
        outdated=said.outdated,
    )


def _is_under_its_name(said: Understood) -> bool:
    """Whether a thing and its value are in a statement, which puts them otherwise: "the fee? 5"."""
    attribute, text = said.attribute, said.statement.text
    if attribute is None or not attribute.is_sure or attribute.value not in text:
        return False
    return stems(attribute.key.replace("_", " ")) <= stems(text)


def _with_its_thing(said: Understood) -> Understood:
    """A statement together with the words that tell what it is about: "as for the fee, it's 5"."""
    text = said.statement.text
    if said.narrowed_to is None or said.attribute is not None or not opens_with_pronoun(said.text):
        return said
    return replace(said, text=text, begin=0, frame=frame_of(text, said.at))


def _renewing(said: Understood) -> Understood:
    """A statement that names what was so and what is so now: in its own words but for the former.

    "It used to be … for the school run, but since this week it's 79 minutes."
    """
    told = value_told(said.text)
    again = as_said(said, said.own_words, said.kind)
    return replace(
        again,
        attribute=None,
        is_change=True,
        outdated=said.outdated,
        renews=told.thing if told is not None else "",
        is_anchored=True,
    )


def _is_no_name(attribute: Attribute) -> bool:
    """Whether what was taken for a name, or for a value, is more than that."""
    words, known = attribute.key.split("_"), lexicon()
    loose = known.pronouns | known.speaker | frozenset((*known.prepositions, "as"))
    return says_more(attribute.value) or not loose.isdisjoint(words)


def _tells_more(said: Understood) -> bool:
    """Whether a statement tells much that neither a name nor its value says.

    "Asked with a cake and he's given his blessing in writing, the tram comes Friday" is not only
    about when the tram comes.
    """
    attribute = said.attribute
    if attribute is None:
        return False
    named = stems(f"{attribute.key.replace('_', ' ')} {attribute.subject or ''} {attribute.value}")
    return len(set(said.frame.order) - named) >= _MUCH


def _leaves_out(said: Understood, read: str) -> bool:
    """Whether what is around the words that were read says something of its own: "for the slides
    use 14pt, ..."."""
    if said.by is not None or said.attribute is not None:
        return False
    if said.bases:
        return _is_cut_short(said, read)
    before = said.statement.text[: said.begin]
    return bool(typed(frame_again(before).parts)) or _is_cut_short(said, read)


def _is_cut_short(said: Understood, read: str, much: int = _MUCH) -> bool:
    """Whether much of a statement is in nothing that was read off it."""
    if said.removes or said.returns or said.by is not None:
        return False
    first, whole = said.statement.start, said.statement.text
    gone = (whole[begin - first : end - first] for begin, end in said.outdated)
    known = stems(" ".join((read, said.text, *said.bases, *gone)), shortest=_TELLING)
    return len(stems(said.statement.text, shortest=_TELLING) - known) >= much


def said_by(fact: Fact) -> tuple[Part, ...]:
    """What goes out of office with a fact."""
    return typed(fact.parts) or fact.parts


def of_all(facts: Iterable[Fact]) -> list[Part]:
    return [part for fact in facts for part in said_by(fact)]


def lost(live: Fact, earlier: Fact) -> list[Part]:
    return [p for p in said_by(live) if not any(same_part(p, old) for old in earlier.parts)]


def tells_of_an_end(fact: Fact) -> bool:
    return Cues(text_of(fact.value)).what_is_over is not None
