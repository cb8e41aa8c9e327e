"""Filters: which facts a list is to show, as an address says it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta
from typing import Any

from incumbent.model.errors import InvalidInput
from incumbent.model.fact import Fact, MemoryType, Status
from incumbent.model.listings import Listing
from incumbent.model.scope import Scope
from incumbent.session import Session

STATES: Mapping[str, str] = {
    "": "in office",
    "review": "needs review",
    "contested": "contested",
    "waiting": "waiting",
    "superseded": "superseded",
    "overruled": "overruled",
    "retracted": "retracted",
    "expired": "expired",
    "withdrawn": "undone",
    "discarded": "discarded",
    "all": "every state",
}
"""What a visitor can ask for, and how it reads."""
AGES: Mapping[str, tuple[str, timedelta, bool]] = {
    "hour": ("the last hour", timedelta(hours=1), True),
    "day": ("the last day", timedelta(days=1), True),
    "week": ("the last week", timedelta(days=7), True),
    "month": ("the last 30 days", timedelta(days=30), True),
    "older": ("more than 30 days ago", timedelta(days=30), False),
    "old": ("more than a year ago", timedelta(days=365), False),
}
"""How it reads, how long, and whether it is newer than that."""
SCOPES = tuple(one.value for one in Scope if one.is_real)
TYPES = tuple(one.value for one in MemoryType)

_LOOKED_THROUGH = 50
_PAGES = 40


@dataclass(frozen=True)
class Filters:
    """The conditions of a list of facts, as the fields of a form have them; "" for none."""

    text: str = ""
    subject: str = ""
    state: str = ""
    scope: str = ""
    type: str = ""
    authority: str = ""
    age: str = ""

    @classmethod
    def of(cls, asked: Mapping[str, str]) -> Filters:
        """The filters that an address names."""
        found = cls(**{one.name: asked.get(one.name, "").strip() for one in fields(cls)})
        for name, said, known in (("state", found.state, STATES), ("age", found.age, AGES)):
            if said and said not in known:
                raise InvalidInput(
                    f"{name} {said!r:.40} is not one of {', '.join(filter(None, known))}"
                )
        return found

    def told(self) -> dict[str, str]:
        """As parameters of an address."""
        return {name: value for name, value in asdict(self).items() if value}

    def __bool__(self) -> bool:
        return bool(self.told())

    def query(self, now: datetime) -> dict[str, Any]:
        """As `Session.list_facts` takes them."""
        return {
            "text": self.text,
            "subject": self.subject or None,
            "states": self._states(),
            "scope": self.scope or None,
            "memory_type": self.type or None,
            "authority": self.authority or None,
            "needs_review": True if self.state == "review" else None,
            **self._span(now),
        }

    def _states(self) -> list[str]:
        if self.state == "all":
            return []
        return [Status.OFFICE if self.state in ("", "review") else self.state]

    def _span(self, now: datetime) -> dict[str, datetime]:
        if not self.age:
            return {}
        _, long, newer = AGES[self.age]
        return {"since" if newer else "until": now - long}


def page_of(
    session: Session, query: Mapping[str, Any], *, limit: int, cursor: str | None, constraints: bool
) -> Listing[Fact]:
    """A page of facts; with `constraints`, of those alone.

    No index has them. So that page looks through so many facts at most, may be a little longer
    than asked for, and goes on from where it stopped.
    """
    if not constraints:
        return session.list_facts(**query, limit=limit, cursor=cursor)
    found: list[Fact] = []
    for _ in range(_PAGES):
        page = session.list_facts(**query, limit=_LOOKED_THROUGH, cursor=cursor)
        found += (fact for fact in page if fact.is_constraint)
        cursor = page.next
        if cursor is None or len(found) >= limit:
            break
    return Listing(tuple(found), cursor)


def fronts_of(session: Session, facts: Iterable[Fact], *, narrow: bool) -> dict[str, Fact]:
    """The facts that this session goes by instead of some of these, by the ids of those.

    A fact of the organization can stand behind one's own, and in a task or session (`narrow`) a
    wider fact behind a narrower one.
    """
    found = {}
    for fact in facts:
        if fact.is_valid and not fact.multi_valued and (narrow or not fact.owner):
            gone_by = session.facts(fact.key, subject=fact.subject or "")
            if gone_by and all(one.id != fact.id for one in gone_by):
                found[fact.id] = gone_by[0]
    return found
