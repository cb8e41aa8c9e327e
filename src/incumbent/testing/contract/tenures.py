"""The promises of a store about the past: how facts stood, by their ids and by their entries."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from incumbent.model.fact import Status
from incumbent.model.records import Erasure
from incumbent.model.times import to_micros
from incumbent.stores.port import Reader, Store, Tenured, TenuredBefore
from incumbent.testing.contract.catalogue import entry, index, numbers, shelf_of, shelve
from incumbent.testing.contract.scribe import EVERYTHING, Contract, Scribe, ids

MOVES: dict[str, dict[str, Any]] = {
    "the status": {"status": Status.WITHDRAWN},
    "the start": {"started_at": timedelta(days=-2)},
    "the end": {"ended_at": timedelta(days=-1)},
}
"""Changes of a fact that is out of office, each of which moves it on the axis of time."""


def tenured(reader: Reader, after: int = 0) -> dict[str, Tenured]:
    """The tenures on alice's shelf by the ids of their facts."""
    return {one.fact_id: one for one in reader.tenured(shelf_of(reader).id, after)}


def before(reader: Reader, after: int = 0) -> list[TenuredBefore]:
    """The earlier tenures on alice's shelf, in order."""
    return sorted(reader.tenured_before(shelf_of(reader).id, after))


class TenuresContract(Contract):
    """What was known of facts can be had for few of them, and for all of a shelf."""

    # by ids

    def test_known_facts_are_what_known_gives(self, store: Store, acme: Scribe) -> None:
        """After any entry of the log, the facts of some ids are those among all facts."""
        first = acme.establish("Bern", id="z")
        ended, second = acme.supersede(first, "Basel", id="m")
        acme.change(second, status=Status.RETRACTED, ended_at=acme.clock.now)
        acme.change(ended, status=Status.OFFICE, superseded_by=None, ended_at=None)
        acme.establish("Chur", id="a", key="other")
        with store.read("acme") as reader:
            for seq in range(reader.head()[0] + 2):
                every = reader.known(EVERYTHING, seq)
                assert reader.known_facts(["a", "m", "z", "m", "unknown"], seq) == every
                wanted = [fact for fact in every if fact.id == "m"]
                assert reader.known_facts(["m"], seq) == wanted
            assert reader.known_facts([], 3) == []

    def test_known_facts_run_oldest_first(self, store: Store, acme: Scribe) -> None:
        """They follow the log and not the ids, and there may be very many."""
        for name in ("m", "z", "a"):
            acme.establish(id=name, key=f"key {name}")
        many = [f"unknown-{number}" for number in range(2000)] + ["a", "m", "z"]
        with store.read("acme") as reader:
            assert ids(reader.known_facts(many, 3)) == ["m", "z", "a"]

    def test_ever_doubting_has_any_status(self, store: Store, acme: Scribe) -> None:
        """What put a fact in doubt is found after it has left, ordered by id; not once erased."""
        acme.establish(id="z", key="z", doubts=("one", "two"))
        gone = acme.establish(id="gone", key="gone", doubts=("one",))
        acme.change(gone, status=Status.RETRACTED, ended_at=acme.clock.now)
        acme.establish(id="rests", key="rests", depends_on=("one",))
        with store.read("acme") as reader:
            assert ids(reader.ever_doubting(["one"])) == ["gone", "z"]
            assert ids(reader.ever_doubting(["two", "unknown"])) == ["z"]
            assert reader.ever_doubting([]) == []
        with store.write("acme") as transaction:
            transaction.erase(["gone"], Erasure("e1", "acme", acme.clock(), ("gone",)))
        with store.read("acme") as reader:
            assert ids(reader.ever_doubting(["one"])) == ["z"]

    # by entries

    def test_tenured_has_what_decides_when_a_fact_held(self, store: Store, acme: Scribe) -> None:
        """An entry comes with what its fact is found by and with the present tenure."""
        day = timedelta(days=1)
        fact = acme.establish(
            "Bern",
            key="city",
            subject="ann",
            depends_on=("base",),
            multi_valued=True,
            valid_until=acme.clock.now + day,
        )
        index(acme, entry(fact, "city bern", probes="bern"))
        with store.read("acme") as reader:
            (found,) = tenured(reader).values()
            (number,) = numbers(reader, [fact])
            assert before(reader) == []
        assert fact.started_at is not None
        assert fact.valid_until is not None
        assert found == Tenured(
            entry=number,
            fact_id=fact.id,
            key="city",
            subject="ann",
            terms="city bern",
            probes="bern",
            derived=True,
            multi_valued=True,
            born=1,
            said=to_micros(fact.timestamp),
            since=1,
            status="office",
            starts=to_micros(fact.started_at),
            ends=to_micros(fact.valid_until),
        )

    def test_an_end_is_the_sooner_of_two(self, store: Store, acme: Scribe) -> None:
        """A fact ends with its own term or when it left, whichever came first, if any did."""
        day = timedelta(days=1)
        now = acme.clock.now
        plain = shelve(acme)
        left = acme.change(shelve(acme), status=Status.RETRACTED, ended_at=now + day)
        short = shelve(acme, valid_until=now + day)
        acme.change(short, status=Status.RETRACTED, ended_at=now + 2 * day)
        never = acme.establish(id="never", key="never", status=Status.CONTESTED, started_at=None)
        index(acme, entry(never))
        with store.read("acme") as reader:
            found = tenured(reader)
        assert found[plain.id].ends is None
        assert found[left.id].ends == found[short.id].ends == to_micros(now + day)
        assert (found["never"].starts, found["never"].status) == (None, "contested")

    def test_earlier_tenures_are_kept_with_when_they_were_known(
        self, store: Store, acme: Scribe
    ) -> None:
        """Each earlier tenure is known from one entry of the log to another."""
        fact = shelve(acme)
        other = shelve(acme)
        assert fact.started_at is not None
        start, end = to_micros(fact.started_at), acme.clock.now
        ended = acme.change(fact, status=Status.RETRACTED, ended_at=end)
        acme.change(ended, status=Status.WITHDRAWN, started_at=None, ended_at=None)
        with store.read("acme") as reader:
            number, _ = numbers(reader, [fact, other])
            assert before(reader) == [
                TenuredBefore(number, 1, 3, "office", start, None),
                TenuredBefore(number, 3, 4, "retracted", start, to_micros(end)),
            ]
            now = tenured(reader)[fact.id]
            assert (now.born, now.since, now.status, now.starts) == (1, 4, "withdrawn", None)

    @pytest.mark.parametrize("change", MOVES.values(), ids=MOVES)
    def test_every_move_changes_the_entry(
        self, store: Store, acme: Scribe, change: dict[str, Any]
    ) -> None:
        """An entry has a new version when its fact held at other moments than was known before,
        although that is long over: in office it is neither before nor after."""
        day = timedelta(days=1)
        now = acme.clock.now
        over = {"valid_from": now - 9 * day, "started_at": now - 9 * day}
        fact = shelve(acme, "bern", **over)
        gone = acme.change(fact, status=Status.RETRACTED, ended_at=now - 3 * day)
        other = shelve(acme)
        with store.read("acme") as reader:
            shelf = shelf_of(reader)
        given: dict[str, Any] = {
            k: now + v if isinstance(v, timedelta) else v for k, v in change.items()
        }
        acme.change(gone, **given)
        with store.read("acme") as reader:
            assert shelf_of(reader).version == shelf.version + 1
            assert tenured(reader, shelf.version).keys() == {fact.id}
            assert len(before(reader, shelf.version)) == 2
            assert [row.entry for row in reader.placed(shelf.id, shelf.version)] == numbers(
                reader, [fact]
            )
            assert tenured(reader).keys() == {fact.id, other.id}

    def test_an_erased_fact_leaves_no_incumbent(self, store: Store, acme: Scribe) -> None:
        """Of an erased fact only the number of its entry is left."""
        fact, other = shelve(acme, "bern"), shelve(acme)
        acme.change(fact, status=Status.RETRACTED, ended_at=acme.clock.now)
        with store.read("acme") as reader:
            version = shelf_of(reader).version
        with store.write("acme") as transaction:
            transaction.erase([fact.id], Erasure("e1", "acme", acme.clock(), (fact.id,)))
        with store.read("acme") as reader:
            (found,) = tenured(reader, version).values()
            assert (found.fact_id, found.key, found.terms, found.probes) == (fact.id, "", "", "")
            assert before(reader) == []
            assert tenured(reader)[other.id].key == other.key

    def test_tenures_of_others_are_not_there(self, store: Store, acme: Scribe) -> None:
        """A shelf has the tenures of its own facts, and an unknown one has none."""
        shelve(acme)
        acme.change(shelve(acme, owner="bob"), status=Status.RETRACTED, ended_at=acme.clock.now)
        shelve(Scribe(store, "globex"))
        with store.read("acme") as reader:
            assert len(tenured(reader)) == 1
            assert before(reader) == []
            assert list(reader.tenured(99_999, 0)) == []
            assert list(reader.tenured_before(99_999, 0)) == []
        with store.read("globex") as reader:
            assert len(tenured(reader)) == 1
