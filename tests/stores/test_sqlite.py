"""The SQLite store as a file: its schema, its neighbours, and what can be wrong with a path."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import tenure
from tenure.stores.sqlite.connections import migrate
from tenure.stores.sqlite.sql import migrations, probes, statement
from tests.conftest import QUICK
from tests.stores import processes
from tests.stores.invariants import findings

LATEST = migrations()[-1][0]


def fill(path: Path) -> list[Any]:
    """Put something of everything into a file; returns what it then holds."""
    with tenure.open(path, settings=QUICK) as memory:
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


def contents(memory: tenure.Memory) -> list[Any]:
    """Everything of the organization acme."""
    with memory.store.read("acme") as reader:
        return [*memory.store.dump("acme"), *reader.desks(), *memory.store.erasures("acme")]


def rows(path: Path, query: str) -> list[Any]:
    """The answer of a bare connection."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def schema(path: Path) -> dict[str, Any]:
    """Tables by their columns, and indexes and triggers by their text without the layout."""
    found: dict[str, Any] = {"version": rows(path, "PRAGMA user_version")[0][0]}
    for kind, name, text in rows(path, "SELECT type, name, sql FROM sqlite_master"):
        if kind == "table":
            columns = rows(path, f"PRAGMA table_xinfo({name})")
            found[f"table {name}"] = {column[1]: column[2:] for column in columns}
        else:
            found[f"{kind} {name}"] = " ".join((text or "").split())
    return found


def make_older(path: Path, version: int, source: Path) -> None:
    """Make a file as an earlier version of Tenure would have, with the data of a present one."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        migrate(connection, up_to=version)
        connection.execute("ATTACH ? AS now", (str(source),))
        tables = connection.execute(
            "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        for (table,) in tables:
            old = [row[1] for row in connection.execute(f"PRAGMA main.table_xinfo({table})")]
            new = [row[1] for row in connection.execute(f"PRAGMA now.table_xinfo({table})")]
            shared = ", ".join(column for column in old if column in new)
            connection.execute(f"DELETE FROM main.{table}")
            connection.execute(
                f"INSERT INTO main.{table} ({shared}) SELECT {shared} FROM now.{table}"
            )


class TestSchema:
    """Migrations lead to the one schema, and keep what there was."""

    @pytest.mark.parametrize("version", range(1, LATEST))
    def test_every_earlier_version_is_brought_up_to_date(
        self, tmp_path: Path, version: int
    ) -> None:
        """A file of any earlier version gets the schema of a new one and keeps its data."""
        fresh, older = tmp_path / "fresh.db", tmp_path / "older.db"
        fill(fresh)
        make_older(older, version, fresh)
        kept = {
            name: rows(older, f"SELECT * FROM {name}") for name in ("facts", "verdicts", "tenures")
        }
        assert schema(older) != schema(fresh)
        with tenure.open(older) as memory:
            session = memory.session(
                user_id="alice", authority="manager", organization="acme", session_id="s1"
            )
            assert session.current("lead") == "Ben"
            assert [review.fact.key for review in session.reviews()] == ["report"]
            assert len(session.history("lead")) == 2
            session.note("desk", "new")
            session.write("lead", "Cem")
            assert session.current("lead") == "Cem"
            assert findings(memory, "acme") == []
        assert schema(older) == schema(fresh)
        for name, before in kept.items():
            assert len(rows(older, f"SELECT * FROM {name}")) >= len(before)

    def test_migrating_changes_no_data(self, tmp_path: Path) -> None:
        """From the first version on, every row survives the migrations unchanged."""
        fresh, older = tmp_path / "fresh.db", tmp_path / "older.db"
        fill(fresh)
        make_older(older, 1, fresh)
        with tenure.open(fresh) as memory:
            expected = [r for r in memory.store.dump("acme") if r["kind"] != "erasure"]
        with tenure.open(older) as memory:
            assert [r for r in memory.store.dump("acme") if r["kind"] != "erasure"] == expected

    def test_migrations_are_numbered_without_gaps(self) -> None:
        """Each migration leads to the next version, from 1 on."""
        assert [version for version, _ in migrations()] == list(range(1, LATEST + 1))

    def test_an_empty_file_is_made_ours(self, store_path: Path) -> None:
        """A file of no bytes, as `touch` makes it, is as good as none."""
        store_path.touch()
        fill(store_path)
        assert rows(store_path, "PRAGMA user_version") == [(LATEST,)]

    @pytest.mark.timeout(300)
    @pytest.mark.parametrize("version", range(LATEST + 1), ids=lambda v: f"from {v}")
    def test_processes_open_one_file_at_once(self, tmp_path: Path, version: int) -> None:
        """Eight processes that open a new or an old file together all get to work."""
        fresh, path = tmp_path / "fresh.db", tmp_path / "agent.db"
        before = 0
        if version:
            fill(fresh)
            make_older(path, version, fresh)
            before = len(rows(path, "SELECT * FROM verdicts"))
        assert processes.run_together(processes.open_and_write, 8, path) == [None] * 8
        with tenure.open(path) as memory:
            assert findings(memory, "acme") == []
        assert len(rows(path, "SELECT * FROM verdicts")) == before + 8
        fill(tmp_path / "reference.db")
        assert schema(path) == schema(tmp_path / "reference.db")

    def test_a_failed_migration_leaves_the_old_version(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A migration that breaks half way is rolled back with its version."""
        path = tmp_path / "agent.db"
        fill(path)
        before, held = schema(path), rows(path, "SELECT * FROM facts")
        broken = "CREATE TABLE extra (x);\nALTER TABLE facts ADD COLUMN extra;\nSELECT no_such;\n"
        steps = [*migrations(), (LATEST + 1, broken)]
        monkeypatch.setattr("tenure.stores.sqlite.connections.migrations", lambda: steps)
        with pytest.raises(tenure.StoreError):
            tenure.open(path)
        monkeypatch.undo()
        assert schema(path) == before
        assert rows(path, "SELECT * FROM facts") == held


class TestQueries:
    """SQL lives in files, under names that are used."""

    def names(self) -> list[str]:
        text = (files("tenure.stores.sqlite") / "queries.sql").read_text(encoding="utf-8")
        return re.findall(r"^-- name: (\w+)$", text, flags=re.MULTILINE)

    def python(self) -> str:
        folder = files("tenure.stores.sqlite")
        return "\n".join(
            entry.read_text(encoding="utf-8")
            for entry in folder.iterdir()
            if entry.name.endswith(".py")
        )

    def test_names_are_unique(self) -> None:
        """No statement hides another of the same name."""
        assert len(set(self.names())) == len(self.names())

    def test_every_statement_is_used(self) -> None:
        """Each statement in the file is asked for by its name somewhere."""
        source = self.python()
        assert [name for name in self.names() if f'"{name}"' not in source] == []

    def test_every_statement_compiles(self, store_path: Path) -> None:
        """Each statement fits the schema that the migrations make."""
        fill(store_path)
        with closing(sqlite3.connect(store_path)) as connection:
            for name in self.names():
                text = probes(name, 2, 2) if name in ("live_at", "glance") else None
                text = text or statement(name, ids=2)
                bound = _parameters(text)
                connection.execute(f"EXPLAIN {text}", bound).fetchall()

    def test_python_holds_no_statements(self) -> None:
        """Outside the file there are only pragmas, transactions and one look at the catalogue."""
        found = re.findall(
            r'"(?:SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|WITH)\b[^"]*"', self.python()
        )
        assert [text for text in found if "sqlite_master" not in text] == []


def _parameters(text: str) -> Any:
    named = set(re.findall(r":(\w+)", text))
    if named:
        return dict.fromkeys(named)
    numbered = [int(number) for number in re.findall(r"\?(\d+)", text)]
    return [None] * (max(numbered) if numbered else text.count("?"))


class TestPaths:
    """Files that are not what they should be are refused, and left alone."""

    @pytest.mark.parametrize(
        "content",
        [b"Dear diary, " * 500, b"\x00" * 4096, b"SQLite format 3\x00" + b"\xff" * 5000, b"x"],
        ids=["text", "zeros", "a header and rubbish", "one letter"],
    )
    def test_a_file_that_is_no_database(self, store_path: Path, content: bytes) -> None:
        """Such a file is refused with its path in the message, and not touched."""
        store_path.write_bytes(content)
        with pytest.raises(tenure.NotADatabase, match=re.escape(str(store_path))):
            tenure.open(store_path)
        assert store_path.read_bytes() == content
        assert [path.name for path in store_path.parent.iterdir()] == ["agent.db"]

    @pytest.mark.parametrize("version", [0, 1, LATEST, 99])
    def test_a_database_of_another_program(self, store_path: Path, version: int) -> None:
        """An SQLite file that is not ours is refused whatever version it claims."""
        with closing(sqlite3.connect(store_path)) as connection:
            connection.execute("CREATE TABLE facts (id, content)")
            connection.execute(f"PRAGMA user_version = {version}")
            connection.commit()
        before = store_path.read_bytes()
        with pytest.raises(tenure.NotADatabase, match=r"another program.*another path"):
            tenure.open(store_path)
        assert store_path.read_bytes() == before

    def test_a_newer_schema(self, store_path: Path) -> None:
        """A file of a newer Tenure is refused with both versions named, and left alone."""
        fill(store_path)
        with closing(sqlite3.connect(store_path)) as connection:
            connection.execute("PRAGMA user_version = 99")
        before = store_path.read_bytes()
        with pytest.raises(tenure.NewerSchema, match=f"99.*up to {LATEST}.*upgrade"):
            tenure.open(store_path)
        assert store_path.read_bytes() == before

    def test_a_folder(self, tmp_path: Path) -> None:
        """A folder is no file to open."""
        with pytest.raises(tenure.StoreError, match=re.escape(str(tmp_path))):
            tenure.open(tmp_path)

    def test_a_missing_folder(self, tmp_path: Path) -> None:
        """A path in a folder that is not there says so, and makes none."""
        path = tmp_path / "no" / "such" / "agent.db"
        with pytest.raises(tenure.StoreError, match=r"agent\.db.*folder"):
            tenure.open(path)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("name", ["with space.db", "a?b#c%41&.db", "größe 🗼.db", "-wal"])
    def test_odd_names(self, tmp_path: Path, name: str) -> None:
        """Any name that the file system takes will do."""
        path = tmp_path / name
        held = fill(path)
        assert path.exists()
        with tenure.open(path) as memory:
            assert contents(memory) == held

    def test_a_damaged_file(self, store_path: Path) -> None:
        """Pages that were overwritten come out as an error of ours, or as a finding."""
        fill(store_path)
        size = store_path.stat().st_size
        with store_path.open("r+b") as file:
            file.seek(8192)
            file.write(b"\xa5" * (size - 8192))
        try:
            with tenure.open(store_path) as memory:
                session = memory.session(user_id="alice", organization="acme")
                told = memory.store.check()
                session.facts()
                session.history("lead")
        except tenure.StoreError as error:
            told = [str(error)]
        assert told


class TestPermissions:
    """A file that may not be written can still be read."""

    @pytest.mark.parametrize("folder_mode", [0o777, 0o555], ids=["open folder", "closed folder"])
    def test_a_read_only_file(self, public_folder: Path, folder_mode: int) -> None:
        """Without the right to write, reading works and writing raises ReadOnlyStore."""
        path = public_folder / "agent.db"
        fill(path)
        path.chmod(0o444)
        before = path.read_bytes()
        public_folder.chmod(folder_mode)
        told = processes.run_as_nobody(processes.read_and_try_to_write, path)
        assert told["current"] == "Ben"
        assert told["history"] == ["Ann", "Ben"]
        for kind, message in told["refused"]:
            assert kind == "ReadOnlyStore"
            assert "agent.db" in message
        assert len(told["refused"]) == 4
        assert path.read_bytes() == before

    def test_a_read_only_folder(self, public_folder: Path) -> None:
        """A file that may be written in a folder that may not: an error of ours, nothing lost."""
        path = public_folder / "agent.db"
        held = fill(path)
        path.chmod(0o666)
        public_folder.chmod(0o555)
        told = processes.run_as_nobody(processes.read_and_try_to_write, path)
        for kind, message in told["refused"]:
            assert kind in ("ReadOnlyStore", "StoreError")
            assert "agent.db" in message
        public_folder.chmod(0o777)
        path.chmod(0o644)
        with tenure.open(path) as memory:
            assert contents(memory) == held

    def test_reading_beside_a_writer(self, public_folder: Path) -> None:
        """A reader without the right to write sees what a writer has just committed."""
        path = public_folder / "agent.db"
        fill(path)
        with tenure.open(path, settings=QUICK) as memory:
            session = memory.session(user_id="alice", authority="manager", organization="acme")
            session.write("lead", "Zoe")
            for file in public_folder.iterdir():
                file.chmod(0o444)
            told = processes.run_as_nobody(processes.read_and_try_to_write, path)
            assert told["current"] == "Zoe"
            assert {kind for kind, _ in told["refused"]} == {"ReadOnlyStore"}
            session.write("lead", "Yan")
            assert session.current("lead") == "Yan"


class TestSpace:
    """A full disk: an error of ours, nothing half written, and work goes on with space."""

    def test_a_full_disk(self, small_disk: Path) -> None:
        """On a disk that is full StoreFull comes out, the state stays, and space brings it back."""
        told = processes.run_alone(processes.fill_the_disk, small_disk)
        assert told["error"] == "StoreFull"
        assert "no space" in told["message"]
        _check_full(told)

    def test_a_limit_on_file_size(self, store_path: Path) -> None:
        """A file that may not grow raises an error of ours, and works again when it may."""
        told = processes.run_alone(processes.fill_the_quota, store_path)
        assert told["error"] in ("StoreFull", "StoreError")
        _check_full(told)


def _check_full(told: dict[str, Any]) -> None:
    assert told["written"] > 0
    assert told["unchanged"], "the failed write left something"
    assert told["readable"], "what was written before can be read while it is full"
    assert told["works again"], "writing works once there is space"
    assert told["findings"] == []


class TestNeighbours:
    """Other processes and threads at the same file."""

    @pytest.fixture
    def held(self, store_path: Path) -> Iterator[Path]:
        """A file whose write lock another process holds."""
        fill(store_path)
        with processes.holding_the_write_lock(store_path):
            yield store_path

    def test_a_lock_held_too_long(self, held: Path) -> None:
        """When another program holds the file longer than the wait, StoreBusy says so."""
        settings = tenure.Settings(busy_timeout=0.2)
        with tenure.open(held, settings=settings) as memory:
            session = memory.session(user_id="alice", authority="manager", organization="acme")
            before = contents(memory)
            with pytest.raises(tenure.StoreBusy, match=r"agent\.db.*busy_timeout"):
                session.write("lead", "Zoe")
            with pytest.raises(tenure.StoreBusy):
                memory.forget(organization="acme", user_id="alice")
            assert contents(memory) == before
            assert session.current("lead") == "Ben"  # reading waits for nobody

    def test_a_lock_given_back_in_time(self, store_path: Path) -> None:
        """A writer that waits gets its turn when the other lets go."""
        fill(store_path)
        with tenure.open(store_path) as memory:
            session = memory.session(user_id="alice", authority="manager", organization="acme")
            with processes.holding_the_write_lock(store_path) as release:
                timer = threading.Timer(0.3, release)
                timer.start()
                session.write("lead", "Zoe")
                timer.join()
            assert session.current("lead") == "Zoe"

    def test_a_thread_that_holds_the_store_too_long(self, store_path: Path) -> None:
        """The wait has an end between threads of one process, too."""
        fill(store_path)
        caught: list[BaseException] = []
        with tenure.open(store_path, settings=tenure.Settings(busy_timeout=0.2)) as memory:

            def write() -> None:
                session = memory.session(user_id="alice", authority="manager", organization="acme")
                try:
                    session.write("lead", "Zoe")
                except tenure.TenureError as error:
                    caught.append(error)

            waiting = threading.Thread(target=write, daemon=True)
            with memory.store.write("acme"):
                waiting.start()
                waiting.join(timeout=10)
            waiting.join(timeout=30)
        assert [type(error) for error in caught] == [tenure.StoreBusy]

    def test_a_forked_process(self, store_path: Path) -> None:
        """A process and its fork both go on with one memory, and nothing is lost or broken."""
        told = processes.run_alone(processes.fork_and_write, store_path)
        assert told == {"child": 0, "values": 41, "findings": []}


SECRETS: dict[str, Any] = {
    "text": "swordfish-open-sesame",
    "unicode": "Schwert-Fïsch-🗼-swordfish",
    "long text": "swordfish " * 20_000,
    "number": 918273645546372819,
    "object": {"name": {"swordfish-name": ["swordfish-a", 918273645546372819]}},
}
MARKS = [b"swordfish", b"918273645546372819", "Schwert-Fïsch".encode(), b"Schwert-F\\u00efsch"]


def remains(path: Path) -> list[tuple[str, bytes]]:
    """Where in the file or beside it something of a secret can still be read."""
    beside = [path, *(Path(f"{path}{end}") for end in ("-wal", "-shm", "-journal"))]
    return [
        (file.name, mark)
        for file in beside
        if file.exists()
        for mark in MARKS
        if mark in file.read_bytes()
    ]


class TestForgetting:
    """Forgetting reaches the bytes of the file."""

    def tell(self, memory: tenure.Memory, secret: Any) -> tenure.Session:
        """Say the secret in every way there is, among things that stay."""
        session = memory.session(
            user_id="alice", authority="manager", organization="acme", session_id="s1"
        )
        for number in range(30):
            session.write(f"filler {number}", "x" * 500)
        session.write("code", "first", subject="vault")
        first = session.write(
            "code", secret, subject="vault", source=tenure.Source(ref="swordfish-ref")
        )
        session.write("code", [secret, secret], subject="vault")
        session.write("copy", {"of": secret}, subject="vault", depends_on=[first.fact_id])
        session.undo(session.write("code", {"new": secret}, subject="vault"))
        session.retract("code", subject="vault", reason="swordfish-reason")
        session.write("swordfish-key", 1, subject="vault")
        session.note("said", f"remember {secret}" if isinstance(secret, str) else secret)
        return session

    @pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
    def test_no_byte_is_left(self, store_path: Path, secret: Any) -> None:
        """After `forget` no byte of an erased value is in the file, its log or its index."""
        with tenure.open(store_path, settings=QUICK) as memory:
            session = self.tell(memory, secret)
            assert remains(store_path)
            proof = memory.forget(organization="acme", subject="vault")
            assert len(proof.fact_ids) == 6
            assert remains(store_path) == []
            assert session.current("filler 7") == "x" * 500
            assert findings(memory, "acme") == []
        assert remains(store_path) == []

    def test_no_byte_is_left_of_a_user(self, store_path: Path) -> None:
        """Forgetting a user takes everything they said, and their desk."""
        with tenure.open(store_path, settings=QUICK) as memory:
            self.tell(memory, SECRETS["text"])
            other = memory.session(user_id="bob", organization="acme")
            other.write("city", "Bern")
            memory.forget(organization="acme", user_id="alice")
            assert remains(store_path) == []
            assert other.current("city") == "Bern"

    def test_scrubbing_waits_for_readers(self, store_path: Path) -> None:
        """While somebody reads the old state its bytes must stay; scrubbing later removes them."""
        with tenure.open(store_path, settings=QUICK) as memory:
            self.tell(memory, SECRETS["text"])
            with memory.store.read("acme") as reader:
                reader.head()
                memory.forget(organization="acme", subject="vault")
                assert memory.store.scrub() is False
            assert memory.store.scrub() is True
            assert remains(store_path) == []
