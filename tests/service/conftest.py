"""Services on SQLite and PostgreSQL, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

import incumbent
from tests.conftest import QUICK
from tests.servers import AVAILABLE
from tests.service.running import Running

Start = Callable[..., Running]
ON_DISK = ("sqlite", *(["postgres"] if AVAILABLE else []))


@pytest.fixture
def start(tmp_path: Any) -> Iterator[Start]:
    """Starts services; each on an empty SQLite file unless it is given a memory."""
    with ExitStack() as stack:

        def started(memory: incumbent.Memory | None = None, **settings: Any) -> Running:
            if memory is None:
                memory = stack.enter_context(
                    incumbent.open(tmp_path / f"{id(settings)}.db", settings=QUICK)
                )
            return stack.enter_context(Running(memory, **settings))

        yield started


@pytest.fixture
def service(start: Start) -> Running:
    """A service without credentials."""
    return start()


@pytest.fixture
def guarded(start: Start) -> Running:
    """A service that asks for credentials."""
    return start(credentials=True)
