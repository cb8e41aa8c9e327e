"""Roles that `incumbent db init` makes: what they can do, and what they cannot."""

from __future__ import annotations

from collections.abc import Mapping

import psycopg
import pytest
from psycopg import sql

import incumbent
from incumbent.stores.postgres import administration, schema
from incumbent.stores.postgres.local import LocalServer
from tests.conftest import QUICK
from tests.postgres import versions
from tests.postgres.conftest import Run
from tests.postgres.operating import as_role, ask, do, document


class TestLogin:
    def test_the_role_can_work_and_nothing_else(
        self, run: Run, strict: str, login: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A memory opens with it. No table can be made, changed or read past its fence."""
        monkeypatch.setenv("INCUMBENT_LOGIN_PASSWORD", "correct horse")
        out = run("db", "init", strict, "--partitions", "2", "--login", login).stdout
        assert f"made role {login}" in out
        mine = as_role(strict, login, "correct%20horse")
        with incumbent.open(mine, settings=QUICK) as memory:
            memory.session(user_id="alice", organization="acme").write("city", "Bern")
        run("db", "check", mine)
        for forbidden in (
            "CREATE TABLE incumbent.more (x int)",
            "CREATE TABLE public.more (x int)",
            "SELECT * FROM incumbent.facts_p0",
            "ALTER TABLE incumbent.facts DISABLE ROW LEVEL SECURITY",
            "TRUNCATE incumbent.facts",
            "DROP SCHEMA incumbent CASCADE",
            "CREATE ROLE another",
            "INSERT INTO incumbent.schema_versions VALUES (99)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                do(mine, forbidden)
        assert ask(mine, "SELECT count(*) FROM incumbent.facts") == [(0,)]

    def test_the_password_counts(
        self, run: Run, strict: str, login: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is the one that was given, and another one does not open the door."""
        monkeypatch.setenv("INCUMBENT_LOGIN_PASSWORD", "s3cret")
        run("db", "init", strict, "--partitions", "1", "--login", login)
        run("db", "check", "--quick", as_role(strict, login, "s3cret"))
        told = run("db", "check", "--quick", as_role(strict, login, "wrong"), code=3).stderr
        assert "check user and password" in told

    def test_a_second_run_leaves_the_password(
        self, run: Run, strict: str, login: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A role that is there is not asked a password for, and keeps the one it has."""
        monkeypatch.setenv("INCUMBENT_LOGIN_PASSWORD", "first")
        run("db", "init", strict, "--partitions", "1", "--login", login)
        monkeypatch.setenv("INCUMBENT_LOGIN_PASSWORD", "second")
        assert "left role" in run("db", "init", strict, "--login", login).stdout
        run("db", "check", "--quick", as_role(strict, login, "first"))

    def test_nothing_is_made_without_a_password(
        self, run: Run, guarded: LocalServer, strict: str, login: str
    ) -> None:
        """Where nobody can be asked, the message names the variable, and the database is as it
        was."""
        told = run("db", "init", strict, "--login", login, code=2).stderr
        assert "INCUMBENT_LOGIN_PASSWORD" in told
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

    @pytest.mark.parametrize("name", ["incumbent_app", "pg_monitor", "public", ""])
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
            env={"INCUMBENT_LOGIN_PASSWORD": "pw"},
        )
        assert any("connect to database" in line for line in document(out)["done"])
        run("db", "check", "--quick", as_role(strict, login, "pw"))


def test_an_administrator_needs_no_superuser(
    run: Run, guarded: LocalServer, strict: str, login: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who owns the database and may make roles can do all of it, and so can their application."""
    guarded.ask("DROP ROLE IF EXISTS incumbent_app")
    database = sql.Identifier(strict.rpartition("/")[2])
    guarded.ask("CREATE ROLE chief LOGIN CREATEROLE PASSWORD 'pw'")
    guarded.ask(sql.SQL("ALTER DATABASE {} OWNER TO chief").format(database))
    monkeypatch.setenv("INCUMBENT_LOGIN_PASSWORD", "pw")
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
    guarded.ask(sql.SQL("DROP ROLE {}, incumbent_app, chief").format(sql.Identifier(login)))


# Every function of ours that works with the rights of the owner, and a call of it.
CALLS = {
    "entry_at": "incumbent.entry_at(1)",
    "posted_under": "incumbent.posted_under(ARRAY['1xbern'], 10)",
    "organization_names": "incumbent.organization_names()",
    "key_of_id": "incumbent.key_of_id('k')",
    "key_organizations": "incumbent.key_organizations()",
}
ALL_CALLS = {**CALLS, "passages_under": "incumbent.passages_under(ARRAY['bern'], 10)"}
"""Those of an early version, and all."""
# What the functions name without saying where it is: types, and tables should one of them slip.
TYPES = ("text", "tsquery", "int8", "bool", "name")
TABLES = ("organizations", "verdicts", "entries", "api_keys", "passages")


def taken_over(mine: str, calls: Mapping[str, str] = CALLS) -> dict[str, set[str]]:
    """Who a caller becomes within each function that calls, by way of types of its own, something
    that the caller has made."""
    found: dict[str, set[str]] = {}
    for name, call in calls.items():
        with psycopg.connect(mine, autocommit=True) as connection:
            connection.execute("SET incumbent.organization = 'acme'")
            connection.execute("SET incumbent.everybody = 'on'")
            for table in TABLES:
                connection.execute(f"CREATE TEMP TABLE {table} (organization int8)".encode())
            connection.execute("CREATE TEMP TABLE became (who pg_catalog.text)")
            connection.execute("GRANT INSERT ON pg_temp.became TO PUBLIC")
            connection.execute(
                "CREATE FUNCTION pg_temp.spy(said anyelement) RETURNS pg_catalog.bool "
                "LANGUAGE plpgsql AS $$ BEGIN INSERT INTO pg_temp.became VALUES (current_user); "
                "RETURN true; END $$"
            )
            for kind in TYPES:
                connection.execute(
                    f"CREATE DOMAIN pg_temp.{kind} AS pg_catalog.{kind} "
                    f"CHECK (pg_temp.spy(VALUE))".encode()
                )
            connection.execute(f"SELECT * FROM {call}".encode())
            rows = connection.execute("SELECT who FROM pg_temp.became").fetchall()
            found[name] = {who for (who,) in rows}
    return found


class TestRightsOfTheOwner:
    @pytest.fixture
    def mine(self, strict: str, login: str) -> str:
        """The address for a login of the application, on the schema of an earlier version."""
        versions.make(strict, 2)
        do(strict, f"CREATE ROLE {login} LOGIN PASSWORD 'pw'", f"GRANT incumbent_app TO {login}")
        return as_role(strict, login, "pw")

    def test_are_not_had_by_way_of_what_a_caller_makes_for_its_session(
        self, strict: str, login: str, mine: str
    ) -> None:
        """A caller's own type in the place of a known one runs with the caller's rights or not at
        all, also where somebody lets the application make temporary things. Before the migration
        it ran with the owner's."""
        database = strict.rpartition("/")[2]
        do(strict, f"GRANT TEMPORARY ON DATABASE {database} TO PUBLIC")
        ((owner,),) = ask(strict, "SELECT current_user::text")
        assert owner in taken_over(mine)["entry_at"]
        assert owner in taken_over(mine)["posted_under"]
        do(strict, f"GRANT TEMPORARY ON DATABASE {database} TO PUBLIC")
        administration.migrate(strict)
        do(strict, f"GRANT TEMPORARY ON DATABASE {database} TO PUBLIC")
        assert taken_over(mine, ALL_CALLS) == {name: set() for name in ALL_CALLS}

    def test_every_function_that_has_them_looks_at_such_things_last(self, strict: str) -> None:
        """Also one that is added later; and nobody but the application may call any of ours."""
        versions.make(strict, schema.latest())
        functions = ask(
            strict,
            "SELECT proname::text, prosecdef, coalesce(proconfig, '{}'), coalesce(has.everybody, "
            "proacl IS NULL) FROM pg_proc, LATERAL (SELECT bool_or(grantee = 0) AS everybody FROM "
            "aclexplode(proacl)) AS has WHERE pronamespace = 'incumbent'::regnamespace",
        )
        path = "search_path=pg_catalog, incumbent, pg_temp"
        assert {name for name, definer, *_ in functions if definer} == set(ALL_CALLS)
        assert [name for name, _, config, _ in functions if config != [path]] == []
        assert [name for name, *_, everybody in functions if everybody] == []

    def test_nothing_can_be_made_for_a_session_at_all(
        self, run: Run, strict: str, login: str, mine: str
    ) -> None:
        """Bringing the schema up to date takes the right to it away; check tells where it is
        given back, or where whoever migrates does not own the database."""
        database = strict.rpartition("/")[2]
        do(strict, f"GRANT TEMPORARY ON DATABASE {database} TO PUBLIC")
        administration.migrate(strict)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            do(mine, "CREATE TEMP TABLE facts (value text)")
        assert administration.check(strict).findings == []
        do(strict, f"GRANT TEMPORARY ON DATABASE {database} TO PUBLIC")
        do(
            strict,
            "ALTER FUNCTION incumbent.entry_at(bigint) SET search_path = pg_catalog, incumbent",
        )
        findings = document(run("db", "check", strict, "--json", code=1))["findings"]
        assert len(findings) == 2
        for finding in findings:
            do(strict, finding.partition("run: ")[2])
        assert administration.check(strict).findings == []
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            do(mine, "CREATE TEMP TABLE facts (value text)")

    @pytest.mark.slow
    def test_who_owns_the_schema_alone_migrates_it_and_is_told_of_the_rest(
        self, login: str, strict: str
    ) -> None:
        """On a server that somebody else runs, the database may be theirs."""
        do(strict, f"CREATE ROLE {login} LOGIN PASSWORD 'pw'")
        versions.make(strict, 1)  # makes the role of the application, if need be
        do(strict, "DROP SCHEMA incumbent CASCADE", f"GRANT incumbent_app TO {login}")
        database = strict.rpartition("/")[2]
        do(strict, f"GRANT TEMPORARY ON DATABASE {database} TO PUBLIC")
        do(strict, f"GRANT CREATE ON DATABASE {database} TO {login}")
        owner = versions.make(as_role(strict, login, "pw"), 2)
        assert administration.migrate(owner).after == schema.latest()
        [finding] = administration.check(owner).findings
        assert "let the owner of the database run: REVOKE TEMPORARY" in finding
        do(strict, finding.partition("run: ")[2])
        assert administration.check(owner).findings == []
