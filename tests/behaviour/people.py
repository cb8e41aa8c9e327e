"""Who speaks in the behaviour tests, and short words for what they look at."""

from __future__ import annotations

from typing import Any

from incumbent import Fact, Memory, Session, Verdict

FOR_ALL = ("organization:write", "organization:bind")
"""What lets people below a manager speak for the organization, and bind its members."""


def someone(memory: Memory, user_id: str, authority: str = "employee", **more: Any) -> Session:
    """A session in the organization that all these tests live in."""
    return memory.session(user_id=user_id, authority=authority, organization="acme", **more)


def fact(session: Session, fact_or_verdict: str | Verdict) -> Fact:
    """A fact as it stands now."""
    wanted = fact_or_verdict if isinstance(fact_or_verdict, str) else fact_or_verdict.fact_id
    found = session.get(wanted)
    assert found is not None, f"{wanted} is not to be seen"
    return found


def in_review(session: Session) -> set[str]:
    """The keys that wait for a decision."""
    return {review.fact.key for review in session.reviews()}


def current(session: Session) -> dict[str, Any]:
    """What the session goes by."""
    return {found.key: found.value for found in session.facts()}
