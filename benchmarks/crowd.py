"""Many clients on one PostgreSQL server: how much they get done, against bare psycopg.

Bare means: the very statements that Tenure sent for each of its calls, with their parameters, sent
again in the same order by a plain loop on a copy of the same database, by as many processes.
"""

from __future__ import annotations

import multiprocessing
import pickle
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from rich.table import Table

import tenure
from benchmarks import corpus
from benchmarks.figures import Target
from tenure.stores.postgres import schema
from tenure.stores.postgres.local import LocalServer

CLIENTS = (1, 8, 32)
ORGANIZATIONS = 100
FACTS = 10_000
SECONDS = 15.0
SHARES = (0.5, 0.95, 0.99)
BUDGET = 1_000
SETTINGS = tenure.Settings(embedder="static", pool_size=2)
_BATCH = 500
_APART = 1_000_000
_WARMING = 4  # an even number: whatever is superseded was written while it was overheard
_CLONE = Path(__file__).with_name("clone_organization.sql")

Sent = tuple[str, Any, bool]
"""A statement, its parameters, and whether they are put in before it is sent."""
Tell = Callable[[str], None]


class Task(NamedTuple):
    """What one client does."""

    kind: str
    url: str
    organization: str
    seconds: float
    facts: int
    number: int
    log: str


@dataclass
class Crowd:
    """What some clients got done together."""

    kind: str
    clients: int
    ours: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    per_second: float = 0.0
    bare_per_second: float = 0.0

    @property
    def ratio(self) -> float:
        return self.bare_per_second / self.per_second

    def plain(self) -> dict[str, Any]:
        """The figures for programs."""
        return {
            "kind": self.kind,
            "clients": self.clients,
            "per_second": self.per_second,
            "bare_per_second": self.bare_per_second,
            "ms": {share: 1e3 * _at(self.ours, share) for share in SHARES},
            "bare_ms": {share: 1e3 * _at(self.bare, share) for share in SHARES},
        }


def name_of(number: int) -> str:
    return f"organization-{number:03}"


# what the clients work on


@contextmanager
def filled(organizations: int, facts: int, tell: Tell) -> Iterator[tuple[str, str]]:
    """The addresses of two equal databases with that many organizations of that many facts."""
    with tempfile.TemporaryDirectory(prefix="tenure-bench-") as folder:
        Path(folder).chmod(0o711)  # a server that root starts runs as somebody else
        options = {"max_connections": "150", "shared_buffers": "1GB", "max_wal_size": "8GB"}
        with LocalServer(Path(folder) / "server", options=options) as server:
            with psycopg.connect(server.url(), autocommit=True) as connection:
                connection.execute("CREATE DATABASE ours")
            tell(f"writing {facts:,} facts ...")
            _write(server.url("ours"), facts)
            tell(f"copying them to {organizations - 1} more organizations ...")
            _spread(server.url("ours"), organizations)
            with psycopg.connect(server.url(), autocommit=True) as connection:
                connection.execute("CREATE DATABASE bare TEMPLATE ours STRATEGY file_copy")
            yield server.url("ours"), server.url("bare")


def _write(url: str, facts: int) -> None:
    with tenure.open(url, settings=SETTINGS) as memory:
        session = memory.session(user_id="alice", organization=name_of(0))
        told = list(corpus.facts(0, facts))
        for start in range(0, facts, _BATCH):
            session.write_many(
                {"key": f.key, "value": f.value, "subject": f.subject}
                for f in told[start : start + _BATCH]
            )


def _spread(url: str, organizations: int) -> None:
    script = _CLONE.read_text(encoding="utf-8")
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = psycopg.ClientCursor(connection)
        for number in range(1, organizations):
            given = {"of": name_of(0), "name": name_of(number), "offset": number * _APART}
            cursor.execute(script, given)
        connection.execute(f"SELECT setval('{schema.SCHEMA}.shelf_numbers', 1000000000)")
        connection.execute("VACUUM ANALYZE")


# a client of Tenure


def work(task: Task) -> list[float]:
    """Call Tenure again and again; how long each call took. What was sent is put on file."""
    with tenure.open(task.url, settings=SETTINGS) as memory, _overheard() as sent:
        session = memory.session(user_id="alice", organization=task.organization)
        call = _calls(session, task)
        for turn in range(_WARMING):
            call(turn)
        times, calls = [], list[list[Sent]]()
        end = time.perf_counter() + task.seconds
        turn = _WARMING
        while time.perf_counter() < end:
            sent.clear()
            begin = time.perf_counter()
            call(turn)
            times.append(time.perf_counter() - begin)
            calls.append(list(sent))
            turn += 1
    Path(task.log).write_bytes(pickle.dumps(calls))
    return times


def _calls(session: tenure.Session, task: Task) -> Callable[[int], object]:
    if task.kind == "contexts":
        asked = corpus.questions(task.facts)
        return lambda turn: session.context(asked[turn % len(asked)].question, budget=BUDGET)
    # Every other write supersedes the one before it.
    made = f"bench_{task.number}_{time.time_ns()}"
    return lambda turn: session.write(f"{made}_{turn // 2}", f"the value of turn {turn}")


@contextmanager
def _overheard() -> Iterator[list[Sent]]:
    """Every statement that is sent from here on, in order."""
    sent: list[Sent] = []
    plain, filled_in = psycopg.Connection.execute, psycopg.ClientCursor.execute

    def execute(self: Any, query: Any, given: Any = None, **options: Any) -> Any:
        sent.append((query, given, False))
        return plain(self, query, given, **options)

    def execute_filled(self: Any, query: Any, given: Any = None, **options: Any) -> Any:
        sent.append((query, given, True))
        return filled_in(self, query, given, **options)

    psycopg.Connection.execute = execute  # type: ignore[method-assign, assignment]
    psycopg.ClientCursor.execute = execute_filled  # type: ignore[method-assign, assignment]
    try:
        yield sent
    finally:
        psycopg.Connection.execute = plain  # type: ignore[method-assign]
        psycopg.ClientCursor.execute = filled_in  # type: ignore[method-assign]


# the same, bare


def replay(task: Task) -> list[float]:
    """Send again what was put on file; how long the statements of each call took."""
    calls: list[list[Sent]] = pickle.loads(Path(task.log).read_bytes())
    times = []
    with psycopg.connect(task.url, autocommit=True) as connection:
        connection.execute(
            f"SET search_path = {schema.SCHEMA}, public; SET plan_cache_mode = force_generic_plan; "
            f"SET ROLE {schema.APPLICATION_ROLE}"
        )
        for statements in calls:
            begin = time.perf_counter()
            for query, given, is_filled in statements:
                _send(connection, query, given, is_filled)
            times.append(time.perf_counter() - begin)
    return times


def _send(connection: Any, query: str, given: Any, is_filled: bool) -> None:
    if not is_filled:
        cursor = connection.execute(query, given)
        if cursor.description is not None:
            cursor.fetchall()
        return
    cursor = psycopg.ClientCursor(connection)
    cursor.execute(query, given)
    while True:
        if cursor.description is not None:
            cursor.fetchall()
        if not cursor.nextset():
            return


# both


def measure(
    tell: Tell,
    *,
    clients: tuple[int, ...] = CLIENTS,
    organizations: int = ORGANIZATIONS,
    facts: int = FACTS,
    seconds: float = SECONDS,
) -> list[Crowd]:
    """Every kind of call with every number of clients, ours and then bare."""
    found = []
    with (
        filled(organizations, facts, tell) as (ours, bare),
        tempfile.TemporaryDirectory(prefix="tenure-bench-") as folder,
    ):
        for kind in ("writes", "contexts"):
            for count in clients:
                tell(f"{kind}, {count} clients ...")
                tasks = [
                    Task(
                        kind,
                        ours,
                        name_of(number % organizations),
                        seconds,
                        facts,
                        number,
                        str(Path(folder) / f"{kind}-{count}-{number}"),
                    )
                    for number in range(count)
                ]
                crowd = Crowd(kind, count)
                crowd.ours, crowd.per_second = _together(work, tasks)
                again = [task._replace(url=bare) for task in tasks]
                crowd.bare, crowd.bare_per_second = _together(replay, again)
                found.append(crowd)
    return found


def _together(do: Callable[[Task], list[float]], tasks: list[Task]) -> tuple[list[float], float]:
    """What all of them took, and how many calls a second they made of it together."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(len(tasks)) as pool:
        done = pool.map(do, tasks, chunksize=1)
    rate = sum(len(times) / sum(times) for times in done if times)
    return sorted(taken for times in done for taken in times), rate


def table(crowds: list[Crowd]) -> Table:
    made = Table(title="Calls on one PostgreSQL server, Tenure / the same statements bare")
    for heading in ("calls", "clients", "a second", "share of bare", "p50 ms", "p95 ms", "p99 ms"):
        made.add_column(heading, justify="right")
    for crowd in crowds:
        made.add_row(
            crowd.kind,
            str(crowd.clients),
            f"{crowd.per_second:,.0f} / {crowd.bare_per_second:,.0f}",
            f"{crowd.per_second / crowd.bare_per_second:.0%}",
            *(_pair(crowd, share) for share in SHARES),
        )
    return made


def _pair(crowd: Crowd, share: float) -> str:
    return f"{1e3 * _at(crowd.ours, share):.1f} / {1e3 * _at(crowd.bare, share):.1f}"


def _at(times: list[float], share: float) -> float:
    return statistics.quantiles(times, n=100)[round(share * 100) - 1]


def targets_of(crowds: list[Crowd]) -> list[Target]:
    """At least half of what the bare statements get done."""
    return [
        Target(f"{crowd.kind}, {crowd.clients} clients: bare / ours", crowd.ratio, 2)
        for crowd in crowds
    ]
