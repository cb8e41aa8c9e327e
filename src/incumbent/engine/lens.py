"""A lens: the part of the store that one session can see, at one moment of both times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from operator import attrgetter

from incumbent.engine.authors import is_own
from incumbent.engine.chains import in_order
from incumbent.engine.redaction import unlinked
from incumbent.model.errors import AmbiguousTarget, InvalidInput
from incumbent.model.fact import Cause, Fact, Status
from incumbent.model.identity import Identity
from incumbent.model.ids import alias
from incumbent.model.records import Chain, Declaration
from incumbent.model.scope import Place
from incumbent.rules.repair import causes_of
from incumbent.rules.scope import View, effective
from incumbent.rules.temporal import as_seen, is_ahead
from incumbent.rules.visibility import may_read
from incumbent.settings import Settings
from incumbent.stores.port import FactReader, LogReader, Reader, Selection

Causes = dict[str, tuple[Cause, ...]]
Legs = tuple[dict[str, Fact], dict[str, Fact]]
"""By the id of each base: the base, and the fact of its chain that holds office."""
# All that `may_read` goes by, but for declarations; most facts have one of few audiences.
_audience = attrgetter("organization", "owner", "memory_type._value_", "requires", "min_authority")


@dataclass
class Lens:
    """The identity that looks, its scopes, and its time.

    `when` is the moment of valid time; `known_at` the moment of record time, None for the present.
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
        known = self._audiences.get(audience := _audience(fact))
        if known is None:
            known = self._audiences[audience] = may_read(self.identity, fact, self.settings.ladder)
        if known and not fact.owner and fact.was_never_kept:
            known = is_own(reader, self.identity, fact)
        declarations = reader.declarations()
        if not known or not declarations:
            return known
        return may_read(self.identity, fact, self.settings.ladder, matching(declarations, fact.key))

    @cached_property
    def _audiences(self) -> dict[object, bool]:
        """Whether this identity belongs to the audiences of the facts looked at so far."""
        return {}

    def held(
        self,
        reader: Reader,
        key: str | None = None,
        subject: str | None = None,
        *,
        marks: bool = True,
    ) -> list[Fact]:
        """Visible facts in office at this lens's moment, in scopes that apply.

        Without `marks`, their causes for review are not computed.
        """
        selection = self.selection(key, subject)
        found = self.known(reader, selection) if self.past else reader.live(selection)
        return self.in_office(reader, found, marks=marks)

    def known(self, reader: Reader, selection: Selection) -> list[Fact]:
        """The facts of a selection as they were known at this lens's moment of record time.

        All facts are read once for a look: they may be very many.
        """
        seq = self.seq(reader)
        if selection != self.selection():
            return reader.known(selection, seq)
        if seq not in self._everything:
            self._everything[seq] = reader.known(selection, seq)
        return self._everything[seq]

    @cached_property
    def _everything(self) -> dict[int, list[Fact]]:
        """The facts that were known after an entry of the log."""
        return {}

    def known_among(self, reader: Reader, fact_ids: Iterable[str]) -> list[Fact]:
        """The facts of these ids as they were known then, oldest first."""
        seq = self.seq(reader)
        if seq < reader.head()[0]:
            return reader.known_facts(fact_ids, seq)
        # Nothing is known later: these may be at hand already.
        found = [fact for fact in reader.facts(fact_ids) if fact.status is not Status.ERASED]
        return sorted(found, key=lambda fact: (fact.recorded_at, fact.id))

    def seen_among(self, reader: Reader, fact_ids: Iterable[str]) -> list[Fact]:
        """What `everything` gives of the facts of these ids."""
        return self._in_scope(reader, self.known_among(reader, fact_ids))

    def in_office(self, reader: Reader, facts: Iterable[Fact], *, marks: bool = True) -> list[Fact]:
        """Those of these facts that are visible, in office at this moment and in scope."""
        known: Causes = {}
        when, places = self.when, self.places
        return [
            # What holds office and rests on nothing is seen as it is.
            fact
            if fact.status is Status.OFFICE and not (marks and fact.depends_on)
            else (self.seen(reader, fact, known) if marks else as_seen(fact, when))
            for fact in facts
            if fact.held_at(when)
            and (fact.scope, fact.scope_id or "") in places
            and self.sees(reader, fact)
        ]

    def not_yet(self, reader: Reader, facts: Iterable[Fact]) -> list[Fact]:
        """Of these facts, those that were said by this moment, are visible, in scope, and take
        office later. They are seen as waiting."""
        return [
            as_seen(fact, self.when)
            for fact in facts
            if is_ahead(fact, self.when) and fact.place in self.places and self.sees(reader, fact)
        ]

    def as_seen(self, fact: Fact) -> Fact:
        """A fact as it stands at this lens's moment, without its causes for review."""
        return as_seen(fact, self.when)

    def seen(self, reader: Reader, fact: Fact, known: Causes | None = None) -> Fact:
        """A fact as it stands at this lens's moment, with its causes for review then.

        Bases expire and successors start with no entry in the log, so the marks of a derived fact
        are computed afresh for this moment. `known` keeps the results, for looking at many facts.
        """
        fact = as_seen(fact, self.when)
        if not fact.is_valid or not fact.depends_on:
            return fact
        return fact.evolve(causes=self._causes(reader, fact, {} if known is None else known))

    def _causes(self, reader: Reader, fact: Fact, known: Causes) -> tuple[Cause, ...]:
        """The causes of a fact, bases before their dependents; no recursion, so any depth."""
        legs: dict[str, Legs] = {}
        stack = [fact]
        while stack:
            current = stack[-1]
            if current.id not in legs:
                found = self._legs(reader, current)
                if found is None:
                    known[current.id] = current.causes
                    stack.pop()
                    continue
                legs[current.id] = found
            bases, ends = legs[current.id]
            open_ends = [
                end
                for end in ends.values()
                if end.is_valid and end.depends_on and end.id not in known and end.id not in legs
            ]
            if open_ends:
                stack.extend(open_ends)
                continue
            settled = {
                base: end.evolve(causes=known.get(end.id, ())) if end.depends_on else end
                for base, end in ends.items()
            }
            known[current.id] = causes_of(current, bases, settled)
            stack.pop()
        return known[fact.id]

    def _legs(self, reader: Reader, fact: Fact) -> Legs | None:
        """The bases of a fact, and the facts of their chains that are in office at this moment.

        None where a base is somebody else's own and the store keeps it out of this view. The marks
        that the last decision left then stand.
        """
        bases, ends = {}, {}
        for base_id in fact.depends_on:
            base = self._stored(reader, base_id)
            if base is None:
                return None
            bases[base_id] = base
            holding = as_seen(self._holding(reader, base), self.when)
            ends[base_id] = self._in_front_of(reader, holding)
        return bases, ends

    def _in_front_of(self, reader: Reader, fact: Fact) -> Fact:
        """The fact that this session goes by instead: one that a task or a branch puts in front.

        In a hypothetical, everything that rests on the value that is tried out needs review.
        """
        if not fact.is_valid or fact.multi_valued or fact.place not in self.places:
            return fact
        held = self.held(reader, fact.key, fact.subject or "", marks=False)
        shadowed = effective(held, self.places, self.settings.ladder).shadowed
        return next((front for behind, front in shadowed if behind.id == fact.id), fact)

    def _holding(self, reader: Reader, base: Fact) -> Fact:
        """The fact of a base's chain that is in office at this moment, else the chain's end."""
        current = base
        while not current.held_at(self.when) and current.superseded_by is not None:
            following = self._stored(reader, current.superseded_by)
            if following is None:
                break
            current = following
        return current

    def _stored(self, reader: Reader, fact_id: str) -> Fact | None:
        """A fact as known at this lens's moment of record time, for any reader."""
        fact = reader.fact(fact_id)
        if fact is None or not self.past or fact.status is Status.ERASED:
            return fact
        return next(iter(self.known_among(reader, (fact_id,))), None)

    def view(self, reader: Reader, key: str | None = None, subject: str | None = None) -> View:
        """The facts this session goes by, and those that step aside."""
        held = self.held(reader, key, subject)
        return effective(held, self.places, self.settings.ladder)

    def everything(
        self, reader: Reader, key: str | None = None, subject: str | None = None
    ) -> list[Fact]:
        """Visible facts of every status in scopes that apply, oldest first."""
        selection = self.selection(key, subject)
        found = self.known(reader, selection) if self.past else reader.timeline(selection)
        return self._in_scope(reader, found)

    def _in_scope(self, reader: Reader, facts: Iterable[Fact]) -> list[Fact]:
        seen = (f for f in facts if f.place in self.places and self.sees(reader, f))
        return [as_seen(fact, self.when) for fact in seen]

    def by_id(self, reader: Reader, fact_id: str) -> Fact | None:
        """A visible fact, or None; nobody sees an erased one."""
        fact = self.glimpse(reader, fact_id)
        return self.seen(reader, fact) if fact is not None else None

    def by_ids(self, reader: Reader, fact_ids: Iterable[str]) -> dict[str, Fact]:
        """Those of these facts that are visible, by their ids."""
        if self.past:
            found = [self.by_id(reader, fact_id) for fact_id in fact_ids]
            return {fact.id: fact for fact in found if fact is not None}
        known: Causes = {}
        return {
            fact.id: self.seen(reader, fact, known)
            for fact in reader.facts(fact_ids)
            if fact.status is not Status.ERASED and self.sees(reader, fact)
        }

    def glimpse(self, reader: Reader, fact_id: str) -> Fact | None:
        """A fact by its id without its review marks. Computing those would read all its bases."""
        fact = self._stored(reader, fact_id)
        if fact is not None and not self._is_there(reader, fact):
            fact = self._stored(reader, alias(fact_id, self.identity.user_id))
        if fact is None or not self._is_there(reader, fact):
            return None
        return as_seen(fact, self.when)

    def _is_there(self, reader: Reader, fact: Fact) -> bool:
        return fact.status is not Status.ERASED and self.sees(reader, fact)

    def find(
        self, reader: Reader, reference: str, subject: str | None, error: type[InvalidInput]
    ) -> Fact:
        """The fact with an id, or the one that a key leads to: its incumbent or its chain's end.

        Raises `error` if the reference names nothing, and AmbiguousTarget if it names several.
        """
        fact = self.glimpse(reader, reference)
        found = self.led_to(reader, reference, subject)
        if fact is not None and fact.place in self.places:
            if any(other.id != fact.id and other.key == reference for other in found):
                # Somebody chose an id that reads like this key; guessing could hit the wrong fact.
                raise AmbiguousTarget(
                    f"{reference!r} is the id of one fact and the key of another; "
                    f"name the other by its id: {', '.join(other.id for other in found[:5])}"
                )
            return fact
        if not found:
            found = self.led_to(reader, reference, None, any_subject=subject is None)
        if not found:
            about = f" about {subject!r}" if subject else ""
            raise error(
                f"no fact with id or key {reference!r}{about} exists here; "
                f"`incumbent facts` or session.facts() lists what there is"
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

        A key whose facts were all superseded by others leads to the ends of their chains.
        """
        wanted = None if any_subject else (subject or "")
        held = self.held(reader, key, wanted, marks=False)
        here = list(effective(held, self.places, self.settings.ladder).effective)
        if here:
            if not any_subject and not any(fact.multi_valued for fact in here):
                # One's own fact beside an unrelated one of the organization.
                return _own_first(here)[:1]
            return here
        last = [f for f in self.everything(reader, key, wanted) if f.status is Status.SUPERSEDED]
        ends: dict[str, Fact] = {}
        for fact in last:
            end = self.glimpse(reader, self._holding(reader, fact).id)
            if end is not None and end.is_valid:
                ends[end.id] = end
        return list(ends.values())

    def end_of(self, reader: Reader, fact: Fact) -> Fact | None:
        """The end of a fact's chain, if this identity may see it."""
        current: Fact | None = fact
        while current is not None and current.superseded_by is not None:
            current = reader.fact(current.superseded_by)
        return self.glimpse(reader, current.id) if current is not None else None

    def chain(self, reader: Reader, facts: list[Fact]) -> Chain:
        """These facts and all facts linked with them by supersession, oldest first."""
        found: dict[str, Fact] = {}
        hidden: set[str] = set()
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
                    elif not self._is_erased(reader, linked):
                        hidden.add(linked)
        if hidden:
            found = {fact.id: unlinked(fact, hidden) for fact in found.values()}
        ordered = in_order(found)
        served = tuple(fact for fact in ordered if fact.started_at and fact.status not in _UNDONE)
        valid = [fact for fact in served if fact.is_valid]
        live = effective(valid, self.places, self.settings.ladder).effective if valid else ()
        return Chain(
            served,
            tuple(fact for fact in ordered if fact.status is Status.OVERRULED),
            next((fact.id for fact in (*_own_first(live), *reversed(valid))), None),
        )

    def _is_erased(self, reader: FactReader, fact_id: str) -> bool:
        fact = reader.fact(fact_id)
        return fact is not None and fact.status is Status.ERASED

    def seq(self, reader: LogReader) -> int:
        """The last entry of the log that counts as known."""
        return reader.head()[0] if self.known_at is None else reader.seq_at(self.known_at)


_UNDONE = (Status.WITHDRAWN, Status.DISCARDED)


def _own_first(facts: Iterable[Fact]) -> list[Fact]:
    """The sort order: one's own before the organization's, what is so before what was learned."""
    return sorted(facts, key=lambda f: (f.capability is not None, not f.owner, f.id))


def matching(declarations: tuple[Declaration, ...], key: str) -> tuple[Declaration, ...]:
    """The declarations that match a key."""
    if not declarations:
        return ()
    return tuple(declared for declared in declarations if declared.matches(key))
