"""Conversations: what was said, what it was read as, and a turn that is only tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from incumbent.inspector.marking import marked
from incumbent.inspector.talking import Find, decision, passed_over, tried_marks, turn_shown
from incumbent.inspector.visit import Result, Route, Visit, WebPage
from incumbent.model.errors import InvalidInput
from incumbent.model.fact import Address, Fact
from incumbent.model.keys import KeyScope
from incumbent.model.listings import ListedTurn
from incumbent.model.verdict import Verdict
from incumbent.session import Session

_SESSIONS = 50
_TURNS = 40
_LONGEST = 20_000


def _conversations(visit: Visit) -> Result:
    listed = visit.session.list_sessions(limit=_SESSIONS, cursor=visit.asked.get("cursor") or None)
    fill = {"here": "conversations", "sessions": listed, "session_id": visit.looking.session_id}
    return WebPage("conversations.html", fill)


def _conversation(visit: Visit) -> Result:
    session_id = visit.needs("session")
    session = visit.session
    cursor = visit.asked.get("cursor") or None
    turns = session.list_turns(session_id, limit=_TURNS, cursor=cursor)
    find = cache(session.get)
    facts = _facts(turns.items, find)
    verdicts = _verdicts(session, turns.items, facts)
    fill = {
        "here": "conversations",
        "session_id": session_id,
        "turns": [turn_shown(one, facts, verdicts, find) for one in turns],
        "next": turns.next,
        "names": facts,
    }
    return WebPage("conversation.html", fill)


def _facts(turns: Sequence[ListedTurn], find: Find) -> dict[str, Fact]:
    """The facts that turns brought or speak of, as far as they may be seen."""
    named = {one for turn in turns for one in turn.fact_ids}
    named |= {spot.fact_id for turn in turns for spot in turn.spots if spot.fact_id}
    return {one: fact for one in sorted(named) if (fact := find(one)) is not None}


def _verdicts(
    session: Session, turns: Sequence[ListedTurn], facts: Mapping[str, Fact]
) -> dict[str, Verdict]:
    """The verdicts of turns, by id. A fact is explained with all that was at its address, so that
    most need not be asked for."""
    wanted = {one for turn in turns for one in turn.verdict_ids}
    found: dict[str, Verdict] = {}
    asked: set[Address] = set()
    for fact in facts.values():
        if fact.address in asked or not wanted - found.keys():
            continue
        asked.add(fact.address)
        known = session.explain(fact.id).verdicts
        found |= {one.id: one for one in known if one.id in wanted}
    return found


def _tried(visit: Visit) -> Result:
    """What would be made of a turn. Nothing is changed."""
    text = visit.form.get("text", "").replace("\r\n", "\n").strip()
    if not text:
        raise InvalidInput("there is nothing to read; go back and write what somebody might say")
    if len(text) > _LONGEST:
        raise InvalidInput(f"that is longer than {_LONGEST:,} characters; try a part of it")
    session_id = visit.form.get("session", "").strip()
    speaker = visit.form.get("speaker", "").strip() or "user"
    session = visit.session_at(looking=replace(visit.looking, session_id=session_id))
    rehearsal = session.rehearsal()
    made = rehearsal.observe(text, speaker=speaker)
    would_be = {one.after.id: one.after for one in rehearsal.changes if one.after is not None}
    would_be |= {fact.id: fact for fact in made.facts}

    def find(fact_id: str) -> Fact | None:
        return would_be.get(fact_id) or session.get(fact_id)

    fill = {
        "here": "conversations",
        "text": text,
        "speaker": speaker,
        "session_id": session_id,
        "made": made,
        "stretches": marked(text, tried_marks(made, text)),
        "names": would_be,
        "decisions": [decision(one, find) for one in made.verdicts],
        "passed": passed_over(made),
        "changes": rehearsal.changes,
    }
    return WebPage("tried.html", fill)


ROUTES = (
    Route("conversations", _conversations),
    Route("conversation", _conversation),
    Route("conversations/try", _tried, scope=KeyScope.WRITE, action=True),
)
