"""The machine of a run, and the versions of all packages that took part."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import incumbent
from incumbent_eval import adapters

_PACKAGES = ("numpy", "onnxruntime", "splintr-rs")
_CPU_INFO = Path("/proc/cpuinfo")


def machine() -> dict[str, Any]:
    """The processor, its cores, memory and system."""
    return {
        "processor": processor(),
        "cores": os.cpu_count() or 1,
        "memory_gb": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """Incumbent, Python, our main packages, and the peers that are installed."""
    own = {name: metadata.version(name) for name in _PACKAGES}
    return {
        "incumbent": incumbent.__version__,
        "python": platform.python_version(),
        **own,
        **adapters.versions(),
    }


def processor(told: Path = _CPU_INFO) -> str:
    """The name of the processor, as the system gives it."""
    try:
        lines = told.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(filter(None, named), "") or platform.processor() or platform.machine()


def _memory() -> float | None:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not every system tells
        return None
    return round(size / 2**30, 1)
