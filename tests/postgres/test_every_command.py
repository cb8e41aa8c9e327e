"""The commands for facts on a database, and what the page about it says."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
from psycopg import sql

import incumbent
from incumbent.stores.postgres import administration, schema
from incumbent.stores.postgres.connections import address_of
from incumbent.stores.postgres.local import LocalServer
from tests.conftest import QUICK
from tests.pages import blocks
from tests.postgres.conftest import Run
from tests.postgres.operating import as_role, document
from tests.servers import Databases
from tests.test_docs import commands, matches

ROOT = Path(__file__).parents[2]


@pytest.fixture
def address(databases: Databases) -> str:
    return databases.empty()


class TestEveryCommand:
    def test_takes_an_address(self, run: Run, address: str, tmp_path: Path) -> None:
        """The commands for facts work on a database as they do on a file, and leave no file."""
        env = {"INCUMBENT_DB": address}
        first = document(run("write", "city", "Bern", "--json", env=env))
        run("write", "city", "Chur", env=env)
        assert run("current", "city", env=env).stdout == "Chur\n"
        for arguments in (
            ["facts"],
            ["history", "city"],
            ["explain", "city"],
            ["context", "where does the team sit?", "--record"],
            ["receipts"],
            ["reviews"],
            ["note", "desk", "a note"],
            ["declare", "tags", "--multi-valued"],
            ["observe", "--text", "My address is 123 Main St."],
            ["observe", "--text", "My address is 9 Elm St.", "--dry-run"],
            ["export", str(tmp_path / "acme.jsonl")],
            ["reindex"],
            ["usage"],
            ["doctor"],
            ["undo", document(run("write", "pet", "cat", "--json", env=env))["id"]],
            ["revert", "city"],
            ["retract", "city"],
            ["forget", "--fact", first["fact_id"], "--yes"],
        ):
            run(*arguments, env=env)
        run("import", str(tmp_path / "acme.jsonl"), "--org", "copy", env=env)
        assert run("current", "address", "--org", "copy", env=env).stdout == "123 Main St\n"
        assert os.listdir(tmp_path) == ["acme.jsonl"]

    def test_a_trial_changes_nothing_and_knows_what_was_observed(
        self, run: Run, address: str
    ) -> None:
        """--dry-run sees the turns that are known, and keeps none of its own."""
        env = {"INCUMBENT_DB": address}
        turn = ["observe", "--text", "My address is 123 Main St.", "--ref", "r1"]
        assert "established" in run(*turn, "--dry-run", env=env).stdout
        assert run("facts", env=env).stdout == ""
        run(*turn, env=env)
        assert "observed before" in run(*turn, "--dry-run", env=env).stdout

    def test_reading_leaves_no_schema_behind(self, run: Run, bare: str) -> None:
        """A slip in the address makes nothing: the message says so, and how to make it."""
        told = run("current", "city", "--db", bare, code=3).stderr
        assert "there is no Incumbent schema" in told
        assert administration.version_of(bare) == 0

    def test_the_demo_keeps_out_of_a_database(self, run: Run, address: str, tmp_path: Path) -> None:
        """Its story is told in a new file, never among somebody's facts."""
        assert "a file of its own" in run("demo", "--db", address, code=2).stderr
        assert os.listdir(tmp_path) == []

    def test_erasing_says_what_the_server_still_holds(self, run: Run, address: str) -> None:
        """A note names the command that writes its files anew."""
        run("write", "city", "Bern", "--db", address)
        result = run("forget", "--user", "alice", "--yes", "--db", address)
        assert "incumbent db vacuum --full" in result.stderr

    def test_doctor_takes_the_address_as_it_takes_a_file(self, run: Run, address: str) -> None:
        """As an argument or with --db, in words and as JSON."""
        run("write", "city", "Bern", "--db", address)
        out = run("doctor", address).stdout
        assert "PostgreSQL" in out
        assert out.endswith("healthy\n")
        told = document(run("doctor", "--db", address, "--json"))
        assert told["file"]["schema_version"] == schema.latest()
        assert [each["facts"] for each in told["organizations"]] == [1]


ADMINISTRATOR = "postgresql://admin@db.example.com/agents"
APPLICATION = "postgresql://incumbent@db.example.com/agents"
SHOWN = "postgresql://db.example.com/agents"


@pytest.mark.slow
def test_the_page_says_what_happens(
    run: Run, guarded: LocalServer, strict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command of docs/postgres.md runs on a real server, in order, and prints what is shown
    there; so does its snippet."""
    for role in ("incumbent", "incumbent_app"):
        guarded.ask(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(role)))
    monkeypatch.setenv("INCUMBENT_LOGIN_PASSWORD", "pw")
    monkeypatch.delenv("INCUMBENT_ORGANIZATION")
    real = address_of(strict)
    places = {ADMINISTRATOR: strict, APPLICATION: as_role(strict, "incumbent", "pw")}
    found = blocks(ROOT / "docs" / "postgres.md")
    lines = [line for block in found if not block.language for line in commands(block)]
    assert len(lines) >= 7
    for command, shown in lines:
        arguments = shlex.split(command)[1:]
        result = run(*(places.get(argument, argument) for argument in arguments))
        shown, printed = _unversioned(shown), _unversioned(result.output.replace(real, SHOWN))
        assert matches(shown, printed) or _begins(shown, printed), (command, printed)
    [snippet] = [block.text for block in found if block.text.startswith("import incumbent")]
    exec(snippet.replace(APPLICATION, places[APPLICATION]), {})
    with incumbent.open(strict, settings=QUICK) as memory:
        assert memory.session(user_id="alice", organization="acme").current("lead") == "Omar"


def _unversioned(text: str) -> str:
    """The same without versions of the schema, which a page need not keep up with."""
    return re.sub(r"version \d+( of \d+)?", "version N", text)


def _begins(shown: str, printed: str) -> bool:
    """Whether a long output begins as it is shown, where that ends with a line of dots."""
    lines = shown.strip().splitlines()
    begin = printed.strip().splitlines()[: len(lines) - 1]
    return lines[-1] == "…" and matches("\n".join(lines[:-1]), "\n".join(begin))
