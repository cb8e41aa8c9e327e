"""A program at a real pseudo-terminal, for tests of what people type and see."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.patience import PATIENCE

_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def _take_charge() -> None:
    """Make the terminal the one of the new session, so that Ctrl-C reaches whoever reads it."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """A process that believes to talk to a person."""

    def __init__(
        self, command: Sequence[str], folder: Path, variables: Mapping[str, str], width: int = 100
    ) -> None:
        self._master, inner = pty.openpty()
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**variables, "COLUMNS": str(width), "LINES": "40"},
            stdin=inner,
            stdout=inner,
            stderr=inner,
            start_new_session=True,
            preexec_fn=_take_charge,
        )
        os.close(inner)
        self.raw = ""
        """All that was shown, colours included."""
        self._read = 0

    def await_(self, text: str, seconds: float = PATIENCE) -> str:
        """Wait until a text is shown, and give what was shown up to it since the last one."""
        end = time.monotonic() + seconds
        while text not in self.shown[self._read :]:
            left = end - time.monotonic()
            assert left > 0, f"no {text!r} in {self.shown[self._read :]!r}"
            if not self._take(left):
                raise AssertionError(f"it ended without {text!r}: {self.shown!r}")
        stop = self.shown.index(text, self._read) + len(text)
        seen, self._read = self.shown[self._read : stop], stop
        return seen

    @property
    def shown(self) -> str:
        """All that was shown, without colours."""
        return _STYLE.sub("", self.raw)

    def _take(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return True
        try:
            found = os.read(self._master, 65536)
        except OSError:  # the other end is closed
            return False
        self.raw += found.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(found)

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def end(self, seconds: float = PATIENCE) -> int:
        """Wait for the program to end by itself: its exit code."""
        until = time.monotonic() + seconds
        while self._take(1) and self.process.poll() is None:
            assert time.monotonic() < until, f"it goes on: {self.shown!r}"
        return self.process.wait(seconds)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)
        os.close(self._master)
