"""Fits how the model's opinions on a turn are weighed together, on conversations kept aside.

    python -m training.weigh FILE ... [--install]

FILEs are marked conversations that the model has not seen: what it says of those it was taught on
means little. Prints how well the weights do on conversations that they were not fitted on, and with
which precision at which threshold; `--install` writes them into the card of the model that ships.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incumbent.language.learned.model import WEIGHTS, Model, load
from incumbent.language.learned.weighing import Read, features
from incumbent.language.tokens import stems
from incumbent.search.embedders import load as embedder
from incumbent_eval.conversations.format import read_conversations
from training.examples import Example
from training.talk import relations

READ = 6
"""How many statements are read for one turn, as Incumbent does."""
_LATEST = 2
_WORDS = 1 / 3
"""How much the words count in what is near, beside the meaning."""
_FOLDS = 5
_STEPS, _RATE, _DECAY = 3_000, 0.05, 1e-3
_DIGITS = 4

Floats = npt.NDArray[np.float64]


class Weighed(NamedTuple):
    """The statements that turns may be about: features, whether they are over, and whose."""

    rows: Floats
    over: npt.NDArray[np.bool_]
    groups: npt.NDArray[np.str_]


def weighed(paths: Sequence[Path], model: Model) -> Weighed:
    """Every turn with the statements nearest to it."""
    rows: list[tuple[float, ...]] = []
    over: list[bool] = []
    groups: list[str] = []
    for path in paths:
        for conversation in read_conversations(path):
            turns: dict[tuple[str, str], list[Example]] = defaultdict(list)
            for example in relations(conversation, path.stem):
                turns[example.previous, example.turn].append(example)
            for (previous, turn), examples in turns.items():
                told = [one for one in examples if one.form == "whole"]
                near = _nearest(told, turn)
                reads = [
                    _read(model, one.example, examples)._replace(
                        meaning=one.meaning, age=sum(other.place > one.place for other in near)
                    )
                    for one in near
                ]
                rows.extend(features(turn, reads, follows=bool(previous)))
                over.extend(one.example.marks[0].label in ("replace", "retract") for one in near)
                groups.extend(conversation.id for _ in near)
    return Weighed(np.array(rows), np.array(over), np.array(groups))


class _Near(NamedTuple):
    """A statement that a turn may be about."""

    place: int
    example: Example
    meaning: float


def _nearest(told: Sequence[Example], turn: str) -> list[_Near]:
    """The statements that Incumbent would read for a turn: the last ones, then the most alike."""
    if not told:
        return []
    vectors = embedder("minilm").embed([turn, *(one.statement for one in told)])
    found = [
        _Near(place, one, float(vectors[place + 1] @ vectors[0])) for place, one in enumerate(told)
    ]
    found.sort(
        key=lambda one: (
            one.place < len(told) - _LATEST,
            -(_WORDS * _shared(one.example, turn) + (1 - _WORDS) * one.meaning),
        )
    )
    return found[:READ]


def _shared(example: Example, turn: str) -> float:
    words = stems(example.statement, shortest=3)
    return len(words & stems(turn, shortest=3)) / max(1, len(words))


def _read(model: Model, whole: Example, examples: Sequence[Example]) -> Read:
    of_whole = _dead(model, whole)
    parts = [e for e in examples if e.form != "whole" and e.statement == whole.statement]
    return Read(whole.statement, of_whole, _dead(model, parts[0]) if parts else of_whole)


def _dead(model: Model, example: Example) -> float:
    spans = [(mark.start, mark.end) for mark in example.marks]
    opinions = model.read(example.statement, spans, example.previous, example.turn)
    return max((o.replaces + o.retracts for o in opinions if o is not None), default=0.0)


def fitted(rows: Floats, over: Floats) -> Floats:
    """The weights, by Adam from nothing."""
    scale = np.append(rows[:, :-1].std(0) + 1e-6, 1.0)
    given = rows / scale
    line = np.zeros(rows.shape[1])
    mean, square = np.zeros_like(line), np.zeros_like(line)
    for step in range(1, _STEPS + 1):
        guess = 1 / (1 + np.exp(-given @ line))
        slope = given.T @ (guess - over) / len(over) + _DECAY * line
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        at = np.sqrt(square / (1 - 0.99**step)) + 1e-8
        line -= _RATE * mean / (1 - 0.9**step) / at
    found: Floats = line / scale
    return found


def told_apart(found: Weighed) -> Floats:
    """How likely each is over, by weights fitted on other conversations."""
    names = sorted(set(found.groups.tolist()))
    chances = np.zeros(len(found.over))
    for fold in range(_FOLDS):
        held = np.isin(found.groups, names[fold::_FOLDS])
        line = fitted(found.rows[~held], found.over[~held].astype(float))
        chances[held] = 1 / (1 + np.exp(-found.rows[held] @ line))
    return chances


def report(chances: Floats, over: npt.NDArray[np.bool_]) -> None:
    """How many are above a threshold, and how many of those are over."""
    print(f"{int(over.sum())} of {len(over)} are over")
    for least in (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        above = chances >= least
        right = int((above & over).sum())
        share, hits = right / max(1, int(above.sum())), right / max(1, int(over.sum()))
        print(f"  {least:.2f}: {int(above.sum())} above, {share:.2f} over, {hits:.2f} found")


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit how opinions are weighed together.")
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--install", action="store_true")
    options = parser.parse_args()
    found = weighed(options.files, load())
    report(told_apart(found), found.over)
    line = [round(float(w), _DIGITS) for w in fitted(found.rows, found.over.astype(float))]
    print(line)
    if options.install:
        path = WEIGHTS / "detector.json"
        card = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(f"{json.dumps({**card, 'weights': line}, indent=2)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
