"""The past: the facts that were in office at another moment, beside how they stand now.

To read a whole state of the past takes as long as there are facts. This goes along the facts by the
time at which they were recorded, and asks for each how it stood then, as far as a page goes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from incumbent.model.fact import Fact, Status
from incumbent.session import Session

_PAGE = 50
_READ = 100
_PAGES = 10
_LINKS = 50
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True)
class PastFact:
    """A fact that was in office then, and what became of it."""

    fact: Fact
    """As it stood then."""
    now: Fact
    end: Fact | None
    """The fact in office now that came after it, if there is one to be seen."""

    @property
    def change(self) -> str:
        """What is different now: "changed", "gone", "review", or ""."""
        if self.now.is_valid:
            return "review" if self.now.needs_review and not self.fact.needs_review else ""
        return "gone" if self.end is None else "changed"


@dataclass(frozen=True)
class PastPage:
    """Some facts of then, the last recorded first."""

    held: tuple[PastFact, ...]
    added: tuple[Fact, ...] = ()
    """Facts on the way that are in office now and were not then."""
    next: str | None = None
    """Where to go on; there may be nothing more."""


@dataclass(frozen=True)
class Past:
    """One moment of both times, as one session sees it."""

    session: Session
    """In the present."""
    then: Session
    """At that moment; the same session for the present itself."""
    at: datetime
    known: datetime
    is_known_now: bool
    """Whether it is looked at with all that is known today."""
    query: dict[str, Any]
    """What facts are looked for, as `Session.list_facts` takes it."""

    def known_then(self, cursor: str | None) -> PastPage:
        """The facts in office then that had been recorded by then; and those that were recorded,
        had not begun, and are in office now."""
        query = {"until": min(self.at, self.known) + _TICK}
        return self._walked(query, cursor, _PAGE, self._is_new)

    def known_later(self, cursor: str | None) -> PastPage:
        """The facts in office then that were recorded only afterwards."""
        if self.known <= self.at:
            return PastPage(())
        query = {"since": self.at + _TICK, "until": self.known + _TICK}
        return self._walked(query, cursor, _READ, lambda fact: False)

    def added_since(self, cursor: str | None) -> PastPage:
        """The facts in office now that came after, at matters that nobody had spoken of then."""
        query = {**self.query, "states": ["office"], "since": min(self.at, self.known) + _TICK}
        found: list[Fact] = []
        for _ in range(_PAGES):
            page = self.session.list_facts(**query, limit=_PAGE, cursor=cursor)
            found += (fact for fact in page if self._is_new(fact))
            cursor = page.next
            if cursor is None or len(found) >= _PAGE:
                break
        return PastPage((), tuple(found), cursor)

    def _walked(
        self,
        span: Mapping[str, datetime],
        cursor: str | None,
        limit: int,
        is_new: Callable[[Fact], bool],
    ) -> PastPage:
        query = {**self.query, **span, "states": ()}
        held: list[PastFact] = []
        added: list[Fact] = []
        for _ in range(_PAGES):
            page = self.session.list_facts(**query, limit=limit, cursor=cursor)
            for fact in page:
                if (then := self._then(fact)) is not None:
                    held.append(PastFact(then, fact, self._end(fact)))
                elif fact.is_valid and is_new(fact):
                    added.append(fact)
            cursor = page.next
            if cursor is None or len(held) >= _PAGE:
                break
        return PastPage(tuple(held), tuple(added), cursor)

    def _then(self, fact: Fact) -> Fact | None:
        """A fact as it stood then, if it was in office."""
        if self.then is self.session:
            return fact if fact.is_valid else None
        if fact.valid_from > self.at or (self.is_known_now and not fact.held_at(self.at)):
            return None
        then = self.then.get(fact.id)
        return then if then is not None and then.is_valid else None

    def _is_new(self, fact: Fact) -> bool:
        """Whether neither this fact nor one that it goes back to was in office then."""
        if self._then(fact) is not None:
            return False
        return not any(self._then(one) for one in _linked(self.session.get, fact, _earlier))

    def _end(self, fact: Fact) -> Fact | None:
        if fact.status is not Status.SUPERSEDED:
            return None
        found = _linked(self.session.get, fact, lambda one: (one.superseded_by,))
        return next((one for one in found if one.is_valid), None)


def _earlier(fact: Fact) -> tuple[str | None, ...]:
    return fact.predecessors


def _linked(
    get: Callable[[str], Fact | None], fact: Fact, links: Callable[[Fact], tuple[str | None, ...]]
) -> list[Fact]:
    """The facts that links lead to from a fact, near ones first; not endlessly far."""
    found: dict[str, Fact] = {}
    queue = [fact]
    for current in queue:
        for fact_id in links(current):
            if fact_id and fact_id not in found and len(found) < _LINKS:
                near = get(fact_id)
                if near is not None:
                    found[fact_id] = near
                    queue.append(near)
    return list(found.values())
