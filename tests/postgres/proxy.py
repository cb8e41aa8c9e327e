"""A network that can be cut: a proxy before a PostgreSQL server, with faults on command."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from urllib.parse import quote

from psycopg.conninfo import conninfo_to_dict

from tests.patience import PATIENCE

_CHUNK = 1 << 16


class Fault(Enum):
    """What happens to a message from the client, and to its connection."""

    CUT_BEFORE = "the connection breaks, and the server never gets the message"
    CUT_AFTER = "the server gets the message, and the connection breaks before its answer"
    CUT_AT_ONCE = "the server gets the message, and the connection breaks while it is at it"
    STALL_BEFORE = "the message gets lost, and nobody says so"
    STALL_AFTER = "the server gets the message, and its answer gets lost"

    @property
    def is_delivered(self) -> bool:
        return self in (Fault.CUT_AFTER, Fault.CUT_AT_ONCE, Fault.STALL_AFTER)

    @property
    def is_cut(self) -> bool:
        return self in (Fault.CUT_BEFORE, Fault.CUT_AFTER, Fault.CUT_AT_ONCE)


class Proxy:
    """Passes everything on, until told otherwise."""

    def __init__(self, server: str) -> None:
        self._server = conninfo_to_dict(server)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._open: list[_Link] = []
        self._fault: tuple[Fault, bytes | int] | None = None
        self.is_refusing = False
        self.struck = threading.Event()
        """Whether the fault that was planned has happened."""
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        port = self._listener.getsockname()[1]
        user, name = quote(str(self._server["user"])), quote(str(self._server["dbname"]))
        secret = self._server.get("password")
        password = f":{quote(str(secret))}" if secret else ""
        return f"postgresql://{user}{password}@127.0.0.1:{port}/{name}?sslmode=disable"

    def plan(self, fault: Fault, at: bytes | int) -> None:
        """Let something happen once: at a message with these bytes, or at the n-th from now."""
        with self._lock:
            self.struck.clear()
            self._fault = (fault, at)

    def relent(self) -> None:
        """Let nothing happen that was planned and has not happened yet."""
        with self._lock:
            self._fault = None

    def cut(self) -> None:
        """Break every connection there is. New ones are let through."""
        with self._lock:
            links, self._open = self._open, []
        for link in links:
            link.close()

    def close(self) -> None:
        self._listener.close()
        self.cut()

    def strikes(self, message: bytes) -> Fault | None:
        """The fault for this message, if it is the one."""
        with self._lock:
            if self._fault is None:
                return None
            fault, at = self._fault
            if isinstance(at, bytes):
                if at not in message:
                    return None
            elif at > 1:
                self._fault = (fault, at - 1)
                return None
            self._fault = None
            self.struck.set()
            return fault

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.is_refusing:
                client.close()
                continue
            link = _Link(self, client, self._connect())
            with self._lock:
                self._open.append(link)
            link.start()

    def _connect(self) -> socket.socket:
        host, port = str(self._server["host"]), self._server.get("port", 5432)
        if not host.startswith("/"):
            return socket.create_connection((host, int(str(port))))
        upstream = socket.socket(socket.AF_UNIX)
        upstream.connect(f"{host}/.s.PGSQL.{port}")
        return upstream


class _Link:
    """One connection through the proxy."""

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy = proxy
        self._client = client
        self._server = server
        self._answered = threading.Event()
        self._swallows = False

    def start(self) -> None:
        for target in (self._forth, self._back):
            threading.Thread(target=target, daemon=True).start()

    def _forth(self) -> None:
        with suppress(OSError):
            while message := self._client.recv(_CHUNK):
                fault = self._proxy.strikes(message)
                if fault is not None:
                    self._suffer(fault, message)
                    return
                self._server.sendall(message)
        self.close()

    def _suffer(self, fault: Fault, message: bytes) -> None:
        self._swallows = True
        self._answered.clear()
        if fault.is_delivered:
            self._server.sendall(message)
            if fault is not Fault.CUT_AT_ONCE:
                assert self._answered.wait(PATIENCE), "the server does not answer"
        if fault.is_cut:
            self.close()

    def _back(self) -> None:
        with suppress(OSError):
            while answer := self._server.recv(_CHUNK):
                self._answered.set()
                if not self._swallows:
                    self._client.sendall(answer)
        if not self._swallows:
            self.close()

    def close(self) -> None:
        for end in (self._client, self._server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextmanager
def through_a_proxy(server: str) -> Iterator[Proxy]:
    """A proxy before the server of an address."""
    proxy = Proxy(server)
    try:
        yield proxy
    finally:
        proxy.close()
