"""Pairs: an earlier value, marked in its statement, and a later turn: does the turn replace it?

They come from a file of pairs, or are made of the dialogues of a file of cases: every value that a
user has said and that stands, against every later turn of the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from tenure.evaluation.cases import Dialogue, Event, Value, read_dialogues
from tenure.evaluation.running import read_records
from tenure.model.errors import InvalidInput

_OPEN, _CLOSE, _BAR = "« ", " »", " ¦ "


@dataclass(frozen=True)
class LabelledPair:
    """A value in a statement, the turn that follows, and whether that replaces the value."""

    id: str
    statement: str
    start: int
    end: int
    previous: str
    turn: str
    replaced: bool
    kind: str = ""
    new: Value = ()
    """What the new value is called, where it was replaced."""

    @property
    def value(self) -> str:
        return self.statement[self.start : self.end]


def read_pairs(path: Path, limit: int | None = None) -> list[LabelledPair]:
    """The pairs of a file of pairs, or those of the dialogues of a file of cases."""
    rows = list(islice(read_records(path), 1))
    if rows and "events" in rows[0]:
        found = (pair for dialogue in read_dialogues(path) for pair in pairs_of(dialogue))
        return list(islice(found, limit))
    try:
        return [_pair(row) for row in islice(read_records(path), limit)]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"{path} is no file of pairs ({type(error).__name__}: {error}); a line has old, with "
            f"the value between « and », new, and y"
        ) from None


def _pair(row: Mapping[str, Any]) -> LabelledPair:
    before, _, rest = str(row["old"]).partition(_OPEN)
    value, closed, after = rest.partition(_CLOSE)
    if not closed:
        raise ValueError(f"no value is marked in {row['old']!r:.80}")
    previous, _, turn = str(row["new"]).rpartition(_BAR)
    return LabelledPair(
        str(row["id"]),
        before + value + after,
        len(before),
        len(before) + len(value),
        previous,
        turn,
        bool(row["y"]),
        str(row.get("kind", "")),
        (str(row["newv"]),) if row.get("newv") else (),
    )


@dataclass(frozen=True)
class _Live:
    statement: str
    start: int
    end: int


def pairs_of(dialogue: Dialogue) -> Iterator[LabelledPair]:
    """Every value that the user has said, against every later turn of the user."""
    live: dict[str, _Live] = {}
    previous = ""
    for number, event in enumerate(dialogue.events):
        if event.speaker != "user":
            previous = event.text
            continue
        changed = {change.slot: change.new for change in event.changes}
        for slot, held in live.items():
            yield LabelledPair(
                f"{dialogue.cases[0].id}:{number}:{slot}",
                held.statement,
                held.start,
                held.end,
                previous,
                event.text,
                slot in changed,
                "change" if slot in changed else "none",
                changed.get(slot, ()),
            )
        for told in (*event.adds, *event.changes):
            live.pop(told.slot, None)
            if (found := _located(event, told.new)) is not None:
                live[told.slot] = found


def _located(event: Event, value: Iterable[str]) -> _Live | None:
    low = event.text.lower()
    for way in value:
        start = low.find(way.lower())
        if start >= 0:
            return _Live(event.text, start, start + len(way))
    return None
