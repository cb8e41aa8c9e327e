"""Now: the facts that a person's agent goes by at present, and the other layers around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from incumbent.inspector.filters import (
    AGES,
    SCOPES,
    STATES,
    TYPES,
    Filters,
    fronts_of,
    page_of,
)
from incumbent.inspector.rendering import choices
from incumbent.inspector.visit import Result, Route, Unchanged, Visit, WebPage, address
from incumbent.inspector.watching import digest_of, head_of, row_of
from incumbent.model.errors import InvalidInput
from incumbent.model.fact import Fact
from incumbent.model.listings import Listing

_PAGE = 50
_FOLLOWED = 500
"""So many facts are kept up to date in an open page."""
_SESSIONS = 20
LAYERS: Mapping[str, str] = {
    "": "Facts",
    "constraints": "Constraints",
    "identity": "Identity",
    "working": "Working set",
    "environment": "Environment",
}


def _now(visit: Visit) -> Result:
    layer = visit.asked.get("layer", "")
    if layer not in LAYERS:
        raise InvalidInput(f"layer {layer!r:.40} is not one of {', '.join(filter(None, LAYERS))}")
    if layer in ("", "constraints"):
        return _facts(visit, layer)
    fill = {"here": "now", "layer": layer, "layers": LAYERS}
    more = {"identity": _identity, "working": _working, "environment": _environment}[layer](visit)
    return WebPage("now_layer.html", {**fill, **more})


@dataclass(frozen=True)
class _Asked:
    """What an address asks of the list of facts."""

    visit: Visit
    layer: str
    filters: Filters

    @property
    def given(self) -> dict[str, str]:
        """The parameters that lead here again."""
        return {"layer": self.layer, **self.filters.told()}

    @property
    def cursor(self) -> str | None:
        return self.visit.asked.get("cursor") or None

    @cached_property
    def head(self) -> str:
        return head_of(self.visit.memory, self.visit.organization, self.visit.now)

    def page(self, limit: int, cursor: str | None = None) -> tuple[Listing[Fact], dict[str, Fact]]:
        """Facts, and what stands in front of some of them."""
        visit = self.visit
        found = page_of(
            visit.session,
            self.filters.query(visit.now),
            limit=limit,
            cursor=cursor,
            constraints=self.layer == "constraints",
        )
        narrow = bool(visit.looking.task_id or visit.looking.session_id)
        return found, fronts_of(visit.session, found, narrow=narrow)


def _facts(visit: Visit, layer: str) -> Result:
    asked = _Asked(visit, layer, Filters.of(visit.asked))
    part = visit.asked.get("part", "") if visit.is_part else ""
    if part == "watch":
        return _again(asked)
    if part == "more":
        return _more(asked)
    found, fronts = asked.page(_PAGE, asked.cursor)
    fill = _filled(asked, found, fronts, shown=len(found), seen=_digest(found, fronts))
    if visit.is_part:
        return WebPage("now_found.html", fill)
    return WebPage("now.html", {**fill, **_form(asked)})


def _again(asked: _Asked) -> Result:
    """The list anew, for a page that is open; nothing if it shows the same already."""
    if asked.visit.asked.get("head") == asked.head:
        return Unchanged()
    shown = asked.visit.whole("shown", _PAGE, least=_PAGE, most=_FOLLOWED)
    # A list that was there to its end stays so; of another, the last goes on to the next page.
    room = _PAGE if asked.visit.asked.get("whole") else 0
    found, fronts = asked.page(shown + room)
    seen = _digest(found, fronts)
    if seen == asked.visit.asked.get("seen"):
        return Unchanged()
    fill = _filled(asked, found, fronts, shown=len(found), seen=seen)
    return WebPage("now_found.html", {**fill, "changed": asked.visit.now})


def _more(asked: _Asked) -> Result:
    """What follows on the facts that an open page shows."""
    before, seen = asked.visit.whole("shown", 0, least=0), asked.visit.asked.get("seen", "")
    found, fronts = asked.page(_PAGE, asked.cursor)
    fill = _filled(
        asked, found, fronts, shown=before + len(found), seen=_digest(found, fronts, seen)
    )
    return WebPage("now_more.html", fill)


def _digest(found: Listing[Fact], fronts: Mapping[str, Fact], before: str = "") -> str:
    rows = (row_of(fact, fronts[fact.id].id if fact.id in fronts else "") for fact in found)
    return digest_of(rows, before)


def _filled(
    asked: _Asked, found: Listing[Fact], fronts: Mapping[str, Fact], *, shown: int, seen: str
) -> dict[str, Any]:
    given = asked.given
    state = {"shown": str(shown), "seen": seen}
    # A page that begins further down, or is very long, does not follow what happens.
    follows = asked.visit.asked.get("part") == "more" or asked.cursor is None
    whole = "" if found.next else "1"
    watch = address(**given, **state, whole=whole, part="watch", head=asked.head)
    return {
        "here": "now",
        "layer": asked.layer,
        "layers": LAYERS,
        "filters": asked.filters,
        "facts": list(found),
        "fronts": fronts,
        "shown": shown,
        "changed": None,
        "is_later": asked.cursor is not None,
        "newest": address(**given),
        "canonical": address(**given, cursor=asked.cursor),
        "clear": address(layer=asked.layer),
        "watch": watch if follows and shown <= _FOLLOWED else "",
        "further": address(**given, cursor=found.next) if found.next else "",
        "more": address(**given, **state, part="more", cursor=found.next) if found.next else "",
    }


def _form(asked: _Asked) -> dict[str, Any]:
    """The choices of the filters."""
    filters, rungs = asked.filters, asked.visit.memory.settings.ladder.rungs
    ages = [("", "any time"), *((name, age[0]) for name, age in AGES.items())]
    narrowed = filters.scope or filters.type or filters.authority or filters.age
    return {
        "states": choices(STATES.items(), filters.state),
        "scopes": choices([("", "any"), *((one, one) for one in SCOPES)], filters.scope),
        "types": choices([("", "any"), *((one, one) for one in TYPES)], filters.type),
        "authorities": choices([("", "any"), *((one, one) for one in rungs)], filters.authority),
        "ages": choices(ages, filters.age),
        "narrowed": bool(narrowed),
        "subjects": address("subjects", chosen=filters.subject),
    }


def _identity(visit: Visit) -> dict[str, Any]:
    return {"who": visit.session.identity, "session": visit.session}


def _working(visit: Visit) -> dict[str, Any]:
    """The desk of a session: the one that is looked as, or another of the same person."""
    named = visit.asked.get("session", "") or visit.looking.session_id
    listed = visit.session.list_sessions(limit=_SESSIONS)
    named = named or (listed[0].session_id if listed else "")
    looking = replace(visit.looking, session_id=named)
    items = visit.session_at(looking=looking).working_set() if named else []
    return {"session_id": named, "sessions": listed, "items": items}


def _environment(visit: Visit) -> dict[str, Any]:
    return {"signals": visit.session.environment}


ROUTES = (Route("", _now),)
