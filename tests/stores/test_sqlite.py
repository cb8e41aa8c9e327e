"""The SQLite store as a file: its schema, its statements, and what can be wrong with a path."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import incumbent
from incumbent.model.records import Spot, Turn
from incumbent.stores.port import Selection
from incumbent.stores.sqlite import SQLiteStore
from incumbent.stores.sqlite.connections import migrate
from incumbent.stores.sqlite.sql import migrations, probes, statement
from tests.conftest import QUICK
from tests.stores import processes
from tests.stores.invariants import findings
from tests.stores.sample import RememberedByOthers, contents, fill

LATEST = migrations()[-1][0]


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
    """Make a file as an earlier version of Incumbent would have, with the data of a present one."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        migrate(connection, up_to=version)
        connection.execute("ATTACH ? AS now", (str(source),))
        # A virtual table has no rows of its own: what it knows is in the tables it made.
        tables = connection.execute(
            "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
            "AND sql NOT LIKE 'CREATE VIRTUAL %'"
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
        with incumbent.open(older) as memory:
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
        with incumbent.open(fresh) as memory:
            expected = [r for r in memory.store.dump("acme") if r["kind"] != "erasure"]
        with incumbent.open(older) as memory:
            assert [r for r in memory.store.dump("acme") if r["kind"] != "erasure"] == expected

    def test_what_was_kept_as_it_was_said_loses_the_word_for_its_name(self, tmp_path: Path) -> None:
        """Up to schema 9 the key "statement" stood for none; who wrote that key keeps it."""
        fresh, older = tmp_path / "fresh.db", tmp_path / "older.db"
        with incumbent.open(fresh, settings=QUICK) as memory:
            alice = memory.session(user_id="alice")
            alice.observe("My cup is red.")
            alice.write("statement", "of account")
        make_older(older, 9, fresh)
        with closing(sqlite3.connect(older)) as connection, connection:
            connection.execute("UPDATE facts SET key = 'statement' WHERE key = ''")
        with incumbent.open(older, settings=QUICK) as memory:
            alice = memory.session(user_id="alice")
            assert [fact.value for fact in alice.facts("")] == ["My cup is red."]
            assert [fact.value for fact in alice.facts("statement")] == ["of account"]
            assert "My cup is red." in alice.context("Which cup?").text
            assert memory.store.check() == []

    def test_a_file_from_before_the_index(self, tmp_path: Path) -> None:
        """A file of schema 2 keeps facts, log, desks and proofs, and has everything to index."""
        fresh, older = tmp_path / "fresh.db", tmp_path / "older.db"
        held = fill(fresh)
        make_older(older, 2, fresh)
        with closing(SQLiteStore(older)) as store, store.read("acme") as reader:
            assert [*store.dump("acme"), *reader.desks(), *store.erasures("acme")] == held
            assert reader.recipe() is None
            assert reader.receipts(None, 9) == []
            every = sorted(reader.timeline(Selection()), key=lambda fact: fact.id)
            assert reader.unindexed(100) == every

    def test_a_file_from_before_turns(self, tmp_path: Path) -> None:
        """A file of schema 3 keeps what it had, its index too, and takes turns and spots."""
        fresh, older = tmp_path / "fresh.db", tmp_path / "older.db"
        held = fill(fresh)
        make_older(older, 3, fresh)
        with closing(SQLiteStore(older)) as store:
            with store.read("acme") as reader:
                assert [*store.dump("acme"), *reader.desks(), *store.erasures("acme")] == held
                assert reader.unindexed(100) == []
                assert reader.turns("alice", "s1", 9) == []
                ((_, _, noted),) = reader.desks()
                assert noted.spots == ()
            told = Turn("s1", 0, "user", noted.created_at, "d", "m-0")
            said = replace(noted, spots=(Spot("f1", "some", 0, 4),))
            with store.write("acme") as transaction:
                transaction.put_turn("alice", told)
                transaction.put_item("alice", "s1", said)
            with store.read("acme") as reader:
                assert reader.turns_called("alice", "m-0") == [told]
                assert reader.working_items("alice", "s1") == [said]
            assert store.check() == []

    def test_migrations_are_numbered_without_gaps(self) -> None:
        """Each migration leads to the next version, from 1 on."""
        assert [version for version, _ in migrations()] == list(range(1, LATEST + 1))

    def test_an_empty_file_is_made_ours(self, store_path: Path) -> None:
        """A file of no bytes, as `touch` makes it, is as good as none."""
        store_path.touch()
        fill(store_path)
        assert rows(store_path, "PRAGMA user_version") == [(LATEST,)]

    @pytest.mark.timeout(3600)
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
        with incumbent.open(path) as memory:
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
        monkeypatch.setattr("incumbent.stores.sqlite.connections.migrations", lambda: steps)
        with pytest.raises(incumbent.StoreError):
            incumbent.open(path)
        monkeypatch.undo()
        assert schema(path) == before
        assert rows(path, "SELECT * FROM facts") == held


class TestQueries:
    """SQL lives in files, under names that are used."""

    def names(self) -> list[str]:
        text = (files("incumbent.stores.sqlite") / "queries.sql").read_text(encoding="utf-8")
        return re.findall(r"^-- name: (\w+)$", text, flags=re.MULTILINE)

    def python(self) -> str:
        folders = (files("incumbent.stores.sqlite"), files("incumbent.stores.sql"))
        return "\n".join(
            entry.read_text(encoding="utf-8")
            for folder in folders
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
                text = probes(name, 2, 2) if name in ("live_of", "glance") else None
                text = text or statement(name, ids=2, addresses=2, owners=2, matters=2)
                bound = _parameters(text)
                connection.execute(f"EXPLAIN {text}", bound).fetchall()

    def test_no_search_walks_a_whole_table(self, store_path: Path) -> None:
        """What a context or a turn asks for is looked up in an index that leads to it.

        Where much can come of it, it comes out of the index in order.
        """
        fill(store_path)
        with closing(sqlite3.connect(store_path)) as connection:
            for name in SEARCHES:
                text = statement(
                    name, ids=2, addresses=2, owners=2, matters=2, where=SEARCHES[name]
                )
                plan = connection.execute(f"EXPLAIN QUERY PLAN {text}", _parameters(text))
                steps = [row[3] for row in plan]
                # What a statement brings along itself is no table.
                own = ("SCAN 2 CONSTANT ROWS", "SCAN wanted")
                walks = [step for step in steps if "SCAN" in step and step not in own]
                assert [step for step in walks if "VIRTUAL" not in step] == []
                if name != "receipts":
                    assert [step for step in steps if step.endswith("(organization=?)")] == []
                if name == "turns_called":
                    assert "ref=?" in steps[0]
                if name in ("placed", "postings", "unindexed", "turns"):
                    assert [step for step in steps if "TEMP B-TREE" in step] == []

    def test_python_holds_no_statements(self) -> None:
        """Outside the file there are only pragmas, transactions and one look at the catalogue."""
        found = re.findall(
            r'"(?:SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|WITH)\b[^"]*"', self.python()
        )
        assert [text for text in found if "sqlite_master" not in text] == []


OWNER = "AND owner IN (:owner0)"
DESK = "AND user_id = :user_id AND session_id = :session_id"
SEARCHES = {
    "facts": "",
    "live_at": "",
    "met": "",
    "retracted": OWNER,
    "shelves": "",
    "own_shelves": "",
    "shelf_id": "",
    "drop_bare_shelves": "",
    "placed": "",
    "postings": "",
    "found": "",
    "entries_of": "",
    "entry_of": "",
    "unindexed": "",
    "receipt": "",
    "receipts": "AND user_id = :user_id",
    "working_items": DESK,
    "drop_items": "AND expires_at <= :expires_at",
    "turns": "",
    "turns_called": "",
    "drop_turns": DESK,
}
"""Statements that run for every context, turn or write, with the condition the loader adds."""


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
        with pytest.raises(incumbent.NotADatabase, match=re.escape(str(store_path))):
            incumbent.open(store_path)
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
        with pytest.raises(incumbent.NotADatabase, match=r"another program.*another path"):
            incumbent.open(store_path)
        assert store_path.read_bytes() == before

    def test_a_newer_schema(self, store_path: Path) -> None:
        """A file of a newer Incumbent is refused with both versions named, and left alone."""
        fill(store_path)
        with closing(sqlite3.connect(store_path)) as connection:
            connection.execute("PRAGMA user_version = 99")
        before = store_path.read_bytes()
        with pytest.raises(incumbent.NewerSchema, match=f"99.*up to {LATEST}.*upgrade"):
            incumbent.open(store_path)
        assert store_path.read_bytes() == before

    def test_a_folder(self, tmp_path: Path) -> None:
        """A folder is no file to open."""
        with pytest.raises(incumbent.StoreError, match=re.escape(str(tmp_path))):
            incumbent.open(tmp_path)

    def test_a_missing_folder(self, tmp_path: Path) -> None:
        """A path in a folder that is not there says so, and makes none."""
        path = tmp_path / "no" / "such" / "agent.db"
        with pytest.raises(incumbent.StoreError, match=r"agent\.db.*folder"):
            incumbent.open(path)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("name", ["with space.db", "a?b#c%41&.db", "größe 🗼.db", "-wal"])
    def test_odd_names(self, tmp_path: Path, name: str) -> None:
        """Any name that the file system takes will do."""
        path = tmp_path / name
        held = fill(path)
        assert path.exists()
        with incumbent.open(path) as memory:
            assert contents(memory) == held

    def test_a_damaged_file(self, store_path: Path) -> None:
        """Pages that were overwritten come out as an error of ours, or as a finding."""
        fill(store_path)
        size = store_path.stat().st_size
        with store_path.open("r+b") as file:
            file.seek(8192)
            file.write(b"\xa5" * (size - 8192))
        try:
            with incumbent.open(store_path) as memory:
                session = memory.session(user_id="alice", organization="acme")
                told = memory.store.check()
                session.facts()
                session.history("lead")
        except incumbent.StoreError as error:
            told = [str(error)]
        assert told


def test_declarations_are_those_of_the_readers_own_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others may see an earlier version at the same time, and remember that one."""
    with incumbent.open(tmp_path / "agent.db") as memory:
        memory.declare("pay", requires=["hr"])
        monkeypatch.setattr(SQLiteStore, "_declared", RememberedByOthers(), raising=False)
        for _ in range(2):
            with memory.store.read("acme") as reader:
                assert [declared.pattern for declared in reader.declarations()] == ["pay"]
