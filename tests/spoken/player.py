"""Plays the spoken cases into a memory each, and tells which of them hold.

A case has turns on days, a question asked the day after the last turn, values that the live part
of the context must say and values that it must not say. `python -m tests.spoken.player spec` prints
the share of cases that hold by group, and the others with their contexts; words after the name of
the file keep to the groups that have them in their name.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import incumbent
from incumbent_eval.conversations.sections import live_part
from incumbent_eval.running import HeldClock
from incumbent_eval.spoken import SpokenText

FOLDER = Path(__file__).parent
BUDGET = 1_500
_MORNING = time(9, 0, tzinfo=UTC)
_BETWEEN_TURNS = timedelta(minutes=2)
_LENT = ("authority:*",)
"""With this a session takes in the words of people who stand above its own person."""


@dataclass(frozen=True)
class SpokenTurn:
    """What somebody says, and on which day."""

    speaker: str
    text: str
    at: datetime
    authority: str | None = None


@dataclass(frozen=True)
class SpokenCase:
    """A short talk, and what a context about it must and must not say."""

    about: str
    turns: tuple[SpokenTurn, ...]
    query: str
    must: tuple[str, ...]
    must_not: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What came of a case."""

    case: SpokenCase
    context: str
    missing: tuple[str, ...]
    stale: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.missing and not self.stale


def read_cases(name: str) -> list[SpokenCase]:
    """The cases of a file of this folder."""
    told = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    first = date.fromisoformat(told["day0"])
    return [
        SpokenCase(
            case["about"],
            tuple(_turns(first, case["turns"])),
            case["query"],
            tuple(case["must"]),
            tuple(case["must_not"]),
        )
        for case in told["case"]
    ]


def _turns(first: date, told: Iterable[dict[str, Any]]) -> Iterator[SpokenTurn]:
    for number, turn in enumerate(told):
        day = first + timedelta(days=turn.get("day", 0))
        at = datetime.combine(day, _MORNING) + number * _BETWEEN_TURNS
        yield SpokenTurn(turn["speaker"], turn["text"], at, turn.get("authority"))


def said(*turns: tuple[int, str, str], query: str) -> str:
    """The live part of the context after turns, each a day, a speaker and a text."""
    first = date(2026, 3, 2)
    told = [{"day": day, "speaker": speaker, "text": text} for day, speaker, text in turns]
    return live_part(context_of(SpokenCase("", tuple(_turns(first, told)), query, (), ())))


def context_of(case: SpokenCase) -> str:
    """The context for the question of a case, asked the day after in a session of its own."""
    lent = _LENT if any(turn.authority for turn in case.turns) else ()
    clock = HeldClock(case.turns[0].at)
    with incumbent.open(":memory:", clock=clock) as memory:
        for turn in case.turns:
            clock.move_to(turn.at)
            day = turn.at.date().isoformat()
            session = memory.session(user_id="user", session_id=day, permissions=lent)
            session.observe(turn.text, speaker=turn.speaker, at=turn.at, authority=turn.authority)
        clock.move_to(case.turns[-1].at + timedelta(days=1))
        asking = memory.session(user_id="user", session_id="asking", permissions=lent)
        return asking.context(case.query, budget=BUDGET).text


def play(case: SpokenCase) -> Outcome:
    """Play a case, and hold its context against what it must and must not say."""
    context = context_of(case)
    live = SpokenText(live_part(context))
    return Outcome(
        case,
        context,
        tuple(value for value in case.must if not live.says(value)),
        tuple(value for value in case.must_not if live.says(value)),
    )


def main(name: str, groups: tuple[str, ...]) -> None:
    """Play a file, and print what came of it."""
    words = " ".join(groups)
    outcomes = [play(case) for case in read_cases(name) if words in case.about]
    for outcome in (one for one in outcomes if not one.holds):
        _show(outcome)
    for about in dict.fromkeys(one.case.about for one in outcomes):
        ours = [one for one in outcomes if one.case.about == about]
        held = sum(one.holds for one in ours)
        present = sum(not one.missing for one in ours)
        clean = sum(not one.stale for one in ours)
        print(f"{held:3}/{len(ours):<3} present {present:3} clean {clean:3}  {about}")
    print(f"{sum(one.holds for one in outcomes):3}/{len(outcomes)}")


def _show(outcome: Outcome) -> None:
    case = outcome.case
    print(f"== {case.about}")
    for turn in case.turns:
        print(f"   {turn.at:%d %b} {turn.speaker}: {turn.text}")
    print(f" ? {case.query}")
    print(f"   missing {list(outcome.missing)} stale {list(outcome.stale)}")
    for line in outcome.context.splitlines():
        print(f"     | {line}")


if __name__ == "__main__":
    main(sys.argv[1], tuple(sys.argv[2:]))
