"""`incumbent proxy`: what it refuses to start with, and a real one from its start to its end."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import openai
import pytest
from typer.testing import CliRunner

import incumbent
from incumbent.cli import app
from tests.patience import PATIENCE
from tests.proxy.stand_in import StandIn
from tests.service.running import PROGRAM, environment

UPSTREAM = "--upstream=http://127.0.0.1:1/v1"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "Missing option '--upstream'"),
        (("--upstream", "api.example.com"), "write it as https://api.example.com/v1"),
        (("--upstream", "https://me:secret@a/v1"), "leave them out"),
        ((UPSTREAM, "--on-failure", "ajar"), '"closed" or "open"'),
        ((UPSTREAM, "--budget", "-1"), "budget must not be negative"),
        ((UPSTREAM, "--timeout", "0"), "answer_timeout must be positive"),
        ((UPSTREAM, "--log", "loud"), "--log 'loud'"),
        ((UPSTREAM, "--processes", "0"), "from 1 on, not 0"),
        ((UPSTREAM, "--processes", "2", "--db", ":memory:"), "several processes cannot share"),
        ((UPSTREAM, "--db", "https://memory.example.com"), "the file or the database behind it"),
        ((UPSTREAM, "--host", "0.0.0.0"), "incumbent keys create"),
        ((UPSTREAM, "--issuer", "https://a"), "both --issuer URL and --jwks FILE"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(
    arguments: tuple[str, ...], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And exits with 2 before anything listens."""
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["proxy", "--embedder", "none", *arguments])
    assert result.exit_code == 2
    assert told in " ".join(result.output.replace("│", "").split())
    assert "secret" not in result.output


def test_the_help_begins_with_examples() -> None:
    """That can be copied."""
    told = CliRunner().invoke(app, ["proxy", "--help"]).output
    assert "incumbent proxy --upstream https://api.openai.com/v1 --db agent.db" in told
    assert told.index("Examples:") < told.index("Options:")


def test_several_processes_are_one_proxy(upstream: StandIn, tmp_path: Path) -> None:
    """What one of them observed another one guards by, whichever a connection comes to, and what a
    request repeats is observed once."""
    command = [sys.executable, "-c", PROGRAM, "proxy", "--upstream", upstream.url]
    command += ["--port", "0", "--db", "agent.db", "--embedder", "none", "--processes", "2"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=dict(environment()), stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        found = re.search(r"at (\S+) \(open", process.stderr.readline())
        assert found is not None
        history: list[openai.types.chat.ChatCompletionMessageParam] = []
        who = {"X-Incumbent-User": "ann", "X-Incumbent-Session": "s"}
        for desk in range(4, 12):
            history.append({"role": "user", "content": f"No, my desk is {desk}."})
            # A connection of its own each time, so that the system chooses who answers it.
            with openai.OpenAI(
                base_url=found[1], api_key="sk", default_headers=who, timeout=PATIENCE
            ) as client:
                answer = client.chat.completions.create(model="m", messages=history)
            history.append({"role": "assistant", "content": answer.choices[0].message.content})
            assert f"desk is {desk}" in upstream.last.text
            assert f"desk is {desk - 1}" not in upstream.last.text
        process.send_signal(signal.SIGTERM)
        process.stderr.read()
        assert process.wait(PATIENCE) == 0
    with incumbent.open(
        tmp_path / "agent.db", settings=incumbent.Settings(embedder=None)
    ) as memory:
        session = memory.session(user_id="ann", session_id="s")
        assert session.current("desk") == "11"
        assert len(session.history("desk")) == 8


@pytest.mark.slow
def test_a_proxy_from_its_start_to_its_end(upstream: StandIn, tmp_path: Path) -> None:
    """It says where it stands, remembers across a restart, ends when told to, and its log holds
    nothing that was said."""
    said = ("My desk is 4.", "No, my desk is 5.")
    history: list[openai.types.chat.ChatCompletionMessageParam] = []
    for text in said:
        command = [sys.executable, "-c", PROGRAM, "proxy", "--upstream", upstream.url]
        command += ["--port", "0", "--db", "agent.db", "--embedder", "none"]
        with subprocess.Popen(
            command,
            cwd=tmp_path,
            env=dict(environment()),
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr is not None
            line = process.stderr.readline()
            found = re.search(r"before (\S+) at (\S+) \(open to this machine, no key", line)
            assert found is not None, line
            assert found[1] == upstream.url
            history.append({"role": "user", "content": text})
            with openai.OpenAI(
                base_url=found[2],
                api_key="sk-77",
                default_headers={"X-Incumbent-User": "alice-7"},
                timeout=PATIENCE,
            ) as client:
                answer = client.chat.completions.create(model="m", messages=history)
            history.append({"role": "assistant", "content": answer.choices[0].message.content})
            process.send_signal(signal.SIGTERM)
            log = process.stderr.read()
            assert process.wait(PATIENCE) == 0
        assert "/v1/chat/completions 200" in log
        assert not [secret for secret in ("desk", "sk-77", "alice-7") if secret in log]
    assert "desk is 4" not in upstream.last.text
    assert "desk is 5" in upstream.last.text
