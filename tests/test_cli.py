"""The commands, each for people and with --json, on real SQLite files."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import incumbent
from incumbent.cli import app, root
from incumbent.cli.commands import COMMANDS
from incumbent.stores.codec import fact_from_record
from tests.patience import PATIENCE
from tests.service.running import environment

Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command as alice of acme, in an empty folder; gives the result."""
    for name in ("DB", "USER", "AUTHORITY", "ORGANIZATION", "SESSION", "TASK", "EMBEDDER"):
        monkeypatch.delenv(f"INCUMBENT_{name}", raising=False)
    monkeypatch.setenv("INCUMBENT_USER", "alice")
    monkeypatch.setenv("INCUMBENT_ORGANIZATION", "acme")
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str, code: int = 0, **options: Any) -> Any:
        result = CliRunner().invoke(app, list(arguments), **options)
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return invoke


def document(result: Any) -> Any:
    """The one JSON document on stdout."""
    return json.loads(result.stdout)


class TestWrite:
    def test_tells_outcome_rule_and_ids(self, run: Run) -> None:
        """A first write says what became of it, why, and how to name it later."""
        out = run("write", "order_status", "approved").stdout.splitlines()
        assert out[0] == "established  order_status = approved"
        assert out[1] == "  why      nothing held this address (rule: first)"
        assert [line.split()[0] for line in out[2:]] == ["fact", "verdict"]

    def test_tells_what_it_replaced_and_what_followed(self, run: Run) -> None:
        """A supersession names the old value, the facts to review and those that took office."""
        run("write", "lead", "Priya")
        run("write", "assigned_by", "Priya", "--depends-on", "lead")
        run("write", "report_to", "James", "--when-superseded", "lead")
        out = run("write", "lead", "Omar").stdout
        assert "superseded  lead = Omar" in out
        assert "replaces  lead = Priya" in out
        assert "then      assigned_by needs review: lead -> assigned_by" in out
        assert "then      report_to = James takes office" in out

    def test_prints_the_verdict_with_its_fact_as_json(self, run: Run) -> None:
        """--json gives the verdict record, and the fact in it decodes to the stored fact."""
        verdict = document(run("write", "limit", "5", "--json-value", "--json"))
        assert (verdict["outcome"], verdict["rule"], verdict["by"]) == (
            "established",
            "first",
            "alice",
        )
        fact = fact_from_record(verdict["fact"])
        assert (fact.id, fact.value) == (verdict["fact_id"], 5)
        with incumbent.open("incumbent.db") as memory:
            alice = memory.session(user_id="alice", organization="acme")
            assert alice.get(fact.id) == fact

    def test_passes_every_argument_on(self, run: Run) -> None:
        """Each option reaches the fact that is written."""
        run("write", "base", "1", "--subject", "order 1", "--id", "b1")
        verdict = document(
            run(
                *("write", "delivery_deadline", '{"day": 9}', "--json-value", "--json"),
                *("--subject", "order 1", "--scope", "task", "--scope-id", "t1"),
                *("--task", "t1", "--depends-on", "b1", "--source", "erp_system", "--id", "d1"),
                *("--authority", "manager", "--as", "employee", "--memory-type", "user"),
                *("--constraint", "--constraint-type", "deadline", "--requires", "sales"),
                *("--requires", "ops", "--permission", "ops", "--permission", "sales"),
                *("--min-authority", "guest", "--at", "2026-03-01T10:00:00+01:00"),
                *("--valid-from", "2026-03-02T00:00:00Z"),
                *("--valid-until", "2126-04-02T00:00:00+00:00", "--confidence", "0.9"),
            )
        )
        fact = verdict["fact"]
        assert verdict["confidence"] == 0.9
        expected = {
            "id": "d1",
            "value": {"day": 9},
            "subject": "order 1",
            "scope": "task",
            "scope_id": "t1",
            "depends_on": ["b1"],
            "authority": "employee",
            "memory_type": "user",
            "owner": "alice",
            "is_constraint": True,
            "constraint_type": "deadline",
            "requires": ["ops", "sales"],
            "min_authority": "guest",
            "timestamp": "2026-03-01T09:00:00+00:00",
            "valid_from": "2026-03-02T00:00:00+00:00",
            "valid_until": "2126-04-02T00:00:00+00:00",
        }
        assert {name: fact[name] for name in expected} == expected
        assert fact["source"]["name"] == "erp_system"

    def test_names_the_policy_that_overrules_it(self, run: Run) -> None:
        """A lower statement is told who stands in its way."""
        run("write", "max_discount", "15%", "--authority", "CFO", "--source", "policy")
        out = run("write", "max_discount", "25%").stdout
        assert out.startswith("overruled  max_discount = 25%")
        assert "a fact on the authority of executive stands" in out
        assert "overruled by  max_discount = 15%" in out
        assert run("current", "max_discount").stdout == "15%\n"

    def test_tells_of_an_unknown_title_in_one_line(self, run: Run) -> None:
        """The warning goes to stderr, and the write goes through."""
        result = run("write", "k", "v", "--authority", "wizard", "--json")
        assert result.stderr.startswith("warning: unknown title 'wizard'")
        assert result.stderr.count("\n") == 1
        assert document(result)["fact"]["authority"] == "guest"

    def test_shows_a_value_as_data(self, run: Run) -> None:
        """Escape sequences, line breaks and markup in a value do not act on the terminal."""
        out = run("write", "k", "[red]x\x1b[2J\nestablished  y").stdout
        assert out.splitlines()[0] == 'established  k = "[red]x\\u001b[2J\\nestablished  y"'


class TestCorrection:
    def test_retract_revert_and_undo_each_tell_their_verdict(self, run: Run) -> None:
        """Each correction prints its outcome, and the value follows."""
        run("write", "status", "open")
        run("write", "status", "closed")
        assert run("revert", "status").stdout.startswith("reverted  status = open")
        taken = document(run("retract", "status", "--reason", "a slip", "--json"))
        assert (taken["outcome"], taken["reason"]) == ("retracted", "a slip")
        run("current", "status", code=1)
        out = run("undo", taken["id"]).stdout
        assert out.startswith("reverted  status = open")
        assert run("current", "status").stdout == "open\n"

    def test_a_dry_run_of_an_undo_tells_what_would_follow(self, run: Run) -> None:
        """The consequences are those of the undo itself, and nothing is undone."""
        run("write", "rate", "12")
        run("write", "total", "120", "--depends-on", "rate")
        raised = document(run("write", "rate", "15", "--json"))
        out = run("undo", raised["id"], "--dry-run").stdout
        assert out.startswith("dry run: reverted  rate = 15")
        assert "total no longer needs review" in out
        assert run("current", "rate").stdout == "15\n"
        told = document(run("undo", raised["id"], "--dry-run", "--json"))
        assert told["dry_run"]
        keys = {change["after"]["key"] for change in told["changes"]}
        assert keys == {"rate", "total"}
        done = run("undo", raised["id"]).stdout.splitlines()
        assert out.removeprefix("dry run: ").split() == " ".join(done[:-2]).split()

    def test_reviews_lists_and_resolve_settles(self, run: Run) -> None:
        """A fact whose base changed is listed with the path, and leaves the list when settled."""
        run("write", "price", "310", "--json-value")
        run("write", "total", "620", "--json-value", "--depends-on", "price")
        run("write", "price", "290", "--json-value")
        assert "price -> total (now price = 290)" in run("reviews").stdout
        [review] = document(run("reviews", "--json"))["reviews"]
        assert (review["kind"], review["fact"]["key"]) == ("base changed", "total")
        assert [len(cause["path"]) for cause in review["causes"]] == [2]
        result = run("current", "total")
        assert (result.stdout, "needs review" in result.stderr) == ("620\n", True)
        out = run("resolve", review["fact"]["id"], "580", "--json-value").stdout
        assert out.startswith("superseded  total = 580")
        assert "nothing needs review" in run("reviews").stderr
        assert document(run("reviews", "--json")) == {"reviews": []}

    def test_a_doubt_is_written_listed_explained_and_settled(self, run: Run) -> None:
        """A review names the statement that may have replaced the fact, and so does `explain`."""
        run("write", "street", "Elm Street")
        run("write", "keys", "for Harbor Road", "--doubts", "street")
        assert "doubted" in run("reviews").stdout
        [review] = document(run("reviews", "--json"))["reviews"]
        assert (review["kind"], review["rival"]["key"]) == ("doubted", "keys")
        assert "may have replaced it" in run("explain", "street").stdout
        assert "doubts" in run("explain", "keys").stdout
        assert "# Possibly outdated" in run("context", "which street?").stdout
        run("resolve", review["fact"]["id"], "--still-right")
        assert document(run("reviews", "--json")) == {"reviews": []}

    def test_what_is_asked_about_is_listed_and_approved(self, run: Run) -> None:
        """Until then it is no fact; the list says when it was said, and what it would replace."""
        run("write", "venue", "Lyon")
        ask = ("observe", "--ask-before-keeping", "--text")
        assert run(*ask, "The venue is Paris now.").stdout.startswith("waiting")
        out = " ".join(run("reviews").stdout.split())
        assert "unapproved" in out
        assert "not kept yet; in office is venue = Lyon" in out
        [review] = document(run("reviews", "--json"))["reviews"]
        assert review["rival"]["value"] == "Lyon"
        assert run("current", "venue").stdout == "Lyon\n"
        run("resolve", review["fact"]["id"], "--still-right")
        assert run("current", "venue").stdout == "Paris\n"
        run("observe", "--text", "The fee is $40.", "--ask-before-keeping", "--dry-run")
        assert document(run("reviews", "--json")) == {"reviews": []}

    def test_resolve_takes_still_right_and_retract(self, run: Run) -> None:
        """The other two ways to settle a review."""
        run("write", "supplier", "Norde")
        weak = document(run("write", "supplier", "Kavli", "--confidence", "0.3", "--json"))
        assert weak["outcome"] == "contested"
        assert "in office is supplier = Norde" in run("reviews").stdout
        accepted = document(run("resolve", weak["fact_id"], "--still-right", "--json"))
        assert accepted["outcome"] == "superseded"
        weak = document(run("write", "supplier", "Norse", "--confidence", "0.3", "--json"))
        taken = document(run("resolve", weak["fact_id"], "--retract", "--json"))
        assert taken["outcome"] == "retracted"
        assert run("current", "supplier").stdout == "Kavli\n"


class TestReading:
    def test_current_prints_the_value_and_nothing_else(self, run: Run) -> None:
        """A string word for word, anything else as JSON; with --json whether there is one."""
        run("write", "note", "a\tb  é")
        run("write", "size", "[1, 2]", "--json-value")
        assert run("current", "note").stdout == "a\tb  é\n"
        assert run("current", "size").stdout == "[1,2]\n"
        found = document(run("current", "size", "--json"))
        assert (found["found"], found["value"], len(found["fact_ids"])) == (True, [1, 2], 1)
        missing = run("current", "nope", code=1)
        assert (missing.stdout, "nothing is current" in missing.stderr) == ("", True)
        assert document(run("current", "nope", "--json", code=1))["found"] is False

    def test_current_tells_a_stored_null_from_nothing(self, run: Run) -> None:
        """A null in office is found; a key nobody wrote is not."""
        run("write", "k", "null", "--json-value")
        assert document(run("current", "k", "--json"))["found"] is True

    def test_facts_lists_what_the_session_goes_by(self, run: Run) -> None:
        """A task's fact stands in front of the wider one only in that task."""
        run("write", "ship_to", "Main St")
        run("write", "ship_to", "Dock 4", "--scope", "task", "--task", "rush")
        assert "Dock 4" not in run("facts").stdout
        out = run("facts", "--task", "rush").stdout
        assert "ship_to [task rush]" in out
        assert "Main St" not in out
        [fact] = document(run("facts", "ship_to", "--json"))["facts"]
        assert (fact["value"], fact["status"]) == ("Main St", "office")

    def test_facts_tells_who_asks_in_the_wrong_organization(self, run: Run) -> None:
        """Nothing to show, and the organizations of the file to choose from."""
        run("write", "k", "v")
        assert "this store has 'acme'" in run("facts", "--org", "other").stderr

    def test_history_shows_every_tenure_on_one_line(self, run: Run) -> None:
        """Status, value, who, from, until and id, uncut however long they are."""
        run("write", "status", "x" * 100)
        last = document(run("write", "status", "closed", "--json"))["fact_id"]
        run("write", "status", "maybe", "--authority", "guest")
        lines = run("history", "status").stdout.splitlines()
        assert lines[0].split()[:3] == ["status", "value", "by"]
        assert [line.split()[0] for line in lines[1:]] == ["superseded", "in", "overruled"]
        assert "x" * 100 in lines[1]
        assert "alice (employee)" in lines[2]
        assert lines[2].endswith(last)
        chain = document(run("history", "status", "--json"))
        assert [fact["value"] for fact in chain["facts"]] == ["x" * 100, "closed"]
        assert [fact["value"] for fact in chain["overruled"]] == ["maybe"]

    def test_the_past_is_read_on_both_axes(self, run: Run) -> None:
        """--as-of asks what was true then, --known-at what the store knew then."""
        monday, tuesday = "2026-03-02T12:00:00+00:00", "2026-03-03T12:00:00+00:00"
        run("write", "price", "310", "--at", monday)
        run("write", "price", "290", "--at", tuesday)
        assert run("current", "price", "--as-of", monday).stdout == "310\n"
        assert run("current", "price", "--as-of", tuesday).stdout == "290\n"
        run("current", "price", "--as-of", tuesday, "--known-at", tuesday, code=1)
        run("current", "price", "--known-at", tuesday, code=1)
        assert "310" in run("facts", "--as-of", monday).stdout
        assert run("current", "price", "--at", monday).stdout == "310\n"
        assert "has no history" in run("history", "price", "--known-at", monday).stderr

    def test_explain_tells_the_chain_and_every_verdict(self, run: Run) -> None:
        """The fact, why it stands, and each verdict with its rule, confidence, author and id."""
        run("write", "price", "310")
        run("write", "total", "620", "--depends-on", "price")
        verdict = document(run("write", "price", "290", "--json"))
        run("undo", verdict["id"])
        out = run("explain", "price").stdout
        assert out.startswith("price = 310\n")
        assert "carries  total = 620" in out
        assert "why      nothing held this address (rule: first, confidence 1)" in out
        assert "superseded  290  (undone)" in out
        assert f"verdict    {verdict['id']}" in out
        assert "alice (employee), 2" in out
        told = document(run("explain", "price", "--json"))
        assert [v["rule"] for v in told["verdicts"]] == ["first", "implicit", "undo"]
        assert told["verdicts"][1]["undone_by"] == told["verdicts"][2]["id"]
        assert told["fact"]["value"] == "310"

    def test_explain_shows_why_a_fact_needs_review(self, run: Run) -> None:
        """The path from the base that changed."""
        run("write", "price", "310")
        run("write", "total", "620", "--depends-on", "price")
        run("write", "price", "290")
        assert "needs review  price -> total" in run("explain", "total").stdout


class TestDeclareAndNote:
    def test_declare_changes_what_a_key_takes(self, run: Run) -> None:
        """A multi-valued key accumulates."""
        assert "multi-valued" in run("declare", "tags", "--multi-valued").stdout
        run("write", "tags", "a")
        run("write", "tags", "b")
        assert json.loads(run("current", "tags").stdout) == ["a", "b"]
        told = document(
            run(*("declare", "pay.*", "--write-authority", "CFO", "--requires", "hr", "--json"))
        )
        assert (told["pattern"], told["write_authority"], told["requires"]) == (
            "pay.*",
            "executive",
            ["hr"],
        )
        run("write", "pay.alice", "1", code=2)

    def test_note_is_kept_for_its_session_only(self, run: Run) -> None:
        """Another session's context does not hold it."""
        item = document(run("note", "plan", "[1]", "--json-value", "--ttl", "60", "--json"))
        assert (item["key"], item["value"], item["session"]) == ("plan", [1], "cli")
        assert "- plan: [1]" in run("context").stdout
        assert "plan" not in run("context", "--session", "s2").stdout
        assert "in session 's2'" in run("note", "a", "b", "--session", "s2").stdout


class TestLoading:
    @pytest.mark.parametrize("name", COMMANDS)
    def test_a_command_is_what_the_list_says(self, name: str) -> None:
        """It loads by its name, and its help begins with its line of `incumbent --help`."""
        group: Any = typer.main.get_command(app)
        found = group.get_command(typer.Context(group), name)
        assert found is not None
        assert (found.help or "").split("\n\n")[0].replace("\n", " ") == COMMANDS[name].summary

    def test_no_command_is_missing_from_the_list(self) -> None:
        """Every command that a module registers is one that somebody can find."""
        group: Any = typer.main.get_command(app)
        offered = {name for one in COMMANDS.values() for name in root._loaded(one.module)}
        assert offered == set(COMMANDS) == set(group.list_commands(None))

    def test_the_list_loads_no_command(self) -> None:
        """`incumbent --help` reads neither commands nor what only they need, so it comes at
        once."""
        program = (
            "import sys; from incumbent.cli import main; sys.argv = ['incumbent', '--help']\n"
            "try: main()\n"
            "except SystemExit as end: assert not end.code\n"
            "print('loaded:', *sys.modules)"
        )
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
        told, _, loaded = done.stdout.rpartition("loaded: ")
        assert all(f"  {name} " in told for name in COMMANDS)
        modules = set(loaded.split())
        assert "incumbent.cli.commands" in modules
        assert not modules & {command.module for command in COMMANDS.values()}
        assert not modules & {"numpy", "rich", "pydantic", "onnxruntime"}
