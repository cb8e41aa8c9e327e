"""The story of a fact: what it says, how it came to stand so, and what hangs on it."""

from __future__ import annotations

from dataclasses import replace

from incumbent.inspector.axis import axis_of
from incumbent.inspector.graph import graph_around
from incumbent.inspector.looking import Looking
from incumbent.inspector.remedies import no_such_fact
from incumbent.inspector.story import chain_of, changed_bases, entries_of, finder
from incumbent.inspector.visit import Result, Route, Visit, WebPage
from incumbent.model.fact import Fact, Status
from incumbent.model.records import Chain
from incumbent.model.scope import Scope
from incumbent.session import Session

_VERDICTS = 40
_ROWS = 12
_LINES = 12
_ALL = 2_000


def session_of(visit: Visit, fact_id: str) -> tuple[Session, Fact]:
    """A fact that may be seen, and a session in the place where it holds.

    A fact of a task, of another session or of a branch is settled there.
    """
    fact = visit.session.get(fact_id) if fact_id else None
    if fact is None:
        raise no_such_fact(fact_id)
    looking: Looking | None = None
    if fact.scope is Scope.TASK:
        looking = replace(visit.looking, task_id=fact.scope_id or "")
    elif fact.scope is Scope.SESSION:
        looking = replace(visit.looking, session_id=fact.scope_id or "")
    branch = "" if fact.scope.is_real else f"{fact.scope.value}:{fact.scope_id}"
    if looking is None and not branch:
        return visit.session, fact
    session = visit.session_at(looking=looking, branch=branch)
    return session, session.get(fact_id) or fact


def _story(visit: Visit) -> Result:
    session, fact = session_of(visit, visit.asked.get("id", ""))
    explained = session.explain(fact.id)
    if explained.fact.id == fact.id:  # an id that reads like a key leads elsewhere
        fact = explained.fact
    every = bool(visit.asked.get("all"))
    facts = chain_of(explained, most=_ALL if every else _ROWS)
    find = finder(session.get)
    most, lines = (_ALL, _ALL) if every else (_VERDICTS, _LINES)
    entries = entries_of(explained, find, most=most, lines=lines)
    fill = {
        "here": "fact",
        "fact": fact,
        "chain": explained.chain,
        "live": explained.chain.live,
        "axis": axis_of(facts, explained.verdicts, visit.now),
        "entries": entries,
        "earlier": len(explained.verdicts) - len(entries),
        "changed": changed_bases(explained.causes, find),
        "doubted_by": explained.doubted_by,
        "doubts": [found for one in fact.doubts if (found := find(one)) is not None],
        "waits_for": find(fact.awaits) if fact.awaits else None,
        "graph": graph_around(fact, find),
        "values": (values := _values(explained.chain)),
        "can": _possible(visit, fact, values),
    }
    return WebPage("fact.html", fill)


def _possible(visit: Visit, fact: Fact, values: list[Fact]) -> set[str]:
    """What may be done about a fact that stands so, with this credential."""
    found: set[str] = set()
    if visit.may("write"):
        if fact.is_valid:
            found.add("correct")
        if fact.status in (Status.OFFICE, Status.CONTESTED, Status.WAITING):
            found.add("retract")
        if fact.is_valid and fact.scope in (Scope.TASK, Scope.SESSION):
            found.add("promote")
        if values:
            found.add("revert")
    if visit.may("erase"):
        found.add("forget")
    return found


def _values(chain: Chain) -> list[Fact]:
    """The facts of the chain that one can go back to, the last first."""
    live = chain.live
    return [one for one in reversed(chain.facts) if live is None or one.id != live.id][:_ROWS]


ROUTES = (Route("fact", _story),)
