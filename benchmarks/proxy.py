"""What the proxy adds to the time of a provider that answers in 300 ms.

A provider of our own that waits that long, and a proxy of its own (`incumbent proxy`) before it,
each in a process. Conversations are played turn by turn, with the whole history in every request,
as applications send it. Each request is sent four times, one after the other: to the provider
itself, through the proxy without a speaker, through the proxy with one, and the same once more,
which the proxy has observed by then, and of which it may still have the context. All of it in the
same run, because machines are noisy; on a busy one the clock contains waiting, and the processor's
time of the proxy does not.

A reply is observed after it was passed on, so that it costs the next request nothing.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import multiprocessing
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
from rich.table import Table

import incumbent
from benchmarks import corpus, turns
from benchmarks.figures import Target

ANSWERS_IN = 0.3
"""Seconds that the provider takes."""
FACTS = 1_000
CONVERSATIONS = 6
WAYS = ("provider", "untouched", "guarded", "again")
PATH = "/v1/chat/completions"
_USER = "alice"
_BATCH = 500
_WARMING = 1
_APART = 0.3
"""Seconds between two requests, in which a reply is observed."""
_LISTENS = re.compile(r"at http://127\.0\.0\.1:(\d+)")
Tell = Callable[[str], None]


@dataclass
class Report:
    """What requests took, in seconds, by the way they went."""

    facts: int
    embedder: str
    times: dict[str, list[float]] = field(default_factory=lambda: {way: [] for way in WAYS})
    work: dict[str, float] = field(default_factory=lambda: dict.fromkeys(WAYS, 0.0))
    """Seconds of the processor that the proxy took until it had answered, all requests together."""

    def median(self, way: str) -> float:
        return statistics.median(self.times[way])

    def ratio(self, way: str) -> float:
        """How many times as long a request takes on that way, at the median."""
        return self.median(way) / self.median("provider")

    def worked(self, way: str) -> float:
        """Milliseconds of the processor for one request, on average."""
        return 1e3 * self.work[way] / len(self.times[way])

    def plain(self) -> dict[str, Any]:
        return {
            "facts": self.facts,
            "embedder": self.embedder,
            "requests": len(self.times["provider"]),
            "ms": {
                way: [at(times, share) for share in (0.5, 0.95)]
                for way, times in self.times.items()
            },
            "ratio": {way: self.ratio(way) for way in WAYS},
            "processor_ms": {way: self.worked(way) for way in WAYS},
        }


def at(times: list[float], share: float) -> float:
    """Milliseconds that this share of the requests stayed under."""
    return 1e3 * statistics.quantiles(times, n=100)[round(share * 100) - 1]


def _provide(told: Any) -> None:
    """A provider that takes its time; tells its port and goes on for ever."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        while True:
            try:
                asked = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                return
            length = re.search(rb"(?i)content-length: (\d+)", asked)
            sent = json.loads(await reader.readexactly(int(length[1]) if length else 0))
            message = {"role": "assistant", "content": sent["reply"]}
            document = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            body = json.dumps(document).encode()
            await asyncio.sleep(ANSWERS_IN)
            writer.write(head % len(body) + body)
            await writer.drain()

    async def serve() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


@contextmanager
def provider() -> Iterator[int]:
    """The port of a provider in a process of its own."""
    spawn = multiprocessing.get_context("spawn")
    heard, told = spawn.Pipe(duplex=False)
    process = spawn.Process(target=_provide, args=(told,), daemon=True)
    process.start()
    try:
        yield heard.recv()
    finally:
        process.terminate()
        process.join()


@contextmanager
def proxied(path: Path, upstream: int, embedder: str) -> Iterator[tuple[int, psutil.Process]]:
    """The port of a proxy, and its process."""
    command = [sys.executable, "-m", "incumbent.cli", "proxy", "--db", str(path), "--port", "0"]
    command += ["--upstream", f"http://127.0.0.1:{upstream}/v1", "--embedder", embedder]
    command += ["--log", "warning"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            found = None
            while found is None:
                line = process.stderr.readline()
                if not line:
                    raise RuntimeError("the proxy did not start")
                found = _LISTENS.search(line)
            yield int(found[1]), psutil.Process(process.pid)
        finally:
            process.terminate()


def fill(path: Path, facts: int, embedder: str) -> None:
    """A person with facts."""
    with incumbent.open(path, settings=incumbent.Settings(embedder=embedder)) as memory:
        session = memory.session(user_id=_USER)
        told = list(corpus.facts(0, facts))
        for start in range(0, facts, _BATCH):
            session.write_many(
                {"key": fact.key, "value": fact.value, "subject": fact.subject}
                for fact in told[start : start + _BATCH]
            )


def requests(count: int) -> Iterator[tuple[str, bytes]]:
    """Requests of conversations with their sessions, each with what was said before it."""
    for number in range(count):
        history: list[dict[str, str]] = []
        talk = turns.conversation(number, seed=1)
        for turn, following in zip(talk, [*talk[1:], talk[-1]], strict=True):
            role = "assistant" if turn.is_context else "user"
            history.append({"role": role, "content": turn.text})
            if role == "user":
                is_answered = following.is_context
                reply = following.text if is_answered else "Noted."
                asked = {"model": "m", "messages": history, "reply": reply}
                yield f"s-{number}", json.dumps(asked).encode()
                if not is_answered:
                    history.append({"role": "assistant", "content": reply})


def _asked(connection: http.client.HTTPConnection, body: bytes, **headers: str) -> float:
    """Seconds until a request was answered."""
    sent = {"Content-Type": "application/json"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    began = time.perf_counter()
    connection.request("POST", PATH, body, sent)
    answer = connection.getresponse()
    answer.read()
    took = time.perf_counter() - began
    if answer.status != 200:
        raise RuntimeError(f"{answer.status}: the benchmark is wrong")
    return took


def _worked(process: psutil.Process) -> float:
    spent = process.cpu_times()
    return float(spent.user + spent.system)


def measure(
    tell: Tell,
    *,
    facts: int = FACTS,
    conversations: int = CONVERSATIONS,
    embedder: str = "minilm",
) -> Report:
    """Every request on every way."""
    report = Report(facts, embedder)
    with tempfile.TemporaryDirectory(prefix="incumbent-bench-") as folder, ExitStack() as stack:
        path = Path(folder) / "proxy.db"
        tell(f"{facts:,} facts ...")
        fill(path, facts, embedder)
        upstream = stack.enter_context(provider())
        port, process = stack.enter_context(proxied(path, upstream, embedder))
        direct = http.client.HTTPConnection("127.0.0.1", upstream)
        through = http.client.HTTPConnection("127.0.0.1", port)
        stack.callback(direct.close)
        stack.callback(through.close)
        for session, body in requests(conversations + _WARMING):
            who = {"X_Incumbent_User": _USER, "X_Incumbent_Session": session}
            for way in WAYS:
                connection = direct if way == "provider" else through
                headers = who if way in ("guarded", "again") else {}
                before = _worked(process)
                took = _asked(connection, body, **headers)
                if session != f"s-{_WARMING - 1}":
                    report.times[way].append(took)
                    report.work[way] += _worked(process) - before
                time.sleep(_APART)
            if report.times["again"]:
                more = report.times["guarded"][-1] - report.times["provider"][-1]
                tell(f"{session}: {1e3 * more:.0f} ms more ...")
    return report


def table(report: Report) -> Table:
    made = Table(
        title=f"A provider that answers in {1e3 * ANSWERS_IN:.0f} ms, {report.facts:,} facts, "
        f"{len(report.times['provider'])} requests, {report.embedder}"
    )
    for heading in ("", "p50 ms", "p95 ms", "of the provider's", "processor ms"):
        made.add_column(heading, justify="right")
    named = {
        "provider": "the provider alone",
        "untouched": "through the proxy, untouched",
        "guarded": "guarded, with a new turn",
        "again": "guarded, nothing new (the same again)",
    }
    for way, name in named.items():
        times = report.times[way]
        made.add_row(
            name,
            f"{at(times, 0.5):.1f}",
            f"{at(times, 0.95):.1f}",
            f"{report.ratio(way):.3f}×",
            f"{report.worked(way):.1f}",
        )
    return made


def targets_of(report: Report) -> list[Target]:
    """Under a tenth of the provider's time."""
    return [
        Target("untouched / provider", report.ratio("untouched"), 1.1),
        Target("guarded, nothing new / provider", report.ratio("again"), 1.1),
        Target("guarded, a new turn / provider", report.ratio("guarded"), 1.1),
    ]
