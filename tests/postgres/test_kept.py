"""What a process has read from a server is used again only while it is still so."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from threading import Thread
from typing import Any

import psycopg
import pytest

import incumbent
from incumbent import Memory, Session, Verdict
from incumbent.model.fact import Fact, Status
from incumbent.model.scope import EVERYWHERE
from incumbent.stores.port import Selection
from incumbent.stores.postgres import PostgresStore
from incumbent.stores.postgres.connections import PatientConnection
from incumbent.testing import SteppingClock
from tests.conftest import QUICK, SOAK, THOROUGH
from tests.patience import PATIENCE
from tests.servers import Databases
from tests.stores.sample import RememberedByOthers

STEPS = 400 if SOAK else 60 if THOROUGH else 12
ORGANIZATIONAL: dict[str, Any] = {"memory_type": "organizational"}


@pytest.fixture
def address(databases: Databases) -> str:
    return databases.empty()


@pytest.fixture
def two(address: str) -> Iterator[tuple[Memory, Memory]]:
    """Two memories on one database, as two processes have them."""
    with (
        incumbent.open(address, settings=QUICK) as one,
        incumbent.open(address, settings=QUICK) as other,
    ):
        for memory in (one, other):
            ann(memory).facts()  # a process learns of earlier erasures when it first looks
        yield one, other


def ann(memory: Memory, organization: str = "acme", authority: str = "employee") -> Session:
    return memory.session(
        user_id="ann", organization=organization, authority=authority, session_id="s"
    )


def read(memory: Memory, fact_id: str, organization: str = "acme") -> Fact:
    with memory.store.read(organization) as reader:
        return reader.facts([fact_id])[0]


def test_what_nobody_changed_is_not_made_anew(two: tuple[Memory, Memory]) -> None:
    """Also after a commit of somebody else that has nothing to do with it."""
    one, other = two
    fact_id = ann(one).write("city", "Berlin").fact_id
    first = read(one, fact_id)
    assert read(one, fact_id) is first
    ann(other).write("street", "Elm Street")
    assert read(one, fact_id) is first


def test_a_context_that_nothing_has_changed_for_asks_for_that_alone(
    two: tuple[Memory, Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One round trip tells that everything is as it was, and one ends the transaction."""
    one, other = two
    ann(one).write("city", "Berlin")
    ann(one).context("Which city?")
    asked = []
    wait = PatientConnection.wait

    def counting(self: PatientConnection, *given: Any, **named: Any) -> Any:
        asked.append(given)
        return wait(self, *given, **named)

    monkeypatch.setattr(PatientConnection, "wait", counting)
    assert "Berlin" in ann(one).context("Which city?").text
    assert len(asked) == 2
    ann(other).write("city", "Hamburg")
    assert "Hamburg" in ann(one).context("Which city?").text


@pytest.mark.parametrize("elsewhere", [True, False], ids=["another process", "the same"])
def test_a_fact_that_was_changed_is_read_anew(
    two: tuple[Memory, Memory], *, elsewhere: bool
) -> None:
    """A confirmation changes neither its value nor its term, and is seen all the same."""
    one, other = two
    fact_id = ann(one).write("city", "Berlin").fact_id
    assert read(one, fact_id).standing == "employee"
    writer = other if elsewhere else one
    ann(writer, authority="manager").write("city", "Berlin")
    assert read(one, fact_id).standing == "manager"
    ann(writer, authority="manager").write("city", "Hamburg")
    assert read(one, fact_id).status is Status.SUPERSEDED


@pytest.mark.parametrize("elsewhere", [True, False], ids=["another process", "the same"])
def test_an_erased_fact_is_not_remembered(two: tuple[Memory, Memory], *, elsewhere: bool) -> None:
    """Whoever erased it, the next reading has nothing of it, and nothing of it is kept."""
    one, other = two
    fact_id = ann(one).write("city", "Berlin").fact_id
    assert read(one, fact_id).value == "Berlin"
    ann(one).context("Which city?")
    (other if elsewhere else one).forget(organization="acme", fact_id=fact_id)
    gone = read(one, fact_id)
    assert (gone.status, gone.value) == (Status.ERASED, None)
    assert "Berlin" not in repr(everything_kept(one))


def test_who_began_before_an_erasure_keeps_nothing_after_it(
    two: tuple[Memory, Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long it takes from the beginning of a transaction to its first look."""
    one, other = two
    fact_id = ann(one).write("city", "Berlin").fact_id
    notice, erased = PostgresStore._notice_erasures, list[str]()

    def slowly(self: PostgresStore, versions: Any) -> None:
        notice(self, versions)
        if not erased:
            erased.append(fact_id)
            other.forget(organization="acme", fact_id=fact_id)
            with one.store.read("acme", "bob"):
                pass  # this process knows of the erasure by now

    monkeypatch.setattr(PostgresStore, "_notice_erasures", slowly)
    with one.store.read("acme", "ann") as reader:
        assert reader.facts([fact_id])[0].value == "Berlin"  # of a moment before
    assert "Berlin" not in repr(everything_kept(one))
    assert read(one, fact_id).status is Status.ERASED


def test_declarations_are_those_of_the_readers_own_moment(
    two: tuple[Memory, Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others may see an earlier version at the same time, and remember that one."""
    one, _ = two
    one.declare("pay", requires=["hr"])
    monkeypatch.setattr(PostgresStore, "_declared", RememberedByOthers(), raising=False)
    for _ in range(2):
        with one.store.read("acme", "ann") as reader:
            assert [declared.pattern for declared in reader.declarations()] == ["pay"]


def everything_kept(memory: Memory) -> list[Any]:
    assert isinstance(memory.store, PostgresStore)
    return [
        (kept.older, kept.sure, kept.answers, vars(kept.posted))
        for kept in memory.store._kept._kept.values()
    ]


def test_a_value_that_can_be_changed_is_nobody_elses(two: tuple[Memory, Memory]) -> None:
    """Who changes the list that they were given changes nobody's memory."""
    one, _ = two
    fact_id = ann(one).write("colours", ["red", "blue"]).fact_id
    read(one, fact_id).value.append("green")
    assert read(one, fact_id).value == ["red", "blue"]


def test_organizations_share_nothing(two: tuple[Memory, Memory]) -> None:
    """The same id in two organizations is two facts, and an unknown one is none."""
    one, _ = two
    ann(one, "acme").write("city", "Berlin", id="same")
    ann(one, "umbrella").write("city", "Lagos", id="same")
    assert [read(one, "same", name).value for name in ("acme", "umbrella")] == ["Berlin", "Lagos"]
    with one.store.read("nobody") as reader:
        assert reader.facts(["same"]) == []


def test_people_share_nothing(two: tuple[Memory, Memory]) -> None:
    """What was read for one person is behind the fence for another, at the same revision."""
    one, _ = two
    fact_id = ann(one).write("city", "Berlin").fact_id
    ann(one).context("Which city?")
    with one.store.read("acme", "ann") as reader:
        shelves = reader.shelves(("ann",), (EVERYWHERE,))
        assert [fact.value for fact in reader.facts([fact_id])] == ["Berlin"]
        assert reader.postings([shelf.id for shelf in shelves], "berlin", 9) == [1]
    with one.store.read("acme", "bob") as reader:
        assert reader.facts([fact_id]) == []
        assert reader.shelves(("ann",), (EVERYWHERE,)) == []
        assert reader.postings([shelf.id for shelf in shelves], "berlin", 9) == []


def test_a_doubt_is_seen_as_soon_as_there_is_one(two: tuple[Memory, Memory]) -> None:
    """That nothing doubted a fact a moment ago says nothing about now."""
    one, other = two
    fact_id = ann(one).write("city", "Berlin").fact_id
    with one.store.read("acme") as reader:
        assert reader.facts([fact_id])
        assert reader.doubting([fact_id]) == []
    doubt = ann(other).write("remark", "I think she moved", doubts=[fact_id])
    with one.store.read("acme") as reader:
        assert reader.facts([fact_id])
        assert [fact.id for fact in reader.doubting([fact_id])] == [doubt.fact_id]


def test_the_desk_is_read_as_it_is(two: tuple[Memory, Memory]) -> None:
    """Notes have no entry in the log; a context has what was put on the desk before it."""
    one, other = two
    ann(one).write("city", "Berlin")
    ann(one).context("What now?")
    ann(other).note("objective", "find a flat")
    assert "find a flat" in ann(one).context("What now?").text
    ann(one).note("objective", "find a house")
    assert "find a house" in ann(one).context("What now?").text


def test_a_reader_of_an_earlier_moment_keeps_to_it(two: tuple[Memory, Memory]) -> None:
    """A write in between changes nothing for it, nor does it bring back what it has read."""
    one, other = two
    fact_id = ann(one).write("city", "Berlin").fact_id
    with one.store.read("acme", "ann") as earlier:
        ann(other).write("city", "Hamburg")
        with one.store.read("acme", "ann") as later:
            assert later.facts([fact_id])[0].status is Status.SUPERSEDED
        assert earlier.facts([fact_id])[0].status is Status.OFFICE
    with one.store.read("acme", "ann") as latest:
        assert latest.facts([fact_id])[0].status is Status.SUPERSEDED


def test_a_revision_of_another_history_is_another(two: tuple[Memory, Memory], address: str) -> None:
    """A server that has lost its last commits gives their numbers to others."""
    one, other = two
    ann(one).write("street", "Elm Street")
    lost = ann(one).write("city", "Berlin", id="city-1")
    assert "Berlin" in ann(one).context("Which city?").text
    revision = one.store._kept.revision_of("acme", "ann")  # type: ignore[attr-defined]
    with psycopg.connect(address) as administrator:
        for statement in (
            f"UPDATE incumbent.organizations SET seq = {lost.seq - 1}, entries = entries - 1,"
            " revision = revision - 1, marks = marks[2:]",
            f"DELETE FROM incumbent.verdicts WHERE seq = {lost.seq}",
            "DELETE FROM incumbent.entries WHERE fact_id = 'city-1'",
            "DELETE FROM incumbent.facts WHERE id = 'city-1'",
        ):
            administrator.execute(statement)
    ann(other).write("city", "Hamburg", id="city-1")
    assert read(one, "city-1").value == "Hamburg"
    for _ in range(2):
        with one.store.read("acme", "ann") as reader:
            assert reader.facts(["city-1"])[0].value == "Hamburg"
    assert one.store._kept.revision_of("acme", "ann") == revision  # type: ignore[attr-defined]


def lose(address: str, lost: Verdict) -> None:
    """Take the last commit out of a database, as a replica that takes over may not have it."""
    with psycopg.connect(address) as administrator:
        for statement in (
            f"UPDATE incumbent.organizations SET seq = {lost.seq - 1}, recorded_at = recorded_at "
            f"- 1,"
            " entries = entries - 1, revision = revision - 1, marks = marks[2:]",
            "UPDATE incumbent.shelves SET version = version - 1",
            f"DELETE FROM incumbent.verdicts WHERE seq = {lost.seq}",
            f"DELETE FROM incumbent.entries WHERE fact_id = '{lost.fact_id}'",
            f"DELETE FROM incumbent.facts WHERE id = '{lost.fact_id}'",
        ):
            administrator.execute(statement)


@pytest.mark.parametrize("goes_on", [True, False], ids=["and goes on", "as it is"])
def test_a_context_is_of_the_history_that_there_is(address: str, *, goes_on: bool) -> None:
    """Of a server that has lost its last commit: neither what is lost is shown, nor does anybody
    wait for it. Where the log is ahead of the clock, the next entry has the number and the time of
    the lost one."""
    clock = SteppingClock()
    with (
        incumbent.open(address, settings=QUICK, clock=clock) as one,
        incumbent.open(address, settings=QUICK, clock=clock) as other,
    ):
        ann(one).write("street", "Elm Street")
        lost = ann(one).write("city", "Berlin")
        assert "Berlin" in ann(one).context("Which city?").text
        lose(address, lost)
        if goes_on:
            again = ann(other).write("city", "Hamburg")
            assert (again.seq, again.recorded_at) == (lost.seq, lost.recorded_at)
        told = list[str]()
        asking = Thread(target=lambda: told.append(ann(one).context("Which city?").text))
        asking.daemon = True
        asking.start()
        asking.join(PATIENCE)
        assert told
        assert "Berlin" not in told[0]
        assert ("Hamburg" in told[0]) is goes_on


class Walk:
    """Random decisions of two people, by whichever of two memories."""

    def __init__(self, memories: tuple[Memory, Memory], seed: int) -> None:
        self.chance = random.Random(seed)
        self.memories = memories
        self.written: list[str] = []

    def session(self) -> Session:
        who = self.chance.choice(("ann", "bob"))
        memory = self.chance.choice(self.memories)
        return memory.session(
            user_id=who, organization="acme", authority="manager", session_id=f"of {who}"
        )

    def step(self) -> None:
        session = self.session()
        kind = self.chance.choice(("write",) * 6 + ("retract", "note", "doubt", "forget"))
        try:
            if kind == "write":
                shared = ORGANIZATIONAL if self.chance.random() < 0.5 else {}
                value = f"{self.chance.choice(('red', 'blue', 'green'))} {self.chance.randrange(9)}"
                key = f"{self.chance.choice(('car', 'door', 'wall'))}_{self.chance.randrange(4)}"
                self.written.append(session.write(key, value, **shared).fact_id)
            elif kind == "note":
                session.note("objective", f"step {len(self.written)}")
            elif self.written:
                self.change(session, kind, self.chance.choice(self.written))
        except (incumbent.UnknownFact, incumbent.InvalidInput, incumbent.NotPermitted):
            pass  # not theirs, or gone

    def change(self, session: Session, kind: str, fact_id: str) -> None:
        if kind == "retract":
            session.retract(fact_id)
        elif kind == "doubt":
            self.written.append(session.write("remark", "perhaps red", doubts=[fact_id]).fact_id)
        elif self.chance.random() < 0.2:
            self.memories[0].forget(organization="acme", fact_id=fact_id)


def seen(
    store: PostgresStore, person: str | None, owners: tuple[str, ...], fact_ids: list[str]
) -> list[Any]:
    """Everything that a context reads, whole."""
    with store.read("acme", person) as reader:
        shelves = reader.shelves(owners, (EVERYWHERE,))
        numbers = [shelf.id for shelf in shelves]
        terms = ("red", "blue", "green", "car", "door", "wall", "perhap", "7", "nothing")
        return [
            shelves,
            reader.facts(fact_ids),
            reader.doubting(fact_ids),
            reader.retracted(owners, 5),
            reader.contested(owners),
            reader.working_items(person or "ann", f"of {person}"),
            reader.live(Selection(owners)),
            reader.live(Selection(owners, None, "car_1", "")),
            reader.timeline(Selection(owners, ("",))),
            [reader.owned(owners[0], limit) for limit in (500, 0)],
            [reader.many_postings(numbers, terms, limit) for limit in (3, 200, 12)],
        ]


@pytest.mark.parametrize("seed", range(3))
def test_what_is_kept_is_what_would_be_read(
    two: tuple[Memory, Memory], address: str, seed: int
) -> None:
    """After each of many decisions, for each person, all that a context reads is the same for a
    store that has read it all along and for one that has read nothing before."""
    walk = Walk(two, seed)
    for _ in range(STEPS):
        walk.step()
        with closing(PostgresStore(address)) as fresh:
            for person in ("ann", "bob", None):
                store = walk.chance.choice(two).store
                assert isinstance(store, PostgresStore)
                who = person or "ann"
                owners = walk.chance.choice(((who, ""), (who,), ("",)))
                expected = seen(fresh, person, owners, walk.written)
                assert seen(store, person, owners, walk.written) == expected
