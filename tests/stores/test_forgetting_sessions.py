"""What forgetting leaves on desks and among turns: nothing that was erased, in whatever words."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import incumbent
from incumbent import Memory
from incumbent.model.fact import Source
from incumbent.model.records import Erasure, Spot, Turn, WorkingItem
from incumbent.stores.sqlite import SQLiteStore
from incumbent.testing import SteppingClock
from incumbent.testing.contract.scribe import Scribe
from tests.conftest import QUICK

SECRET = "swordfish"
CLOCK = SteppingClock()


@pytest.fixture(params=["memory", "sqlite"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    """A memory over either store."""
    path = ":memory:" if request.param == "memory" else tmp_path / "agent.db"
    with incumbent.open(path, settings=QUICK) as opened:
        yield opened


def learn(
    memory: Memory, key: str, value: str, user: str = "alice", subject: str | None = None
) -> str:
    """Write a fact; returns its id."""
    session = memory.session(user_id=user, organization="acme", session_id="s1")
    return session.write(key, value, subject=subject).fact_id


def put(
    memory: Memory,
    key: str,
    text: str,
    *spots: Spot,
    states: tuple[str, ...] = (),
    user: str = "alice",
) -> None:
    """Put the text of a turn on a desk."""
    with memory.store.write("acme") as transaction:
        item = WorkingItem(key, text, CLOCK(), states=states, spots=spots)
        transaction.put_item(user, "s1", item)


def desks(memory: Memory) -> list[str]:
    """The keys of what lies on all desks, in order."""
    with memory.store.read("acme") as reader:
        return [item.key for _, _, item in reader.desks()]


def hear(memory: Memory, user: str, ref: str, *fact_ids: str) -> Turn:
    """Keep a turn of a user."""
    with memory.store.write("acme") as transaction:
        index = len(transaction.turns(user, "s1", 99))
        turn = Turn("s1", index, "user", CLOCK(), "d", ref, fact_ids)
        transaction.put_turn(user, turn)
    return turn


def turns(memory: Memory, user: str) -> list[Turn]:
    with memory.store.read("acme") as reader:
        return reader.turns(user, "s1", 99)


class TestDesks:
    """Items that say what was erased."""

    def test_an_item_with_a_spot_of_an_erased_fact_goes(self, memory: Memory) -> None:
        """A spot repeats a value of the fact, though the text says it in other words."""
        code, other = learn(memory, "code", SECRET), learn(memory, "town", "Bern")
        put(memory, "paraphrase", "the fish with the blade", Spot(code, SECRET, 4, 23))
        put(memory, "part", "with a blade", Spot(code, "a part of it", 0, 12))
        put(memory, "other", "the capital", Spot(other, "Bern", 0, 11), states=(other,))
        erasure = memory.forget(organization="acme", fact_id=code)
        assert desks(memory) == ["other"]
        assert erasure.removed["working_items"] == 2

    def test_an_item_that_states_an_erased_fact_goes(self, memory: Memory) -> None:
        """With the value gone nobody could cut out of it what it says in its own words."""
        code, other = learn(memory, "code", SECRET), learn(memory, "town", "Bern")
        put(memory, "own words", "the fish with the blade", states=(other, code))
        put(memory, "other", "the capital", states=(other,))
        memory.forget(organization="acme", fact_id=code)
        assert desks(memory) == ["other"]
        session = memory.session(user_id="alice", organization="acme", session_id="s1")
        assert "blade" not in session.context("fish").text

    def test_a_spot_of_another_fact_that_repeats_the_value_goes(self, memory: Memory) -> None:
        """What a spot quotes counts as said, whichever fact it is a spot of."""
        code, other = learn(memory, "code", SECRET), learn(memory, "menu", f"{SECRET}, grilled")
        put(memory, "menu", "the special", Spot(other, f"{SECRET}, grilled", 0, 11))
        put(memory, "plain", "the special", Spot(other, "grilled", 0, 11))
        memory.forget(organization="acme", fact_id=code)
        assert desks(memory) == ["plain"]

    def test_an_erased_fact_without_words_takes_its_items(self, memory: Memory) -> None:
        """A value that no text could quote still has items that state it."""
        session = memory.session(user_id="alice", organization="acme", session_id="s1")
        married = session.write("married", True).fact_id
        put(memory, "turn", "my better half says no", Spot(married, "true", 3, 14))
        memory.forget(organization="acme", fact_id=married)
        assert desks(memory) == []

    def test_the_desks_of_others_are_searched_too(self, memory: Memory) -> None:
        """A fact is stated by whoever heard of it."""
        code = learn(memory, "code", SECRET)
        put(memory, "heard", "that fish", Spot(code, SECRET, 0, 9), user="bob")
        put(memory, "own", "hello", user="bob")
        memory.forget(organization="acme", fact_id=code)
        assert desks(memory) == ["own"]


class TestTurns:
    """Turns go with their user, and with nothing else."""

    def test_the_turns_of_a_user_go_with_the_user(self, memory: Memory) -> None:
        """A ref may name somebody; the proof says how many turns went."""
        learn(memory, "code", SECRET, user="bob")
        hear(memory, "bob", "mail from Bob Miller")
        hear(memory, "bob", "another")
        kept = hear(memory, "alice", "hers")
        erasure = memory.forget(organization="acme", user_id="bob")
        assert erasure.removed["turns"] == 2
        assert turns(memory, "bob") == []
        assert turns(memory, "alice") == [kept]
        with memory.store.read("acme") as reader:
            assert reader.turns_called("bob", "another") == []

    def test_a_forgotten_fact_leaves_its_turn(self, memory: Memory) -> None:
        """A turn holds the id of the fact, which stays, and a turn that comes again is known. Of
        its words nothing is left."""
        code = learn(memory, "code", SECRET, subject="safe")
        kept = hear(memory, "alice", "m-0", code)
        asked: list[dict[str, Any]] = [{"fact_id": code}, {"user_id": "alice", "subject": "safe"}]
        for conditions in asked:
            learn(memory, "code", SECRET, subject="safe")
            erasure = memory.forget(organization="acme", **conditions)
            assert erasure.removed["turns"] == 0
            assert turns(memory, "alice") == [replace(kept, digest="")]

    def test_the_turns_of_other_organizations_stay(self, memory: Memory) -> None:
        """The same user elsewhere is another person."""
        learn(memory, "code", SECRET)
        kept = Turn("s1", 0, "user", CLOCK(), "d", "m-0")
        with memory.store.write("globex") as transaction:
            transaction.put_turn("alice", kept)
        memory.forget(organization="acme", user_id="alice")
        with memory.store.read("globex") as reader:
            assert reader.turns("alice", "s1", 9) == [kept]


class TestBytes:
    """The file itself."""

    def test_no_byte_of_a_spot_or_a_ref_is_left(self, tmp_path: Path) -> None:
        """After forgetting, neither the text of a spot nor the ref of a turn is in the files."""
        with incumbent.open(tmp_path / "agent.db", settings=QUICK) as memory:
            code = learn(memory, "code", SECRET)
            learn(memory, "town", "Bern", user="bob")
            put(memory, "turn", "the fish with the blade", Spot(code, SECRET, 4, 23))
            hear(memory, "bob", "mail from Miller")
            written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
            assert SECRET.encode() in written
            assert b"Miller" in written
            assert memory.forget(organization="acme", fact_id=code).scrubbed
            assert memory.forget(organization="acme", user_id="bob").scrubbed
            left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        for gone in (SECRET.encode(), b"blade", b"Miller"):
            assert gone not in left

    def test_no_source_is_remembered(self, tmp_path: Path) -> None:
        """A store that remembers where facts came from forgets that with them."""
        with closing(SQLiteStore(tmp_path / "agent.db", durability="process")) as store:
            scribe = Scribe(store)
            scribe.establish(id="told", source=Source("conversation", quote=SECRET))
            with store.read("acme") as reader:
                assert reader.fact("told") is not None
            assert quoted_in_memory()
            with store.write("acme") as transaction:
                transaction.erase(["told"], Erasure("e1", "acme", CLOCK(), ("told",)))
            assert not quoted_in_memory()


def quoted_in_memory() -> bool:
    """Whether this process holds a source that quotes the secret."""
    gc.collect()
    return any(type(held) is Source and held.quote == SECRET for held in gc.get_objects())
