"""Migrations: from every earlier version with data in it, while old and new code work on it, and
interrupted at any moment."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

import incumbent
from incumbent.keys import make_key
from incumbent.model.keys import ApiKey
from incumbent.model.scope import EVERYWHERE
from incumbent.stores.postgres import administration, schema
from incumbent.stores.postgres.connections import address_of
from incumbent.stores.postgres.local import LocalServer
from incumbent.stores.postgres.sql import migrations
from incumbent.testing import SteppingClock
from tests.conftest import QUICK, SOAK
from tests.patience import PATIENCE
from tests.postgres import journal, versions
from tests.postgres.conftest import Run
from tests.postgres.operating import as_role, ask, do, document
from tests.postgres.population import ORGANIZATIONS, PEOPLE, populate, secret_of, session_of
from tests.servers import Databases, needs_own_server

LATEST = schema.latest()
EARLIER = range(schema.OLDEST_SCHEMA, LATEST)
SERVING = max(
    version for version, script in migrations() if version == 1 or schema.serves_of(script) == 1
)
"""The last version on which the oldest code still works."""
ENDINGS = 25 if SOAK else 4
# What people said, and what tells of it.
CONTENT = {
    *(("facts", "value"), ("facts", "source"), ("verdicts", "reason"), ("turns", "digest")),
    *(("working_items", "value"), ("working_items", "spots"), ("receipts", "body")),
    *(("entries", "key"), ("entries", "terms"), ("entries", "probes"), ("entries", "vector")),
    ("entries", "posted"),
}


def a_key(organization: str = "acme") -> ApiKey:
    """A key that no store has seen."""
    return make_key(
        organization=organization,
        name="reports",
        scopes=["read"],
        max_authority="employee",
        now=SteppingClock()(),
    )[0]


def contents(memory: incumbent.Memory) -> dict[str, Any]:
    """Everything of every organization, as far as the store shows it."""
    found: dict[str, Any] = {}
    for organization in ORGANIZATIONS:
        with memory.store.read(organization) as reader:
            shelves = [shelf.id for shelf in reader.shelves(("", *PEOPLE), (EVERYWHERE,))]
            assert shelves
            found[organization] = [
                *memory.store.dump(organization),
                *memory.store.erasures(organization),
                *reader.desks(),
                *reader.receipts(None, 100),
                *reader.users("", "", 100),
                *reader.sessions(None, None, None, None, 100),
                *reader.names("key", None, None, "", 100),
                *reader.names("subject", None, None, "", 100),
                *reader.usage(),
                *(reader.turns(person, f"s {organization} {person}", 9) for person in PEOPLE),
                *(list(reader.placed(shelf, 0)) for shelf in shelves),
                reader.postings(shelves, "mood", 100),
                reader.unindexed(100),
                reader.recipe(),
            ]
    return found


def learnt(url: str) -> list[tuple[str, str, str]]:
    """What the planner has learnt: table without the number of its partition, column, values."""
    rows = ask(
        url,
        "SELECT tablename, attname, concat(most_common_vals, histogram_bounds, most_common_elems) "
        f"FROM pg_stats WHERE schemaname = '{schema.SCHEMA}'",
    )
    return [(re.sub(r"_p\d+$", "", table), column, values) for table, column, values in rows]


class TestFromEveryEarlierVersion:
    @pytest.mark.parametrize("version", EARLIER)
    def test_everything_is_still_there(self, run: Run, databases: Databases, version: int) -> None:
        """What was written before is unchanged after, found by the index, and sound; and the schema
        is that of a new database."""
        url = versions.make(databases.bare(), version)
        with incumbent.open(url, settings=QUICK) as memory:
            populate(memory)
            before = contents(memory)
            assert administration.version_of(url) == version  # opening migrates nothing
            done = document(run("db", "migrate", url, "--json"))
            assert (done["before"], done["after"]) == (version, LATEST)
            assert contents(memory) == before  # and whoever has it open goes on
        with incumbent.open(url, settings=QUICK) as memory:
            assert contents(memory) == before
            assert memory.store.check() == []
            ann = session_of(memory, "acme", "ann")
            mine = secret_of("acme", "ann")
            assert ann.current("mood") == f"happy {mine}"
            assert mine in ann.context("what is the mood?").text
            assert ann.write("mood", "changed").outcome is incumbent.Outcome.SUPERSEDED
            memory.store.add_key(a_key())
            assert len(memory.store.keys("acme")) == 1
        assert run("db", "check", url).stdout.endswith("healthy\n")
        fresh = versions.make(databases.bare(), LATEST)
        assert versions.structure(url) == versions.structure(fresh)

    def test_what_was_kept_as_it_was_said_loses_the_word_for_its_name(
        self, databases: Databases
    ) -> None:
        """Up to version 6 the key "statement" stood for none; who wrote that key keeps it. Whoever
        has it open reads it anew."""
        url = versions.make(databases.bare(), 6)
        with incumbent.open(url, settings=QUICK) as memory:
            ann = memory.session(user_id="ann")
            ann.observe("My cup is red.")
            ann.write("statement", "of account")
            do(url, "UPDATE incumbent.facts SET key = 'statement' WHERE key = ''")
        with incumbent.open(url, settings=QUICK) as memory:
            ann = memory.session(user_id="ann")
            assert "of account" in ann.context("Which cup?").text
            assert len(ann.facts("statement")) == 2
            administration.migrate(url)
            assert [fact.value for fact in ann.facts("")] == ["My cup is red."]
            assert [fact.value for fact in ann.facts("statement")] == ["of account"]
            assert "My cup is red." in ann.context("Which cup?").text
            assert memory.store.check() == []

    @pytest.mark.parametrize("version", EARLIER)
    def test_a_trial_changes_nothing(self, run: Run, databases: Databases, version: int) -> None:
        """--dry-run names what would run; check asks for it, and a health check does not mind."""
        url = versions.make(databases.bare(), version)
        before = versions.structure(url)
        out = run("db", "migrate", url, "--dry-run").stdout
        assert f"would migrate  {address_of(url)}" in out
        assert f"schema version {version} to {LATEST}" in out
        assert "incumbent db migrate" in run("db", "check", url, code=1).stdout
        run("db", "check", "--quick", url)
        assert versions.structure(url) == before


class TestWhatThePlannerLearns:
    @pytest.mark.parametrize("version", [*EARLIER, LATEST])
    def test_is_nothing_that_people_said(self, databases: Databases, version: int) -> None:
        """Neither what it had learnt before nor what it learns later has a value of theirs; what
        it needs to find rows it has."""
        url = versions.make(databases.bare(), version)
        with incumbent.open(url, settings=QUICK) as memory:
            populate(memory)
        do(url, "ANALYZE")
        if version < 2:
            # There is something to forget, on partitions and on the tables above them.
            assert {("facts", "value"), ("entries", "terms"), ("receipts", "body")} <= {
                (table, column) for table, column, _ in learnt(url)
            }
            assert any(secret_of("acme", "ann") in values for *_, values in learnt(url))
        administration.migrate(url)
        assert not CONTENT & {(table, column) for table, column, _ in learnt(url)}
        do(url, "ANALYZE", *(f"ANALYZE incumbent.{name}" for name in ("facts", "entries")))
        found = learnt(url)
        assert not CONTENT & {(table, column) for table, column, _ in found}
        # What the caller calls a turn is a name that it is looked up by, not what was said.
        said = [row for row in found if row[:2] != ("turns", "ref")]
        assert not [row for row in said if secret_of("acme", "ann") in row[2]]
        assert {("facts", "organization"), ("facts", "key"), ("entries", "shelf")} <= {
            (table, column) for table, column, _ in found
        }

    def test_is_the_same_for_an_owner_who_is_no_superuser(
        self, guarded: LocalServer, login: str, strict: str
    ) -> None:
        """Who owns the schema and nothing else migrates it whole."""
        versions.make(strict, 1)  # makes the role of the application, if need be
        guarded.ask(
            sql.SQL("CREATE ROLE {0} LOGIN PASSWORD {1}").format(
                sql.Identifier(login), sql.Literal(login)
            )
        )
        database = sql.Identifier(str(psycopg.conninfo.conninfo_to_dict(strict)["dbname"]))
        do(strict, "DROP SCHEMA incumbent CASCADE", f"GRANT incumbent_app TO {login}")
        guarded.ask(
            sql.SQL("ALTER DATABASE {} OWNER TO {}").format(database, sql.Identifier(login))
        )
        owner = versions.make(as_role(strict, login, login), 1)
        with incumbent.open(owner, settings=QUICK) as memory:
            populate(memory)
        do(owner, "ANALYZE")
        assert any(column == "posted" for _, column, _ in learnt(owner))
        administration.migrate(owner)
        do(owner, "ANALYZE")
        kept = {(table, column) for table, column, _ in learnt(owner)} & CONTENT
        # An older server lets nobody else forget that one: it is learnt anew each time instead.
        older = guarded.ask("SHOW server_version_num")[0][0] < "180000"
        assert kept == ({("entries", "posted")} if older else set())


class TestNewCodeOnAnOlderSchema:
    def test_works_but_for_what_is_new(
        self, run: Run, guarded: LocalServer, strict: str, login: str, monkeypatch: Any
    ) -> None:
        """A role with the least rights does all it did before; what needs the new table says how
        to get it, and has it as soon as it is there."""
        versions.make(strict, 1)
        monkeypatch.setenv("INCUMBENT_LOGIN_PASSWORD", login)
        admit(strict, login)
        url = as_role(strict, login, login)
        with incumbent.open(url, settings=QUICK) as memory:
            populate(memory)
            memory.forget(organization="acme", user_id="ann")
            key = a_key()
            attempts: list[Callable[[], Any]] = [
                lambda: memory.store.add_key(key),
                lambda: memory.store.key(key.id),
                lambda: memory.store.keys("acme"),
                lambda: memory.store.keys(),
                lambda: memory.store.revoke_key(key.id, key.created_at),
            ]
            for attempt in attempts:
                with pytest.raises(incumbent.StoreError, match="incumbent db migrate"):
                    attempt()
            told = run("keys", "create", "reports", "--scope", "read", "--db", url, code=3).stderr
            assert "incumbent db migrate" in told
            assert session_of(memory, "acme", "ben").current("mood")  # nothing was broken by it
            run("db", "migrate", strict)
            memory.store.add_key(key)
            assert memory.store.key(key.id) == key
        assert administration.check(strict).findings == []

    def test_a_role_that_may_not_migrate_is_told_who_may(
        self, run: Run, guarded: LocalServer, strict: str, login: str
    ) -> None:
        """And nothing is changed."""
        versions.make(strict, 1)
        admit(strict, login)
        told = run("db", "migrate", as_role(strict, login, login), code=3).stderr
        assert "administrator" in told
        assert administration.version_of(strict) == 1


def admit(url: str, login: str) -> None:
    """Let a role in that has the least rights."""
    do(url, f"CREATE ROLE {login} LOGIN PASSWORD '{login}'", f"GRANT incumbent_app TO {login}")


class TestOldCodeOnANewerSchema:
    @pytest.fixture
    def old(self, tmp_path: Path) -> Path:
        """The sources of an Incumbent that knows the first migration alone."""
        return versions.sources(tmp_path / "old", up_to=1)

    def test_goes_on(self, databases: Databases, old: Path) -> None:
        """It opens the database, writes and reads; its own checks find nothing wrong."""
        url = versions.make(databases.bare(), SERVING)
        for arguments in (
            ["write", "city", "Bern", "--db", url],
            ["context", "which city?", "--db", url],
            ["db", "check", url],
            ["db", "check", "--quick", url],
            ["db", "init", url],
            ["doctor", url],
        ):
            versions.told(versions.command(old, *arguments))
        told = versions.told(versions.command(old, "db", "migrate", url))
        assert told.startswith("up to date")
        assert f"version {SERVING}" in told
        assert versions.structure(url) == versions.structure(
            versions.make(databases.bare(), SERVING)
        )

    def test_is_refused_where_it_is_not_served(self, databases: Databases, old: Path) -> None:
        """It would look for what was said under a key that is no more, and put more there."""
        running = versions.command(old, "facts", "--db", versions.make(databases.bare(), LATEST))
        _, complaint = running.communicate(timeout=PATIENCE)
        assert running.returncode == 3
        assert "pip install --upgrade incumbent" in complaint

    @pytest.mark.parametrize("serves", [1, LATEST])
    def test_one_that_serves_us_is_no_hindrance(
        self, run: Run, databases: Databases, tmp_path: Path, serves: int
    ) -> None:
        """A migration that we do not know and that says so lets us work."""
        url = self.migrated_further(databases, tmp_path, serves)
        run("write", "city", "Bern", "--db", url)
        assert run("current", "city", "--db", url).stdout == "Bern\n"
        assert run("db", "check", url).stdout.endswith("healthy\n")

    def test_one_that_does_not_is_refused(
        self, run: Run, databases: Databases, tmp_path: Path
    ) -> None:
        """The message names both versions and the fix, and nothing is written."""
        url = self.migrated_further(databases, tmp_path, LATEST + 1)
        told = run("write", "city", "Bern", "--db", url, code=3).stderr
        assert f"knows up to {LATEST}" in told
        assert "pip install --upgrade incumbent" in told
        assert ask(url, "SELECT count(*) FROM incumbent.facts") == [(0,)]

    def migrated_further(self, databases: Databases, folder: Path, serves: int) -> str:
        """A database on which an Incumbent of the future has run a migration of its own."""
        url = versions.make(databases.bare(), LATEST)
        number = LATEST + 1
        script = f"-- serves: {serves}\nCREATE TABLE more (note text);\n"
        newer = versions.sources(folder / "newer", more={f"{number:04}_more.sql": script})
        versions.told(versions.command(newer, "db", "migrate", url))
        assert administration.version_of(url) == number
        return url


class TestOldAndNewCodeAtOnce:
    @pytest.mark.timeout(3600)
    def test_while_it_is_migrated(self, databases: Databases, tmp_path: Path) -> None:
        """Processes of both versions write and read before, during and after: nothing fails and
        nothing is lost, although somebody looks at a table for so long that it has to wait."""
        url = versions.make(databases.bare(), 1)
        old = versions.sources(tmp_path / "old", up_to=1)
        new = versions.sources(tmp_path / "new", up_to=SERVING)
        codes = {"old one": old, "old two": old, "new one": new, "new two": new}
        with versions.Clients(url, tmp_path, codes) as clients:
            clients.until_at_work()
            with somebody_reading(url, "facts"):
                migrating = versions.command(new, "db", "migrate", url)
                until_waiting(url)
                clients.until_at_work()  # nobody waits for the migration that waits
                clients.until_at_work()
                assert administration.version_of(url) == 1
                assert migrating.poll() is None
            assert versions.told(migrating).startswith("migrated")
            clients.until_at_work()
            clients.until_at_work()
            reports = clients.finish()
        assert administration.version_of(url) == SERVING
        with incumbent.open(url, settings=QUICK) as memory:
            for organization, report in reports.items():
                assert report["knows"] == (1 if organization.startswith("old") else SERVING)
                assert all(entry.verdicts is not None for entry in report["entries"])
                journal.check(memory, organization, report["entries"])
                # Behind a lock that is asked for, as long as it is asked for, and no longer.
                assert report["slowest"] < 20
            assert memory.store.check() == []


@contextmanager
def somebody_reading(url: str, table: str) -> Iterator[None]:
    """A transaction that has looked at a table and stays open."""
    with psycopg.connect(url) as connection:
        connection.execute(f"SELECT 1 FROM incumbent.{table} LIMIT 1".encode())
        yield
        connection.rollback()


def until_waiting(url: str) -> None:
    """Wait until a migration waits for a lock, in the middle of its work."""
    deadline = time.monotonic() + PATIENCE
    while not ask(
        url,
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() "
        "AND application_name = 'incumbent db' AND wait_event_type = 'Lock'",
    ):
        assert time.monotonic() < deadline, "no migration waits"
        time.sleep(0.005)


class TestInterrupted:
    def migrated_later(self, url: str, before: dict[str, Any]) -> None:
        """What was interrupted is as before, and can be run again."""
        assert versions.structure(url) == before
        assert administration.version_of(url) == 1
        assert administration.migrate(url).after == LATEST
        with incumbent.open(url, settings=QUICK) as memory:
            assert memory.session(user_id="alice", organization="acme").current("city") == "Bern"
            memory.store.add_key(a_key())
        assert administration.check(url).findings == []

    def older(self, url: str) -> dict[str, Any]:
        """An earlier version with a fact in it; how it looks."""
        versions.make(url, 1)
        with incumbent.open(url, settings=journal.DURABLE) as memory:
            memory.session(user_id="alice", organization="acme").write("city", "Bern")
        return versions.structure(url)

    def test_a_client_killed_at_its_last_step(self, databases: Databases) -> None:
        """All but the note is done, and none of it is left."""
        url = databases.bare()
        before = self.older(url)
        with somebody_reading(url, "schema_versions"):
            migrating = versions.command(versions.ROOT / "src", "db", "migrate", url)
            until_waiting(url)
            migrating.kill()
            migrating.communicate()
        self.until_alone(url)
        self.migrated_later(url, before)

    def until_alone(self, url: str) -> None:
        """Wait until the server has noticed that its client is gone."""
        deadline = time.monotonic() + PATIENCE
        while ask(
            url,
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() "
            "AND application_name = 'incumbent db'",
        ):
            assert time.monotonic() < deadline, "a connection outlives its client"
            time.sleep(0.01)

    @needs_own_server
    def test_a_server_killed_at_its_last_step(self) -> None:
        """The client says what to do; after a restart the old version is there, and migrates."""
        folder = tempfile.mkdtemp(prefix="incumbent-crash-")
        with LocalServer(folder) as server:
            url = Databases(server.url(), "migrating").bare()
            before = self.older(url)
            reader = psycopg.connect(url)
            reader.execute("SELECT 1 FROM incumbent.schema_versions")
            migrating = versions.command(versions.ROOT / "src", "db", "migrate", url)
            until_waiting(url)
            server.kill()
            _, complaint = migrating.communicate(timeout=PATIENCE)
            assert migrating.returncode == 3
            assert "whole or not at all" in complaint
            reader.close()
            server.start()
            self.migrated_later(url, before)
        shutil.rmtree(folder)

    @pytest.mark.timeout(3600)
    def test_a_client_killed_at_any_moment(self, databases: Databases) -> None:
        """One of the versions is there, whole, and running it again leads to the new one."""
        chance = random.Random(11)
        took, after = 0.0, {}
        for version in range(2, LATEST + 1):
            after[version] = versions.structure(versions.make(databases.bare(), version))
            databases.begin()
        for kill in range(1 + ENDINGS):
            url = databases.bare()
            databases.begin()
            before = self.older(url)
            running = migrating_process(url)
            began = time.monotonic()
            if kill == 0:
                versions.told(running)
                took = time.monotonic() - began
            else:
                time.sleep(chance.uniform(0, took))
                running.kill()
                running.communicate()
                self.until_alone(url)
            found = administration.version_of(url)
            assert versions.structure(url) == (after[found] if found > 1 else before)
            assert administration.migrate(url).after == LATEST
            assert versions.structure(url) == after[LATEST]

    def test_several_at_once(self, databases: Databases) -> None:
        """One of them does it, the others find it done, and all of them say that it is."""
        url = databases.bare()
        self.older(url)
        together = [migrating_process(url) for _ in range(4)]
        for each in together:
            versions.told(each)
        assert ask(url, "SELECT version FROM incumbent.schema_versions ORDER BY 1") == [
            (version,) for version, _ in migrations()
        ]
        assert administration.check(url).findings == []

    def test_one_that_gets_no_lock_gives_up_in_the_end(self, databases: Databases) -> None:
        """It says why, has changed nothing, and has kept nobody from working meanwhile."""
        url = databases.bare()
        before = self.older(url)
        with (
            somebody_reading(url, "entries"),
            psycopg.connect(url, autocommit=True) as connection,
            pytest.raises(incumbent.StoreBusy, match="run it again when they are over"),
        ):
            schema.prepare(connection, "the test", patience=1.5)
        self.migrated_later(url, before)


def migrating_process(url: str) -> subprocess.Popen[str]:
    """`incumbent db migrate` without the time that a command line takes to load."""
    program = (
        "import sys; from incumbent.stores.postgres.administration import migrate; "
        "print(migrate(sys.argv[1]).after)"
    )
    return versions.process(versions.ROOT / "src", program, url)


class TestTheRule:
    def test_every_migration_says_whom_it_serves(self) -> None:
        """From the second on; nobody is served by a later one who was not by an earlier."""
        told = [schema.serves_of(script) for _, script in migrations()[1:]]
        assert told == sorted(told)
        for (version, _), serves in zip(migrations()[1:], told, strict=True):
            assert 1 <= serves <= version

    def test_what_takes_something_away_serves_none_who_may_need_it(self) -> None:
        """A migration that drops or renames something is for code that knows of it already."""
        takes = re.compile(r"^\s*(DROP|ALTER .*\b(DROP|RENAME)\b)", re.IGNORECASE | re.MULTILINE)
        for version, script in migrations()[1:]:
            if takes.search(script):
                assert schema.serves_of(script) >= version - 1

    def test_a_migration_that_does_not_say_is_refused(
        self, databases: Databases, tmp_path: Path
    ) -> None:
        """Before anything of it is kept."""
        url = versions.make(databases.bare(), LATEST)
        before = versions.structure(url)
        script = "CREATE TABLE more (note text);\n"
        newer = versions.sources(tmp_path, more={"9999_more.sql": script})
        running = versions.command(newer, "db", "migrate", url)
        _, complaint = running.communicate(timeout=PATIENCE)
        assert running.returncode == 3
        assert "begin it with: -- serves: N" in complaint
        assert versions.structure(url) == before
