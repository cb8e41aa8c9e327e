"""Candidates: from a caller's proposal to a fact that can be judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from incumbent.engine.kinds import kind_of
from incumbent.engine.lens import Lens, matching
from incumbent.engine.proposal import Proposal
from incumbent.engine.workspace import Workspace, said_of
from incumbent.model.authority import Authority
from incumbent.model.errors import (
    AmbiguousTarget,
    DuplicateId,
    InvalidInput,
    UnknownDependency,
    UnknownTarget,
)
from incumbent.model.fact import Basis, Fact, MemoryType, Source, Status
from incumbent.model.ids import alias, new_id
from incumbent.model.records import Declaration
from incumbent.model.scope import EVERYWHERE, Place, Scope
from incumbent.model.text_cache import also_forget
from incumbent.rules.authority import (
    check_may_write_as,
    check_may_write_key,
    derived_authority,
    reserved_for,
)
from incumbent.rules.doubt import may_doubt
from incumbent.rules.supersession import binds, is_beneath
from incumbent.stores.port import Reader, Selection

# Members of an enum, looked up once: every write asks for them.
_OFFICE, _GLOBAL, _ORGANIZATIONAL = Status.OFFICE, Scope.GLOBAL, MemoryType.ORGANIZATIONAL


class Candidate(NamedTuple):
    """A fact that wants to take office, with the facts that its judgement looks at."""

    fact: Fact
    targets: tuple[Fact, ...] = ()
    around: tuple[Fact, ...] = ()
    beneath: tuple[Fact, ...] = ()
    """Statements of single people that it takes out of office, because it binds them."""
    beside: frozenset[str] = frozenset()
    """The audiences of facts at its address that the writer may not see. The candidate and those
    facts do not concern each other."""
    reserved_for: str | None = None
    """The rung that its key, or a target's, is reserved for, if the candidate ranks below it."""
    in_the_dark: bool = False
    """Whether its writer may see neither it nor the holder of its address. The holder stays."""

    @property
    def is_turned_away(self) -> bool:
        return self.in_the_dark or self.reserved_for is not None


class Around(NamedTuple):
    """The live facts that a proposal meets, and the places where they were looked up."""

    places: tuple[Place, ...]
    selection: Selection
    found: list[Fact]


class Candidates:
    """Makes candidates for one session, inside one transaction, at one moment."""

    def __init__(self, reader: Reader, lens: Lens) -> None:
        self._reader = reader
        self._lens = lens
        self._identity = lens.identity
        self._settings = lens.settings
        self._ladder = lens.settings.ladder

    def around(self, proposal: Proposal) -> Around:
        """Look up the live facts on the same subject and key in every scope that bears on it."""
        places = self._bearing((proposal.scope, proposal.scope_id or ""))
        selection = Selection(
            self._lens.owners,
            tuple(dict.fromkeys(scope_id for _, scope_id in places)),
            proposal.key,
            proposal.subject or "",
            said_of(proposal.key, proposal.value),
        )
        return Around(places, selection, self._reader.live(selection))

    def alone(self, proposal: Proposal, now: datetime) -> Candidate:
        """The candidate of a proposal that refers to nothing and meets no fact."""
        declared = self._declared(proposal)
        authority = self._authority(proposal)
        fact = self._fact(proposal, authority, declared, (), (), now)
        beneath = self.beneath(fact, declared, now)
        return Candidate(
            fact, beneath=beneath, reserved_for=self._reserved(proposal, authority, declared)
        )

    def unopposed(self, proposal: Proposal, now: datetime) -> Fact | None:
        """The same as a fact that takes office as it is; None if it does not, or if others leave
        office for it."""
        declared = self._declared(proposal)
        authority = self._authority(proposal)
        fact = self._fact(proposal, authority, declared, (), (), now)
        if declared and self._reserved(proposal, authority, declared) is not None:
            return None
        return None if self.beneath(fact, declared, now) else fact

    def make(
        self,
        proposal: Proposal,
        around: Around,
        workspace: Workspace,
        *,
        replaces: Sequence[Fact] = (),
    ) -> Candidate:
        """Look up everything a proposal refers to, and bind authority, kind and address.

        Raises the errors of a proposal that does not fit what is stored, or is not permitted.
        """
        declared = self._declared(proposal)
        authority = self._authority(proposal)
        reserved = self._reserved(proposal, authority, declared)
        bases = tuple(
            self._lens.find(self._reader, base, proposal.subject, UnknownDependency)
            for base in proposal.depends_on
        )
        targets = self._targets(proposal, workspace, replaces)
        for target in targets:
            told = matching(self._reader.declarations(), target.key)
            reserved = reserved or self._reserved(proposal, authority, told, target.key)
        fact = self._fact(proposal, authority, declared, bases, targets, workspace.now)
        if proposal.doubts:
            doubts = self._doubts(proposal, authority, fact)
            gone = {*fact.depends_on, *(target.id for target in targets)}
            fact = fact.evolve(doubts=tuple(i for i in doubts if i not in gone))
        hidden = self._hidden(fact, workspace)
        seen = self._lens.sees(self._reader, fact)
        return Candidate(
            fact,
            targets,
            self.wider(fact, around, workspace.now),
            self.beneath(fact, declared, workspace.now),
            hidden if seen else frozenset(),
            reserved,
            in_the_dark=bool(hidden) and not seen,
        )

    def wider(self, fact: Fact, around: Around, now: datetime) -> tuple[Fact, ...]:
        """Of the facts around a candidate, those in office that apply wherever it would. What its
        writer may not see has no say: an outcome that hung on it would tell of it."""
        return tuple(
            found
            for found in around.found
            if found.place in around.places
            and found.held_at(now)
            and self._lens.sees(self._reader, found)
            and self._is_wider(found, fact)
        )

    def _doubts(self, proposal: Proposal, authority: Authority, fact: Fact) -> Iterator[str]:
        """The facts that a proposal names and that it may put in doubt, each once, by id."""
        declarations = self._reader.declarations()
        named: dict[str, Fact] = {}
        for reference in proposal.doubts:
            known = self._reader.fact(reference)
            if known is not None and known.status is Status.ERASED:
                continue  # there is nothing left of it to doubt
            try:
                found = self._lens.find(
                    self._reader, reference, proposal.subject, UnknownDependency
                )
            except (UnknownDependency, AmbiguousTarget):
                if not proposal.spoken:
                    raise
                continue
            named[found.id] = found
        own = _required(matching(declarations, fact.key)).union(fact.requires)
        for found in named.values():
            told = matching(declarations, found.key)
            hidden = not own.issuperset(_required(told))
            reserved = reserved_for(authority, told, self._ladder) is not None
            if not hidden and not reserved and may_doubt(fact, found, self._ladder):
                yield found.id

    def _declared(self, proposal: Proposal) -> tuple[Declaration, ...]:
        declarations = self._reader.declarations()
        return matching(declarations, proposal.key) if declarations else ()

    def _chosen_id(self, wanted: str) -> str:
        """The id that a caller chose.

        If a fact that the writer may not see has that id, an alias is given: a refusal would tell
        that the fact exists.
        """
        for chosen in (wanted, alias(wanted, self._identity.user_id)):
            taken = self._reader.fact(chosen)
            if taken is None:
                return chosen
            if taken.status is not Status.ERASED and self._lens.sees(self._reader, taken):
                break
        raise DuplicateId(f"a fact with id {wanted!r} exists; ids are used once")

    def _hidden(self, fact: Fact, workspace: Workspace) -> frozenset[str]:
        """The audiences of facts that are in the way of a fact and hidden from its writer."""
        if fact.multi_valued:
            return frozenset()
        there = (*workspace.seats(fact), *workspace.departed(fact))
        hidden = [found for found in there if not self._lens.sees(self._reader, found)]
        return frozenset(found.audience for found in hidden)

    def beneath(
        self, fact: Fact, declared: tuple[Declaration, ...], now: datetime
    ) -> tuple[Fact, ...]:
        """The statements of single people on a matter that the candidate settles for all of them.

        A candidate that not everybody may see settles nothing for others: the loss of their own
        facts would tell them of it.
        """
        shared = fact.memory_type is _ORGANIZATIONAL and fact.scope is _GLOBAL
        if not shared or fact.multi_valued or not binds(fact, subject=fact.subject):
            return ()
        if fact.audience or any(told.requires for told in declared):
            return ()
        selection = Selection(None, None, fact.key, fact.subject or "")
        found = (one for one in self._reader.live(selection) if one.owner)
        return tuple(one for one in found if is_beneath(one, fact, now, self._ladder))

    def _reserved(
        self,
        proposal: Proposal,
        authority: Authority,
        declared: tuple[Declaration, ...],
        key: str | None = None,
    ) -> str | None:
        """The rung that declarations reserve a key for; raises NotPermitted unless the proposal is
        from a turn.

        A turn makes several statements, and one that does not count must not lose the others.
        """
        if not declared:
            return None
        if not proposal.spoken:
            check_may_write_key(
                proposal.key if key is None else key, authority, declared, self._ladder
            )
        return reserved_for(authority, declared, self._ladder)

    @staticmethod
    def _is_wider(found: Fact, fact: Fact) -> bool:
        """Whether a fact applies wherever the candidate would, and further."""
        if fact.is_unnamed:
            return False  # two things without a name are on no common matter
        if found.capability != fact.capability:
            return False  # what was learned neither binds what is so, nor is bound by it
        return found.owner in (fact.owner, "") and found.address != fact.address

    def _bearing(self, place: Place) -> tuple[Place, ...]:
        """The places whose facts bear on a candidate at this one: its own and the wider ones."""
        places = self._lens.places
        if place in places:
            return places[places.index(place) :]
        # A task or branch other than the session's own: only what is global bears on it.
        return (place, EVERYWHERE)

    def _authority(self, proposal: Proposal) -> Authority:
        if proposal.authority is None:
            return self._identity.authority
        authority = self._ladder.resolve(proposal.authority)
        check_may_write_as(self._identity, authority, self._ladder)
        return authority

    def _targets(
        self, proposal: Proposal, workspace: Workspace, replaces: Sequence[Fact]
    ) -> tuple[Fact, ...]:
        """The facts in office that the candidate names, directly or as the end of a chain."""
        targets = [fact.id for fact in replaces]
        if proposal.supersedes is not None:
            named = self._lens.find(
                self._reader, proposal.supersedes, proposal.subject, UnknownTarget
            )
            if not (proposal.key or proposal.spoken or named.is_unnamed):
                raise InvalidInput(
                    f"key is empty, and what it supersedes has one; name {named.quoted_key}"
                )
            end = self._lens.end_of(self._reader, named)
            there = end is not None and workspace.need(end.id).status is Status.OFFICE
            if end is None or not (there or (proposal.asks_first and end.is_unapproved)):
                raise UnknownTarget(
                    f"{named.quoted_key} ({named.id}) is {named.status}, and no fact in office "
                    f"follows it; leave out supersedes"
                )
            inside = (proposal.scope, proposal.scope_id or "") == end.place
            if inside or proposal.scope.is_real or end.scope.is_real:
                targets.append(end.id)
            # Else a branch within a branch: it stands in front of the outer one's, until committed.
        return tuple(workspace.need(target) for target in dict.fromkeys(targets))

    def _fact(
        self,
        proposal: Proposal,
        authority: Authority,
        declared: tuple[Declaration, ...],
        bases: tuple[Fact, ...],
        targets: tuple[Fact, ...],
        now: datetime,
    ) -> Fact:
        rung = authority.rung
        if bases:
            rung = derived_authority(rung, bases, self._ladder)
        source = proposal.source
        if source.authority is None:
            source = _with_authority(source, authority.title)
        kind = kind_of(proposal, source, authority, rung, targets, self._identity, self._settings)
        timestamp = proposal.at or now
        valid_from = proposal.valid_from or timestamp
        if proposal.valid_until is not None and proposal.valid_until <= valid_from:
            raise InvalidInput(
                f"valid_until ({proposal.valid_until.isoformat()}) must come after the start of "
                f"validity ({valid_from.isoformat()}); set valid_from too to record a past term"
            )
        return Fact(
            id=new_id(now) if proposal.id is None else self._chosen_id(proposal.id),
            organization=self._identity.organization,
            owner="" if kind.is_shared else self._identity.user_id,
            subject=proposal.subject,
            key=proposal.key,
            value=proposal.value,
            source=source,
            timestamp=timestamp,
            recorded_at=now,
            valid_from=valid_from,
            valid_until=proposal.valid_until,
            memory_type=kind.memory_type,
            scope=proposal.scope,
            scope_id=proposal.scope_id,
            authority=rung,
            requires=kind.requires,
            min_authority=self._rung(proposal.min_authority),
            depends_on=tuple(base.id for base in bases) if bases else (),
            when_superseded=self._awaited(proposal),
            is_constraint=kind.constraint is not None,
            constraint_type=kind.constraint,
            multi_valued=proposal.multi_valued
            or (bool(declared) and any(told.multi_valued for told in declared)),
            time_sensitive=bool(declared) and any(told.time_sensitive for told in declared),
            # In anticipation: most candidates take office, and need no second copy then.
            status=_OFFICE,
            started_at=valid_from,
            standing=rung,
            basis=tuple(Basis(base.id, base.id) for base in bases) if bases else (),
        )

    def _rung(self, title: str | None) -> str | None:
        return None if title is None else self._ladder.resolve(title).rung

    def _awaited(self, proposal: Proposal) -> str | None:
        if proposal.when_superseded is None:
            return None
        base = self._lens.find(
            self._reader, proposal.when_superseded, proposal.subject, UnknownDependency
        )
        if not base.is_valid:
            raise InvalidInput(
                f"{base.quoted_key} ({base.id}) has already left office ({base.status}), so "
                f"nothing can wait for it; leave out when_superseded"
            )
        return base.id


def _required(declared: tuple[Declaration, ...]) -> set[str]:
    """The permissions that declarations ask of the readers of a key."""
    return {permission for told in declared for permission in told.requires}


_NOBODY = (Source(), "", Source(authority=""))
_last: tuple[Source, str, Source] = _NOBODY


@also_forget
def _forget_source() -> None:
    """Empty the cache of sources: a source has the words that were said."""
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
