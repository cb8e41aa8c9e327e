"""Clients for the tests: the official one, and the servers it talks to.

Most tests talk to a server in their own process, over the same streams or the same socket as in
`incumbent mcp`: starting a process takes longer than most conversations. A few start the command.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import anyio
import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.memory import create_client_server_memory_streams
from mcp_types import CallToolResult, TextContent

import incumbent
from incumbent.http.configuration import Service
from incumbent.http.server import listening
from incumbent.mcp.http_server import PATH, application
from incumbent.mcp.lone_surrogates import AnsweringStream
from incumbent.mcp.seats import Seats, Sitting
from incumbent.mcp.server import protocol_server
from tests.conftest import QUICK
from tests.patience import PATIENCE
from tests.service.running import PROGRAM, environment

SERVER = os.environ.get("INCUMBENT_TEST_MCP_PYTHON", sys.executable)
"""The Python of servers that are processes: one of an environment with another version of `mcp`, to
be talked to by this one's client."""
T = TypeVar("T")
Conversation = Callable[[Client], Awaitable[T]]
MODES = ("auto", "legacy")
"""How clients find out what a server speaks: those of today, and those before."""

# servers in this process


@asynccontextmanager
async def inside(
    where: Path | str, *, settings: incumbent.Settings = QUICK, **sitting: Any
) -> AsyncIterator[Any]:
    """A server over streams, for alice of acme unless said otherwise: `incumbent mcp`, without the
    process around it."""
    with incumbent.open(where, settings=settings) as memory:
        seats = Seats(memory, Sitting(**{"user_id": "alice", "organization": "acme", **sitting}))
        server = protocol_server(seats)
        try:
            async with (
                create_client_server_memory_streams() as (client, (requests, answers)),
                anyio.create_task_group() as tasks,
            ):
                options = server.create_initialization_options()
                tasks.start_soon(server.run, AnsweringStream(requests, answers), answers, options)
                yield client
                tasks.cancel_scope.cancel()
        finally:
            leave(seats)


def leave(seats: Seats) -> None:
    """Clear the desk, as the command does, unless the store is gone by now."""
    with suppress(incumbent.IncumbentError):
        seats.close()


class Listening:
    """A server over HTTP, in a thread of this process, on a free port."""

    def __init__(self, where: Path | str, tokens: Any = None, **sitting: Any) -> None:
        self._memory = incumbent.open(where, settings=QUICK)
        store = getattr(self._memory, "store", None)  # a service elsewhere keeps it to itself
        service = Service(
            port=0,
            shutdown_timeout=5,
            credentials=tokens is not None or (store is not None and bool(store.keys())),
            tokens=tokens,
        )
        self._seats = Seats(self._memory, Sitting(**sitting))
        app: Any = application(self._memory, self._seats, service)
        self.address = ""
        self._listens = threading.Event()
        self._server = listening(app, service, self._announced, lifespan="on")
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    def _announced(self, address: str) -> None:
        self.address = f"{address}{PATH}"
        self._listens.set()

    def __enter__(self) -> Listening:
        self._thread.start()
        assert self._listens.wait(PATIENCE), "the server did not come up"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(PATIENCE)
        leave(self._seats)
        self._memory.close()
        assert not self._thread.is_alive(), "the server did not stop"


def listen(where: Path | str, **sitting: Any) -> Listening:
    """A server over HTTP for alice of acme, unless said otherwise."""
    return Listening(where, **{"user_id": "alice", "organization": "acme", **sitting})


# servers that are processes


def stdio(where: Path | str, *options: str, **variables: str) -> StdioServerParameters:
    """How a client starts the server itself: for alice of acme, unless the options say else."""
    return StdioServerParameters(
        command=SERVER,
        args=["-c", PROGRAM, "mcp", "--db", str(where), *identity(options)],
        env={**environment(), "INCUMBENT_EMBEDDER": "static", **variables},
    )


def identity(options: tuple[str, ...] = ()) -> list[str]:
    """The options for alice of acme, but for what others say."""
    known = {"--user": "alice", "--org": "acme"}
    missing = [(name, value) for name, value in known.items() if name not in options]
    return [*(part for pair in missing for part in pair), *options]


def talk(server: Any, conversation: Conversation[T], *, mode: str = "auto") -> T:
    """Have a conversation with a server, and give what came of it."""

    async def whole() -> T:
        with anyio.fail_after(PATIENCE):
            async with Client(server, mode=mode) as client:
                return await conversation(client)

    return anyio.run(whole)


@asynccontextmanager
async def with_key(address: str, key: str) -> AsyncIterator[Any]:
    """A connection that shows a key."""
    shown = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=shown, timeout=PATIENCE) as client,
        streamable_http_client(address, http_client=client) as streams,
    ):
        yield streams


async def call(client: Client, tool: str, **arguments: Any) -> str:
    """What a tool says; it must not fail."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return text_of(result)


async def fail(client: Client, tool: str, **arguments: Any) -> str:
    """What a tool says that must fail."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text_of(result)
    assert "Traceback" not in text_of(result)
    return text_of(result)


async def data(client: Client, tool: str, **arguments: Any) -> Any:
    """What a tool gives as data."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return result.structured_content


def text_of(result: CallToolResult) -> str:
    """The text of an answer."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def prompt(client: Client) -> str:
    """The text of the prompt."""
    (message,) = (await client.get_prompt("how_to_use_incumbent")).messages
    assert isinstance(message.content, TextContent)
    return message.content.text


async def read(client: Client, uri: str) -> str:
    """The text of a resource."""
    (contents,) = (await client.read_resource(uri)).contents
    return str(getattr(contents, "text", ""))


class Served:
    """`incumbent mcp --http` as a process of its own."""

    def __init__(self, where: Path | str, folder: Path, *options: str) -> None:
        self._log = folder / f"mcp-{time.monotonic_ns()}.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [
                    *(SERVER, "-c", PROGRAM, "mcp", "--http", "--port", "0"),
                    *("--db", str(where), "--log", "info"),
                    *options,
                ],
                cwd=folder,
                env={**environment(), "INCUMBENT_EMBEDDER": "static"},
                stdout=log,
                stderr=log,
            )
        self.address = self._announced()

    def _announced(self) -> str:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for line in self.log.splitlines():
                if line.startswith("Incumbent ") and " at " in line:
                    return line.partition(" at ")[2].partition(" ")[0]
            assert self.process.poll() is None, self.log
            time.sleep(0.05)
        raise AssertionError("the server did not come up")

    @property
    def log(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def stop(self) -> int:
        """Ask it to stop, and wait: the exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()


@contextmanager
def served(where: Path | str, folder: Path, *options: str) -> Iterator[Served]:
    """A server that is gone afterwards, whatever happened."""
    running = Served(where, folder, *options)
    try:
        yield running
    finally:
        running.stop()
