"""Correction and repair: taking back, undoing, reverting, promoting, and settling reviews."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from incumbent.engine import reviews
from incumbent.engine.proposal import check_reason
from incumbent.engine.retries import repeated
from incumbent.engine.undo import undo
from incumbent.model.errors import InvalidInput, UnknownFact
from incumbent.model.fact import Fact, Status
from incumbent.model.identity import check_name
from incumbent.model.records import Review
from incumbent.model.scope import EVERYWHERE, Scope
from incumbent.model.times import moment
from incumbent.model.values import canonical
from incumbent.model.verdict import Rule, Verdict
from incumbent.session.base import RETRACTABLE, SessionBase
from incumbent.session.rehearsable import rehearsable
from incumbent.telemetry.traced import traced

UNSET: Any = object()


@traced()
class SessionCorrections(SessionBase):
    """The part of a session that mends decisions."""

    @rehearsable
    @repeated
    def retract(
        self,
        key_or_id: str,
        reason: str | None = None,
        *,
        subject: str | None = None,
        at: datetime | None = None,
    ) -> Verdict:
        """Take back a fact with no new value. Its chain ends here, at `at` where that is given."""
        self._check_named(key_or_id, subject)
        check_reason(reason)
        at = None if at is None else moment(at, "at")
        with self._registrar() as registrar:
            fact = registrar.lens.find(registrar.transaction, key_or_id, subject, UnknownFact)
            self._check_retractable(fact)
            rule = Rule.DISCARD if fact.is_unapproved else Rule.RETRACTION
            return registrar.retract(fact, rule=rule, at=at, reason=reason)

    def _check_retractable(self, fact: Fact) -> None:
        if fact.status not in RETRACTABLE:
            raise InvalidInput(
                f"{fact.quoted_key} ({fact.id}) is {fact.status} already; "
                f"there is nothing to retract"
            )
        self._check_in_branch(fact)

    @rehearsable
    @repeated
    def undo(self, verdict: Verdict | str, *, reason: str | None = None) -> Verdict:
        """Let everything stand as if a verdict had not been made. Undoing that brings it back."""
        verdict_id = verdict.id if isinstance(verdict, Verdict) else check_name(verdict, "verdict")
        check_reason(reason)
        with self._registrar() as registrar:
            if self._branch is not None:
                undone = registrar.transaction.verdict(verdict_id)
                if undone is not None:
                    self._check_in_branch(registrar.transaction.fact(undone.fact_id))
            return undo(registrar, verdict_id, reason=reason)

    @rehearsable
    @repeated
    def revert(
        self, key_or_id: str, to: str | None = None, *, subject: str | None = None
    ) -> Verdict:
        """Go back to an earlier value: that of fact `to`, or the last different one."""
        self._check_named(key_or_id, subject)
        self._check_named(to)
        with self._registrar() as registrar:
            return reviews.revert(registrar, key_or_id, to, subject, self._branch)

    @rehearsable
    @repeated
    def promote(self, key_or_id: str, *, subject: str | None = None) -> Verdict:
        """Give a fact of a narrower scope the wider one: what held in a task, everywhere."""
        self._check_named(key_or_id, subject)
        with self._registrar() as registrar:
            if self._branch is not None:
                raise InvalidInput("inside a branch, commit() makes facts real")
            fact = registrar.lens.by_id(registrar.transaction, key_or_id) or registrar.lens.find(
                registrar.transaction, key_or_id, subject, UnknownFact
            )
            if fact.scope is Scope.GLOBAL or not fact.is_valid:
                standing = "global already" if fact.is_valid else f"{fact.status}, not in office"
                raise InvalidInput(f"{fact.quoted_key} ({fact.id}) is {standing}")
            return reviews.take_over(registrar, fact, EVERYWHERE, {})

    @repeated
    def reviews(self) -> list[Review]:
        """What wants a decision: facts whose bases changed or that are in doubt, contested
        statements, and what this person is asked about before it is kept."""
        with self._reading() as (reader, lens):
            return reviews.reviews(reader, lens)

    @rehearsable
    @repeated
    def resolve(
        self,
        fact_id: str,
        value: Any = UNSET,
        *,
        still_right: bool = False,
        retract: bool = False,
        reason: str | None = None,
    ) -> Verdict:
        """Settle a review: with a new value, as still right, or by taking the fact back.

        What waits for approval is kept as still right, from the day on which it was said; taken
        back, it was never kept.
        """
        if (value is not UNSET) + bool(still_right) + bool(retract) != 1:
            raise InvalidInput("resolve takes exactly one of: a value, still_right, retract")
        self._check_named(fact_id)
        check_reason(reason)
        if value is not UNSET:
            canonical(value, limit=self._resources.settings.max_value_bytes)
        with self._registrar() as registrar:
            fact = reviews.under_review(registrar, fact_id)
            self._check_in_branch(fact)
            if retract:
                rule = Rule.DISCARD if fact.is_unapproved else Rule.REVIEW
                return registrar.retract(fact, rule=rule, reason=reason)
            if value is not UNSET:
                return reviews.recalculate(registrar, fact, value, reason)
            if fact.is_unapproved:
                from incumbent.turns.approving import approved  # language data, which it needs

                return approved(registrar, fact, reason)
            if fact.status is Status.CONTESTED:
                return registrar.accept(fact, reason=reason)
            return registrar.acknowledge(fact, reason=reason)
