"""Pairs: an earlier value, marked in its statement, and a later turn: does the turn replace it?

They come from a file of pairs, or are made of the dialogues of a file of cases: every value that a
user has said and that stands, against every later turn of the user. The model that ships reads each
pair alone, without rules and without a memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from incumbent.model.errors import InvalidInput
from incumbent.reading.learned.model import load
from incumbent.reading.learned.pieces import Age, Beside, Span
from incumbent_eval import calibration
from incumbent_eval.calibration import Bin, Cut
from incumbent_eval.cases import Dialogue, Event, Value, read_dialogues
from incumbent_eval.figures import Share, records, rounded
from incumbent_eval.running import each, read_records
from incumbent_eval.systems import Progress

EVEN = 0.5
"""The threshold of the figures beside those at the best one."""

_OPEN, _CLOSE, _BAR = "« ", " »", " ¦ "


@dataclass(frozen=True)
class LabelledPair:
    """A value in a statement, the turn that follows, and whether the turn replaces the value."""

    id: str
    statement: str
    start: int
    end: int
    previous: str
    turn: str
    replaced: bool
    kind: str = ""
    """The sort of change, or the other thing that the turn does."""
    new: Value = ()
    """The names of the new value, if the old one was replaced."""

    @property
    def value(self) -> str:
        return self.statement[self.start : self.end]


def read_pairs(path: Path, limit: int | None = None) -> list[LabelledPair]:
    """The pairs of a file of pairs, or those of the dialogues of a file of cases."""
    rows = list(islice(read_records(path), 1))
    if rows and "events" in rows[0]:
        found = (pair for dialogue in read_dialogues(path) for pair in pairs_of(dialogue))
        return list(islice(found, limit))
    try:
        return [_pair(row) for row in islice(read_records(path), limit)]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"{path} is no file of pairs ({type(error).__name__}: {error}); a line has old, with "
            f"the value between « and », new, and y"
        ) from None


def _pair(row: Mapping[str, Any]) -> LabelledPair:
    before, _, rest = str(row["old"]).partition(_OPEN)
    value, closed, after = rest.partition(_CLOSE)
    if not closed:
        raise ValueError(f"no value is marked in {row['old']!r:.80}")
    previous, _, turn = str(row["new"]).rpartition(_BAR)
    return LabelledPair(
        str(row["id"]),
        before + value + after,
        len(before),
        len(before) + len(value),
        previous,
        turn,
        bool(row["y"]),
        str(row.get("kind", "")),
        (str(row["newv"]),) if row.get("newv") else (),
    )


@dataclass(frozen=True)
class _Live:
    statement: str
    start: int
    end: int


def pairs_of(dialogue: Dialogue) -> Iterator[LabelledPair]:
    """Every value that the user has said, against every later turn of the user."""
    live: dict[str, _Live] = {}
    previous = ""
    for number, event in enumerate(dialogue.events):
        if event.speaker != "user":
            previous = event.text
            continue
        changed = {change.slot: change.new for change in event.changes}
        for slot, held in live.items():
            yield LabelledPair(
                f"{dialogue.cases[0].id}:{number}:{slot}",
                held.statement,
                held.start,
                held.end,
                previous,
                event.text,
                slot in changed,
                _kind(event, slot),
                changed.get(slot, ()),
            )
        for told in (*event.adds, *event.changes):
            live.pop(told.slot, None)
            if (found := _located(event, told.new)) is not None:
                live[told.slot] = found


def _kind(event: Event, slot: str) -> str:
    """The effect of the turn: on this value, or else on any other."""
    if any(change.slot == slot for change in event.changes):
        return "change"
    if event.changes:
        return "other change"
    return "addition" if event.adds else "nothing told"


def _located(event: Event, value: Iterable[str]) -> _Live | None:
    """The place where a turn names a value; None if it does not, or if there are several places."""
    for way in value:
        places = named(event.text, (way,))
        if len(places) == 1:
            return _Live(event.text, *places[0])
        if places:
            return None
    return None


# running


@dataclass(frozen=True)
class PairScore:
    """The model's result for one pair."""

    pair: LabelledPair
    chance: float
    """The probability that the value was replaced."""
    span: str
    """The words that the model takes for the new value."""
    is_span_right: bool | None
    """Whether they overlap the new value; None if there is none, or not word for word."""

    @property
    def error(self) -> float:
        """The distance of the probability from the truth."""
        return abs(self.pair.replaced - self.chance)


def score_pair(pair: LabelledPair) -> PairScore:
    """Let the model read one pair."""
    read = load().read(pair.previous, pair.turn, [Beside(pair.statement, Age.HERE)])
    value = (pair.start, pair.end)
    new = read.new(0, value)
    span, in_previous = new if new is not None else ((0, 0), False)
    text = (pair.previous if in_previous else pair.turn)[slice(*span)]
    right = _is_span_right(pair, span, is_in_previous=in_previous)
    return PairScore(pair, read.over(0, value), text, right)


def _is_span_right(pair: LabelledPair, span: Span, *, is_in_previous: bool) -> bool | None:
    in_turn, in_previous = named(pair.turn, pair.new), named(pair.previous, pair.new)
    if not pair.replaced or not (in_turn or in_previous):
        return None
    first, last = span
    places = in_previous if is_in_previous else in_turn
    return any(first < end and start < last for start, end in places)


def named(text: str, ways: Iterable[str]) -> list[tuple[int, int]]:
    """The places where a text names a value, in any of the ways to write it."""
    return [
        hit.span()
        for way in ways
        for hit in re.finditer(rf"(?<!\w){re.escape(way)}(?!\w)", text, re.IGNORECASE)
    ]


# reporting


@dataclass
class PairsReport:
    """The figures of a file of pairs."""

    name: str
    scores: list[PairScore] = field(default_factory=list)

    @property
    def chances(self) -> list[float]:
        return [score.chance for score in self.scores]

    @property
    def gold(self) -> list[bool]:
        return [score.pair.replaced for score in self.scores]

    @cached_property
    def best(self) -> Cut:
        """The result at the threshold with the best F1."""
        return calibration.best(self.chances, self.gold)

    @cached_property
    def even(self) -> Cut:
        """The result at one half."""
        return calibration.at(self.chances, self.gold, EVEN)

    @cached_property
    def average_precision(self) -> float | None:
        return calibration.average_precision(self.chances, self.gold)

    @cached_property
    def bins(self) -> list[Bin]:
        return calibration.reliability(self.chances, self.gold)

    @property
    def expected_error(self) -> float | None:
        return calibration.expected_error(self.bins)

    @property
    def expected_error_above(self) -> float | None:
        """The expected error without the lowest bin, which holds nearly all of most files."""
        return calibration.expected_error(self.bins[1:])

    @property
    def spans(self) -> Share:
        """The share of replaced values for which the model points at the new one."""
        return sum(
            (Share.one(hit) for s in self.scores if (hit := s.is_span_right) is not None), Share()
        )

    @property
    def kinds(self) -> dict[str, Share]:
        """For each kind of pair, the share that the model takes for a change at one half."""
        found: dict[str, Share] = {}
        for score in self.scores:
            kind = score.pair.kind or "pair"
            found[kind] = found.get(kind, Share()) + Share.one(score.chance >= EVEN)
        return found

    @property
    def false(self) -> list[PairScore]:
        """Pairs wrongly taken for a change at one half, the surest first."""
        wrong = (s for s in self.scores if s.chance >= EVEN and not s.pair.replaced)
        return sorted(wrong, key=lambda score: -score.error)

    @property
    def missed(self) -> list[PairScore]:
        """Changes that were missed at one half, the surest first."""
        wrong = (s for s in self.scores if s.chance < EVEN and s.pair.replaced)
        return sorted(wrong, key=lambda score: -score.error)

    def record(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "pairs": len(self.scores),
            "replaced": sum(self.gold),
            "best": self.best.record(),
            "even": self.even.record(),
            "average_precision": rounded(self.average_precision),
            "spans": self.spans.record(),
            "taken_for_a_change": records(self.kinds),
            "expected_calibration_error": rounded(self.expected_error),
            "expected_calibration_error_above_lowest_bin": rounded(self.expected_error_above),
            "reliability": [one.record() for one in self.bins],
        }


def run(
    path: Path,
    *,
    limit: int | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> PairsReport:
    """Let the model read every pair of a file, and give the figures."""
    pairs = read_pairs(path, limit)
    name = path.name.removesuffix(".gz").removesuffix(".jsonl")
    scores = each(score_pair, pairs, what=name, workers=workers, progress=progress)
    return PairsReport(name, list(scores))
