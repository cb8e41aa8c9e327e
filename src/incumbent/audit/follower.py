"""Following a log: the entries that are there, then new ones as they come."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING

from incumbent.audit.entries import PAGE, AuditEntry, check_after
from incumbent.model.errors import InvalidInput, StoreBusy, StoreUnavailable
from incumbent.model.identity import check_name

if TYPE_CHECKING:
    from incumbent.memory import Memory

log = logging.getLogger("incumbent.audit")

INTERVAL = 0.5
"""Seconds between two looks at a log that another process may write."""
_LONGEST_INTERVAL = 3600.0
_LONGEST_PAUSE = 30.0
_GLANCE = 0.25


def follow(
    memory: Memory,
    organization: str,
    *,
    after: int = 0,
    values: bool = False,
    interval: float = INTERVAL,
    limit: int = PAGE,
    stop: Event | None = None,
) -> Iterator[list[AuditEntry]]:
    """Yield the entries after a given one, in order and in pages, until `stop` is set.

    Commits of this memory are seen at once, those of other processes at the next look. A store that
    is busy or away is asked again later; it is an error only at the beginning.
    """
    check_after(memory.store, check_name(organization, "organization"), after)
    if not 0 < interval <= _LONGEST_INTERVAL:
        raise InvalidInput(
            f"interval must be more than 0 and at most {_LONGEST_INTERVAL:,.0f} seconds, "
            f"not {interval!r}"
        )
    return _followed(memory, organization, after, values, interval, limit, stop or Event())


def _followed(
    memory: Memory,
    organization: str,
    after: int,
    values: bool,
    interval: float,
    limit: int,
    stop: Event,
) -> Iterator[list[AuditEntry]]:
    pause = interval
    with memory.resources.bells.listening() as bell:
        while not stop.is_set():
            bell.clear()  # before the look: what comes after it rings again
            try:
                page = memory.resources.log_page(organization, after, values, limit)
            except (StoreBusy, StoreUnavailable) as error:
                log.warning("the log cannot be read (%s); trying again", type(error).__name__)
                stop.wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                continue
            pause = interval
            if page:
                after = page[-1].seq
                yield page
            else:
                _wait(bell, stop, interval)


def _wait(bell: Event, stop: Event, interval: float) -> None:
    """Wait for the bell, with a look now and then at whether to stop."""
    until = monotonic() + interval
    while not stop.is_set() and (left := until - monotonic()) > 0:
        if bell.wait(min(left, _GLANCE)):
            return
