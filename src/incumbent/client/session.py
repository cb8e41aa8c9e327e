"""A session of a memory elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from incumbent.client.methods import body_of, sending
from incumbent.client.transport import Calls
from incumbent.clock import Clock
from incumbent.model.errors import InvalidInput, NotPermitted
from incumbent.model.identity import Identity
from incumbent.model.records import Environment
from incumbent.model.scope import Place
from incumbent.model.times import moment
from incumbent.model.values import canonical
from incumbent.model.verdict import Verdict
from incumbent.operations import BY_PATH, Operation
from incumbent.session import Session
from incumbent.session.corrections import UNSET
from incumbent.session.rehearsable import rehearsable
from incumbent.settings import Settings
from incumbent.turns.observation import Observation


@dataclass(frozen=True)
class RemoteResources:
    """The resources that a memory elsewhere and its sessions share."""

    service: Calls
    settings: Settings
    clock: Clock

    def now(self) -> datetime:
        """The present, as this process has it."""
        return moment(self.clock(), "the clock's time")


@sending("session")
class RemoteSession(Session):
    """A session of a memory elsewhere. See `incumbent.Session`."""

    # It has no resources of this process, so that nothing of what a session sets up is there.
    def __init__(
        self,
        elsewhere: RemoteResources,
        identity: Identity,
        form: Mapping[str, Any],
        *,
        branch: Place | None = None,
        when: datetime | None = None,
    ) -> None:
        self.identity = identity
        self.session_id = form["session_id"]
        self.task_id = form.get("task_id")
        self.may_erase = True
        self._mode = elsewhere.settings.mode
        self.ask_before_keeping = elsewhere.settings.ask_before_keeping or None
        self._elsewhere = elsewhere
        self._form = dict(form)
        self._branch = branch
        self._when = when
        self._closed = None
        self._rehearses = False
        self._changes = ()

    def _now(self) -> datetime:
        return self._elsewhere.now()

    def _send(self, operation: Operation, given: Mapping[str, Any]) -> Any:
        self._check_open()
        self._check_values(given)
        form = {**self._form, **self._told()}
        body = {"session": form, **body_of(given)}
        if self._rehearses and operation.changes:
            told = self._elsewhere.service.call(BY_PATH[f"rehearse/{operation.name}"], body)
            self._changes = told.changes
            return told.result
        if self._rehearses and operation.name == "context":
            body["record"] = False
        return self._elsewhere.service.call(operation, body)

    def _told(self) -> dict[str, bool]:
        """What was set on this session that the service must know."""
        found = {} if self.may_erase else {"may_erase": False}
        if self.ask_before_keeping is not None:
            found["ask_before_keeping"] = self.ask_before_keeping
        return found

    def _check_values(self, given: Mapping[str, Any]) -> None:
        """Refuse the values that a memory in this process refuses. JSON would turn some of them
        into something else: a tuple into a list, a moment into a text."""
        limit = self._elsewhere.settings.max_value_bytes
        if "value" in given and given["value"] is not UNSET:
            canonical(given["value"], limit=limit)

    @rehearsable
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
        return cast(list[Verdict], self._send(BY_PATH["write_many"], {"writes": asked}))

    def observe_many(
        self,
        turns: Iterable[Mapping[str, Any]],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[Observation]:
        from incumbent.turns.transcripts import turn_arguments

        self._check_real()
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
        return cast(Environment, self._send(BY_PATH["environment"], {}))

    # branches, the past, and the end

    def _derived(
        self,
        *,
        branch: Place | None,
        when: datetime | None = None,
        known_at: datetime | None = None,
    ) -> RemoteSession:
        form = dict(self._form)
        if when is not None:
            form["as_of"] = when.isoformat()
            form["known_at"] = None if known_at is None else known_at.isoformat()
        elif branch is not None:
            kind, name = branch
            form["branches"] = [*form.get("branches", ()), {"kind": kind.value, "name": name}]
        made = RemoteSession(self._elsewhere, self.identity, form, branch=branch, when=when)
        made.may_erase = self.may_erase
        made.mode, made.ask_before_keeping = self.mode, self.ask_before_keeping
        made._rehearses = self._rehearses
        return made

    @rehearsable
    def commit(self) -> list[Verdict]:
        made = self._send(BY_PATH["commit"], {})
        self._end("this branch was committed; draft() or hypothetical() opens another")
        return cast(list[Verdict], made)

    @rehearsable
    def discard(self) -> list[Verdict]:
        made = self._send(BY_PATH["discard"], {})
        self._end("this branch was discarded; draft() or hypothetical() opens another")
        return cast(list[Verdict], made)

    def close(self) -> None:
        own_desk = self._when is None and self._branch is None and not self._rehearses
        if self._closed is None and own_desk:
            self._send(BY_PATH["close"], {})
        self._closed = self._closed or (
            "this session was closed; start another with memory.session(...)"
        )

    def __repr__(self) -> str:
        who = self.identity
        where = "".join(f", {b['kind']} {b['name']!r}" for b in self._form.get("branches", ()))
        where += ", a rehearsal" if self._rehearses else ""
        return f"<RemoteSession of {who.user_id!r} in {who.organization!r}{where}>"
