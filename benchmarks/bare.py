"""The baseline: the same rows by plain `sqlite3`, with nothing decided about them."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

Rows = list[tuple[Any, ...]]


def connect(path: Path) -> sqlite3.Connection:
    """A connection with the durability that Incumbent's default gives."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def rows_of(path: Path, after: int, count: int) -> tuple[Rows, Rows]:
    """Rows of the two tables that a plain write goes to, in the order of the log."""
    with connect(path) as connection:
        limit = "ORDER BY seq LIMIT ? OFFSET ?"
        facts = connection.execute(f"SELECT * FROM facts {limit}", (count, after)).fetchall()
        verdicts = connection.execute(f"SELECT * FROM verdicts {limit}", (count, after)).fetchall()
    connection.close()
    return facts, verdicts


def index_rows_of(path: Path, after: int, count: int) -> tuple[Rows, Rows]:
    """Rows of the entries of the index, and of their postings, in the order of the entries."""
    with connect(path) as connection:
        connection.row_factory = sqlite3.Row
        limit = "ORDER BY entry LIMIT ? OFFSET ?"
        entries = connection.execute(f"SELECT * FROM entries {limit}", (count, after)).fetchall()
    connection.close()
    postings = [(row["entry"], _posted(row["shelf"], row["terms"])) for row in entries]
    return list(map(tuple, entries)), postings


def _posted(shelf: int, terms: str) -> str:
    return " ".join(f"{shelf}x{term}" for term in dict.fromkeys(terms.split()))


def insert(table: str, width: int) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join('?' * width)})"


def write_batch(connection: sqlite3.Connection, facts: Rows, verdicts: Rows) -> None:
    """One transaction of the rows that a batch of facts comes to."""
    into_facts = insert("facts", len(facts[0]))
    into_verdicts = insert("verdicts", len(verdicts[0]))
    connection.execute("BEGIN IMMEDIATE")
    for fact, verdict in zip(facts, verdicts, strict=True):
        connection.execute(into_facts, fact)
        connection.execute(into_verdicts, verdict)
    connection.execute("COMMIT")


def write_indexed_batch(
    connection: sqlite3.Connection, facts: Rows, verdicts: Rows, entries: Rows, postings: Rows
) -> None:
    """One transaction of the rows that a batch of facts comes to with the index."""
    into_facts = insert("facts", len(facts[0]))
    into_verdicts = insert("verdicts", len(verdicts[0]))
    into_entries = insert("entries", len(entries[0]))
    connection.execute("BEGIN IMMEDIATE")
    for fact, verdict, entry, posting in zip(facts, verdicts, entries, postings, strict=True):
        connection.execute(into_facts, fact)
        connection.execute(into_verdicts, verdict)
        connection.execute(into_entries, entry)
        connection.execute("INSERT INTO postings (rowid, tokens) VALUES (?, ?)", posting)
    connection.execute("COMMIT")


def make_lean(path: Path) -> sqlite3.Connection:
    """A table with next to nothing in it: an id, a key, a value, and an index on the key."""
    connection = connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE lean (id TEXT PRIMARY KEY, key TEXT, value TEXT)")
    connection.execute("CREATE INDEX lean_key ON lean (key)")
    return connection


def write_lean(connection: sqlite3.Connection, rows: Rows) -> None:
    """One transaction of as many rows as a batch comes to, in the lean table."""
    connection.execute("BEGIN IMMEDIATE")
    for row in rows:
        connection.execute("INSERT INTO lean VALUES (?, ?, ?)", row)
    connection.execute("COMMIT")


SELECT = (
    "SELECT value FROM facts WHERE organization = ? AND owner = ? AND key = ? AND subject = ? "
    "AND scope = ? AND scope_id = ? AND live = 1"
)
