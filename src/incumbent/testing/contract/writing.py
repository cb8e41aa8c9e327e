"""The promises of a transaction: whole or not at all, and never two incumbents."""

from __future__ import annotations

from typing import Any

import pytest

from incumbent.model.errors import DuplicateId, StoreError
from incumbent.model.fact import Fact, MemoryType, Status
from incumbent.model.records import Declaration, Erasure, Spot, Turn, WorkingItem
from incumbent.model.scope import EVERYWHERE, Scope
from incumbent.stores.port import IndexEntry, Store, StoredReceipt, TenureChange, Transaction
from incumbent.testing.contract.catalogue import everything_indexed
from incumbent.testing.contract.scribe import EVERYTHING, Contract, Scribe, ids


class Interrupted(BaseException):
    """Not an Exception, as an interrupt from the keyboard is not."""


def everything(store: Store, organization: str = "acme") -> list[Any]:
    """Everything that a store shows of an organization."""
    with store.read(organization) as reader:
        return [
            *store.dump(organization),
            reader.live(EVERYTHING),
            reader.desks(),
            reader.head(),
            reader.declarations(),
            reader.receipts(None, 100),
            reader.turns("alice", "s1", 100),
            reader.turns("bob", "s1", 100),
            reader.turns_called("alice", "m-0"),
            *everything_indexed(store, organization),
        ]


def write_everything(transaction: Transaction, acme: Scribe, old: Fact) -> None:
    """Use every method that writes."""
    new = acme.fact("Basel", predecessors=(old.id,))
    ended = old.evolve(status=Status.SUPERSEDED, superseded_by=new.id, ended_at=new.started_at)
    verdict = acme.put(transaction, new, [TenureChange(old, ended)])
    transaction.mark_undone(verdict.id, "another")
    transaction.declare(Declaration("tags", multi_valued=True))
    transaction.declare(Declaration("kept", multi_valued=False))
    spots = (Spot(new.id, "v", 0, 1),)
    transaction.put_item("alice", "s1", WorkingItem("k", "v", acme.clock(), spots=spots))
    transaction.put_item("alice", "s1", WorkingItem("desk", "replaced", acme.clock()))
    transaction.drop_items(user_id="bob")
    transaction.put_turn("alice", Turn("s1", 0, "replaced", acme.clock(), "d"))
    transaction.put_turn("alice", Turn("s1", 1, "user", acme.clock(), "d", "m-1", (new.id,)))
    transaction.drop_turns(user_id="bob")
    transaction.set_recipe("words")
    transaction.index([IndexEntry(new, "city basel", "basel", 7)])
    transaction.put_receipt(StoredReceipt("r2", "alice", acme.clock(), "{}"))
    transaction.drop_receipts(user_id="bob")
    proof = Erasure("e1", acme.organization, acme.clock(), (old.id,))
    transaction.erase([old.id], proof)
    transaction.unindex(1)


def _seen_in(transaction: Transaction) -> list[Any]:
    """What a transaction itself sees."""
    return [
        transaction.head(),
        transaction.live(EVERYTHING),
        transaction.log(0, 100),
        transaction.desks(),
        transaction.turns("alice", "s1", 9),
        transaction.receipts(None, 9),
        transaction.declarations(),
        transaction.recipe(),
        transaction.shelves(("alice", ""), (EVERYWHERE,)),
        transaction.erasures(),
    ]


class WritingContract(Contract):
    """Atomicity, isolation from other readers, ids used once, one incumbent per address."""

    @pytest.fixture
    def incumbent(self, store: Store, acme: Scribe) -> Fact:
        """A store with something in every place, and the fact in office at city."""
        with store.write("acme") as transaction:
            transaction.declare(Declaration("kept", multi_valued=True))
            transaction.put_item("alice", "s1", WorkingItem("desk", "v", acme.clock()))
            transaction.put_item("bob", "s1", WorkingItem("desk", "v", acme.clock()))
            for user in ("alice", "bob"):
                transaction.put_turn(user, Turn("s1", 0, "user", acme.clock(), "d", "m-0"))
            transaction.put_receipt(StoredReceipt("r1", "bob", acme.clock(), "{}"))
            fact = acme.fact("Bern", id="incumbent")
            acme.put(transaction, fact)
            transaction.index([IndexEntry(fact, "city bern", "bern", 7)])
        return fact

    def test_a_transaction_sees_what_it_has_written(
        self, store: Store, acme: Scribe, incumbent: Fact
    ) -> None:
        """Reads inside a transaction include its own writes, before anything is committed."""
        with store.write("acme") as transaction:
            write_everything(transaction, acme, incumbent)
            assert transaction.head()[0] == 2
            assert [fact.value for fact in transaction.live(EVERYTHING)] == ["Basel"]
            assert [d.pattern for d in transaction.declarations()] == ["kept", "tags"]
            assert [i.value for _, _, i in transaction.desks()] == ["v", "replaced"]
            assert [receipt.id for receipt in transaction.receipts(None, 9)] == ["r2"]
            turns = transaction.turns("alice", "s1", 9)
            assert [turn.speaker for turn in turns] == ["replaced", "user"]
            assert transaction.turns_called("alice", "m-1") == turns[1:]
            assert transaction.turns("bob", "s1", 9) == []
            assert transaction.recipe() == "words"
            assert len(transaction.entries_of(["incumbent", "fact-0002"])) == 1
            assert transaction.log(1, 1)[0].undone_by == "another"
            erased = transaction.fact("incumbent")
            assert erased is not None
            assert erased.status is Status.ERASED

    def test_leaving_commits(self, store: Store, acme: Scribe, incumbent: Fact) -> None:
        """The writes of a transaction are there for readers once its context is left."""
        before = everything(store)
        with store.write("acme") as transaction:
            write_everything(transaction, acme, incumbent)
            expected = transaction.live(EVERYTHING)
        assert everything(store) != before
        with store.read("acme") as reader:
            assert reader.live(EVERYTHING) == expected
        assert [erasure.id for erasure in store.erasures("acme")] == ["e1"]

    @pytest.mark.parametrize("error", [RuntimeError, Interrupted])
    def test_an_exception_rolls_all_back(
        self, store: Store, acme: Scribe, incumbent: Fact, error: type[BaseException]
    ) -> None:
        """All writes of a transaction are gone after any exception, which goes on to the caller."""
        before = everything(store)

        def fail() -> None:
            with store.write("acme") as transaction:
                write_everything(transaction, acme, incumbent)
                raise error("half way")

        with pytest.raises(error, match="half way"):
            fail()
        assert everything(store) == before
        assert store.erasures("acme") == []
        acme.establish("Zug", key="afterwards")
        with store.read("acme") as reader:
            assert reader.head()[0] == 2

    def test_what_is_taken_back_is_gone(self, store: Store, acme: Scribe, incumbent: Fact) -> None:
        """What a transaction wrote before is still there, and nothing of what came after it."""
        with store.write("acme") as transaction:
            earlier = acme.fact("Zug", key="earlier")
            acme.put(transaction, earlier)
            transaction.index([IndexEntry(earlier, "earlier zug", "zug", 7)])
            seen = _seen_in(transaction)
            for _ in range(2):
                with transaction.taken_back():
                    write_everything(transaction, acme, incumbent)
                    assert _seen_in(transaction) != seen
                assert _seen_in(transaction) == seen
            acme.put(transaction, later := acme.fact("Chur", key="later"))
            transaction.index([IndexEntry(later, "later chur", "chur", 7)])
        with store.read("acme") as reader:
            assert reader.head()[0] == 3
            assert [fact.value for fact in reader.live(EVERYTHING)] == ["Zug", "Chur", "Bern"]
            assert len(reader.entries_of([incumbent.id, earlier.id, later.id])) == 3
            assert [declaration.pattern for declaration in reader.declarations()] == ["kept"]
        assert store.erasures("acme") == []

    def test_nothing_is_kept_where_all_is_taken_back(
        self, store: Store, acme: Scribe, incumbent: Fact
    ) -> None:
        """A transaction whose writes were all taken back leaves the store as it was."""
        before = everything(store)
        with store.write("acme") as transaction, transaction.taken_back():
            write_everything(transaction, acme, incumbent)
        assert everything(store) == before

    def test_record_brings_and_changes_at_once(self, store: Store, acme: Scribe) -> None:
        """One record may retire the incumbent and seat its successor, in either order."""
        first = acme.establish("Bern")
        ended, second = acme.supersede(first, "Basel")
        back = ended.evolve(status=Status.OFFICE, superseded_by=None, ended_at=None)
        out = second.evolve(status=Status.WITHDRAWN, predecessors=())
        with store.write("acme") as transaction:
            verdict = acme.verdict(transaction, first)
            transaction.record(verdict, (), [TenureChange(ended, back), TenureChange(second, out)])
        with store.read("acme") as reader:
            assert reader.live(EVERYTHING) == [back]
            assert reader.fact(second.id) == out

    # ids are used once

    def test_taken_id_is_refused(self, store: Store, acme: Scribe) -> None:
        """A new fact with an id that exists raises DuplicateId, which names it."""
        acme.establish(id="taken", key="one")
        before = everything(store)
        with (
            pytest.raises(DuplicateId, match="taken"),
            store.write("acme") as transaction,
        ):
            acme.put(transaction, acme.fact(id="taken", key="two"))
        assert everything(store) == before

    def test_taken_id_is_refused_before_anything_is_written(
        self, store: Store, acme: Scribe
    ) -> None:
        """A transaction that catches DuplicateId and goes on commits nothing of that record."""
        old = acme.establish(id="taken")
        before = everything(store)
        with store.write("acme") as transaction:
            new = acme.fact("Basel", key="fresh", id="fresh")
            again = acme.fact("Basel", id="taken")
            ended = old.evolve(status=Status.RETRACTED, ended_at=acme.clock.now)
            verdict = acme.verdict(transaction, new)
            with pytest.raises(DuplicateId):
                transaction.record(verdict, [new, again], [TenureChange(old, ended)])
            assert transaction.fact("fresh") is None
        assert everything(store) == before

    def test_second_of_two_ids_is_taken(self, store: Store, acme: Scribe) -> None:
        """The first of two new facts is not written either if the id of the second is taken."""
        acme.establish(id="taken")
        before = everything(store)
        with store.write("acme") as transaction:
            new, again = acme.fact(id="fresh", key="one"), acme.fact(id="taken", key="two")
            verdict = acme.verdict(transaction, new)
            with pytest.raises(DuplicateId, match="'taken'"):
                transaction.record(verdict, [new, again])
            assert transaction.fact("fresh") is None
        assert everything(store) == before

    def test_id_twice_in_one_record_is_refused(self, store: Store, acme: Scribe) -> None:
        """Two new facts of one record cannot share an id either."""
        before = everything(store)
        one, two = acme.fact(id="same", key="one"), acme.fact(id="same", key="two")
        with pytest.raises(DuplicateId, match="same"), store.write("acme") as transaction:
            transaction.record(acme.verdict(transaction, one), [one, two])
        assert everything(store) == before

    def test_id_of_an_erased_fact_stays_taken(self, store: Store, acme: Scribe) -> None:
        """An erased fact keeps its id, so that nothing new is taken for it."""
        acme.establish(id="gone")
        with store.write("acme") as transaction:
            transaction.erase(["gone"], Erasure("e1", "acme", acme.clock(), ("gone",)))
        with pytest.raises(DuplicateId, match="gone"), store.write("acme") as transaction:
            acme.put(transaction, acme.fact(id="gone"))

    # one incumbent

    def test_second_incumbent_is_refused(self, store: Store, acme: Scribe) -> None:
        """The store itself refuses a second valid fact at an address, and keeps nothing of it."""
        acme.establish("Bern")
        before = everything(store)
        with pytest.raises(StoreError, match="valid fact"), store.write("acme") as transaction:
            acme.put(transaction, acme.fact("Basel"))
        assert everything(store) == before

    @pytest.mark.parametrize(
        "audience",
        [
            {"requires": ("hr",)},
            {"requires": ("hr", "pay")},
            {"min_authority": "manager"},
            {"memory_type": MemoryType.CAPABILITY},
        ],
        ids=str,
    )
    def test_each_audience_has_an_incumbent(
        self, store: Store, acme: Scribe, audience: dict[str, Any]
    ) -> None:
        """Facts for different readers hold one address side by side, and one of each alone."""
        acme.establish("for all")
        acme.establish("for some", **audience)
        with pytest.raises(StoreError):
            acme.establish("for the same", **audience)
        with store.read("acme") as reader:
            assert {fact.value for fact in reader.live(EVERYTHING)} == {"for all", "for some"}

    def test_second_incumbent_by_a_change_is_refused(self, store: Store, acme: Scribe) -> None:
        """Nor can a fact come back into office beside the one that holds it."""
        ended, _ = acme.supersede(acme.establish("Bern"), "Basel")
        before = everything(store)
        with pytest.raises(StoreError, match="valid fact"):
            acme.change(ended, status=Status.OFFICE, superseded_by=None, ended_at=None)
        assert everything(store) == before

    def test_multi_valued_facts_sit_side_by_side(self, store: Store, acme: Scribe) -> None:
        """Facts of a multi-valued key share their address."""
        for value in ("a", "b", "c"):
            acme.establish(value, multi_valued=True)
        with store.read("acme") as reader:
            assert [fact.value for fact in reader.live(EVERYTHING)] == ["a", "b", "c"]

    @pytest.mark.parametrize(
        "elsewhere",
        [
            {"owner": ""},
            {"owner": "bob"},
            {"subject": "house"},
            {"key": "town"},
            {"scope": Scope.TASK, "scope_id": "T1"},
            {"status": Status.CONTESTED},
            {"status": Status.WAITING, "started_at": None},
        ],
        ids=lambda fields: " ".join(f"{k}={v}" for k, v in fields.items()),
    )
    def test_other_addresses_are_free(
        self, store: Store, acme: Scribe, elsewhere: dict[str, Any]
    ) -> None:
        """Another owner, subject, key or scope is another address, and only office is taken."""
        acme.establish("Bern")
        acme.establish("Basel", **elsewhere)
        with store.read("acme") as reader:
            assert len(reader.timeline(EVERYTHING)) == 2

    def test_scopes_with_the_same_id_are_different_places(self, store: Store, acme: Scribe) -> None:
        """A task and a session may have the same id."""
        acme.establish("Bern", scope=Scope.TASK, scope_id="X")
        acme.establish("Basel", scope=Scope.SESSION, scope_id="X")
        acme.establish("Zug", scope=Scope.TASK, scope_id="Y")
        with store.read("acme") as reader:
            assert len(reader.live(EVERYTHING)) == 3

    # organizations

    def test_organizations_do_not_meet(self, store: Store, acme: Scribe) -> None:
        """The same ids, addresses and desks in two organizations know nothing of each other."""
        globex = Scribe(store, "globex")
        for scribe in (acme, globex):
            fact = scribe.establish(
                f"of {scribe.organization}",
                id="same",
                owner="",
                memory_type=MemoryType.ORGANIZATIONAL,
                status=Status.CONTESTED,
                depends_on=("base",),
                when_superseded="base",
            )
            with store.write(scribe.organization) as transaction:
                transaction.put_item("alice", "s1", WorkingItem("k", fact.value, fact.timestamp))
        globex.establish("second", key="second")
        for scribe, length in ((acme, 1), (globex, 2)):
            value = f"of {scribe.organization}"
            with store.read(scribe.organization) as reader:
                assert reader.head()[0] == length
                assert [f.value for f in reader.timeline(EVERYTHING)][:1] == [value]
                assert [f.value for f in reader.contested(("",))] == [value]
                assert [f.value for f in reader.contingent_on(["base"])] == [value]
                assert [v.organization for v in reader.verdicts(["same"])] == [scribe.organization]
                assert [i.value for _, _, i in reader.desks()] == [value]
                assert reader.verdict(_other(scribe.organization)) is None

    def test_writing_one_organization_leaves_the_other(self, store: Store, acme: Scribe) -> None:
        """Changing, erasing and dropping in one organization touches nothing of another."""
        globex = Scribe(store, "globex")
        for scribe in (acme, globex):
            scribe.establish(id="same")
            with store.write(scribe.organization) as transaction:
                transaction.put_item("alice", "s1", WorkingItem("k", 1, scribe.clock()))
                transaction.put_turn("alice", Turn("s1", 0, "user", scribe.clock(), "d", "m-0"))
        before = everything(store, "globex")
        with store.write("acme") as transaction:
            transaction.mark_undone(transaction.log(0, 1)[0].id, "x")
            transaction.erase(["same"], Erasure("e1", "acme", acme.clock(), ("same",)))
            transaction.drop_items()
            transaction.drop_turns()
        assert everything(store, "globex") == before
        assert store.erasures("globex") == []
        with store.read("acme") as reader:
            assert reader.live(EVERYTHING) == []
            assert ids(reader.timeline(EVERYTHING)) == []


def _other(organization: str) -> str:
    return ("acme" if organization == "globex" else "globex") + "-verdict-0001"
