"""The promises of a store about receipts: kept as they were given, found by user, gone on
request."""

from __future__ import annotations

from datetime import timedelta

import pytest

from incumbent.stores.port import Store, StoredReceipt
from incumbent.testing.contract.scribe import Contract, Scribe

ROUNDS = [("r3", "alice"), ("r1", "bob"), ("r4", "alice"), ("r2", "alice")]
"""Receipts in the order of their times."""


def keep(acme: Scribe, *given: tuple[str, str]) -> list[StoredReceipt]:
    """Commit a receipt of each id and user, each a little later than the one before."""
    made = [
        StoredReceipt(name, user, acme.clock(), f'{{"of": "{acme.organization}"}}')
        for name, user in given
    ]
    with acme.store.write(acme.organization) as transaction:
        for receipt in made:
            transaction.put_receipt(receipt)
    return made


class ReceiptsContract(Contract):
    """Keeping, listing and dropping receipts."""

    def test_a_receipt_comes_back_as_it_was_given(self, store: Store, acme: Scribe) -> None:
        """Every field survives storage: the moment to the microsecond, the text to the letter."""
        at = acme.clock() + timedelta(microseconds=1)
        given = StoredReceipt(
            "r1", "älice", at, '{"text": "Zürich 🗼\\n", "n": 1.0}' + " " * 50_000
        )
        with store.write("acme") as transaction:
            transaction.put_receipt(given)
            assert transaction.receipt("r1") == given
        with store.read("acme") as reader:
            assert reader.receipt("r1") == given
            assert reader.receipts("älice", 9) == [given]

    def test_an_unknown_receipt_is_none(self, store: Store, acme: Scribe) -> None:
        """An id that no receipt has gives None, and a user without receipts has none."""
        keep(acme, ("r1", "alice"))
        with store.read("acme") as reader:
            assert reader.receipt("unknown") is None
            assert reader.receipts("bob", 9) == []

    def test_putting_a_receipt_again_replaces_it(self, store: Store, acme: Scribe) -> None:
        """An id has one receipt, the one put last."""
        keep(acme, ("r1", "alice"), ("r2", "alice"))
        again = StoredReceipt("r1", "bob", acme.clock(), "[]")
        with store.write("acme") as transaction:
            transaction.put_receipt(again)
        with store.read("acme") as reader:
            assert reader.receipt("r1") == again
            assert [receipt.id for receipt in reader.receipts(None, 9)] == ["r1", "r2"]
            assert reader.receipts("bob", 9) == [again]

    def test_receipts_come_newest_first(self, store: Store, acme: Scribe) -> None:
        """Receipts are listed by their time, the last one first, of a user or of everybody."""
        made = keep(acme, *ROUNDS)
        with store.read("acme") as reader:
            assert reader.receipts(None, 100) == made[::-1]
            assert [receipt.id for receipt in reader.receipts("alice", 100)] == ["r2", "r4", "r3"]
            assert [receipt.id for receipt in reader.receipts("bob", 100)] == ["r1"]

    def test_receipts_go_by_their_own_time(self, store: Store, acme: Scribe) -> None:
        """A receipt that is kept late is listed by its own time."""
        late = StoredReceipt("z", "alice", acme.clock(), "{}")
        made = keep(acme, *ROUNDS)
        with store.write("acme") as transaction:
            transaction.put_receipt(late)
        with store.read("acme") as reader:
            assert reader.receipts(None, 100) == [*made[::-1], late]

    def test_receipts_are_listed_up_to_a_limit(self, store: Store, acme: Scribe) -> None:
        """No more receipts are given than asked for, the newest of those that match."""
        made = keep(acme, *ROUNDS)
        with store.read("acme") as reader:
            assert reader.receipts(None, 2) == made[:-3:-1]
            assert [receipt.id for receipt in reader.receipts("alice", 2)] == ["r2", "r4"]
            assert reader.receipts(None, 0) == []

    @pytest.mark.parametrize(
        ("conditions", "left"),
        [
            ({}, []),
            ({"user_id": "alice"}, ["r1"]),
            ({"receipt_id": "r4"}, ["r2", "r1", "r3"]),
            ({"user_id": "alice", "receipt_id": "r4"}, ["r2", "r1", "r3"]),
            ({"user_id": "bob", "receipt_id": "r4"}, ["r2", "r4", "r1", "r3"]),
            ({"user_id": "nobody"}, ["r2", "r4", "r1", "r3"]),
        ],
        ids=["all", "user", "id", "both", "another's", "no match"],
    )
    def test_receipts_are_dropped_by_every_condition_given(
        self, store: Store, acme: Scribe, conditions: dict[str, str], left: list[str]
    ) -> None:
        """Dropping removes the receipts that match all conditions, and returns their number."""
        keep(acme, *ROUNDS)
        with store.write("acme") as transaction:
            assert transaction.drop_receipts(**conditions) == 4 - len(left)
        with store.read("acme") as reader:
            assert [receipt.id for receipt in reader.receipts(None, 9)] == left

    def test_a_rollback_takes_receipts_back(self, store: Store, acme: Scribe) -> None:
        """Receipts that were put, replaced or dropped are as before after an exception."""
        made = keep(acme, *ROUNDS)

        def fail() -> None:
            with store.write("acme") as transaction:
                transaction.put_receipt(StoredReceipt("new", "alice", acme.clock(), "{}"))
                transaction.put_receipt(StoredReceipt("r3", "bob", acme.clock(), "{}"))
                transaction.drop_receipts(user_id="alice")
                raise RuntimeError("half way")

        with pytest.raises(RuntimeError, match="half way"):
            fail()
        with store.read("acme") as reader:
            assert reader.receipts(None, 100) == made[::-1]

    def test_receipts_of_organizations_do_not_meet(self, store: Store, acme: Scribe) -> None:
        """The same ids in two organizations are different receipts, read and dropped apart."""
        ours = keep(acme, ("r1", "alice"))
        theirs = keep(Scribe(store, "globex"), ("r1", "alice"), ("r2", "alice"))
        with store.read("acme") as reader:
            assert reader.receipt("r1") == ours[0]
            assert reader.receipt("r2") is None
            assert reader.receipts(None, 9) == reader.receipts("alice", 9) == ours
        with store.write("acme") as transaction:
            assert transaction.drop_receipts() == 1
        with store.read("globex") as reader:
            assert reader.receipts(None, 9) == theirs[::-1]

    def test_receipts_make_no_organization(self, store: Store, acme: Scribe) -> None:
        """Receipts are no part of the log, nor of a dump."""
        keep(acme, *ROUNDS)
        assert store.organizations() == []
        assert list(store.dump("acme")) == []
