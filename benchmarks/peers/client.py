"""The benchmark's end of a worker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.peers import KINDS

ROOT = Path(__file__).resolve().parents[2]
PEERS_PYTHON = ROOT / ".venv-peers" / "bin" / "python"


class PeerFailed(Exception):
    """A system could not do what was asked of it; the message is its own."""


def available(system: str) -> bool:
    """Whether the environment that a system lives in is there."""
    return KINDS[system].ours or PEERS_PYTHON.exists()


class Client:
    """A system at work in its own process. Use it as a context manager."""

    def __init__(self, system: str, folder: Path, embedder: str, vectors: Path | None) -> None:
        folder.mkdir(parents=True)
        self.system = system
        python = sys.executable if KINDS[system].ours else str(PEERS_PYTHON)
        core = str(max(os.sched_getaffinity(0)))
        self._log = (folder.parent / f"{folder.name}.log").open("wb")
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.peers.worker", core],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            cwd=ROOT,
            env=environment(),
        )
        self.opened = self.do(
            "open",
            system=system,
            folder=str(folder),
            embedder=embedder,
            vectors=str(vectors or ""),
        )

    def do(self, what: str, **arguments: Any) -> dict[str, Any]:
        """Have one request carried out. Raises PeerFailed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"do": what, **arguments}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise PeerFailed(f"{self.system} ended (see {self._log.name})")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise PeerFailed(f"{self.system}: {answer['error']}")
        return answer

    def close(self) -> None:
        """End the process; a second time does nothing."""
        if self._process.poll() is None:
            self._process.communicate()  # closes its input, and it leaves
        self._log.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def environment() -> Mapping[str, str]:
    """One thread each, and our sources where the peers' environment can import them."""
    path = os.pathsep.join(
        [str(ROOT / "src"), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**os.environ, **single, "PYTHONPATH": path, "TOKENIZERS_PARALLELISM": "false"}
