"""Charts: counts as shares, and days as columns."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise

from incumbent.inspector.charts import HEIGHT, bars_of, columns_of, stacked
from incumbent.model.listings import VerdictCount
from incumbent.model.verdict import Action, Outcome, Rule

DAY = date(2026, 3, 1)


def counted(day: date, outcome: Outcome, count: int) -> VerdictCount:
    return VerdictCount(day, Action.ASSERT, outcome, Rule.FIRST, count)


def test_bars_are_shares_of_the_longest() -> None:
    """Counts of one name are added, the most come first, and nothing is drawn for nothing."""
    bars = bars_of([("b", 1), ("a", 3), ("b", 5), ("c", 0)])
    assert [(bar.label, bar.count, bar.share) for bar in bars] == [("b", 6, 100.0), ("a", 3, 50.0)]
    assert bars_of([]) == []


def test_columns_have_every_day_to_the_last() -> None:
    """Days without a verdict are columns too, and a verdict counts as one of three kinds."""
    kinds = (Outcome.ESTABLISHED, Outcome.SUPERSEDED, Outcome.OVERRULED)
    found = columns_of((counted(DAY, kind, 2) for kind in kinds), until=DAY + timedelta(days=3))
    assert [column.total for column in found] == [6, 0, 0, 0]
    assert (found[0].new, found[0].replaced, found[0].other) == (2, 2, 2)
    assert found[-1].last == DAY + timedelta(days=3)


def test_many_days_share_columns() -> None:
    """Whatever the time, there are no more columns than a page can show, and none is lost."""
    days = [DAY + timedelta(days=number) for number in range(1000)]
    found = columns_of((counted(day, Outcome.CONFIRMED, 1) for day in days), until=days[-1])
    assert len(found) <= 90
    assert sum(column.other for column in found) == 1000
    assert (found[0].first, found[-1].last) == (days[0], days[-1])
    assert all(a.last + timedelta(days=1) == b.first for a, b in pairwise(found))


def test_the_highest_column_fills_the_height() -> None:
    """Its pieces stand on each other, from the ground up."""
    columns = columns_of(
        [counted(DAY, Outcome.ESTABLISHED, 3), counted(DAY, Outcome.SUPERSEDED, 1)], until=DAY
    )
    (drawn,) = stacked(columns)
    assert drawn.pieces == (("new", 25.0, 75.0), ("replaced", 0.0, 25.0))
    assert sum(height for _, _, height in drawn.pieces) == HEIGHT
