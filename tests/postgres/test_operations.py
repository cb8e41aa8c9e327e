"""Running a database from the command line: db init, migrate, check, stats, vacuum, doctor."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

import incumbent
from incumbent.stores.postgres import administration, schema, upkeep
from incumbent.stores.postgres.local import LocalServer
from tests.conftest import QUICK
from tests.patience import PATIENCE
from tests.postgres.conftest import Run
from tests.postgres.operating import as_role, ask, do, document
from tests.servers import Databases

ROOT = Path(__file__).parents[2]


@pytest.fixture
def address(databases: Databases) -> str:
    return databases.empty()


class TestInit:
    def test_makes_what_is_missing_and_says_so(self, run: Run, bare: str) -> None:
        """A new database gets schema and role, each of them told."""
        out = run("db", "init", bare, "--partitions", "3").stdout
        assert f"schema version {schema.latest()}, 3 partitions" in out
        assert f"made schema incumbent, version {schema.latest()}, in 3 partitions" in out
        assert run("db", "check", bare).stdout.endswith("healthy\n")

    def test_can_be_run_again(self, run: Run, bare: str) -> None:
        """A second run changes nothing and says that nothing was to do."""
        made = document(run("db", "init", bare, "--partitions", "2", "--json"))
        assert (made["before"], made["after"], made["partitions"]) == (0, schema.latest(), 2)
        assert "nothing, all was there" in run("db", "init", bare).stdout
        again = document(run("db", "init", bare, "--json"))
        assert (again["before"], again["done"]) == (again["after"], [])

    def test_mends_what_the_application_lacks(self, run: Run, bare: str) -> None:
        """A privilege that somebody took away is given back."""
        run("db", "init", bare, "--partitions", "1")
        do(bare, "REVOKE ALL ON incumbent.organizations FROM incumbent_app")
        assert "cannot read" in run("db", "check", "--quick", bare, code=1).stdout
        run("db", "init", bare)
        run("db", "check", "--quick", bare)

    @pytest.mark.parametrize("count", ["0", "-1", "129"])
    def test_refuses_a_number_of_partitions_that_makes_no_sense(
        self, run: Run, bare: str, count: str
    ) -> None:
        """The message names the bounds, and nothing is made."""
        result = run("db", "init", bare, f"--partitions={count}", code=2)
        assert "from 1 to 128" in result.stderr
        assert administration.version_of(bare) == 0

    def test_refuses_another_number_of_partitions_later(self, run: Run, bare: str) -> None:
        """Partitions are chosen once; the message says what to do instead."""
        run("db", "init", bare, "--partitions", "2")
        run("db", "init", bare, "--partitions", "2")
        told = run("db", "init", bare, "--partitions", "4", code=2).stderr
        assert "in 2 partitions" in told
        assert "incumbent copy" in told

    def test_refuses_what_is_no_database(self, run: Run) -> None:
        """A path, another kind of address, or nothing at all: the message shows how one looks."""
        for given in (["agent.db"], ["mysql://host/db"], []):
            told = run("db", "init", *given, code=2).stderr
            assert "postgresql://user@host/database" in told

    def test_refuses_a_schema_of_somebody_else(self, run: Run, bare: str) -> None:
        """A schema of the same name that is not ours is left alone."""
        do(bare, "CREATE SCHEMA incumbent", "CREATE TABLE incumbent.facts (note text)")
        assert "did not make" in run("db", "init", bare, code=3).stderr
        assert ask(bare, "SELECT count(*) FROM incumbent.facts") == [(0,)]


class TestMigrate:
    @pytest.fixture
    def newer(self, tmp_path: Path) -> Path:
        """The sources of an Incumbent of the future, which knows one more migration."""
        copy = tmp_path / "newer"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(
            ROOT / "src" / "incumbent", copy / "incumbent", ignore=ignored, copy_function=os.symlink
        )
        folder = copy / "incumbent" / "stores" / "postgres" / "migrations"
        script = "-- serves: 9999\nCREATE TABLE more (note text);\n"
        (folder / "9999_more.sql").write_text(script)
        return copy

    def future(self, newer: Path, *arguments: str) -> str:
        program = "from incumbent.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", program, "db", *arguments],
            env={**os.environ, "PYTHONPATH": str(newer)},
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=True,
        )
        return done.stdout

    def test_tells_that_all_is_up_to_date(self, run: Run, bare: str) -> None:
        """There is nothing to do on a database that was just made."""
        run("db", "init", bare, "--partitions", "1")
        assert run("db", "migrate", bare).stdout.startswith("up to date")
        assert document(run("db", "migrate", bare, "--json"))["steps"] == []

    def test_brings_an_older_database_up_to_date(self, run: Run, bare: str, newer: Path) -> None:
        """A trial shows what would run and changes nothing; then it runs, before and after told."""
        run("db", "init", bare, "--partitions", "1")
        latest = schema.latest()
        out = self.future(newer, "migrate", bare, "--dry-run")
        assert f"schema version {latest} to 9999" in out
        assert "9999_more" in out
        assert administration.version_of(bare) == latest
        told = self.future(newer, "migrate", bare)
        assert told.startswith("migrated")
        assert f"schema version {latest} to 9999" in told
        assert administration.version_of(bare) == 9999
        assert "healthy" in self.future(newer, "check", bare)
        self.and_the_old_one_says_to_upgrade(run, bare)

    def and_the_old_one_says_to_upgrade(self, run: Run, bare: str) -> None:
        for arguments in (["migrate", bare], ["init", bare]):
            assert "pip install --upgrade" in run("db", *arguments, code=3).stderr
        assert "pip install --upgrade" in run("db", "check", bare, code=1).stdout

    def test_refuses_a_database_without_the_schema(self, run: Run, bare: str) -> None:
        """Migrating makes nothing from nothing: that is what init is for."""
        assert "incumbent db init" in run("db", "migrate", bare, code=3).stderr

    def test_tells_what_to_do_about_a_database_of_the_former_name(
        self, run: Run, bare: str
    ) -> None:
        """No new schema is made beside the old one, which would look as if all were lost."""
        do(bare, "CREATE SCHEMA tenure", "CREATE TABLE tenure.schema_versions (version integer)")
        for arguments in (["db", "init", bare], ["db", "migrate", bare], ["facts", "--db", bare]):
            assert "incumbent import" in run(*arguments, code=3).stderr
        assert ask(bare, "SELECT to_regnamespace('incumbent')") == [(None,)]


class TestCheck:
    def test_finds_nothing_on_a_sound_database(self, run: Run, address: str) -> None:
        """With facts in it, all is well, in words and as JSON."""
        run("write", "city", "Bern", "--db", address)
        assert run("db", "check", address).stdout.endswith("healthy\n")
        told = document(run("db", "check", address, "--json"))
        assert (told["healthy"], told["findings"], told["schema_version"]) == (
            True,
            [],
            schema.latest(),
        )

    @pytest.mark.parametrize(
        ("broken", "told"),
        [
            ("GRANT SELECT ON incumbent.facts_p0 TO incumbent_app", "partition facts_p0"),
            ("GRANT SELECT ON incumbent.verdicts_p0 TO PUBLIC", "by PUBLIC"),
            ("ALTER TABLE incumbent.facts DISABLE ROW LEVEL SECURITY", "no row-level security"),
            ("CREATE POLICY wide ON incumbent.facts USING (true)", "policy wide"),
            ("GRANT TRUNCATE ON incumbent.facts TO incumbent_app", "TRUNCATE"),
            (
                "GRANT EXECUTE ON FUNCTION incumbent.organization_names TO PUBLIC",
                "organization_names",
            ),
        ],
    )
    def test_finds_a_hole_in_the_fence_and_names_what_closes_it(
        self, run: Run, address: str, broken: str, told: str
    ) -> None:
        """What a finding says to run mends it."""
        do(address, broken)
        [finding] = document(run("db", "check", address, "--json", code=1))["findings"]
        try:
            assert told in finding
        finally:
            do(address, finding.partition("; run: ")[2])
        run("db", "check", address)

    def test_finds_a_fence_that_was_replaced(self, run: Run, bare: str) -> None:
        """A policy of the right name that lets everything through is no fence."""
        run("db", "init", bare, "--partitions", "1")
        do(bare, "DROP POLICY fence ON incumbent.facts")
        do(bare, "CREATE POLICY fence ON incumbent.facts USING (true)")
        assert "keeps to an organization" in run("db", "check", bare, code=1).stdout

    def test_finds_what_is_wrong_inside(self, run: Run, address: str) -> None:
        """The store's own findings are among those of the database."""
        run("write", "city", "Bern", "--db", address)
        do(address, "DELETE FROM incumbent.verdicts WHERE organization = 'acme'")
        assert "acme: " in run("db", "check", address, code=1).stdout
        run("db", "check", address, "--quick")

    def test_finds_an_index_that_was_left_half_made(self, run: Run, bare: str) -> None:
        """An index that the server does not use is told."""
        run("db", "init", bare, "--partitions", "1")
        do(
            bare,
            "UPDATE pg_index SET indisvalid = false "
            "WHERE indexrelid = 'incumbent.facts_p0_pkey'::regclass",
        )
        assert "facts_p0_pkey is not valid" in run("db", "check", bare, code=1).stdout

    def test_is_a_health_check(self, run: Run, address: str, bare: str) -> None:
        """Exit codes tell apart: works, does not work yet, cannot be reached."""
        run("db", "check", "--quick", address)
        assert "incumbent db init" in run("db", "check", "--quick", bare, code=1).stdout
        gone = "postgresql://postgres@127.0.0.1:1/agents?connect_timeout=2"
        assert "no PostgreSQL server answers" in run("db", "check", "--quick", gone, code=3).stderr

    def test_takes_the_address_from_the_environment(self, run: Run, address: str) -> None:
        """INCUMBENT_DB names the database where no argument does."""
        run("db", "check", "--quick", env={"INCUMBENT_DB": address})

    def test_finds_a_role_that_may_not_work(
        self, run: Run, guarded: LocalServer, strict: str, login: str
    ) -> None:
        """Somebody who can connect and not become the application is told how to."""
        run("db", "init", strict, "--partitions", "1")
        guarded.ask(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'pw'").format(sql.Identifier(login)))
        do(strict, f"GRANT USAGE ON SCHEMA incumbent TO {login}")
        do(strict, f"GRANT SELECT ON incumbent.schema_versions TO {login}")
        told = run("db", "check", as_role(strict, login, "pw"), code=1).stdout
        assert f"GRANT incumbent_app TO {login}" in told
        do(strict, f"DROP OWNED BY {login}")


class TestStats:
    def test_counts_what_is_there(self, run: Run, address: str) -> None:
        """Facts, live facts, log entries and bytes, for each organization."""
        with incumbent.open(address, settings=QUICK) as memory:
            alice = memory.session(user_id="alice", organization="acme")
            alice.write("city", "Bern")
            alice.write("city", "Chur")
            alice.write("team", "blue")
            alice.retract("team")
            memory.session(user_id="bob", organization="globex").write("essay", "x" * 50_000)
        told = document(run("db", "stats", address, "--json"))
        acme, globex = told["organizations"]
        assert (acme["facts"], acme["live"], acme["log_entries"]) == (3, 1, 4)
        assert (globex["facts"], globex["live"], globex["log_entries"]) == (1, 1, 1)
        assert acme["bytes"] > 500
        names = {table["table"] for table in told["tables"]}
        assert {"facts", "verdicts", "entries"} <= names
        assert {index["index"] for index in told["indexes"]} >= {"facts_pkey", "facts_live"}
        assert told["connections"]["here"] >= 1
        assert told["database_bytes"] > 1_000_000

    def test_long_values_count(self, run: Run, address: str) -> None:
        """What is kept apart from its row because it is long belongs to the organization too."""
        text = secrets.token_hex(50_000)
        with incumbent.open(address, settings=QUICK) as memory:
            memory.session(user_id="bob", organization="globex").write("essay", text)
        [globex] = document(run("db", "stats", address, "--json"))["organizations"]
        assert globex["bytes"] > 50_000

    def test_shows_one_organization(self, run: Run, address: str) -> None:
        """--org counts one, and a name that is not there is refused."""
        for name in ("acme", "globex"):
            run("write", "city", "Bern", "--db", address, "--org", name)
        out = run("db", "stats", address, "--org", "globex").stdout
        assert "'globex'" in out
        assert "'acme'" not in out
        assert "'nope'" in run("db", "stats", address, "--org", "nope", code=2).stderr

    def test_works_for_the_application(
        self, run: Run, strict: str, login: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The role with the least rights gets the same numbers."""
        monkeypatch.setenv("INCUMBENT_LOGIN_PASSWORD", "pw")
        run("db", "init", strict, "--partitions", "2", "--login", login)
        run("write", "city", "Bern", "--db", strict)
        mine = as_role(strict, login, "pw")
        assert upkeep.stats(mine).organizations == upkeep.stats(strict).organizations

    def test_tells_how_far_replicas_are(self, run: Run, guarded: LocalServer, strict: str) -> None:
        """The primary lists them, and a replica says what it has still to replay."""
        run("db", "init", strict, "--partitions", "1")
        copy = guarded.replica(guarded.folder.with_name(f"{guarded.folder.name}-replica"))
        try:
            [replica] = document(run("db", "stats", strict, "--json"))["replicas"]
            assert (replica["state"], replica["sync"]) == ("streaming", "async")
            there = copy.tcp_url(strict.rpartition("/")[2])
            told = document(run("db", "stats", there, "--json"))
            assert told["replica"] is True
            assert told["behind_bytes"] >= 0
            assert "replica" in run("db", "check", there).stdout
            assert "address of its primary" in run("db", "init", there, code=3).stderr
        finally:
            copy.stop()
            shutil.rmtree(copy.folder)


class TestVacuum:
    def test_goes_through_every_table(self, run: Run, address: str) -> None:
        """All of them are vacuumed and counted anew."""
        run("write", "city", "Bern", "--db", address)
        done = document(run("db", "vacuum", address, "--json"))
        asked = "SELECT count(*) FROM pg_class WHERE relnamespace = 'incumbent'::regnamespace"
        [(tables,)] = ask(address, f"{asked} AND relkind = 'r'")
        assert (done["tables"], done["skipped"], done["full"]) == (tables, [], False)

    def test_tells_how_far_it_is(self, address: str) -> None:
        """Progress names each table, and ends with all of them."""
        told: list[tuple[str, int, int | None]] = []
        done = upkeep.vacuum(address, told=lambda *given: told.append(given))
        assert told[0] == ("vacuuming api_keys", 0, done.tables)
        assert told[-1][1:] == (done.tables, done.tables)

    def test_in_full_leaves_nothing_of_what_was_forgotten(self, run: Run, address: str) -> None:
        """What an erasure took away is in no file of a table any more."""
        number = "555-0142-unheard-of"
        with incumbent.open(address, settings=QUICK) as memory:
            dana = memory.session(user_id="dana", organization="acme")
            dana.write("phone", number)
            dana.write("phone", f"{number} or so")
            memory.forget(organization="acme", user_id="dana")
        assert self.files_with(address, number)
        for _ in range(5):
            self.wait_for_quiet(address)
            out = run("db", "vacuum", address, "--full", "--yes").stdout
            assert out.startswith("written anew")
            if not self.files_with(address, number):
                return
        raise AssertionError(self.files_with(address, number))

    def wait_for_quiet(self, address: str) -> None:
        """The server's own upkeep looks at tables now and then, and holds their rows back."""
        for _ in range(100):
            [(busy,)] = ask(
                address,
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                "AND pid <> pg_backend_pid() AND backend_xmin IS NOT NULL",
            )
            if not busy:
                return
            time.sleep(0.1)

    def files_with(self, address: str, text: str) -> list[str]:
        """The tables and indexes whose files have a text in them."""
        do(address, "CHECKPOINT")
        rows = ask(
            address,
            "SELECT relname FROM pg_class WHERE relnamespace = 'incumbent'::regnamespace "
            "AND relkind IN ('r', 'i') AND pg_relation_size(oid) > 0 AND "
            f"position('{text}'::bytea IN pg_read_binary_file(pg_relation_filepath(oid))) > 0",
        )
        return [name for (name,) in rows]

    def test_in_full_asks_first(self, run: Run, address: str) -> None:
        """It locks, so that nobody gets into it by a slip."""
        result = run("db", "vacuum", address, "--full", code=1, input="n\n")
        assert "locked" in result.stderr
        assert "nothing was done" in result.stderr

    def test_warns_of_transactions_that_hold_rows_back(self, run: Run, address: str) -> None:
        """Rows that somebody may still need stay, and that is said."""
        with psycopg.connect(address) as other:
            other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            other.execute("SELECT count(*) FROM incumbent.facts")
            result = run("db", "vacuum", address)
        assert "1 other transaction(s) were open" in result.stderr

    def test_is_for_the_owner(
        self, run: Run, strict: str, login: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The application's role is refused, with what to do about it."""
        monkeypatch.setenv("INCUMBENT_LOGIN_PASSWORD", "pw")
        run("db", "init", strict, "--partitions", "1", "--login", login)
        told = run("db", "vacuum", as_role(strict, login, "pw"), code=3).stderr
        assert "connect as their owner" in told
