"""The processes of a local server: its account, and the guardian that it does not outlive."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from incumbent.model.errors import InvalidInput, StoreError, StoreUnavailable

PATIENCE = 60.0
"""Seconds to start, or to stop."""
# Tells the number of the server, and ends it when nobody holds the other end of its input any
# more: a server whose starter was killed would otherwise run for ever. Ends when the server does.
_GUARDIAN = """
exec 3<&0 </dev/null
"$@" >>log 2>&1 3<&- &
server=$!
echo $server
{ cat <&3; kill -INT $server; } >/dev/null 2>&1 &
watch=$!
wait $server
kill $watch 2>/dev/null
"""


class Account(NamedTuple):
    """The account of a server that cannot run as its starter: PostgreSQL refuses root."""

    user: int
    group: int

    def owns(self, path: Path) -> None:
        os.chown(path, self.user, self.group, follow_symlinks=False)


def account() -> Account | None:
    """The account for a server that this process starts; None for its own."""
    if os.name != "posix":
        raise InvalidInput(
            "a local PostgreSQL server runs on Linux and macOS only; start a server of your own "
            "and give its address"
        )
    if os.geteuid() != 0:
        return None
    from pwd import getpwnam

    nobody = getpwnam("nobody")
    return Account(nobody.pw_uid, nobody.pw_gid)


def manner(folder: Path, whose: Account | None) -> dict[str, Any]:
    """The arguments for running a program of a server."""
    given: dict[str, Any] = {
        "cwd": folder,
        "umask": 0o077,
        # Variables that tell clients where to connect would confuse the server's own tools.
        "env": {name: told for name, told in os.environ.items() if not name.startswith("PG")},
    }
    if whose is not None:
        given |= {"user": whose.user, "group": whose.group, "extra_groups": []}
    return given


def call(folder: Path, whose: Account | None, *command: str) -> None:
    """Run a program of a server to its end."""
    how = manner(folder, whose)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, **how)
    except OSError as error:
        raise StoreError(f"{command[0]} cannot be run: {error}") from error
    if done.returncode:
        told = done.stderr.strip() or f"status {done.returncode}"
        raise StoreError(f"{Path(command[0]).name} failed: {told}")


class Guarded(NamedTuple):
    """A server that runs, and its guardian."""

    guardian: subprocess.Popen[bytes]
    server: int

    @classmethod
    def start(cls, folder: Path, whose: Account | None, command: list[str]) -> Guarded:
        """Start a server; it may take a while to answer."""
        guardian = subprocess.Popen(
            ["/bin/sh", "-c", _GUARDIAN, "sh", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # an interrupt at the terminal is not for the server
            **manner(folder, whose),
        )
        assert guardian.stdout is not None
        return cls(guardian, int(guardian.stdout.readline()))

    @property
    def lives(self) -> bool:
        return self.guardian.poll() is None

    def stop(self) -> bool:
        """End it in good order; return whether it ended in time."""
        if self.lives:
            with suppress(ProcessLookupError):
                os.kill(self.server, signal.SIGINT)
        try:
            self.guardian.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            return False
        self._let_go()
        return True

    def kill(self) -> None:
        """End all of its processes at once."""
        import psutil  # type: ignore[import-untyped]

        if self.lives:
            # Stopped first, so that it starts no more children while they are counted.
            with suppress(ProcessLookupError, psutil.NoSuchProcess):
                os.kill(self.server, signal.SIGSTOP)
                children = psutil.Process(self.server).children(recursive=True)
                for process in (*children, psutil.Process(self.server)):
                    with suppress(psutil.NoSuchProcess):
                        process.kill()
                wait_until(lambda: not any(map(_lives, children)), "the server cannot be killed")
        self.guardian.wait(PATIENCE)
        self._let_go()

    def _let_go(self) -> None:
        for pipe in (self.guardian.stdin, self.guardian.stdout):
            if pipe is not None:
                pipe.close()


def _lives(process: Any) -> bool:
    import psutil

    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def wait_until(is_so: Callable[[], bool], otherwise: str) -> None:
    """Wait for something that happens soon, or raise an error that names it."""
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > deadline:
            raise StoreUnavailable(f"{otherwise} ({PATIENCE:g} s)")
        time.sleep(0.02)
