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

from tenure.language.learned.model import WEIGHTS, Model, load
from tenure.language.learned.weighing import Read, features
from tenure_eval.conversations.format import read_conversations
from training.examples import Example
from training.talk import relations

READ = 6
"""How many statements are read for one turn, as Tenure does."""
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
            for (_, turn), examples in turns.items():
                told = [one for one in examples if one.form == "whole"]
                near = sorted(told, key=lambda one: -_nearness(one, turn))[:READ]
                reads = [_read(model, one, examples) for one in near]
                rows.extend(features(turn, reads))
                over.extend(one.marks[0].label in ("replace", "retract") for one in near)
                groups.extend(conversation.id for _ in near)
    return Weighed(np.array(rows), np.array(over), np.array(groups))


def _nearness(example: Example, turn: str) -> float:
    return features(turn, [Read(example.statement, 0.5, 0.5)])[0][4]


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
