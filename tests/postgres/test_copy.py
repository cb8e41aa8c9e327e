"""Carrying organizations between a file and a database, and back."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

import incumbent
from incumbent.model.errors import StoreError
from incumbent.stores.copying import Fate, copy_organization
from incumbent.stores.port import Selection
from incumbent.testing import SteppingClock
from tests.conftest import QUICK
from tests.postgres.conftest import Run
from tests.servers import Databases


@pytest.fixture
def address(databases: Databases) -> str:
    return databases.empty()


@pytest.fixture(params=["file to database", "database to file", "database to database", "files"])
def places(request: pytest.FixtureRequest, databases: Databases, tmp_path: Path) -> tuple[str, str]:
    """Where from and where to, in every combination of the two kinds."""
    source, target = str(tmp_path / "from.db"), str(tmp_path / "to.db")
    if request.param.startswith("database"):
        source = databases.empty()
    if request.param.endswith("to database"):
        target = databases.empty()
    return source, target


def told(result: Any) -> dict[str, str]:
    """What became of each organization."""
    document = json.loads(result.stdout)
    return {each["organization"]: each["fate"] for each in document["organizations"]}


def fill(where: str, *organizations: str) -> None:
    """Organizations in which everything has happened that can happen to a fact."""
    with incumbent.open(where, settings=QUICK, clock=SteppingClock(step=timedelta(seconds=1))) as m:
        m.declare("tags", multi_valued=True)
        m.declare("price.*", time_sensitive=True, requires=["sales"])
        for name in organizations:
            _live_through(m, name)


def _live_through(memory: incumbent.Memory, name: str) -> None:
    alice = memory.session(user_id="alice", authority="manager", organization=name)
    bob = memory.session(user_id="bob", organization=name, permissions=["sales"])
    alice.write("lead", "Priya")
    alice.write("assigned by", "Priya", depends_on=["lead"])
    alice.write("report to", "James", when_superseded="lead")
    alice.write("lead", "Omar")
    bob.write("lead", "Mallory")
    for tag in ("größer", "東京", "🙂", "line\nbreak"):
        alice.write("tags", tag)
    bob.write("price.tea", {"amount": 1.1, "currency": "CHF", "deep": [None, True, {"x": []}]})
    bob.write("pin", "1234", memory_type="user")
    bob.retract("pin", "for the door")
    alice.write("limit", 5, valid_until=memory.now() + timedelta(days=9))
    alice.write("later", 6, valid_from=memory.now() + timedelta(days=9))
    alice.retract("limit")
    mistake = alice.write("colour", "red")
    alice.undo(mistake.id)
    alice.write("number", 10**30)
    memory.session(user_id="carol", organization=name).write("phone", "555-0142")
    memory.forget(organization=name, user_id="carol")


def test_everything_arrives_as_it_was(run: Run, places: tuple[str, str]) -> None:
    """Facts, history, log and proofs are the same, and so is what was known at every entry."""
    source, target = places
    fill(source, "acme", "globex")
    run("copy", source, target)
    with (
        incumbent.open(source, settings=QUICK) as ours,
        incumbent.open(target, settings=QUICK) as theirs,
    ):
        for name in ("acme", "globex"):
            assert list(theirs.export(name)) == list(ours.export(name))
            assert theirs.store.erasures(name) == ours.store.erasures(name) != []
            assert theirs.store.check() == []
            with ours.store.read(name) as one, theirs.store.read(name) as other:
                assert one.head() == other.head()
                everything = Selection()
                for seq in range(1, one.head()[0] + 1):
                    assert one.known(everything, seq) == other.known(everything, seq)


def test_life_goes_on_in_the_copy(run: Run, places: tuple[str, str]) -> None:
    """The copy takes writes, undoes what the original wrote, and finds facts for a context."""
    source, target = places
    fill(source, "acme")
    run("copy", source, target)
    with incumbent.open(target, settings=QUICK) as memory:
        alice = memory.session(user_id="alice", authority="manager", organization="acme")
        assert alice.current("lead") == "Omar"
        alice.undo(alice.explain("lead").verdicts[-1])
        assert alice.current("lead") == "Priya"
        alice.write("lead", "Zoe")
        assert "Zoe" in alice.context("who leads?").text
        assert memory.store.check() == []


def test_a_second_run_passes_over_what_is_there(run: Run, places: tuple[str, str]) -> None:
    """After an interruption the rest is copied, and what had arrived is compared and left."""
    source, target = places
    fill(source, "acme", "globex")
    assert told(run("copy", source, target, "--org", "globex", "--json")) == {"globex": "copied"}
    again = run("copy", source, target, "--json")
    assert told(again) == {"acme": "copied", "globex": "already there"}
    assert set(told(run("copy", source, target, "--json")).values()) == {"already there"}
    assert set(told(run("copy", target, source, "--json")).values()) == {"already there"}


def test_what_differs_is_refused_and_left_alone(run: Run, places: tuple[str, str]) -> None:
    """An organization that went its own way is neither merged nor replaced; others are copied."""
    source, target = places
    fill(source, "acme", "globex")
    run("copy", source, target, "--org", "acme")
    with incumbent.open(target, settings=QUICK) as memory:
        memory.session(user_id="alice", organization="acme").write("new", "here alone")
        before = list(memory.export("acme"))
    result = run("copy", source, target, "--json", code=1)
    assert told(result) == {"acme": "differs", "globex": "copied"}
    assert "'acme' is in TO already, with other facts" in result.stderr
    with incumbent.open(target, settings=QUICK) as memory:
        assert list(memory.export("acme")) == before


def test_an_organization_arrives_whole_or_not_at_all(
    run: Run, address: str, tmp_path: Path
) -> None:
    """When the server gives up in the middle, nothing of that organization is there, what came
    before it is, and the next run goes on."""
    source = str(tmp_path / "from.db")
    fill(source, "acme", "globex")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION public.give_up() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "IF new.organization = 'globex' AND new.key = 'number' THEN "
            "RAISE 'no more room' USING ERRCODE = 'disk_full'; END IF; RETURN new; END $$; "
            "CREATE TRIGGER give_up BEFORE INSERT ON incumbent.facts "
            "FOR EACH ROW EXECUTE FUNCTION public.give_up()"
        )
        try:
            error = run("copy", source, address, code=3).stderr
            assert "organization 'globex' was not copied" in error
            assert "no more room" in error
            counts = "SELECT count(*) FROM incumbent.{} WHERE organization = 'globex'"
            for table in ("facts", "verdicts", "tenures", "targets", "erasures"):
                rows = connection.execute(counts.format(table).encode()).fetchall()
                assert rows == [(0,)]
        finally:
            connection.execute("DROP TRIGGER give_up ON incumbent.facts; DROP FUNCTION give_up()")
    assert told(run("copy", source, address, "--json")) == {
        "acme": "already there",
        "globex": "copied",
    }


@pytest.mark.slow
def test_a_copy_that_is_killed_goes_on(run: Run, address: str, tmp_path: Path) -> None:
    """Killed at any moment, every organization is there whole or not at all; the next run brings
    the rest."""
    source = str(tmp_path / "from.db")
    names = [f"org {number}" for number in range(6)]
    with incumbent.open(
        source, settings=incumbent.Settings(durability="process", embedder=None)
    ) as m:
        for name in names:
            alice = m.session(user_id="alice", organization=name)
            alice.write_many([{"key": f"key {n}", "value": n} for n in range(150)])
    program = "from incumbent.cli import main; main()"
    whole, rounds = 0, 0
    while whole < 3 and rounds < 20:  # killed a little later each time
        rounds += 1
        child = subprocess.Popen([sys.executable, "-c", program, "copy", source, address])
        wanted = whole + 1
        while child.poll() is None and _arrived(address) < wanted:
            time.sleep(0.005)
        child.kill()
        child.wait()
        with incumbent.open(address, settings=QUICK) as memory:
            there = memory.store.organizations()
            for name in there:
                assert len(list(memory.store.dump(name))) == 300
        assert len(there) >= whole
        whole = len(there)
    results = told(run("copy", source, address, "--json"))
    assert list(results) == names
    assert set(results.values()) <= {"copied", "already there"}
    assert list(results.values())[:3] == ["already there"] * 3


def _arrived(address: str) -> int:
    with psycopg.connect(address) as connection:
        rows = connection.execute("SELECT count(*) FROM incumbent.organizations WHERE seq > 0")
        return int(rows.fetchall()[0][0])


def test_declarations_come_along(run: Run, places: tuple[str, str]) -> None:
    """What is special about a key is special in the copy too, even where nobody used it yet."""
    source, target = places
    with incumbent.open(source, settings=QUICK) as memory:
        memory.declare("tags", multi_valued=True)
    assert json.loads(run("copy", source, target, "--json").stdout)["declarations"] == 1
    with incumbent.open(target, settings=QUICK) as memory:
        alice = memory.session(user_id="alice")
        alice.write("tags", "a")
        alice.write("tags", "b")
        assert len(alice.facts()) == 2


def test_a_contrary_declaration_is_refused(run: Run, places: tuple[str, str]) -> None:
    """It would change what other organizations there mean, so nothing is copied."""
    source, target = places
    fill(source, "acme")
    with incumbent.open(target, settings=QUICK) as memory:
        memory.declare("tags", multi_valued=False)
    assert "declared otherwise" in run("copy", source, target, code=2).stderr
    with incumbent.open(target, settings=QUICK) as memory:
        assert memory.store.organizations() == []


def test_what_belongs_to_one_person_stays_behind_the_fence(
    run: Run, address: str, tmp_path: Path
) -> None:
    """In a database, the entries of the log about a personal fact are its owner's, as they are
    when they are written there."""
    source = str(tmp_path / "from.db")
    fill(source, "acme")
    run("copy", source, address)
    with psycopg.connect(address) as connection:
        connection.execute("SET ROLE incumbent_app")
        connection.execute("SELECT set_config('incumbent.organization', 'acme', true)")
        seen = {}
        for person in ("bob", "alice"):
            connection.execute("SELECT set_config('incumbent.person', %s, true)", (person,))
            rows = connection.execute("SELECT reason FROM incumbent.verdicts").fetchall()
            seen[person] = {reason for (reason,) in rows}
    assert "for the door" in seen["bob"]
    assert "for the door" not in seen["alice"]


def test_the_index_is_made_on_first_use_or_at_once(
    run: Run, databases: Databases, tmp_path: Path
) -> None:
    """Without --reindex a note says so; with it the index is there."""
    source = str(tmp_path / "from.db")
    fill(source, "acme")
    later, now = databases.empty(), databases.empty()
    assert "incumbent reindex" in run("copy", source, later).stderr
    run("copy", source, now, "--reindex")
    states = [
        json.loads(run("doctor", where, "--json").stdout)["organizations"][0]["index"]
        for where in (later, now)
    ]
    assert states == ["missing", "current"]


def test_what_belongs_to_sessions_is_not_copied(run: Run, address: str, tmp_path: Path) -> None:
    """Notes, turns and receipts stay where they are."""
    source = str(tmp_path / "from.db")
    with incumbent.open(source, settings=QUICK) as memory:
        alice = memory.session(user_id="alice", organization="acme", session_id="s")
        alice.observe("My address is 123 Main St.", ref="r1")
        alice.note("desk", "a note")
        alice.context("address?", record=True)
    run("copy", source, address)
    with incumbent.open(address, settings=QUICK) as memory, memory.store.read("acme") as reader:
        assert reader.desks() == []
        assert reader.turns("alice", "s", 9) == []
        assert reader.receipts(None, 9) == []
        assert len(reader.timeline(Selection())) == 1


def test_tells_how_far_it_is(tmp_path: Path) -> None:
    """Copying and verifying are told as they go."""
    fill(str(tmp_path / "from.db"), "acme")
    heard: list[str] = []
    with (
        incumbent.open(tmp_path / "from.db", settings=QUICK) as ours,
        incumbent.open(tmp_path / "to.db", settings=QUICK) as theirs,
    ):
        result = copy_organization(
            ours.store, theirs.store, "acme", lambda what, done, total: heard.append(what)
        )
    assert heard == ["copying 'acme'", "verifying 'acme'"]
    assert (result.fate, len(result.digest)) == (Fate.COPIED, 64)


class _Forgetful:
    """A store that loses a record of what it is given, as a broken one might."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def dump(self, organization: str) -> Iterator[dict[str, Any]]:
        records = list(self._store.dump(organization))
        yield from records[:-1]


def test_a_copy_that_reads_otherwise_is_told(tmp_path: Path) -> None:
    """Verification is no formality: a record that is not read back is an error."""
    fill(str(tmp_path / "from.db"), "acme")
    with (
        incumbent.open(tmp_path / "from.db", settings=QUICK) as ours,
        incumbent.open(tmp_path / "to.db", settings=QUICK) as theirs,
        pytest.raises(StoreError, match="reads otherwise"),
    ):
        broken: Any = _Forgetful(theirs.store)
        copy_organization(ours.store, broken, "acme", lambda *given: None)


@pytest.mark.slow
def test_many_facts_arrive_quickly(run: Run, address: str, tmp_path: Path) -> None:
    """Rows are sent in batches: 2,000 facts with their history take seconds, not minutes."""
    source = str(tmp_path / "from.db")
    with incumbent.open(
        source, settings=incumbent.Settings(durability="process", embedder=None)
    ) as m:
        alice = m.session(user_id="alice", organization="acme")
        for start in range(0, 2000, 500):
            alice.write_many([{"key": f"key {n}", "value": n} for n in range(start, start + 500)])
    result = json.loads(run("copy", source, address, "--json").stdout)
    assert result["organizations"][0]["records"] == 4000


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["from.db", "from.db"], 2, "the same store"),
        (["from.db", "./from.db"], 2, "the same store"),
        (["from.db", ":memory:"], 2, ":memory:"),
        (["from.db", "mysql://host/db"], 2, "not supported"),
        (["missing.db", "to.db"], 3, "there is no file missing.db"),
        (["from.db", "to.db", "--org", "nope"], 2, "FROM has no organization 'nope'"),
        (["from.db", "postgresql://h/d?nonsense=1"], 2, "cannot be read"),
        (["from.db", "postgresql://u@127.0.0.1:1/d"], 3, "no PostgreSQL server answers"),
    ],
)
def test_a_wrong_call_changes_nothing(
    run: Run, tmp_path: Path, arguments: list[str], code: int, words: str
) -> None:
    """Each is refused with what is wrong, and no store is made."""
    fill(str(tmp_path / "from.db"), "acme")
    assert words in run("copy", *arguments, code=code).stderr
    assert not (tmp_path / "to.db").exists()


def test_a_database_without_the_schema_is_no_source(
    run: Run, databases: Databases, tmp_path: Path
) -> None:
    """There is nothing to copy, and nothing is made of it; as a target it is made ready."""
    bare = databases.bare()
    assert "there is no Incumbent schema" in run("copy", bare, "to.db", code=3).stderr
    fill(str(tmp_path / "from.db"), "acme")
    run("copy", "from.db", bare)
    assert run("current", "lead", "--db", bare).stdout == "Omar\n"
