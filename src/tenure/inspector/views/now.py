"""Now: the facts that a person's agent goes by at present."""

from __future__ import annotations

from tenure.inspector.visit import Result, Route, Visit, WebPage


def _now(visit: Visit) -> Result:
    text = visit.asked.get("text", "").strip()
    facts = visit.session.facts()
    return WebPage("now.html", {"here": "now", "facts": facts[:100], "text": text})


ROUTES = (Route("", _now),)
