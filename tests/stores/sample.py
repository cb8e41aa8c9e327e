"""A SQLite file with something of everything in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import incumbent
from tests.conftest import QUICK


def fill(path: Path) -> list[Any]:
    """Put something of everything into a file; returns what it then holds."""
    with incumbent.open(path, settings=QUICK) as memory:
        memory.declare("tags", multi_valued=True)
        session = memory.session(
            user_id="alice", authority="manager", organization="acme", session_id="s1"
        )
        session.write("lead", "Ann")
        session.write("report", "to Ann", depends_on=["lead"])
        session.write("lead", "Ben")
        session.write("tags", "a")
        session.write("tags", "b")
        session.undo(session.write("city", "Bern"))
        session.note("desk", "something")
        memory.forget(organization="acme", fact_id=session.write("secret", "x").fact_id)
        return contents(memory)


def contents(memory: incumbent.Memory) -> list[Any]:
    """Everything of the organization acme."""
    with memory.store.read("acme") as reader:
        return [*memory.store.dump("acme"), *reader.desks(), *memory.store.erasures("acme")]


class RememberedByOthers:
    """The declarations that a store remembers, as they are for one of two threads: at every other
    look the other thread, which sees an earlier version, has put its own in their place."""

    def __init__(self) -> None:
        self._looks = 0
        self._own: tuple[int, tuple[Any, ...]] = (-1, ())

    def __get__(self, store: object, kind: type | None = None) -> tuple[int, tuple[Any, ...]]:
        self._looks += 1
        return self._own if self._looks % 2 else (-1, ())

    def __set__(self, store: object, found: tuple[int, tuple[Any, ...]]) -> None:
        self._own = found
