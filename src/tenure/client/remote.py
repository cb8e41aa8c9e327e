"""A memory elsewhere: the same API, over HTTP, for `tenure serve`.

`tenure.open("http://localhost:8765")` gives one. Methods are made from those of `Session` and
`Memory`: the same names, parameters, values and errors.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar, cast

from tenure.audit.entries import AuditEntry, entry_from_record
from tenure.client import encoding
from tenure.client.transport import Calls
from tenure.context.document import Context
from tenure.context.receipt import Receipt
from tenure.memory import Memory, system_clock
from tenure.model.authority import Authority
from tenure.model.errors import (
    InvalidInput,
    NotPermitted,
    ReadOnlySession,
    SessionClosed,
)
from tenure.model.identity import Identity, check_name, check_optional, check_permissions
from tenure.model.ids import new_id
from tenure.model.records import Environment
from tenure.model.times import moment
from tenure.model.values import canonical
from tenure.model.verdict import Verdict
from tenure.operations import BY_NAME, Operation
from tenure.session import UNSET, Session
from tenure.settings import Settings

P = ParamSpec("P")
T = TypeVar("T")

_TIMEOUT = 60.0


def _asked(
    method: Callable[Concatenate[Memory, P], T],
) -> Callable[Concatenate[RemoteMemory, P], T]:
    """The same method of a memory, carried out elsewhere."""
    operation = BY_NAME[method.__name__]
    signature = inspect.signature(method)

    @wraps(method)
    def called(self: RemoteMemory, /, *args: P.args, **named: P.kwargs) -> T:
        given = signature.bind(self, *args, **named)
        given.apply_defaults()
        return cast(T, self._call(operation, given.arguments))

    return called


def _remote(
    method: Callable[Concatenate[Session, P], T],
) -> Callable[Concatenate[RemoteSession, P], T]:
    """The same method, carried out elsewhere."""
    operation = BY_NAME[method.__name__]
    signature = inspect.signature(method)

    @wraps(method)
    def called(self: RemoteSession, /, *args: P.args, **named: P.kwargs) -> T:
        given = signature.bind(self, *args, **named).arguments
        return cast(T, self._call(operation, given))

    return called


def _arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    told = {
        name: encoding.encoded(value)
        for name, value in given.items()
        if name not in ("self", "progress", "states") and value is not UNSET
    }
    if "states" in given:  # a verdict stands for its fact there
        stated = (s.fact_id if isinstance(s, Verdict) else s for s in given["states"])
        told["states"] = list(stated)
    return told


class RemoteSession:
    """A session of a memory elsewhere. See `tenure.Session`."""

    def __init__(self, memory: RemoteMemory, identity: Identity, form: Mapping[str, Any]) -> None:
        self.identity = identity
        self.session_id: str = form["session_id"]
        self.task_id: str | None = form.get("task_id")
        self._memory = memory
        self._form = dict(form)
        self._closed: str | None = None

    @property
    def may_erase(self) -> bool:
        """Whether a turn that asks for something to be forgotten has it erased, as far as the
        credential goes."""
        return self._form.get("may_erase") is not False

    @may_erase.setter
    def may_erase(self, may: bool) -> None:
        self._form["may_erase"] = may

    def _call(self, operation: Operation, given: Mapping[str, Any]) -> Any:
        if self._closed is not None:
            raise SessionClosed(self._closed)
        self._check_values(given)
        body = {"session": self._form, **_arguments(given)}
        return self._memory._service.call(operation, body)

    def _check_values(self, given: Mapping[str, Any]) -> None:
        """Refuse the values that a memory in this process refuses. JSON would carry some of them
        as something else: a tuple as a list, a moment as a text."""
        limit = self._memory.settings.max_value_bytes
        if "value" in given and given["value"] is not UNSET:
            canonical(given["value"], limit=limit)

    observe = _remote(Session.observe)
    write = _remote(Session.write)
    _write_many = _remote(Session.write_many)
    note = _remote(Session.note)
    context = _remote(Session.context)
    current = _remote(Session.current)
    is_current = _remote(Session.is_current)
    get = _remote(Session.get)
    facts = _remote(Session.facts)
    history = _remote(Session.history)
    explain = _remote(Session.explain)
    working_set = _remote(Session.working_set)
    receipts = _remote(Session.receipts)
    retract = _remote(Session.retract)
    revert = _remote(Session.revert)
    promote = _remote(Session.promote)
    undo = _remote(Session.undo)
    reviews = _remote(Session.reviews)
    resolve = _remote(Session.resolve)

    @wraps(Session.write_many)
    def write_many(self, writes: Iterable[Mapping[str, Any]]) -> list[Verdict]:
        asked = list(writes)
        for index, one in enumerate(asked):
            if not isinstance(one, Mapping):
                raise InvalidInput(
                    f"write {index}: a mapping of the arguments of write(), "
                    f"not {type(one).__name__}"
                )
            try:
                self._check_values(one)
            except InvalidInput as error:
                raise InvalidInput(f"write {index}: {error}") from error
        return self._write_many(asked)

    def observe_many(
        self,
        turns: Iterable[Mapping[str, Any]],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[Any]:
        """Take in a transcript, turn by turn; each is durable when the next one begins."""
        from tenure.observing.transcripts import turn_arguments

        made = []
        for index, turn in enumerate(turns):
            try:
                made.append(self.observe(**turn_arguments(turn)))
            except (InvalidInput, NotPermitted) as error:
                raise type(error)(f"turn {index}: {error}") from error
            if progress is not None:
                progress(index + 1)
        return made

    @property
    def environment(self) -> Environment:
        """The environment where the memory is, read afresh."""
        return cast(Environment, self._call(BY_NAME["environment"], {}))

    # branches and the past

    def hypothetical(self, name: str | None = None) -> RemoteSession:
        """A "what if": a session whose writes stay in their own branch until committed."""
        return self._branched("hypothetical", name)

    def draft(self, name: str | None = None) -> RemoteSession:
        """A proposal: like a hypothetical, meant to be committed."""
        return self._branched("draft", name)

    def _branched(self, kind: str, name: str | None) -> RemoteSession:
        self._check_open()
        if self._is_past:
            raise ReadOnlySession("a branch of the past could not be committed")
        chosen = check_name(name or new_id(self._memory.now()), "name")
        branches = [*self._form.get("branches", ()), {"kind": kind, "name": chosen}]
        return self._derived(branches=branches)

    def as_of(self, when: datetime, *, known_at: datetime | None = None) -> RemoteSession:
        """A read-only session: what was true at `when`, as known at `known_at` (default: now)."""
        self._check_open()
        form: dict[str, Any] = {"as_of": moment(when, "when").isoformat()}
        form["known_at"] = None if known_at is None else moment(known_at, "known_at").isoformat()
        return self._derived(**form)

    def _derived(self, **changes: Any) -> RemoteSession:
        return RemoteSession(self._memory, self.identity, {**self._form, **changes})

    @property
    def _is_past(self) -> bool:
        return self._form.get("as_of") is not None

    def commit(self) -> list[Any]:
        """Put the branch's facts forward for real, judged like any others, and close it."""
        made = self._call(BY_NAME["commit"], {})
        self._closed = "this branch was committed; draft() or hypothetical() opens another"
        return cast(list[Any], made)

    def discard(self) -> list[Any]:
        """Drop the branch's facts and close it."""
        made = self._call(BY_NAME["discard"], {})
        self._closed = "this branch was discarded; draft() or hypothetical() opens another"
        return cast(list[Any], made)

    # the end

    def close(self) -> None:
        """End the session: its working set is gone."""
        if self._closed is None and not self._is_past and not self._form.get("branches"):
            self._call(BY_NAME["close"], {})
        self._closed = self._closed or (
            "this session was closed; start another with memory.session(...)"
        )

    def _check_open(self) -> None:
        if self._closed is not None:
            raise SessionClosed(self._closed)

    def __repr__(self) -> str:
        who = self.identity
        where = "".join(f", {b['kind']} {b['name']!r}" for b in self._form.get("branches", ()))
        return f"<RemoteSession of {who.user_id!r} in {who.organization!r}{where}>"

    def __enter__(self) -> RemoteSession:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Elsewhere:
    """Stands for the providers of a memory elsewhere, which are given where it is opened."""

    def provide(self, name: str, provider: Callable[[], Any]) -> None:
        raise InvalidInput(
            f"the provider {name!r} would run where the memory is; give it to the memory that the "
            f"service opens"
        )


class _HasNone(InvalidInput, AttributeError):
    """Something that a memory has only where it is."""


class RemoteMemory:
    """A memory elsewhere. See `tenure.Memory`.

    What is a setting of the memory is set where the service runs; what a credential fixes (the
    organization, sometimes the person) cannot be changed from here.
    """

    def __init__(
        self,
        address: str,
        *,
        key: str | None = None,
        settings: Settings | None = None,
        timeout: float = _TIMEOUT,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self.environment = _Elsewhere()
        self._clock = clock or system_clock
        self._service = Calls(address, key or os.environ.get("TENURE_KEY"), timeout)

    @property
    def store(self) -> NoReturn:
        raise _HasNone(
            "this takes the store itself, which the service has; do it where the memory is, with a "
            "path or the address of the database"
        )

    def now(self) -> datetime:
        """The present, as this process has it. The service goes by its own clock."""
        return moment(self._clock(), "the clock's time")

    def session(
        self,
        *,
        user_id: str,
        user_name: str | None = None,
        authority: str = "employee",
        organization: str = "default",
        department: str | None = None,
        permissions: Iterable[str] = (),
        session_id: str | None = None,
        task_id: str | None = None,
    ) -> RemoteSession:
        """Start a session, or resume one by its `session_id`. The identity is frozen."""
        rung = self.settings.ladder.known(authority)
        identity = Identity(
            user_id=check_name(user_id, "user_id"),
            user_name=check_optional(user_name, "user_name"),
            authority=rung or Authority(authority, 0, authority),
            organization=check_name(organization, "organization"),
            department=check_optional(department, "department"),
            permissions=frozenset(check_permissions(permissions, "permissions")),
        )
        form = {
            "user_id": identity.user_id,
            "user_name": identity.user_name,
            "authority": authority,
            "organization": identity.organization,
            "department": identity.department,
            "permissions": sorted(identity.permissions),
            "session_id": check_name(session_id or new_id(self.now()), "session_id"),
            "task_id": check_optional(task_id, "task_id"),
        }
        return RemoteSession(self, identity, {k: v for k, v in form.items() if v is not None})

    def _call(self, operation: Operation, given: Mapping[str, Any]) -> Any:
        arguments = {k: v for k, v in _arguments(given).items() if v is not None}
        form = {"organization": arguments.pop("organization", None)}
        for one in given.values():
            if isinstance(one, Receipt):
                form["user_id"] = one.user_id
        told = {name: value for name, value in form.items() if value is not None}
        return self._service.call(operation, {"session": told, **arguments})

    declare = _asked(Memory.declare)
    forget = _asked(Memory.forget)
    usage = _asked(Memory.usage)
    reindex = _asked(Memory.reindex)
    receipt = _asked(Memory.receipt)
    replay = _asked(Memory.replay)
    compare = _asked(Memory.compare)

    @wraps(Memory.record)
    def record(self, context: Context) -> Receipt:
        raise InvalidInput(
            "a service keeps the receipts of contexts that it made itself; ask for the context "
            "with record=True"
        )

    @wraps(Memory.flush)
    def flush(self, *, timeout: float | None = None) -> bool:
        raise InvalidInput(
            "second opinions arrive where the service runs, which nobody can wait for from here; "
            "ask for the facts again later"
        )

    def audit(
        self, organization: str, *, after: int = 0, values: bool = False
    ) -> Iterator[AuditEntry]:
        """The log of an organization from after an entry on, one by one, in order, to its end."""
        form = {"session": {"organization": organization}, "after": after, "values": values}
        return map(entry_from_record, self._service.lines("/v1/audit", form))

    def export(self, organization: str) -> Iterator[dict[str, Any]]:
        """Everything of an organization as JSON objects, for `import_`."""
        return self._service.lines("/v1/export", {"session": {"organization": organization}})

    def import_(
        self,
        records: Iterable[dict[str, Any]],
        *,
        organization: str | None = None,
        allow_unsealed: bool = False,
    ) -> int:
        """Load an export into an organization that has no facts yet. All or nothing."""
        named = {} if organization is None else {"organization": organization}
        if allow_unsealed:
            named["allow_unsealed"] = "true"
        return int(self._service.send_lines("/v1/import", records, named)["records"])

    def close(self) -> None:
        """Let go of the connections."""
        self._service.close()

    def __enter__(self) -> RemoteMemory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def connect(address: str, **options: Any) -> Memory:
    """A memory elsewhere, which answers to everything that one in this process does."""
    return cast(Memory, RemoteMemory(address, **options))
