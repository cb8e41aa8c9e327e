"""Keys from the command line, on a file and on a database: create, list, revoke."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import incumbent
from incumbent.cli import app
from incumbent.keys import make_key, matches, parse
from tests.conftest import QUICK
from tests.servers import AVAILABLE, Databases

Run = Callable[..., Any]


@pytest.fixture(params=["sqlite", *(["postgres"] if AVAILABLE else [])])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the keys are kept."""
    if request.param == "sqlite":
        return str(tmp_path / "agent.db")
    databases: Databases = request.getfixturevalue("databases")
    return databases.empty()


@pytest.fixture
def run(db: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `incumbent keys ...` for acme; gives the result."""
    monkeypatch.setenv("INCUMBENT_DB", db)
    monkeypatch.setenv("INCUMBENT_ORGANIZATION", "acme")
    monkeypatch.setenv("INCUMBENT_USER", "somebody")
    monkeypatch.setenv("INCUMBENT_EMBEDDER", "none")
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str, code: int = 0) -> Any:
        result = CliRunner().invoke(app, ["keys", *arguments])
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return invoke


def document(result: Any) -> Any:
    """The one JSON document that a command printed."""
    return json.loads(result.stdout)


def create(run: Run, *arguments: str) -> Any:
    """Make a key; what was told of it."""
    return document(run("create", "reports", "--json", *arguments))


class TestCreate:
    def test_shows_the_key_once(self, run: Run, db: str) -> None:
        """What is shown matches what is kept; afterwards nothing shows it again."""
        result = run("create", "reports", "--scope", "read")
        (text,) = [word for word in result.stdout.split() if word.startswith("incumbent_")]
        assert "shown this once" in result.stderr
        with incumbent.open(db, settings=QUICK) as memory:
            (kept,) = memory.store.keys("acme")
        assert matches(kept, text)
        parsed = parse(text)
        assert parsed is not None
        for listed in (run("list"), run("list", "--json"), run("list", "--all")):
            assert parsed.id in listed.stdout
            assert parsed.secret not in listed.stdout
            assert kept.digest not in listed.stdout

    def test_says_all_of_it_as_json(self, run: Run) -> None:
        """Every option arrives; a title becomes its rung."""
        before = datetime.now(UTC)
        given = ["--scope", "write", "--scope", "read", "--max-authority", "CFO", "--days", "30"]
        told = create(run, *given, "--user", "alice", "--permission", "hr", "--permission", "a")
        ends = datetime.fromisoformat(told.pop("expires_at"))
        assert timedelta(days=30) <= ends - before < timedelta(days=30, minutes=5)
        assert parse(told.pop("key")).id == told.pop("id")  # type: ignore[union-attr]
        del told["created_at"]
        assert told == {
            "organization": "acme",
            "name": "reports",
            "scopes": ["read", "write"],
            "max_authority": "executive",
            "user_id": "alice",
            "permissions": ["a", "hr"],
            "revoked_at": None,
        }

    def test_binds_a_key_to_nobody_unless_told(self, run: Run) -> None:
        """The user that other commands act for is no user of a key."""
        assert create(run, "--scope", "read")["user_id"] is None

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            ([], "a key needs a scope; choose from read, write, review, erase, admin, metrics"),
            (["--scope", "fly"], "'fly' is not a scope"),
            (["--scope", "read", "--max-authority", "wizard"], "the rungs are guest, employee"),
            (["--scope", "read", "--days", "0"], "--days must be from 1"),
            (["--scope", "read", "--days", "9999999999"], "--days must be from 1"),
            (["--scope", "read", "--days", "1", "--expires", "2099-01-01T00:00Z"], "give one"),
            (["--scope", "read", "--expires", "soon"], "is not a time"),
            (["--scope", "read", "--expires", "2099-01-01"], "time zone"),
            (["--scope", "read", "--expires", "2020-01-01T00:00Z"], "give a moment to come"),
            (["--scope", "read", "--user", ""], "--user is empty"),
            (["--scope", "read", "--org", " "], "organization is empty"),
        ],
    )
    def test_refuses_what_makes_no_key(
        self, run: Run, db: str, arguments: list[str], told: str
    ) -> None:
        """The message names the fix, and no key is made."""
        assert told in run("create", "reports", *arguments, code=2).stderr
        with incumbent.open(db, settings=QUICK) as memory:
            assert memory.store.keys() == []

    def test_a_slip_leaves_no_new_file(self, run: Run, tmp_path: Path) -> None:
        """A wrong option makes nothing where there was nothing."""
        place = tmp_path / "new.db"
        run("create", "reports", "--db", str(place), code=2)
        assert not place.exists()


class TestList:
    def test_is_of_one_organization_or_all(self, run: Run) -> None:
        """Each has its own; --all shows whose they are."""
        mine = create(run, "--scope", "read")["id"]
        theirs = create(run, "--scope", "read", "--org", "globex")["id"]
        assert [key["id"] for key in document(run("list", "--json"))] == [mine]
        assert [key["id"] for key in document(run("list", "--json", "--all"))] == [mine, theirs]
        assert "globex" in run("list", "--all").stdout
        assert theirs not in run("list").stdout

    def test_tells_the_state_of_each(self, run: Run, db: str) -> None:
        """Usable, expired and revoked ones are told apart."""
        run("revoke", create(run, "--scope", "read")["id"])
        create(run, "--scope", "read", "--days", "1")
        long_ago = datetime(2020, 1, 1, tzinfo=UTC)
        old, _ = make_key(
            organization="acme",
            name="old",
            scopes=["read"],
            max_authority="employee",
            now=long_ago,
            expires_at=long_ago + timedelta(days=1),
        )
        with incumbent.open(db, settings=QUICK) as memory:
            memory.store.add_key(old)
        states = [key["state"] for key in document(run("list", "--json"))]
        assert states == ["expired", "revoked", "usable"]
        lines = run("list").stdout.splitlines()
        assert [line.split()[2] for line in lines[1:]] == states

    def test_says_when_there_is_none(self, run: Run, db: str) -> None:
        """On stderr, so that a pipe gets nothing."""
        with incumbent.open(db, settings=QUICK):
            pass
        result = run("list")
        assert (result.stdout, "no keys" in result.stderr) == ("", True)
        assert document(run("list", "--json")) == []


class TestRevoke:
    @pytest.mark.parametrize("by", ["id", "key"])
    def test_ends_a_key(self, run: Run, by: str) -> None:
        """By its id or by all of its text; again says since when, and changes nothing."""
        told = create(run, "--scope", "read")
        assert run("revoke", told[by]).stdout.startswith("revoked")
        since = document(run("list", "--json"))[0]["revoked_at"]
        assert since is not None
        assert run("revoke", told[by]).stdout.startswith("was revoked before")
        assert document(run("revoke", told[by], "--json"))["revoked_at"] == since

    def test_refuses_what_is_no_key_without_repeating_it(self, run: Run) -> None:
        """What was given may be most of a secret."""
        text = create(run, "--scope", "read")["key"]
        told = run("revoke", text[:-2], code=2).stderr
        assert "incumbent keys list" in told
        assert text[:-2] not in told
        assert document(run("list", "--json"))[0]["revoked_at"] is None


class TestTravel:
    def test_keys_stay_where_they_were_made(self, run: Run, db: str, tmp_path: Path) -> None:
        """Neither a copy nor an export lets anybody in."""
        told = create(run, "--scope", "read")
        export, copy = tmp_path / "acme.jsonl", tmp_path / "copy.db"
        for arguments in (
            ["write", "city", "Bern"],
            ["export", str(export)],
            ["copy", db, str(copy)],
        ):
            assert CliRunner().invoke(app, arguments).exit_code == 0
        assert told["id"] not in export.read_text()
        with incumbent.open(str(copy), settings=QUICK) as memory:
            assert memory.store.organizations() == ["acme"]
            assert memory.store.keys() == []
        assert "copy.db" in os.listdir(tmp_path)
