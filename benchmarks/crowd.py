"""Many clients on one PostgreSQL server: how much they get done, and how much others do.

Each client is a process that makes one call after the other, in an organization of its own.
Incumbent is held against bare psycopg, which sends the very statements of those calls again on a
copy of the database, and against what others offer on the same server with the same embedder.

Before that, the contexts of one organization are timed twice: when it is alone in the database, and
when all the others are there.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.crowds import ANEW, BARE, KINDS, OURS
from benchmarks.crowds.herd import Herd, available
from benchmarks.crowds.report import CONTEXTS, WRITES, Crowd, Growth, Holding, Report
from benchmarks.peers.client import PeerFailed
from incumbent.stores.postgres import schema
from incumbent.stores.postgres.local import LocalServer

CLIENTS = (1, 8, 32)
ORGANIZATIONS = 100
FACTS = 10_000
SECONDS = 10.0
PEERS_HOLD = 32
"""How many organizations the peers get, one for each client: an index over all of them would take
too long to make."""
PEERS = tuple(name for name, kind in KINDS.items() if not kind.ours)
OPTIONS = {"max_connections": "150", "shared_buffers": "1GB", "max_wal_size": "8GB"}
_COPIERS = 2
_BATCH = 500
_LOADING_S = 600.0
_INDEXING = "SET maintenance_work_mem = '1GB'; SET max_parallel_maintenance_workers = 2"
_APART = 1_000_000
_CLONE = Path(__file__).with_name("clone_organization.sql")

Tell = Callable[[str], None]
Share = dict[str, Any]
"""The facts of one organization, by number: its name, the first of them, and how many."""


def measure(
    tell: Tell,
    *,
    clients: Sequence[int] = CLIENTS,
    organizations: int = ORGANIZATIONS,
    facts: int = FACTS,
    seconds: float = SECONDS,
    peers: Sequence[str] = PEERS,
) -> Report:
    """Every kind of call with every number of clients: ours, the same bare, and the peers."""
    report = Report(organizations, facts, seconds)
    with tempfile.TemporaryDirectory(prefix="incumbent-bench-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # a server that root starts runs as somebody else
        with LocalServer(folder / "server", options=OPTIONS) as server:
            run = _Run(server, folder / "clients", report, tuple(clients), tell)
            run.fill()
            run.ours()
            for peer in (name for name in peers if KINDS[name].shares is None):
                run.peer(peer, peers)
    return report


def name_of(number: int) -> str:
    return f"organization-{number:03}"


class _Run:
    """One server, and what is measured on it in turn."""

    def __init__(
        self,
        server: LocalServer,
        folder: Path,
        report: Report,
        clients: tuple[int, ...],
        tell: Tell,
    ) -> None:
        self._server = server
        self._folder = folder
        self._report = report
        self._clients = clients
        self._tell = tell

    # what ours work on

    def fill(self) -> None:
        """One organization by its own calls, the others as copies of it; contexts in between."""
        report = self._report
        self._server.ask("CREATE DATABASE ours")
        self._tell(f"incumbent: writing {report.facts:,} facts ...")
        with self._herd(OURS, "ours") as writers:
            for start in range(0, report.facts, _BATCH):
                self._write(writers, start)
        alone = self._context_alone()
        self._spread()
        report.growth = Growth(alone, self._context_alone(), report.organizations - 1)
        self._tell("a copy of the database for the bare statements ...")
        self._server.ask("CREATE DATABASE bare TEMPLATE ours STRATEGY file_copy")

    def _write(self, writers: Herd, start: int) -> None:
        count = min(_BATCH, self._report.facts - start)
        share = {"organization": name_of(0), "first": start, "facts": count}
        writers.do("load", [{"shares": [share]}], _LOADING_S)
        if start == 0:
            self._settle("ours")  # or it goes on by what it knows of empty tables

    def _spread(self) -> None:
        count, url = self._report.organizations, self._server.url("ours")
        script = _CLONE.read_text(encoding="utf-8")

        def copy(number: int) -> int:
            given = {"of": name_of(0), "name": name_of(number), "offset": number * _APART}
            with psycopg.connect(url, autocommit=True) as connection:
                psycopg.ClientCursor(connection).execute(script, given)
            return number

        self._tell(f"incumbent: copying them to {count - 1} more organizations ...")
        with ThreadPoolExecutor(_COPIERS) as copiers:
            for number in copiers.map(copy, range(1, count)):
                if number % 20 == 0:
                    self._tell(f"  {number} of {count - 1}")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"SELECT setval('{schema.SCHEMA}.shelf_numbers', 1000000000)")

    def _context_alone(self) -> float:
        """The median context of the first organization, with no other client on the server."""
        self._settle("ours")
        with self._herd(OURS, "ours") as herd:
            made = self._together(herd, CONTEXTS, [self._share(0)])
        self._tell(f"incumbent: contexts of one organization, p50 {made.ms(0.5):.1f} ms")
        return made.ms(0.5)

    # what is measured

    def ours(self) -> None:
        """Incumbent, and after each run its statements again."""
        shares = [self._share(number) for number in range(self._report.organizations)]
        with self._herd(OURS, "ours") as herd, self._herd(BARE, "bare") as again:
            self._check(herd, shares)
            for kind in (WRITES, CONTEXTS):
                for count in self._clients:
                    self._note(self._together(herd, kind, _dealt(shares, count)))
                    self._note(self._replayed(again, kind, count))
                    if kind == CONTEXTS:
                        self._run(herd, count, anew=True)
                        self._note(self._replayed(again, kind, count, ANEW))

    def peer(self, system: str, peers: Sequence[str]) -> None:
        """Fill a peer and measure it, and whoever shares what it holds.

        What goes wrong with it is noted, and ends nothing else.
        """
        try:
            if not available(system):
                raise PeerFailed("not installed: make bench sets up .venv-peers")
            shares = self._load(system)
            with self._herd(system, _database(system)) as herd:
                self._calls(herd, shares, (WRITES, CONTEXTS))
                for other in (name for name in peers if KINDS[name].shares == system):
                    herd.become(other)
                    self._calls(herd, shares, (CONTEXTS,))
        except (PeerFailed, psycopg.Error) as error:
            self._report.missing[system] = str(error)
            self._tell(f"{system}: left out from here on: {error}")

    def _calls(self, herd: Herd, shares: Sequence[Share], kinds: Sequence[str]) -> None:
        self._check(herd, shares)
        for kind in kinds:
            for count in self._clients:
                self._note(self._together(herd, kind, _dealt(shares, count)))

    def _load(self, system: str) -> list[Share]:
        """Other facts for each organization: a graph of neighbours would fare ill with copies."""
        facts, database = self._report.facts, _database(system)
        shares: list[Share] = [
            {"organization": name_of(number), "first": number * facts, "facts": facts}
            for number in range(min(PEERS_HOLD, self._report.organizations))
        ]
        self._tell(f"{system}: copying {facts:,} facts to {len(shares)} organizations ...")
        self._server.ask(f"CREATE DATABASE {database}")
        with (
            self._herd(system, database) as herd,
            psycopg.connect(self._server.url(database), autocommit=True) as connection,
        ):
            herd.do("prepare", [{}])
            graphs = connection.execute(
                "SELECT indexname, indexdef FROM pg_indexes WHERE indexdef LIKE '%USING hnsw%'"
            ).fetchall()
            for name, _ in graphs:
                connection.execute(f"DROP INDEX {name}")
            parts = [shares[number::_COPIERS] for number in range(_COPIERS)]
            herd.do("load", [{"shares": part} for part in parts], _LOADING_S)
            self._tell(f"{system}: making its index ...")
            connection.execute(_INDEXING)
            begin = time.perf_counter()
            for _, made_by in graphs:
                connection.execute(made_by)
            self._report.indexed[system] = time.perf_counter() - begin
        self._settle(database)
        return shares

    def _check(self, herd: Herd, shares: Sequence[Share]) -> None:
        [found] = herd.do("check", shares[:1])
        self._report.holdings[herd.system] = Holding(
            len(shares),
            shares[0]["facts"],
            found["asked"],
            found["answered"],
            found["given"] / found["asked"],
        )

    def _together(self, herd: Herd, kind: str, shares: Sequence[Share]) -> Crowd:
        """All clients warm up, and begin at the same moment when the last of them is ready."""
        herd.do("warm", [{"kind": kind, **share} for share in shares])
        return Crowd.of(herd.system, kind, self._run(herd, len(shares)))

    def _run(self, herd: Herd, count: int, *, anew: bool = False) -> list[list[float]]:
        seconds = self._report.seconds
        asked = [{"seconds": seconds, "log": self._log(number)} for number in range(count)]
        done = herd.do("run", [{**one, "anew": anew} for one in asked], seconds)
        return [answer["times"] for answer in done]

    def _replayed(self, herd: Herd, kind: str, count: int, system: str = BARE) -> Crowd:
        herd.do("fetch", [{"log": self._log(number)} for number in range(count)])
        done = herd.do("replay", [{} for _ in range(count)], 10 * self._report.seconds)
        return Crowd.of(system, kind, [answer["times"] for answer in done])

    def _note(self, crowd: Crowd) -> None:
        self._report.crowds.append(crowd)
        self._tell(
            f"{crowd.system}: {crowd.what}: {crowd.per_second:,.0f} a "
            f"second, p50 {crowd.ms(0.5):.1f} ms"
        )

    # how

    def _herd(self, system: str, database: str) -> Herd:
        return Herd(system, self._server.url(database), self._folder)

    def _share(self, number: int) -> Share:
        return {"organization": name_of(number), "first": 0, "facts": self._report.facts}

    def _log(self, number: int) -> str:
        return str(self._folder / f"calls-{number}")

    def _settle(self, database: str) -> None:
        """What a server does by itself in time, so that it does not do it while it is timed."""
        with psycopg.connect(self._server.url(database), autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")


def _dealt(shares: Sequence[Share], count: int) -> list[Share]:
    """An organization for each client; several share one where there are too few."""
    return [shares[number % len(shares)] for number in range(count)]


def _database(system: str) -> str:
    return KINDS[system].maker.lower()
