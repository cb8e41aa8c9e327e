"""The benchmark's end of many clients of one system."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.crowds import KINDS
from benchmarks.peers.client import PEERS_PYTHON, ROOT, PeerFailed, environment

PATIENCE_S = 180.0
"""How long a client may take for a request, beyond the time that the request names."""


def available(system: str) -> bool:
    """Whether the environment that a system lives in is there."""
    return KINDS[system].ours or PEERS_PYTHON.exists()


class Herd:
    """Clients of one system, each a process. Use it as a context manager.

    More are started when they are needed; those that are not asked to do anything are idle.
    """

    def __init__(self, system: str, url: str, folder: Path) -> None:
        self.system = system
        self._url = url
        self._folder = folder
        self._members: list[_Member] = []

    def do(self, what: str, each: Sequence[dict[str, Any]], seconds: float = 0.0) -> list[Any]:
        """Have one request carried out by as many clients as there are arguments, all at once."""
        self._grow(len(each))
        members = self._members[: len(each)]
        for member, arguments in zip(members, each, strict=True):
            member.ask(what, arguments)
        return [member.answer(seconds + PATIENCE_S) for member in members]

    def _grow(self, count: int) -> None:
        fresh = []
        for number in range(len(self._members), count):
            fresh.append(
                _Member(self.system, self._folder / f"{KINDS[self.system].maker}-{number}")
            )
            self._members.append(fresh[-1])
        self._open(fresh)

    def become(self, system: str) -> None:
        """Go on with another system of the same environment, in the same processes."""
        self.system = system
        self._open(self._members)

    def _open(self, members: Sequence[_Member]) -> None:
        for member in members:
            given = {"system": self.system, "url": self._url, "folder": str(member.folder)}
            member.ask("open", given)
        for member in members:
            member.answer(PATIENCE_S)

    def close(self, *, at_once: bool = False) -> None:
        """End all of them."""
        for member in self._members:
            member.leave(at_once)
        for member in self._members:
            member.wait()
        self._members.clear()

    def __enter__(self) -> Herd:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(at_once=kind is not None)


class _Member:
    """One client."""

    def __init__(self, system: str, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._system = system
        self._log = folder / "log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    sys.executable if KINDS[system].ours else str(PEERS_PYTHON),
                    "-m",
                    "benchmarks.crowds.worker",
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=ROOT,
                env=environment(),
                start_new_session=True,  # an interrupt at the terminal is told to it by us
            )

    def ask(self, what: str, arguments: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"do": what, **arguments}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise self._ended() from error

    def answer(self, seconds: float) -> dict[str, Any]:
        """What it says to the request. Raises PeerFailed."""
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        if not ready:
            raise PeerFailed(f"{self._system} gives no answer ({seconds:.0f} s)")
        line = self._process.stdout.readline()
        if not line:
            raise self._ended()
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise PeerFailed(f"{self._system}: {answer['error']}")
        return answer

    def _ended(self) -> PeerFailed:
        said = self._log.read_text(errors="replace").strip().splitlines()[-1:]
        return PeerFailed(f"{self._system} ended: {' '.join(said) or 'without a word'}")

    def leave(self, at_once: bool) -> None:
        if at_once:
            self._process.kill()
        elif self._process.stdin is not None:
            self._process.stdin.close()

    def wait(self) -> None:
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
