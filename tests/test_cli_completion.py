"""Completion, in the shell that it is for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from incumbent.cli import app
from incumbent.cli.commands import COMMANDS
from incumbent.cli.completion import places
from tests.patience import PATIENCE
from tests.terminals import Terminal
from tests.test_docs import environment

PROGRAM = "from incumbent.cli import main; main()"
PLACES = {place.path: place for place in places(typer.main.get_command(app))}


def script(shell: str, folder: Path) -> Path:
    """What the command prints for a shell, in a file."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "completion", shell],
        env=environment(folder),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    path = folder / f"incumbent.{shell}"
    path.write_text(done.stdout, encoding="utf-8")
    return path


def offered(folder: Path, *lines: list[str]) -> list[list[str]]:
    """What bash offers after each line, whose last word is being typed."""
    asked = "\n".join(
        f"COMP_WORDS=({' '.join(repr(word) for word in line)}); COMP_CWORD={len(line) - 1}; "
        f'_incumbent_complete; echo "${{COMPREPLY[*]}}"'
        for line in lines
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", f"set -eu; source {script('bash', folder)}; {asked}"],
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [line.split() for line in done.stdout.splitlines()]


def test_bash_offers_commands_options_and_choices(tmp_path: Path) -> None:
    """Commands at first, those of a group within it, options after a dash, shells by name."""
    found = offered(
        tmp_path,
        ["incumbent", "ob"],
        ["incumbent", "db", "st"],
        ["incumbent", "keys", "create", "--sc"],
        ["incumbent", "mcp", "--user", "alice", "--allow"],
        ["incumbent", "completion", ""],
        ["incumbent", "write", "observe", "db", "--sub"],
    )
    assert found == [
        ["observe"],
        ["stats"],
        ["--scope"],
        ["--allow-forget"],
        ["bash", "zsh", "fish", "--help"],
        ["--subject"],
    ]


def test_bash_leaves_values_and_arguments_to_itself(tmp_path: Path) -> None:
    """After an option that takes a value, and for a key, it offers files as it always does."""
    assert offered(tmp_path, ["incumbent", "facts", "--db", ""], ["incumbent", "current", ""]) == [
        [],
        [],
    ]


@pytest.mark.slow
def test_every_command_and_option_is_offered(tmp_path: Path) -> None:
    """Nothing of the command line is missing, whichever command it is."""
    assert {("db", "migrate"), ("keys", "create"), ("chat",), ("serve",)} <= PLACES.keys()
    lines = [["incumbent", *path, "-"] for path in PLACES]
    for place, found in zip(PLACES.values(), offered(tmp_path, *lines), strict=True):
        assert set(found) == {word for word in place.words if word.startswith("-")}, place.path
        assert "--help" in found


@pytest.mark.slow
def test_the_key_itself_completes_at_a_terminal(tmp_path: Path) -> None:
    """With the script read, the tab key turns a beginning into the command."""
    shell = Terminal(
        ["bash", "--norc", "--noprofile", "-i"],
        tmp_path,
        {**environment(tmp_path), "PS1": "ready$ ", "HISTFILE": "/dev/null"},
    )
    try:
        shell.await_("ready$ ")
        shell.type(f'source {script("bash", tmp_path)}; incumbent() {{ echo "got: $*"; }}\n')
        shell.await_("ready$ ")
        shell.type("incumbent obs\t--spe\t\n")
        shell.await_("got: observe --speaker")
        shell.await_("ready$ ")
        shell.type("exit\n")
        assert shell.end() == 0
    finally:
        shell.close()


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_take_their_script(shell: str, tmp_path: Path) -> None:
    """Each names every command; where the shell is here, it reads the script without complaint."""
    path = script(shell, tmp_path)
    text = path.read_text(encoding="utf-8")
    assert all(name in text for place in PLACES.values() for name in place.commands)
    if shutil.which(shell) is not None:
        subprocess.run([shell, "-n", str(path)], check=True, timeout=PATIENCE)


def test_an_unknown_shell_is_refused(tmp_path: Path) -> None:
    """The message names the shells that are known."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "completion", "tcsh"],
        env=environment(tmp_path),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    assert done.returncode == 2
    assert done.stderr == "error: SHELL 'tcsh' is not one of bash, zsh, fish\n"


def test_a_package_that_is_not_installed_is_named_and_stops_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without the evaluations `incumbent eval` says how to get them, and completion goes
    without."""
    missing = COMMANDS["eval"]._replace(module="incumbent_missing.cli.evaluating")
    monkeypatch.setitem(COMMANDS, "eval", missing)
    answer = CliRunner().invoke(app, ["eval", "conformance"])
    assert answer.exit_code == 2
    assert "pip install 'incumbent[eval]'" in answer.output
    found = {place.path for place in places(typer.main.get_command(app))}
    assert ("eval",) not in found
    assert {("write",), ("keys", "create")} <= found
