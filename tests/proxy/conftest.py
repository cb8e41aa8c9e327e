"""A proxy in a thread of this process, a stand-in provider behind it, and official clients."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import anthropic
import httpx
import openai
import pytest

import incumbent
from incumbent.http.configuration import Service
from incumbent.proxy.configuration import LARGEST_REQUEST, ProxySettings
from incumbent.proxy.server import proxy_server
from tests.conftest import QUICK
from tests.patience import PATIENCE, eventually
from tests.proxy.stand_in import StandIn
from tests.service.running import PLAIN, read_all

USER = "X-Incumbent-User"
SESSION = "X-Incumbent-Session"
_UNUSED = "sk-of-the-provider"


class RunningProxy:
    """A proxy on a free port."""

    def __init__(self, memory: incumbent.Memory, upstream: str, **given: Any) -> None:
        limits = {name: given.pop(name) for name in list(given) if hasattr(Service, name)}
        self.memory = memory
        self.settings = ProxySettings(upstream=upstream, **given)
        defaults = {"port": 0, "shutdown_timeout": 5, "max_body_bytes": LARGEST_REQUEST}
        service = Service(**{**defaults, **limits})
        self.address = ""
        self._listens = threading.Event()
        self._server = proxy_server(memory, self.settings, service, self._announced)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._clients = ExitStack()

    def _announced(self, address: str) -> None:
        self.address = address
        self._listens.set()

    def __enter__(self) -> RunningProxy:
        self._thread.start()
        assert self._listens.wait(PATIENCE), "the proxy did not come up"
        return self

    def stop(self) -> None:
        """Ask it to come to an end."""
        self._server.should_exit = True

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._thread.join(PATIENCE)
        self._clients.close()
        assert not self._thread.is_alive(), "the proxy did not stop"

    def listens(self) -> bool:
        """Whether it takes connections."""
        with socket.socket() as connection:
            return connection.connect_ex(("127.0.0.1", self.port)) == 0

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def openai(self, user: str | None = "alice", **headers: str) -> openai.OpenAI:
        """The official client of OpenAI, with this proxy as its base URL."""
        given = {**({USER: user} if user else {}), **headers}
        client = openai.OpenAI(
            api_key=_UNUSED,
            base_url=f"{self.address}/v1",
            default_headers=given,
            max_retries=0,
            timeout=PATIENCE,
        )
        return self._clients.enter_context(client)

    def anthropic(self, user: str | None = "alice", **headers: str) -> anthropic.Anthropic:
        """The official client of Anthropic."""
        given = {**({USER: user} if user else {}), **headers}
        client = anthropic.Anthropic(
            api_key=_UNUSED,
            base_url=self.address,
            default_headers=given,
            max_retries=0,
            timeout=PATIENCE,
        )
        return self._clients.enter_context(client)

    def post(self, path: str, content: bytes, **headers: str) -> httpx.Response:
        """A request with these headers ("_" for "-")."""
        given = {"Content-Type": "application/json"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        with httpx.Client(**PLAIN, timeout=PATIENCE) as client:
            return client.post(f"{self.address}{path}", content=content, headers=given)

    def raw(self, data: bytes) -> bytes:
        """What comes back for some bytes, until the connection is closed."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(data)
            return read_all(connection)

    def turns(
        self, user: str = "alice", session: str = "proxy", organization: str = "default"
    ) -> Any:
        """The turns of a session that the memory has observed."""
        with self.memory.store.read(organization, user) as reader:
            return reader.turns(user, session, 1000)

    def speakers(self, **whose: str) -> list[str]:
        return [turn.speaker for turn in self.turns(**whose)]

    def heard(self, count: int, **whose: str) -> list[str]:
        """Who spoke, once so many turns were observed: a reply is observed after it was sent."""
        eventually(lambda: len(self.turns(**whose)) >= count, pause=0.01)
        return self.speakers(**whose)


StartProxy = Callable[..., RunningProxy]


@pytest.fixture
def upstream() -> Iterator[StandIn]:
    """A stand-in provider."""
    with StandIn() as provider:
        yield provider


@pytest.fixture
def start(tmp_path: Any, upstream: StandIn) -> Iterator[StartProxy]:
    """Starts proxies before the stand-in; each on an empty memory unless it is given one."""
    with ExitStack() as stack:

        def started(memory: incumbent.Memory | None = None, **given: Any) -> RunningProxy:
            if memory is None:
                path = tmp_path / f"{len(list(tmp_path.iterdir()))}.db"
                memory = stack.enter_context(incumbent.open(path, settings=QUICK))
            address = given.pop("upstream", upstream.url)
            return stack.enter_context(RunningProxy(memory, address, **given))

        yield started


@pytest.fixture
def proxy(start: StartProxy) -> RunningProxy:
    """A proxy without credentials."""
    return start()
