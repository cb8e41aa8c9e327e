"""Putting it right: what a remedy would bring about, doing it, and undoing a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from incumbent.http.problems import refusal_of
from incumbent.inspector.consequences import consequences_of
from incumbent.inspector.remedies import CORRECTIONS, Remedy, RemedyKind
from incumbent.inspector.views.fact import session_of
from incumbent.inspector.visit import Redirect, Result, Route, Visit, WebPage, address
from incumbent.model.errors import InvalidInput, NotPermitted
from incumbent.model.fact import Fact
from incumbent.model.keys import KeyScope
from incumbent.model.verdict import Verdict
from incumbent.session import Session
from incumbent.words import standing, told

_MOST = 100

Kinds = Mapping[str, RemedyKind]


def foreseen(visit: Visit, kinds: Kinds, confirm: str, *, here: str, back: str) -> Result:
    """A page with what a remedy would bring about, and the button that does it."""
    remedy = Remedy.of(visit.form, kinds)
    kind = kinds[remedy.do]
    session, fact = session_of(visit, remedy.fact_id)
    fill = {
        "here": here,
        "title": kind.title,
        "fact": fact,
        "button": kind.button,
        "confirm": confirm,
        "fields": {**remedy.fields, **_kept(visit, "next", "careful")},
        "back": back,
    }
    rehearsal = session.rehearsal()
    return _previewed(fill, rehearsal, lambda: kind.carried_out(rehearsal, remedy))


def _kept(visit: Visit, *names: str) -> dict[str, str]:
    return {name: visit.form[name] for name in names if visit.form.get(name)}


def _previewed(fill: dict[str, object], rehearsal: Session, call: Callable[[], Verdict]) -> Result:
    try:
        verdict = call()
    except (InvalidInput, NotPermitted) as error:
        refusal = refusal_of(error)
        return WebPage("preview.html", {**fill, "refusal": refusal}, refusal.status)
    found = consequences_of(rehearsal.changes)
    more = {
        "refusal": None,
        "verdict": verdict,
        "consequences": found[:_MOST],
        "further": max(0, len(found) - _MOST),
    }
    return WebPage("preview.html", {**fill, **more})


def done(visit: Visit, kinds: Kinds, to: str) -> Redirect:
    """Carry a remedy out, and say what came of it."""
    remedy = Remedy.of(visit.form, kinds)
    kind = kinds[remedy.do]
    session, _ = session_of(visit, remedy.fact_id)
    verdict = kind.carried_out(session, remedy)
    there = to or address("fact", id=_leads_to(session, verdict, remedy.fact_id))
    return Redirect(there, said=kind.said(verdict), undo=verdict.id)


def _leads_to(session: Session, verdict: Verdict, fact_id: str) -> str:
    """The fact whose story goes on: the new one, where it may be seen."""
    return verdict.fact_id if session.get(verdict.fact_id) is not None else fact_id


def _preview(visit: Visit) -> Result:
    back = address("fact", id=visit.form.get("id", ""))
    return foreseen(visit, CORRECTIONS, "fact/do", here="fact", back=back)


def _do(visit: Visit) -> Result:
    return done(visit, CORRECTIONS, "")


def _undo(visit: Visit) -> Result:
    """What would follow if a verdict had not been made."""
    verdict_id = visit.needs("verdict")
    session = visit.session
    rehearsal = session.rehearsal()
    undoing = rehearsal.undo(verdict_id)
    fact, undone = _decided(session, undoing, verdict_id)
    fill: dict[str, object] = {
        "here": "undo",
        "title": "Undo a decision on",
        "fact": fact,
        "undone": undone,
        "button": "Undo it",
        "confirm": "undo",
        "fields": {"verdict": verdict_id},
        "back": address("fact", id=undoing.fact_id),
    }
    return _previewed(fill, rehearsal, lambda: undoing)


def _decided(session: Session, undoing: Verdict, verdict_id: str) -> tuple[Fact, Verdict | None]:
    """The fact that a verdict is on, and the verdict as this session may see it."""
    explained = session.explain(undoing.fact_id)
    undone = next((one for one in explained.verdicts if one.id == verdict_id), None)
    return session.get(undoing.fact_id) or explained.fact, undone


def _undone(visit: Visit) -> Result:
    verdict = visit.session.undo(visit.needs("verdict"))
    fact = verdict.fact
    said = f"Undone. Now: {told(fact)}, {standing(fact)}" if fact is not None else "Undone"
    to = address("fact", id=verdict.fact_id)
    return Redirect(visit.back(to), said=said, undo=verdict.id)


ROUTES = (
    Route("fact/preview", _preview, KeyScope.WRITE, action=True),
    Route("fact/do", _do, KeyScope.WRITE, action=True),
    Route("undo", _undo, KeyScope.REVIEW),
    Route("undo", _undone, KeyScope.REVIEW, action=True),
)
