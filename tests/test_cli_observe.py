"""`incumbent observe`: transcripts in every usual shape, twice, by halves, and damaged."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import incumbent
from incumbent.cli import app

Run = Callable[..., Any]
WHO = {"user_id": "alice", "organization": "acme"}
TABLE = "I'd like a table for 4 at 5pm on Friday."
MOVED = "I'd like a table for [3] at 5pm on Friday."
TURNS = [
    {"role": "system", "content": "You book tables."},
    {"role": "user", "content": TABLE},
    {"role": "assistant", "content": "A table for 4 at 5pm, is that right?"},
    {"role": "user", "content": "No, only 3 people."},
    {"role": "user", "content": "My phone number is 555-0100."},
]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command as alice of acme, in an empty folder; gives the result."""
    for name in ("DB", "AUTHORITY", "SESSION", "TASK"):
        monkeypatch.delenv(f"INCUMBENT_{name}", raising=False)
    monkeypatch.setenv("INCUMBENT_USER", "alice")
    monkeypatch.setenv("INCUMBENT_ORGANIZATION", "acme")
    monkeypatch.setenv("INCUMBENT_EMBEDDER", "none")
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str, code: int = 0, **options: Any) -> Any:
        result = CliRunner().invoke(app, list(arguments), **options)
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return invoke


def lines(turns: list[Any], end: str = "\n") -> str:
    return "".join(json.dumps(turn) + end for turn in turns)


def save(text: str | bytes, name: str = "chat.jsonl") -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    return name


def told(run: Run, *arguments: str, **options: Any) -> Any:
    """What `observe --json` says."""
    return json.loads(run("observe", *arguments, "--json", **options).stdout)


def current(key: str, path: str = "incumbent.db") -> Any:
    with incumbent.open(path) as memory:
        return memory.session(**WHO).current(key)


def said(path: str = "incumbent.db") -> list[str]:
    """What is kept as it was said."""
    with incumbent.open(path) as memory:
        return [str(fact.value) for fact in memory.session(**WHO).facts() if fact.is_unnamed]


def state(path: str = "incumbent.db") -> list[tuple[Any, ...]]:
    """Everything that is or was believed, without ids and the time of recording."""
    with incumbent.open(path) as memory:
        records = [r for r in memory.export("acme") if r.get("kind") == "fact"]
    return sorted(
        (r["key"], str(r["value"]), r["status"], r["source"].get("ref") or "") for r in records
    )


class TestShapes:
    @pytest.mark.parametrize(
        "text",
        [
            lines(TURNS),
            lines(TURNS).rstrip("\n"),
            lines(TURNS, end="\r\n"),
            lines(TURNS, end="\n\n  \n"),
            "\ufeff" + lines(TURNS),
            "\ufeff" + json.dumps(TURNS),
            json.dumps(TURNS),
            json.dumps(TURNS, indent=2),
            json.dumps({"messages": TURNS, "model": "any"}),
            json.dumps({"messages": TURNS}, indent=2),
            json.dumps([{"messages": TURNS}]),
            lines([{"speaker": t["role"], "text": t["content"]} for t in TURNS]),
            lines([{**t, "content": [{"type": "text", "text": t["content"]}]} for t in TURNS]),
            lines([{"role": t["role"].upper(), "content": t["content"]} for t in TURNS]),
            lines([TURNS[0], {"role": "assistant", "content": None, "tool_calls": []}, *TURNS[1:]]),
        ],
    )
    def test_the_usual_shapes_say_the_same(self, run: Run, text: str) -> None:
        """Lines, arrays and messages, with a byte order mark or not, give the same state."""
        save(text)
        counts = told(run, "chat.jsonl")
        assert (counts["facts"], counts["superseded"], counts["before"]) == (3, 1, 0)
        assert counts["turns"] in (5, 6)
        assert MOVED in said()
        assert current("phone_number") == "555-0100"

    def test_stdin_is_a_file(self, run: Run) -> None:
        """`-` reads a pipe, whose content is known when it comes again."""
        assert told(run, "-", input=lines(TURNS))["facts"] == 3
        assert told(run, "-", input=lines(TURNS))["before"] == 5
        assert MOVED in said()

    @pytest.mark.parametrize(
        "at",
        [
            "2026-01-05T09:00:00+00:00",
            "2026-01-05T10:00:00+01:00",
            "2026-01-05T09:00:00Z",
            "2026-01-05 09:00",
            1767603600,
            1767603600.0,
        ],
    )
    def test_times_are_iso_or_seconds(self, run: Run, at: Any) -> None:
        """When a turn was said is read from it, as a text or as a number."""
        save(lines([{"role": "user", "content": "My phone number is 555-0100.", "timestamp": at}]))
        run("observe", "chat.jsonl")
        with incumbent.open("incumbent.db") as memory:
            [fact] = memory.session(**WHO).facts()
        assert fact.timestamp.isoformat() == "2026-01-05T09:00:00+00:00"

    def test_a_turn_that_names_nobody_is_by_whom_the_call_says(self, run: Run) -> None:
        """--speaker is who speaks where a turn does not say."""
        save(lines([{"text": "My phone number is 555-0100."}]))
        run("observe", "chat.jsonl", "--speaker", "Bob")
        with incumbent.open("incumbent.db") as memory:
            [fact] = memory.session(**WHO).facts()
        assert (fact.subject, fact.source.speaker) == ("bob", "Bob")

    def test_conversations_in_one_file_stay_apart(self, run: Run) -> None:
        """Where each line has messages, a correction in one does not reach into another."""
        other = [{"role": "user", "content": "I'd like a room for 4 in Oslo."}]
        save(lines([{"messages": other}, {"messages": TURNS}]))
        counts = told(run, "chat.jsonl")
        assert [session["turns"] for session in counts["sessions"]] == [1, 5]
        assert len({session["session"] for session in counts["sessions"]}) == 2
        assert "I'd like a room for 4 in Oslo." in said()
        assert MOVED in said()
        assert "sessions    2, one for each" in run("observe", "chat.jsonl").stdout


class TestTwice:
    def test_the_same_file_again_changes_nothing(self, run: Run) -> None:
        """The second run finds every turn observed before, also from another folder."""
        save(lines(TURNS))
        run("observe", "chat.jsonl")
        before = state()
        out = run("observe", "chat.jsonl").stdout
        assert out.startswith("observed  5 turn(s), 5 of them before\n")
        run("observe", save(lines(TURNS), "copies/chat.jsonl"), "chat.jsonl")
        assert state() == before

    def test_a_file_that_has_grown_goes_on(self, run: Run) -> None:
        """Only the new turns are observed, in the same session, where they find the old ones."""
        save(lines(TURNS[:3]))
        session = told(run, "chat.jsonl")["sessions"][0]["session"]
        save(lines(TURNS))
        again = told(run, "chat.jsonl")
        assert (again["turns"], again["before"]) == (5, 3)
        assert again["sessions"][0]["session"] == session
        assert MOVED in said()

    def test_ids_of_the_file_are_the_refs(self, run: Run) -> None:
        """A turn's own id names it; one without is named by file, place and a digest of its text
        that is too short to tell what was said."""
        save(lines([{**TURNS[1], "id": 17}, TURNS[4]]))
        seen = told(run, "chat.jsonl", "-v")["observations"]
        assert seen[0]["ref"] == "17"
        assert re.fullmatch(r"chat\.jsonl:2:[0-9a-f]{4}", seen[1]["ref"])
        assert re.fullmatch(r"chat\.jsonl#[0-9a-f]{8}", seen[0]["session"])

    def test_a_changed_line_is_another_turn(self, run: Run) -> None:
        """What a line says is part of its name, so that a mended one is observed."""
        save(lines(TURNS))
        run("observe", "chat.jsonl")
        save(lines([*TURNS[:4], {"role": "user", "content": "My phone number is 555-0199."}]))
        assert told(run, "chat.jsonl")["before"] == 4
        assert current("phone_number") == "555-0199"

    def test_files_of_one_name_that_begin_differently_stay_apart(self, run: Run) -> None:
        """Two folders, one file name, the same instructions to the model: two sessions."""
        room = {"role": "user", "content": "I'd like a room for 4 in Oslo."}
        save(lines(TURNS), "a/chat.jsonl")
        save(lines([TURNS[0], room]), "b/chat.jsonl")
        counts = told(run, "b/chat.jsonl", "a/chat.jsonl")
        assert len({session["session"] for session in counts["sessions"]}) == 2
        assert room["content"] in said()

    def test_a_session_can_be_given(self, run: Run) -> None:
        """--session puts everything into one, whose desk then has the turns."""
        save(lines(TURNS))
        assert told(run, "chat.jsonl", "--session", "monday")["sessions"][0]["session"] == "monday"
        out = run("context", "How many people?", "--session", "monday").stdout
        assert "I'd like a table for [no longer current] at 5pm on Friday." in out

    @pytest.mark.slow
    def test_a_killed_run_goes_on_where_it_stopped(self, run: Run, tmp_path: Path) -> None:
        """After a kill -9 between two turns the same command leaves what one run leaves."""
        turns = [
            {"role": "user", "content": f"My phone number is 555-{number:04}."}
            for number in range(60)
        ]
        save(lines(turns))
        command = ["observe", "chat.jsonl", "-v", "--db", "killed.db"]
        with subprocess.Popen(
            [sys.executable, "-m", "incumbent.cli", *command],
            env={**os.environ, "PYTHONPATH": str(Path(incumbent.__file__).parents[1])},
            stdout=subprocess.PIPE,
            text=True,
        ) as running:
            assert running.stdout is not None
            assert any(line.startswith("turn 15 ") for line in running.stdout)
            running.send_signal(signal.SIGKILL)
        assert running.returncode == -signal.SIGKILL
        assert current("phone_number", "killed.db") != "555-0059"
        again = told(run, "chat.jsonl", "--db", "killed.db")
        assert 15 <= again["before"] < 60
        assert again["turns"] == 60
        run("observe", "chat.jsonl")
        assert state("killed.db") == state()
        run("doctor", "--db", "killed.db")


class TestBadFiles:
    @pytest.mark.parametrize(
        ("bad", "why"),
        [
            (b"{not json}", "it is not JSON"),
            (b'{"role": "user", "content": "My phone number is 555-', "it is not JSON"),
            (b"\x00\xff\xfe\x89PNG", "it is not text in UTF-8"),
            (b"[1, 2]", "a turn is a mapping"),
            (b'"hello"', "a turn is a mapping"),
            (b'{"role": "user"}', "a turn needs 'text' or 'content'"),
            (b'{"role": "user", "content": 5}', "must be a string, not int"),
            (b'{"role": "user", "content": "hi", "at": "soon"}', "'soon' is not in ISO 8601"),
            (b'{"role": "user", "content": "hi", "at": 1767603600000}', "no number of seconds"),
            (b'{"role": "user", "content": "hi", "at": NaN}', "no number of seconds"),
            (b'{"role": 5, "content": "hi"}', "speaker"),
            (b'{"role": "user", "content": "a\\u0000b"}', "NUL"),
            (b'{"role": "user", "content": "\\ud800"}', "lone surrogate"),
            (
                b'{"role": "user", "content": "The price is $5.", "authority": "CEO"}',
                "may not write",
            ),
            (b"[" * 100_000, "it is not JSON"),
            (b'{"role": "user", "content": "' + b"x" * 100_001 + b'"}', "the limit is 100,000"),
        ],
    )
    def test_a_bad_line_is_named_and_can_be_passed_over(
        self, run: Run, bad: bytes, why: str
    ) -> None:
        """The error has the file and the line, the turns before it are there, none after it."""
        save(lines(TURNS[:4]).encode() + bad + b"\n" + lines(TURNS[4:]).encode())
        result = run("observe", "chat.jsonl", code=2)
        assert result.stderr.startswith("error: chat.jsonl, line 5: ")
        assert why in result.stderr
        assert "The 4 turn(s) before it were observed; mend it" in result.stderr
        assert result.stderr.count("\n") == 1
        assert MOVED in said()
        assert current("phone_number") is None
        result = run("observe", "chat.jsonl", "--skip-bad")
        assert result.stderr.startswith("warning: chat.jsonl, line 5 passed over: ")
        assert "observed  5 turn(s), 4 of them before\n" in result.stdout
        assert "passed over  1\n" in result.stdout
        assert current("phone_number") == "555-0100"

    @pytest.mark.parametrize(
        "content",
        [
            bytes(range(256)) * 100,
            b"\xff\xfe" + "[]".encode("utf-16-le"),
            b"Dear Ann,\nhow are you?\n",
            json.dumps(TURNS).encode()[:-10],
            b'{"messages": [' + b"1," * 5,
            b'"just text"',
        ],
    )
    def test_what_is_no_transcript_is_refused(self, run: Run, content: bytes) -> None:
        """Binary, prose and half a document: one line of error, and nothing stored."""
        save(content)
        result = run("observe", "chat.jsonl", code=2)
        assert result.stderr.startswith("error: chat.jsonl, ")
        assert "Nothing was observed" in result.stderr
        assert result.stderr.count("\n") == 1
        assert "nothing could be read" in run("observe", "chat.jsonl", "--skip-bad", code=2).stderr
        assert "no facts" in run("facts").stderr

    def test_many_bad_lines_do_not_flood_the_screen(self, run: Run) -> None:
        """Ten are told one by one, the rest as a number."""
        save("x\n" * 500 + lines(TURNS))
        result = run("observe", "chat.jsonl", "--skip-bad")
        assert result.stderr.count("\n") == 11
        assert "passed over  500" in result.stdout

    def test_a_line_without_end_is_not_read_into_memory(self, run: Run) -> None:
        """A line beyond 32 MiB is passed over like any bad one, and the next one is read."""
        save(lines(TURNS[:4]).encode() + b"x" * (33 << 20) + b"\n" + lines(TURNS[4:]).encode())
        assert "it is longer than 33,554,432 bytes" in run("observe", "chat.jsonl", code=2).stderr
        assert told(run, "chat.jsonl", "--skip-bad")["skipped"] == 1
        assert current("phone_number") == "555-0100"

    @pytest.mark.parametrize("content", ["", "\n\n", "\ufeff", "[]", '{"messages": []}'])
    def test_an_empty_file_is_told_so(self, run: Run, content: str) -> None:
        """No turns are no error; a note says which file has none."""
        result = run("observe", save(content))
        assert (result.stdout, result.stderr) == ("", "note: chat.jsonl has no turns\n")
        assert told(run, "chat.jsonl")["turns"] == 0

    def test_a_bad_record_of_a_document_is_named_by_its_place(self, run: Run) -> None:
        """In an array it is a turn, among messages a message, in a line of messages both."""
        save(json.dumps([*TURNS, 5]))
        assert "chat.jsonl, turn 6: " in run("observe", "chat.jsonl", code=2).stderr
        save(json.dumps({"messages": [*TURNS, 5]}, indent=1))
        assert "chat.jsonl, message 6: " in run("observe", "chat.jsonl", code=2).stderr
        save(lines([{"messages": TURNS}, {"messages": [5]}]))
        assert "chat.jsonl, line 2, message 1: " in run("observe", "chat.jsonl", code=2).stderr

    def test_a_file_that_cannot_be_read_stops_everything_first(self, run: Run) -> None:
        """Nothing is observed of the files before it, and no store is made."""
        save(lines(TURNS))
        result = run("observe", "chat.jsonl", "missing.jsonl", code=2)
        assert result.stderr == "error: cannot read missing.jsonl: No such file or directory\n"
        assert "cannot read ." in run("observe", ".", code=2).stderr
        assert [path.name for path in Path().iterdir()] == ["chat.jsonl"]

    @pytest.mark.parametrize(
        ("arguments", "why"),
        [
            ((), "name a FILE"),
            (("chat.jsonl", "--text", "Hi"), "not both"),
            (("chat.jsonl", "--at", "2026-01-05T09:00:00Z"), "go with --text"),
            (("chat.jsonl", "--ref", "r"), "go with --text"),
            (("--text", "Hi", "--at", "soon"), "--at 'soon' is not a time"),
            (("--text", "Hi", "--at", "2026-01-05T09:00"), "naive"),
            (("--text", "My phone is 555-0100.", "--as", "CEO"), "may not write as"),
            (("--text", "x" * 100_001), "the limit is 100,000"),
        ],
    )
    def test_a_wrong_call_is_told_in_one_line(
        self, run: Run, arguments: tuple[str, ...], why: str
    ) -> None:
        """The message names what is wrong, and nothing is stored."""
        save(lines(TURNS))
        result = run("observe", *arguments, code=2)
        assert why in result.stderr
        assert result.stderr.count("\n") == 1


class TestOneTurn:
    def test_what_came_of_it_is_told_with_ids(self, run: Run) -> None:
        """Each verdict is printed as `write` prints it, so that it can be undone."""
        run("observe", "--text", "My phone number is 555-0100.")
        out = run("observe", "--text", "No, it's 555-0199.").stdout.splitlines()
        assert out[0] == "superseded  phone_number = 555-0199"
        why = "the statement says that it replaces something (rule: explicit)"
        assert out[1].split(maxsplit=1) == ["why", why]
        assert out[2].split(maxsplit=1) == ["replaces", "phone_number = 555-0100"]
        run("undo", out[-1].split()[-1])
        assert run("current", "phone_number").stdout == "555-0100\n"

    def test_what_is_no_fact_is_told_by_kind(self, run: Run) -> None:
        """A question and thanks are named as such."""
        out = run("observe", "--text", "Is the budget $500? Thanks!").stdout.splitlines()
        assert out[0] == "nothing to remember"
        assert [line.split("  ")[1].strip() for line in out[1:]] == ["asks", "chats"]

    def test_a_ref_makes_it_count_once(self, run: Run) -> None:
        """The same turn under the same ref changes nothing; another turn may not have it."""
        turn = ("observe", "--text", "My phone number is 555-0100.", "--ref", "m1")
        run(*turn)
        assert run(*turn).stdout == "observed before, as turn 1; nothing was changed\n"
        other = ("observe", "--text", "My phone number is 555-0199.", "--ref", "m1")
        assert "'m1' was used for another turn" in run(*other, code=2).stderr

    def test_everything_is_there_as_json(self, run: Run) -> None:
        """Statements, facts, verdicts and what was retired; when and by whom as it was given."""
        run("observe", "--text", TABLE, "--at", "2026-01-05T09:00:00+00:00")
        arguments = ("--text", "No, only 3 people.", "--at", "2026-01-05T09:05:00Z", "--ref", "m2")
        made = told(run, *arguments)
        assert (made["turn_index"], made["session"], made["ref"]) == (2, "cli", "m2")
        assert made["at"] == "2026-01-05T09:05:00+00:00"
        assert [one["kind"] for one in made["statements"]] == ["states"]
        assert made["retired"] == ["4"]
        assert [fact["value"] for fact in made["facts"]] == [MOVED]
        assert made["verdicts"][0]["outcome"] == "superseded"

    def test_an_erasure_shows_its_proof(self, run: Run) -> None:
        """What somebody asks to be forgotten is gone from the file, and the proof is told."""
        run("observe", "--text", "My phone number is 555-0100.")
        out = run("observe", "--text", "Please delete my phone number from your memory.").stdout
        assert out.startswith("erased  1 fact(s) for good\n  proof   ")
        assert b"555-0100" not in Path("incumbent.db").read_bytes()


class TestTelling:
    def test_verbose_tells_each_turn(self, run: Run) -> None:
        """A line for the turn, and beneath it what came of it."""
        save(lines(TURNS))
        out = run("observe", "chat.jsonl", "-v").stdout.splitlines()
        at = out.index("turn 4 (user)  No, only 3 people.")
        replaces = "the statement says that it replaces something"
        assert out[at + 1].split("  ")[1:] == ["superseded", f"{MOVED}: {replaces}"]
        assert out[at + 2].strip() == f"replaces {TABLE}"

    def test_a_dry_run_keeps_nothing(self, run: Run) -> None:
        """What would come of it is told from what there is, and the store stays as it was."""
        save(lines(TURNS))
        assert run("observe", "chat.jsonl", "--dry-run").stdout.startswith("would have observed  5")
        assert [path.name for path in Path().iterdir()] == ["chat.jsonl"]
        run("observe", "--text", "My phone number is 555-0199.")
        before = state()
        assert told(run, "chat.jsonl", "--dry-run")["superseded"] == 2
        assert state() == before
        Path("notes.db").write_text("not a database, but long enough to look like one " * 50)
        assert (
            "not a readable"
            in run("observe", "chat.jsonl", "--dry-run", "--db", "notes.db", code=3).stderr
        )

    def test_a_dry_run_of_one_turn_tells_what_it_would_change(self, run: Run) -> None:
        """Before there is a store, and from what a store has; none is made, and it stays as it
        was."""
        turn = ("observe", "--text", "My phone number is 555-0199.", "--ref", "r1")
        assert run(*turn, "--dry-run").stdout.startswith("dry run: established  phone_number")
        assert list(Path().iterdir()) == []
        run("observe", "--text", "My phone number is 555-0100.")
        before = state()
        out = run(*turn, "--dry-run").stdout
        assert out.startswith("dry run: superseded  phone_number = 555-0199")
        assert "verdict" not in out
        told = json.loads(run(*turn, "--dry-run", "--json").stdout)
        assert told["dry_run"]
        assert [change["before"] is None for change in told["changes"]] == [True, False]
        erased = run("observe", "--text", "Forget my phone number.", "--dry-run").stdout
        assert erased == "dry run: erased  1 fact(s) for good\n"
        assert state() == before
        assert run(*turn).stdout.startswith("superseded  phone_number = 555-0199")

    def test_explain_and_facts_show_where_a_fact_was_said(self, run: Run) -> None:
        """Turn, speaker, ref and quote; and the earlier turn whose words a correction keeps."""
        save(lines([{**turn, "id": f"m{n}"} for n, turn in enumerate(TURNS, start=1)]))
        run("observe", "chat.jsonl")
        with incumbent.open("incumbent.db") as memory:
            table = next(f.id for f in memory.session(**WHO).facts() if f.value == MOVED)
        out = run("explain", table).stdout
        found = dict(line.strip().split("  ", 1) for line in out.splitlines()[1:7])
        told_of = {label: text.strip() for label, text in found.items()}
        assert told_of["said in"] == "turn 4 (user), ref m4"
        assert told_of["quote"] == "No, only 3 people."
        assert told_of["keeps words of"] == "turn 2 (user), ref m2"
        assert "turn 4 (user), ref m4" in run("facts", "").stdout
        assert "said in" in run("history", "phone_number").stdout.splitlines()[0]

    def test_what_was_read_off_the_wording_is_named(self, run: Run) -> None:
        """A fact says which of its fields were inferred."""
        run("observe", "--text", "The discount is 20%, valid through 31 January 2090.")
        assert "inferred  valid_until" in run("explain", "discount").stdout.replace("   ", "")

    def test_facts_that_were_written_show_no_turn(self, run: Run) -> None:
        """The column is there only where there is something in it."""
        run("write", "city", "Oslo")
        assert "said in" not in run("facts").stdout
        assert "said in" not in run("explain", "city").stdout
