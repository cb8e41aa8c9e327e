"""One server for many memories: each of them is served under a path of its own."""

from __future__ import annotations

import threading
from typing import Any

import incumbent
from incumbent.http.app import application
from tests.service.running import Running


class Shared:
    """A service whose memories come and go, for tests that need a fresh one each."""

    def __init__(self) -> None:
        self._apps: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._count = 0
        self._running = Running(incumbent.open(":memory:"))
        # The same server, with a switch in front.
        self._running._server.config.app = self._answer
        self._running._server.config.interface = "asgi3"

    def start(self) -> Shared:
        self._running.__enter__()
        return self

    def stop(self) -> None:
        self._running.__exit__()
        self._running.memory.close()

    def serve(self, memory: incumbent.Memory) -> str:
        """The address of a memory from now on."""
        with self._lock:
            self._count += 1
            path = f"/m{self._count}"
        self._apps[path] = application(memory)
        return self._running.address + path

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        path = "/" + scope["path"].split("/")[1]
        inner = {**scope, "path": scope["path"][len(path) :], "raw_path": None}
        await self._apps[path](inner, receive, send)
