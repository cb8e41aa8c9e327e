"""Nothing gets across: from one organization to another, or from one person to another, through
the API or through SQL of one's own under the role of the application."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg
import pytest
from psycopg import errors as pg

import incumbent
from incumbent.stores.port import Selection
from incumbent.stores.postgres import PostgresStore
from tests.conftest import QUICK, SOAK
from tests.postgres.population import (
    ORGANIZATIONS,
    PEOPLE,
    SCHEMA,
    Owned,
    columns,
    everything,
    populate,
    secret_of,
    session_of,
    tables,
)
from tests.servers import SERVER, needs_server

pytestmark = needs_server

PROBES = 10_000 if SOAK else 1_000
ROLE = "incumbent_app"
# Where rows have no owner, everybody of the organization may see them.
SHARED = ("organizations", "targets", "usage", "erasures")


class World(NamedTuple):
    """A populated database."""

    url: str
    owned: dict[tuple[str, str], Owned]
    tables: dict[str, list[str]]


@pytest.fixture(scope="module")
def world() -> World:
    """Made once: no probe changes anything."""
    url = SERVER.databases().emptied()
    with (
        incumbent.open(url, settings=QUICK) as memory,
        psycopg.connect(url, autocommit=True) as administrator,
    ):
        owned = populate(memory)
        found = tables(administrator)
        for table in found:
            rows = administrator.execute(
                f"SELECT count(DISTINCT organization) FROM {SCHEMA}.{table}".encode()
            ).fetchone()
            assert rows == (len(ORGANIZATIONS),), f"nobody has left anything in {table}"
    return World(url, owned, found)


class Actor(NamedTuple):
    """As whom a transaction acts: None for what it does not say."""

    organization: str | None
    person: str | None
    everybody: bool

    def owns(self, row_of: str, whose: str | None) -> bool:
        """Whether a row of an organization and a person is for it."""
        if row_of != self.organization:
            return False
        return self.everybody or whose in (None, "", self.person)

    def may_read(self, text: str) -> bool:
        """Whether nothing in a text is for others."""
        return not any(
            secret_of(organization, person) in text
            for organization in ORGANIZATIONS
            for person in (*PEOPLE, "all")
            if not self.owns(organization, None if person == "all" else person)
        )


def random_actor(chance: random.Random) -> Actor:
    organization = chance.choice([*ORGANIZATIONS, "nowhere", "", None])
    kind = chance.randrange(4)
    if kind == 0:
        return Actor(organization, None, False)
    if kind == 1:
        return Actor(organization, None, True)
    return Actor(organization, chance.choice([*PEOPLE, "stranger", ""]), False)


@contextmanager
def acting(connection: psycopg.Connection[Any], actor: Actor) -> Iterator[None]:
    """A transaction that says as whom it acts, and is rolled back."""
    connection.execute("BEGIN")
    told = {
        "incumbent.organization": actor.organization,
        "incumbent.person": actor.person,
        "incumbent.everybody": "on" if actor.everybody else "off",
    }
    for name, value in told.items():
        if value is not None:
            connection.execute("SELECT set_config(%s, %s, true)", (name, value))
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


class Prober:
    """Tries SQL of its own as the application, as a random actor against a random victim."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.chance = random.Random(seed)
        self.administrator = psycopg.connect(world.url, autocommit=True)
        self.connection = psycopg.connect(world.url, autocommit=True)
        self.connection.execute(f"SET ROLE {ROLE}".encode())
        self.columns = {name: columns(self.administrator, name) for name in world.tables}
        self.probes: list[Callable[[Actor, str, str], None]] = [
            self.looks,
            self.looks,
            self.looks_at_the_victim,
            self.joins,
            self.counts,
            self.copies_out,
            self.overwrites,
            self.moves,
            self.deletes,
            self.plants,
            self.tries_a_partition,
            self.calls_functions,
        ]

    def close(self) -> None:
        self.administrator.close()
        self.connection.close()

    def probe(self) -> None:
        actor = random_actor(self.chance)
        table = self.chance.choice(sorted(self.world.tables))
        victim = self.chance.choice([name for name in ORGANIZATIONS if name != actor.organization])
        with acting(self.connection, actor):
            self.chance.choice(self.probes)(actor, f"{SCHEMA}.{table}", victim)

    def rows(self, statement: str, *given: Any) -> list[Any]:
        return self.connection.execute(statement.encode(), given or None).fetchall()

    def changed(self, statement: str, *given: Any) -> int:
        return self.connection.execute(statement.encode(), given or None).rowcount

    def visible(self, actor: Actor, table: str, *, of: str | None = None) -> int:
        """How many rows the actor should see, as an administrator counts them."""
        bare = table.split(".")[1]
        name = next((n for n in ("owner", "user_id") if n in self.columns[bare]), None)
        whose = name if name and bare not in SHARED else "''"
        # Turns, desks and receipts are nobody's but their owner's: no row of them is for all.
        found = self.administrator.execute(
            f"SELECT organization, {whose} FROM {table}".encode()
        ).fetchall()
        private = name == "user_id"
        return sum(
            actor.owns(organization, owner)
            and (of is None or organization == of)
            and not (private and not actor.everybody and owner != actor.person)
            for organization, owner in found
        )

    # what it tries

    def looks(self, actor: Actor, table: str, victim: str) -> None:
        how = self.chance.choice(("", "WHERE true", "WHERE organization <> ''", "ORDER BY 1"))
        found = self.rows(f"SELECT * FROM {table} {how}")
        assert actor.may_read(str(found))
        assert len(found) == self.visible(actor, table)

    def looks_at_the_victim(self, actor: Actor, table: str, victim: str) -> None:
        how = self.chance.choice(
            ("organization = %s", "organization = %s OR 1 = 1", "organization LIKE %s")
        )
        found = self.rows(f"SELECT * FROM {table} WHERE {how}", victim)
        assert actor.may_read(str(found))
        assert not any(row[0] == victim for row in found)

    def joins(self, actor: Actor, table: str, victim: str) -> None:
        other = f"{SCHEMA}.{self.chance.choice(sorted(self.world.tables))}"
        found = self.rows(
            f"SELECT a.*, b.* FROM {table} AS a CROSS JOIN {other} AS b "
            f"UNION ALL SELECT a.*, b.* FROM {table} AS a FULL JOIN {other} AS b ON false"
        )
        assert actor.may_read(str(found))

    def counts(self, actor: Actor, table: str, victim: str) -> None:
        ((seen, first, last),) = self.rows(
            f"SELECT count(*), min(organization), max(organization) FROM {table}"
        )
        assert seen == self.visible(actor, table)
        assert {first, last} <= {actor.organization, None}

    def copies_out(self, actor: Actor, table: str, victim: str) -> None:
        with self.connection.cursor().copy(f"COPY {table} TO STDOUT".encode()) as copy:
            text = b"".join(bytes(block) for block in copy).decode()
        assert actor.may_read(text)

    def overwrites(self, actor: Actor, table: str, victim: str) -> None:
        assert self.changed(f"UPDATE {table} SET organization = organization") == self.visible(
            actor, table
        )
        assert not self.changed(
            f"UPDATE {table} SET organization = organization WHERE organization = %s", victim
        )

    def moves(self, actor: Actor, table: str, victim: str) -> None:
        """Give rows of one's own to another organization, or to another person."""
        column = next(
            (
                n
                for n in ("owner", "user_id")
                if n in self.columns[table.removeprefix(f"{SCHEMA}.")]
            ),
            None,
        )
        if column and actor.person and not actor.everybody and self.chance.random() < 0.5:
            statement = f"UPDATE {table} SET {column} = 'somebody else'"
        else:
            statement = f"UPDATE {table} SET organization = '{victim}'"
        try:
            assert self.changed(statement) == 0
        except pg.InsufficientPrivilege as error:
            assert "row-level security" in str(error)  # noqa: PT017

    def deletes(self, actor: Actor, table: str, victim: str) -> None:
        assert not self.changed(f"DELETE FROM {table} WHERE organization = %s", victim)
        assert self.changed(f"DELETE FROM {table}") == self.visible(actor, table)
        assert actor.may_read(str(self.rows(f"SELECT * FROM {table}")))

    def plants(self, actor: Actor, table: str, victim: str) -> None:
        """Put a copy of a row of the victim into the victim's organization."""
        names = self.columns[table.removeprefix(f"{SCHEMA}.")]
        row = self.administrator.execute(
            f"SELECT * FROM {table} WHERE organization = %s LIMIT 1".encode(), (victim,)
        ).fetchone()
        assert row is not None
        marks = ", ".join(["%s"] * len(names))
        clash = self.chance.choice(("", "ON CONFLICT DO NOTHING", f"RETURNING {names[0]}"))
        statement = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks}) {clash}"
        with pytest.raises(pg.InsufficientPrivilege, match="row-level security"):
            self.connection.execute(statement.encode(), row)

    def tries_a_partition(self, actor: Actor, table: str, victim: str) -> None:
        part = f"{SCHEMA}.{self.chance.choice(self.world.tables[table.removeprefix(f'{SCHEMA}.')])}"
        statement = self.chance.choice(
            (
                f"SELECT * FROM {part}",
                f"SELECT count(*) FROM {part}",
                f"UPDATE {part} SET organization = organization",
                f"DELETE FROM {part}",
                f"INSERT INTO {part} SELECT * FROM {table}",
                f"TRUNCATE {part}",
                f"TRUNCATE {table}",
                f"COPY {part} TO STDOUT",
                f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY",
                f"DROP POLICY fence ON {table}",
                f"CREATE TABLE {SCHEMA}.loot AS SELECT * FROM {table}",
                f"GRANT SELECT ON {part} TO {ROLE}",
            )
        )
        with pytest.raises(pg.InsufficientPrivilege):
            self.connection.execute(statement.encode())

    def calls_functions(self, actor: Actor, table: str, victim: str) -> None:
        lexemes = self.administrator.execute(
            f"SELECT DISTINCT unnest(tsvector_to_array(posted)) FROM {SCHEMA}.entries".encode()
        ).fetchall()
        wanted = [lexeme for (lexeme,) in lexemes]
        few = self.rows(f"SELECT found FROM {SCHEMA}.posted_under(%s, 1000)", wanted[:4])
        found = few + self.rows(f"SELECT found FROM {SCHEMA}.posted_under(%s, 1000)", wanted)
        numbers = {number for (entries,) in found for number in entries or ()}
        mine = self.administrator.execute(
            f"SELECT organization, owner, entry FROM {SCHEMA}.entries".encode()
        ).fetchall()
        assert numbers <= {n for organization, owner, n in mine if actor.owns(organization, owner)}
        ((last,),) = self.rows(f"SELECT {SCHEMA}.entry_at(%s)", 1 << 60)
        ((own,),) = self.administrator.execute(
            f"SELECT max(seq) FROM {SCHEMA}.verdicts WHERE organization = %s".encode(),
            (actor.organization,),
        ).fetchall()
        assert (last or 0) == (own or 0)
        names = {name for (name,) in self.rows(f"SELECT {SCHEMA}.organization_names()")}
        assert names == set(ORGANIZATIONS)  # names alone, for those who run the service


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_probes_with_sql(world: World) -> None:
    """Whatever statement the application's role runs, it touches the rows it said it is for."""
    with psycopg.connect(world.url, autocommit=True) as administrator:
        before = everything(administrator)
        prober = Prober(world, seed=1)
        for _ in range(PROBES):
            prober.probe()
        prober.close()
        assert everything(administrator) == before


def test_no_partition_can_be_asked_for_by_its_own_name(world: World) -> None:
    """A partition is not behind the policies of its table, and the application has no right to
    any, whatever it wants to do with it."""
    with psycopg.connect(world.url, autocommit=True) as connection:
        connection.execute(f"SET ROLE {ROLE}".encode())
        for part in (part for parts in world.tables.values() for part in parts):
            for statement in (
                f"SELECT FROM {SCHEMA}.{part}",
                f"INSERT INTO {SCHEMA}.{part} (organization) VALUES ('acme')",
                f"UPDATE {SCHEMA}.{part} SET organization = 'acme'",
                f"DELETE FROM {SCHEMA}.{part}",
                f"TRUNCATE {SCHEMA}.{part}",
            ):
                with pytest.raises(pg.InsufficientPrivilege):
                    connection.execute(statement.encode())


def test_what_the_planner_has_learnt_is_hidden_too(world: World) -> None:
    """Statistics are made of values of all organizations; the application sees none of them."""
    with psycopg.connect(world.url, autocommit=True) as connection:
        connection.execute("ANALYZE")
        learnt = "SELECT tablename, attname FROM pg_stats WHERE schemaname = %s"
        told = connection.execute(learnt, (SCHEMA,)).fetchall()
        assert ("facts", "key") in told  # there is something to hide
        connection.execute(f"SET ROLE {ROLE}".encode())
        of_all = {"declarations", "versions", "schema_versions"}
        told = connection.execute(learnt, (SCHEMA,)).fetchall()
        assert {table for table, _ in told} <= of_all
        with pytest.raises(pg.InsufficientPrivilege):
            connection.execute("SELECT * FROM pg_statistic")


def test_a_new_row_cannot_be_put_into_another_organization(world: World) -> None:
    """Every table refuses a row of an organization other than the one a transaction is for."""
    prober = Prober(world, seed=3)
    for table in world.tables:
        with acting(prober.connection, Actor("acme", None, True)):
            prober.plants(Actor("acme", None, True), f"{SCHEMA}.{table}", "globex")
    prober.close()


class Intruder:
    """Tries the API with names of things that belong to others."""

    def __init__(self, world: World, memory: incumbent.Memory, seed: int) -> None:
        self.world = world
        self.memory = memory
        self.chance = random.Random(seed)

    def probe(self) -> None:
        organization, person = self.chance.choice(ORGANIZATIONS), self.chance.choice(PEOPLE)
        victim = self.chance.choice(
            [name for name in self.world.owned if name != (organization, person)]
        )
        owned = self.world.owned[victim]
        session = session_of(self.memory, organization, person)
        fact, verdict = self.chance.choice(owned.facts), self.chance.choice(owned.verdicts)
        if self.chance.random() < 0.5:
            self._looks(session, Actor(organization, person, False), victim, fact)
        else:
            self._meddles(session, organization, victim, fact, verdict, owned.receipts[0])

    def _looks(
        self, session: incumbent.Session, actor: Actor, victim: tuple[str, str], fact: str
    ) -> None:
        assert session.get(fact) is None
        assert not session.is_current(fact)
        key = self.chance.choice(("mood", "plan", "hobby", "rule", "gone", "badge number"))
        seen = [
            session.current(key),
            session.facts(),
            session.facts(key),
            list(session.history(key)),
            session.working_set(),
            session.receipts(),
            session.reviews(),
            session.context(f"tell me {secret_of(*victim)} and the {key}", budget=500).lines,
        ]
        assert actor.may_read(str(seen))

    def _meddles(
        self,
        session: incumbent.Session,
        organization: str,
        victim: tuple[str, str],
        fact: str,
        verdict: str,
        receipt: str,
    ) -> None:
        foreign = victim[0] != organization
        attempts: list[Callable[[], Any]] = [
            lambda: session.explain(fact),
            lambda: session.retract(fact),
            lambda: session.undo(verdict),
            lambda: session.revert(fact),
            lambda: session.promote(fact),
            lambda: session.resolve(fact, still_right=True),
            lambda: session.resolve(fact, "mine now"),
            lambda: session.write("loot", "x", supersedes=fact),
            lambda: session.write("loot", "x", depends_on=[fact]),
            lambda: session.write("loot", "x", when_superseded=fact),
            lambda: session.note("loot", "x", states=[fact]),
        ]
        if foreign:
            attempts += [
                lambda: self.memory.receipt(receipt, organization=organization),
                lambda: self.memory.replay(receipt, organization=organization),
                lambda: self.memory.forget(organization=organization, fact_id=fact),
            ]
        with pytest.raises(incumbent.InvalidInput) as refused:
            self.chance.choice(attempts)()
        assert secret_of(*victim) not in str(refused.value)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_probes_through_the_api(world: World) -> None:
    """Names of what others have lead nowhere, and no text shows what is for others."""
    with (
        psycopg.connect(world.url, autocommit=True) as administrator,
        incumbent.open(world.url, settings=QUICK) as memory,
    ):
        before = everything(administrator)
        intruder = Intruder(world, memory, seed=2)
        for _ in range(PROBES if SOAK else PROBES // 3):
            intruder.probe()
        assert everything(administrator) == before


def test_a_reader_for_one_person_sees_nothing_of_another(world: World) -> None:
    """The store itself, asked for everything by somebody, gives what is for them."""
    store = PostgresStore(world.url)
    try:
        for organization in ORGANIZATIONS:
            for person in PEOPLE:
                actor = Actor(organization, person, False)
                with store.read(organization, person) as reader:
                    found = [
                        reader.live(Selection()),
                        reader.timeline(Selection()),
                        reader.log(0, 1000),
                        reader.receipts(None, 1000),
                    ]
                assert actor.may_read(str(found))
                assert secret_of(organization, person) in str(found)
    finally:
        store.close()


def test_a_pooled_connection_remembers_no_organization(world: World) -> None:
    """After a transaction of one organization its connection shows nothing, committed or not."""
    store = PostgresStore(world.url, pool_size=1)
    try:
        for organization in ORGANIZATIONS:
            with store.read(organization) as reader:
                assert reader.head()[0] > 0
            _shows_nothing(store, world)
            with store.write(organization) as transaction:
                assert transaction.head()[0] > 0
            _shows_nothing(store, world)
            with pytest.raises(ZeroDivisionError), store.write(organization):
                raise ZeroDivisionError
            _shows_nothing(store, world)
            with store.read(organization, "ann") as reader:
                assert reader.live(Selection())
            _shows_nothing(store, world)
    finally:
        store.close()


def _shows_nothing(store: PostgresStore, world: World) -> None:
    with store._connections.lent() as connection:
        assert connection.execute("SELECT current_user").fetchone() == (ROLE,)
        for table in world.tables:
            rows = connection.execute(f"SELECT * FROM {SCHEMA}.{table}".encode()).fetchall()
            assert rows == [], table
