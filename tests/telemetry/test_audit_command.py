"""`incumbent audit`, as processes of its own: followed, interrupted, cut off and killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import incumbent
from incumbent.cli import app
from tests.conftest import QUICK, SOAK
from tests.patience import PATIENCE
from tests.telemetry.receiver import SECRET, Receiver, hang_up, status

ROOT = Path(__file__).parents[2]
PROGRAM = "from incumbent.cli import main; main()"
KILLS = 60 if SOAK else 6


@pytest.fixture
def writer(store_path: Path) -> Iterator[incumbent.Session]:
    """A session of another process, as far as the command can tell."""
    with incumbent.open(store_path, settings=QUICK) as memory:
        yield memory.session(user_id="alice", organization="acme")


@contextmanager
def running(store: Path, *arguments: str, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """`incumbent audit` of acme as a process, which does not outlive the test."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("INCUMBENT_")},
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
        "INCUMBENT_WEBHOOK_SECRET": SECRET.decode(),
    }
    command = [sys.executable, "-c", PROGRAM, "audit", "--org", "acme", "--db", str(store)]
    process = subprocess.Popen(
        [*command, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **options,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def line(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    found: dict[str, Any] = json.loads(process.stdout.readline())
    return found


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)],
    ids=lambda one: one.name,
)
def test_following_prints_what_comes_and_ends_cleanly(
    store_path: Path, writer: incumbent.Session, number: signal.Signals
) -> None:
    """Lines of JSON as they are written elsewhere; Ctrl-C is the end, and no error."""
    writer.write("city", "Bern")
    with running(store_path, "--follow", "--interval", "0.05") as process:
        assert line(process)["seq"] == 1
        second = writer.write("city", "Basel")
        found = line(process)
        assert (found["seq"], found["id"], found["by"]) == (2, second.id, "alice")
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out, err) == (0, "", "")


def test_a_reader_that_has_enough_ends_it(store_path: Path, writer: incumbent.Session) -> None:
    """A pipe that is closed, as by `head`, is no error."""
    writer.write_many({"key": f"k{number}", "value": number} for number in range(600))
    with running(store_path) as process:
        assert line(process)["seq"] == 1
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(timeout=PATIENCE) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_killed_sender_skips_nothing(store_path: Path, writer: incumbent.Session) -> None:
    """Killed again and again while a receiver fails now and then: every entry, and in order."""
    chance = random.Random(5)
    state = store_path.with_name("audit.state")
    written = 0
    with Receiver() as receiver:
        arguments = ("--webhook", receiver.url, "--state", str(state), "--batch", "4")
        for _ in range(KILLS):
            with running(store_path, *arguments, "--follow", "--interval", "0.02") as process:
                before = len(receiver.seqs)
                receiver.script += chance.choice([[], [status(500)], [hang_up]])
                for _ in range(chance.randrange(12, 40)):
                    writer.write(f"k{written % 7}", written)
                    written += 1
                enough = before + chance.randrange(1, 12)
                until(receiver.has(enough), "nothing arrives")
                time.sleep(chance.uniform(0, 0.05))
                process.send_signal(signal.SIGKILL)
                assert process.wait(timeout=PATIENCE) == -signal.SIGKILL
        receiver.script.clear()
        with running(store_path, *arguments) as process:
            _, err = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0, err
        seqs = receiver.seqs
    assert sorted(set(seqs)) == list(range(1, written + 1))
    assert receiver.forged == 0
    reached = 0
    for batch in receiver.batches:
        numbers = [entry["seq"] for entry in batch]
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
        # At most the one batch whose position was not kept yet comes again.
        assert reached - 4 < numbers[0] <= reached + 1
        reached = max(reached, numbers[-1])


Run = Callable[..., Any]


@pytest.fixture
def run(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `incumbent audit` of acme; gives the result."""
    monkeypatch.setenv("INCUMBENT_DB", str(store_path))
    monkeypatch.setenv("INCUMBENT_ORGANIZATION", "acme")
    monkeypatch.setenv("INCUMBENT_WEBHOOK_SECRET", SECRET.decode())

    def invoke(*arguments: str, code: int = 0) -> Any:
        result = CliRunner().invoke(app, ["audit", *arguments])
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return invoke


def test_the_log_is_printed_as_lines_or_as_one_document(
    run: Run, writer: incumbent.Session
) -> None:
    """Lines of JSON by themselves, a list with --json, values only with --values."""
    writer.write("city", "Bern")
    writer.write("city", "Basel")
    lines = [json.loads(text) for text in run("--after", "1").stdout.splitlines()]
    assert [entry["seq"] for entry in lines] == [2]
    assert "value" not in lines[0]
    document = json.loads(run("--json", "--values").stdout)
    assert [entry["value"] for entry in document] == ["Bern", "Basel"]


def test_an_empty_stream_says_so(run: Run, writer: incumbent.Session) -> None:
    """Nothing to print is no error, and a note tells it from a name that was mistyped."""
    writer.write("city", "Bern")
    result = run("--org", "acmee")
    assert result.stdout == ""
    assert "organization 'acmee' has no entries" in result.stderr


def test_sending_goes_on_from_the_file(
    run: Run, writer: incumbent.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first run sends everything, or what comes after --after; the next one what is new."""
    for number in range(3):
        writer.write("city", number)
    state = str(tmp_path / "state")
    with Receiver() as receiver:
        sending = ("--webhook", receiver.url, "--state", state)
        first = run(*sending, "--after", "1", "--json")
        assert json.loads(first.stdout) == {"organization": "acme", "delivered": 2}
        writer.write("city", 3)
        assert "delivered 1 entries to 127.0.0.1" in run(*sending).stderr
        assert receiver.seqs == [2, 3, 4]
        assert "leave out --after" in run(*sending, "--after", "1", code=2).stderr


def test_a_receiver_that_takes_nothing_is_told_and_tried_again_later(
    run: Run, writer: incumbent.Session, tmp_path: Path
) -> None:
    """Exit code 1 and one line; the next run sends the same."""
    writer.write("city", "Bern")
    with Receiver(status(500)) as receiver:
        sending = ("--webhook", receiver.url, "--state", str(tmp_path / "state"))
        result = run(*sending, "--retry-for", "0", code=1)
        assert result.stderr.count("\n") == 1
        assert "did not take entries 1 to 1 (status 500)" in result.stderr
        run(*sending)
        assert receiver.seqs == [1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--webhook", "http://localhost/"], "needs --state"),
        (["--state", "x"], "--state is for --webhook"),
        (["--follow", "--json"], "leave one out"),
        (["--interval", "0"], "--interval must be more than 0"),
        (["--after", "7"], "ends at 1, before 7"),
        (["--after", "-1"], "must be the number of an entry"),
        (["--webhook", "http://localhost/", "--state", "x", "--batch", "0"], "--batch must be"),
        (["--webhook", "http://localhost/", "--state", "x", "--retry-for", "-1"], "--retry-for"),
        (["--webhook", "localhost", "--state", "x"], "must be an address"),
        (["--webhook", "http://localhost/", "--state", "no/such/folder"], "cannot write"),
    ],
)
def test_a_call_that_is_wrong_says_what_to_change(
    run: Run,
    writer: incumbent.Session,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    """Exit code 2, one line, and nothing was sent or written."""
    monkeypatch.chdir(tmp_path)
    writer.write("city", "Bern")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert message in run(*arguments, code=2).stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_without_a_secret_nothing_is_sent(
    run: Run, writer: incumbent.Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What is not signed could be from anybody."""
    monkeypatch.delenv("INCUMBENT_WEBHOOK_SECRET")
    writer.write("city", "Bern")
    with Receiver() as receiver:
        sending = ("--webhook", receiver.url, "--state", str(tmp_path / "state"))
        assert "INCUMBENT_WEBHOOK_SECRET" in run(*sending, code=2).stderr
        assert receiver.seqs == []
