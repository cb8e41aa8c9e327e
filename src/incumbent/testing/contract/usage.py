"""The promises of a store about usage: numbers that add up, by day and model, and nothing else."""

from __future__ import annotations

from datetime import date

import pytest

from incumbent.model.records import Usage
from incumbent.stores.port import Store
from incumbent.testing.contract.scribe import Contract, Scribe

MONDAY, TUESDAY = date(2026, 1, 5), date(2026, 1, 6)
CALL = Usage(MONDAY, "acme:large", 1, 0, 8, 1200, 90, 3_450)


def count(store: Store, *given: Usage, organization: str = "acme") -> None:
    """Commit each of these in a transaction of its own."""
    for usage in given:
        with store.write(organization) as transaction:
            transaction.count_usage(usage)


class UsageContract(Contract):
    """Counting usage, and reading it."""

    def test_usage_adds_up_by_day_and_model(self, store: Store) -> None:
        """Counts of one day and model are one row; those of another are another's."""
        other = Usage(MONDAY, "acme:small", 2, 1)
        later = Usage(TUESDAY, "acme:large", 1)
        count(store, CALL, later, other, CALL)
        with store.read("acme") as reader:
            doubled = Usage(MONDAY, "acme:large", 2, 0, 16, 2400, 180, 6_900)
            assert reader.usage() == [doubled, other, later]

    def test_usage_is_given_from_a_day_on(self, store: Store) -> None:
        """Counts before that day are left out, and those of the day are not."""
        later = Usage(TUESDAY, "acme:large", 1)
        count(store, CALL, later)
        with store.read("acme") as reader:
            assert reader.usage(MONDAY) == [CALL, later]
            assert reader.usage(TUESDAY) == [later]
            assert reader.usage(date(2026, 1, 7)) == []

    def test_usage_can_be_corrected(self, store: Store) -> None:
        """A negative number takes away a reservation that was not used; no number is too large."""
        count(store, Usage(MONDAY, "m", 1, 0, 0, 2**40, 500))
        count(store, Usage(MONDAY, "m", 0, 0, 1, -200, -500))
        with store.read("acme") as reader:
            assert reader.usage() == [Usage(MONDAY, "m", 1, 0, 1, 2**40 - 200, 0)]

    def test_a_transaction_sees_what_it_counted(self, store: Store) -> None:
        """Counts can be read back before they are committed."""
        with store.write("acme") as transaction:
            transaction.count_usage(CALL)
            assert transaction.usage(MONDAY) == [CALL]

    def test_a_rollback_takes_usage_back(self, store: Store) -> None:
        """After an exception the counts are as before, new ones and added ones."""
        count(store, CALL)

        def fail() -> None:
            with store.write("acme") as transaction:
                transaction.count_usage(CALL)
                transaction.count_usage(Usage(TUESDAY, "new", 1))
                raise RuntimeError("half way")

        with pytest.raises(RuntimeError, match="half way"):
            fail()
        with store.read("acme") as reader:
            assert reader.usage() == [CALL]

    def test_usage_of_organizations_does_not_meet(self, store: Store) -> None:
        """Each organization has its own counts."""
        count(store, CALL)
        count(store, CALL, CALL, organization="globex")
        with store.read("acme") as reader:
            assert reader.usage() == [CALL]
        with store.read("globex") as reader:
            assert [usage.calls for usage in reader.usage()] == [2]

    def test_usage_makes_no_organization(self, store: Store, acme: Scribe) -> None:
        """Usage is no part of the log, nor of a dump."""
        count(store, CALL)
        assert store.organizations() == []
        assert list(store.dump("acme")) == []
