"""Turns that change nothing: they show somebody else's words, or are about something else.

A file has a turn on each line, as JSON: what is `known`, and the `turn` after which all of it still
holds, in the same session (`gap` is `same`) or some days later. *Ended* is a turn after which
something of it is over, amended or erased. *Doubted* is one after which something of it is only
possibly outdated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import incumbent
from incumbent.model.errors import IncumbentError, InvalidInput
from incumbent.model.fact import Fact
from incumbent_eval.running import HeldClock, each, read_records
from incumbent_eval.siblings import BEGINNING, WAITS
from incumbent_eval.systems import Progress


@dataclass(frozen=True)
class ShownTurn:
    """What is known, and a turn that changes nothing of it."""

    place: int
    """The number of its line in the file."""
    known: str
    turn: str
    gap: str = "days"


@dataclass(frozen=True)
class ShownScore:
    """What a turn did to what was known."""

    turn: ShownTurn
    is_known: bool
    """Whether anything was known that it could have ended."""
    ended: tuple[str, ...]
    doubted: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        return {"line": self.turn.place, "turn": self.turn.turn, "ended": self.ended}


def read_shown(path: Path) -> list[ShownTurn]:
    """The turns of a file; a mistake in it is refused with its line."""
    return [_turn(row, path, place) for place, row in enumerate(read_records(path), start=1)]


def _turn(row: Mapping[str, Any], path: Path, place: int) -> ShownTurn:
    try:
        gap = row.get("gap", "days")
        if gap not in WAITS:
            raise ValueError(f"gap {gap!r} is not one of {', '.join(WAITS)}")
        return ShownTurn(place, str(row["known"]), str(row["turn"]), gap)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"{path}, line {place}, is no turn that changes nothing ({type(error).__name__}: "
            f"{error}); it needs known and turn"
        ) from None


def play(one: ShownTurn, settings: incumbent.Settings | None = None) -> ShownScore:
    """Tell an empty memory what is known and then the turn."""
    clock = HeldClock(BEGINNING)
    with incumbent.open(":memory:", clock=clock, settings=settings) as memory:
        later = "first" if one.gap == "same" else "second"
        before = list(_told(memory, one.known, "first"))
        clock.move_to(BEGINNING + WAITS[one.gap])
        after = {fact.id: fact for fact in _told(memory, one.turn, later)}
        doubts = {doubt for fact in after.values() for doubt in fact.doubts}
        return ShownScore(
            one,
            bool(before),
            tuple(str(fact.value) for fact in before if fact.id not in after),
            tuple(str(fact.value) for fact in before if fact.id in after and fact.id in doubts),
        )


def _told(memory: incumbent.Memory, text: str, session: str) -> Iterator[Fact]:
    """Observe a text; gives the facts that stand afterwards."""
    speaking = memory.session(user_id="user", session_id=session)
    with suppress(IncumbentError):  # nothing was taken in, which ends nothing either
        speaking.observe(text)
    yield from speaking.facts()


def run(
    path: Path,
    *,
    settings: incumbent.Settings | None = None,
    limit: int | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> list[ShownScore]:
    """Play the turns of a file."""
    score, turns = partial(play, settings=settings), read_shown(path)[:limit]
    what = f"{path.parent.name}, {path.stem}"
    return list(each(score, turns, what=what, workers=workers, progress=progress))
