"""What every test may ask for: a memory on the stores that matter, and a clock that it moves."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any

import hypothesis
import pytest

import incumbent
from incumbent.testing import SteppingClock
from tests.selection import FAST, slow_module
from tests.servers import AVAILABLE, SERVER, Databases

# Before anybody imports a part of it: its checks then tell what they compared.
pytest.register_assert_rewrite("incumbent.testing.contract")

# Some systems have no package of the server; there the tests go without.
STORES = ("memory", "sqlite", *(["postgres"] if AVAILABLE else []))

SOAK = os.environ.get("INCUMBENT_SOAK") == "1"
"""Whether the long versions of the tests run: `make soak`."""
THOROUGH = SOAK or os.environ.get("INCUMBENT_THOROUGH") == "1"
"""Whether every test runs on every store, and properties on more examples: `make check`."""

if not SOAK:
    # The same tree gives the same result; `make soak` looks for new examples.
    hypothesis.settings.load_profile("ci")

QUICK = incumbent.Settings(durability="process", embedder="static")
"""No sync per commit and the quick embedder, for tests about neither power cuts nor meaning."""

OpenMemory = Callable[..., incumbent.Memory]


def examples(count: int, *, soak: int, least: int = 3) -> int:
    """How many examples of a property are tried: `count` of them in `make check`."""
    if SOAK:
        return soak
    return count if THOROUGH else min(count, max(least, count // 5))


def pytest_configure(config: pytest.Config) -> None:
    """Let a worker know where the PostgreSQL server of the run is, and processes what Ctrl-C is."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and current_thread() is main_thread():
        # A shell has what it runs in the background ignore it, with all that is started there.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    given = getattr(config, "workerinput", None)
    if given is not None:
        SERVER.use(given["postgres"])


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Start the server before the first worker, and tell each where it is."""
    node.workerinput["postgres"] = SERVER.address() if AVAILABLE else ""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave modules alone that are slow as a whole, where no slow test is wanted."""
    return (config.option.markexpr == FAST and slow_module(collection_path)) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of modules that are slow as a whole."""
    for item in items:
        if slow_module(item.path):
            item.add_marker(pytest.mark.slow)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the server, where this is the process that started it."""
    SERVER.end()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that asks for a store its stores.

    The contract suite proves that the stores do the same. So a test gets the one in memory, and all
    of them where it says that a store can matter, or where everything runs.
    """
    if "kind_of_store" in metafunc.fixturenames:
        matters = metafunc.definition.get_closest_marker("on_every_store") is not None
        stores = STORES if THOROUGH or matters else STORES[:1]
        metafunc.parametrize("kind_of_store", stores)


@pytest.fixture
def clock() -> SteppingClock:
    """The clock of `memory`: a second later at every reading, so that no two writes tie."""
    return SteppingClock(step=timedelta(seconds=1))


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    """A path for a SQLite file that does not exist yet."""
    return tmp_path / "agent.db"


@pytest.fixture
def databases() -> Databases:
    """Databases on a real PostgreSQL server, for this test alone."""
    if not AVAILABLE:
        pytest.skip("no package of a PostgreSQL server for this system")
    found = SERVER.databases()
    found.begin()
    return found


@pytest.fixture
def where(kind_of_store: str, request: pytest.FixtureRequest, store_path: Path) -> str:
    """The address of a fresh store: in memory, or of each kind where a store can matter."""
    if kind_of_store == "postgres":
        databases: Databases = request.getfixturevalue("databases")
        return databases.empty()
    return ":memory:" if kind_of_store == "memory" else str(store_path)


@pytest.fixture
def open_memory(where: str, clock: SteppingClock) -> Iterator[OpenMemory]:
    """Opens the store with other settings: `open_memory(settings=incumbent.Settings(...))`."""
    opened: list[incumbent.Memory] = []

    def open_with(**options: Any) -> incumbent.Memory:
        opened.append(incumbent.open(where, **{"clock": clock, "settings": QUICK, **options}))
        return opened[-1]

    yield open_with
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: OpenMemory) -> incumbent.Memory:
    """An empty memory (ids "memory", "sqlite", "postgres")."""
    return open_memory()


@pytest.fixture
def alice(memory: incumbent.Memory) -> incumbent.Session:
    """A manager of acme."""
    return memory.session(user_id="alice", authority="manager", organization="acme")
