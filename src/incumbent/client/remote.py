"""A memory elsewhere: the same API, over HTTP, for `incumbent serve`.

`incumbent.open("http://localhost:8765")` gives one. Methods are made from those of `Session` and
`Memory`: the same names, parameters, values and errors.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NoReturn

from incumbent.audit.entries import AuditEntry, entry_from_record
from incumbent.client.methods import body_of, sending
from incumbent.client.session import RemoteResources, RemoteSession
from incumbent.client.transport import Calls
from incumbent.clock import Clock, system_clock
from incumbent.context.document import Context
from incumbent.context.receipt import Receipt
from incumbent.environment import Provider, Providers
from incumbent.memory import Memory
from incumbent.model.authority import Authority, Ladder
from incumbent.model.errors import InvalidInput
from incumbent.model.identity import Identity
from incumbent.model.records import Environment
from incumbent.operations import Operation
from incumbent.search.index import Progress
from incumbent.settings import Settings

__all__ = ["RemoteMemory", "RemoteSession"]

_TIMEOUT = 60.0


class _RemoteProviders(Providers):
    """Stands for the providers of a memory elsewhere. They are registered where it is opened."""

    def provide(self, name: str, provider: Provider) -> None:
        raise InvalidInput(
            f"the provider {name!r} would run where the memory is; give it to the memory that the "
            f"service opens"
        )

    def read(self, now: datetime) -> Environment:
        raise InvalidInput("the providers are where the memory is; ask session.environment")


class _RemoteLadder(Ladder):
    """A ladder that leaves unknown titles to the service."""

    def resolve(self, title: str) -> Authority:
        return self.known(title) or Authority(title, 0, title)


class _HasNone(InvalidInput, AttributeError):
    """Raised for an attribute that only the process with the memory has."""


@sending("memory")
class RemoteMemory(Memory):
    """A memory elsewhere. See `incumbent.Memory`.

    Settings of the memory are set where the service runs. The values that a credential fixes (the
    organization, sometimes the person) cannot be changed from here.
    """

    # It has no resources of this process, so that nothing of what a memory sets up is there.
    def __init__(
        self,
        address: str,
        *,
        key: str | None = None,
        settings: Settings | None = None,
        timeout: float = _TIMEOUT,
        clock: Clock | None = None,
    ) -> None:
        settings = settings or Settings()
        self.settings = settings
        self.environment = _RemoteProviders(
            settings.timezone, settings.max_signal_bytes, settings.provider_timeout
        )
        self._told: Progress | None = None
        self._titles = _RemoteLadder(settings.ladder.rungs, settings.ladder.titles)
        service = Calls(address, key or os.environ.get("INCUMBENT_KEY"), timeout)
        self._elsewhere = RemoteResources(service, settings, clock or system_clock)

    @property
    def resources(self) -> NoReturn:
        """The service has the resources, among them the store, the index and the reader."""
        raise _HasNone(
            "this takes the store itself, which the service has; do it where the memory is, with a "
            "path or the address of the database"
        )

    @property
    def progress(self) -> Progress | None:
        """The callback for long work in this process. The service reports its own work there."""
        return self._told

    @progress.setter
    def progress(self, told: Progress | None) -> None:
        self._told = told

    def now(self) -> datetime:
        """The present, as this process has it. The service goes by its own clock."""
        return self._elsewhere.now()

    @property
    def _ladder(self) -> Ladder:
        return self._titles

    def _started(
        self, identity: Identity, title: str, session_id: str, task_id: str | None
    ) -> RemoteSession:
        form = {
            "user_id": identity.user_id,
            "user_name": identity.user_name,
            "authority": title,
            "organization": identity.organization,
            "department": identity.department,
            "permissions": sorted(identity.permissions),
            "session_id": session_id,
            "task_id": task_id,
        }
        said = {name: value for name, value in form.items() if value is not None}
        return RemoteSession(self._elsewhere, identity, said)

    def _send(self, operation: Operation, given: Mapping[str, Any]) -> Any:
        arguments = {k: v for k, v in body_of(given).items() if v is not None}
        form = {"organization": arguments.pop("organization", None)}
        for one in given.values():
            if isinstance(one, Receipt):
                form["user_id"] = one.user_id
        told = {name: value for name, value in form.items() if value is not None}
        return self._elsewhere.service.call(operation, {"session": told, **arguments})

    def record(self, context: Context) -> Receipt:
        raise InvalidInput(
            "a service keeps the receipts of contexts that it made itself; ask for the context "
            "with record=True"
        )

    def flush(self, *, timeout: float | None = None) -> bool:
        raise InvalidInput(
            "second opinions arrive where the service runs, which nobody can wait for from here; "
            "ask for the facts again later"
        )

    def audit(
        self, organization: str, *, after: int = 0, values: bool = False
    ) -> Iterator[AuditEntry]:
        form = {"session": {"organization": organization}, "after": after, "values": values}
        return map(entry_from_record, self._elsewhere.service.lines("/v1/audit", form))

    def export(self, organization: str) -> Iterator[dict[str, Any]]:
        form = {"session": {"organization": organization}}
        return self._elsewhere.service.lines("/v1/export", form)

    def import_(
        self,
        records: Iterable[dict[str, Any]],
        *,
        organization: str | None = None,
        allow_unsealed: bool = False,
    ) -> int:
        named = {} if organization is None else {"organization": organization}
        if allow_unsealed:
            named["allow_unsealed"] = "true"
        answer = self._elsewhere.service.send_lines("/v1/import", records, named)
        return int(answer["records"])

    def close(self) -> None:
        """Let go of the connections."""
        self._elsewhere.service.close()
