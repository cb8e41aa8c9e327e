"""Playing a conversation into an empty memory, and asking about it the next day.

The clock shows the time of each turn. The turns of one day are one session; the questions come a
day after the last turn, in a session of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import Any

import incumbent
from incumbent.context.document import Context
from incumbent.model.errors import IncumbentError
from incumbent.turns.observation import Observation
from incumbent_eval import adapters
from incumbent_eval.adapters.base import ENCODING, tokenizer
from incumbent_eval.conversations.composed import ComposedLine, composed_lines
from incumbent_eval.conversations.endings import stated_values
from incumbent_eval.conversations.fates import (
    Aftermath,
    FateFigures,
    ValueFate,
    fates_of,
    in_office,
)
from incumbent_eval.conversations.format import ConversationQuestion, MarkedConversation, MarkedTurn
from incumbent_eval.conversations.kept import KeptLine, kept_lines
from incumbent_eval.conversations.requests import Opinions, RequestFolder, with_reader
from incumbent_eval.conversations.retirements import (
    RetirementFigures,
    WrongRetirement,
    judged_retirements,
)
from incumbent_eval.conversations.sections import live_part
from incumbent_eval.figures import Joint, Share
from incumbent_eval.running import HeldClock
from incumbent_eval.spoken import SpokenText
from incumbent_eval.systems import Refused, System, Who

BUDGET = 1_500
LAST_TURNS = 6
TRANSCRIPT = "transcript"
LAST = f"last {LAST_TURNS} turns"
PERSON = "user"
ASKING = "asking"
"""The session in which the questions are asked."""
_NEXT_DAY = timedelta(days=1)


@dataclass(frozen=True)
class QuestionScore:
    """What came of one question; the context is kept for people to read."""

    conversation: str
    question: ConversationQuestion
    joint: Joint
    missing: tuple[str, ...]
    """What had to be said and was not, in its first wording."""
    stale: tuple[str, ...]
    """What no longer holds and was said."""
    context: str
    beside: dict[str, Joint] = field(default_factory=dict)
    """The same of the transcript, the last turns and other systems."""


def answered(question: ConversationQuestion, text: str) -> Joint:
    """A text as the answer to a question."""
    missing, stale = faults(question, text)
    return Joint.one(present=not missing, clean=not stale)


def faults(question: ConversationQuestion, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a text should say and does not, and what it says and should not."""
    said = SpokenText(text)
    return (
        tuple(ways[0] for ways in question.must if not said.says_any(ways)),
        tuple(value for value in question.dead if said.says(value)),
    )


@dataclass(frozen=True)
class ConversationScore:
    """What came of one conversation."""

    id: str
    questions: tuple[QuestionScore, ...]
    holding: FateFigures
    """Of the values that hold."""
    over: FateFigures
    """Of the values that are over."""
    stray: tuple[StrayValue, ...]
    """Values that hold, and that no live line says."""
    retirements: RetirementFigures
    wrong_retirements: tuple[WrongRetirement, ...]
    composed: tuple[ComposedLine, ...]
    lines: int
    """Lines of its contexts that tell facts."""
    kinds: dict[str, Share]
    """The share of its lines that became facts, by what they are."""
    kept: tuple[KeptLine, ...]
    """Lines that commit to nothing and became facts."""
    tokens: int = 0
    """Of its contexts."""
    seconds: tuple[float, ...] = ()
    """How long each turn took to observe."""
    refused: tuple[str, ...] = ()
    """Turns that could not be taken in, each with the reason."""
    opinions: Opinions | None = None
    """What came of a model's answers, where one read along."""


@dataclass(frozen=True)
class AwaitingAnswer:
    """A conversation that was not played to its end: a request waits for its answer."""

    id: str
    opinions: Opinions


@dataclass(frozen=True)
class StrayValue:
    """A value that holds, and that no live line says."""

    conversation: str
    line: str
    value: str
    fate: ValueFate


def asked_at(conversation: MarkedConversation) -> datetime:
    """When the questions are asked."""
    return conversation.turns[-1].at + _NEXT_DAY


def play(
    conversation: MarkedConversation,
    *,
    settings: incumbent.Settings | None = None,
    budget: int = BUDGET,
    systems: Sequence[str] = (),
) -> ConversationScore:
    """Feed a conversation to a person of its own, ask its questions, and score what came of it.

    A model in the settings reads along, a sitting at a time.
    """
    return _played(conversation, with_reader(settings, None), budget, systems, None)


def play_by_requests(
    conversation: MarkedConversation,
    *,
    folder: Path,
    settings: incumbent.Settings | None = None,
    budget: int = BUDGET,
    systems: Sequence[str] = (),
) -> ConversationScore | AwaitingAnswer:
    """The same with a model that is asked by files, as far as its answers go."""
    requests = RequestFolder(folder, conversation.id)
    try:
        return _played(conversation, with_reader(settings, requests), budget, systems, requests)
    except _Awaited:
        return AwaitingAnswer(conversation.id, Opinions.of([], requests))


class _Awaited(Exception):
    """A request waits for its answer, and what comes after it depends on that."""


def _played(
    conversation: MarkedConversation,
    settings: incumbent.Settings,
    budget: int,
    systems: Sequence[str],
    requests: RequestFolder | None,
) -> ConversationScore:
    clock = HeldClock(conversation.turns[0].at)
    with incumbent.open(":memory:", clock=clock, settings=settings) as memory:
        heard = _fed(memory, clock, conversation, requests)
        others = dict(_beside(conversation, budget, systems))
        clock.move_to(asked_at(conversation))
        session = memory.session(user_id=PERSON, session_id=ASKING)
        contexts = [session.context(one.text, budget=budget) for one in conversation.questions]
        scores = tuple(
            _scored(conversation.id, question, context.text, {n: t[i] for n, t in others.items()})
            for i, (question, context) in enumerate(
                zip(conversation.questions, contexts, strict=True)
            )
        )
        made = _account(conversation, session, heard, scores, contexts)
    if settings.llm is None:
        return made
    found = [one.opinion for _, one in heard.observations if one.opinion is not None]
    return replace(made, opinions=Opinions.of(found, requests))


def _account(
    conversation: MarkedConversation,
    session: incumbent.Session,
    heard: _HeardTurns,
    scores: tuple[QuestionScore, ...],
    contexts: list[Context],
) -> ConversationScore:
    """What the memory holds after a conversation, held against its annotation."""
    values = stated_values(conversation, asked_at(conversation).date())
    after = Aftermath(session, heard.fact_ids())
    fates = fates_of(values, after)
    turns = [turn.text for turn in conversation.turns]
    composed, lines = composed_lines(session, conversation.id, turns, [*contexts, after.context])
    kinds, kept = kept_lines(conversation, in_office(session))
    judged = judged_retirements(conversation.id, heard.observations, values, after)
    said = {line.number: line.text for line in conversation.lines if line.number is not None}
    return ConversationScore(
        conversation.id,
        scores,
        holding=FateFigures.of(one.fate for one in fates if one.value.holds),
        over=FateFigures.of(one.fate for one in fates if not one.value.holds),
        stray=tuple(
            StrayValue(conversation.id, said[one.value.number], one.value.triple.value, one.fate)
            for one in fates
            if one.value.holds and one.fate is not ValueFate.LIVE
        ),
        retirements=judged[0],
        wrong_retirements=judged[1],
        composed=tuple(composed),
        lines=lines,
        kinds=kinds,
        kept=tuple(kept),
        tokens=sum(context.tokens for context in contexts),
        seconds=tuple(heard.seconds),
        refused=tuple(heard.refused),
    )


@dataclass
class _HeardTurns:
    """What the turns of a conversation brought."""

    observations: list[tuple[MarkedTurn, Observation]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def fact_ids(self) -> Iterator[str]:
        """Every fact that they brought or touched."""
        for _, observation in self.observations:
            yield from (fact.id for fact in observation.facts)
            for verdict in observation.verdicts:
                yield from (verdict.fact_id, *verdict.superseded)


def _fed(
    memory: incumbent.Memory,
    clock: HeldClock,
    conversation: MarkedConversation,
    requests: RequestFolder | None,
) -> _HeardTurns:
    heard = _HeardTurns()
    numbered = list(enumerate(conversation.turns))
    for day, sitting in groupby(numbered, key=lambda one: one[1].at.date()):
        session = memory.session(user_id=PERSON, session_id=day.isoformat())
        if memory.settings.llm is None:
            for one in sitting:
                _feed(session, [one], clock, heard)
        else:
            _feed(session, list(sitting), clock, heard)
        if requests is not None and requests.awaited:
            raise _Awaited
    return heard


def _feed(
    session: incumbent.Session,
    sitting: Sequence[tuple[int, MarkedTurn]],
    clock: HeldClock,
    heard: _HeardTurns,
) -> None:
    """Take in the turns of a sitting, each at its time; one that is refused is left out."""
    begun: list[int] = []

    def turns() -> Iterator[dict[str, Any]]:
        for number, turn in sitting:
            clock.move_to(turn.at)
            begun.append(number)
            yield {"text": turn.text, "speaker": turn.speaker, "at": turn.at, "ref": f"{number}"}

    begin = perf_counter()
    try:
        made = session.observe_many(turns())
    except IncumbentError as error:  # nothing of it was taken in, which the figures then show
        refused = dict(sitting)[begun[-1]]
        heard.refused.append(f"{refused.text}: {error}")
        rest = [one for one in sitting if one[0] != begun[-1]]
        if rest:
            _feed(session, rest, clock, heard)
        return
    each = (perf_counter() - begin) / len(sitting)
    heard.seconds.extend(each for _ in sitting)
    heard.observations.extend(zip((turn for _, turn in sitting), made, strict=True))


def _scored(
    conversation: str, question: ConversationQuestion, context: str, beside: dict[str, str]
) -> QuestionScore:
    missing, stale = faults(question, live_part(context))
    return QuestionScore(
        conversation,
        question,
        Joint.one(present=not missing, clean=not stale),
        missing,
        stale,
        context,
        {name: answered(question, text) for name, text in beside.items()},
    )


# beside us


def _beside(
    conversation: MarkedConversation, budget: int, systems: Iterable[str]
) -> Iterator[tuple[str, list[str]]]:
    """What others would show for each question, by name."""
    said = [f"{turn.speaker}: {turn.text}" for turn in conversation.turns]
    for name, turns in ((TRANSCRIPT, said), (LAST, said[-LAST_TURNS:])):
        shown = _end_of(turns, budget)
        yield name, [shown] * len(conversation.questions)
    for name in systems:
        yield name, _contexts_of(adapters.makers()[name](), conversation, budget)


def _end_of(turns: Sequence[str], budget: int) -> str:
    """The last turns that fit."""
    kept: list[str] = []
    left = budget
    for text in reversed(turns):
        left -= len(tokenizer(ENCODING).encode_ordinary(f"{text}\n"))
        if left < 0:
            break
        kept.append(text)
    return "\n".join(reversed(kept))


def _contexts_of(system: System, conversation: MarkedConversation, budget: int) -> list[str]:
    """The contexts of another system, fed the same turns at the same times."""
    try:
        for turn in conversation.turns:
            system.move_to(turn.at)
            who = Who(PERSON, session=turn.at.date().isoformat())
            try:
                system.observe(who, turn.text, turn.speaker)
            except Refused:  # nothing was taken in, which the figure then shows
                continue
        system.move_to(asked_at(conversation))
        who = Who(PERSON, session=ASKING)
        return [system.context(who, one.text, budget) for one in conversation.questions]
    finally:
        system.close()
