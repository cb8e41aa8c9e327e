"""Branches and the past: sessions that are made from a session."""

from __future__ import annotations

from copy import copy
from datetime import datetime
from typing import Self

from incumbent.engine import reviews
from incumbent.engine.retries import repeated
from incumbent.model.errors import InvalidInput, ReadOnlySession
from incumbent.model.identity import check_name
from incumbent.model.ids import new_id
from incumbent.model.records import Change
from incumbent.model.scope import EVERYWHERE, Place, Scope
from incumbent.model.times import moment
from incumbent.model.verdict import Rule, Verdict
from incumbent.session.base import SessionBase
from incumbent.session.rehearsable import rehearsable
from incumbent.telemetry.traced import traced


@traced(but=("hypothetical", "draft", "as_of", "rehearsal"))
class SessionBranches(SessionBase):
    """The part of a session that tries things out, and looks at other times."""

    def hypothetical(self, name: str | None = None) -> Self:
        """A "what if": a session whose writes stay in their own branch until committed."""
        return self._branched(Scope.HYPOTHETICAL, name)

    def draft(self, name: str | None = None) -> Self:
        """A proposal: like a hypothetical, meant to be committed."""
        return self._branched(Scope.DRAFT, name)

    def _branched(self, scope: Scope, name: str | None) -> Self:
        self._check_open()
        if self._when is not None:
            raise ReadOnlySession("a branch of the past could not be committed")
        branch_id = check_name(name or new_id(self._now()), "name")
        return self._derived(branch=(scope, branch_id))

    @rehearsable
    @repeated
    def commit(self) -> list[Verdict]:
        """Put the branch's facts forward for real, judged like any others, and close it."""
        branch, parent = self._need_branch()
        place = parent._branch or EVERYWHERE
        with self._registrar() as registrar:
            verdicts = reviews.commit(registrar, branch, place)
        self._end("this branch was committed; draft() or hypothetical() opens another")
        return verdicts

    @rehearsable
    @repeated
    def discard(self) -> list[Verdict]:
        """Drop the branch's facts and close it."""
        branch, _ = self._need_branch()
        with self._registrar() as registrar:
            verdicts = [
                registrar.retract(fact, rule=Rule.DISCARD)
                for fact in reviews.of_branch(registrar, branch)
            ]
        self._end("this branch was discarded; draft() or hypothetical() opens another")
        return verdicts

    def _end(self, told: str) -> None:
        if not self._rehearses:
            self._closed = told

    def _need_branch(self) -> tuple[Place, Self]:
        self._check_open()
        if self._branch is None or self._parent is None:
            raise InvalidInput(
                "this session is no branch; session.draft() and session.hypothetical() make one"
            )
        return self._branch, self._parent

    def rehearsal(self) -> Self:
        """A session in which every call is judged as it would be here, and nothing comes of it.

        Calls return what they would return; `changes` tells what the last one would change. It
        reads what there is, asks no model for a second opinion, and takes one call at a time.
        """
        self._check_open()
        if self._when is not None:
            raise ReadOnlySession(
                "the past takes no writes, so there is nothing to rehearse; use the session that "
                "as_of() was asked of"
            )
        made = copy(self)
        made._rehearses = True
        made._changes = ()
        return made

    @property
    def changes(self) -> tuple[Change, ...]:
        """What the last call of a rehearsal would change: each fact as it is and as it would be.

        Those that rest on it and would need review, or need it no longer, are among them; facts
        that this session may not see are not. Empty where the session is no rehearsal.
        """
        return self._changes

    def as_of(self, when: datetime, *, known_at: datetime | None = None) -> Self:
        """A read-only session: what was true at `when`, as known at `known_at` (default: now)."""
        self._check_open()
        return self._derived(
            branch=self._branch,
            when=moment(when, "when"),
            known_at=None if known_at is None else moment(known_at, "known_at"),
        )
