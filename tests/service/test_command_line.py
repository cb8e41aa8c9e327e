"""The command line on a service: what works there, and what says that it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from incumbent.cli import app
from tests.service.running import Running

ASKED = (
    ["facts"],
    ["write", "lead", "Omar"],
    ["current", "lead"],
    ["history", "nothing"],
    ["explain", "lead"],
    ["context", "Who leads?"],
    ["note", "draft", "half done"],
    ["reviews"],
    ["receipts"],
    ["retract", "lead"],
    ["export"],
    ["audit"],
    ["usage"],
    ["reindex"],
)
REFUSED = (["doctor"], ["keys", "list"])


def run(service: Running, *arguments: str) -> tuple[int, str]:
    who = {"INCUMBENT_USER": "ann"}
    told = CliRunner().invoke(app, [*arguments, "--db", service.address], env=who)
    assert told.exception is None or isinstance(told.exception, SystemExit), told.exception
    return told.exit_code, told.output


def test_commands_work_on_a_service(service: Running) -> None:
    """A service is a store like any other, for every command that asks for facts."""
    for arguments in ASKED:
        code, told = run(service, *arguments)
        assert code in (0, 1), (arguments, told)
    code, told = run(service, "facts", "--json")
    assert (code, json.loads(told)["facts"]) == (0, [])


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_what_takes_the_store_says_so(service: Running, arguments: list[str]) -> None:
    """Commands that examine or open the store name where to run them."""
    code, told = run(service, *arguments)
    assert code == 2
    assert "where the" in told


def test_a_transcript_is_observed_on_a_service(service: Running, tmp_path: Path) -> None:
    """`incumbent observe` sends turn by turn."""
    file = tmp_path / "chat.jsonl"
    file.write_text('{"role": "user", "content": "My budget is $500."}\n')
    code, told = run(service, "observe", str(file))
    assert code == 0, told
    assert service.memory.session(user_id="ann").current("budget") == "$500"
