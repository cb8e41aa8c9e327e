"""What a connection to a SQLite file has read is used again only while it is still so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import incumbent
from incumbent import Memory, Session
from incumbent.model.fact import Fact, Status
from incumbent.model.text_cache import forget_texts
from incumbent.stores.sqlite.connections import SQLiteConnections
from tests.conftest import QUICK


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[Memory, Memory]]:
    """Two memories on one file, as two processes have them."""
    path = tmp_path / "agent.db"
    with incumbent.open(path, settings=QUICK) as one, incumbent.open(path, settings=QUICK) as other:
        yield one, other


def ann(memory: Memory, organization: str = "acme", authority: str = "employee") -> Session:
    return memory.session(user_id="ann", organization=organization, authority=authority)


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
    """Whoever erased it, the next reading has nothing of it."""
    one, other = two
    fact_id = ann(one).write("city", "Berlin").fact_id
    assert read(one, fact_id).value == "Berlin"
    (other if elsewhere else one).forget(organization="acme", fact_id=fact_id)
    gone = read(one, fact_id)
    assert (gone.status, gone.value) == (Status.ERASED, None)


def test_who_began_before_an_erasure_keeps_nothing_after_it(two: tuple[Memory, Memory]) -> None:
    """It sees what was there when it began, and no connection remembers that."""
    one, other = two
    fact_id = ann(one).write("city", "Berlin").fact_id
    with one.store.read("acme") as reader:
        reader.head()
        with other.store.write("acme") as transaction:
            other.resources.erase(transaction, fact_id=fact_id)
        forget_texts()
        assert reader.facts([fact_id])[0].value == "Berlin"
    connections: SQLiteConnections = one.store._connections  # type: ignore[attr-defined]
    assert "Berlin" not in repr([vars(kept) for kept in connections._keeping])
    assert read(one, fact_id).status is Status.ERASED


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


def test_a_doubt_is_seen_as_soon_as_there_is_one(two: tuple[Memory, Memory]) -> None:
    """That nothing doubted a fact a moment ago says nothing about now."""
    one, other = two
    fact_id = ann(one).write("city", "Berlin").fact_id
    with one.store.read("acme") as reader:
        assert reader.doubting([fact_id]) == []
    doubt = ann(other).write("remark", "I think she moved", doubts=[fact_id])
    with one.store.read("acme") as reader:
        assert [fact.id for fact in reader.doubting([fact_id])] == [doubt.fact_id]


def test_the_desk_is_read_as_it_is(two: tuple[Memory, Memory]) -> None:
    """Notes have no entry in the log; a context has what was put on the desk before it."""
    one, other = two
    session = one.session(user_id="ann", organization="acme", session_id="s")
    session.write("city", "Berlin")
    session.context("What now?")
    beside = other.session(user_id="ann", organization="acme", session_id="s")
    beside.note("objective", "find a flat")
    assert "find a flat" in session.context("What now?").text
    session.note("objective", "find a house")
    assert "find a house" in session.context("What now?").text
