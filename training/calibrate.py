"""Fits how the model's probabilities are to be read, and says what that buys.

    python -m training.calibrate DATA

DATA holds sgd/pairs_dev.jsonl.gz, sgd/cases_dev.jsonl.gz and multiwoz/cases_val.jsonl.gz. Slope
and shift of the log-odds are fitted twice: on the pairs of the first half of the dialogues, and on
the questions that the pipeline asks in it, where changes are more frequent. Both are measured on
the other half, and on the other collection, of which nothing is fitted. The last line has what the
questions of both halves come to. Nothing is written.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from incumbent.language.learned.model import WEIGHTS, Model, load, read_card
from incumbent_eval import calibration
from incumbent_eval.figures import percent
from training.dialogues import of_dialogues, of_pairs
from training.examples import Example

Floats = npt.NDArray[np.float64]
_STEPS = 50
_THRESHOLDS = (0.5, 0.75, 0.9, 0.97)


@dataclass(frozen=True)
class Scale:
    """Probabilities are read as what `slope * log-odds + shift` comes to."""

    slope: float = 1.0
    shift: float = 0.0

    def read(self, odds: Floats) -> Floats:
        return np.asarray(1 / (1 + np.exp(-(self.slope * odds + self.shift))))


@dataclass(frozen=True)
class Answers:
    """The log-odds that the model gives, and whether the values were replaced."""

    odds: Floats
    gold: npt.NDArray[np.bool_]

    def __add__(self, other: Answers) -> Answers:
        return Answers(
            np.concatenate([self.odds, other.odds]), np.concatenate([self.gold, other.gold])
        )


def fit(answers: Answers) -> Scale:
    """Slope and shift with the highest likelihood, by Newton's method.

    As Platt does it, the goals are a little short of 0 and 1, so that a file in which the odds tell
    everything apart does not ask for an endless slope.
    """
    inputs = np.stack([answers.odds, np.ones_like(answers.odds)], axis=1)
    many, few = answers.gold.sum(), (~answers.gold).sum()
    goals = np.where(answers.gold, (many + 1) / (many + 2), 1 / (few + 2))
    found = np.array([1.0, 0.0])
    for _ in range(_STEPS):
        chances = 1 / (1 + np.exp(-inputs @ found))
        slope = inputs.T @ (chances - goals)
        curve = (inputs * (chances * (1 - chances))[:, None]).T @ inputs + 1e-9 * np.eye(2)
        step = np.linalg.solve(curve, slope)
        found = found - step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-9:
            break
    return Scale(float(found[0]), float(found[1]))


def answers(examples: Iterable[Example], model: Model) -> Answers:
    """What the model says to the marks of examples, as it comes out of the network."""
    card = read_card(WEIGHTS)
    odds, gold = [], []
    for example in examples:
        marked = [(mark.start, mark.end) for mark in example.marks]
        read = model.read(example.statement, marked, example.previous, example.turn)
        for mark, opinion in zip(example.marks, read, strict=True):
            if opinion is not None:
                chance = min(max(opinion.replaces, 1e-9), 1 - 1e-9)
                # The card's own scale is taken off, so that the fit can be put in its place.
                odds.append((np.log(chance / (1 - chance)) - card.shift) / card.slope)
                gold.append(mark.label == "replace")
    return Answers(np.array(odds), np.array(gold, bool))


def halves(examples: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """The examples of the first half of the dialogues, in the order of the file, and the others."""
    groups = list(dict.fromkeys(example.group for example in examples))
    first = set(groups[: len(groups) // 2])
    return (
        [example for example in examples if example.group in first],
        [example for example in examples if example.group not in first],
    )


def told(name: str, found: Answers, scale: Scale) -> str:
    """A line of figures: how far the probabilities are off, and the precision of thresholds."""
    chances, gold = scale.read(found.odds).tolist(), found.gold.tolist()
    bins = calibration.reliability(chances, gold)
    capped = np.clip(scale.read(found.odds), 1e-9, 1 - 1e-9)
    loss = -float(np.mean(np.log(np.where(found.gold, capped, 1 - capped))))
    cells = [
        name,
        percent(calibration.expected_error(bins)),
        percent(calibration.expected_error(bins[1:])),
        f"{loss:.4f}",
    ]
    for threshold in _THRESHOLDS:
        cut = calibration.at(chances, gold, threshold).found
        cells.append(f"{percent(cut.precision)} / {percent(cut.recall)}")
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=True))


_WIDTHS = (30, 7, 11, 8, *(17 for _ in _THRESHOLDS))
_HEADS = ("", "ECE", "above .1", "log loss", *(f"at {t:.2f} (P / R)" for t in _THRESHOLDS))


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit how probabilities are to be read.")
    parser.add_argument("data", type=Path, metavar="DATA")
    data = parser.parse_args().data
    model = load()
    sets: dict[str, Answers] = {}
    for name, examples in (
        ("SGD pairs", list(of_pairs(data / "sgd" / "pairs_dev.jsonl.gz"))),
        ("SGD questions", list(of_dialogues(data / "sgd" / "cases_dev.jsonl.gz"))),
    ):
        first, second = halves(examples)
        sets[f"{name}, first half"] = answers(first, model)
        sets[f"{name}, second half"] = answers(second, model)
    other = data / "multiwoz" / "cases_val.jsonl.gz"
    sets["MultiWOZ pairs"] = answers(of_pairs(other), model)
    sets["MultiWOZ questions"] = answers(of_dialogues(other), model)
    scales = {
        "as it is": Scale(),
        "fitted on SGD pairs": fit(sets["SGD pairs, first half"]),
        "fitted on SGD questions": fit(sets["SGD questions, first half"]),
    }
    for name, found in sets.items():
        print(f"{name}: {len(found.gold):,}, {percent(float(found.gold.mean()))} replaced")
    for title, scale in scales.items():
        print(f"\n{title}: slope {scale.slope:.3f}, shift {scale.shift:.3f}")
        print("  ".join(head.ljust(width) for head, width in zip(_HEADS, _WIDTHS, strict=True)))
        for name, found in sets.items():
            if not name.endswith("first half"):
                print(told(name, found, scale))
    whole = fit(sets["SGD questions, first half"] + sets["SGD questions, second half"])
    print(f"\nfitted on all SGD questions: slope {whole.slope:.3f}, shift {whole.shift:.3f}")
    for given in (0.15, 0.4, 0.5, 0.6, 0.7, 0.75, 0.97):
        odds = np.array([np.log(given / (1 - given))])
        print(f"a threshold of {given:.2f} becomes {whole.read(odds)[0]:.2f}")


if __name__ == "__main__":
    main()
