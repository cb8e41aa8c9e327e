"""A crew: several processes that answer at one address, and one that supervises them.

A Python process uses about one core, however many threads it has. The processes of a crew listen at
the same port, and the system distributes connections among them. The supervisor answers nothing
itself. It replaces a process that has ended, and stops all of them when it is stopped.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any

from incumbent.model.errors import IncumbentError, InvalidInput, StoreError

Ready = Callable[[], None]
Work = Callable[[socket.socket, Ready], None]
"""Answers requests at a socket until a signal to stop, and calls `ready` when it has begun. It is
sent to another process, so it must be picklable."""

_log = logging.getLogger("incumbent.http")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_GRACE = 5.0
_AT_ONCE = 0.5
"""Seconds after which processes that ended by themselves are replaced."""
_spawn = multiprocessing.get_context("spawn")  # a fork would share what the parent has open


class Crew:
    """A number of processes that do the same work at one address."""

    def __init__(self, work: Work, count: int, host: str, port: int, patience: float) -> None:
        """`patience` is the number of seconds that processes get to stop."""
        if not hasattr(socket, "SO_REUSEPORT"):
            raise InvalidInput("this system lets one process listen at a port; use --processes 1")
        self._work = work
        self._count = count
        self._place = (host, port)
        self._patience = patience
        self._hands: list[_Hand] = []

    def run(self, announce: Callable[[str, int], None]) -> None:
        """Run until a signal to stop. `announce` is called with the address once all processes
        listen."""
        with reserved_at(*self._place) as reserved, _heard() as bell:
            host, port = reserved.getsockname()[:2]
            self._place = (host, port)
            try:
                for _ in range(self._count):
                    self._hands.append(self._started())
                if self._all_ready(bell):
                    announce(host, port)
                    self._look_after(bell)
            finally:
                self._stop()

    def _started(self) -> _Hand:
        told, tells = _spawn.Pipe(duplex=False)
        process = _spawn.Process(target=_hand, args=(self._work, self._place, tells))
        process.start()
        tells.close()
        return _Hand(process, told)

    def _all_ready(self, bell: Connection) -> bool:
        """Whether all processes have begun before there was a signal to stop."""
        for hand in self._hands:
            while not hand.is_ready:
                if bell in wait([bell, hand.told, hand.process.sentinel]):
                    return False
                if not hand.notices():
                    raise StoreError("a process of the service could not start; it says why above")
        return True

    def _look_after(self, bell: Connection) -> None:
        while bell not in wait([bell, *(hand.process.sentinel for hand in self._hands)]):
            time.sleep(_AT_ONCE)  # one that cannot start must not keep the processor busy
            for place, hand in enumerate(self._hands):
                if not hand.process.is_alive():
                    _log.error("a process ended with %s; another begins", hand.process.exitcode)
                    hand.leave()
                    self._hands[place] = self._started()

    def _stop(self) -> None:
        for hand in self._hands:
            hand.process.terminate()
        until = time.monotonic() + self._patience + _GRACE
        for hand in self._hands:
            hand.process.join(max(0.0, until - time.monotonic()))
            if hand.process.is_alive():
                hand.process.kill()
                hand.process.join()
            hand.leave()


class _Hand:
    """One process of a crew."""

    def __init__(self, process: Any, told: Connection) -> None:
        self.process = process
        self.told = told
        self.is_ready = False

    def notices(self) -> bool:
        """Notice whether it has begun; False if it ended instead."""
        try:
            self.is_ready = self.told.poll() and bool(self.told.recv())
        except EOFError:
            return False
        return self.is_ready or self.process.is_alive()

    def leave(self) -> None:
        """Drop the calls under way that an ended process had counted."""
        self.told.close()
        folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
        if folder and self.process.pid is not None:
            from prometheus_client.multiprocess import mark_process_dead

            mark_process_dead(self.process.pid, folder)  # type: ignore[no-untyped-call]


def reserved_at(host: str, port: int) -> socket.socket:
    """A socket at an address that nobody else has yet, for this crew to share.

    Another crew would share its port as well, and get half of our connections. A socket that shares
    nothing tells whether there is one.
    """
    bound(host, port, shared=False).close()
    return bound(host, port)


def bound(host: str, port: int, *, shared: bool = True) -> socket.socket:
    """A socket at an address that it shares with other processes of the crew. It does not listen
    yet."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        made.bind((host, port))
        if not shared:
            made.listen()  # with nobody listening, two may have one address
    except OSError as error:
        made.close()
        raise unavailable(host, port, error.strerror) from error
    return made


def unavailable(host: str, port: int, why: str | None) -> InvalidInput:
    """The error for an address that nobody can listen at."""
    return InvalidInput(
        f"{host} port {port} cannot be listened at ({why or 'see above'}); choose another --port"
    )


@contextmanager
def _heard() -> Iterator[Connection]:
    """A pipe that tells of signals to stop."""
    bell, rope = _spawn.Pipe(duplex=False)

    def ring(number: int, frame: Any) -> None:
        rope.send_bytes(b"!")

    before = {number: signal.signal(number, ring) for number in _SIGNALS}
    try:
        yield bell
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        bell.close()
        rope.close()


def _hand(work: Work, place: tuple[str, int], tells: Connection) -> None:
    """The work of each process of a crew."""
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    try:
        with bound(*place) as made:
            work(made, lambda: tells.send(True))
    except IncumbentError as error:
        sys.stderr.write(f"error: {error}\n")
        raise SystemExit(1) from None


def _stop_with_parent() -> None:
    """Stop when the supervisor is gone: nobody else would stop this process."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
    os.kill(os.getpid(), signal.SIGTERM)
