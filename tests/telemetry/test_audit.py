"""The audit stream: every decision once, in order, with nothing that was said unless asked for."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import incumbent
from incumbent.audit.entries import AuditEntry
from incumbent.audit.follower import follow
from tests.conftest import OpenMemory
from tests.patience import PATIENCE
from tests.telemetry.test_logs import CANARY

pytestmark = pytest.mark.on_every_store


def acme(memory: incumbent.Memory, **options: Any) -> list[AuditEntry]:
    return list(memory.audit("acme", **options))


def test_the_stream_is_the_log(memory: incumbent.Memory, alice: incumbent.Session) -> None:
    """An entry for each verdict, numbered without gaps, with its ids, rule, outcome and author."""
    first = alice.write("city", "Bern")
    second = alice.write("city", "Basel")
    undone = alice.undo(second)
    entries = acme(memory)
    assert [entry.seq for entry in entries] == [1, 2, 3]
    assert [entry.id for entry in entries] == [first.id, second.id, undone.id]
    moved = entries[1].record()
    assert (moved["outcome"], moved["rule"], moved["by"]) == ("superseded", "implicit", "alice")
    assert moved["superseded"] == [first.fact_id]
    assert moved["recorded_at"] == second.recorded_at.isoformat()
    assert entries[2].evidence["undoes"] == second.id


def test_it_goes_on_from_any_entry(memory: incumbent.Memory, alice: incumbent.Session) -> None:
    """Whatever number one has read to, the rest is the same entries."""
    alice.write_many({"key": f"k{number}", "value": number} for number in range(1200))
    whole = acme(memory)
    assert len(whole) == 1200
    for after in (0, 1, 499, 500, 501, 1199, 1200):
        assert acme(memory, after=after) == whole[after:]


def test_an_entry_reads_the_same_later(memory: incumbent.Memory, alice: incumbent.Session) -> None:
    """What was read once stays so: an undo is another entry, and changes none."""
    verdict = alice.write("city", "Bern")
    before = acme(memory)
    alice.undo(verdict)
    assert acme(memory)[:1] == before


def test_values_are_there_only_where_asked_for(
    memory: incumbent.Memory, alice: incumbent.Session
) -> None:
    """A value said in every way is in no entry; with values it is in those it belongs to."""
    alice.write("city", CANARY, subject=CANARY)
    alice.write(f"key_{CANARY}", {"deep": CANARY}, depends_on=["city"])
    alice.write("city", "Basel", subject=CANARY)
    alice.observe(f"My dog is called {CANARY}.")
    alice.observe("No, my dog is called Rex.")
    alice.retract(f"key_{CANARY}", reason=f"{CANARY} said so")
    plain = [json.dumps(entry.record()) for entry in acme(memory)]
    assert CANARY not in "".join(plain)
    told = [entry.record() for entry in acme(memory, values=True)]
    assert (told[0]["key"], told[0]["subject"], told[0]["value"]) == ("city", CANARY, CANARY)
    assert told[-1]["reason"] == f"{CANARY} said so"
    assert not any(entry["erased"] for entry in told)


def test_what_was_erased_is_in_no_entry(memory: incumbent.Memory, alice: incumbent.Session) -> None:
    """After an erasure its entries are there with ids alone, and the erasure is one itself."""
    alice.write("city", CANARY)
    alice.retract("city", reason=f"not {CANARY}")
    memory.forget(organization="acme", user_id="alice")
    told = [entry.record() for entry in acme(memory, values=True)]
    assert [entry["action"] for entry in told] == ["assert", "retract", "forget"]
    assert CANARY not in json.dumps(told)
    assert told[0]["erased"] is True
    assert told[0]["by"] == ""


def test_nothing_crosses_an_organization(
    memory: incumbent.Memory, alice: incumbent.Session
) -> None:
    """The stream of one organization has nothing of another."""
    alice.write("city", "Bern")
    memory.session(user_id="ben", organization="globex").write("city", "Basel")
    assert [entry.by for entry in acme(memory)] == ["alice"]
    assert list(memory.audit("nobody")) == []


@pytest.mark.parametrize("after", [-1, 1.5, True, "3", None, 2**70, 2])
def test_a_place_that_the_log_has_not_is_refused(
    memory: incumbent.Memory, alice: incumbent.Session, after: Any
) -> None:
    """What is no number of an entry is refused at once, and not when somebody reads."""
    alice.write("city", "Bern")
    with pytest.raises(incumbent.InvalidInput):
        memory.audit("acme", after=after)
    with pytest.raises(incumbent.InvalidInput):
        follow(memory, "acme", after=after)


def test_an_interval_of_nothing_is_refused(memory: incumbent.Memory) -> None:
    """Looking without a pause would keep a processor busy."""
    for interval in (0, -1, float("nan")):
        with pytest.raises(incumbent.InvalidInput, match="interval"):
            follow(memory, "acme", interval=interval)


class Follower:
    """Follows a log on a thread of its own, and notes when each entry arrived."""

    def __init__(self, pages: Iterator[list[AuditEntry]]) -> None:
        self.arrived: list[tuple[int, float]] = []
        self.news = threading.Condition()
        self.thread = threading.Thread(target=self._run, args=(pages,), daemon=True)
        self.thread.start()

    def _run(self, pages: Iterator[list[AuditEntry]]) -> None:
        for page in pages:
            with self.news:
                self.arrived += [(entry.seq, time.monotonic()) for entry in page]
                self.news.notify_all()

    def wait_for(self, count: int) -> bool:
        with self.news:
            return self.news.wait_for(lambda: len(self.arrived) >= count, 30)


def test_following_sees_what_this_memory_writes_at_once(
    memory: incumbent.Memory, alice: incumbent.Session
) -> None:
    """A write of the same memory wakes a follower that would not look again for an hour."""
    stop = threading.Event()
    follower = Follower(follow(memory, "acme", interval=3600, stop=stop))
    for number in range(1, 6):
        alice.write("city", f"town {number}")
        assert follower.wait_for(number)
    memory.forget(organization="acme", user_id="alice")
    assert follower.wait_for(6)
    stop.set()
    follower.thread.join(PATIENCE)
    assert not follower.thread.is_alive()
    assert [seq for seq, _ in follower.arrived] == [1, 2, 3, 4, 5, 6]
    assert memory.resources.bells.is_unheard


def test_following_sees_what_others_write(
    open_memory: OpenMemory, where: str, memory: incumbent.Memory, alice: incumbent.Session
) -> None:
    """What another memory on the same store writes is seen at the next look."""
    if where == ":memory:":
        pytest.skip("nobody else can open it")
    alice.write("city", "Bern")
    stop = threading.Event()
    follower = Follower(follow(open_memory(), "acme", after=1, interval=0.05, stop=stop))
    alice.write("city", "Basel")
    assert follower.wait_for(1)
    stop.set()
    follower.thread.join(PATIENCE)
    assert [seq for seq, _ in follower.arrived] == [2]


class Away:
    """A store that cannot be reached, so many times."""

    def __init__(self, store: Any, times: int) -> None:
        self._store = store
        self.left = times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def read(self, *given: Any) -> Any:
        if self.left:
            self.left -= 1
            raise incumbent.StoreUnavailable("the server went away")
        return self._store.read(*given)


def test_following_waits_for_a_store_that_is_away(
    memory: incumbent.Memory, alice: incumbent.Session
) -> None:
    """A store that is gone for a while costs time and no entry; at the beginning it is an error."""
    alice.write("city", "Bern")
    store: Any = memory.store
    pages = follow(memory, "acme", interval=0.01)
    assert [entry.seq for entry in next(pages)] == [1]
    alice.write("city", "Basel")
    away: Any = Away(store, 3)
    memory.resources.store = away
    assert [entry.seq for entry in next(pages)] == [2]
    assert away.left == 0
    pages.close()  # type: ignore[attr-defined]
    away.left = 1
    with pytest.raises(incumbent.StoreUnavailable):
        follow(memory, "acme")
    memory.resources.store = store


def test_many_writers_and_followers_miss_nothing(
    memory: incumbent.Memory, alice: incumbent.Session
) -> None:
    """However writes and looks interleave, each follower has every entry once and in order."""
    stop = threading.Event()
    followers = [Follower(follow(memory, "acme", interval=3600, stop=stop)) for _ in range(3)]

    def write(name: str) -> None:
        for number in range(40):
            alice.write(f"{name}{number % 5}", number)

    writers = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert all(follower.wait_for(160) for follower in followers)
    stop.set()
    for follower in followers:
        follower.thread.join(PATIENCE)  # else it may still look when the memory is closed
        assert [seq for seq, _ in follower.arrived] == list(range(1, 161))
