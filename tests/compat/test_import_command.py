"""`incumbent import --from`: files, line numbers, trials, and what is told at the end."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import incumbent
from incumbent.compat.exports.databases import records
from incumbent.model.errors import InvalidInput
from tests.compat.packing import packed
from tests.test_cli_files import Run, run

__all__ = ["run"]  # the fixture

GOOD = [
    {"id": "m1", "memory": "Lives in Berlin", "user_id": "zoe", "created_at": "2026-01-01"},
    {"id": "m2", "memory": "Likes tea", "user_id": "zoe"},
]


def write_lines(path: str, records: list[Any]) -> None:
    lines = [one if isinstance(one, str) else json.dumps(one) for one in records]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def values(user: str = "zoe", db: str = "incumbent.db") -> list[Any]:
    with incumbent.open(db) as memory:
        facts = memory.session(user_id=user, organization="default").facts()
    return sorted(str(fact.value) for fact in facts)


def test_an_export_is_imported_and_counted(run: Run) -> None:
    """What came of it is told in a few lines."""
    Path("m.json").write_text(json.dumps({"results": GOOD}))
    out = run("import", "--from", "mem0", "m.json").stdout
    assert out.splitlines() == [
        "imported  2 fact(s) and 0 turn(s) from mem0",
        "  users  1 in organization 'default'",
    ]
    assert values() == ["Likes tea", "Lives in Berlin"]
    again = run("import", "--from", "mem0", "m.json").stdout
    assert "imported  0 fact(s) and 0 turn(s) from mem0" in again
    assert "there before  2" in again


def test_a_trial_keeps_nothing(run: Run) -> None:
    """It tells what would come of it, and makes no file."""
    write_lines("m.jsonl", GOOD)
    out = run("import", "--from", "mem0", "m.jsonl", "--dry-run").stdout
    assert out.startswith("would have imported  2 fact(s)")
    assert not Path("incumbent.db").exists()
    run("import", "--from", "mem0", "m.jsonl")
    again = run("import", "--from", "mem0", "m.jsonl", "--dry-run", "--json").stdout
    told = json.loads(again)
    assert (told["facts"], told["before"], told["dry_run"]) == (0, 2, True)


def test_a_bad_line_is_told_by_its_number_and_nothing_is_changed(run: Run) -> None:
    """Everything is looked at before anything is written."""
    write_lines("m.jsonl", [GOOD[0], "{not json", GOOD[1]])
    told = run("import", "--from", "mem0", "m.jsonl", code=2)
    assert "m.jsonl, line 2: it is not JSON" in told.stderr
    assert "Nothing was imported" in told.stderr
    assert "--skip-bad" in told.stderr
    assert not Path("incumbent.db").exists()


def test_bad_lines_are_passed_over_when_asked(run: Run) -> None:
    """Each is told once, and counted."""
    write_lines("m.jsonl", [GOOD[0], {"id": "x"}, "{not json", GOOD[1]])
    told = run("import", "--from", "mem0", "m.jsonl", "--skip-bad")
    assert told.stderr.count("line 2 passed over") == 1
    assert told.stderr.count("line 3 passed over") == 1
    assert "passed over  2" in told.stdout
    assert values() == ["Likes tea", "Lives in Berlin"]


def test_what_is_nested_too_deeply_is_told(run: Run) -> None:
    """A line of many brackets is a bad line as any other."""
    write_lines("m.jsonl", [GOOD[0], "[" * 99_999 + "]" * 99_999])
    assert "line 2: " in run("import", "--from", "mem0", "m.jsonl", code=2).stderr
    run("import", "--from", "mem0", "m.jsonl", "--skip-bad")
    assert values() == ["Lives in Berlin"]


def test_whose_it_is_must_be_known(run: Run) -> None:
    """A record of nobody takes --user; a user of the export can be renamed."""
    write_lines("m.jsonl", [{"id": "m3", "memory": "Has a dog"}, GOOD[1]])
    told = run("import", "--from", "mem0", "m.jsonl", code=2)
    assert "line 1: it names no user; say whose it is with --user" in told.stderr
    run("import", "--from", "mem0", "m.jsonl", "--user", "ann", "--rename-user", "zoe=z.lee")
    assert values("ann") == ["Has a dog"]
    assert values("z.lee") == ["Likes tea"]


def test_it_goes_into_an_organization_that_has_facts(run: Run) -> None:
    """Unlike an export of Incumbent, which is a whole."""
    run("write", "order_status", "approved", "--org", "default", "--user", "zoe")
    write_lines("m.jsonl", GOOD)
    run("import", "--from", "mem0", "-", input=Path("m.jsonl").read_text())
    assert values() == ["Likes tea", "Lives in Berlin", "approved"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--dry-run"], "name it with --from"),
        (["--user", "ann"], "name it with --from"),
        (["--from", "mem0", "--allow-unsealed"], "is for exports of Incumbent"),
        (["--from", "mem0", "--user-part", "1"], "goes with --from langgraph"),
        (["--from", "mem0", "--rename-user", "zoe"], "is not of the form OLD=NEW"),
        (["--from", "letta"], "letta"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    run: Run, options: list[str], told: str
) -> None:
    """And nothing is made."""
    write_lines("m.jsonl", GOOD)
    assert told in run("import", "m.jsonl", *options, code=2).stderr
    assert not Path("incumbent.db").exists()


def test_a_file_that_is_missing_is_told(run: Run) -> None:
    """By its name."""
    assert "cannot read no.json" in run("import", "--from", "zep", "no.json", code=2).stderr


def store_file(path: str) -> None:
    """A store as LangGraph's SQLite store makes it."""
    with sqlite3.connect(path) as file:
        file.execute(
            "CREATE TABLE store (prefix text, key text, value text, created_at TIMESTAMP, "
            "updated_at TIMESTAMP, expires_at TIMESTAMP, ttl_minutes REAL)"
        )
        row = ("2026-01-01 10:00:00", "2026-01-02 10:00:00", None, None)
        rows = [
            ("memories.zoe", "prefs", b'{"theme":"dark"}', *row),
            ("memories.ann", "m1", b'{"text":"Likes tea"}', *row),
        ]
        file.executemany("INSERT INTO store VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    file.close()


def checkpoint_file(path: str, kind: str = "msgpack") -> None:
    """Checkpoints as LangGraph's SQLite saver makes them."""
    said = {"content": "The shipping address is 1 Elm Row.", "type": "human", "id": "h1"}
    reply = {"content": "Noted.", "type": "ai", "id": "a1"}
    state = {"ts": "2026-01-03T10:00:00+00:00", "channel_values": {"messages": [said, reply]}}
    first = "1f0e8b83-56ed-6114-bfff-97d830bae571"
    last = "1f1e2b83-56ed-6114-bfff-97d830bae571"
    with sqlite3.connect(path) as file:
        file.execute(
            "CREATE TABLE checkpoints (thread_id, checkpoint_ns, checkpoint_id, "
            "parent_checkpoint_id, type, checkpoint, metadata)"
        )
        file.execute(
            "CREATE TABLE writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, "
            "idx, channel, type, value)"
        )
        row = ("t1", "", last, first, kind, packed(state), b'{"user_id": "zoe"}')
        file.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        written = ("t1", "", first, "x", "", 0, "messages", "msgpack", packed([said]))
        file.execute("INSERT INTO writes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", written)
    file.close()


def test_a_store_of_langgraph_is_read_from_its_file(run: Run) -> None:
    """Part 2 of the namespace names the user."""
    store_file("store.db")
    out = run("import", "--from", "langgraph", "store.db", "--user-part", "2").stdout
    assert "imported  2 fact(s)" in out
    assert values("ann") == ["Likes tea"]
    with incumbent.open("incumbent.db") as memory:
        zoe = memory.session(user_id="zoe")
        assert zoe.current("prefs", "memories") == {"theme": "dark"}


def test_checkpoints_of_langgraph_are_read_from_their_file(run: Run) -> None:
    """Turns are observed, each at the time at which it was written."""
    checkpoint_file("checkpoints.db")
    out = run("import", "--from", "langgraph", "checkpoints.db").stdout
    assert "imported  0 fact(s) and 2 turn(s) from langgraph" in out
    with incumbent.open("incumbent.db") as memory:
        [fact] = memory.session(user_id="zoe").facts("shipping_address")
    assert (fact.value, fact.source.ref) == ("1 Elm Row", "langgraph:t1:h1")
    assert fact.timestamp.year == 2026
    assert fact.timestamp.month < 11  # of the write, and not of the last checkpoint


def test_what_could_run_code_is_not_read(tmp_path: Path) -> None:
    """A checkpoint in another encoding is told, and never loaded."""
    path = str(tmp_path / "c.db")
    checkpoint_file(path, "pickle")
    [(place, record, trouble)] = records(path)
    assert (place, record) == ("thread t1", None)
    assert trouble is not None
    assert "'pickle'; only msgpack and json are read" in trouble


def test_other_sqlite_files_are_refused(run: Run, tmp_path: Path) -> None:
    """A file of something else, and a file for a memory that exports none."""
    with sqlite3.connect("other.db") as file:
        file.execute("CREATE TABLE x (y)")
    file.close()
    told = run("import", "--from", "langgraph", "other.db", "--user", "zoe", code=2).stderr
    assert "without a store or checkpoints" in told
    assert "--from langgraph" in run("import", "--from", "mem0", "other.db", code=2).stderr
    with pytest.raises(InvalidInput, match="cannot read"):
        list(records(str(tmp_path / "none.db")))
