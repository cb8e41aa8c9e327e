"""What each system shows for a question, at the same budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import numpy as np

import incumbent
from incumbent.context.tokens import counter
from incumbent.model.errors import IncumbentError, InvalidInput
from incumbent.search.embedders import load
from incumbent_eval.answers.asked import AskedTalk, SaidTurn
from incumbent_eval.bm25 import Bm25
from incumbent_eval.running import HeldClock

LAST_TURNS = 6
_PERSON = "user"
_EMBEDDER = "minilm"
_TOKENIZER = "o200k_base"

Shown = Callable[[AskedTalk, int, incumbent.Settings], list[str]]
"""The contexts of a talk's questions within a budget."""


def _ours(talk: AskedTalk, budget: int, settings: incumbent.Settings) -> list[str]:
    clock = HeldClock(talk.turns[0].at)
    with incumbent.open(":memory:", clock=clock, settings=settings) as memory:
        for day, sitting in groupby(talk.turns, key=lambda turn: turn.at.date()):
            session = memory.session(user_id=_PERSON, session_id=day.isoformat())
            for turn in sitting:
                clock.move_to(turn.at)
                _take_in(session, turn)
        clock.move_to(talk.at)
        session = memory.session(user_id=_PERSON, session_id="asking")
        return [session.context(one.text, budget=budget).text for one in talk.questions]


def _take_in(session: incumbent.Session, turn: SaidTurn) -> None:
    try:
        session.observe(turn.text, speaker=turn.speaker, at=turn.at)
    except IncumbentError:
        return  # nothing of it was taken in, which the figure then shows


def _transcript(talk: AskedTalk, budget: int, settings: incumbent.Settings) -> list[str]:
    newest = list(range(len(talk.turns)))[::-1]
    return [_within(talk, newest, budget)] * len(talk.questions)


def _last(talk: AskedTalk, budget: int, settings: incumbent.Settings) -> list[str]:
    newest = list(range(len(talk.turns)))[::-1][:LAST_TURNS]
    return [_within(talk, newest, budget)] * len(talk.questions)


def _by_words(talk: AskedTalk, budget: int, settings: incumbent.Settings) -> list[str]:
    found = Bm25([turn.text for turn in talk.turns])
    return [_within(talk, found.ranked(one.text), budget) for one in talk.questions]


def _by_meaning(talk: AskedTalk, budget: int, settings: incumbent.Settings) -> list[str]:
    embedder = load(_EMBEDDER)
    turns = np.asarray(embedder.embed([turn.text for turn in talk.turns]))
    asked = np.asarray(embedder.embed([one.text for one in talk.questions]))
    orders = np.argsort(-(asked @ turns.T), axis=1, kind="stable")
    return [_within(talk, order.tolist(), budget) for order in orders]


def _within(talk: AskedTalk, order: Sequence[int], budget: int) -> str:
    """The first of these turns that fit, in order of time; one that does not fit is passed over."""
    count, left, kept = counter(_TOKENIZER), budget, []
    for place in order:
        cost = count(f"{talk.turns[place].line}\n")
        if cost <= left:
            left -= cost
            kept.append(place)
    return "\n".join(talk.turns[place].line for place in sorted(kept))


SYSTEMS: dict[str, Shown] = {
    "incumbent": _ours,
    "transcript": _transcript,
    "last-turns": _last,
    "bm25": _by_words,
    "meaning": _by_meaning,
}


def contexts(
    talk: AskedTalk, systems: Sequence[str], budget: int, settings: incumbent.Settings
) -> Iterator[tuple[str, list[str]]]:
    """What each of these systems shows, by its name."""
    for name in systems:
        if name not in SYSTEMS:
            raise InvalidInput(f"--system {name!r} is not one of {', '.join(SYSTEMS)}")
        yield name, SYSTEMS[name](talk, budget, settings)
