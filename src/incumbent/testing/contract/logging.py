"""The promises of a store about the log, the declarations and the working set."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from incumbent.model.records import Declaration, WorkingItem
from incumbent.model.verdict import Action, Outcome, Repair, Rule, Verdict
from incumbent.stores.port import Store
from incumbent.testing.contract.scribe import Contract, Scribe


def item(acme: Scribe, key: str, value: object = 1, **ends: float) -> WorkingItem:
    """A working item, which expires after `ends` if that is given."""
    now = acme.clock()
    return WorkingItem(key, value, now, now + timedelta(**ends) if ends else None)


class LogContract(Contract):
    """Verdicts in log order, declarations, working items."""

    def test_empty_log_has_no_head(self, store: Store) -> None:
        """The head of an empty log is (0, None)."""
        with store.read("acme") as reader:
            assert reader.head() == (0, None)
            assert reader.log(0, 10) == []

    def test_head_is_the_last_entry(self, store: Store, acme: Scribe) -> None:
        """The head is the last sequence number and its time."""
        acme.establish(key="one")
        with store.write("acme") as transaction:
            verdict = acme.put(transaction, acme.fact(key="two"))
            assert transaction.head() == (2, verdict.recorded_at)
        with store.read("acme") as reader:
            assert reader.head() == (2, verdict.recorded_at)

    def test_verdict_comes_back_whole_but_for_its_fact(self, store: Store, acme: Scribe) -> None:
        """Every field of a verdict survives storage, except the fact, which is not part of it."""
        fact = acme.fact()
        with store.write("acme") as transaction:
            verdict = acme.verdict(
                transaction,
                fact,
                action=Action.UNDO,
                outcome=Outcome.REVERTED,
                rule=Rule.UNDO,
                superseded=("a", "b"),
                evidence={"targets": ["a"], "late": True, "order": 12},
                confidence=0.25,
                by="bob",
                authority="manager",
                reason="it was wrong, said “Bob”",
                repair=Repair({"x": ("a", "x")}, ("l",), ("t",), ("s",)),
                undone_by="later",
            )
            transaction.record(verdict.evolve(fact=fact), [fact])
        with store.read("acme") as reader:
            assert reader.verdict(verdict.id) == verdict
            assert reader.log(0, 1) == [verdict]
            assert reader.verdict("unknown") is None

    def test_verdicts_on_facts_come_in_log_order(self, store: Store, acme: Scribe) -> None:
        """Every verdict on the facts asked for is given once, undone ones included."""
        z = acme.establish(id="z", key="z")
        a = acme.establish(id="a", key="a")
        acme.establish(id="other", key="other")
        acme.change(z, confirmed_at=acme.clock.now)
        acme.change(a, confirmed_at=acme.clock.now)
        with store.write("acme") as transaction:
            transaction.mark_undone(transaction.log(0, 1)[0].id, "somebody")
        with store.read("acme") as reader:
            assert [v.seq for v in reader.verdicts(["a", "z", "a"])] == [1, 2, 4, 5]
            assert [v.seq for v in reader.verdicts(["z"])] == [1, 4]
            assert reader.verdicts(["z"])[0].undone_by == "somebody"
            assert all(v.fact is None for v in reader.verdicts(["a", "z"]))
            assert reader.verdicts([]) == []

    def test_log_is_read_in_pages(self, store: Store, acme: Scribe) -> None:
        """The log is given in order, after a number, and no longer than asked."""
        for number in range(5):
            acme.establish(key=f"key {number}")
        with store.read("acme") as reader:
            assert [v.seq for v in reader.log(0, 100)] == [1, 2, 3, 4, 5]
            assert [v.seq for v in reader.log(1, 3)] == [2, 3, 4]
            assert reader.log(5, 10) == []
            assert reader.log(0, 0) == []

    def test_seq_at_is_the_last_entry_by_then(self, store: Store, acme: Scribe) -> None:
        """Entries at the moment itself count; if several share it, the last does."""
        moments: list[datetime] = []
        for key in ("one", "two", "three"):
            fact = acme.fact(key=key)
            with store.write("acme") as transaction:
                when = moments[-1] if key == "three" else acme.clock()
                acme.put(transaction, fact, recorded_at=when)
                moments.append(when)
        tick = timedelta(microseconds=1)
        with store.read("acme") as reader:
            assert reader.seq_at(moments[0] - tick) == 0
            assert reader.seq_at(moments[0]) == 1
            assert reader.seq_at(moments[1] - tick) == 1
            assert reader.seq_at(moments[1]) == 3
            assert reader.seq_at(moments[1] + timedelta(days=999)) == 3

    def test_seq_at_of_an_empty_log_is_zero(self, store: Store, acme: Scribe) -> None:
        """Before anything was recorded, nothing was known."""
        with store.read("acme") as reader:
            assert reader.seq_at(acme.clock.now) == 0

    def test_undone_mark_is_set_and_cleared(self, store: Store, acme: Scribe) -> None:
        """A verdict can be marked as undone, and the mark taken away again."""
        with store.write("acme") as transaction:
            verdict = acme.put(transaction, acme.fact())
        for undone_by in ("another", None):
            with store.write("acme") as transaction:
                transaction.mark_undone(verdict.id, undone_by)
            with store.read("acme") as reader:
                assert reader.verdict(verdict.id) == verdict.evolve(undone_by=undone_by)

    # declarations

    def test_no_declarations_at_first(self, store: Store) -> None:
        """A new store declares nothing."""
        with store.read("acme") as reader:
            assert reader.declarations() == ()

    def test_declarations_come_by_pattern_in_every_organization(self, store: Store) -> None:
        """Declarations are whole, ordered by pattern, and bound to no organization."""
        price = Declaration("price.*", time_sensitive=True, write_authority="manager")
        tags = Declaration("tags", multi_valued=True, requires=("a", "b"))
        with store.write("") as transaction:
            transaction.declare(tags)
            transaction.declare(price)
            assert transaction.declarations() == (price, tags)
        for organization in ("acme", "globex"):
            with store.read(organization) as reader:
                assert reader.declarations() == (price, tags)

    def test_declaring_again_replaces(self, store: Store) -> None:
        """The last declaration of a pattern is the one in force."""
        with store.write("acme") as transaction:
            transaction.declare(Declaration("tags", multi_valued=True))
        with store.write("globex") as transaction:
            transaction.declare(Declaration("tags", requires=("hr",)))
        with store.read("acme") as reader:
            assert reader.declarations() == (Declaration("tags", requires=("hr",)),)

    def test_declarations_are_the_same_object_until_one_changes(
        self, store: Store, acme: Scribe
    ) -> None:
        """Callers may tell by identity whether a declaration has changed."""
        with store.write("") as transaction:
            transaction.declare(Declaration("tags", multi_valued=True))
        with store.read("acme") as reader:
            first = reader.declarations()
        acme.establish()
        with store.read("globex") as reader:
            assert reader.declarations() is first
        with store.write("") as transaction:
            transaction.declare(Declaration("tags", multi_valued=False))
        with store.read("acme") as reader:
            assert reader.declarations() is not first

    # the working set

    def test_items_come_in_the_order_they_were_put(self, store: Store, acme: Scribe) -> None:
        """A desk keeps the order of putting, not of keys, and expired items stay on it."""
        items = [item(acme, key, {"n": [key]}, seconds=1) for key in ("z", "a", "m")]
        with store.write("acme") as transaction:
            for each in items:
                transaction.put_item("alice", "s1", each)
        with store.read("acme") as reader:
            assert reader.working_items("alice", "s1") == items

    def test_an_item_keeps_what_it_stated(self, store: Store, acme: Scribe) -> None:
        """The ids of the facts that an item stated come back with it, in their order."""
        said = replace(item(acme, "turn", "I moved to Bern."), states=("z", "a", "größe"))
        with store.write("acme") as transaction:
            transaction.put_item("alice", "s1", said)
            transaction.put_item("alice", "s1", item(acme, "note"))
        with store.read("acme") as reader:
            first, second = reader.working_items("alice", "s1")
            assert first == said
            assert second.states == ()
            assert [found.states for _, _, found in reader.desks()] == [said.states, ()]

    def test_putting_again_replaces(self, store: Store, acme: Scribe) -> None:
        """There is one item of a key, and it lies where it was put last."""
        again = item(acme, "a", "new")
        with store.write("acme") as transaction:
            transaction.put_item("alice", "s1", item(acme, "a", "old", days=1))
            transaction.put_item("alice", "s1", item(acme, "b"))
            transaction.put_item("alice", "s1", again)
        with store.read("acme") as reader:
            found = reader.working_items("alice", "s1")
        assert [each.key for each in found] == ["b", "a"]
        assert found[1] == again

    def test_desks_are_apart(self, store: Store, acme: Scribe) -> None:
        """Items belong to a user and a session; `desks` lists them all, or those of one user."""
        places = [("alice", "s1"), ("alice", "s2"), ("bob", "s1")]
        with store.write("acme") as transaction:
            for user, session in places:
                transaction.put_item(user, session, item(acme, "k", f"{user} {session}"))
        with store.read("acme") as reader:
            assert [i.value for i in reader.working_items("alice", "s1")] == ["alice s1"]
            assert reader.working_items("bob", "s2") == []
            assert {(u, s, i.value) for u, s, i in reader.desks()} == {
                (u, s, f"{u} {s}") for u, s in places
            }
            assert [(u, s) for u, s, _ in reader.desks("bob")] == [("bob", "s1")]
            assert reader.desks("nobody") == []

    @pytest.mark.parametrize(
        ("conditions", "left"),
        [
            ({}, []),
            ({"user_id": "alice"}, ["bob s1 a"]),
            ({"session_id": "s1"}, ["alice s2 a"]),
            ({"key": "b"}, ["alice s1 a", "alice s2 a", "bob s1 a"]),
            (
                {"user_id": "alice", "session_id": "s1", "key": "a"},
                ["alice s1 b", "alice s2 a", "bob s1 a"],
            ),
            (
                {"user_id": "bob", "key": "b"},
                ["alice s1 a", "alice s1 b", "alice s2 a", "bob s1 a"],
            ),
        ],
        ids=["all", "user", "session", "key", "every condition", "no match"],
    )
    def test_items_are_dropped_by_every_condition_given(
        self, store: Store, acme: Scribe, conditions: dict[str, str], left: list[str]
    ) -> None:
        """Dropping removes the items that match all conditions, and returns their number."""
        with store.write("acme") as transaction:
            for name in ("alice s1 a", "alice s1 b", "alice s2 a", "bob s1 a"):
                user, session, key = name.split()
                transaction.put_item(user, session, item(acme, key, name))
        with store.write("acme") as transaction:
            dropped = transaction.drop_items(**conditions)  # type: ignore[arg-type]
        with store.read("acme") as reader:
            assert sorted(i.value for _, _, i in reader.desks()) == left
        assert dropped == 4 - len(left)

    def test_items_are_dropped_when_expired(self, store: Store, acme: Scribe) -> None:
        """An item goes at its very moment, not before, and one without end stays."""
        short, longer, endless = (
            item(acme, "short", seconds=60),
            item(acme, "longer", days=1),
            item(acme, "endless"),
        )
        with store.write("acme") as transaction:
            for each in (short, longer, endless):
                transaction.put_item("alice", "s1", each)
        assert short.expires_at is not None
        with store.write("acme") as transaction:
            before = short.expires_at - timedelta(microseconds=1)
            assert transaction.drop_items(expired_at=before) == 0
            assert transaction.drop_items(expired_at=short.expires_at, user_id="bob") == 0
            assert transaction.drop_items(expired_at=short.expires_at) == 1
        with store.read("acme") as reader:
            assert reader.working_items("alice", "s1") == [longer, endless]

    def test_verdict_type_is_ours(self, store: Store, acme: Scribe) -> None:
        """Outcomes, rules and actions come back as their types, not as text."""
        acme.establish()
        with store.read("acme") as reader:
            verdict = reader.log(0, 1)[0]
        assert isinstance(verdict, Verdict)
        assert (verdict.action, verdict.outcome, verdict.rule) == (
            Action.ASSERT,
            Outcome.ESTABLISHED,
            Rule.FIRST,
        )
        assert type(verdict.action) is Action
