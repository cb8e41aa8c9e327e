"""Writing: structured facts, one or many in a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from incumbent.engine import reviews
from incumbent.engine.batch import WriteBatch
from incumbent.engine.proposal import Proposal, propose
from incumbent.engine.retries import repeated
from incumbent.model.errors import InvalidInput, NotPermitted
from incumbent.model.fact import Source
from incumbent.model.scope import Scope
from incumbent.model.verdict import Verdict
from incumbent.search.analysis import sentence
from incumbent.session.base import SessionBase
from incumbent.session.rehearsable import rehearsable
from incumbent.telemetry.traced import traced

_GLOBAL = Scope.GLOBAL  # looked up once: every write asks for it


@traced()
class SessionWrites(SessionBase):
    """The part of a session that states facts."""

    @rehearsable
    @repeated
    def write(
        self,
        key: str,
        value: Any,
        *,
        subject: str | None = None,
        supersedes: str | None = None,
        scope: str = "global",
        scope_id: str | None = None,
        depends_on: Iterable[str] = (),
        doubts: Iterable[str] = (),
        when_superseded: str | None = None,
        source: str | Source | None = None,
        authority: str | None = None,
        memory_type: str | None = None,
        is_constraint: bool | None = None,
        constraint_type: str | None = None,
        requires: Iterable[str] = (),
        min_authority: str | None = None,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        at: datetime | None = None,
        id: str | None = None,
        confidence: float = 1.0,
    ) -> Verdict:
        """State a fact, and learn what became of it: `verdict.outcome`, `.rule`, `.fact`.

        `supersedes`, `depends_on`, `doubts` and `when_superseded` take ids or keys. `doubts` names
        facts that this may have replaced: they stay in office and are shown as possibly outdated.
        `at` is when it was said, `valid_from` and `valid_until` when it is true. When this returns,
        the decision is durable.
        """
        proposal = propose(
            self._resources.settings,
            key,
            value,
            subject=subject,
            supersedes=supersedes,
            scope=scope,
            scope_id=scope_id,
            depends_on=depends_on,
            doubts=doubts,
            when_superseded=when_superseded,
            source=source,
            authority=authority,
            memory_type=memory_type,
            is_constraint=is_constraint,
            constraint_type=constraint_type,
            requires=requires,
            min_authority=min_authority,
            valid_from=valid_from,
            valid_until=valid_until,
            at=at,
            id=id,
            confidence=confidence,
        )
        placed = self._placed(proposal)
        self._prepare((placed,))
        with self._registrar() as registrar:
            return registrar.propose(placed)

    @rehearsable
    def write_many(self, writes: Iterable[Mapping[str, Any]]) -> list[Verdict]:
        """Several writes in one transaction, in order: all of them, or none.

        Each is a mapping of the arguments of `write`. Later ones see earlier ones.
        """
        proposals = []
        for index, arguments in enumerate(writes):
            try:
                proposal = propose(self._resources.settings, **arguments)
                proposals.append(self._placed(proposal))
            except InvalidInput as error:
                raise type(error)(f"write {index}: {error}") from error
            except TypeError as error:
                raise InvalidInput(
                    f"write {index}: {str(error).replace('propose()', 'write()')}"
                ) from None
        self._prepare(proposals)
        return self._write_all(proposals)

    @repeated
    def _write_all(self, proposals: Sequence[Proposal]) -> list[Verdict]:
        verdicts = []
        with self._registrar() as registrar:
            batch = WriteBatch(registrar, proposals)
            for index, proposal in enumerate(proposals):
                try:
                    verdicts.append(batch.propose(proposal))
                except (InvalidInput, NotPermitted) as error:
                    raise type(error)(f"write {index}: {error}") from error
            batch.finish()
        return verdicts

    def _prepare(self, proposals: Iterable[Proposal]) -> None:
        """Compute meanings before it is our turn to write, so that others need not wait for
        them."""
        self._check_open()
        wanted = self._when is None and not self._rehearses
        if wanted and self._resources.settings.indexing:
            self._resources.index.prepare(sentence(p.key, p.subject, p.value) for p in proposals)

    def _placed(self, proposal: Proposal) -> Proposal:
        """Fill in the place of a proposal: the branch, the task, the session."""
        if self._branch is not None:
            if proposal.scope is not Scope.GLOBAL:
                raise InvalidInput(
                    f"inside a branch every write belongs to the branch; "
                    f"leave out scope={proposal.scope.value!r}"
                )
            return reviews.placed(proposal, *self._branch)
        if proposal.scope is _GLOBAL:
            if proposal.scope_id is not None:
                raise InvalidInput(
                    f"scope_id {proposal.scope_id!r} needs a scope; add scope='task' or another"
                )
            return proposal
        defaults = {Scope.TASK: self.task_id, Scope.SESSION: self.session_id}
        scope_id = proposal.scope_id or defaults.get(proposal.scope, "default")
        if scope_id is None:
            raise InvalidInput("scope='task' needs a scope_id, or a session opened with a task_id")
        return reviews.placed(proposal, proposal.scope, scope_id)
