"""Live: the verdicts of an organization as they happen, and charts of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from incumbent.audit.entries import AuditEntry
from incumbent.inspector.charts import HEIGHT, bars_of, columns_of, stacked
from incumbent.inspector.rendering import choices
from incumbent.inspector.visit import Result, Route, Unchanged, Visit, WebPage, address
from incumbent.model.errors import InvalidInput
from incumbent.model.fact import Fact
from incumbent.model.keys import KeyScope

_SHOWN = 50
_MOST = 200
"""So many are added at a time; of more, the last."""
_LONGEST_LOG = 999_999_999
_DAYS = {"7": "7 days", "30": "30 days", "90": "90 days", "365": "a year", "all": "all time"}


@dataclass(frozen=True)
class SeenVerdict:
    """An entry of the log, with as much of its facts as the person looked as may see."""

    entry: AuditEntry
    fact: Fact | None
    before: Fact | None
    """The fact that it superseded."""


def _live(visit: Visit) -> Result:
    if visit.is_part and visit.asked.get("part") == "rows":
        return _news(visit)
    if visit.is_part and visit.asked.get("part") == "charts":
        return _charts_again(visit)
    entries = visit.memory.list_audit(
        visit.organization, limit=_SHOWN, cursor=visit.asked.get("cursor") or None
    )
    days = _days(visit)
    newest = entries[0].seq if entries else 0
    fill = {
        "here": "live",
        "verdicts": _seen(visit, entries),
        "watch": "" if visit.asked.get("cursor") else _watch(newest),
        "further": address("live", days=days, cursor=entries.next) if entries.next else "",
        "newest": address("live", days=days) if visit.asked.get("cursor") else "",
        "periods": choices(_DAYS.items(), days),
        **_charts(visit, newest),
    }
    return WebPage("live.html", fill)


def _watch(after: int) -> str:
    return address("live", part="rows", after=str(after))


def _after(visit: Visit) -> int:
    """The last entry that an open page shows."""
    return visit.whole("after", 0, least=0, most=_LONGEST_LOG)


def _news(visit: Visit) -> Result:
    """The verdicts after those that an open page shows."""
    after = _after(visit)
    entries = [
        entry
        for entry in visit.memory.list_audit(visit.organization, limit=_MOST)
        if entry.seq > after
    ]
    if not entries:
        return Unchanged()
    fill = {
        "verdicts": _seen(visit, entries),
        "missed": entries[-1].seq - after - 1,
        "count": entries[0].seq - after,
        "watch": _watch(entries[0].seq),
    }
    return WebPage("live_rows.html", fill)


def _charts_again(visit: Visit) -> Result:
    last = visit.memory.list_audit(visit.organization, limit=1)
    newest = last[0].seq if last else 0
    if newest == _after(visit):
        return Unchanged()
    return WebPage("live_charts.html", _charts(visit, newest))


def _seen(visit: Visit, entries: Iterable[AuditEntry]) -> list[SeenVerdict]:
    """The log names facts by their ids alone. What they say comes through the session of the
    person looked as, so that no page shows more than that person may see."""
    return [
        SeenVerdict(
            entry,
            visit.session.get(entry.fact_id),
            visit.session.get(entry.superseded[0]) if entry.superseded else None,
        )
        for entry in entries
    ]


def _days(visit: Visit) -> str:
    days = visit.asked.get("days", "") or "30"
    if days not in _DAYS:
        raise InvalidInput(f"days must be one of {', '.join(_DAYS)}, not {days!r:.40}")
    return days


def _charts(visit: Visit, newest: int) -> dict[str, Any]:
    days = _days(visit)
    since = None if days == "all" else visit.now - timedelta(days=int(days))
    activity = visit.memory.activity(visit.organization, since=since)
    columns = columns_of(activity.verdicts, visit.now.date())
    return {
        "activity": activity,
        "total": sum(one.count for one in activity.verdicts),
        "by_outcome": bars_of((one.outcome.value, one.count) for one in activity.verdicts),
        "by_rule": bars_of((one.rule.value, one.count) for one in activity.verdicts),
        "debt": bars_of(
            (
                ("a base changed", activity.base_changed),
                ("contested", activity.contested),
                ("in doubt", activity.doubted),
            )
        ),
        "columns": columns,
        "drawn": stacked(columns),
        "high": HEIGHT,
        "charts_watch": address("live", part="charts", days=days, after=str(newest)),
    }


ROUTES = (Route("live", _live, scope=KeyScope.ADMIN),)
