"""A chain on a time axis: when each fact held, and when the memory went by it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from incumbent.model.fact import SERVED, Fact
from incumbent.model.verdict import Action, Outcome, Verdict

_LEAST = timedelta(seconds=1)
_NARROWEST = 0.6
_TICKS = 6
_MARGIN = 0.02
_STEPS = (
    *(timedelta(seconds=count) for count in (1, 5, 15, 30)),
    *(timedelta(minutes=count) for count in (1, 5, 15, 30)),
    *(timedelta(hours=count) for count in (1, 3, 6, 12)),
    *(timedelta(days=count) for count in (1, 2, 7, 14, 30, 91, 182, 365, 730, 1825)),
)
_START = datetime(2001, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class AxisBar:
    """A stretch of time, in percent of the axis."""

    x: float
    width: float
    since: datetime
    until: datetime | None
    """None while it goes on."""


@dataclass(frozen=True)
class AxisMark:
    """A verdict, at the moment that it was recorded."""

    x: float
    verdict: Verdict


@dataclass(frozen=True)
class AxisRow:
    """One fact: when it held, when the memory went by it, and the verdicts on it."""

    fact: Fact
    held: AxisBar
    known: AxisBar
    marks: tuple[AxisMark, ...]
    served: bool
    """Whether it was ever in office; a statement that was overruled only wanted to be."""


@dataclass(frozen=True)
class AxisTick:
    """A moment with a label."""

    x: float
    label: str
    anchor: str


@dataclass(frozen=True)
class Axis:
    """Rows on one scale."""

    rows: tuple[AxisRow, ...]
    ticks: tuple[AxisTick, ...]
    now: float


@dataclass(frozen=True)
class _Scale:
    start: datetime
    span: timedelta

    def at(self, when: datetime) -> float:
        """The place of a moment, in percent."""
        share = (when - self.start) / self.span
        return round(100 * min(1.0, max(0.0, share)), 2)

    def bar(self, since: datetime, until: datetime | None) -> AxisBar:
        x = min(self.at(since), 100 - _NARROWEST)
        end = 100.0 if until is None else self.at(until)
        return AxisBar(x, round(max(end - x, _NARROWEST), 2), since, until)


def axis_of(facts: Sequence[Fact], verdicts: Sequence[Verdict], now: datetime) -> Axis | None:
    """The facts of a chain on one axis; None without any."""
    if not facts:
        return None
    terms = {fact.id: _terms(fact, verdicts) for fact in facts}
    scale = _scale([moment for term in terms.values() for moment in term if moment], now)
    rows = tuple(_row(fact, terms[fact.id], verdicts, scale) for fact in facts)
    return Axis(rows, _ticks(scale), scale.at(now))


def _terms(
    fact: Fact, verdicts: Iterable[Verdict]
) -> tuple[datetime, datetime | None, datetime, datetime | None]:
    """The beginning and the end of a fact's validity, and of the memory's going by it."""
    held = fact.started_at or fact.valid_from
    until = fact.until
    if until is not None and until < held:
        until = held
    return held, until, fact.recorded_at, _left(fact, verdicts)


def _left(fact: Fact, verdicts: Iterable[Verdict]) -> datetime | None:
    """When it was recorded that the fact no longer stands; None while it does."""
    if fact.is_valid:
        return None
    ends = [one.recorded_at for one in verdicts if _ends(one, fact.id)]
    return max(max(ends), fact.recorded_at) if ends else fact.until


def _ends(verdict: Verdict, fact_id: str) -> bool:
    if fact_id in verdict.superseded or fact_id in verdict.repair.stepped_back:
        return True
    if verdict.fact_id != fact_id:
        return False
    return verdict.action is Action.RETRACT or verdict.outcome is Outcome.OVERRULED


def _row(
    fact: Fact,
    term: tuple[datetime, datetime | None, datetime, datetime | None],
    verdicts: Iterable[Verdict],
    scale: _Scale,
) -> AxisRow:
    held, until, recorded, left = term
    marks = (AxisMark(scale.at(v.recorded_at), v) for v in verdicts if v.fact_id == fact.id)
    served = fact.started_at is not None and fact.status in SERVED
    return AxisRow(
        fact, scale.bar(held, until), scale.bar(recorded, left), tuple(marks), served=served
    )


def _scale(moments: Sequence[datetime], now: datetime) -> _Scale:
    first, last = min(*moments, now), max(*moments, now)
    span = max(last - first, _LEAST)
    margin = span * _MARGIN
    return _Scale(first - margin, span + 2 * margin)


def _ticks(scale: _Scale) -> tuple[AxisTick, ...]:
    step = next((one for one in _STEPS if scale.span / one <= _TICKS), _STEPS[-1])
    while scale.span / step > _TICKS:
        step *= 2
    found = []
    when = _START + step * -((_START - scale.start) // step)
    while when <= scale.start + scale.span:
        x = scale.at(when)
        anchor = "start" if x < 8 else "end" if x > 92 else "middle"
        found.append(AxisTick(x, _label(when, step, scale.span), anchor))
        when += step
    return tuple(found)


def _label(when: datetime, step: timedelta, span: timedelta) -> str:
    day = f"{when.day} {when:%b}"
    if step < timedelta(minutes=1):
        return f"{when:%H:%M:%S}"
    if step < timedelta(days=1):
        return day if (when.hour, when.minute) == (0, 0) else f"{when:%H:%M}"
    if step >= timedelta(days=365):
        return f"{when:%Y}"
    return f"{when:%b %Y}" if span > timedelta(days=300) else day
