"""The promises of a reader about facts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from incumbent.model.fact import Basis, Cause, Fact, MemoryType, Part, Said, Source, Status
from incumbent.model.scope import Scope
from incumbent.stores.port import Selection, Store
from incumbent.testing.contract.scribe import EVERYTHING, Contract, Scribe, ids

LEFT = [status for status in Status if status not in (Status.OFFICE, Status.ERASED)]
"""Every status of a fact that is not in office and still has content."""

JSON_VALUES: dict[str, Any] = {
    "text": "Ünïcode 🗼 'quoted' \"twice\" \\ \n\t end",
    "empty text": "",
    "integer": 2**70,
    "negative": -3,
    "float": 0.1,
    "whole float": 1.0,
    "true": True,
    "false": False,
    "null": None,
    "list": [1, "two", None, [3.5, {"deep": []}]],
    "object": {"b": 1, "a": {"nested": [True, False]}, "": "empty name"},
    "long text": "x" * 100_000,
}

SELECTIONS: dict[str, tuple[Selection, set[str]]] = {
    "everything": (Selection(), {"plain", "shared", "about", "task", "other key"}),
    "one owner": (Selection(owners=("alice",)), {"plain", "about", "task", "other key"}),
    "two owners": (
        Selection(owners=("alice", "")),
        {"plain", "shared", "about", "task", "other key"},
    ),
    "an unknown owner": (Selection(owners=("nobody",)), set()),
    "no owner at all": (Selection(owners=()), set()),
    "a scope id": (Selection(scope_ids=("T1",)), {"task"}),
    "the global scope": (
        Selection(scope_ids=("",)),
        {"plain", "shared", "about", "other key"},
    ),
    "two scope ids": (
        Selection(scope_ids=("", "T1"), owners=("alice",)),
        {"plain", "about", "task", "other key"},
    ),
    "no scope id at all": (Selection(scope_ids=()), set()),
    "a key": (Selection(key="color"), {"other key"}),
    "a subject": (Selection(subject="house"), {"about"}),
    "no subject named": (Selection(subject=""), {"plain", "shared", "task", "other key"}),
    "all four": (Selection(("alice",), ("",), "city", ""), {"plain"}),
    "several of all four": (
        Selection(("alice", ""), ("", "T1"), "city", ""),
        {"plain", "shared", "task"},
    ),
    "all four, no owner": (Selection((), ("",), "city", ""), set()),
    "all four, no scope id": (Selection(("alice",), (), "city", ""), set()),
}


def full_fact(acme: Scribe) -> Fact:
    """A fact in which no field has its default."""
    base = acme.fact(id="whole")
    hour = timedelta(hours=1)
    return base.evolve(
        subject="house",
        value={"street": "Oak Ave"},
        source=Source(
            "conversation",
            "chat",
            3,
            4,
            "VP",
            "user",
            "turn-7",
            (0, 19),
            "our house in Oak Ave",
            (Part("address", "Oak Ave", "oak avenue", "to", 13, 20),),
            (Said(1, "user", "turn-5", 2, 9),),
            ("subject",),
        ),
        timestamp=base.timestamp + timedelta(microseconds=1),
        valid_from=base.valid_from - hour,
        valid_until=base.valid_from + 9 * hour,
        memory_type=MemoryType.CAPABILITY,
        scope=Scope.TASK,
        scope_id="T1",
        authority="executive",
        requires=("finance", "hr"),
        min_authority="manager",
        depends_on=("base-1", "base-2"),
        doubts=("doubted-2", "doubted-1"),
        when_superseded="base-3",
        is_constraint=True,
        constraint_type="budget",
        multi_valued=True,
        time_sensitive=True,
        status=Status.SUPERSEDED,
        superseded_by="next",
        predecessors=("before-1", "before-2"),
        started_at=base.valid_from,
        ended_at=base.valid_from + 2 * hour,
        standing="policy",
        confirmed_at=base.valid_from + hour,
        awaits="base-3",
        basis=(Basis("base-1", "base-1b"), Basis("base-2", "base-2")),
        causes=(Cause("base-1", "base-1b", ("base-1", "whole")), Cause("x", None, ("x",))),
        acknowledged=frozenset({"base-1>base-1b"}),
    )


def each_kind(acme: Scribe) -> None:
    """One fact of each kind that a selection can tell apart."""
    acme.establish(id="plain")
    acme.establish(id="shared", owner="", memory_type=MemoryType.ORGANIZATIONAL)
    acme.establish(id="about", subject="house")
    acme.establish(id="task", scope=Scope.TASK, scope_id="T1")
    acme.establish(id="other key", key="color")


class ReadingContract(Contract):
    """Facts as a reader gives them."""

    def test_owned_gives_what_is_live_of_one_owner_up_to_a_limit(
        self, store: Store, acme: Scribe
    ) -> None:
        """Live facts in every scope, none of another owner, none that left office, ordered by
        id."""
        each_kind(acme)
        acme.establish(id="over", key="size", status=Status.OVERRULED, started_at=None)
        with store.read("acme", "alice") as reader:
            found = [fact.id for fact in reader.owned("alice", 10)]
            assert found == ["about", "other key", "plain", "task"]
            assert len(reader.owned("alice", 3)) == 3
            assert reader.owned("nobody", 10) == []

    def test_reader_names_its_organization(self, store: Store) -> None:
        """A reader and a transaction say which organization they are for."""
        with store.read("acme") as reader:
            assert reader.organization == "acme"
        with store.write("acme") as transaction:
            assert transaction.organization == "acme"

    def test_fact_comes_back_whole(self, store: Store, acme: Scribe) -> None:
        """Every field of a fact survives storage."""
        fact = full_fact(acme)
        with store.write("acme") as transaction:
            acme.put(transaction, fact)
        with store.read("acme") as reader:
            assert reader.fact("whole") == fact

    @pytest.mark.parametrize("value", JSON_VALUES.values(), ids=JSON_VALUES)
    def test_value_comes_back_as_it_was(self, store: Store, acme: Scribe, value: Any) -> None:
        """Any JSON value comes back equal, and of the same type."""
        acme.establish(value, id="it")
        with store.read("acme") as reader:
            fact = reader.fact("it")
        assert fact is not None
        assert fact.value == value
        assert type(fact.value) is type(value)

    def test_value_cannot_be_changed_from_outside(self, store: Store, acme: Scribe) -> None:
        """Changes to a list after it was stored, or after it was read, do not reach the store."""
        given = {"tags": ["a"]}
        acme.establish(given, id="it")
        given["tags"].append("after storing")
        with store.read("acme") as reader:
            fact = reader.fact("it")
        assert fact is not None
        assert fact.value == {"tags": ["a"]}
        fact.value["tags"].append("after reading")
        with store.read("acme") as reader:
            again = reader.fact("it")
        assert again is not None
        assert again.value == {"tags": ["a"]}

    def test_unknown_fact_is_none(self, store: Store, acme: Scribe) -> None:
        """An id that nobody used gives None."""
        acme.establish()
        with store.read("acme") as reader:
            assert reader.fact("unknown") is None

    def test_fact_shows_its_present_tenure(self, store: Store, acme: Scribe) -> None:
        """A fact is given as it stands after the last change."""
        old = acme.establish("Bern")
        ended, new = acme.supersede(old, "Basel")
        with store.read("acme") as reader:
            assert reader.fact(old.id) == ended
            assert reader.fact(new.id) == new

    # live

    def test_live_has_what_holds_office(self, store: Store, acme: Scribe) -> None:
        """Of a chain, the live part is the fact in office."""
        _, new = acme.supersede(acme.establish("Bern"), "Basel")
        with store.read("acme") as reader:
            assert reader.live(EVERYTHING) == [new]

    @pytest.mark.parametrize("status", LEFT, ids=str)
    def test_live_leaves_out_what_left_or_never_held(
        self, store: Store, acme: Scribe, status: Status
    ) -> None:
        """No status but office is live once the term is over."""
        fact = acme.establish()
        after = acme.change(fact, status=status, ended_at=fact.started_at)
        with store.read("acme") as reader:
            assert reader.fact(fact.id) == after
            assert reader.live(EVERYTHING) == []

    @pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.RETRACTED, Status.EXPIRED])
    def test_live_has_terms_still_to_end(self, store: Store, acme: Scribe, status: Status) -> None:
        """A fact whose end is set for later than the change may yet hold office."""
        fact = acme.establish()
        later = fact.recorded_at + timedelta(days=365)
        acme.change(fact, status=status, ended_at=later)
        with store.read("acme") as reader:
            assert ids(reader.live(EVERYTHING)) == [fact.id]

    def test_live_asks_no_clock(self, store: Store, acme: Scribe) -> None:
        """Facts in office whose term has not begun, or has run out, are live all the same."""
        day = timedelta(days=1)
        now = acme.clock.now
        acme.establish(id="begins later", valid_from=now + day, started_at=now + day, key="a")
        acme.establish(id="ran out", valid_from=now - 2 * day, valid_until=now - day, key="b")
        with store.read("acme") as reader:
            assert ids(reader.live(EVERYTHING)) == ["begins later", "ran out"]

    def test_live_is_ordered_by_id(self, store: Store, acme: Scribe) -> None:
        """Live facts come by id, however they were written."""
        for name, key in (("m", "1"), ("z", "2"), ("a", "3"), ("k", "4")):
            acme.establish(id=name, key=key)
        with store.read("acme") as reader:
            assert ids(reader.live(EVERYTHING)) == ["a", "k", "m", "z"]

    def test_live_has_a_matter_whoever_owns_it(self, store: Store, acme: Scribe) -> None:
        """One key and subject of all owners and scopes, with nobody left out or taken twice."""
        for owner in ("zoe", "", "ann", "bob"):
            acme.establish(id=f"of {owner}", owner=owner, key="cap", subject="sales")
            acme.establish(owner=owner, key="cap", subject="legal")
            acme.establish(owner=owner, key="cup", subject="sales")
        acme.establish(id="within", owner="bob", key="cap", subject="sales", scope_id="s")
        with store.read("acme") as reader:
            found = reader.live(Selection(None, None, "cap", "sales"))
        assert ids(found) == ["of ", "of ann", "of bob", "of zoe", "within"]

    # selections

    @pytest.mark.parametrize(("selection", "expected"), SELECTIONS.values(), ids=SELECTIONS)
    def test_selection(
        self, store: Store, acme: Scribe, selection: Selection, expected: set[str]
    ) -> None:
        """Live, timeline and known agree on what a selection takes."""
        each_kind(acme)
        with store.read("acme") as reader:
            assert set(ids(reader.live(selection))) == expected
            assert set(ids(reader.timeline(selection))) == expected
            assert set(ids(reader.known(selection, reader.head()[0]))) == expected

    def test_selection_by_words(self, store: Store, acme: Scribe) -> None:
        """Words select what says exactly that, under a name or without one."""
        unnamed: dict[str, Any] = {"key": "", "multi_valued": True}
        for name, value in {
            "same": '5 "o\'clock"\n',
            "again": '5 "o\'clock"\n',
            "other": "5",
        }.items():
            acme.establish(id=name, value=value, **unnamed)
        acme.establish(id="number", value=5, **unnamed)
        acme.establish(id="named", value="5")
        said = Selection(("alice",), ("",), "", "", '5 "o\'clock"\n')
        with store.read("acme") as reader:
            for select in (reader.live, reader.timeline):
                assert set(ids(select(said))) == {"again", "same"}
                assert set(ids(select(Selection(said="5")))) == {"other", "named"}
                assert select(said._replace(owners=("bob",))) == []

    # timeline

    def test_timeline_has_every_status(self, store: Store, acme: Scribe) -> None:
        """The timeline has a fact of any status, as it stands."""
        expected = []
        for status in Status:
            if status is not Status.ERASED:
                fact = acme.establish(key=f"key {status}")
                expected.append(acme.change(fact, status=status))
        with store.read("acme") as reader:
            assert reader.timeline(EVERYTHING) == expected

    def test_timeline_runs_oldest_first(self, store: Store, acme: Scribe) -> None:
        """The timeline follows the log, not the ids and not the changes since."""
        facts = [acme.establish(id=name, key=f"key {name}") for name in ("m", "z", "a")]
        acme.change(facts[0], status=Status.RETRACTED)
        with store.read("acme") as reader:
            assert ids(reader.timeline(EVERYTHING)) == ["m", "z", "a"]

    # known

    def test_known_gives_every_past_state_again(self, store: Store, acme: Scribe) -> None:
        """After any entry of the log, `known` gives exactly the facts that the store held after
        it."""
        snapshots: list[list[Fact]] = []

        def snapshot() -> None:
            with store.read("acme") as reader:
                snapshots.append(_by_id(reader.timeline(EVERYTHING)))

        snapshot()
        first = acme.establish("Bern")
        snapshot()
        ended, second = acme.supersede(first, "Basel")
        snapshot()
        acme.change(second, status=Status.RETRACTED, ended_at=acme.clock.now)
        snapshot()
        acme.change(ended, status=Status.OFFICE, superseded_by=None, ended_at=None)
        snapshot()
        with store.read("acme") as reader:
            assert reader.head()[0] == 4
            for seq, expected in enumerate(snapshots):
                assert _by_id(reader.known(EVERYTHING, seq)) == expected

    def test_known_of_the_present_is_the_timeline(self, store: Store, acme: Scribe) -> None:
        """After the last entry, and after any later number, `known` gives the timeline."""
        acme.supersede(acme.establish("Bern"), "Basel")
        with store.read("acme") as reader:
            now = _by_id(reader.timeline(EVERYTHING))
            assert _by_id(reader.known(EVERYTHING, 2)) == now
            assert _by_id(reader.known(EVERYTHING, 99)) == now


def _by_id(facts: list[Fact]) -> list[Fact]:
    return sorted(facts, key=lambda fact: fact.id)
