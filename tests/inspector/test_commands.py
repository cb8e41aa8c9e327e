"""`incumbent inspect` and `incumbent demo --inspect`: the pages of a file, as processes."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

import incumbent
from incumbent.cli import app
from tests.conftest import QUICK
from tests.patience import PATIENCE
from tests.service.running import PLAIN, PROGRAM, environment, serving


@contextmanager
def showing(folder: Path, *arguments: str) -> Iterator[str]:
    """The address of the pages that a command shows; it then stops by itself on Ctrl-C."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments, "--port=0"],
        cwd=folder,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        yield next(found[0] for line in lines if (found := re.search(r"http://\S+/inspect", line)))
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.communicate()


def test_a_file_is_shown(tmp_path: Path) -> None:
    """With --user nobody has to choose on the page."""
    with incumbent.open(tmp_path / "agent.db", settings=QUICK) as memory:
        memory.session(user_id="alice", organization="acme").write("order_status", "approved")
    asked = ("inspect", "agent.db", "--user", "alice", "--org", "acme", "--embedder", "none")
    with showing(tmp_path, *asked) as address:
        page = httpx.get(address, **PLAIN)
    assert page.status_code == 200
    assert "order_status" in page.text


@pytest.mark.slow
def test_the_demo_fills_a_week(tmp_path: Path) -> None:
    """The pages begin with somebody who has something to see."""
    with showing(tmp_path, "demo", "--inspect") as address:
        page = httpx.get(address, **PLAIN)
    assert "order_total" in page.text
    assert "needs review" in page.text
    assert "private_phone" not in page.text


def test_a_service_can_go_without_pages(tmp_path: Path) -> None:
    """And says where they are if it has them."""
    where = str(tmp_path / "agent.db")
    with serving(where, tmp_path, "--no-inspector", "--embedder", "none") as process:
        assert "/inspect" not in process.log
        assert httpx.get(f"{process.address}/inspect", **PLAIN).status_code == 404


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["inspect", "nowhere.db"], "there is no file nowhere.db"),
        (["inspect", "a.db", "--db", "b.db"], "name one"),
        (["inspect", "https://memory.example"], "https://memory.example/inspect"),
        (["demo", "--inspect", "--postgres"], "leave --postgres out"),
        (["demo", "--inspect", "--db", "postgresql://host/name"], "a file of its own"),
    ],
    ids=["no file", "two stores", "a service", "a server", "somebody's database"],
)
def test_what_cannot_be_shown_is_told(arguments: list[str], told: str) -> None:
    """With what to do instead."""
    answer = CliRunner().invoke(app, arguments)
    assert answer.exit_code != 0
    assert told in " ".join(answer.output.split())
