"""Learns how opinions and words are weighed together: `reading.thresholds.WEIGHTS`.

    python -m training.relate [--every N]

Plays the conversations for development, turn by turn, against what their annotation says holds, and
the siblings that the model was not taught. Prints the weights, and for each chance how often it is
right, so that the lines between ended, doubted and left can be drawn.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from incumbent.language.learned.model import Model, load
from incumbent.reading.form import Heard, Known
from incumbent.reading.offline import OfflineReader, parts_of
from incumbent.reading.relating import FEATURES, features
from incumbent.search.embedders import load as embedder
from incumbent_eval.conversations.format import (
    MarkedConversation,
    MarkedTurn,
    RelationKind,
    read_conversations,
)
from training.make import CONVERSATIONS, DEVELOPMENT
from training.siblings import aside

_AT_ONCE: Final = 6
_GOES: Final = (RelationKind.REPLACES, RelationKind.ENDS)


class Row(NamedTuple):
    """A pair as numbers, and whether the earlier statement is over."""

    numbers: tuple[float, ...]
    is_over: bool
    is_partly: bool
    source: str
    old: str
    new: str


class _Held(NamedTuple):
    number: int
    text: str
    speaker: str
    day: Any


def of_conversation(one: MarkedConversation, reader: OfflineReader, embed: Any) -> Iterator[Row]:
    """The pairs that a reader would look at, turn by turn."""
    held: list[_Held] = []
    previous, day = "", None
    for turn in one.turns:
        if turn.at.date() != day:
            previous = ""
        day = turn.at.date()
        over = {r.to for line in turn.lines for r in line.relations if r.kind in _GOES}
        partly = {
            r.to for line in turn.lines for r in line.relations if r.kind is RelationKind.PART
        }
        if held and turn.text.strip():
            yield from _pairs(turn, previous, held, over, partly, reader, embed, one.id)
        held = [h for h in held if h.number not in over]
        held += [
            _Held(line.number, line.text, turn.speaker, day)
            for line in turn.lines
            if line.number is not None and line.text
        ]
        previous = turn.text


def _pairs(
    turn: MarkedTurn,
    previous: str,
    held: list[_Held],
    over: set[int],
    partly: set[int],
    reader: OfflineReader,
    embed: Any,
    source: str,
) -> Iterator[Row]:
    vectors = embed.embed([turn.text[:400], *(h.text for h in held)])
    meaning = [float(vectors[0] @ v) for v in vectors[1:]]
    known = tuple(
        Known(
            str(h.number),
            h.text,
            parts=parts_of(h.text, turn.at),
            likeness=likeness,
            age=len(held) - 1 - place,
            is_here=h.day == turn.at.date(),
            speaker=h.speaker,
        )
        for place, (h, likeness) in enumerate(zip(held, meaning, strict=True))
    )
    heard = Heard(turn.text, turn.speaker, turn.at, previous, False, known)
    for chosen, pairs in reader.paired(heard):
        for numbers, pair, fact in zip(features(pairs), pairs, chosen, strict=True):
            number = int(fact.id)
            yield Row(numbers, number in over, number in partly, source, pair.old, pair.new)


def of_siblings(path: Path, reader: OfflineReader, embed: Any) -> Iterator[Row]:
    """What the second of two statements does to the first, as the reader weighs it."""
    at = datetime(2026, 3, 2, tzinfo=UTC)
    for line in path.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        if item["first"].startswith(("tool:", "assistant:")):
            continue
        vectors = embed.embed([item["second"][:400], item["first"]])
        known = Known(
            "0",
            item["first"],
            parts=parts_of(item["first"], at),
            likeness=float(vectors[0] @ vectors[1]),
            is_here=item["gap"] == "same",
        )
        previous = item["first"] if item["gap"] == "same" else ""
        heard = Heard(item["second"], "user", at, previous, False, (known,))
        for _, pairs in reader.paired(heard):
            for numbers, pair in zip(features(pairs), pairs, strict=True):
                over = item["label"] in ("replaces", "ends")
                partly = item["label"] == "part"
                yield Row(numbers, over, partly, f"siblings-{path.stem}", pair.old, pair.new)


def learned(rows: list[Row], weight: float = 3.0) -> np.ndarray[Any, Any]:
    """Weights by logistic regression; siblings count more, since they are few."""
    x = np.array([row.numbers for row in rows])
    y = np.array([float(row.is_over) for row in rows])
    share = np.array([weight if row.source.startswith("siblings") else 1.0 for row in rows])
    w = np.zeros(x.shape[1])
    for _ in range(60):  # Newton's steps
        p = 1 / (1 + np.exp(-x @ w))
        gradient = x.T @ (share * (p - y)) + 0.5 * w
        hessian = (x * (share * p * (1 - p))[:, None]).T @ x + 0.5 * np.eye(len(w))
        w -= np.linalg.solve(hessian, gradient)
    return w


def report(rows: list[Row], w: np.ndarray[Any, Any], name: str) -> None:
    x = np.array([row.numbers for row in rows])
    y = np.array([row.is_over for row in rows])
    partly = np.array([row.is_partly for row in rows])
    p = 1 / (1 + np.exp(-x @ w))
    stands = ~y & ~partly
    print(f"{name}: {len(rows)} pairs, {y.sum()} over, {partly.sum()} in part")
    for line in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        hit = p >= line
        right = (y & hit).sum() / max(1, hit.sum())
        print(
            f"   from {line:.1f}: {hit.sum():5d} found, right {right:.2f}, "
            f"of those over {(y & hit).sum() / max(1, y.sum()):.2f}, "
            f"of those that stand {(stands & hit).sum() / max(1, stands.sum()):.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="Learn how opinions are weighed together.")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    model: Model = load()
    reader, embed = OfflineReader(model), embedder("minilm")
    talks: list[Row] = []
    for part in DEVELOPMENT:
        for one in list(read_conversations(CONVERSATIONS / f"{part}.txt"))[:: options.every]:
            talks += of_conversation(one, reader, embed)
    near: list[Row] = [row for path in aside() for row in of_siblings(path, reader, embed)]
    w = learned([*talks, *near])
    print("WEIGHTS:", tuple(round(float(one), 3) for one in w))
    print(dict(zip(FEATURES, (round(float(one), 2) for one in w), strict=True)))
    report(talks, w, "conversations")
    report(near, w, "siblings kept aside")


if __name__ == "__main__":
    main()
