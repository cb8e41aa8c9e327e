"""The pages of the API reference: which names stand on which page. Sphinx reads the docstrings."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from importlib import import_module
from typing import NamedTuple

import incumbent


class Page(NamedTuple):
    """A page of the reference: its title, an introduction and the names it describes."""

    title: str
    introduction: str
    names: tuple[str, ...]


OPENED = ("Memory", "Session", "Settings", "LLM", "open")


def directive(name: str, module: str = "incumbent") -> str:
    """What tells Sphinx to describe a name by its docstrings."""
    kind = "autofunction" if name == "open" else "autoclass"
    lines = [f".. {kind}:: {module}.{name}"]
    if kind == "autoclass":
        lines += ["   :members:", "   :undoc-members:" if is_enumeration(name) else ""]
    return "\n".join(line for line in lines if line)


def is_enumeration(name: str) -> bool:
    found = getattr(incumbent, name, None)
    return isinstance(found, type) and issubclass(found, Enum)


def grouped() -> dict[str, Page]:
    """Every public name of `incumbent`, on one page each."""
    named = [name for name in incumbent.__all__ if name != "__version__"]
    errors = tuple(
        name
        for name in named
        if isinstance(getattr(incumbent, name), type)
        and issubclass(getattr(incumbent, name), Exception)
    )
    enumerations = tuple(name for name in named if is_enumeration(name))
    apart = {*OPENED, *errors, *enumerations}
    values = tuple(name for name in named if name not in apart)
    return {
        "opening.md": Page(
            "Opening a memory",
            "`incumbent.open` gives a `Memory`, and that a `Session` for each person.",
            ("open", "Settings", "LLM"),
        ),
        "memory.md": Page("Memory", "One store, for all of its organizations.", ("Memory",)),
        "session.md": Page("Session", "One person at work in one organization.", ("Session",)),
        "values.md": Page("Values", "Calls take and return these. None of them changes.", values),
        "enumerations.md": Page(
            "Enumerations", "The [glossary](../glossary.md) explains each value.", enumerations
        ),
        "errors.md": Page(
            "Errors", "[What to do about each](../errors.md) has a page of its own.", errors
        ),
    }


MODULES = {
    "aio.md": ("incumbent.aio", "The same calls, awaited."),
    "integrations.md": (
        "incumbent.integrations.agent_memory",
        "What the [adapters](../integrations.md) share, for loops of your own.",
    ),
    "testing.md": ("incumbent.testing", "For tests, and for people who write a store."),
    "stores.md": ("incumbent.stores.port", "A backend implements this port."),
    "embedders.md": ("incumbent.search.embedders", "The embedders that ship, and their port."),
    "telemetry.md": ("incumbent.telemetry", "Spans, metrics and logs, for whoever asks for them."),
}


def told(module: str) -> str:
    """The names of a module that stand on another page already."""
    found = import_module(module)
    return ", ".join(name for name in incumbent.__all__ if name in vars(found))


def reference_pages() -> dict[str, str]:
    """The pages of the reference, by file name."""
    pages = {
        name: written(page.title, page.introduction, map(directive, page.names))
        for name, page in grouped().items()
    }
    for name, (module, introduction) in MODULES.items():
        block = f".. automodule:: {module}\n   :members:\n   :exclude-members: {told(module)}"
        pages[name] = written(f"`{module}`", introduction, [block])
    listed = "\n".join(name.removesuffix(".md") for name in pages)
    pages["index.md"] = (
        "# API reference\n\nMade from the docstrings of the code. "
        "[The interface](../api.md) has an example for every call.\n\n"
        f"```{{toctree}}\n{listed}\n```\n"
    )
    return pages


def written(title: str, introduction: str, blocks: Iterable[str]) -> str:
    """A page in Markdown, with its directives inside."""
    directives = "\n\n".join(blocks)
    return f"# {title}\n\n{introduction}\n\n```{{eval-rst}}\n{directives}\n```\n"
