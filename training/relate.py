"""Learns how opinions and words are weighed together: `reading/weights/weighing.npz`.

    python -m training.relate [--every N] [--pairs FILE] [--install]

Plays the conversations for development, turn by turn, against what their annotation says holds, and
the siblings that the model was not taught. Half of each teaches the other half, for the figures:
for each chance how often it is right, so that the lines between ended, doubted and left can be
drawn. All of it makes the trees for statements, and the weights for their values
(`thresholds.VALUE_WEIGHTS`).
"""

from __future__ import annotations

import argparse
import json
import zlib
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
from incumbent.reading.relating import FEATURES, features, value_features
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


TREES: Final = 80
_FILES: Final = ("siblings", "pairs")
_RISING: Final = (FEATURES.index("whole"), FEATURES.index("a value of it"))
Array = np.ndarray[Any, Any]


class Chances(NamedTuple):
    """What was learned: the chances of rows, and what tells them."""

    of: Callable[[Array], Array]
    told: Any


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
        told = [[valued(v) for v in one.opinion.values] for one in weighed]
        rows = features([one.pair for one in weighed], told)
        for one, numbers, values in zip(weighed, rows, told, strict=True):
            self.whole.append(Row(numbers, bool(over(one.known, None)), source))
            of_values = value_features(one.pair, values, most)
            for value, features_of in zip(one.opinion.values, of_values, strict=True):
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


def weights_of(rows: list[Row]) -> Chances:
    """Weights by logistic regression, as a way to tell the chance of a row."""
    x, y, share = _table(rows)
    w = np.zeros(x.shape[1])
    for _ in range(60):  # Newton's steps
        p = 1 / (1 + np.exp(-x @ w))
        gradient = x.T @ (share * (p - y)) + 0.5 * w
        hessian = (x * (share * p * (1 - p))[:, None]).T @ x + 0.5 * np.eye(len(w))
        w -= np.linalg.solve(hessian, gradient)
    told = tuple(round(float(one), 3) for one in w)
    return Chances(lambda x: 1 / (1 + np.exp(-x @ w)), told)


def trees_of(rows: list[Row]) -> Chances:
    """Small trees; the likelier the model holds something to be over, the likelier it is."""
    from sklearn.ensemble import (  # type: ignore[import-not-found]
        HistGradientBoostingClassifier,
    )

    x, y, share = _table(rows)
    rising = np.zeros(x.shape[1], int)
    rising[[*_RISING, *(len(FEATURES) + one for one in (0, 1))]] = 1
    trees = HistGradientBoostingClassifier(
        max_iter=TREES,
        learning_rate=0.06,
        max_leaf_nodes=5,
        min_samples_leaf=30,
        l2_regularization=1.0,
        monotonic_cst=rising,
        random_state=1,
    ).fit(x, y, sample_weight=share)
    return Chances(lambda x: trees.predict_proba(x)[:, 1], trees)


def _table(rows: list[Row], weight: float = 3.0) -> tuple[Array, Array, Array]:
    """Rows as arrays; siblings count more, since they are few."""
    share = [weight if row.source.startswith("siblings") else 1.0 for row in rows]
    numbers = np.array([row.numbers for row in rows])
    return numbers, np.array([float(row.is_over) for row in rows]), np.array(share)


def saved(trees: Any, path: Path) -> None:
    """Write trees as `reading.trees` reads them."""
    feature: list[int] = []
    limit: list[float] = []
    next_: list[tuple[int, int]] = []
    adds: list[float] = []
    roots: list[int] = []
    depth = 0
    for (one,) in trees._predictors:
        base = len(feature)
        roots.append(base)
        for number, node in enumerate(one.nodes):
            leaf = bool(node["is_leaf"])
            here = base + number
            feature.append(0 if leaf else int(node["feature_idx"]))
            limit.append(0.0 if leaf else float(node["num_threshold"]))
            both = (here, here) if leaf else (base + node["left"], base + node["right"])
            next_.append((int(both[0]), int(both[1])))
            adds.append(float(node["value"]) if leaf else 0.0)
            depth = max(depth, int(node["depth"]))
    np.savez_compressed(
        path,
        feature=np.array(feature, np.int16),
        limit=np.array(limit),
        next=np.array(next_, np.int32),
        adds=np.array(adds),
        roots=np.array(roots, np.int32),
        depth=np.array(depth + 1),
        base=np.array(float(np.ravel(trees._baseline_prediction)[0])),
    )


def report(rows: list[Row], p: Array, name: str) -> None:
    y = np.array([row.is_over for row in rows])
    print(f"{name}: {len(rows)} pairs, {y.sum()} over")
    for line in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        hit = p >= line
        right = (y & hit).sum() / max(1, hit.sum())
        print(
            f"   from {line:.1f}: {hit.sum():5d} found, right {right:.2f}, "
            f"of those over {(y & hit).sum() / max(1, y.sum()):.2f}, "
            f"of those that stand {(~y & hit).sum() / max(1, (~y).sum()):.3f}"
        )


def crossed(rows: list[Row], learn: Callable[[list[Row]], Chances]) -> Array:
    """The chance of each row, learned from the other half."""
    half = np.array(
        [zlib.crc32(f"{row.source}{n // 40}".encode()) % 2 for n, row in enumerate(rows)]
    )
    p = np.zeros(len(rows))
    for number in (0, 1):
        here = half == number
        told = learn([row for row, one in zip(rows, here, strict=True) if not one])
        p[here] = told.of(np.array([row.numbers for row in rows])[here])
    return p


def main() -> None:
    parser = argparse.ArgumentParser(description="Learn how opinions are weighed together.")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--install", action="store_true", help="put the trees where they ship")
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
    sets = {"conversations": talks, "siblings kept aside": near, "public pairs": public}
    whole = {told: one.whole for told, one in sets.items() if one.whole}
    _told(whole, trees_of)
    if options.install:
        everything = [row for some in whole.values() for row in some]
        saved(trees_of(everything).told, WEIGHTS / "weighing.npz")
    values = {told: one.values for told, one in sets.items() if one.values}
    _told(values, weights_of)
    print("VALUE_WEIGHTS:", weights_of([row for some in values.values() for row in some]).told)


def _told(sets: dict[str, list[Row]], learn: Callable[[list[Row]], Chances]) -> None:
    rows = [row for some in sets.values() for row in some]
    p = crossed(rows, learn)
    first = 0
    for name, some in sets.items():
        report(some, p[first : first + len(some)], name)
        first += len(some)


if __name__ == "__main__":
    main()
