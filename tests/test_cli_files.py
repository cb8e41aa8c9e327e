"""The commands about a store as a whole, the errors, and the command as a process."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import incumbent
from incumbent.cli import app
from incumbent.cli.completion import places
from incumbent.cli.reference import ELSEWHERE, USUAL, reference

Run = Callable[..., Any]
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
READING = ("current k", "facts", "history k", "context q", "explain k", "reviews", "retract k")
RECEIPTS = ("receipts", "replay r", "diff r s")
LOOKING = (
    *(*READING, *RECEIPTS, "undo v", "revert k", "resolve f --retract"),
    *("export", "reindex", "doctor"),
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command as alice of acme, in an empty folder; gives the result."""
    for name in ("DB", "AUTHORITY", "SESSION", "TASK", "EMBEDDER"):
        monkeypatch.delenv(f"INCUMBENT_{name}", raising=False)
    monkeypatch.setenv("INCUMBENT_USER", "alice")
    monkeypatch.setenv("INCUMBENT_ORGANIZATION", "acme")
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str, code: int = 0, **options: Any) -> Any:
        result = CliRunner().invoke(app, list(arguments), **options)
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return invoke


def process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command as a real process."""
    source = str(Path(incumbent.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-m", "incumbent.cli", *arguments],
        env={**os.environ, "PYTHONPATH": source, "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        **options,
    )


@pytest.fixture(scope="module")
def eventful(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file in which something of everything has happened; made once, not to be touched."""
    path = tmp_path_factory.mktemp("eventful") / "eventful.db"
    who = {"INCUMBENT_USER": "alice", "INCUMBENT_ORGANIZATION": "acme", "INCUMBENT_DB": str(path)}

    def do(*arguments: str) -> Any:
        result = CliRunner().invoke(app, list(arguments), env=who)
        assert result.exit_code == 0, (result.output, result.exception)
        return result

    do("declare", "tags", "--multi-valued")
    do("write", "price", "310", "--json-value")
    do("write", "total", "620", "--json-value", "--depends-on", "price")
    do("write", "report_to", "James", "--when-superseded", "price")
    changed = json.loads(do("write", "price", "290", "--json-value", "--json").stdout)
    do("undo", changed["id"])
    do("write", "price", "300", "--json-value")
    do("write", "tags", "é \U0001f4e6")
    do("write", "tags", "b", "--scope", "draft", "--scope-id", "d")
    do("write", "price", "1", "--authority", "guest")
    do("retract", "tags")
    do("write", "phone", "555 0199", "--subject", "Jane")
    do("forget", "--subject", "Jane", "--yes")
    return path


@pytest.fixture
def lively(run: Run, eventful: Path) -> Path:
    """A copy of the eventful file, where commands look for it."""
    return Path(shutil.copy(eventful, "incumbent.db"))


class TestExportAndImport:
    def test_a_round_trip_gives_the_same_export(self, run: Run, lively: Path) -> None:
        """What is imported into a new file exports to the same bytes, and reads the same."""
        assert "exported" in run("export", "one.jsonl").stderr
        records = len(Path("one.jsonl").read_bytes().splitlines()) - 2  # header, trailer
        out = run("import", "one.jsonl", "--db", "copy.db").stdout
        assert out == f"imported  {records} records into organization 'acme'\n"
        told = json.loads(run("export", "two.jsonl", "--db", "copy.db", "--json").stdout)
        assert told == {"organization": "acme", "file": "two.jsonl", "records": records}
        assert Path("one.jsonl").read_bytes() == Path("two.jsonl").read_bytes()
        assert b"555 0199" not in Path("one.jsonl").read_bytes()
        for command in ("facts", "reviews", "history price", "explain total"):
            there = run(*command.split(), "--json", "--db", "copy.db")
            assert run(*command.split(), "--json").stdout == there.stdout
        run("doctor", "--db", "copy.db")

    def test_stdout_and_stdin_serve_as_files(self, run: Run, lively: Path) -> None:
        """`-` is the other process; another organization can be given."""
        exported = run("export").stdout_bytes
        told = run("import", "-", "--db", "copy.db", "--org", "test", "--json", input=exported)
        assert json.loads(told.stdout)["organization"] == "test"
        assert run("current", "price", "--db", "copy.db", "--org", "test").stdout == "300\n"

    def test_an_existing_file_is_replaced_only_by_force(self, run: Run, lively: Path) -> None:
        """And a failed export leaves nothing behind."""
        Path("kept.jsonl").write_text("mine")
        assert "--force" in run("export", "kept.jsonl", code=2).stderr
        assert Path("kept.jsonl").read_text() == "mine"
        run("export", "kept.jsonl", "--force")
        assert Path("kept.jsonl").read_text().startswith('{"kind":"header"')
        assert "cannot write" in run("export", "no/such/folder.jsonl", code=2).stderr
        assert "nothing to export" in run("export", "--org", "other", code=2).stderr
        assert "name a FILE" in run("export", "--json", code=2).stderr
        assert list(Path().glob("*.partial")) == []

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("", "not an Incumbent export"),
            ("hello\n", "line 1 is not JSON"),
            ("[1]\n", "line 1 is not a JSON object"),
            ('{"kind":"fact"}\n', "not an Incumbent export"),
            ('{"format":"incumbent-export","version":99,"organization":"a"}\n', "version 99"),
            (
                '{"format":"incumbent-export","version":2,"organization":"a"}\n{"kind":"fact"}\n',
                "damaged",
            ),
            ('{"format":"incumbent-export","version":2,"organization":"a"}\nNaN\n', "NaN"),
            ('{"format":"incumbent-export","version":2,"organization":"a"}\n{"x', "line 2 is not"),
        ],
    )
    def test_a_damaged_export_is_refused_whole(self, run: Run, text: str, told: str) -> None:
        """The error names the place or the flaw, and nothing is stored."""
        Path("bad.jsonl").write_text(text)
        result = run("import", "bad.jsonl", "--db", "new.db", code=2)
        assert told in result.stderr
        assert result.stderr.count("\n") == 1
        if Path("new.db").exists():
            assert (
                json.loads(run("doctor", "--db", "new.db", "--json").stdout)["organizations"] == []
            )

    def test_an_organization_that_has_facts_takes_no_import(self, run: Run, lively: Path) -> None:
        """An import never mixes two histories."""
        run("export", "one.jsonl")
        assert "already has facts" in run("import", "one.jsonl", code=2).stderr
        assert "cannot read" in run("import", "missing.jsonl", code=2).stderr


class TestForget:
    def test_prints_a_proof_without_content(self, run: Run) -> None:
        """Ids, counts and a digest; the value is gone from the file."""
        written = json.loads(run("write", "phone", "555 0199", "--json").stdout)
        out = run("forget", "--fact", written["fact_id"], "--yes").stdout
        assert out.startswith("erased  1 fact(s) in organization 'acme'")
        assert written["fact_id"] in out
        assert "digest" in out
        assert "555 0199" not in out
        assert b"555 0199" not in Path("incumbent.db").read_bytes()
        run("write", "phone", "555 0200", "--subject", "Jane")
        proof = json.loads(run("forget", "--subject", "Jane", "-y", "--json").stdout)
        assert (len(proof["fact_ids"]), len(proof["digest"])) == (1, 64)

    def test_a_dry_run_tells_what_would_go(self, run: Run) -> None:
        """Nobody is asked and nothing is proven or erased; a condition that matches nothing is told
        as ever."""
        written = json.loads(run("write", "phone", "555 0199", "--json").stdout)
        out = run("forget", "--user", "alice", "--dry-run", input="").stdout
        assert out.startswith("would have erased  1 fact(s) in organization 'acme'")
        assert written["fact_id"] in out
        assert "proof" not in out
        told = json.loads(run("forget", "--user", "alice", "--dry-run", "--json").stdout)
        assert (told["id"], told["dry_run"], told["fact_ids"]) == ("", True, [written["fact_id"]])
        assert "nothing matched" in run("forget", "--user", "bob", "--dry-run", code=1).stderr
        assert run("current", "phone").stdout == "555 0199\n"

    def test_asks_first(self, run: Run) -> None:
        """Without --yes nothing is erased until somebody says so; the question goes to stderr."""
        run("write", "phone", "555 0199")
        refused = run("forget", "--user", "alice", input="n\n", code=1)
        assert "Erase for good" in refused.stderr
        assert "erased" not in refused.stdout
        run("forget", "--user", "alice", input="", code=1)
        assert run("current", "phone").stdout == "555 0199\n"
        run("forget", "--user", "alice", input="y\n")
        run("current", "phone", code=1)

    def test_says_when_nothing_matched(self, run: Run) -> None:
        """A misspelt subject is no success: exit code 1 and a note."""
        run("write", "phone", "555 0199", "--subject", "Jane")
        assert "nothing matched" in run("forget", "--subject", "Jnae", "-y", code=1).stderr

    def test_takes_no_user_from_the_environment(self, run: Run) -> None:
        """INCUMBENT_USER says who asks, never whom to erase."""
        run("write", "phone", "555 0199")
        assert "say what to forget" in run("forget", "--yes", code=2).stderr
        assert run("current", "phone").stdout == "555 0199\n"


class TestDoctor:
    def test_finds_a_lively_file_healthy(self, run: Run, lively: Path) -> None:
        """Schema, size, journal mode, tokenizer, reader and counts; exit code 0."""
        out = run("doctor").stdout
        assert out.splitlines()[-1] == "healthy"
        assert "journal mode wal" in out
        told = json.loads(run("doctor", "--json").stdout)
        assert told["healthy"] is True
        assert told["file"]["bytes"] == Path("incumbent.db").stat().st_size
        assert told["tokenizer"] == {"name": "o200k_base", "available": True}
        assert told["reader"] == {"name": "incumbent-reader", "available": True}
        [acme] = told["organizations"]
        assert (acme["organization"], acme["need_review"], acme["erased"]) == ("acme", 1, 1)
        assert (acme["index"], acme["recipe"]) == ("current", told["recipe"])
        assert acme["indexed"] == acme["facts"]

    def test_tells_of_an_index_that_is_not_current(self, run: Run, lively: Path) -> None:
        """It names how the index was made and the way to make it anew, and finds nothing wrong."""
        out = run("doctor", "--embedder", "static").stdout
        assert "The index of 'acme' is outdated (made as analysis" in out
        assert "incumbent reindex --org acme" in out
        assert out.splitlines()[-1] == "healthy"
        run("write", "k", "v", "--embedder", "none")
        [acme] = json.loads(run("doctor", "--json").stdout)["organizations"]
        assert (acme["index"], acme["recipe"]) == ("outdated", None)
        run("reindex")
        [acme] = json.loads(run("doctor", "--json").stdout)["organizations"]
        assert (acme["index"], acme["indexed"]) == ("current", acme["facts"])

    def test_finds_a_fact_that_the_index_lacks(self, run: Run, lively: Path) -> None:
        """An index that claims to be current and is not whole is a finding, with the way out."""
        with incumbent.open("incumbent.db") as memory, memory.store.write("acme") as transaction:
            assert transaction.unindex(1) == 1
        result = run("doctor", code=1)
        assert "facts are indexed; make the index anew with: incumbent reindex" in result.stdout

    @pytest.mark.parametrize(
        ("damage", "told"),
        [
            ("superseded_by = 'gone' WHERE superseded_by IS NOT NULL", "is missing"),
            ("predecessors = '[]' WHERE predecessors <> '[]'", "does not list"),
            ("superseded_by = NULL WHERE superseded_by IS NOT NULL", "did not supersede"),
            ("superseded_by = id WHERE superseded_by IS NOT NULL", "runs in a circle"),
        ],
    )
    def test_finds_a_broken_chain(self, run: Run, damage: str, told: str) -> None:
        """Links that disagree are named, and the exit code is 1."""
        run("write", "status", "open")
        run("write", "status", "closed")
        with sqlite3.connect("incumbent.db") as connection:
            assert connection.execute(f"UPDATE facts SET {damage}").rowcount == 1
        connection.close()
        result = run("doctor", code=1)
        assert told in result.stdout
        assert "finding(s)" in result.stdout
        assert json.loads(run("doctor", "--json", code=1).stdout)["healthy"] is False


class TestErrors:
    @pytest.mark.parametrize("command", LOOKING)
    def test_a_command_that_looks_makes_no_file(self, run: Run, command: str) -> None:
        """A missing file is named with the fix, and the folder stays empty."""
        result = run(*command.split(), code=3)
        assert result.stderr.startswith(
            "error: there is no file incumbent.db; name yours with --db"
        )
        assert list(Path().iterdir()) == []

    @pytest.mark.parametrize(
        ("command", "told"),
        [
            (["write", "k", "NaN", "--json-value"], "NaN"),
            (["write", "k", "{", "--json-value"], "is not JSON"),
            (["write", "k", "v", "--at", "2026-03-02"], "naive"),
            (["write", "k", "v", "--at", "soon"], "--at 'soon' is not a time"),
            (["write", "", "v"], "key is empty"),
            (["write", "k", "v", "--supersedes", "nope"], "'nope'"),
            (["write", "k", "v", "--depends-on", "nope"], "'nope'"),
            (["write", "k", "v", "--as", "CFO"], "may not write as"),
            (["write", "k", "v", "--scope", "moon"], "'moon'"),
            (["undo", "nope"], "no verdict"),
            (["resolve", "nope", "x", "--retract"], "exactly one"),
            (["resolve", "nope", "--json-value", "--retract"], "needs a VALUE"),
            (["context", "q", "--profile", "odd"], "'odd'"),
            (["context", "q", "--style", "odd"], "'odd' is not one of plain, annotated"),
            (["context", "q", "--budget", "-1"], "budget must be from 0"),
            (["context", "q", "--embedder", "odd"], "--embedder 'odd' is not one of minilm"),
            (["context", "q", "--at", "noon"], "'noon' is not a time"),
            (["receipts", "--limit", "0"], "--limit must be at least 1, not 0"),
            (["replay", "nope"], "'alice' has no receipt 'nope' in organization 'acme'"),
            (["diff", "nope", "nope"], "`incumbent receipts` lists those there are"),
            (["reindex", "--org", "nope"], "this store has: 'acme'"),
            (["note", "k", "v", "--states", "nope"], "--states 'nope' is the id of no fact"),
            (["doctor", "--db", ":memory:"], "name one with --db"),
            (["facts", "--as-of", "2026-03-02T09:00"], "naive"),
        ],
    )
    def test_bad_input_is_one_line_and_exit_code_2(
        self, run: Run, command: list[str], told: str
    ) -> None:
        """The message quotes the input, there is no traceback, and nothing is changed."""
        run("write", "before", "1")
        result = run(*command, code=2)
        assert told in result.stderr
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        assert [f["key"] for f in json.loads(run("facts", "--json").stdout)["facts"]] == ["before"]

    def test_a_file_that_is_no_database_is_exit_code_3(self, run: Run) -> None:
        """The store's own error, in one line."""
        Path("notes.txt").write_text("not a database, but long enough to look like one " * 50)
        result = run("facts", "--db", "notes.txt", code=3)
        assert result.stderr.startswith("error: notes.txt is not a readable Incumbent database")
        assert result.stderr.count("\n") == 1

    def test_an_unknown_option_is_a_usage_error(self, run: Run) -> None:
        """Click's own message, exit code 2."""
        assert "No such option" in run("facts", "--nope", code=2).stderr


class TestHelp:
    @pytest.mark.parametrize("name", sorted(COMMANDS))
    def test_every_command_has_examples(self, run: Run, name: str) -> None:
        """The help of each command shows how to call it."""
        assert f"Examples:\n    incumbent {name}" in run(name, "--help").stdout

    def test_the_reference_is_up_to_date(self) -> None:
        """docs/cli.md is what `python -m incumbent.cli.reference` prints."""
        page = Path(__file__).parents[1] / "docs" / "cli.md"
        assert page.read_text(encoding="utf-8") == reference()

    def test_the_reference_has_every_option(self) -> None:
        """What a command takes stands in its section, or among the shared options it names."""
        sections = dict(re.findall(r"^## ([^\n]*)\n\n```text\n(.*?)^```", reference(), re.M | re.S))
        told = sections["Shared options"]
        panels = dict(re.findall(r"^(\w.*):\n((?: .*\n)+)", told, re.M))
        for place in places(typer.main.get_command(app)):
            title = " ".join(["incumbent", *place.path])
            if title.startswith(ELSEWHERE):
                continue
            text = sections[title]
            named = text.partition("\nShared options: ")[2].replace("\n ", "").strip()
            named = named.replace(USUAL, "Who is asking; Store and output")
            assert all(
                f"\n  {name} " in told or name in panels for name in named.split("; ") if name
            )
            text += "".join(panels.get(name, "") for name in named.split("; "))
            for name in {name for option in place.options for name in option.names}:
                there = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)
                assert there or name in ("-h", "--help"), f"{place.path} {name}"

    def test_importing_incumbent_imports_neither_typer_nor_rich(self) -> None:
        """A program that uses the library does not pay for the command line."""
        code = "import sys, incumbent; print({'typer', 'rich'} & set(sys.modules))"
        source = str(Path(incumbent.__file__).parents[1])
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": source},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "set()\n"


class TestProcess:
    def test_the_command_works_as_a_process(self, tmp_path: Path) -> None:
        """Written by one process, read by another, with --db and an identity by options."""
        who = ("--db", str(tmp_path / "a.db"), "--user", "bob")
        assert process("write", "city", "Oslo", *who).returncode == 0
        read = process("current", "city", *who)
        assert (read.stdout, read.stderr, read.returncode) == ("Oslo\n", "", 0)
        missing = process("facts", "--db", str(tmp_path / "b.db"))
        assert missing.returncode == 3
        assert "Traceback" not in missing.stderr
        assert process("--version").stdout == f"incumbent {incumbent.__version__}\n"

    def test_output_in_a_pipe_has_no_colour(self, tmp_path: Path) -> None:
        """No escape sequence reaches a program that reads the text."""
        who = ("--db", str(tmp_path / "a.db"), "--user", "bob")
        assert "\x1b" not in process("write", "city", "Oslo", *who).stdout
        assert "\x1b" not in process("explain", "city", *who).stdout

    def test_a_reader_that_goes_away_is_no_error_to_shout_about(self, tmp_path: Path) -> None:
        """`incumbent export | head -1` ends quietly."""
        path = tmp_path / "a.db"
        with incumbent.open(path, settings=incumbent.Settings(durability="process")) as memory:
            bob = memory.session(user_id="bob")
            bob.write_many({"key": f"k{n}", "value": "x" * 1000} for n in range(300))
        command = [sys.executable, "-m", "incumbent.cli", "export", "--db", str(path)]
        source = str(Path(incumbent.__file__).parents[1])
        with subprocess.Popen(
            command,
            env={**os.environ, "PYTHONPATH": source},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            assert b"incumbent-export" in running.stdout.readline()
            running.stdout.close()
            assert running.stderr.read() == b""
