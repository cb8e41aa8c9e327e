"""The promises of a reader about the links between facts."""

from __future__ import annotations

from typing import Any

from incumbent.model.fact import Basis, Status
from incumbent.stores.port import Store
from incumbent.testing.contract.scribe import Contract, Scribe, ids


class LinksContract(Contract):
    """Bases, dependents, and facts that wait for others."""

    def test_standing_on_follows_the_legs(self, store: Store, acme: Scribe) -> None:
        """A leg stands on the fact it names now; the one it was written on no longer counts."""
        acme.establish(id="b", key="two", basis=(Basis("base", "base"),), depends_on=("base",))
        moved = acme.establish(
            id="a", key="one", basis=(Basis("base", "base"),), depends_on=("base",)
        )
        acme.change(moved, basis=(Basis("base", "newer"),))
        with store.read("acme") as reader:
            assert ids(reader.standing_on(["base"])) == ["b"]
            assert ids(reader.standing_on(["newer"])) == ["a"]
            assert ids(reader.standing_on(["newer", "base"])) == ["a", "b"]
            assert reader.standing_on([]) == []
            assert reader.standing_on(["unknown"]) == []

    def test_standing_on_takes_only_facts_in_office(self, store: Store, acme: Scribe) -> None:
        """A fact that left office stands on nothing."""
        fact = acme.establish(basis=(Basis("base", "base"),), depends_on=("base",))
        acme.change(fact, status=Status.RETRACTED, ended_at=acme.clock.now)
        with store.read("acme") as reader:
            assert reader.standing_on(["base"]) == []

    def test_derived_from_takes_any_status(self, store: Store, acme: Scribe) -> None:
        """Facts derived from a base are found by it for good, ordered by id."""
        for name in ("z", "a"):
            fact = acme.establish(
                id=name,
                key=name,
                basis=(Basis("base", "base"), Basis("two", "two")),
                depends_on=("base", "two"),
            )
            acme.change(fact, status=Status.RETRACTED, basis=(Basis("base", "c"), fact.basis[1]))
        with store.read("acme") as reader:
            assert ids(reader.derived_from(["base"])) == ["a", "z"]
            assert ids(reader.derived_from(["base", "two", "unknown"])) == ["a", "z"]
            assert reader.derived_from(["c"]) == []

    def test_waiting_on_takes_only_those_that_wait(self, store: Store, acme: Scribe) -> None:
        """A fact awaits the departure of the one it names, until it takes office."""
        waiting = {"status": Status.WAITING, "started_at": None, "when_superseded": "base"}
        acme.establish(id="z", key="z", awaits="base", **waiting)
        acme.establish(id="a", key="a", awaits="renewed", **waiting)
        done = acme.establish(id="d", key="d", awaits="base", **waiting)
        acme.change(done, status=Status.OFFICE, started_at=acme.clock.now)
        with store.read("acme") as reader:
            assert ids(reader.waiting_on(["base"])) == ["z"]
            assert ids(reader.waiting_on(["renewed", "base"])) == ["a", "z"]
            assert ids(reader.contingent_on(["base"])) == ["a", "d", "z"]
            assert reader.contingent_on(["renewed"]) == []

    def test_contested_and_derived_are_what_reviews_look_at(
        self, store: Store, acme: Scribe
    ) -> None:
        """Contested facts, and derived facts in office, of these owners, each ordered by id."""
        rests: dict[str, Any] = {"basis": (Basis("base", "base"),), "depends_on": ("base",)}
        acme.establish(id="z", key="z", **rests)
        acme.establish(id="a", key="a", **rests)
        acme.establish(id="c", key="c", status=Status.CONTESTED, started_at=None)
        acme.establish(id="fine", key="fine")
        acme.establish(id="bob's", key="z", owner="bob", **rests)
        gone = acme.establish(id="gone", key="gone", **rests)
        acme.change(gone, status=Status.RETRACTED, ended_at=acme.clock.now)
        with store.read("acme") as reader:
            assert ids(reader.contested(("alice",))) == ["c"]
            assert ids(reader.derived(("alice",))) == ["a", "z"]
            assert ids(reader.derived(("alice", "bob"))) == ["a", "bob's", "z"]
            for ask in (reader.contested, reader.derived):
                assert ask(("nobody",)) == []
                assert ask(()) == []

    def test_what_waits_for_approval_is_told_apart(self, store: Store, acme: Scribe) -> None:
        """Facts of these owners that wait for nothing else, ordered by id."""
        waits: dict[str, Any] = {"status": Status.WAITING, "started_at": None}
        acme.establish(id="z", key="z", **waits)
        acme.establish(id="a", key="a", when_superseded="base", **waits)
        acme.establish(id="later", key="c", when_superseded="base", awaits="base", **waits)
        acme.establish(id="bob's", key="z", owner="bob", **waits)
        acme.establish(id="here", key="here")
        done = acme.establish(id="done", key="done", **waits)
        acme.change(done, status=Status.OFFICE, started_at=acme.clock.now)
        with store.read("acme") as reader:
            assert ids(reader.unapproved(("alice",))) == ["a", "z"]
            assert ids(reader.unapproved(("alice", "bob"))) == ["a", "bob's", "z"]
            assert reader.unapproved(("nobody",)) == []
            assert reader.unapproved(()) == []

    def test_doubting_finds_what_may_hold_office(self, store: Store, acme: Scribe) -> None:
        """A fact that doubts others is found by each of them while it is live, ordered by id."""
        acme.establish(id="z", key="z", doubts=("one", "two"))
        acme.establish(id="a", key="a", doubts=("two",))
        acme.establish(id="rests", key="rests", basis=(Basis("one", "one"),), depends_on=("one",))
        gone = acme.establish(id="gone", key="gone", doubts=("one",))
        acme.change(gone, status=Status.RETRACTED, ended_at=acme.clock.now)
        with store.read("acme") as reader:
            assert ids(reader.doubting(["one"])) == ["z"]
            assert ids(reader.doubting(["two", "one", "unknown"])) == ["a", "z"]
            assert reader.doubting(["a"]) == []
            assert reader.doubting([]) == []
            assert ids(reader.derived_from(["one"])) == ["rests"]
            assert reader.standing_on(["two"]) == []

    def test_doubting_returns_with_its_office(self, store: Store, acme: Scribe) -> None:
        """A fact that left office and came back doubts what it doubted before."""
        fact = acme.establish(id="d", doubts=("one",))
        ended = acme.change(fact, status=Status.WITHDRAWN, started_at=None)
        with store.read("acme") as reader:
            assert reader.doubting(["one"]) == reader.doubters(("alice",)) == []
        acme.change(ended, status=Status.OFFICE, started_at=fact.started_at)
        with store.read("acme") as reader:
            assert ids(reader.doubting(["one"])) == ids(reader.doubters(("alice",))) == ["d"]

    def test_doubters_are_found_by_their_owners(self, store: Store, acme: Scribe) -> None:
        """Live facts of these owners that doubt others, ordered by id, and no derived ones."""
        acme.establish(id="z", key="z", doubts=("one",))
        acme.establish(id="a", key="a", doubts=("one",))
        acme.establish(id="bob's", key="z", owner="bob", doubts=("one",))
        acme.establish(id="rests", key="rests", basis=(Basis("one", "one"),), depends_on=("one",))
        with store.read("acme") as reader:
            assert ids(reader.doubters(("alice",))) == ["a", "z"]
            assert ids(reader.doubters(("alice", "bob"))) == ["a", "bob's", "z"]
            assert reader.doubters(("nobody",)) == []
            assert reader.doubters(()) == []
            assert ids(reader.derived(("alice",))) == ["rests"]

    def test_links_of_very_many_facts(self, store: Store, acme: Scribe) -> None:
        """Asking by more ids than a database takes parameters works."""
        acme.establish(
            id="it",
            basis=(Basis("base", "base"),),
            depends_on=("base",),
            when_superseded="base",
            awaits="base",
            doubts=("doubted",),
        )
        many = [f"unknown-{number}" for number in range(2000)] + ["base", "it", "doubted"]
        with store.read("acme") as reader:
            assert ids(reader.standing_on(many)) == ["it"]
            assert ids(reader.derived_from(many)) == ["it"]
            assert ids(reader.contingent_on(many)) == ["it"]
            assert ids(reader.doubting(many)) == ["it"]
            assert reader.waiting_on(many) == []
            assert len(reader.verdicts(many)) == 1
