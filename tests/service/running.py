"""Services for the tests: the real application on a real socket, in a thread or as a process."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

import incumbent
from incumbent.http.configuration import Service
from incumbent.http.metrics import Metrics
from incumbent.http.server import server_for
from incumbent.keys import make_key
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
PROGRAM = "from incumbent.cli import main; main()"
PLAIN: dict[str, Any] = {"trust_env": False, "verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)}
"""For httpx: nothing here is encrypted, and to read all certificates takes longer than a call."""


class Running:
    """A service in a thread of this process, on a free port."""

    def __init__(
        self, memory: incumbent.Memory, *, metrics: Metrics | None = None, **settings: Any
    ) -> None:
        self.memory = memory
        self.service = Service(**{"port": 0, "shutdown_timeout": 5, **settings})
        self.address = ""
        self._listens = threading.Event()
        self._server = server_for(memory, self.service, self._announced, metrics)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    def _announced(self, address: str) -> None:
        self.address = address
        self._listens.set()

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def __enter__(self) -> Running:
        self._thread.start()
        assert self._listens.wait(PATIENCE), "the service did not come up"
        return self

    def stop(self) -> None:
        """Ask it to come to an end."""
        self._server.should_exit = True

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the service did not stop"

    def post(
        self, operation: str, body: Any = None, *, key: str | None = None, **headers: str
    ) -> httpx.Response:
        """Ask for an operation."""
        return post(self.address, operation, body, key=key, **headers)

    def connect(self) -> socket.socket:
        """A bare connection, for what no decent client sends."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def raw(self, data: bytes) -> bytes:
        """What comes back for some bytes, until the service closes the connection."""
        with self.connect() as connection:
            connection.sendall(data)
            return read_all(connection)


def read_all(connection: socket.socket) -> bytes:
    found = b""
    try:
        while piece := connection.recv(65536):
            found += piece
    except OSError:
        pass
    return found


def post(
    address: str, operation: str, body: Any = None, *, key: str | None = None, **headers: str
) -> httpx.Response:
    """Ask a service for an operation."""
    given = {"Content-Type": "application/json"}
    if key is not None:
        given["Authorization"] = f"Bearer {key}"
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    content = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
    with httpx.Client(**PLAIN, timeout=PATIENCE) as client:
        return client.post(f"{address}/v1/{operation}", content=content, headers=given)


def problem(response: httpx.Response, status: int, title: str | None = None) -> dict[str, Any]:
    """The problem that a response tells, which has that status."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    told: dict[str, Any] = response.json()
    assert told["status"] == status
    assert told["request_id"] == response.headers["x-request-id"]
    if title is not None:
        assert told["title"] == title
    return told


def a_key(memory: incumbent.Memory, *scopes: str, **given: Any) -> str:
    """The text of a new key of acme, for a manager at most."""
    said = {"organization": "acme", "name": "test", "max_authority": "manager", **given}
    made, text = make_key(now=memory.now(), scopes=scopes or ("read", "write"), **said)
    memory.store.add_key(made)
    return text


class Process:
    """`incumbent serve` as a process of its own."""

    def __init__(
        self, where: str, folder: Path, *options: str, port: int = 0, usual: bool = False
    ) -> None:
        """One that answers itself, unless the options say otherwise, or `usual`."""
        if not usual and not any(option.startswith("--processes") for option in options):
            options = (*options, "--processes=1")
        self._log = folder / "serve.log"
        with self._log.open("ab") as log:
            began = log.tell()
            self.process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, "serve", f"--port={port}", "--db", where, *options],
                cwd=folder,
                env=environment(),
                stdout=log,
                stderr=log,
            )
        self.address = self._announced(began)

    def _announced(self, began: int) -> str:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            text = self._log.read_bytes()[began:].decode()
            for line in text.splitlines():
                if " serves " in line and line.startswith("Incumbent ") and text.endswith("\n"):
                    self.announced = text.partition("{")[0] if "Try:" not in text else text
                    return line.partition(" at ")[2].partition(" ")[0]
            assert self.process.poll() is None, text
            time.sleep(0.05)
        raise AssertionError("the service did not come up")

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    @property
    def log(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)

    def stop(self, timeout: float = PATIENCE) -> int:
        """Ask it to stop, and wait: the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout)


def environment() -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("INCUMBENT_")}
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), kept.get("PYTHONPATH", "")]))
    return {**kept, "PYTHONPATH": path, "NO_COLOR": "1"}


@contextmanager
def serving(
    where: str, folder: Path, *options: str, port: int = 0, usual: bool = False
) -> Iterator[Process]:
    """A process that is gone afterwards, whatever happened."""
    running = Process(where, folder, *options, port=port, usual=usual)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.kill()


class Talk:
    """A stream of turns whose sender waits for the answer to each before it sends the next."""

    def __init__(self, service: Running, key: str | None = None) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE)
        self._connection.putrequest("POST", "/v1/observe/stream")
        self._connection.putheader("Content-Type", "application/x-ndjson")
        if key is not None:
            self._connection.putheader("Authorization", f"Bearer {key}")
        self._connection.putheader("Transfer-Encoding", "chunked")
        self._connection.endheaders()
        self._answer: http.client.HTTPResponse | None = None

    def send(self, *records: Any) -> None:
        data = b"".join(json.dumps(record).encode() + b"\n" for record in records)
        self._connection.send(b"%x\r\n%s\r\n" % (len(data), data))

    def next(self) -> Any:
        """The next line of the answer."""
        if self._answer is None:
            self._answer = self._connection.getresponse()
        return json.loads(self._answer.readline())

    def end(self) -> bytes:
        """Say that nothing more comes; what is left of the answer."""
        assert self._answer is not None
        self._connection.send(b"0\r\n\r\n")
        return self._answer.read()

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_: object) -> None:
        if self._answer is not None:
            self._answer.close()
        self._connection.close()
