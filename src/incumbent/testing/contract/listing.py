"""The promises of a store about lists: complete, in order, by pages, of one organization."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from incumbent.model.fact import MemoryType, Status
from incumbent.model.listings import ListedSession
from incumbent.model.records import Erasure, Turn
from incumbent.model.scope import Scope
from incumbent.stores.port import Alike, Name, NameColumn, Reader, Store, StoredReceipt
from incumbent.testing.contract.scribe import Contract, Scribe

SUBJECTS = [("", "ball"), ("", "été"), ("alice", "Zebra"), ("alice", "ball"), ("alice", "ballot")]
"""Owners and subjects, in the order of a list."""


def tell(acme: Scribe) -> None:
    """Commit a fact for each of SUBJECTS, in another order, and some that have none to list."""
    for owner, subject in reversed(SUBJECTS):
        acme.establish(owner=owner, subject=subject)
    acme.establish(owner="bob", key="lamp")
    left = acme.establish(owner="alice", subject="gone", key="gone")
    acme.change(left, status=Status.RETRACTED, ended_at=acme.clock())


def converse(acme: Scribe, user: str, session: str, *indexes: int, at: Any = None) -> list[Turn]:
    """Commit turns of a session, each a little later than the one before."""
    made = [
        Turn(session, index, "user", at or acme.clock(), f"digest {index}") for index in indexes
    ]
    with acme.store.write(acme.organization) as transaction:
        for turn in made:
            transaction.put_turn(user, turn)
    return made


def walked(reader: Reader, column: NameColumn, size: int, prefix: str = "") -> list[Name]:
    """All names, read by pages of a size."""
    found: list[Name] = []
    while page := reader.names(column, None, found[-1] if found else None, prefix, size):
        assert len(page) <= size
        found += page
    return found


class ListingContract(Contract):
    """Users, sessions, subjects and keys."""

    # names

    @pytest.mark.parametrize("size", [1, 2, 3, 100])
    def test_subjects_are_listed_by_owner_and_name(
        self, store: Store, acme: Scribe, size: int
    ) -> None:
        """The subjects of live facts come once each, in order, whatever the size of a page."""
        tell(acme)
        acme.establish(owner="alice", subject="ball", key="size")
        with store.read("acme") as reader:
            assert walked(reader, "subject", size) == SUBJECTS

    @pytest.mark.parametrize("size", [1, 2, 100])
    def test_keys_are_listed_by_owner_and_name(self, store: Store, acme: Scribe, size: int) -> None:
        """Likewise the keys, those of facts without a subject too."""
        tell(acme)
        expected = [("", "city"), ("alice", "city"), ("bob", "lamp")]
        with store.read("acme") as reader:
            assert walked(reader, "key", size) == expected

    @pytest.mark.parametrize("size", [1, 100])
    def test_what_is_kept_under_no_name_is_listed_too(
        self, store: Store, acme: Scribe, size: int
    ) -> None:
        """Under the key "", the first of its owner's, for the organization as well; no beginning
        finds it, and an erased fact is none of them."""
        tell(acme)
        for owner in ("", "bob"):
            acme.establish(owner=owner, key="", multi_valued=True)
        gone = acme.establish(owner="carol", key="", multi_valued=True)
        with store.write("acme") as transaction:
            transaction.erase([gone.id], Erasure("e1", "acme", acme.clock(), (gone.id,)))
        with store.read("acme") as reader:
            assert walked(reader, "key", size) == [
                *[("", ""), ("", "city"), ("alice", "city"), ("bob", ""), ("bob", "lamp")]
            ]
            assert walked(reader, "key", size, "l") == [("bob", "lamp")]
            assert walked(reader, "subject", size) == SUBJECTS
            (counted,) = reader.alike("key", [("bob", "")], acme.clock())
            assert (counted.key, counted.facts) == ("", 1)

    @pytest.mark.parametrize("size", [1, 100])
    @pytest.mark.parametrize("prefix", ["ball", "é", "ba", "ballots", "Z", "\U0010ffff", "\ud7ff"])
    def test_names_are_found_by_their_beginning(
        self, store: Store, acme: Scribe, prefix: str, size: int
    ) -> None:
        """Only names that begin with the prefix come, also where it ends with the last of all
        characters."""
        tell(acme)
        acme.establish(owner="bob", subject="\U0010ffff\U0010ffff!")
        acme.establish(owner="bob", subject="\ud7ffx")
        whole = [*SUBJECTS, ("bob", "\ud7ffx"), ("bob", "\U0010ffff\U0010ffff!")]
        with store.read("acme") as reader:
            found = walked(reader, "subject", size, prefix)
        assert found == [name for name in whole if name[1].startswith(prefix)]

    def test_names_are_listed_for_some_owners(self, store: Store, acme: Scribe) -> None:
        """Those of the owners named, and after the place named; an owner without facts has none."""
        tell(acme)
        with store.read("acme") as reader:
            mine = reader.names("subject", ("alice", ""), None, "", 9)
            assert mine == SUBJECTS
            assert reader.names("subject", ("bob",), None, "", 9) == []
            assert reader.names("key", ("bob",), None, "", 9) == [("bob", "lamp")]
            after = reader.names("subject", ("alice", ""), ("", "été"), "b", 9)
            assert after == [("alice", "ball"), ("alice", "ballot")]
            assert reader.names("subject", ("",), ("alice", ""), "", 9) == []

    def test_names_above_a_place_that_is_gone_go_on(self, store: Store, acme: Scribe) -> None:
        """The place need not be there any more."""
        tell(acme)
        with store.read("acme") as reader:
            after = reader.names("subject", None, ("alice", "apple"), "", 9)
            assert after == [("alice", "ball"), ("alice", "ballot")]
            assert reader.names("subject", None, ("aaron", "z"), "", 9) == SUBJECTS[2:]

    # counting

    def test_facts_that_nothing_tells_apart_are_counted_together(
        self, store: Store, acme: Scribe
    ) -> None:
        """Facts without a term of one address and audience are one row with one of their ids."""
        first = acme.establish(1, subject="ball", multi_valued=True)
        last = acme.establish(2, subject="ball", multi_valued=True)
        now = acme.clock()
        expected = [Alike("alice", "ball", "city", 2, last.recorded_at, first.id)]
        with store.read("acme") as reader:
            assert reader.alike("subject", [("alice", "ball")], now) == expected
            assert reader.alike("key", [("alice", "city")], now) == expected
            assert reader.alike("key", [("bob", "city")], now) == []
            assert reader.alike("key", [], now) == []

    @pytest.mark.parametrize(
        "fields",
        [
            {"key": "size"},
            {"requires": ("hr",)},
            {"min_authority": "manager"},
            {"memory_type": MemoryType.CAPABILITY},
            {"scope": Scope.SESSION, "scope_id": "s1"},
        ],
        ids=lambda fields: next(iter(fields)),
    )
    def test_facts_that_a_rule_may_tell_apart_are_counted_apart(
        self, store: Store, acme: Scribe, fields: dict[str, Any]
    ) -> None:
        """Another key, condition on readers, memory type or scope makes another row."""
        plain = acme.establish(subject="ball")
        other = acme.establish(subject="ball", **fields)
        with store.read("acme") as reader:
            found = reader.alike("subject", [("alice", "ball")], acme.clock())
        assert sorted((one.facts, one.fact_id) for one in found) == [(1, plain.id), (1, other.id)]

    def test_a_fact_with_a_term_is_counted_by_itself(self, store: Store, acme: Scribe) -> None:
        """Whether it has begun and not ended is not for the store to say."""
        now = acme.clock()
        hour = timedelta(hours=1)
        made = [
            acme.establish(number, subject="ball", multi_valued=True, **fields)
            for number, fields in enumerate(
                [
                    {},
                    {"valid_until": now + hour},
                    {"valid_until": now + hour},
                    {"valid_from": now + hour, "started_at": now + hour},
                    {},
                ]
            )
        ]
        with store.read("acme") as reader:
            found = reader.alike("subject", [("alice", "ball")], now + timedelta(minutes=1))
            held = reader.holdings(["alice"], now + timedelta(minutes=1))
        assert [(one.facts, one.fact_id) for one in found] == [
            (2, made[0].id),
            *((1, fact.id) for fact in made[1:4]),
        ]
        assert [one[3:] for one in held] == [one[3:] for one in found]

    def test_the_facts_of_owners_are_counted(self, store: Store, acme: Scribe) -> None:
        """By owner alone, whatever they are about; an owner without facts has no row."""
        tell(acme)
        now = acme.clock()
        with store.read("acme") as reader:
            found = reader.holdings(["bob", "alice", "nobody"], now)
        assert [(one.owner, one.subject, one.key, one.facts) for one in found] == [
            ("alice", "", "", 3),
            ("bob", "", "", 1),
        ]

    # users

    @pytest.mark.parametrize("size", [1, 2, 100])
    def test_users_are_whoever_left_a_trace(self, store: Store, acme: Scribe, size: int) -> None:
        """Owners of facts, those who brought an entry about, had a turn, or have a receipt."""
        acme.establish(owner="bob")
        with store.write("acme") as transaction:
            acme.put(transaction, acme.fact(owner=""), by="carol")
            transaction.put_receipt(StoredReceipt("r1", "dora", acme.clock(), "{}"))
            transaction.put_receipt(StoredReceipt("r2", "bob", acme.clock(), "{}"))
        converse(acme, "emil", "s1", 1, 2)
        found: list[str] = []
        with store.read("acme") as reader:
            while page := reader.users(found[-1] if found else "", "", size):
                found += page
            assert reader.users("", "d", size) == ["dora"]
            assert reader.users("dora", "d", size) == []
            assert reader.users("bobby", "", 1) == ["carol"]
        assert found == ["alice", "bob", "carol", "dora", "emil"]

    def test_the_activity_of_users_is_told(self, store: Store, acme: Scribe) -> None:
        """Their sessions, and the moment of the last entry that they brought about."""
        acme.establish()
        acme.establish(key="size")
        converse(acme, "bob", "s1", 1, 2)
        converse(acme, "bob", "s2", 1)
        with store.read("acme") as reader:
            alice, bob, nobody = reader.activity(["nobody", "bob", "alice"])
            assert alice == ("alice", 0, reader.head()[1])
            assert bob == ("bob", 2, None)
            assert nobody == ("nobody", 0, None)
            assert reader.activity([]) == []

    def test_users_who_were_erased_are_gone(self, store: Store, acme: Scribe) -> None:
        """Who owns nothing but erased facts, and whose name was taken out of the log, is nobody."""
        fact = acme.establish()
        with store.write("acme") as transaction:
            proof = Erasure("e1", "acme", acme.clock(), (fact.id,))
            transaction.erase([fact.id], proof, user_id="alice")
        with store.read("acme") as reader:
            assert reader.users("", "", 9) == []
            assert reader.names("key", None, None, "", 9) == []

    # sessions

    def test_sessions_come_the_last_begun_first(self, store: Store, acme: Scribe) -> None:
        """With their beginning, their last turn and the number of turns; of one user or of all."""
        first = converse(acme, "alice", "s1", 1, 2, 3)
        other = converse(acme, "bob", "s1", 1)
        last = converse(acme, "alice", "s2", 1, 2)
        listed = [
            ListedSession("s2", "alice", last[0].at, last[-1].at, 2),
            ListedSession("s1", "bob", other[0].at, other[0].at, 1),
            ListedSession("s1", "alice", first[0].at, first[-1].at, 3),
        ]
        with store.read("acme") as reader:
            assert reader.sessions(None, None, None, None, 9) == listed
            assert reader.sessions("alice", None, None, None, 9) == [listed[0], listed[2]]
            assert reader.sessions("bob", None, None, None, 9) == [listed[1]]
            assert reader.sessions("nobody", None, None, None, 9) == []
            assert reader.sessions(None, None, None, None, 2) == listed[:2]
            since = reader.sessions(None, other[0].at, None, None, 9)
            assert since == listed[:2]
            until = reader.sessions(None, None, other[0].at, None, 9)
            assert until == listed[2:]
            within = reader.sessions("bob", other[0].at, last[0].at, None, 9)
            assert within == [listed[1]]

    @pytest.mark.parametrize("user", [None, "alice"])
    def test_sessions_are_read_by_pages(self, store: Store, acme: Scribe, user: str | None) -> None:
        """Each page goes on below the last line of the one before, also within one moment."""
        at = acme.clock()
        for number in range(5):
            converse(acme, "alice", f"s{number}", 1, at=at)
        converse(acme, "alice", "late", 1)
        if user is None:
            converse(acme, "bob", "s0", 1, at=at)
        with store.read("acme") as reader:
            whole = reader.sessions(user, None, None, None, 99)
            found: list[ListedSession] = []
            place = None
            while page := reader.sessions(user, None, None, place, 2):
                found += page
                place = (page[-1].started_at, page[-1].user_id, page[-1].session_id)
        assert found == whole
        assert len(found) == (7 if user is None else 6)
        assert found == sorted(
            found, key=lambda s: (s.started_at, s.user_id, s.session_id), reverse=True
        )

    # receipts and the log

    @pytest.mark.parametrize("user", [None, "alice"])
    def test_receipts_are_read_by_pages(self, store: Store, acme: Scribe, user: str | None) -> None:
        """Newest first, those of one moment by id; within two moments if asked."""
        at = acme.clock()
        made = [StoredReceipt(f"r{n}", "alice", at, "{}") for n in range(3)]
        made += [StoredReceipt("a", "alice", acme.clock(), "{}")]
        made += [StoredReceipt("b", "bob", at, "{}")] if user is None else []
        with store.write("acme") as transaction:
            for receipt in made:
                transaction.put_receipt(receipt)
        with store.read("acme") as reader:
            whole = reader.receipts(user, 99)
            found: list[StoredReceipt] = []
            place = None
            while page := reader.receipts(user, 2, after=place):
                found += page
                place = (page[-1].at, page[-1].id)
            assert reader.receipts(user, 9, since=made[3].at) == [made[3]]
            assert reader.receipts(user, 9, until=made[3].at) == whole[1:]
            assert reader.receipts(user, 9, since=at, until=at) == []
        assert found == whole
        assert whole == sorted(made, key=lambda one: (-one.at.timestamp(), one.id))

    def test_the_log_is_read_backwards(self, store: Store, acme: Scribe) -> None:
        """From below any entry, the last first, as many as asked for."""
        for number in range(4):
            acme.establish(key=f"key {number}")
        with store.read("acme") as reader:
            whole = reader.log(0, 9)
            assert reader.log_before(2**62, 9) == whole[::-1]
            assert reader.log_before(3, 9) == whole[1::-1]
            assert reader.log_before(4, 2) == [whole[2], whole[1]]
            assert reader.log_before(1, 9) == []
            assert reader.log_before(9, 0) == []

    # organizations

    def test_lists_of_organizations_do_not_meet(self, store: Store, acme: Scribe) -> None:
        """Nothing of another organization is listed or counted."""
        tell(acme)
        converse(acme, "alice", "s1", 1)
        now = acme.clock()
        with store.read("globex") as reader:
            assert reader.users("", "", 9) == []
            assert reader.names("key", None, None, "", 9) == []
            assert reader.names("subject", ("alice",), None, "", 9) == []
            assert reader.alike("key", [("alice", "city")], now) == []
            assert reader.holdings(["alice"], now) == []
            assert reader.activity(["alice"]) == [("alice", 0, None)]
            assert reader.sessions(None, None, None, None, 9) == []
            assert reader.sessions("alice", None, None, None, 9) == []
            assert reader.log_before(99, 9) == []
