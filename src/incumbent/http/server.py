"""Serving: the application on a socket, until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from incumbent.http.app import application
from incumbent.http.configuration import Service
from incumbent.http.crew import unavailable
from incumbent.memory import Memory

if TYPE_CHECKING:
    from incumbent.http.metrics import Metrics  # takes a package that only a service needs

_KEEP_ALIVE = 30
_LARGEST_HEAD = 65_536
_SWITCH = 0.0005
"""Seconds after which a thread that computes lets another one go on."""
_YOUNG = 5_000
"""New objects after which garbage is looked for among them."""
_LINGER = 5.0
"""Seconds in which the rest of a refused body is read, so that its sender can read the answer."""
_HEAD_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)


class _Prompt(HttpToolsProtocol):
    """A connection with limits: it is closed if the head of a request is too long or late, or if a
    body goes on long after its answer."""

    header_timeout = 10.0
    _lingering: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._in_body = False
        self._await_head()

    def _await_head(self) -> None:
        self._in_head = True
        self._head_bytes = 0
        self._head_timer = asyncio.get_running_loop().call_later(self.header_timeout, self._give_up)

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # The parser itself would keep a head that never ends.
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > _LARGEST_HEAD and not self.transport.is_closing():
                self.transport.write(_HEAD_TOO_LARGE)
                self.transport.close()

    def on_message_begin(self) -> None:
        self._head_timer.cancel()
        self._await_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head_timer.cancel()
        self._in_head = False
        self._in_body = True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_body = False
        self._stop_lingering()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._in_body and not self.transport.is_closing():
            loop = asyncio.get_running_loop()
            self._lingering = loop.call_later(_LINGER, self._give_up)

    def _stop_lingering(self) -> None:
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_timer.cancel()
        self._stop_lingering()
        super().connection_lost(exc)


class _Announcing(uvicorn.Server):
    """A server that announces when and where it listens."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[str], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets=sockets)
        if self.started and self.servers:
            self._announce(address_of(*self.servers[0].sockets[0].getsockname()[:2]))

    async def shutdown(self, sockets: Any = None) -> None:
        """Tell endless answers to end, and wait for the others."""
        state = getattr(self.config.app, "state", None)
        if state is not None:
            state.stopping = True
        await super().shutdown(sockets=sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on a signal, and return. The server alone would end the process by the same signal,
        before the store is closed and before a database of our own is stopped."""
        with super().capture_signals():
            yield
            self._captured_signals.clear()


def address_of(host: str, port: int) -> str:
    """The URL of a service at that host and port."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def server_for(
    memory: Memory,
    service: Service,
    announce: Callable[[str], None],
    metrics: Metrics | None = None,
) -> uvicorn.Server:
    """A server that is ready to run."""
    return listening(application(memory, service, metrics), service, announce)


def listening(
    app: Any,
    service: Service,
    announce: Callable[[str], None],
    lifespan: Literal["off", "on"] = "off",
) -> uvicorn.Server:
    """A server for an application, with the limits of a service."""
    protocol = type("Prompt", (_Prompt,), {"header_timeout": service.header_timeout})
    config = uvicorn.Config(
        app,
        host=service.host,
        port=service.port,
        http=protocol,
        ws="none",
        loop="auto",
        lifespan=lifespan,
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=int(service.shutdown_timeout),
        limit_concurrency=service.waiting,
    )
    return _Announcing(config, announce)


def serve(
    memory: Memory,
    service: Service,
    announce: Callable[[str], None],
    metrics: Metrics | None = None,
    place: socket.socket | None = None,
) -> None:
    """Answer requests until a signal to stop; calls under way are finished first.

    The address is the service's, or that of a `place` that is bound already.
    """
    server = server_for(memory, service, announce, metrics)
    # What was loaded by now stays: a look through all of it for garbage is felt by every caller.
    gc.set_threshold(_YOUNG)
    gc.freeze()
    run(server, service, place)


def run(server: uvicorn.Server, service: Service, place: socket.socket | None) -> None:
    """Run a server until a signal to stop."""
    # A call that waits for a disk a few times would otherwise wait as often, and each time this
    # long, for one that computes: whoever has much to compute must not be felt by the others.
    sys.setswitchinterval(_SWITCH)
    try:
        server.run(sockets=None if place is None else [place])
    except SystemExit as ended:
        if server.started:
            raise
        raise unavailable(service.host, service.port, None) from ended
