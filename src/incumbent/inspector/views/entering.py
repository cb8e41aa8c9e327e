"""Entering: showing a key, and choosing through whose eyes to look."""

from __future__ import annotations

from dataclasses import replace

from incumbent.inspector.looking import Looking
from incumbent.inspector.visit import HOME, Redirect, Result, Route, Visit, WebPage, address

_MOST = 50


def _enter(visit: Visit) -> Result:
    return WebPage("enter.html", {"to": visit.asked.get("to", HOME), "here": ""})


def _entered(visit: Visit) -> Result:
    # Where no key is asked for, none is kept: it was looked at by nobody.
    credential = None if visit.is_open else visit.form.get("key", "").strip()
    return Redirect(visit.back(), credential=credential, looking=visit.looking)


def _left(visit: Visit) -> Result:
    return Redirect(address("enter"), credential="")


def _who(visit: Visit) -> Result:
    """The people to look as: those that the credential may know of."""
    visit = _in_an_organization(visit)
    fill = {
        "here": "who",
        "to": visit.asked.get("to", HOME),
        "visit": visit,
        "organizations": visit.memory.store.organizations() if visit.is_open else [],
        "people": _people(visit),
        "rungs": visit.memory.settings.ladder.rungs,
    }
    return WebPage("who.html", fill)


def _in_an_organization(visit: Visit) -> Visit:
    """Where nothing was chosen yet, the visit is to the first organization that there is."""
    there = visit.memory.store.organizations() if visit.is_open else []
    if visit.looking.organization or not there or "default" in there:
        return visit
    return replace(visit, looking=replace(visit.looking, organization=there[0]))


def _people(visit: Visit) -> list[str]:
    if not visit.may("admin"):
        return [visit.grant.user_id] if visit.grant.user_id else []
    listed = visit.memory.list_users(visit.organization, limit=_MOST)
    return [one.user_id for one in listed]


def _chosen(visit: Visit) -> Result:
    looking = Looking.of(visit.form).bounded(visit.grant)
    if visit.form.get("step") == "organization" or not looking.user_id:
        return Redirect(address("who", to=visit.back()), looking=looking)
    visit.session_at(looking=looking)  # says what is wrong before it is kept
    return Redirect(visit.back(), looking=looking)


ROUTES = (
    Route("enter", _enter, needs_person=False),
    Route("enter", _entered, action=True, needs_person=False),
    Route("leave", _left, action=True, needs_person=False),
    Route("who", _who, needs_person=False),
    Route("who", _chosen, action=True, needs_person=False),
)
