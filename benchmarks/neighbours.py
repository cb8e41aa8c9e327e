"""The nearest vectors of one organization among many: ranked in the process, and by pgvector.

Incumbent keeps one bit a dimension of every vector in the process, looks through all of an
organization's, and fetches the nearest from the server to rank them by their cosine. The other way
is to leave it to the server: pgvector, with one HNSW index over all organizations and a filter.
Both are asked the same here, on one server, and held against an exact search over float vectors.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import psycopg

from benchmarks import corpus
from incumbent.search.collection import Postings, nearest_of
from incumbent.search.embedders import load
from incumbent.search.index import quantised
from incumbent.search.recent import EntryRow
from incumbent.search.retrieval import search
from incumbent.search.shelf_index import ShelfIndex
from incumbent.stores.port import Placed
from incumbent.stores.postgres.local import LocalServer

ORGANIZATIONS = 100
USUAL = 1_000
LARGE = 10_000
"""How many vectors an organization has, and how many the first one has."""
TOP = 50
CANDIDATES = (64, 233)
"""How many Incumbent looks at more closely: for a small context, and for one of 4,000 tokens."""
QUESTIONS = 60
INSERTS = 300
BATCH = 1_000
OPTIONS = {"shared_buffers": "1GB", "maintenance_work_mem": "1GB", "max_wal_size": "4GB"}
_PORTION = 2_000

Vectors = npt.NDArray[np.float32]
Tell = Callable[[str], None]
Nearest = Callable[[int, Vectors], list[int]]
"""The numbers of the nearest vectors of an organization, at most TOP of them."""

# Which of pgvector's ways is taken, and with what settings. `enable_sort = off` makes the server
# use the index where it would rather read all of the organization's rows and sort them.
SERVER_WAYS = {
    "pgvector, the server's own choice": "",
    "pgvector, no index: all rows of the organization": "SET enable_indexscan = off",
    "pgvector, HNSW as it comes": "SET enable_sort = off",
    "pgvector, HNSW, ef_search 200": "SET enable_sort = off; SET hnsw.ef_search = 200",
    "pgvector, HNSW, iterative (strict)": (
        "SET enable_sort = off; SET hnsw.iterative_scan = strict_order"
    ),
    "pgvector, HNSW, iterative (relaxed)": (
        "SET enable_sort = off; SET hnsw.iterative_scan = relaxed_order"
    ),
}


@dataclass
class Way:
    """How one way of searching did for organizations of one size."""

    name: str
    size: int
    recall: float
    """Of the TOP nearest, how many were among those found."""
    given: float
    """How many were found on average."""
    p50: float
    p95: float
    plan: str = ""
    """How the server went about it."""


class Insert(NamedTuple):
    """Milliseconds of adding a vector."""

    name: str
    single: float
    """In a transaction of its own that does not wait for the disk, median."""
    batched: float
    """As one of many in a transaction, mean."""


@dataclass
class Report:
    """Everything that was measured."""

    organizations: int
    vectors: int
    dimensions: int
    ways: list[Way] = field(default_factory=list)
    inserts: list[Insert] = field(default_factory=list)
    catching_up: dict[int, float] = field(default_factory=dict)
    """Milliseconds until a process has an organization of that size in memory."""
    build_s: float = 0.0
    index_mb: float = 0.0
    table_mb: float = 0.0
    own_mb: float = 0.0
    """Of the table of quantised vectors, with its index."""

    def plain(self) -> dict[str, Any]:
        """The figures for programs."""
        return asdict(self) | {"inserts": [one._asdict() for one in self.inserts]}


def measure(
    tell: Tell, *, organizations: int = ORGANIZATIONS, usual: int = USUAL, large: int = LARGE
) -> Report:
    """One large organization among others, filled, indexed and asked."""
    embedder = load("static")
    held = _Held(organizations, usual, large, embedder.embed)
    report = Report(organizations, len(held.vectors), embedder.dimensions)
    with tempfile.TemporaryDirectory(prefix="incumbent-bench-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # a server that root starts runs as somebody else
        with (
            LocalServer(folder / "server", options=OPTIONS) as server,
            psycopg.connect(server.url(), autocommit=True) as connection,
        ):
            _fill(connection, held, report, tell)
            _ask(connection, held, report, tell)
    return report


class _Held:
    """The vectors, which organization has which, and what is asked."""

    def __init__(
        self, organizations: int, usual: int, large: int, embed: Callable[[list[str]], Vectors]
    ) -> None:
        starts = [0, *(large + usual * place for place in range(organizations))]
        self.spans = [range(start, stop) for start, stop in pairwise(starts)]
        total = starts[-1]
        self.vectors = np.concatenate(
            [
                embed(_texts(start, min(start + _PORTION, total)))
                for start in range(0, total, _PORTION)
            ]
        )
        # New ones for every insert that is timed.
        self.fresh = embed(_texts(total, total + 2 * (INSERTS + BATCH)))
        choose = random.Random(corpus.SEED)
        self.asked: dict[int, list[tuple[int, Vectors]]] = {}
        for size, among in ((large, [0]), (usual, range(1, organizations))):
            if among:
                picked = [choose.choice(among) for _ in range(QUESTIONS)]
                about = [corpus.fact(choose.choice(self.spans[one])) for one in picked]
                meant = embed([fact.question for fact in about])
                self.asked[size] = list(zip(picked, meant, strict=True))

    def rated(self, organization: int, query: Vectors) -> npt.NDArray[np.float32]:
        """The cosine of every vector of an organization with a query."""
        span = self.spans[organization]
        return np.asarray(self.vectors[span.start : span.stop] @ query, np.float32)


def _texts(start: int, stop: int) -> list[str]:
    return [fact.text for fact in corpus.facts(start, stop)]


# filling


def _fill(connection: Any, held: _Held, report: Report, tell: Tell) -> None:
    dimensions = report.dimensions
    connection.execute(
        "CREATE EXTENSION vector;"
        f"CREATE TABLE floats (organization int, number int, embedding vector({dimensions}), "
        "PRIMARY KEY (organization, number));"
        "CREATE TABLE bytes (organization int, number int, vector bytea, "
        "PRIMARY KEY (organization, number))"
    )
    tell(f"neighbours: storing {report.vectors:,} vectors ...")
    with connection.cursor() as cursor:
        with cursor.copy("COPY floats FROM STDIN") as copy:
            for organization, span in enumerate(held.spans):
                for number in span:
                    copy.write_row((organization, number, _text(held.vectors[number])))
        with cursor.copy("COPY bytes FROM STDIN") as copy:
            for organization, span in enumerate(held.spans):
                rows = quantised(held.vectors[span.start : span.stop])
                for number, row in zip(span, rows, strict=True):
                    copy.write_row((organization, number, row))
    connection.execute("VACUUM ANALYZE")
    first, second = np.split(held.fresh, 2)
    tell("neighbours: inserting, without an index of neighbours and with one ...")
    report.inserts.append(
        Insert("bytes, as Incumbent keeps them", *_insert(connection, "bytes", quantised(first)))
    )
    told = [_text(vector) for vector in first]
    report.inserts.append(Insert("floats, no index", *_insert(connection, "floats", told)))
    begin = time.perf_counter()
    connection.execute("CREATE INDEX near ON floats USING hnsw (embedding vector_cosine_ops)")
    report.build_s = time.perf_counter() - begin
    told = [_text(vector) for vector in second]
    report.inserts.append(Insert("floats, HNSW index", *_insert(connection, "floats", told)))
    # Whatever was inserted to be timed is nobody's, so that everyone is asked about the same.
    connection.execute("VACUUM ANALYZE")
    connection.execute("CHECKPOINT")
    sizes = "pg_relation_size('near'), pg_table_size('floats'), pg_total_relation_size('bytes')"
    [found] = connection.execute(f"SELECT {sizes}").fetchall()
    report.index_mb, report.table_mb, report.own_mb = (size / 1e6 for size in found)


def _insert(connection: Any, table: str, vectors: Sequence[Any]) -> tuple[float, float]:
    """What inserting costs, one by one and then many at once, for an organization of nobody's."""
    statement = f"INSERT INTO {table} VALUES (-1, %s, %s)"
    [(start,)] = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
    rows = [(start + place, vector) for place, vector in enumerate(vectors)]
    times = []
    connection.execute(
        "SET synchronous_commit = off"
    )  # its noise is larger than what is looked for
    for row in rows[:INSERTS]:
        begin = time.perf_counter()
        connection.execute(statement, row)
        times.append(time.perf_counter() - begin)
    begin = time.perf_counter()
    with connection.transaction(), connection.cursor() as cursor:
        cursor.executemany(statement, rows[INSERTS:])
    batched = (time.perf_counter() - begin) / len(rows[INSERTS:])
    connection.execute("RESET synchronous_commit")
    return 1e3 * statistics.median(times), 1e3 * batched


def _text(vector: Vectors) -> str:
    return str(vector.tolist())


# asking


def _ask(connection: Any, held: _Held, report: Report, tell: Tell) -> None:
    for size, asked in held.asked.items():
        wanted = {organization for organization, _ in asked}
        begin = time.perf_counter()
        shelves = {one: _Shelf(connection, one, report.dimensions) for one in wanted}
        report.catching_up[size] = 1e3 * (time.perf_counter() - begin) / len(shelves)
        for count in CANDIDATES:
            tell(f"neighbours: {size:,} vectors, in the process, {count} candidates")
            name = f"in the process, {count} fetched and ranked"
            report.ways.append(_tried(name, size, held, _in_process(shelves, count)))
        for name, settings in SERVER_WAYS.items():
            tell(f"neighbours: {size:,} vectors, {name}")
            # Planned anew for each question: settings do not reach a plan that is kept.
            connection.execute(f"RESET ALL; SET plan_cache_mode = force_custom_plan; {settings}")
            way = _tried(name, size, held, lambda one, query: _by_server(connection, one, query))
            way.plan = _plan(connection, *asked[0])
            report.ways.append(way)
        connection.execute("RESET ALL")


def _in_process(shelves: Mapping[int, _Shelf], count: int) -> Nearest:
    return lambda organization, query: shelves[organization].best(query, count)


def _tried(name: str, size: int, held: _Held, nearest: Nearest) -> Way:
    times, right, given, wanted = [], 0, 0, 0
    for organization, query in held.asked[size]:
        nearest(organization, query)  # once for what is not in memory yet, for everyone
        begin = time.perf_counter()
        found = nearest(organization, query)
        times.append(1e3 * (time.perf_counter() - begin))
        cosines = held.rated(organization, query)
        # As near as the last of the nearest is right too: many facts are equally near.
        least = np.sort(cosines)[-TOP:][0] - 1e-5
        start = held.spans[organization].start
        right += sum(bool(cosines[number - start] >= least) for number in found)
        given += len(found)
        wanted += min(TOP, len(cosines))
    return Way(
        name,
        size,
        right / wanted,
        given / len(times),
        statistics.median(times),
        float(np.percentile(times, 95)),
    )


_NEAREST = "SELECT number FROM floats WHERE organization = %s ORDER BY embedding <=> %s LIMIT %s"


def _by_server(connection: Any, organization: int, query: Vectors) -> list[int]:
    given = (organization, _text(query), TOP)
    return [number for (number,) in connection.execute(_NEAREST, given).fetchall()]


def _plan(connection: Any, organization: int, query: Vectors) -> str:
    """The part of the server's plan that says which index it went by."""
    cursor = psycopg.ClientCursor(connection)
    cursor.execute(f"EXPLAIN (COSTS off) {_NEAREST}", (organization, _text(query), TOP))
    lines = [row[0].strip(" ->") for row in cursor.fetchall()]
    return next((line for line in lines if "Scan" in line), "")


class _Shelf:
    """The vectors of an organization as Incumbent searches them: a collection without words."""

    def __init__(self, connection: Any, organization: int, dimensions: int) -> None:
        self._connection = connection
        self._organization = organization
        self._stack = ShelfIndex(dimensions)
        rows = connection.execute(
            "SELECT number, vector FROM bytes WHERE organization = %s", (organization,)
        )
        self._stack.catch_up(
            (Placed(one, 1, True, None, None, False, 0, "k", "", row) for one, row in rows), 1
        )
        self.size = self._stack.size
        self.mean_length = 0.0

    def best(self, query: Vectors, count: int) -> list[int]:
        """The nearest as a context finds them, best first."""
        hits = search(self, "", lambda _: query, limit=count)
        return [hit.entry for hit in sorted(hits, key=lambda hit: -hit.meaning)[:TOP]]

    # what a search asks of a collection

    def postings(self, term: str, limit: int) -> Postings:
        return Postings([], 0.0)

    def expect(self, terms: Sequence[str], limit: int) -> None:
        """There are no words."""

    def nearest(self, query: Vectors, count: int) -> list[int]:
        return nearest_of([self._stack], query, count, set())

    def binding(self, query: Vectors | None, count: int) -> list[int]:
        return []

    def newest(self, count: int) -> list[int]:
        return self._stack.newest(count)

    def rows(self, entries: Sequence[int]) -> list[EntryRow]:
        found = self._connection.execute(
            "SELECT number, vector FROM bytes WHERE organization = %s AND number = ANY(%s) "
            "ORDER BY number",
            (self._organization, list(entries)),
        )
        return [EntryRow(number, str(number), 0, vector, ()) for number, vector in found]
