"""Servers that refuse, lack something, or run out of it: each a clear error that names the fix."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

import incumbent
from incumbent.stores.postgres import administration, schema
from incumbent.stores.postgres.errors import refusal
from incumbent.stores.postgres.local import LocalServer
from tests.conftest import QUICK
from tests.postgres.conftest import Run

NOBODY = 65534


@pytest.fixture
def database(guarded: LocalServer) -> str:
    """The name of a new database without the schema."""
    name = f"bad_{secrets.token_hex(4)}"
    guarded.ask(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return name


@pytest.fixture
def address(guarded: LocalServer, database: str) -> str:
    """The address of a new database with the schema."""
    url = guarded.tcp_url(database)
    administration.init(url, partitions=1)
    return url


@pytest.fixture
def plain(guarded: LocalServer) -> Iterator[str]:
    """A role that can log in, with its name for a password."""
    name = f"plain_{secrets.token_hex(4)}"
    made = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
    guarded.ask(made.format(sql.Identifier(name), sql.Literal(name)))
    yield name
    guarded.ask(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


def as_role(url: str, role: str, password: str | None = None) -> str:
    return re.sub(r"//[^@]*@", f"//{role}:{role if password is None else password}@", url)


def refused(url: str, kind: type[incumbent.IncumbentError] = incumbent.StoreError) -> str:
    """What opening a memory there is refused with."""
    with pytest.raises(kind) as caught:
        incumbent.open(url, settings=QUICK)
    return str(caught.value)


class TestWhoMayComeIn:
    def test_a_wrong_password(self, address: str) -> None:
        """The message says where a password is looked for, and not what it is."""
        told = refused(as_role(address, "postgres", "wr0ng"))
        assert "check user and password in the address, in PGPASSWORD or in ~/.pgpass" in told
        assert "wr0ng" not in told

    def test_no_password(self, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """The same where there is none, and PGPASSWORD helps."""
        password = re.findall(r"//postgres:([^@]*)@", address)[0]
        without = address.replace(f":{password}@", "@")
        monkeypatch.delenv("PGPASSWORD", raising=False)
        assert "PGPASSWORD" in refused(without)
        monkeypatch.setenv("PGPASSWORD", password)
        incumbent.open(without, settings=QUICK).close()

    def test_a_role_that_does_not_exist(self, guarded: LocalServer) -> None:
        """The message names the role, and says to look at the user."""
        told = refused(guarded.url("postgres", user="nobody_of_that_name"))
        assert 'role "nobody_of_that_name" does not exist' in told
        assert "check the user" in told

    def test_a_database_that_does_not_exist(self, address: str) -> None:
        """The message names the database, and how to make it."""
        told = refused(f"{address}_not")
        assert "does not exist" in told
        assert "createdb" in told

    def test_a_database_that_is_closed_to_the_role(
        self, guarded: LocalServer, address: str, database: str, plain: str
    ) -> None:
        """Nobody is told to make a database that is there."""
        closing = sql.SQL("REVOKE CONNECT ON DATABASE {} FROM PUBLIC")
        guarded.ask(closing.format(sql.Identifier(database)))
        told = refused(as_role(address, plain))
        assert "createdb" not in told
        assert "incumbent db init --login" in told

    def test_a_role_that_is_not_of_the_application(self, address: str, plain: str) -> None:
        """A role that was not let in is told who can let it in."""
        assert "incumbent db init --login" in refused(as_role(address, plain))

    def test_a_role_that_may_not_make_the_schema(
        self, guarded: LocalServer, database: str, plain: str
    ) -> None:
        """An empty database is made ready by an administrator, and stays empty until then."""
        told = refused(as_role(guarded.tcp_url(database), plain))
        assert "let an administrator run: incumbent db init" in told
        assert administration.version_of(guarded.tcp_url(database)) == 0


class TestWhatItLacks:
    def test_no_extension_is_needed(self, guarded: LocalServer, database: str) -> None:
        """A server that has none but its own language is enough for everything."""
        hiding = sql.SQL("ALTER DATABASE {} SET extension_control_path = '/nowhere'")
        guarded.ask(hiding.format(sql.Identifier(database)))
        with incumbent.open(guarded.tcp_url(database), settings=QUICK) as memory:
            alice = memory.session(user_id="alice", organization="acme")
            alice.write("city", "Bern")
            assert "Bern" in alice.context("which city?").text
        with psycopg.connect(guarded.tcp_url(database)) as connection:
            assert connection.execute("SELECT extname FROM pg_extension").fetchall() == [
                ("plpgsql",)
            ]

    def test_an_older_server(self, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """A server older than what is needed is refused with both versions."""
        monkeypatch.setattr(schema, "OLDEST_SERVER", 990_000)
        told = refused(address)
        assert re.search(r"is PostgreSQL 1\d; Incumbent needs 99 or newer", told)
        assert "needs 99" in administration.check(address).findings[0]

    def test_encryption(self, address: str) -> None:
        """A server without TLS is no place for who insists on it."""
        told = refused(f"{address}?sslmode=require")
        assert "SSL" in told
        assert "check sslmode" in told

    def test_nobody_there(self) -> None:
        """No server, or no machine of that name, even one called database."""
        for place in ("127.0.0.1:1", "database.invalid"):
            told = refused(f"postgresql://u@{place}/d", incumbent.StoreUnavailable)
            assert "is it running, and is the address right?" in told

    def test_a_server_that_does_not_answer_in_time(self) -> None:
        """connect_timeout of the address holds: who accepts and says nothing is not waited for."""
        with socket.create_server(("127.0.0.1", 0)) as silent:
            port = silent.getsockname()[1]
            refused(
                f"postgresql://u@127.0.0.1:{port}/d?connect_timeout=2", incumbent.StoreUnavailable
            )


class TestWhatItIsSetTo:
    def test_reading_only(self, guarded: LocalServer, address: str, database: str) -> None:
        """A database that is set to read only is read, and a write says so."""
        with incumbent.open(address, settings=QUICK) as memory:
            memory.session(user_id="alice").write("city", "Bern")
        setting = sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on")
        guarded.ask(setting.format(sql.Identifier(database)))
        with incumbent.open(address, settings=QUICK) as memory:
            alice = memory.session(user_id="alice")
            assert alice.current("city") == "Bern"
            with pytest.raises(incumbent.ReadOnlyStore, match="address of the primary"):
                alice.write("city", "Chur")
            assert alice.current("city") == "Bern"

    def test_a_replica(self, guarded: LocalServer, address: str, database: str) -> None:
        """A replica is read, and a write names the primary and read_url."""
        with incumbent.open(address, settings=QUICK) as memory:
            memory.session(user_id="alice").write("city", "Bern")
        folder = guarded.folder.with_name(f"{guarded.folder.name}-standby")
        copy = guarded.replica(folder)
        try:
            with incumbent.open(copy.tcp_url(database), settings=QUICK) as memory:
                alice = memory.session(user_id="alice")
                assert alice.current("city") == "Bern"
                with pytest.raises(incumbent.ReadOnlyStore, match="read_url"):
                    alice.write("city", "Chur")
        finally:
            copy.stop()
            shutil.rmtree(folder)

    def test_an_empty_replica(self, guarded: LocalServer, database: str) -> None:
        """A schema cannot be made on one, and that is what the message says."""
        setting = sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on")
        guarded.ask(setting.format(sql.Identifier(database)))
        refused(guarded.tcp_url(database), incumbent.ReadOnlyStore)


class TestWhatItRunsOutOf:
    def test_connections_of_a_role(self, guarded: LocalServer, address: str, plain: str) -> None:
        """A role that may have none is told to raise its limit."""
        limit = sql.SQL("ALTER ROLE {} CONNECTION LIMIT 0")
        guarded.ask(limit.format(sql.Identifier(plain)))
        told = refused(as_role(address, plain), incumbent.StoreBusy)
        assert "limit of the role" in told

    def test_connections_of_the_server(self, address: str) -> None:
        """All taken: the message names max_connections and pool_size, and it passes."""
        with ExitStack() as stack:
            with suppress(psycopg.OperationalError):
                for _ in range(50):
                    stack.enter_context(psycopg.connect(address))
            told = refused(address, incumbent.StoreBusy)
            assert "max_connections" in told
            assert "pool_size" in told
        incumbent.open(address, settings=QUICK).close()

    def test_connections_while_it_works(self, address: str) -> None:
        """A memory that cannot get one more says so for that call, and works on afterwards."""
        with incumbent.open(address, settings=QUICK) as memory:
            alice = memory.session(user_id="alice")
            alice.write("city", "Bern")
            with ExitStack() as stack:
                with suppress(psycopg.OperationalError):
                    for _ in range(50):
                        stack.enter_context(psycopg.connect(address))
                with (
                    memory.store.read("default") as reader,  # which has the one that was idle
                    pytest.raises(incumbent.StoreBusy, match="max_connections"),
                ):
                    assert reader.head()[0] == 1
                    alice.write("city", "Chur")
            alice.write("city", "Chur")
            assert alice.current("city") == "Chur"

    def test_locks(self, guarded: LocalServer, database: str) -> None:
        """More partitions than a small server can make at once: the message names both ways out,
        and nothing is left of the attempt."""
        url = guarded.tcp_url(database)
        with pytest.raises(incumbent.StoreError, match="ask for fewer, or raise max_locks_per"):
            administration.init(url, partitions=128)
        assert administration.version_of(url) == 0
        assert administration.init(url, partitions=2).partitions == 2

    @pytest.fixture
    def small_disk(self) -> Iterator[Path]:
        """A file system of sixteen megabytes that the server can write to; needs root."""
        if os.getuid() != 0 or shutil.which("mount") is None:
            pytest.skip("mounting a small disk needs root")
        disk = Path(tempfile.mkdtemp(prefix="incumbent-test-"))
        disk.chmod(0o755)
        options = f"size=16m,uid={NOBODY},gid={NOBODY},mode=0700"
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)],
            capture_output=True,
            check=False,
        )
        if mounted.returncode != 0:
            disk.rmdir()
            pytest.skip(f"cannot mount a small disk: {mounted.stderr.decode().strip()}")
        yield disk
        subprocess.run(["umount", str(disk)], check=True)
        disk.rmdir()

    def test_room_on_the_disk(self, guarded: LocalServer, database: str, small_disk: Path) -> None:
        """A full disk says so, keeps what was acknowledged, and nothing else; with room again, it
        goes on."""
        space = small_disk / "space"
        space.mkdir(mode=0o700)
        os.chown(space, NOBODY, NOBODY)
        ballast = small_disk / "ballast"
        ballast.write_bytes(b"\x00" * 4_000_000)
        place = sql.SQL("CREATE TABLESPACE small LOCATION {}").format(sql.Literal(str(space)))
        guarded.ask(place)
        name = sql.Identifier(database)
        guarded.ask(sql.SQL("ALTER DATABASE {} SET default_tablespace = small").format(name))
        url = guarded.tcp_url(database)
        administration.init(url, partitions=1)
        written = 0
        try:
            with incumbent.open(url, settings=QUICK) as memory:
                alice = memory.session(user_id="alice", organization="acme")
                with pytest.raises(incumbent.StoreFull, match="Make room on the disk"):
                    while written < 2_000:
                        alice.write(f"page {written}", secrets.token_hex(20_000))
                        written += 1
                assert written > 3
                assert len(alice.facts()) == written
                assert memory.store.check() == []
                ballast.unlink()
                alice.write("again", "there is room")
                assert alice.current("again") == "there is room"
                assert memory.store.check() == []
        finally:
            guarded.ask(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))
            guarded.ask("DROP TABLESPACE small")


class TestAddressesThatAreNone:
    @pytest.mark.parametrize(
        ("tail", "words"),
        [
            ("?nonsense=1", "cannot be read"),
            ("?sslmode=perhaps", "check sslmode"),
            ("?connect_timeout=soon", "mend that part of the address"),
        ],
    )
    def test_are_refused_with_how_one_looks(self, address: str, tail: str, words: str) -> None:
        """The message quotes what is wrong, and no password."""
        password = re.findall(r"//postgres:([^@]*)@", address)[0]
        told = refused(address + tail, incumbent.IncumbentError)
        assert words in told
        assert password not in told

    def test_a_broken_one_does_not_show_its_password(self, run: Run) -> None:
        """What cannot be taken apart is not quoted whole."""
        told = run("current", "x", "--db", "postgresql://u:hush@[::1/d", code=2).stderr
        assert "cannot be read" in told
        assert "hush" not in told


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        (
            'FATAL:  no pg_hba.conf entry for host "10.0.0.1", user "u", database "d", no '
            "encryption",
            incumbent.StoreError,
            "sslmode=require",
        ),
        (
            'FATAL:  no pg_hba.conf entry for host "10.0.0.1", user "u", database "d", SSL '
            "encryption",
            incumbent.StoreError,
            "pg_hba.conf",
        ),
        ("SSL error: certificate verify failed", incumbent.StoreError, "sslrootcert"),
        (
            'root certificate file "/x/root.crt" does not exist',
            incumbent.StoreError,
            "sslrootcert",
        ),
        ("FATAL:  the database system is starting up", incumbent.StoreUnavailable, "in a moment"),
        ("FATAL:  the database system is shutting down", incumbent.StoreUnavailable, "in a moment"),
        ("FATAL:  etwas anderes", incumbent.StoreUnavailable, "is it running"),
    ],
)
def test_what_a_server_says_is_understood(
    said: str, kind: type[incumbent.IncumbentError], words: str
) -> None:
    """Refusals as servers word them, for those that a server here cannot be brought to."""
    error = refusal(psycopg.OperationalError(f"connection failed: {said}"), "postgresql://h/d")
    assert type(error) is kind
    assert words in str(error)
