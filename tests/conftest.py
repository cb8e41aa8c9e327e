"""What every test may ask for: a memory on each store, and a clock that only the test moves."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import hypothesis
import pytest

import tenure
from tenure.testing import SteppingClock
from tests.servers import Databases, started

STORES = ("memory", "sqlite", *(["postgres"] if os.environ.get("TENURE_TEST_POSTGRES") else []))

SOAK = os.environ.get("TENURE_SOAK") == "1"
"""Whether the long versions of the tests run."""

if not SOAK:
    # The same tree gives the same result; `make soak` looks for new examples.
    hypothesis.settings.load_profile("ci")

QUICK = tenure.Settings(durability="process", embedder="static")
"""No sync per commit and the quick embedder, for tests about neither power cuts nor meaning."""

OpenMemory = Callable[..., tenure.Memory]


@pytest.fixture
def clock() -> SteppingClock:
    """The clock of `memory`: a second later at every reading, so that no two writes tie."""
    return SteppingClock(step=timedelta(seconds=1))


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    """A path for a SQLite file that does not exist yet."""
    return tmp_path / "agent.db"


@pytest.fixture(scope="session")
def all_databases(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Databases:
    """The databases of this worker on a real PostgreSQL server, which starts when first needed."""
    folder = tmp_path_factory.getbasetemp()
    shared = folder if worker_id == "master" else folder.parent
    return Databases(started(shared / "postgres"), worker_id)


@pytest.fixture
def databases(all_databases: Databases) -> Databases:
    """The same, all of them free again."""
    all_databases.begin()
    return all_databases


@pytest.fixture(params=STORES)
def where(request: pytest.FixtureRequest, store_path: Path) -> str:
    """The address of a fresh store, once for each kind."""
    if request.param == "postgres":
        databases: Databases = request.getfixturevalue("databases")
        return databases.empty()
    return ":memory:" if request.param == "memory" else str(store_path)


@pytest.fixture
def open_memory(where: str, clock: SteppingClock) -> Iterator[OpenMemory]:
    """Opens the store with other settings: `open_memory(settings=tenure.Settings(...))`."""
    opened: list[tenure.Memory] = []

    def open_with(**options: Any) -> tenure.Memory:
        opened.append(tenure.open(where, **{"clock": clock, "settings": QUICK, **options}))
        return opened[-1]

    yield open_with
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: OpenMemory) -> tenure.Memory:
    """An empty memory, once on each store (ids "memory" and "sqlite")."""
    return open_memory()


@pytest.fixture
def alice(memory: tenure.Memory) -> tenure.Session:
    """A manager of acme."""
    return memory.session(user_id="alice", authority="manager", organization="acme")
