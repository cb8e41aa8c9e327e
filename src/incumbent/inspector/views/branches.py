"""Branches: hypotheticals and drafts beside reality; to commit, to discard, to begin."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from incumbent.http.problems import Refusal
from incumbent.inspector.branching import BranchRow, beside
from incumbent.inspector.talking import decision
from incumbent.inspector.visit import Redirect, Result, Route, Visit, WebPage, address
from incumbent.model.errors import InvalidInput
from incumbent.model.fact import Fact
from incumbent.model.keys import KeyScope
from incumbent.model.records import Change
from incumbent.model.verdict import Verdict
from incumbent.session import Session
from incumbent.words import shown

_PAGE = 20
_FEW = 5
_MANY = 200
_KINDS = {"hypothetical": "what-if", "draft": "draft"}


def _branches(visit: Visit) -> Result:
    listed = visit.session.list_branches(limit=_PAGE, cursor=visit.asked.get("cursor") or None)
    found = [
        (one, named, _rows(visit, named, _FEW))
        for one in listed
        for named in (f"{one.kind.value}:{one.name}",)
    ]
    fill = {"here": "branches", "branches": found, "next": listed.next, "kinds": _KINDS}
    return WebPage("branches.html", fill)


def _branch(visit: Visit) -> Result:
    named = _named(visit.needs("branch"))
    doing = visit.asked.get("do", "")
    kind, _, name = named.partition(":")
    fill: dict[str, Any] = {
        "here": "branches",
        "branch": named,
        "kind": _KINDS[kind],
        "name": name,
        "rows": _rows(visit, named, _MANY),
        "most": _MANY,
        "doing": "",
    }
    if doing in ("commit", "discard") and fill["rows"]:
        _check_may_write(visit)
        fill |= {"doing": doing, **_foreseen(visit, named, doing)}
    return WebPage("branch.html", fill)


def _foreseen(visit: Visit, named: str, doing: str) -> dict[str, Any]:
    """What would come of it, rehearsed."""
    rehearsal = visit.session_at(branch=named).rehearsal()
    verdicts = rehearsal.commit() if doing == "commit" else rehearsal.discard()
    would_be = {one.after.id: one.after for one in rehearsal.changes if one.after is not None}

    def find(fact_id: str) -> Fact | None:
        return would_be.get(fact_id) or visit.session.get(fact_id)

    decided = {one.fact_id for one in verdicts}
    real = (_in_reality(visit, one) for one in rehearsal.changes)
    return {
        "decisions": [decision(one, find) for one in verdicts],
        "others": [one for one in real if one is not None and _id(one) not in decided],
    }


def _id(change: Change) -> str:
    fact = change.before or change.after
    return fact.id if fact is not None else ""


def _in_reality(visit: Visit, change: Change) -> Change | None:
    """A change of a fact that is real already, from where it stands in reality."""
    if change.before is None or not change.before.scope.is_real:
        return None
    return replace(change, before=visit.session.get(change.before.id) or change.before)


def _rows(visit: Visit, named: str, limit: int) -> list[BranchRow]:
    """The facts of a branch beside reality, those that change something first."""
    scope = named.partition(":")[0]
    facts = visit.session_at(branch=named).list_facts(scope=scope, limit=limit)
    rows = [beside(fact, _real(visit.session, fact)) for fact in facts]
    return sorted(rows, key=lambda row: row.kind == "same")


def _real(session: Session, fact: Fact) -> Iterable[Fact]:
    return session.facts(fact.key, subject=fact.subject)


def _named(text: str) -> str:
    """A branch as an address names it, checked."""
    kind, _, name = text.partition(":")
    if kind not in _KINDS or not name.strip():
        raise InvalidInput(f"{text!r:.80} names no branch; write draft:NAME or hypothetical:NAME")
    return text


def _check_may_write(visit: Visit) -> None:
    if not visit.may("write"):
        raise Refusal(403, "NotPermitted", "the credential is not good for writing")


def _committed(visit: Visit) -> Result:
    named = _named(visit.needs("branch"))
    verdicts = visit.session_at(branch=named).commit()
    return _done(named, "committed", verdicts)


def _discarded(visit: Visit) -> Result:
    named = _named(visit.needs("branch"))
    verdicts = visit.session_at(branch=named).discard()
    return _done(named, "discarded", verdicts)


def _done(named: str, what: str, verdicts: list[Verdict]) -> Redirect:
    kind, _, name = named.partition(":")
    said = f"The {_KINDS[kind]} {shown(name)} was {what}."
    if len(verdicts) == 1:
        return Redirect(address("branches"), said=said, undo=verdicts[0].id)
    more = f" {len(verdicts)} decisions, each to be undone on the page of its fact."
    return Redirect(address("branches"), said=f"{said}{more if verdicts else ''}")


def _written(visit: Visit) -> Result:
    """Put a value into a branch; one that has none yet begins with it."""
    named = _named(f"{visit.needs('kind')}:{visit.needs('name').strip()}")
    key = visit.needs("key").strip()
    verdict = visit.session_at(branch=named).write(
        key,
        _value(visit.form.get("value", ""), as_json=bool(visit.form.get("json"))),
        subject=visit.form.get("subject", "").strip() or None,
    )
    to = address("branch", branch=named)
    said = f"{shown(key)} was put into the branch. Nothing real changed."
    return Redirect(to, said=said, undo=verdict.id)


def _value(text: str, *, as_json: bool) -> Any:
    if not as_json:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput("the value is no JSON; correct it, or leave the box unticked") from None


ROUTES = (
    Route("branches", _branches),
    Route("branch", _branch),
    Route("branch/commit", _committed, scope=KeyScope.WRITE, action=True),
    Route("branch/discard", _discarded, scope=KeyScope.WRITE, action=True),
    Route("branch/write", _written, scope=KeyScope.WRITE, action=True),
)
