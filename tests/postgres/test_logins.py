"""Roles that `tenure db init` makes: what they can do, and what they cannot."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import sql

import tenure
from tenure.stores.postgres import administration
from tenure.stores.postgres.local import LocalServer
from tests.conftest import QUICK
from tests.postgres.conftest import Run
from tests.postgres.operating import as_role, ask, do, document


class TestLogin:
    def test_the_role_can_work_and_nothing_else(
        self, run: Run, strict: str, login: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A memory opens with it. No table can be made, changed or read past its fence."""
        monkeypatch.setenv("TENURE_LOGIN_PASSWORD", "correct horse")
        out = run("db", "init", strict, "--partitions", "2", "--login", login).stdout
        assert f"made role {login}" in out
        mine = as_role(strict, login, "correct%20horse")
        with tenure.open(mine, settings=QUICK) as memory:
            memory.session(user_id="alice", organization="acme").write("city", "Bern")
        run("db", "check", mine)
        for forbidden in (
            "CREATE TABLE tenure.more (x int)",
            "CREATE TABLE public.more (x int)",
            "SELECT * FROM tenure.facts_p0",
            "ALTER TABLE tenure.facts DISABLE ROW LEVEL SECURITY",
            "TRUNCATE tenure.facts",
            "DROP SCHEMA tenure CASCADE",
            "CREATE ROLE another",
            "INSERT INTO tenure.schema_versions VALUES (99)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                do(mine, forbidden)
        assert ask(mine, "SELECT count(*) FROM tenure.facts") == [(0,)]

    def test_the_password_counts(
        self, run: Run, strict: str, login: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is the one that was given, and another one does not open the door."""
        monkeypatch.setenv("TENURE_LOGIN_PASSWORD", "s3cret")
        run("db", "init", strict, "--partitions", "1", "--login", login)
        run("db", "check", "--quick", as_role(strict, login, "s3cret"))
        told = run("db", "check", "--quick", as_role(strict, login, "wrong"), code=3).stderr
        assert "check user and password" in told

    def test_a_second_run_leaves_the_password(
        self, run: Run, strict: str, login: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A role that is there is not asked a password for, and keeps the one it has."""
        monkeypatch.setenv("TENURE_LOGIN_PASSWORD", "first")
        run("db", "init", strict, "--partitions", "1", "--login", login)
        monkeypatch.setenv("TENURE_LOGIN_PASSWORD", "second")
        assert "left role" in run("db", "init", strict, "--login", login).stdout
        run("db", "check", "--quick", as_role(strict, login, "first"))

    def test_nothing_is_made_without_a_password(
        self, run: Run, guarded: LocalServer, strict: str, login: str
    ) -> None:
        """Where nobody can be asked, the message names the variable, and the database is as it
        was."""
        told = run("db", "init", strict, "--login", login, code=2).stderr
        assert "TENURE_LOGIN_PASSWORD" in told
        assert administration.version_of(strict) == 0
        assert not guarded.ask("SELECT 1 FROM pg_roles WHERE rolname = %s", (login,))

    def test_a_role_may_have_no_password(
        self, run: Run, guarded: LocalServer, strict: str, login: str
    ) -> None:
        """For those whom the server knows in another way."""
        run("db", "init", strict, "--partitions", "1", "--login", login, "--no-password")
        asked = "SELECT rolpassword FROM pg_authid WHERE rolname = %s"
        assert guarded.ask(asked, (login,)) == [(None,)]

    def test_the_server_never_sees_the_password(
        self, guarded: LocalServer, strict: str, login: str
    ) -> None:
        """What is sent is already hashed, so that no log of statements can have it."""
        guarded.ask("ALTER SYSTEM SET log_statement = 'all'")
        guarded.ask("SELECT pg_reload_conf()")
        administration.init(strict, partitions=1, login=login, password=lambda: "hunter2-unique")
        guarded.ask("ALTER SYSTEM RESET log_statement")
        guarded.ask("SELECT pg_reload_conf()")
        log = (guarded.folder / "log").read_text()
        assert f"CREATE ROLE {login}" in log.replace('"', "")
        assert "hunter2-unique" not in log

    @pytest.mark.parametrize(
        ("made", "told"),
        [
            ("SUPERUSER LOGIN", "SUPERUSER"),
            ("BYPASSRLS LOGIN", "BYPASSRLS"),
            ("CREATEROLE LOGIN", "CREATEROLE"),
            ("LOGIN IN ROLE pg_read_all_data", "member of pg_read_all_data"),
            ("NOLOGIN", "no LOGIN"),
        ],
    )
    def test_refuses_a_role_that_may_do_more(
        self, run: Run, guarded: LocalServer, strict: str, login: str, made: str, told: str
    ) -> None:
        """A role of another purpose does not become the way in."""
        guarded.ask(sql.SQL("CREATE ROLE {} " + made).format(sql.Identifier(login)))
        result = run("db", "init", strict, "--login", login, "--no-password", code=2)
        assert told in result.stderr
        assert administration.version_of(strict) == 0

    @pytest.mark.parametrize("name", ["tenure_app", "pg_monitor", "public", ""])
    def test_refuses_a_name_that_is_taken_by_the_system(
        self, run: Run, strict: str, name: str
    ) -> None:
        """These have a meaning of their own."""
        run("db", "init", strict, "--login", name, "--no-password", code=2)

    def test_lets_it_in_where_the_database_is_closed_to_all(
        self, run: Run, guarded: LocalServer, strict: str, login: str
    ) -> None:
        """Where nobody may connect by default, the application may."""
        database = strict.rpartition("/")[2]
        do(strict, f"REVOKE CONNECT ON DATABASE {database} FROM PUBLIC")
        out = run(
            *("db", "init", strict, "--partitions", "1", "--login", login, "--json"),
            env={"TENURE_LOGIN_PASSWORD": "pw"},
        )
        assert any("connect to database" in line for line in document(out)["done"])
        run("db", "check", "--quick", as_role(strict, login, "pw"))


def test_an_administrator_needs_no_superuser(
    run: Run, guarded: LocalServer, strict: str, login: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who owns the database and may make roles can do all of it, and so can their application."""
    guarded.ask("DROP ROLE IF EXISTS tenure_app")
    database = sql.Identifier(strict.rpartition("/")[2])
    guarded.ask("CREATE ROLE chief LOGIN CREATEROLE PASSWORD 'pw'")
    guarded.ask(sql.SQL("ALTER DATABASE {} OWNER TO chief").format(database))
    monkeypatch.setenv("TENURE_LOGIN_PASSWORD", "pw")
    mine = as_role(strict, "chief", "pw")
    run("db", "init", mine, "--partitions", "2", "--login", login)
    run("db", "init", mine)
    for role in ("chief", login):
        run("write", "city", role, "--db", as_role(strict, role, "pw"))
        run("db", "check", as_role(strict, role, "pw"))
    assert document(run("db", "vacuum", mine, "--json"))["skipped"] == []
    assert run("current", "city", "--db", mine).stdout == f"{login}\n"
    guarded.ask(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(database))
    guarded.ask(sql.SQL("CREATE DATABASE {}").format(database))  # for who cleans up
    guarded.ask(sql.SQL("DROP ROLE {}, tenure_app, chief").format(sql.Identifier(login)))
