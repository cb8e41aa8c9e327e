"""Scenes out of the smaller sources: written moments, generated pairs, natural pairs, orders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from incumbent.reading.beside import LONGEST, windows
from incumbent.reading.form import Span
from incumbent.reading.learned.model import BECOMES, KINDS
from incumbent.reading.learned.pieces import Age
from incumbent.reading.segments import segments
from incumbent_eval.running import read_records
from training.examples import Example, joined
from training.scenes import Becomes, KnownText, Line, Place, Scene, Value
from training.siblings import heard, place_in

MOMENTS: Final = Path(__file__).parent / "moments"
KEPT: Final = ("shown_kept",)
"""Files of moments that nothing is taught."""
ORDERS: Final = Path(__file__).parent / "orders"
_AGES: Final = {"just": Age.JUST, "here": Age.HERE, "before": Age.BEFORE}
_WHOLE: Final = ("leaves", "confirms", "adds", "depends", "later")
"""Where nothing of a statement is over."""
_GOES: Final = ("replaces", "ends", "part")
_STRANGERS: Final = 4
_GENERATED: Final[dict[str, Becomes]] = {
    "replace": "replaces",
    "retract": "ends",
    "confirm": "confirms",
    "leave": "leaves",
}


def moments() -> Iterator[Scene]:
    """Scenes that were written whole: several statements, and a turn that may change one."""
    for path in sorted(MOMENTS.glob("*.jsonl")):
        if path.stem in KEPT:
            continue
        for row in read_records(path):
            turn, previous = heard(row["turn"]), heard(row["previous"])
            known = tuple(_known(one, turn, previous) for one in row["known"])
            shown = [at for one in row.get("shown", ()) if (at := place_in(turn, one))]
            if len(turn) > LONGEST and all(one.becomes in _WHOLE for one in known):
                yield from _in_windows(turn, known, shown, path.stem)
                continue
            lines = tuple(Line(*at, KINDS.index("reports")) for at in sorted(shown))
            yield Scene(previous, turn, known, lines, path.stem)


def _in_windows(
    turn: str, known: tuple[KnownText, ...], shown: Sequence[Span], source: str
) -> Iterator[Scene]:
    """A long turn that changes nothing, as it is read: in stretches."""
    previous = ""
    for one in windows(turn, segments(turn)):
        end = one.start + len(one.text)
        inside = [(max(a, one.start), min(b, end)) for a, b in shown if a < end and one.start < b]
        lines = tuple(Line(a - one.start, b - one.start, KINDS.index("reports")) for a, b in inside)
        yield Scene(previous, one.text, known, lines, source)
        previous = one.text


def _known(one: dict[str, Any], turn: str, previous: str) -> KnownText:
    text, label = heard(one["text"]), one["becomes"]
    if label not in BECOMES:
        raise ValueError(f"{label!r} is not one of {', '.join(BECOMES)}: {one}")
    new = place_in(turn, one["new"]) or None
    told = Place(*new) if new is not None else None
    dead = [at for stretch in one["dead"] if (at := place_in(text, stretch))]
    whole = label in _WHOLE or label == "part"
    return KnownText(
        text,
        _AGES[one["age"]],
        label,
        None if label == "leaves" else 0,
        told if label in ("replaces", "part") else None,
        tuple(Value(*at, True, told) for at in sorted(dead)) if label in _GOES else (),
        is_whole=whole,
    )


def generated(examples: Sequence[Example], rng: Random) -> Iterator[Scene]:
    """Generated pairs, each beside statements of others."""
    for example in examples:
        own = _of_example(example, rng)
        known = [own]
        for other in rng.sample(examples, rng.randint(0, _STRANGERS)):
            if other.group != example.group:
                beside = KnownText(other.statement, rng.choice(list(Age)), "leaves", is_whole=True)
                known.insert(rng.randint(0, len(known)), beside)
        yield Scene(example.previous, example.turn, tuple(known), (), "generated")


def _of_example(example: Example, rng: Random) -> KnownText:
    offset = len(joined(example.previous, "x")) - 1
    values = []
    for mark in example.marks:
        new = None
        if mark.new is not None:
            inside = mark.new[0] < offset
            by = 0 if inside else offset
            new = Place(mark.new[0] - by, mark.new[1] - by, inside)
        values.append(Value(mark.start, mark.end, mark.label in ("replace", "retract"), new))
    labels = {str(mark.label) for mark in example.marks}
    over = [value for value in values if value.is_over]
    becomes: Becomes | None = "part" if over else "leaves"
    if len(labels) == 1:
        becomes = _GENERATED.get(next(iter(labels)))
    age = rng.choice((Age.JUST, Age.HERE, Age.BEFORE))
    return KnownText(
        example.statement,
        age,
        becomes,
        0 if over else None,
        over[0].new if over else None,
        tuple(values),
        is_whole=not over,
    )


def natural(folder: Path, rng: Random) -> Iterator[Scene]:
    """Pairs of people's own text, labelled by the annotation of public sets."""
    for path in sorted(folder.glob("*.jsonl.gz")):
        for row in read_records(path):
            label: Becomes = row["label"]
            known = KnownText(
                row["old"],
                rng.choice((Age.JUST, Age.HERE)),
                label,
                None if label == "leaves" else 0,
                is_whole=label in _WHOLE,
            )
            yield Scene(row["prev"], row["new"], (known,), (), path.name.split(".")[0])


def orders() -> Iterator[Scene]:
    """Sentences that say whether something is to be done now, or is so."""
    for path in sorted(ORDERS.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            label, _, text = line.partition("\t")
            if text:
                kind = KINDS.index("orders" if label == "order" else "states")
                yield Scene("", text, (), (Line(0, len(text), kind),), path.stem)
