"""The promises of a store about keys: found by id, listed by organization, ended for good."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from incumbent.keys import make_key, matches
from incumbent.model.errors import DuplicateId
from incumbent.model.keys import ApiKey, KeyScope
from incumbent.stores.port import Store
from incumbent.testing.clock import SteppingClock
from incumbent.testing.contract.scribe import Contract, Scribe

NOW = SteppingClock()()


def a_key(name: str = "reports", organization: str = "acme", seconds: int = 0) -> ApiKey:
    """A key that no store has seen, made some seconds after the others."""
    made, _ = make_key(
        organization=organization,
        name=name,
        scopes=["read"],
        max_authority="employee",
        now=NOW + timedelta(seconds=seconds),
    )
    return made


class KeysContract(Contract):
    """Adding, finding, listing and revoking keys."""

    def test_a_key_comes_back_as_it_was_given(self, store: Store) -> None:
        """Every field survives, set or not, and the text still matches."""
        full, text = make_key(
            organization="acme",
            name="Büro \U0001f511 'quoted'",
            scopes=["metrics", "admin", "read", "write", "review", "erase"],
            max_authority="executive",
            now=NOW + timedelta(microseconds=1),
            user_id="alice",
            permissions=["payroll", "hr"],
            expires_at=NOW + timedelta(days=30, microseconds=7),
        )
        plain = a_key()
        store.add_key(full)
        store.add_key(plain)
        assert store.key(full.id) == full
        assert store.key(plain.id) == plain
        found = store.key(full.id)
        assert found is not None
        assert matches(found, text)
        assert found.scopes == tuple(KeyScope)

    def test_an_unknown_key_is_none(self, store: Store) -> None:
        """No key, a part of an id and a pattern find nothing."""
        known = a_key()
        store.add_key(known)
        for wrong in (a_key().id, known.id[:-1], known.id.upper() + "A", "%", "", "' OR 1=1 --"):
            assert store.key(wrong) is None

    def test_the_id_of_a_key_is_used_once(self, store: Store) -> None:
        """Another key with the same id is refused in every organization; the first stays. The same
        key again, as after an answer that got lost, does no harm."""
        first = a_key()
        store.add_key(first)
        store.add_key(first)
        for other in (replace(first, name="other"), replace(first, organization="globex")):
            with pytest.raises(DuplicateId, match=first.id):
                store.add_key(other)
        assert store.keys() == [first]

    def test_keys_are_listed_by_organization_oldest_first(self, store: Store) -> None:
        """An organization has its own keys; without one named, all are listed."""
        second, other, first = a_key("b", seconds=2), a_key("c", "globex", 1), a_key("a")
        for key in (second, other, first):
            store.add_key(key)
        assert store.keys("acme") == [first, second]
        assert store.keys("globex") == [other]
        assert store.keys("initech") == []
        assert store.keys() == [first, other, second]

    def test_a_revoked_key_says_since_when(self, store: Store) -> None:
        """Revoking gives the key as it is then, changes no other, and is seen at once."""
        key, other = a_key(), a_key("other")
        store.add_key(key)
        store.add_key(other)
        at = NOW + timedelta(hours=1)
        ended = replace(key, revoked_at=at)
        assert store.revoke_key(key.id, at) == ended
        assert store.key(key.id) == ended
        assert store.key(other.id) == other

    def test_the_first_revocation_stands(self, store: Store) -> None:
        """Revoking again leaves the moment of the first time."""
        key = a_key()
        store.add_key(key)
        first = store.revoke_key(key.id, NOW + timedelta(hours=1))
        assert store.revoke_key(key.id, NOW + timedelta(hours=2)) == first
        assert store.keys("acme") == [first]

    def test_a_revoked_key_cannot_be_added_again(self, store: Store) -> None:
        """A revoked key stays revoked."""
        key = a_key()
        store.add_key(key)
        ended = store.revoke_key(key.id, NOW)
        with pytest.raises(DuplicateId):
            store.add_key(key)
        assert store.key(key.id) == ended

    def test_a_revocation_by_a_clock_that_is_behind_counts(self, store: Store) -> None:
        """A moment before the key was made ends it all the same."""
        key = a_key()
        store.add_key(key)
        ended = store.revoke_key(key.id, NOW - timedelta(hours=1))
        assert ended is not None
        assert not ended.usable(NOW - timedelta(days=1))

    def test_the_keys_of_a_user_can_be_removed(self, store: Store) -> None:
        """The keys that speak for the user in that organization are removed, and no others; a
        rollback brings them back."""
        mine, revoked = (replace(a_key(), user_id="alice") for _ in range(2))
        others = [a_key(), replace(a_key(), user_id="bob")]
        abroad = replace(a_key(organization="globex"), user_id="alice")
        for key in (mine, revoked, *others, abroad):
            store.add_key(key)
        store.revoke_key(revoked.id, NOW)
        before = store.keys()

        def fail() -> None:
            with store.write("acme") as transaction:
                assert transaction.drop_keys("alice") == 2
                raise RuntimeError("half way")

        with pytest.raises(RuntimeError, match="half way"):
            fail()
        assert store.keys() == before
        with store.write("acme") as transaction:
            assert transaction.drop_keys("alice") == 2
        assert store.keys() == [key for key in before if key.id not in (mine.id, revoked.id)]
        with store.write("acme") as transaction:
            assert transaction.drop_keys("alice") == 0

    def test_revoking_what_is_not_there_gives_none(self, store: Store) -> None:
        """No key is made by revoking one."""
        assert store.revoke_key(a_key().id, NOW) is None
        assert store.keys() == []

    def test_a_key_makes_no_organization(self, store: Store, acme: Scribe) -> None:
        """Keys are no part of the log, of a dump, or of a restore."""
        store.add_key(a_key())
        assert store.organizations() == []
        acme.establish()
        with_key = list(store.dump("acme"))
        assert {record["kind"] for record in with_key} == {"verdict", "fact"}
