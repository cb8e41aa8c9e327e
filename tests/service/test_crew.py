"""Several processes at one address: each answers, and one looks after them."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import psutil  # type: ignore[import-untyped]
import pytest

from incumbent.cli.cores import cores, memory, usual_processes
from tests.patience import PATIENCE
from tests.service.conftest import ON_DISK
from tests.service.running import PLAIN, PROGRAM, Process, environment, post, serving
from tests.service.test_lifecycle import Load, check_whole, where_of

TWO = ("--processes=2", "--embedder=none")


def hands_of(running: Process) -> list[psutil.Process]:
    """The processes that answer."""
    return [child for child in psutil.Process(running.process.pid).children() if _answers(child)]


def _answers(child: psutil.Process) -> bool:
    """Whether it is a process that answers, and lives: one may end while it is looked at."""
    try:
        alive = child.status() != psutil.STATUS_ZOMBIE
        return alive and "spawn_main" in " ".join(child.cmdline())
    except psutil.NoSuchProcess:
        return False


def until(happened: Callable[[], bool], what: str) -> None:
    ends = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < ends, what
        time.sleep(0.05)


def answered(address: str, path: str) -> float:
    """How many requests for a path were answered, as the metrics say."""
    with httpx.Client(**PLAIN, timeout=PATIENCE) as client:
        told = client.get(f"{address}/metrics").text
    found = re.findall(rf'^incumbent_http_requests_total{{path="{path}".*}} (\S+)$', told, re.M)
    return sum(map(float, found))


def test_what_one_wrote_another_reads_and_all_are_counted(tmp_path: Path) -> None:
    """Each call may be answered by another process: the facts and the metrics are the same."""
    with serving(str(tmp_path / "agent.db"), tmp_path, *TWO) as running:
        who = {"session": {"user_id": "alice"}}
        for number in range(20):
            post(running.address, "write", {**who, "key": "count", "value": number})
            told = post(running.address, "current", {**who, "key": "count"}).json()
            assert told == number
        assert answered(running.address, "/v1/current") == 20
        before = {hand.pid: hand.cpu_times().user for hand in hands_of(running)}
        assert len(before) == 2

        def both_worked() -> bool:
            for _ in range(50):
                post(running.address, "current", {**who, "key": "count"})
            return all(h.cpu_times().user > before[h.pid] for h in hands_of(running))

        until(both_worked, "one is idle")


@pytest.mark.slow
@pytest.mark.parametrize("store", ON_DISK)
def test_one_that_is_killed_under_load_is_replaced(
    store: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Where a process dies the others go on, another one begins, and nothing told is lost."""
    where = where_of(store, request, tmp_path)
    with serving(where, tmp_path, *TWO) as running:
        with Load(running.address) as load:
            load.wait_for(40)
            killed = hands_of(running)[0]
            killed.kill()
            until(
                lambda: len({h.pid for h in hands_of(running)} - {killed.pid}) == 2,
                "nobody took its place",
            )
        who = {"session": {"user_id": "alice"}}
        assert post(running.address, "write", {**who, "key": "k", "value": 1}).status_code == 200
        assert running.stop() == 0
        assert "another begins" in running.log
    check_whole(where, load)


@pytest.mark.slow
def test_a_signal_stops_all_of_them(tmp_path: Path) -> None:
    """Told to stop, it stops those that answer, after the calls under way."""
    with serving(str(tmp_path / "agent.db"), tmp_path, *TWO) as running:
        hands = hands_of(running)
        with Load(running.address) as load:
            load.wait_for(20)
            assert running.stop() == 0
        assert not any(hand.is_running() for hand in hands)
    check_whole(str(tmp_path / "agent.db"), load)


def test_those_that_answer_do_not_outlive_the_one_that_looks_after_them(tmp_path: Path) -> None:
    """Killed, it can stop nobody; they stop by themselves, and the port is free."""
    with serving(str(tmp_path / "agent.db"), tmp_path, *TWO) as running:
        hands = hands_of(running)
        running.kill()
        until(lambda: not any(hand.is_running() for hand in hands), "somebody still answers")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux deals connections out")
def test_there_is_one_for_each_core_if_nobody_says(tmp_path: Path) -> None:
    """And one that answers itself where a memory cannot be shared, or where that is said."""
    file = str(tmp_path / "agent.db")
    many = usual_processes(file)
    for where, options, expected in (
        (file, (), many if many > 1 else 0),
        (file, ("--processes=1",), 0),
        (":memory:", (), 0),
    ):
        with serving(where, tmp_path, "--embedder=none", *options, usual=True) as running:
            who = {"session": {"user_id": "alice"}, "key": "k"}
            assert post(running.address, "current", who).status_code == 200
            assert len(hands_of(running)) == expected
            assert running.stop() == 0


def test_a_container_has_the_cores_and_the_memory_that_its_limits_say(tmp_path: Path) -> None:
    """No more than that, whatever the machine has."""
    machine, room = cores(tmp_path), memory(tmp_path)  # no limits there
    assert machine >= 1
    (tmp_path / "cpu.max").write_text("50000 100000\n", encoding="ascii")
    (tmp_path / "memory.max").write_text("1000\n", encoding="ascii")
    assert (cores(tmp_path), memory(tmp_path)) == (1, 1000)
    for name in ("cpu.max", "memory.max"):
        (tmp_path / name).write_text("max 100000\n", encoding="ascii")
    assert (cores(tmp_path), memory(tmp_path)) == (machine, room)


def refused(tmp_path: Path, *options: str) -> str:
    """What `incumbent serve` says that does not come up."""
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, "serve", *options],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 2, ended.stderr
    return ended.stderr


def test_bad_numbers_and_stores_are_refused(tmp_path: Path) -> None:
    """Less than one process, and a memory that only one process can have."""
    assert "from 1 on, not 0" in refused(tmp_path, "--processes=0")
    said = refused(tmp_path, "--processes=2", "--db=:memory:")
    assert "several processes" in said


def test_a_port_that_is_taken_is_refused(tmp_path: Path) -> None:
    """Somebody else's port is not shared, and the message says what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refused(tmp_path, f"--port={port}", *TWO)
        assert f"port {port}" in said
        assert "choose another --port" in said


@pytest.mark.slow
def test_a_port_that_another_crew_has_is_refused(tmp_path: Path) -> None:
    """Two crews would share the callers between their stores."""
    with serving(str(tmp_path / "agent.db"), tmp_path, *TWO) as running:
        said = refused(tmp_path, f"--port={running.port}", "--db=other.db", *TWO)
        assert "choose another --port" in said
        alone = refused(tmp_path, f"--port={running.port}", "--db=other.db", "--embedder=none")
        assert "choose another --port" in alone
