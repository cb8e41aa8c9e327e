"""What tests of the SQLite store do in processes of their own."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import incumbent
from incumbent.stores.port import Transaction
from incumbent.stores.sqlite import SQLiteStore
from incumbent.testing.contract.catalogue import entry, posted, shelf_of
from tests.conftest import QUICK
from tests.patience import PATIENCE
from tests.stores.invariants import findings

# The server loads Incumbent once and forks every process from there, which takes milliseconds. It
# has one thread, so that forking it is safe, unlike the test runner.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.stores.processes", "tests.test_crash", "tests.stores.warm"])
NOBODY = 65534


def _answer(pipe: Connection, task: Callable[..., Any], *given: Any) -> None:
    try:
        pipe.send((task(*given), None))
    except BaseException as error:
        pipe.send((None, f"{type(error).__name__}: {error}"))


def _start(task: Callable[..., Any], *given: Any) -> tuple[Any, Connection]:
    ours, theirs = CONTEXT.Pipe(duplex=False)
    child = CONTEXT.Process(target=_answer, args=(theirs, task, *given), daemon=False)
    child.start()
    theirs.close()
    return child, ours


def _finish(child: Any, pipe: Connection) -> Any:
    assert pipe.poll(PATIENCE), "the process hangs"
    result, error = pipe.recv()
    child.join(PATIENCE)
    child.close()
    pipe.close()
    assert error is None, error
    return result


def run_alone(task: Callable[..., Any], *given: Any) -> Any:
    """Run a task in a process; gives back its result, fails on its error."""
    return _finish(*_start(task, *given))


def run_together(task: Callable[..., Any], count: int, *given: Any) -> list[Any]:
    """Run a task in several processes; its first argument is the barrier they start at."""
    barrier = CONTEXT.Barrier(count)
    started = [_start(task, barrier, *given) for _ in range(count)]
    return [_finish(*each) for each in started]


def run_as_nobody(task: Callable[..., Any], *given: Any) -> Any:
    """Run a task without the rights of root, whom no permission stops."""
    return run_alone(_drop_rights_and, task, *given)


def _drop_rights_and(task: Callable[..., Any], *given: Any) -> Any:
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    return task(*given)


def alice(memory: incumbent.Memory) -> incumbent.Session:
    """The user in these tests."""
    return memory.session(user_id="alice", authority="manager", organization="acme")


def open_and_write(start: Barrier, path: Path) -> None:
    """Open the file together with others, and write once."""
    start.wait(PATIENCE)
    with incumbent.open(path) as memory:
        alice(memory).write("opened by", str(os.getpid()))


def read_and_try_to_write(path: Path) -> dict[str, Any]:
    """Read what is there, and try every kind of writing."""
    told: dict[str, Any] = {"refused": []}
    try:
        memory = incumbent.open(path)
    except incumbent.IncumbentError as error:
        return {"refused": [(type(error).__name__, str(error))]}
    with memory:
        session = alice(memory)
        attempts: list[Callable[[], Any]] = [
            lambda: session.write("lead", "Mallory"),
            lambda: session.note("desk", "x"),
            lambda: memory.declare("lead", multi_valued=True),
            lambda: memory.forget(organization="acme", user_id="alice"),
            lambda: session.rehearsal().write("lead", "Mallory"),
        ]
        for attempt in attempts:
            try:
                attempt()
            except incumbent.IncumbentError as error:
                told["refused"].append((type(error).__name__, str(error)))
        told["current"] = session.current("lead")
        told["history"] = list(session.history("lead").values)
    return told


def search_and_try_to_index(path: Path) -> dict[str, Any]:
    """Search what is there, and try every kind of writing that has to do with searching."""
    store = SQLiteStore(path)
    with store.read("acme") as reader:
        (fact,) = reader.facts(["fact-0001"])
        told: dict[str, Any] = {
            "found": posted(reader, "東京"),
            "placed": len(list(reader.placed(shelf_of(reader).id, 0))),
            "receipts": [receipt.id for receipt in reader.receipts("alice", 9)],
            "refused": [],
        }
    attempts: list[Callable[[Transaction], Any]] = [
        lambda transaction: transaction.index([entry(fact, "bern")]),
        lambda transaction: transaction.unindex(1),
        lambda transaction: transaction.set_recipe("another"),
        lambda transaction: transaction.drop_receipts(),
    ]
    for attempt in attempts:
        try:
            with store.write("acme") as transaction:
                attempt(transaction)
        except incumbent.IncumbentError as error:
            told["refused"].append(type(error).__name__)
    store.close()
    return told


def _write_until_full(path: Path, make_space: Callable[[], None]) -> dict[str, Any]:
    """Write until it fails, look around, make space, and write again."""
    page = "x" * 20_000
    told: dict[str, Any] = {"written": 0}
    with incumbent.open(path) as memory:
        session = alice(memory)
        try:
            while told["written"] < 10_000:
                session.write(f"page {told['written']}", page)
                told["written"] += 1
        except incumbent.StoreError as error:
            told |= {"error": type(error).__name__, "message": str(error)}
        told["unchanged"] = _holds_pages(memory, told["written"])
        told["readable"] = session.current("page 0") == page
        for _ in range(3):  # failing again and again does no harm either
            with suppress(incumbent.StoreError):
                session.write("more", page * 20)
        make_space()
        session.write("again", page)
    with incumbent.open(path) as memory:
        told["works again"] = alice(memory).current("again") == page
        told["findings"] = findings(memory, "acme")
    return told


def _holds_pages(memory: incumbent.Memory, count: int) -> bool:
    """Whether these pages and their verdicts are there, and nothing else is."""
    records = list(memory.store.dump("acme"))
    keys = {record["key"] for record in records if record["kind"] == "fact"}
    return len(records) == 2 * count and keys == {f"page {number}" for number in range(count)}


def fill_the_disk(disk: Path) -> dict[str, Any]:
    """Fill a small disk, of which a file that can be deleted takes a part."""
    ballast = disk / "ballast"
    ballast.write_bytes(b"\x00" * 2_000_000)
    return _write_until_full(disk / "agent.db", ballast.unlink)


def fill_the_quota(path: Path) -> dict[str, Any]:
    """Reach the largest size a file may have, then raise it."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, hard))
    return _write_until_full(path, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard)))


def open_within(path: Path, limit: int) -> dict[str, Any]:
    """Open a new memory where files may have so many bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        incumbent.open(path).close()
    except incumbent.StoreError as error:
        return {"error": type(error).__name__, "message": str(error)}
    return {"error": None}


def fork_and_write(path: Path) -> dict[str, Any]:
    """Fork with a memory open and a transaction under way; both sides go on writing."""
    with incumbent.open(path, settings=QUICK) as memory:
        session = alice(memory)
        session.write("before", 0)
        with memory.store.read("acme") as reader:
            reader.head()
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    for number in range(20):
                        session.write(f"child {number}", number)
                    status = 0 if session.current("before") == 0 else 2
                finally:
                    os._exit(status)
        for number in range(20):
            session.write(f"parent {number}", number)
        _, status = os.waitpid(child, 0)
        return {
            "child": os.waitstatus_to_exitcode(status),
            "values": len(session.facts()),
            "findings": findings(memory, "acme"),
        }


def _hold(path: Path, pipe: Connection) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        pipe.send("held")
        pipe.recv()
        connection.execute("ROLLBACK")


@contextmanager
def holding_the_write_lock(path: Path) -> Iterator[Callable[[], None]]:
    """Another process holds the write lock until the block ends, or until it is released."""
    ours, theirs = CONTEXT.Pipe()
    child = CONTEXT.Process(target=_hold, args=(path, theirs))
    child.start()
    theirs.close()
    released = False

    def release() -> None:
        nonlocal released
        if not released:
            released = True
            ours.send("release")

    try:
        assert ours.poll(PATIENCE), "the other process hangs"
        ours.recv()
        yield release
    finally:
        release()
        child.join(PATIENCE)
        child.close()
        ours.close()
