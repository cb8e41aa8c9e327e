"""Timeline: the state as it was at any moment, and as it was known at any moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from incumbent.inspector.moments import STEPS, DecisionAxis, Recorded, after, axis_of, before
from incumbent.inspector.past import Past, PastPage
from incumbent.inspector.visit import Result, Route, Visit, WebPage, address, moment_of
from incumbent.model.errors import InvalidInput
from incumbent.model.times import moment
from incumbent.session import Session

_MOST_TEXT = 1_000
_FIRST_YEAR, _LAST_YEAR = 1900, 9000


@dataclass(frozen=True)
class Slider:
    """One of the two times: what is set, and where its steps lead."""

    name: str
    title: str
    when: datetime | None
    """None for the present."""
    position: int
    field: str
    """The moment as a field of a form has it."""
    earlier: str
    later: str
    present: str
    """The addresses of the decision before and after, and of the present; "" for none."""


def _timeline(visit: Visit) -> Result:
    recorded = _recorded(visit.session)
    axis = axis_of(recorded)
    if axis is None:
        return WebPage("timeline.html", {"here": "timeline", "axis": None})
    at, known = _chosen(visit, "at", axis), _chosen(visit, "known", axis)
    text = visit.asked.get("text", "").strip()[:_MOST_TEXT]
    given = {"at": at.isoformat() if at else "", "known": known.isoformat() if known else ""}
    given["text"] = text
    sliders = [
        _slider(visit, axis, given, "at", "True at", at),
        _slider(visit, axis, given, "known", "As known at", known),
    ]
    fill = {
        "here": "timeline",
        "axis": axis,
        "sliders": sliders,
        "at": at,
        "known": known,
        "text": text,
        "canonical": address("timeline", **given),
        "as_believed": address("timeline", at=given["at"], known=given["at"], text=text),
        "marks": [axis.position(when) for when in axis.marks],
        "steps": STEPS,
        **_state(visit, at, known, given),
    }
    return WebPage("timeline_part.html" if visit.is_part else "timeline.html", fill)


def _recorded(session: Session) -> Recorded:
    def moments(
        since: datetime | None, until: datetime | None, limit: int
    ) -> tuple[list[datetime], bool]:
        found = session.list_facts(states=(), since=since, until=until, limit=limit)
        return [fact.recorded_at for fact in found], found.next is None

    return moments


def _chosen(visit: Visit, name: str, axis: DecisionAxis) -> datetime | None:
    """The moment that is looked at; None for the present."""
    found = _set(visit, name, axis)
    if found is None:
        return None
    when = moment(found, name)
    if not _FIRST_YEAR <= when.year <= _LAST_YEAR:
        raise InvalidInput(
            f"{name} lies in the year {when.year}; choose one from {_FIRST_YEAR} to {_LAST_YEAR}"
        )
    return when


def _set(visit: Visit, name: str, axis: DecisionAxis) -> datetime | None:
    """What was set: the slider or the field that moved, else the moment before.

    A browser sends all of them. Beside each is what it showed, so that one can tell which moved.
    """
    slid, was = visit.asked.get(f"{name}_slid", ""), visit.asked.get(f"{name}_slid_was", "")
    if slid and slid != was:
        if not (slid.isascii() and slid.isdigit() and len(slid) <= 4):
            raise InvalidInput(f"{name}_slid must be from 0 to {STEPS}, not {slid!r:.40}")
        return None if int(slid) >= STEPS else axis.moment(int(slid))
    field, was = visit.asked.get(f"{name}_field"), visit.asked.get(f"{name}_field_was", "")
    if field is not None and field != was:
        return _whole_second(moment_of(field, name))
    return visit.moment(name)


def _whole_second(when: datetime | None) -> datetime | None:
    """The end of a second that somebody typed: what was decided in it is meant too."""
    if when is None or when.microsecond:
        return when
    return when + timedelta(microseconds=999_999)


def _slider(
    visit: Visit,
    axis: DecisionAxis,
    given: dict[str, str],
    name: str,
    title: str,
    when: datetime | None,
) -> Slider:
    recorded = _recorded(visit.session)

    def leading(to: datetime | None) -> str:
        return address("timeline", **{**given, name: to.isoformat()}) if to else ""

    there = when or visit.now
    return Slider(
        name=name,
        title=title,
        when=when,
        position=STEPS if when is None else axis.position(when),
        field=f"{there.astimezone(UTC):%Y-%m-%dT%H:%M:%S}",
        earlier=leading(before(recorded, there)),
        later=leading(after(recorded, there, axis.last)) if when else "",
        present=address("timeline", **{**given, name: ""}) if when else "",
    )


def _state(
    visit: Visit, at: datetime | None, known: datetime | None, given: dict[str, str]
) -> dict[str, Any]:
    """What was in office, what was learned later, and what came since; each by its own pages."""
    is_past = at is not None or known is not None
    past = Past(
        visit.session,
        visit.session_at(at=at or visit.now, known_at=known) if is_past else visit.session,
        at or visit.now,
        known or visit.now,
        known is None,
        {"text": given["text"]},
    )
    held = past.known_then(_cursor(visit, "held"))
    later = past.known_later(_cursor(visit, "later")) if is_past else PastPage(())
    added = past.added_since(_cursor(visit, "added")) if is_past else PastPage(())

    def further(name: str, page: PastPage) -> str:
        return address("timeline", **given, **{f"{name}_cursor": page.next}) if page.next else ""

    return {
        "is_past": is_past,
        "held": held,
        "learned": later,
        "added": (*held.added, *added.added) if is_past else (),
        "held_more": further("held", held),
        "learned_more": further("later", later),
        "added_more": further("added", added),
        "is_later_page": any(_cursor(visit, name) for name in ("held", "later", "added")),
        "first_page": address("timeline", **given),
    }


def _cursor(visit: Visit, name: str) -> str | None:
    return visit.asked.get(f"{name}_cursor") or None


ROUTES = (Route("timeline", _timeline),)
