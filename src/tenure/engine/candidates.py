"""Candidates: from what a caller proposes to a fact that can be judged."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from tenure.engine.lens import Lens, matching
from tenure.engine.proposal import Proposal
from tenure.engine.workspace import Workspace
from tenure.model.authority import Authority
from tenure.model.errors import (
    DuplicateId,
    InvalidInput,
    NotPermitted,
    UnknownDependency,
    UnknownTarget,
)
from tenure.model.fact import Basis, Fact, MemoryType, Source, Status
from tenure.model.ids import new_id
from tenure.model.records import Declaration
from tenure.model.remembering import also_forget
from tenure.model.scope import EVERYWHERE, Place
from tenure.rules.authority import check_may_write_as, check_may_write_key, derived_authority
from tenure.rules.classification import classify_constraint, classify_memory
from tenure.rules.supersession import binds
from tenure.stores.port import Reader, Selection


class Candidate(NamedTuple):
    """A fact that wants in, with what its judgement has to look at."""

    fact: Fact
    targets: tuple[Fact, ...]
    around: tuple[Fact, ...]


class Around(NamedTuple):
    """The live facts that a proposal meets, and where they were looked for."""

    places: tuple[Place, ...]
    selection: Selection
    found: list[Fact]


class Candidates:
    """Makes candidates for one session, inside one transaction, at one moment."""

    def __init__(self, reader: Reader, lens: Lens) -> None:
        self._reader = reader
        self._lens = lens
        self._identity = lens.identity
        self._ladder = lens.settings.ladder

    def around(self, proposal: Proposal) -> Around:
        """Look up the live facts on the same subject and key in every scope that bears on it."""
        places = self._bearing((proposal.scope, proposal.scope_id or ""))
        selection = Selection(
            self._lens.owners,
            tuple(dict.fromkeys(scope_id for _, scope_id in places)),
            proposal.key,
            proposal.subject or "",
        )
        return Around(places, selection, self._reader.live(selection))

    def alone(self, proposal: Proposal, now: datetime) -> Fact:
        """The fact of a proposal that refers to nothing and finds nobody around."""
        declared = self._declared(proposal)
        authority = self._authority(proposal, declared)
        return self._fact(proposal, authority, declared, (), (), [], now)

    def make(
        self,
        proposal: Proposal,
        around: Around,
        workspace: Workspace,
        *,
        replaces: Fact | None = None,
    ) -> Candidate:
        """Look up everything a proposal refers to, and bind authority, kind and address.

        Raises the errors of a proposal that does not fit what is stored, or is not permitted.
        """
        declared = self._declared(proposal)
        authority = self._authority(proposal, declared)
        bases = tuple(
            self._lens.find(self._reader, base, proposal.subject, UnknownDependency)
            for base in proposal.depends_on
        )
        targets = self._targets(proposal, workspace, replaces)
        for target in targets:
            told = matching(self._reader.declarations(), target.key)
            check_may_write_key(target.key, authority, told, self._ladder)
        held = [f for f in around.found if f.place in around.places and f.held_at(workspace.now)]
        fact = self._fact(proposal, authority, declared, bases, targets, held, workspace.now)
        self._check_seen(fact, workspace)
        wider = tuple(found for found in held if self._is_wider(found, fact))
        return Candidate(fact, targets, wider)

    def _declared(self, proposal: Proposal) -> tuple[Declaration, ...]:
        if proposal.id is not None and self._reader.fact(proposal.id) is not None:
            raise DuplicateId(f"a fact with id {proposal.id!r} exists; ids are used once")
        declarations = self._reader.declarations()
        return matching(declarations, proposal.key) if declarations else ()

    def _check_seen(self, fact: Fact, workspace: Workspace) -> None:
        """Refuse to write over what the writer may not see.

        The outcome of a write would tell whether a guess at the hidden value was right.
        """
        for incumbent in (*workspace.seats(fact.address), *workspace.departed(fact)):
            if not fact.multi_valued and not self._lens.sees(self._reader, incumbent):
                raise NotPermitted(
                    f"{fact.key!r} is not open to {self._identity.user_id!r} here; "
                    f"it takes permissions that this session does not have"
                )

    @staticmethod
    def _is_wider(found: Fact, fact: Fact) -> bool:
        """Whether a fact applies wherever the candidate would, and further."""
        return found.owner in (fact.owner, "") and found.address != fact.address

    def _bearing(self, place: Place) -> tuple[Place, ...]:
        """The places whose facts bear on a candidate at this one: its own and the wider ones."""
        places = self._lens.places
        if place in places:
            return places[places.index(place) :]
        # A task or branch other than the session's own: only what is global bears on it.
        return (place, EVERYWHERE)

    def _authority(self, proposal: Proposal, declared: tuple[Declaration, ...]) -> Authority:
        authority = self._identity.authority
        if proposal.authority is not None:
            authority = self._ladder.resolve(proposal.authority)
            check_may_write_as(self._identity, authority, self._ladder)
        if declared:
            check_may_write_key(proposal.key, authority, declared, self._ladder)
        return authority

    def _targets(
        self, proposal: Proposal, workspace: Workspace, replaces: Fact | None
    ) -> tuple[Fact, ...]:
        """The facts in office that the candidate names, directly or as the end of a chain."""
        targets = [replaces.id] if replaces is not None else []
        if proposal.supersedes is not None:
            named = self._lens.find(
                self._reader, proposal.supersedes, proposal.subject, UnknownTarget
            )
            end = self._lens.end_of(self._reader, named)
            if end is None or workspace.need(end.id).status is not Status.OFFICE:
                raise UnknownTarget(
                    f"{named.key!r} ({named.id}) is {named.status}, and no fact in office follows "
                    f"it; write {proposal.key!r} without supersedes"
                )
            inside = (proposal.scope, proposal.scope_id or "") == end.place
            if inside or proposal.scope.is_real or end.scope.is_real:
                targets.append(end.id)
            # Else a branch within a branch: it stands in front of the outer one's, until committed.
        return tuple(workspace.need(target) for target in targets)

    def _fact(
        self,
        proposal: Proposal,
        authority: Authority,
        declared: tuple[Declaration, ...],
        bases: tuple[Fact, ...],
        targets: tuple[Fact, ...],
        around: list[Fact],
        now: datetime,
    ) -> Fact:
        rung = authority.rung
        if bases:
            rung = derived_authority(rung, bases, self._ladder)
        source = proposal.source
        if source.authority is None:
            source = _with_authority(source, authority.title)
        trusted = self._ladder.rank(rung) > 0 or len(self._ladder.rungs) == 1
        constraint = _constraint(proposal, source, guess=trusted)
        memory_type = proposal.memory_type or self._memory_type(
            source, rung, constraint, proposal.subject, targets, around
        )
        timestamp = proposal.at or now
        valid_from = proposal.valid_from or timestamp
        if proposal.valid_until is not None and proposal.valid_until <= valid_from:
            raise InvalidInput(
                f"valid_until ({proposal.valid_until.isoformat()}) must come after the start of "
                f"validity ({valid_from.isoformat()}); set valid_from too to record a past term"
            )
        return Fact(
            id=proposal.id or new_id(now),
            organization=self._identity.organization,
            owner="" if memory_type is MemoryType.ORGANIZATIONAL else self._identity.user_id,
            subject=proposal.subject,
            key=proposal.key,
            value=proposal.value,
            source=source,
            timestamp=timestamp,
            recorded_at=now,
            valid_from=valid_from,
            valid_until=proposal.valid_until,
            memory_type=memory_type,
            scope=proposal.scope,
            scope_id=proposal.scope_id,
            authority=rung,
            requires=proposal.requires,
            min_authority=self._min_authority(proposal),
            depends_on=tuple(base.id for base in bases),
            when_superseded=self._awaited(proposal),
            is_constraint=constraint is not None,
            constraint_type=constraint,
            multi_valued=proposal.multi_valued
            or (bool(declared) and any(told.multi_valued for told in declared)),
            time_sensitive=bool(declared) and any(told.time_sensitive for told in declared),
            # In anticipation: most candidates take office, and need no second copy then.
            status=Status.OFFICE,
            started_at=valid_from,
            standing=rung,
            basis=tuple(Basis(base.id, base.id) for base in bases),
        )

    def _min_authority(self, proposal: Proposal) -> str | None:
        if proposal.min_authority is None:
            return None
        return self._ladder.resolve(proposal.min_authority).rung

    def _memory_type(
        self,
        source: Source,
        rung: str,
        constraint: str | None,
        subject: str | None,
        targets: tuple[Fact, ...],
        around: list[Fact],
    ) -> MemoryType:
        """Whoever may settle a shared matter speaks about it, not beside it.

        A statement that names its target, or that meets a binding fact of the organization which
        it does not rank below, belongs to the same memory as that fact. So does a policy stated
        by one of the two highest rungs.
        """
        if targets:
            return targets[-1].memory_type
        rank = self._ladder.rank(rung)
        for fact in around:
            shared = not fact.owner and binds(fact, subject=subject)
            if shared and rank >= self._ladder.rank(fact.standing):
                return MemoryType.ORGANIZATIONAL
        top = len(self._ladder.rungs) - 1
        if constraint == "policy" and rank >= max(top - 1, 1):
            return MemoryType.ORGANIZATIONAL
        return classify_memory(source, speaks_for_all=rank == top and top > 0)

    def _awaited(self, proposal: Proposal) -> str | None:
        if proposal.when_superseded is None:
            return None
        base = self._lens.find(
            self._reader, proposal.when_superseded, proposal.subject, UnknownDependency
        )
        if not base.is_valid:
            raise InvalidInput(
                f"{base.key!r} ({base.id}) has already left office ({base.status}), so nothing can "
                f"wait for it; write {proposal.key!r} without when_superseded"
            )
        return base.id


def _constraint(proposal: Proposal, source: Source, *, guess: bool) -> str | None:
    """The kind of constraint a fact is.

    On the lowest rung only if it was asked for: whoever walks in must not bind everybody by
    choosing words such as "must".
    """
    if proposal.is_constraint is False:
        return None
    found = proposal.constraint_type
    if found is None and guess:
        found = classify_constraint(proposal.key, proposal.value, source)
    return found or ("policy" if proposal.is_constraint else None)


_NOBODY = (Source(), "", Source(authority=""))
_last: tuple[Source, str, Source] = _NOBODY


@also_forget
def _forget_source() -> None:
    """A source has the words that were said."""
    global _last
    _last = _NOBODY


def _with_authority(source: Source, title: str) -> Source:
    global _last
    # The same source comes with one write after the other; one object for it is enough.
    known, known_title, found = _last
    if source is not known or title != known_title:
        found = replace(source, authority=title)
        _last = (source, title, found)
    return found
