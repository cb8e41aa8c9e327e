"""How many processes a service starts if nobody says: one for each core that it may use."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from math import ceil
from pathlib import Path

_MEMORY = 1_000_000_000
"""Bytes of memory that a process should find: a third of them when it has begun, and its caches."""
_GROUP = Path("/sys/fs/cgroup")


def usual_processes(db: str) -> int:
    """One for each core, as far as there is memory for each; one where only one can answer.

    Only Linux deals connections out among processes that listen at one port.
    """
    if db == ":memory:" or sys.platform != "linux":
        return 1
    return max(1, min(cores(), memory() // _MEMORY))


def cores(group: Path = _GROUP) -> int:
    """The cores that this process may use: those of its own, or less by the limit of a
    container."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with suppress(OSError, ValueError):
        quota, period = (group / "cpu.max").read_text(encoding="ascii").split()
        return min(count or 1, ceil(int(quota) / int(period)))  # "max" is no number
    return count or 1


def memory(group: Path = _GROUP) -> int:
    """The bytes of memory of this machine, or less by the limit of a container."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):
        return min(total, int((group / "memory.max").read_text(encoding="ascii")))
    return total
