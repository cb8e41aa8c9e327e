"""Chat, through a real pseudo-terminal and through a pipe."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import incumbent
from tests.conftest import QUICK
from tests.patience import PATIENCE
from tests.terminals import Terminal
from tests.test_docs import environment

PROGRAM = "from incumbent.cli import main; main()"


def command(db: str, *options: str) -> list[str]:
    """The command, as alice of acme."""
    who = ("--user", "alice", "--org", "acme", "--embedder", "static")
    return [sys.executable, "-c", PROGRAM, "chat", "--db", db, *who, *options]


def piped(
    folder: Path, *lines: str, db: str = "agent.db", code: int = 0, **given: str
) -> subprocess.CompletedProcess[str]:
    """A conversation through a pipe."""
    done = subprocess.run(
        command(db),
        cwd=folder,
        env=environment(folder),
        input=given.get("text") or "\n".join(lines) + "\n",
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A chat at a terminal with colours."""
    plain = environment(tmp_path)
    variables = {k: v for k, v in plain.items() if k not in ("NO_COLOR", "COLUMNS")}
    started = Terminal(command("agent.db"), tmp_path, {**variables, "TERM": "xterm-256color"})
    yield started
    started.close()


def test_somebody_at_a_terminal_sees_facts_verdicts_and_context_change(terminal: Terminal) -> None:
    """Lines are observed, commands obeyed, with colours; the end of the input leaves."""
    assert "You are alice (employee) in acme." in terminal.await_("you> ")
    terminal.type("The price is $40.\n")
    told = terminal.await_("you> ")
    assert "established  price = $40" in told
    assert "\x1b[32mestablished" in terminal.raw
    terminal.type("/context What is the price?\n")
    assert "- price: $40" in terminal.await_("you> ")
    terminal.type("No, the price is $45.\n")
    told = terminal.await_("you> ")
    assert "superseded  price = $45" in told
    assert "- price: $40" in told
    assert "+ price: $45" in told
    terminal.type("/as Bob\n")
    terminal.await_("Bob> ")
    terminal.type("/as\n")
    terminal.await_("you> ")
    terminal.type("/forget price\n")
    terminal.await_("[y/N] ")
    terminal.type("no\n")
    assert "nothing was erased" in terminal.await_("you> ")
    terminal.type("half a li")
    terminal.await_("half a li")
    time.sleep(0.3)  # so that it waits for the rest, and is interrupted in that
    terminal.type("\x03")
    assert "/quit leaves" in terminal.await_("you> ")
    terminal.type("/wh\t")
    terminal.type("\n")
    terminal.await_("you> ")
    terminal.type("\x04")
    assert terminal.end() == 0
    assert "Traceback" not in terminal.shown


def test_a_conversation_can_come_through_a_pipe(tmp_path: Path) -> None:
    """Every command does its part, each line is shown with what came of it, without colours."""
    out = piped(
        tmp_path,
        "The price is $40.",
        "/context What is the price?",
        "",
        "/what-if The price is $90.",
        "/facts",
        "No, the price is $45.",
        "/history price",
        "/undo",
        "/why price",
        "/as assistant",
        "The price is $1.",
        "/as",
        "//slash is on the shelf.",
        "/help",
        "/quit",
        "The price is $2.",
    ).stdout
    assert "\x1b" not in out
    parts = out.removeprefix("> ").split("\n> ")
    by_line = {part.partition("\n")[0]: part for part in parts}
    assert "established  price = $40" in by_line["The price is $40."]
    assert "- price: $40" in by_line["/context What is the price?"]
    supposed = by_line["/what-if The price is $90."]
    assert "- price: $40" in supposed
    assert "+ price: $90" in supposed
    assert "nothing of this was kept" in supposed
    assert "$90" not in by_line["/facts"]
    assert "replaces  price = $40" in by_line["No, the price is $45."]
    assert "superseded  $40" in by_line["/history price"]
    undone = by_line["/undo"]
    assert "reverted" in undone
    assert "+ price: $40" in undone
    assert by_line["/why price"].splitlines()[1] == "price = $40"
    assert "nothing to remember" in by_line["The price is $1."]
    assert "/slash is on the shelf." in by_line["//slash is on the shelf."]
    assert "/what-if TEXT" in by_line["/help"]
    assert "$2" not in out
    with incumbent.open(tmp_path / "agent.db", settings=QUICK) as memory:
        assert memory.session(user_id="alice", organization="acme").current("price") == "$40"


@pytest.mark.slow
def test_forgetting_asks_first(tmp_path: Path) -> None:
    """The next line is the answer; what was erased is gone from the file."""
    lines = ["My phone number is 555-0199.", "/forget phone_number", "n", "/facts"]
    assert "555-0199" in piped(tmp_path, *lines).stdout.split("/facts")[1]
    out = piped(tmp_path, "/forget phone_number", "y", "/facts").stdout
    assert "erased  1 fact(s) for good" in out
    assert "no facts" in out
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("agent.db*"))
    assert b"555-0199" not in kept


@pytest.mark.slow
def test_a_line_that_fails_is_told_and_the_talk_goes_on(tmp_path: Path) -> None:
    """One sentence on stderr for each, and the code of the first of them at the end of a pipe."""
    done = piped(
        tmp_path, "/nope", "/why nothing", "/history", "/context", "/undo", "/facts", code=2
    )
    assert done.stderr.splitlines() == [
        "error: there is no /nope; /help lists what there is",
        "error: no fact with id or key 'nothing' exists here; `incumbent facts` or session.facts() "
        "lists what there is",
        "error: /history takes KEY",
        "error: /context takes QUESTION",
        "error: nothing that was said in this conversation is left to undo",
    ]
    assert "no facts" in done.stdout


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    """Bytes that are no text end the talk with a sentence."""
    done = subprocess.run(
        command("agent.db"),
        cwd=tmp_path,
        env={**environment(tmp_path), "PYTHONUTF8": "1"},
        input=b"The price is \xff\xfe.\n",
        capture_output=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert done.stderr.startswith(b"error: ")


@pytest.mark.slow
def test_a_memory_elsewhere_can_be_talked_to(tmp_path: Path) -> None:
    """The same over HTTP, at a service."""
    from tests.service.running import serving

    with serving(str(tmp_path / "served.db"), tmp_path, "--embedder", "static") as service:
        out = piped(
            tmp_path,
            "The price is $40.",
            "/context price?",
            "No, the price is $45.",
            "/what-if The price is $90.",
            "/undo",
            "/history price",
            "/forget price",
            "y",
            "/facts",
            db=service.address,
        ).stdout
    assert "superseded  price = $45" in out
    assert "+ price: $90" in out
    assert "reverted" in out
    assert "no facts" in out
