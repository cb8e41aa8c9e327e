"""Examples out of siblings: two statements in nearly the same words, and what becomes of the first.

Where life allows several (nephews, allergies, those who call a service) the first one stands; where
there is one at a time (a landlord, an owner) it is replaced. `training/siblings` has the files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from incumbent.language.learned.voices import as_heard
from training.examples import Example, Mark, RelationLabel, joined

FOLDER: Final = Path(__file__).parent / "siblings"
ASIDE: Final = ("work", "several", "tastes")
"""Files that the model is not taught: what it says is weighed by them."""
KEPT: Final = ("people", "desks", "counters")
"""Files that nothing is taught: all is measured on them."""
_LABELS: Final[dict[str, RelationLabel]] = {
    "stands": "leave",
    "replaces": "replace",
    "part": "replace",
    "ends": "retract",
    "confirms": "confirm",
}


def siblings(paths: list[Path]) -> Iterator[Example]:
    """What the second statement does to the values of the first, and to all of it."""
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            yield from _examples(json.loads(line), f"siblings-{path.stem}", str(number))


def taught() -> list[Path]:
    aside = (*ASIDE, *KEPT)
    return [path for path in sorted(FOLDER.glob("*.jsonl")) if path.stem not in aside]


def aside() -> list[Path]:
    return [FOLDER / f"{name}.jsonl" for name in ASIDE]


def _examples(item: dict[str, Any], source: str, group: str) -> Iterator[Example]:
    first, second = _heard(item["first"]), _heard(item["second"])
    previous = first if item["gap"] == "same" else ""
    label, reply = _LABELS[item["label"]], joined(previous, second)
    before = len(reply) - len(second)
    new = next((at for one in item["live"] if (at := _place(second, one))), None)
    told = None if new is None else (before + new[0], before + new[1])
    dead = {at for one in item["dead"] if (at := _place(first, one))}
    live = {at for one in item["live"] if (at := _place(first, one))} - dead
    kept: RelationLabel = "confirm" if label == "confirm" else "leave"
    marks = [Mark(*at, label, told if label == "replace" else None) for at in dead]
    marks += [Mark(*at, kept) for at in live if not any(at[0] < b and a < at[1] for a, b in dead)]
    whole = "leave" if item["label"] == "part" else label
    all_of_it = Mark(0, 0, whole, told if whole == "replace" else None)
    ordered = tuple(_apart(marks))
    yield Example(first, previous, second, (all_of_it, *ordered), item["label"], source, group)


def _heard(text: str) -> str:
    """A line with who says it before it, where that is not the person."""
    speaker, colon, said = text.partition(": ")
    if colon and speaker in ("assistant", "tool"):
        return as_heard(said, speaker)[0]
    return text


def _place(text: str, stretch: str) -> tuple[int, int] | None:
    at = text.casefold().find(stretch.casefold())
    return (at, at + len(stretch)) if stretch and at >= 0 else None


def _apart(marks: list[Mark]) -> Iterator[Mark]:
    """Of marks that overlap, the first."""
    end = -1
    for mark in sorted(marks, key=lambda one: one.start):
        if mark.start >= end:
            end = mark.end
            yield mark
