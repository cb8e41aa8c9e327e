"""A lens: what one session can see of the store, at one moment of both times."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from tenure.model.errors import AmbiguousTarget, InvalidInput
from tenure.model.fact import Fact, Status
from tenure.model.identity import Identity
from tenure.model.records import Chain, Declaration
from tenure.model.scope import Place
from tenure.rules.scope import View, effective
from tenure.rules.temporal import as_seen
from tenure.rules.visibility import may_read
from tenure.settings import Settings
from tenure.stores.port import Reader, Selection


@dataclass(frozen=True)
class Lens:
    """Who looks, from which scopes, and at what time.

    `when` is the moment of valid time; `known_at` the moment of record time, None for all that is
    known now.
    """

    identity: Identity
    places: tuple[Place, ...]
    settings: Settings
    when: datetime
    known_at: datetime | None = None
    past: bool = False
    """Whether `when` may lie before now, so that facts that left office since count too."""

    @cached_property
    def owners(self) -> tuple[str, ...]:
        return (self.identity.user_id, "")

    @cached_property
    def scope_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(scope_id for _, scope_id in self.places))

    def selection(self, key: str | None = None, subject: str | None = None) -> Selection:
        return Selection(self.owners, self.scope_ids, key, subject)

    def sees(self, reader: Reader, fact: Fact) -> bool:
        """Whether this identity may know of the fact."""
        declared = matching(reader.declarations(), fact.key)
        return may_read(self.identity, fact, self.settings.ladder, declared)

    def held(
        self, reader: Reader, key: str | None = None, subject: str | None = None
    ) -> list[Fact]:
        """Visible facts in office at this lens's moment, in scopes that apply."""
        selection = self.selection(key, subject)
        if self.past:
            found = reader.known(selection, self._seq(reader))
        else:
            found = reader.live(selection)
        return [
            as_seen(fact, self.when)
            for fact in found
            if fact.held_at(self.when) and fact.place in self.places and self.sees(reader, fact)
        ]

    def view(self, reader: Reader, key: str | None = None, subject: str | None = None) -> View:
        """The facts this session goes by, and those that step aside."""
        held = self.held(reader, key, subject)
        return effective(held, self.places, self.settings.ladder)

    def everything(
        self, reader: Reader, key: str | None = None, subject: str | None = None
    ) -> list[Fact]:
        """Visible facts of every status in scopes that apply, oldest first."""
        selection = self.selection(key, subject)
        if self.past:
            found = reader.known(selection, self._seq(reader))
        else:
            found = reader.timeline(selection)
        return [
            as_seen(fact, self.when)
            for fact in found
            if fact.place in self.places and self.sees(reader, fact)
        ]

    def by_id(self, reader: Reader, fact_id: str) -> Fact | None:
        """A visible fact, or None; an erased one is nobody's to see."""
        fact = reader.fact(fact_id)
        if fact is None or fact.status is Status.ERASED or not self.sees(reader, fact):
            return None
        if self.past:
            seq = self._seq(reader)
            selection = Selection((fact.owner,), None, fact.key, fact.subject or "")
            known = {found.id: found for found in reader.known(selection, seq)}
            if fact_id not in known:
                return None
            fact = known[fact_id]
        return as_seen(fact, self.when)

    def find(
        self, reader: Reader, reference: str, subject: str | None, error: type[InvalidInput]
    ) -> Fact:
        """The fact of an id, or the one that a key leads to: its incumbent or its chain's end.

        Where nothing is named by it, raises `error`; where several are, AmbiguousTarget.
        """
        fact = self.by_id(reader, reference)
        if fact is not None:
            return fact
        found = self.led_to(reader, reference, subject)
        if not found and subject is None:
            found = self.led_to(reader, reference, None, any_subject=True)
        if not found:
            about = f" about {subject!r}" if subject else ""
            raise error(
                f"no fact with id or key {reference!r}{about} exists here; "
                f"`tenure facts` or session.facts() lists what there is"
            )
        if len(found) > 1:
            ids = ", ".join(fact.id for fact in found[:5])
            raise AmbiguousTarget(
                f"{reference!r} stands for {len(found)} facts; name one by its id: {ids}"
            )
        return found[0]

    def led_to(
        self, reader: Reader, key: str, subject: str | None, *, any_subject: bool = False
    ) -> list[Fact]:
        """The facts in office that a key leads to; several for a multi-valued key.

        A key whose facts were all superseded by others leads to where their chains end.
        """
        wanted = None if any_subject else (subject or "")
        here = list(self.view(reader, key, wanted).effective)
        if here:
            own = [fact for fact in here if fact.owner]
            return own if len(here) == 2 and len(own) == 1 and not here[0].multi_valued else here
        last = [f for f in self.everything(reader, key, wanted) if f.status is Status.SUPERSEDED]
        ends: dict[str, Fact] = {}
        for fact in last:
            end = self.end_of(reader, fact)
            if end is not None and end.is_valid:
                ends[end.id] = end
        return list(ends.values())

    def end_of(self, reader: Reader, fact: Fact) -> Fact | None:
        """Where a fact's chain ends, if this identity may see it."""
        current: Fact | None = fact
        while current is not None and current.superseded_by is not None:
            current = reader.fact(current.superseded_by)
        return self.by_id(reader, current.id) if current is not None else None

    def chain(self, reader: Reader, facts: list[Fact]) -> Chain:
        """These facts and all that are linked with them by supersession, oldest first."""
        found: dict[str, Fact] = {}
        queue = list(facts)
        while queue:
            fact = queue.pop()
            if fact.id in found:
                continue
            found[fact.id] = fact
            for linked in (fact.superseded_by, *fact.predecessors):
                if linked and linked not in found:
                    near = self.by_id(reader, linked)
                    if near is not None:
                        queue.append(near)
        ordered = sorted(found.values(), key=lambda fact: (fact.order, fact.recorded_at, fact.id))
        served = tuple(fact for fact in ordered if fact.started_at and fact.status not in _UNDONE)
        return Chain(served, tuple(f for f in ordered if f.status is Status.OVERRULED))

    def _seq(self, reader: Reader) -> int:
        return reader.head()[0] if self.known_at is None else reader.seq_at(self.known_at)


_UNDONE = (Status.WITHDRAWN, Status.DISCARDED)


def matching(declarations: tuple[Declaration, ...], key: str) -> tuple[Declaration, ...]:
    """The declarations that speak of a key."""
    if not declarations:
        return ()
    return tuple(declared for declared in declarations if declared.matches(key))
