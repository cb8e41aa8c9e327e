"""Lists from the command line: one's own, and with --all everybody's."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import incumbent
from incumbent.cli import app
from tests.conftest import QUICK

Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `incumbent list ...` as alice of acme, on a file in which she and bob said something."""
    monkeypatch.setenv("INCUMBENT_DB", str(tmp_path / "agent.db"))
    monkeypatch.setenv("INCUMBENT_ORGANIZATION", "acme")
    monkeypatch.setenv("INCUMBENT_USER", "alice")
    monkeypatch.setenv("INCUMBENT_EMBEDDER", "none")
    with incumbent.open(tmp_path / "agent.db", settings=QUICK) as memory:
        for name in ("alice", "bob"):
            who = memory.session(
                user_id=name, organization="acme", authority="manager", session_id=f"chat-{name}"
            )
            who.write("city", "Bern", subject=f"home-{name}")
            who.write("rule", name, subject="house", memory_type="organizational")
            who.observe("My desk is 4.")
            who.context(f"Where does {name} live?", record=True)

    def invoke(*arguments: str, code: int = 0) -> Any:
        result = CliRunner().invoke(app, ["list", *arguments])
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return invoke


def listed(result: Any, field: str) -> list[Any]:
    """One field of every line that was printed as JSON."""
    return [line[field] for line in json.loads(result.stdout)["items"]]


@pytest.mark.parametrize(
    ("what", "field", "own", "everybodys", "bobs"),
    [
        (
            "sessions",
            "session_id",
            ["chat-alice"],
            ["chat-bob", "chat-alice"],
            ["chat-bob"],
        ),
        (
            "subjects",
            "subject",
            ["house", "home-alice"],
            ["house", "home-alice", "home-bob"],
            ["home-bob"],
        ),
        (
            "keys",
            "key",
            ["rule", "city", "desk"],
            ["rule", "city", "desk", "city", "desk"],
            ["city", "desk"],
        ),
        (
            "receipts",
            "query",
            ["Where does alice live?"],
            ["Where does bob live?", "Where does alice live?"],
            ["Where does bob live?"],
        ),
    ],
)
def test_ones_own_everybodys_and_one_persons(
    run: Run, what: str, field: str, own: list[str], everybodys: list[str], bobs: list[str]
) -> None:
    """Without an option one's own lines come, with --all everybody's, with --of one person's."""
    assert listed(run(what, "--json"), field) == own
    assert listed(run(what, "--all", "--json"), field) == everybodys
    assert listed(run(what, "--of", "bob", "--json"), field) == bobs


def test_the_organizations_own_names_are_asked_for_with_nobodys(run: Run) -> None:
    """An empty --of is the organization."""
    assert listed(run("subjects", "--of", "", "--json"), "subject") == ["house"]
    assert "(organization)" in run("subjects", "--of", "").stdout


def test_users_and_decisions_are_the_organizations(run: Run) -> None:
    """There is no list of them for one person alone."""
    assert listed(run("users", "--json"), "user_id") == ["alice", "bob"]
    assert listed(run("users", "--prefix", "b", "--json"), "user_id") == ["bob"]
    numbers = listed(run("audit", "--json"), "seq")
    assert numbers == sorted(numbers, reverse=True)
    assert "value" not in run("audit", "--limit", "1", "--json").stdout
    assert "rule: bob" in run("audit", "--values").stdout


@pytest.mark.parametrize(
    "what", ["users", "sessions", "subjects", "keys", "receipts", "audit", "facts"]
)
def test_pages_go_on_where_the_last_one_ended(run: Run, what: str) -> None:
    """The cursor that is told brings the rest, for programs and for people."""
    reach = [] if what in ("users", "audit", "facts") else ["--all"]
    whole = json.loads(run(what, *reach, "--json").stdout)["items"]
    first = json.loads(run(what, *reach, "--limit", "1", "--json").stdout)
    cursor = first["next"]
    rest = json.loads(run(what, *reach, "--cursor", cursor, "--json").stdout)
    assert first["items"] + rest["items"] == whole
    assert rest["next"] is None
    assert f"--cursor {cursor}" in run(what, *reach, "--limit", "1").stderr


@pytest.mark.parametrize(
    "what", ["users", "sessions", "subjects", "keys", "receipts", "audit", "facts"]
)
def test_people_get_a_table(run: Run, what: str) -> None:
    """A line for each, under headings, and a note where there is none."""
    assert len(run(what).stdout.splitlines()) >= 2
    assert "none to list" in run(what, "--org", "globex").stderr


def test_facts_are_listed_and_narrowed(run: Run) -> None:
    """Those in office that one may see, by what they say, their state and who said them."""
    assert listed(run("facts", "--json"), "key") == ["rule", "desk", "city"]
    assert listed(run("facts", "--text", "BERN", "--json"), "subject") == ["home-alice"]
    assert listed(run("facts", "--key", "rule", "--json"), "value") == ["bob"]
    superseded = run("facts", "--state", "superseded", "--key", "rule", "--json")
    assert listed(superseded, "value") == ["alice"]
    assert listed(run("facts", "--any-state", "--key", "rule", "--json"), "value") == [
        "bob",
        "alice",
    ]
    shared = run("facts", "--memory-type", "organizational", "--json")
    assert listed(shared, "value") == ["bob"]
    assert listed(run("facts", "--of-authority", "manager", "--json"), "key") == [
        "rule",
        "desk",
        "city",
    ]
    assert listed(run("facts", "--needs-review", "--json"), "key") == []
    past = run("facts", "--as-of", "2020-01-01T00:00:00+00:00", "--json")
    assert listed(past, "key") == []
    assert "(organization)" in run("facts").stdout
    assert "is not one of office" in run("facts", "--state", "gone", code=2).stderr


def test_turns_are_those_of_one_of_ones_sessions(run: Run) -> None:
    """By its name, or the session of the command; never another person's."""
    (turn,) = json.loads(run("turns", "chat-alice", "--json").stdout)["items"]
    assert (turn["turn_index"], turn["text"]) == (1, "My desk is 4.")
    assert turn["fact_ids"]
    assert {spot["fact_id"] for spot in turn["spots"]} <= {*turn["fact_ids"], ""}
    assert listed(run("turns", "--session", "chat-alice", "--json"), "turn_index") == [1]
    assert listed(run("turns", "chat-bob", "--json"), "turn_index") == []
    assert "My desk is 4." in run("turns", "chat-alice").stdout


def test_branches_are_listed(run: Run, tmp_path: Path) -> None:
    """Drafts and hypotheticals that one has something in."""
    assert "none to list" in run("branches").stderr
    with incumbent.open(tmp_path / "agent.db", settings=QUICK) as memory:
        alice = memory.session(user_id="alice", organization="acme")
        alice.draft("letter").write("tone", "warm")
        alice.hypothetical("move").write("city", "Rome")
    assert listed(run("branches", "--json"), "name") == ["letter", "move"]
    first = json.loads(run("branches", "--limit", "1", "--json").stdout)
    rest = run("branches", "--cursor", first["next"], "--json")
    assert listed(rest, "kind") == ["hypothetical"]
    assert "letter" in run("branches").stdout


def test_a_stretch_of_time_is_said_with_its_zone(run: Run) -> None:
    """What is no time is refused, and what lies outside is left out."""
    assert listed(run("sessions", "--until", "2020-01-01T00:00:00+00:00", "--json"), "turns") == []
    assert "is not a time" in run("sessions", "--since", "soon", code=2).stderr
    assert "limit must be" in run("keys", "--limit", "0", code=2).stderr


def test_what_was_kept_as_it_was_said_is_listed_without_a_name(run: Run) -> None:
    """People read so; programs get an empty key, and an empty one asks for the facts."""
    with incumbent.open(os.environ["INCUMBENT_DB"], settings=QUICK) as memory:
        memory.session(user_id="alice", organization="acme").observe("My cup is red.")
    assert "(as said)" in run("keys").stdout
    assert "" in listed(run("keys", "--json"), "key")
    assert listed(run("facts", "--key", "", "--json"), "value") == ["My cup is red."]
