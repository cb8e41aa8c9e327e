"""Playing a conversation into an empty memory, and asking about it the next day.

The clock shows the time of each turn. The turns of one day are one session; the questions come a
day after the last turn, in a session of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import perf_counter

import tenure
from tenure.model.errors import TenureError
from tenure.observing.observation import Observation
from tenure.testing.spoken import SpokenText
from tenure.testing.systems import Refused, System, Who
from tenure_eval import adapters
from tenure_eval.adapters.base import ENCODING, tokenizer
from tenure_eval.conversations.format import ConversationQuestion, MarkedConversation, MarkedTurn
from tenure_eval.figures import Joint
from tenure_eval.running import HeldClock

BUDGET = 1_500
LAST_TURNS = 6
TRANSCRIPT = "transcript"
LAST = f"last {LAST_TURNS} turns"
PERSON = "user"
ASKING = "asking"
"""The session in which the questions are asked."""
_NEXT_DAY = timedelta(days=1)
_HEADING = "# "
DOUBTED = "# Possibly outdated"
"""How the heading begins under which a context shows what probably no longer holds."""
_NO_STATE = (DOUBTED, "# Identity", "# Environment")
"""Sections that say nothing of what holds: who asks, what time it is, what is in doubt."""


def live_part(text: str) -> str:
    """What a context says as something that holds: all but the sections of `_NO_STATE`."""
    kept = []
    is_live = True
    for line in text.splitlines():
        if line.startswith(_HEADING):
            is_live = not line.startswith(_NO_STATE)
        elif is_live:
            kept.append(line)
    return "\n".join(kept)


def doubted_part(text: str) -> str:
    """What a context shows as possibly outdated."""
    kept = []
    is_doubted = False
    for line in text.splitlines():
        if line.startswith(_HEADING):
            is_doubted = line.startswith(DOUBTED)
        elif is_doubted:
            kept.append(line)
    return "\n".join(kept)


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


def judged(question: ConversationQuestion, text: str) -> Joint:
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
    seconds: tuple[float, ...] = ()
    """How long each turn took to observe."""
    refused: tuple[str, ...] = ()
    """Turns that could not be taken in, each with the reason."""


def asked_at(conversation: MarkedConversation) -> datetime:
    """When the questions are asked."""
    return conversation.turns[-1].at + _NEXT_DAY


def play(
    conversation: MarkedConversation,
    *,
    settings: tenure.Settings | None = None,
    budget: int = BUDGET,
    systems: Sequence[str] = (),
) -> ConversationScore:
    """Feed a conversation to a person of its own, ask its questions, and score what came of it."""
    others = dict(_beside(conversation, budget, systems))
    clock = HeldClock(conversation.turns[0].at)
    with tenure.open(":memory:", clock=clock, settings=settings) as memory:
        heard = _fed(memory, clock, conversation)
        clock.move_to(asked_at(conversation))
        session = memory.session(user_id=PERSON, session_id=ASKING)
        scores = tuple(
            _asked(session, conversation.id, question, budget, {n: t[i] for n, t in others.items()})
            for i, question in enumerate(conversation.questions)
        )
    return ConversationScore(conversation.id, scores, tuple(heard.seconds), tuple(heard.refused))


@dataclass
class _HeardTurns:
    """What the turns of a conversation brought."""

    observations: list[tuple[MarkedTurn, Observation]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def _fed(memory: tenure.Memory, clock: HeldClock, conversation: MarkedConversation) -> _HeardTurns:
    heard = _HeardTurns()
    for number, turn in enumerate(conversation.turns):
        clock.move_to(turn.at)
        session = memory.session(user_id=PERSON, session_id=turn.at.date().isoformat())
        begin = perf_counter()
        try:
            made = session.observe(turn.text, speaker=turn.speaker, at=turn.at, ref=f"{number}")
        except TenureError as error:  # nothing was taken in, which the figures then show
            heard.refused.append(f"{turn.text}: {error}")
            continue
        heard.seconds.append(perf_counter() - begin)
        heard.observations.append((turn, made))
    return heard


def _asked(
    session: tenure.Session,
    conversation: str,
    question: ConversationQuestion,
    budget: int,
    beside: dict[str, str],
) -> QuestionScore:
    context = session.context(question.text, budget=budget).text
    missing, stale = faults(question, live_part(context))
    return QuestionScore(
        conversation,
        question,
        Joint.one(present=not missing, clean=not stale),
        missing,
        stale,
        context,
        {name: judged(question, text) for name, text in beside.items()},
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
