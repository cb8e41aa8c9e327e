"""Telling of long work on stderr: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from incumbent.cli.tables import console

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE = 0.5
"""Seconds before a bar shows; for shorter work a bar would only flicker."""
_INTERVAL = 5.0
"""Seconds between two lines where there is no terminal to draw on."""


class ProgressLine:
    """The callback for `memory.progress`: the name of the work, the amount done, and the total."""

    def __init__(
        self, seconds: Callable[[], float] = time.monotonic, screen: Console | None = None
    ) -> None:
        self._seconds = seconds
        self._screen = screen or console(stderr=True)
        self._since: float | None = None
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __call__(self, what: str, done: int, total: int | None) -> None:
        """Report the progress of the work. The report ends when everything is done."""
        now = self._seconds()
        if self._since is None:
            self._since = now
        if total is not None and done >= total:
            self.close()
        elif self._screen.is_terminal:
            if now - self._since >= _PATIENCE:
                self._draw(what, done, total)
        elif now - self._since >= _INTERVAL:
            self._since = now
            of = f" of {total:,}" if total is not None else ""
            typer.echo(f"note: {what}: {done:,}{of}", err=True)

    def _draw(self, what: str, done: int, total: int | None) -> None:
        if self._bar is None:
            self._bar = _bar(self._screen)
            self._task = self._bar.add_task(what, total=total)
            self._bar.start()
        assert self._task is not None
        self._bar.update(self._task, description=what, completed=done, total=total)

    def close(self) -> None:
        """Remove the bar. The next call begins anew."""
        if self._bar is not None:
            self._bar.stop()
        self._since = self._bar = self._task = None


def _bar(screen: Console) -> Progress:
    # Rich's progress bars take a while to import, and most commands have nothing long to do.
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, console=screen, transient=True)
