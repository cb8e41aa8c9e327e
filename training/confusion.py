"""Shows what the shipped model makes of every form of turn.

    python -m training.confusion [--seed N] [--each N]

Examples of all content are generated with a seed that training did not use, and read as the
pipeline reads them: one run for a statement, with all its marks.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from incumbent.language.learned.model import Model, Opinion, load
from incumbent_eval.figures import Share, percent
from training.examples import Example, Label, Mark, joined
from training.pairs import generate

FRESH = 77
OUTCOMES: tuple[Label, ...] = ("leave", "replace", "confirm", "retract")
ABOUT = (
    "The sentences that these examples are made of were trained on; the values, the way they are "
    "put together and the seed are new. So this shows which forms are told apart, not how well "
    "sentences are read that nobody wrote down before."
)
Kind = tuple[str, str]
"""A form, and what should become of the value."""


def said(opinion: Opinion | None) -> Label:
    """What the model holds likeliest; a value that it could not read is left alone."""
    if opinion is None:
        return "leave"
    chances = (opinion.leaves, opinion.replaces, opinion.confirms, opinion.retracts)
    return OUTCOMES[chances.index(max(chances))]


def points_right(example: Example, mark: Mark, opinion: Opinion | None) -> bool:
    """Whether the model points at the new value."""
    if mark.new is None or opinion is None or opinion.span is None:
        return False
    before = 0 if opinion.in_previous else len(joined(example.previous, "x")) - 1
    first, last = (place + before for place in opinion.span)
    return first < mark.new[1] and mark.new[0] < last


class Confusion:
    """Where the values of each form went, and whether the new ones were found."""

    def __init__(self) -> None:
        self.went: dict[Kind, Counter[Label]] = {}
        self.spans: dict[Kind, Share] = {}

    def add(self, example: Example, model: Model) -> None:
        marked = [(mark.start, mark.end) for mark in example.marks]
        read = model.read(example.statement, marked, example.previous, example.turn)
        for mark, opinion in zip(example.marks, read, strict=True):
            kind = (example.form, mark.label)
            self.went.setdefault(kind, Counter())[said(opinion)] += 1
            if mark.label == "replace":
                hit = Share.one(points_right(example, mark, opinion))
                self.spans[kind] = self.spans.get(kind, Share()) + hit

    def rows(self) -> Iterator[tuple[str, ...]]:
        for kind in sorted(self.went, key=lambda kind: (OUTCOMES.index(_label(kind)), kind[0])):
            form, label = kind
            yield (form, label, *_counts(label, self.went[kind]), self._pointed(kind))
        yield ("all", "", *_total(self.went), "")

    def _pointed(self, kind: Kind) -> str:
        return percent(self.spans[kind].value) if kind in self.spans else ""


def _label(kind: Kind) -> Label:
    return next(label for label in OUTCOMES if label == kind[1])


def _counts(label: str, went: Counter[Label]) -> list[str]:
    right = sum(count for outcome, count in went.items() if outcome == label)
    share = percent(Share(right, went.total()).value)
    return [f"{went.total():,}", share, *(f"{went[outcome]:,}" for outcome in OUTCOMES)]


def _total(went: Mapping[Kind, Counter[Label]]) -> list[str]:
    right = sum(found[_label(kind)] for kind, found in went.items())
    whole = sum((Counter(found) for found in went.values()), Counter[Label]())
    share = percent(Share(right, whole.total()).value)
    return [f"{whole.total():,}", share, *(f"{whole[outcome]:,}" for outcome in OUTCOMES)]


def measured(examples: Iterable[Example], model: Model) -> Confusion:
    found = Confusion()
    for example in examples:
        found.add(example, model)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="What the model makes of each form of turn.")
    parser.add_argument("--seed", type=int, default=FRESH)
    parser.add_argument("--each", type=int, default=20, help="tries for each record")
    options = parser.parse_args()
    examples = generate(options.seed, options.each)
    model = load()
    heads = ("form", "should be", "values", "right", *OUTCOMES, "points at the new value")
    lines = [heads, *measured(examples, model).rows()]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    print(f"{model.name}, seed {options.seed}: {len(examples):,} examples\n{ABOUT}\n")
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)))


if __name__ == "__main__":
    main()
