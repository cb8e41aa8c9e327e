"""Incumbent as a system under evaluation: the protocol's calls in the words of a session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

import incumbent
from incumbent.model.errors import InvalidInput, NotPermitted
from incumbent.model.identity import BIND, SPEAK
from incumbent_eval.running import HeldClock
from incumbent_eval.systems import Ability, Entry, Refused, Who

BEGINNING = datetime(2026, 1, 5, 9, tzinfo=UTC)
"""A Monday morning: the time until it is set."""

_WEAK = 0.2
"""The confidence of a doubtful statement: too little to retire anything."""


class _Written(NamedTuple):
    """The verdict on a write, and its scope."""

    verdict: incumbent.Verdict
    scope: str


class IncumbentSystem:
    """A memory of its own, in this process, with a clock that stands still until it is moved.

    Values that are not private are written as the organization's, so that everybody there meets the
    same address. Private values, and statements in turns, go into the memory of the person.
    """

    name = "incumbent"
    can = frozenset(Ability)

    def __init__(self, settings: incumbent.Settings | None = None) -> None:
        self.clock = HeldClock(BEGINNING)
        self.memory = incumbent.open(":memory:", clock=self.clock, settings=settings)
        self._written: dict[str, _Written] = {}

    def move_to(self, moment: datetime) -> None:
        self.clock.move_to(moment)

    def write(self, who: Who, entry: Entry) -> str:
        with _refusing():
            verdict = self._session(who, entry.scope, speaks_for=entry.authority).write(
                entry.key,
                entry.value,
                subject=entry.subject,
                supersedes=self._fact(entry.supersedes) if entry.supersedes else None,
                depends_on=[self._fact(base) for base in entry.depends_on],
                when_superseded=(
                    self._fact(entry.when_superseded) if entry.when_superseded else None
                ),
                source=incumbent.Source(becomes=(entry.becomes,)) if entry.becomes else None,
                authority=entry.authority,
                memory_type=None if entry.is_private else "organizational",
                requires=entry.requires,
                is_constraint=entry.is_constraint or None,
                confidence=_WEAK if entry.is_doubtful else 1.0,
                valid_from=entry.valid_from,
                valid_until=entry.valid_until,
                at=entry.said_at,
                **_placed(entry.scope),
            )
        # A name for each write, since a restatement comes to the same fact as the first one.
        name = f"w{len(self._written) + 1}"
        self._written[name] = _Written(verdict, entry.scope)
        return name

    def retract(self, who: Who, written: str) -> None:
        with _refusing():
            verdict, scope = self._known(written)
            self._session(who, scope).retract(verdict.fact_id)

    def undo(self, who: Who, written: str) -> None:
        with _refusing():
            verdict, scope = self._known(written)
            self._session(who, scope).undo(verdict)

    def erase(self, who: Who, written: str) -> None:
        with _refusing():
            fact_id = self._fact(written)
            self.memory.forget(organization=who.organization, fact_id=fact_id, by=who.user)

    def told(self, written: str) -> str:
        verdict = self._known(written).verdict
        names = ", ".join(sorted(verdict.evidence))
        gone = len(verdict.superseded)
        return f"{verdict.outcome} ({verdict.rule}), {gone} superseded; evidence: {names or 'none'}"

    def observe(self, who: Who, text: str, speaker: str = "user") -> None:
        with _refusing():
            self._session(who).observe(text, speaker=speaker)

    def context(
        self,
        who: Who,
        query: str,
        budget: int,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        history: bool = False,
    ) -> str:
        session = self._session(who)
        if as_of is not None or known_at is not None:
            session = session.as_of(as_of or self.clock(), known_at=known_at)
        return session.context(query, budget=budget, history=history).text

    def account(self, who: Who, query: str, budget: int) -> str:
        """The omissions of a context, the facts on record, and the open reviews.

        It leaves out that the same person has something in another session, which is theirs to
        know.
        """
        session = self._session(who)
        account = session.context(query, budget=budget, explain=True).omissions
        left_out = [one for one in account if one.reason != "out of scope"]
        on_record = session.facts()
        told = [
            *sorted(f"left out: {one.reason}, {one.item}, {one.count}" for one in left_out),
            *(f"{fact.key}: {fact.value} ({fact.authority})" for fact in on_record),
            *(
                f"{fact.key} was {fact.value}: {fact.status}"
                for key in sorted({fact.key for fact in on_record})
                for fact in (session.history(key) if key else session.list_facts(key="", states=()))
            ),
            *(f"{review.kind}: {review.fact.key}" for review in session.reviews()),
            *(f"on the desk: {item.key}, {item.value}" for item in session.working_set()),
        ]
        return "\n".join(told)

    def tokens(self, text: str) -> int:
        return len(_tokenizer(self.memory.settings.tokenizer).encode_ordinary(text))

    def close(self) -> None:
        self.memory.close()

    def _session(
        self, who: Who, scope: str = "global", *, speaks_for: str | None = None
    ) -> incumbent.Session:
        """The session of somebody; for a draft or a supposition, its branch.

        Everybody may speak for the organization here, so that people of every rung meet at the same
        addresses; a guest binds nobody.
        """
        permissions = [SPEAK, *who.permissions]
        if who.authority != "guest":
            permissions.append(BIND)
        if speaks_for is not None:
            rung = self.memory.settings.ladder.resolve(speaks_for).rung
            permissions.append(f"authority:{rung}")
        session = self.memory.session(
            user_id=who.user,
            authority=who.authority,
            organization=who.organization,
            session_id=who.session,
            permissions=permissions,
        )
        if scope == "draft":
            return session.draft(who.user)
        return session.hypothetical(who.user) if scope == "hypothetical" else session

    def _known(self, written: str) -> _Written:
        if written not in self._written:
            raise InvalidInput(f"nothing was written that is called {written!r}")
        return self._written[written]

    def _fact(self, written: str) -> str:
        return self._known(written).verdict.fact_id


def _placed(scope: str) -> dict[str, Any]:
    """The scope of a write; a branch gives its own scope to its writes."""
    return {} if scope in ("draft", "hypothetical") else {"scope": scope}


@contextmanager
def _refusing() -> Iterator[None]:
    """Turn Incumbent's refusals into `Refused`. Any other error is a fault of ours, and stays
    one."""
    try:
        yield
    except (InvalidInput, NotPermitted) as error:
        raise Refused(str(error)) from error


@cache
def _tokenizer(name: str) -> Any:
    """A counter apart from the product's own, so that a mistake in that one would show."""
    import splintr

    return splintr.Tokenizer.from_pretrained(name)
