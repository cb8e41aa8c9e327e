"""The wording that both pages share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from incumbent_eval.figures import percent
from incumbent_eval.report.document import Document


def facts_of(document: Document) -> Iterator[tuple[str, str]]:
    """The facts of a run: its version, date, machine and packages."""
    versions, machine = dict(document.versions), document.machine
    yield "version", f"incumbent {versions.pop('incumbent', '?')}"
    yield "date", document.date
    memory = f", {machine['memory_gb']} GB" if machine.get("memory_gb") else ""
    cores = f"{machine['cores']} {'core' if machine['cores'] == 1 else 'cores'}"
    yield "machine", f"{machine['processor']}, {cores}{memory}, {machine['system']}"
    yield "packages", ", ".join(f"{name} {version}" for name, version in versions.items())
    yield (
        "settings",
        ", ".join(
            f"{name} {told}"
            for name, told in document.settings.items()
            if told is not None and not isinstance(told, list)
        ),
    )
    limit = document.settings.get("limit")
    if limit is not None:
        yield "sample", f"only the first {limit} of each set: too few to hold systems apart"
    if document.unfinished:
        yield "not finished", f"still to be run: {', '.join(document.unfinished)}"
    if document.seconds is not None:
        yield "took", duration(document.seconds)


def duration(seconds: float) -> str:
    """A length of time, in minutes from two of them on."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def target_text(target: Mapping[str, Any]) -> str:
    """The bound of a target."""
    if "at_least" in target:
        return f"≥ {percent(target['at_least'])}"
    return f"≤ {percent(target['at_most'])}"


def met_word(target: Mapping[str, Any]) -> str:
    """Met, missed, or left out."""
    return {True: "met", False: "missed"}.get(target["met"], "left out")
