"""The base of every part of a session: the asker, the place and the time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from incumbent.engine.lens import Lens
from incumbent.engine.registrar import Registrar
from incumbent.engine.rehearsing import Rehearsal, rolled_back
from incumbent.engine.retries import repeated
from incumbent.model.errors import InvalidInput, ReadOnlySession, SessionClosed
from incumbent.model.fact import UNNAMED, Fact, Status
from incumbent.model.identity import Identity, check_name
from incumbent.model.modes import Mode, check_mode
from incumbent.model.records import TURN, Change, WorkingItem
from incumbent.model.scope import EVERYWHERE, Place, Scope
from incumbent.resources import Resources
from incumbent.search.index import OUTDATED
from incumbent.stores.port import Reader
from incumbent.telemetry.traced import traced

if TYPE_CHECKING:
    from incumbent.turns.rereading.rereader import Rereader
    from incumbent.turns.rereading.told import Deferred, Told

RETRACTABLE = (Status.OFFICE, Status.CONTESTED, Status.WAITING)


@traced()
class SessionBase:
    """An identity, the scopes that apply to it, and its ways into the store."""

    def __init__(
        self,
        resources: Resources,
        identity: Identity,
        *,
        session_id: str,
        task_id: str | None = None,
        parent: Self | None = None,
        branch: Place | None = None,
        when: datetime | None = None,
        known_at: datetime | None = None,
    ) -> None:
        self.identity = identity
        self.session_id = session_id
        self.task_id = task_id
        self.may_erase: bool = parent.may_erase if parent is not None else True
        """Whether a turn that asks to forget something erases it instead of only retracting it. A
        service grants this only to callers who may erase."""
        given = parent if parent is not None else resources.settings
        self._mode: Mode = given.mode
        self.ask_before_keeping: bool | None = given.ask_before_keeping
        """Whether what a turn says here waits in `reviews` until the person approves it. None
        leaves that to the service where the memory is."""
        self.rereader: Rereader | Deferred | Told | None = (
            parent.rereader if parent is not None else resources.rereader_of(identity.organization)
        )
        """What has a model read the turns again. Interfaces may bring their own."""
        self._resources = resources
        self._telemetry = resources.telemetry
        self._parent = parent
        self._branch = branch
        self._when = when
        self._known_at = known_at
        self._closed: str | None = None
        self._rehearses = False
        self._changes: tuple[Change, ...] = ()
        self._places = self._applying()
        self._owners = (identity.user_id, "")

    @property
    def mode(self) -> Mode:
        """What the proxy and the adapters do for this session: "both", "observe" or "add". Set it
        for a session that is to differ from the settings."""
        return self._mode

    @mode.setter
    def mode(self, given: Mode) -> None:
        self._mode = check_mode(given)

    def _applying(self) -> tuple[Place, ...]:
        """The scopes that apply here, narrowest first."""
        if self._branch is not None:
            assert self._parent is not None
            return (self._branch, *self._parent._places)
        places: list[Place] = [(Scope.SESSION, self.session_id)]
        if self.task_id is not None:
            places.append((Scope.TASK, self.task_id))
        return (*places, EVERYWHERE)

    def _derived(
        self,
        *,
        branch: Place | None,
        when: datetime | None = None,
        known_at: datetime | None = None,
    ) -> Self:
        """A session of the same identity: in a branch, or at another time."""
        parent = self._parent if when is not None else self
        made = type(self)(
            self._resources,
            self.identity,
            session_id=self.session_id,
            task_id=self.task_id,
            parent=parent,
            branch=branch,
            when=when,
            known_at=known_at,
        )
        made._rehearses = self._rehearses
        return made

    def _caller(self) -> tuple[str, str, str]:
        """The caller, for telemetry."""
        return self.identity.organization, self.identity.user_id, self.session_id

    def _now(self) -> datetime:
        return self._resources.now()

    # into the store

    def _lens(self) -> Lens:
        now = self._now()
        return Lens(
            self.identity,
            self._places,
            self._resources.settings,
            when=self._when or now,
            known_at=self._known_at,
            past=self._when is not None,
        )

    @contextmanager
    def _reading(self) -> Iterator[tuple[Any, Lens]]:
        self._check_open()
        who = self.identity
        with self._resources.store.read(who.organization, who.user_id) as reader:
            lens = self._lens()
            last = reader.head()[1]
            if not lens.past and last is not None and last > lens.when:
                # The log can be a little ahead of the clock: after a batch, or a clock set back.
                lens.when = last
            yield reader, lens

    @contextmanager
    def _registrar(self) -> Iterator[Registrar]:
        self._check_open()
        if self._when is not None:
            raise ReadOnlySession(
                f"this session looks at {self._when.isoformat()}, and the past takes no writes; "
                f"use the session it came from"
            )
        if self._rehearses:
            with self._rehearsal_registrar() as registrar:
                yield registrar
            return
        with self._resources.store.write(self.identity.organization) as transaction:
            # Read the clock only once it is our turn: queueing must not make a write look late.
            registrar = Registrar(transaction, self._lens())
            yield registrar
            if registrar.touched:
                self._keep(registrar)
        self._resources.bells.ring()

    @contextmanager
    def _rehearsal_registrar(self) -> Iterator[Registrar]:
        """A registrar whose decisions are taken back. The index never hears of them."""
        with rolled_back(self._resources.store, self.identity.organization) as transaction:
            rehearsal = Rehearsal(transaction)
            with rehearsal.registrar(self._lens()) as registrar:
                yield registrar
        self._changes = rehearsal.changes

    def _keep(self, registrar: Registrar) -> None:
        """Keep the index in step with the decisions, in the same transaction."""
        transaction = registrar.transaction
        if self._resources.settings.indexing:
            self._resources.index.keep(
                transaction,
                registrar.touched.values(),
                registrar.now,
                first=registrar.is_first,
            )
        elif transaction.recipe() is not None:
            transaction.set_recipe(OUTDATED)

    def _desk(self, reader: Reader, lens: Lens) -> list[WorkingItem]:
        items = reader.working_items(self.identity.user_id, self.session_id)
        return [item for item in items if not item.expired(lens.when)]

    def _seen_desk(self, reader: Reader, lens: Lens, *, to_show: bool = False) -> list[WorkingItem]:
        """The desk without what states a fact that one may not see: words are for whoever may see
        all that came of them. What a model is `to_show` lacks what was not approved, too."""
        items = self._desk(reader, lens)
        stated = {fact_id for item in items for fact_id in item.stated}
        facts = reader.facts(stated) if stated else []
        hidden = {
            fact.id
            for fact in facts
            if fact.status is not Status.ERASED and not lens.sees(reader, fact)
        }
        if to_show:
            unkept = [fact for fact in facts if fact.was_never_kept]
            hidden.update(fact.id for fact in unkept)
            said_in = tuple(f"{TURN}{fact.source.turn_index} (" for fact in unkept)
            items = [item for item in items if not item.key.startswith(said_in)]
        return [item for item in items if hidden.isdisjoint(item.stated)] if hidden else items

    # checks

    def _check_open(self) -> None:
        if self._closed is not None:
            raise SessionClosed(self._closed)

    def _check_named(self, key: str | None, subject: str | None = None) -> None:
        """Refuse a key or subject that names no fact; plain names pass at once."""
        if key == UNNAMED:
            raise InvalidInput(
                'key or id is empty; name one. facts("") lists what is kept under no name, with ids'
            )
        if key is not None and not (key and _storable(key)):
            check_name(key, "key or id")
        if subject and not _storable(subject):
            check_name(subject, "subject")

    def _check_in_branch(self, fact: Fact | None) -> None:
        if self._branch is not None and fact is not None and fact.place != self._branch:
            raise InvalidInput(
                f"{fact.quoted_key} lies outside this branch, and a branch changes nothing real; "
                f"do this in the session itself, or write the value you want to try out"
            )

    # the end

    @repeated
    def close(self) -> None:
        """End the session: its working set is gone."""
        if self.rereader is not None and self._closed is None:
            self.rereader.end((self.identity, self.session_id, self.task_id, self._branch))
        own_desk = self._when is None and self._branch is None and not self._rehearses
        if self._closed is None and own_desk:
            with self._resources.store.write(self.identity.organization) as transaction:
                transaction.drop_items(user_id=self.identity.user_id, session_id=self.session_id)
        self._closed = self._closed or (
            "this session was closed; start another with memory.session(...)"
        )

    def __repr__(self) -> str:
        who = self.identity
        where = f", {self._branch[0]} {self._branch[1]!r}" if self._branch else ""
        where += ", a rehearsal" if self._rehearses else ""
        return f"<Session of {who.user_id!r} ({who.authority.rung}) in {who.organization!r}{where}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _storable(text: object) -> bool:
    """Whether it is plain text that every store can have. PostgreSQL takes no NUL."""
    return type(text) is str and text.isascii() and "\0" not in text
