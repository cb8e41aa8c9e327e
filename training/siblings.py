"""Scenes out of siblings: two statements in nearly the same words, and what becomes of the first.

Where life allows several (nephews, allergies, those who call a service) the first one stands; where
there is one at a time (a landlord, an owner) it is replaced. `training/siblings` has the files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from incumbent.language.speakers import as_heard
from incumbent.reading.learned.pieces import Age
from training.scenes import Becomes, KnownText, Place, Scene, Value

FOLDER: Final = Path(__file__).parent / "siblings"
ASIDE: Final = ("work", "several", "tastes", "people", "desks")
"""Files that the model is not taught: the lines of `thresholds` are drawn by them."""
KEPT: Final = ("counters", "happenings", "strangers", "neighbours", "benches")
"""Files that nothing is taught: all is measured on them."""
_LABELS: Final[dict[str, Becomes]] = {
    "stands": "leaves",
    "replaces": "replaces",
    "part": "part",
    "ends": "ends",
    "confirms": "confirms",
}
_MOST_BESIDE: Final = 5


def taught() -> list[Path]:
    aside = (*ASIDE, *KEPT)
    return [path for path in sorted(FOLDER.glob("*.jsonl")) if path.stem not in aside]


def aside() -> list[Path]:
    return [FOLDER / f"{name}.jsonl" for name in ASIDE]


def kept() -> list[Path]:
    return [FOLDER / f"{name}.jsonl" for name in KEPT]


def items(paths: Sequence[Path]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The pairs of some files, each with the name of its file."""
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            yield path.stem, json.loads(line)


def scene(item: dict[str, Any], source: str, rng: Random, others: Sequence[str] = ()) -> Scene:
    """What the second statement does to the first, with luck beside statements of others."""
    first, second = heard(item["first"]), heard(item["second"])
    previous = first if item["gap"] == "same" else ""
    age = Age.JUST if item["gap"] == "same" else Age.BEFORE
    label = _LABELS[item["label"]]
    new = next((Place(*at) for one in item["live"] if (at := place_in(second, one))), None)
    dead = [at for one in item["dead"] if (at := place_in(first, one))]
    live = [at for one in item["live"] if (at := place_in(first, one))]
    told = new if label in ("replaces", "part") else None
    values = [Value(*at, True, told) for at in dead]
    values += [
        Value(*at, False) for at in live if not any(at[0] < b and a < at[1] for a, b in dead)
    ]
    own = KnownText(
        first,
        age,
        label,
        0 if label != "leaves" else None,
        told,
        tuple(_apart(values)),
        is_whole=label not in ("replaces", "ends"),
    )
    known = [own]
    for text in rng.sample(list(others), min(len(others), rng.randint(0, _MOST_BESIDE))):
        there = rng.choice(
            (Age.JUST if item["gap"] == "same" else Age.BEFORE, Age.HERE, Age.BEFORE)
        )
        beside = KnownText(text, there, "leaves", is_whole=True)
        known.insert(rng.randint(0, len(known)), beside)
    return Scene(previous, second, tuple(known), (), source)


def heard(text: str) -> str:
    """A line with who says it before it, where that is not the person."""
    speaker, colon, said = text.partition(": ")
    if colon and speaker in ("assistant", "tool"):
        return as_heard(said, speaker)[0]
    return text


def place_in(text: str, stretch: str) -> tuple[int, int] | None:
    at = text.casefold().find(stretch.casefold())
    return (at, at + len(stretch)) if stretch and at >= 0 else None


def _apart(values: list[Value]) -> Iterator[Value]:
    """Of values that overlap, the first."""
    end = -1
    for value in sorted(values, key=lambda one: one.start):
        if value.start >= end:
            end = value.end
            yield value
