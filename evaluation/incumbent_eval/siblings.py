"""Siblings: two statements, and what becomes of the first.

A file has a pair on each line, as JSON: `first` and `second`, `gap`, `label`, `query`, and the
stretches that must (`live`) and must not (`dead`) be in a live line. Each pair is told to an empty
memory: the second statement minutes later in the same session, or days later in another. The next
day a new session asks with the query and the first statement. Right is a context whose live lines
say every stretch of `live` and none of `dead`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

import incumbent
from incumbent.context.document import Context, Line
from incumbent.model.errors import IncumbentError, InvalidInput
from incumbent_eval.conversations.sections import undated
from incumbent_eval.figures import Share, records
from incumbent_eval.live_lines import LineText, fact_lines, live_lines
from incumbent_eval.running import HeldClock, each, read_records
from incumbent_eval.systems import Progress

BUDGET = 800
BEGINNING = datetime(2026, 3, 2, 9, tzinfo=UTC)
"""A Monday morning: when the first statement is made."""
WAITS = {"same": timedelta(minutes=10), "days": timedelta(days=3)}
_NEXT_DAY = timedelta(days=1)
_PERSON = "user"
_MACHINES = ("assistant", "tool")
_MADE = ("…", "→", "(composed)")
"""The marks of a line that was cut, joined or composed."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_KEY_AND_VALUE = re.compile(r"- (?:\[[^\]]*\] )?\w[\w-]*(?: \([^()]*\))?: \S")
"""A line that tells a value under a name. Where the day of a statement stood there is no word."""


class SiblingLabel(StrEnum):
    """What the second statement does to the first."""

    STANDS = "stands"
    """Nothing of the first is over."""
    REPLACES = "replaces"
    PART = "part"
    """One of several values is over."""
    ENDS = "ends"
    CONFIRMS = "confirms"


CHANGES = (SiblingLabel.REPLACES, SiblingLabel.PART, SiblingLabel.ENDS)


@dataclass(frozen=True)
class SiblingPair:
    """Two statements, a question, and what makes its context right."""

    place: int
    """The number of its line in the file."""
    first: str
    second: str
    gap: str
    label: SiblingLabel
    query: str
    live: tuple[str, ...]
    dead: tuple[str, ...]


@dataclass(frozen=True)
class SiblingScore:
    """What came of one pair; the lines are kept for people to read."""

    pair: SiblingPair
    missing: tuple[str, ...]
    """Stretches that should be live and are not."""
    stale: tuple[str, ...]
    """Stretches that should not be live and are."""
    is_whole: bool
    """Whether both statements are there as they were made."""
    made: tuple[str, ...]
    """Lines that were cut, joined or composed."""
    lines: tuple[str, ...]
    """All lines that tell facts, each with its section."""

    @property
    def is_right(self) -> bool:
        return not self.missing and not self.stale

    def record(self) -> dict[str, Any]:
        return {
            "line": self.pair.place,
            "label": self.pair.label.value,
            "first": self.pair.first,
            "second": self.pair.second,
            "missing": self.missing,
            "stale": self.stale,
            "lines": self.lines,
        }


# reading


def read_pairs(path: Path) -> list[SiblingPair]:
    """The pairs of a file; a mistake in it is refused with its line."""
    return [_pair(row, path, place) for place, row in enumerate(read_records(path), start=1)]


def _pair(row: Mapping[str, Any], path: Path, place: int) -> SiblingPair:
    try:
        if row["gap"] not in WAITS:
            raise ValueError(f"gap {row['gap']!r} is not one of {', '.join(WAITS)}")
        return SiblingPair(
            place,
            str(row["first"]),
            str(row["second"]),
            row["gap"],
            SiblingLabel(row["label"]),
            str(row["query"]),
            tuple(map(str, row["live"])),
            tuple(map(str, row["dead"])),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"{path}, line {place}, is no pair of siblings ({type(error).__name__}: {error}); it "
            f"needs first, second, gap, label, query, live and dead"
        ) from None


def spoken(statement: str) -> tuple[str, str]:
    """Who makes a statement, and its words."""
    for machine in _MACHINES:
        if statement.startswith(f"{machine}: "):
            return machine, statement.removeprefix(f"{machine}: ")
    return _PERSON, statement


# playing


def play(pair: SiblingPair, settings: incumbent.Settings | None = None) -> SiblingScore:
    """Tell a pair to an empty memory, ask the next day, and score the context."""
    clock = HeldClock(BEGINNING)
    with incumbent.open(":memory:", clock=clock, settings=settings) as memory:
        _tell(memory, pair.first, "first")
        clock.move_to(clock() + WAITS[pair.gap])
        _tell(memory, pair.second, "first" if pair.gap == "same" else "second")
        clock.move_to(clock() + _NEXT_DAY)
        asking = memory.session(user_id=_PERSON, session_id="asking")
        asked = f"{pair.query} {spoken(pair.first)[1]}"
        return scored(pair, asking.context(asked, budget=BUDGET))


def _tell(memory: incumbent.Memory, statement: str, session: str) -> None:
    speaker, text = spoken(statement)
    with suppress(IncumbentError):  # nothing was taken in, which the figures then show
        memory.session(user_id=_PERSON, session_id=session).observe(text, speaker=speaker)


def scored(pair: SiblingPair, context: Context) -> SiblingScore:
    """A context as the answer to a pair."""
    live = live_lines(context)
    texts = [LineText(line.text) for line in live]
    told = fact_lines(context)
    return SiblingScore(
        pair,
        missing=tuple(one for one in pair.live if not any(text.has(one) for text in texts)),
        stale=tuple(one for one in pair.dead if any(text.has(one) for text in texts)),
        is_whole=all(_is_whole(one, pair, live) for one in (pair.first, pair.second)),
        made=tuple(line.text for line in told if _is_made(line.text, pair)),
        lines=tuple(f"{line.section} | {line.text}" for line in told),
    )


def _is_made(line: str, pair: SiblingPair) -> bool:
    """Whether a line was cut, joined or composed; a mark that somebody typed is none."""
    return any(mark in line and mark not in f"{pair.first}{pair.second}" for mark in _MADE)


def _is_whole(statement: str, pair: SiblingPair, live: Sequence[Line]) -> bool:
    """Whether live lines have a statement as it was made, or its stretches as one key and value.

    Only the sentences count that a stretch of `live` is in. Hearsay, questions and pleasantries
    have none, and need not be kept.
    """
    text = spoken(statement)[1]
    stretches = [one for one in pair.live if LineText(text).has(one)]
    if not stretches:
        return True
    sentences = _SENTENCE_END.split(text.strip())
    telling = [one for one in sentences if LineText(one).has_any(stretches)]
    texts = [(line.text, LineText(line.text)) for line in live]
    wanted = [one.strip().rstrip(".!?;,: ") for one in telling or [text]]
    if all(any(shown.has(one) for _, shown in texts) for one in wanted):
        return True
    return any(all(map(shown.has, stretches)) for line, shown in texts if _is_key_and_value(line))


def _is_key_and_value(line: str) -> bool:
    return _KEY_AND_VALUE.match(undated(line)) is not None


# reporting


@dataclass
class SiblingsReport:
    """The figures of a file, or of several added up."""

    name: str
    scores: list[SiblingScore] = field(default_factory=list)

    def right(self, *labels: SiblingLabel) -> Share:
        """The pairs of some labels that came out right."""
        return _share(one.is_right for one in self._of(labels))

    @property
    def whole(self) -> Share:
        """The pairs where all stands, and both statements are there as they were made."""
        return _share(one.is_whole for one in self._of([SiblingLabel.STANDS]))

    @property
    def made(self) -> list[str]:
        """Lines that were cut, joined or composed."""
        return [line for one in self.scores for line in one.made]

    @property
    def failures(self) -> list[SiblingScore]:
        return [one for one in self.scores if not one.is_right]

    def _of(self, labels: Sequence[SiblingLabel]) -> list[SiblingScore]:
        return [one for one in self.scores if one.pair.label in labels]

    def record(self) -> dict[str, Any]:
        shares = {label.value: self.right(label) for label in SiblingLabel}
        return {
            "name": self.name,
            "right": records(shares),
            "kept_whole": self.whole.record(),
            "made_lines": self.made,
        }


def _share(hits: Iterator[bool]) -> Share:
    return sum(map(Share.one, hits), Share())


def total(reports: Sequence[SiblingsReport]) -> SiblingsReport:
    """Several files as one."""
    return SiblingsReport("all", [one for report in reports for one in report.scores])


def run(
    path: Path,
    *,
    settings: incumbent.Settings | None = None,
    limit: int | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> SiblingsReport:
    """Play the pairs of a file and give their figures."""
    score = partial(play, settings=settings)
    chosen = read_pairs(path)[:limit]
    what = f"siblings, {path.stem}"
    made = each(score, chosen, what=what, workers=workers, progress=progress)
    return SiblingsReport(path.stem, list(made))
