"""Learns how opinions and words are weighed together: `reading.thresholds.WEIGHTS`.

    python -m training.relate [--every N]

Plays the conversations for development, turn by turn, against what their annotation says holds, and
the siblings that the model was not taught. Prints the weights, and for each chance how often it is
right, so that the lines between ended, doubted and left can be drawn.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from incumbent.language.learned.model import Model, load
from incumbent.model.fact import Part
from incumbent.reading.form import Heard, Known
from incumbent.reading.offline import WEIGHTS, OfflineReader, parts_of
from incumbent.reading.relating import FEATURES, VALUE_FEATURES, features, value_features
from incumbent.reading.weighing import Weighed, valued
from incumbent.search.embedders import load as embedder
from incumbent_eval.conversations.format import (
    MarkedConversation,
    MarkedTurn,
    RelationKind,
    read_conversations,
)
from incumbent_eval.pairs import read_pairs
from training.make import CONVERSATIONS, DEVELOPMENT
from training.siblings import aside

_AT_ONCE: Final = 6
Over = Callable[[Known, Part | None], bool | None]
"""Whether something known is over, or one value of it; None where that is not told."""
_GOES: Final = (RelationKind.REPLACES, RelationKind.ENDS)


class Row(NamedTuple):
    """A pair, or one value of it, as numbers, and whether it is over."""

    numbers: tuple[float, ...]
    is_over: bool
    source: str


@dataclass
class Rows:
    """What is weighed: statements, and their values."""

    whole: list[Row] = field(default_factory=list)
    values: list[Row] = field(default_factory=list)

    def add(self, weighed: Sequence[Weighed], over: Over, source: str) -> None:
        """The statements beside one window of a turn, with what is over of each."""
        most = max((v.over for one in weighed for v in one.opinion.values), default=0.0)
        rows = features([one.pair for one in weighed])
        for one, numbers in zip(weighed, rows, strict=True):
            self.whole.append(Row(numbers, bool(over(one.known, None)), source))
            told = value_features(one.pair, [valued(v) for v in one.opinion.values], most)
            for value, features_of in zip(one.opinion.values, told, strict=True):
                is_over = over(one.known, value.part)
                if is_over is not None:
                    self.values.append(Row(features_of, is_over, source))


class _Held(NamedTuple):
    number: int
    text: str
    speaker: str
    day: Any


def of_conversation(one: MarkedConversation, reader: OfflineReader, embed: Any, rows: Rows) -> None:
    """The pairs that a reader would look at, turn by turn."""
    held: list[_Held] = []
    previous, day = "", None
    for turn in one.turns:
        if turn.at.date() != day:
            previous = ""
        day = turn.at.date()
        gone = {r.to for line in turn.lines for r in line.relations if r.kind in _GOES}
        partly = {
            r.to: r.old.casefold()
            for line in turn.lines
            for r in line.relations
            if r.kind is RelationKind.PART
        }

        def over(known: Known, part: Part | None, gone=gone, partly=partly) -> bool:  # type: ignore[no-untyped-def]
            number = int(known.id)
            if part is None:
                return number in gone
            told, old = part.text.casefold(), partly.get(number)
            return number in gone or (old is not None and (told in old or old in told))

        if held and turn.text.strip():
            for weighed in reader.paired(_heard(turn, previous, held, embed)):
                rows.add(weighed, over, one.id)
        held = [h for h in held if h.number not in gone]
        held += [
            _Held(line.number, line.text, turn.speaker, day)
            for line in turn.lines
            if line.number is not None and line.text
        ]
        previous = turn.text


def _heard(turn: MarkedTurn, previous: str, held: list[_Held], embed: Any) -> Heard:
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
    return Heard(turn.text, turn.speaker, turn.at, previous, False, known)


def of_siblings(path: Path, reader: OfflineReader, embed: Any, rows: Rows) -> None:
    """What the second of two statements does to the first, as the reader weighs it."""
    at = datetime(2026, 3, 2, tzinfo=UTC)
    for line in path.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        if item["first"].startswith(("tool:", "assistant:")):
            continue

        def over(known: Known, part: Part | None, item=item) -> bool:  # type: ignore[no-untyped-def]
            if part is None:
                return item["label"] in ("replaces", "ends")
            told = part.text.casefold()
            dead = [one.casefold() for one in item["dead"]]
            return any(told in one or one in told for one in dead)

        vectors = embed.embed([item["second"][:400], item["first"]])
        likeness = float(vectors[0] @ vectors[1])
        is_here = item["gap"] == "same"
        parts = parts_of(item["first"], at)
        known = Known("0", item["first"], parts=parts, likeness=likeness, is_here=is_here)
        previous = item["first"] if is_here else ""
        heard = Heard(item["second"], "user", at, previous, False, (known,))
        for weighed in reader.paired(heard):
            rows.add(weighed, over, f"siblings-{path.stem}")


def of_pairs(path: Path, reader: OfflineReader, embed: Any, rows: Rows, every: int) -> None:
    """Public pairs of a value and a later turn: the values alone."""
    at = datetime(2026, 3, 2, tzinfo=UTC)
    found = read_pairs(path)
    changed = [one for one in found if one.replaced]
    for one in [*changed, *[one for one in found if not one.replaced][::every]]:

        def over(known: Known, part: Part | None, one=one) -> bool | None:  # type: ignore[no-untyped-def]
            if part is None or not (part.start < one.end and one.start < part.end):
                return None
            return bool(one.replaced)

        vectors = embed.embed([one.turn[:400], one.statement])
        likeness = float(vectors[0] @ vectors[1])
        parts = parts_of(one.statement, at)
        known = Known("0", one.statement, parts=parts, likeness=likeness, is_here=True, age=1)
        heard = Heard(one.turn, "user", at, one.previous, True, (known,))
        only = Rows()
        for weighed in reader.paired(heard):
            only.add(weighed, over, "pairs")
        rows.values += only.values


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
    p = 1 / (1 + np.exp(-x @ w))
    stands = ~y
    print(f"{name}: {len(rows)} pairs, {y.sum()} over")
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
    parser.add_argument("--model", type=Path)
    parser.add_argument("--pairs", type=Path, help="public pairs of values and later turns")
    options = parser.parse_args()
    model = Model(options.model) if options.model is not None else load(WEIGHTS)
    reader, embed = OfflineReader(model), embedder("minilm")
    talks, near, public = Rows(), Rows(), Rows()
    for part in DEVELOPMENT:
        for one in list(read_conversations(CONVERSATIONS / f"{part}.txt"))[:: options.every]:
            of_conversation(one, reader, embed, talks)
    for path in aside():
        of_siblings(path, reader, embed, near)
    if options.pairs is not None:
        of_pairs(options.pairs, reader, embed, public, 10 * options.every)
    for name, names, which in (
        ("WEIGHTS", FEATURES, "whole"),
        ("VALUE_WEIGHTS", VALUE_FEATURES, "values"),
    ):
        sets = {"conversations": talks, "siblings kept aside": near, "public pairs": public}
        rows = {told: getattr(one, which) for told, one in sets.items() if getattr(one, which)}
        w = learned([row for some in rows.values() for row in some])
        print(f"{name}:", tuple(round(float(one), 3) for one in w))
        print(dict(zip(names, (round(float(one), 2) for one in w), strict=True)))
        for told, some in rows.items():
            report(some, w, told)


if __name__ == "__main__":
    main()
