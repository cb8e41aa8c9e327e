"""The promises of the short way to one value: the same answer as the long way, or none."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from incumbent.model.fact import Status
from incumbent.model.records import Declaration
from incumbent.model.scope import EVERYWHERE, Place, Scope
from incumbent.stores.port import Glance, Store
from incumbent.testing.contract.reading import JSON_VALUES
from incumbent.testing.contract.scribe import Contract, Scribe

TASK: Place = (Scope.TASK, "T1")


def glance(store: Store, *places: Place, key: str = "city", subject: str = "") -> Glance | None:
    """Alice's glance at her own and the shared addresses."""
    return store.glance("acme", ("alice", ""), places or (EVERYWHERE,), key, subject)


def value(store: Store, *places: Place, **asked: str) -> Any:
    """The value seen at a glance; fails where there is none."""
    seen = glance(store, *places, **asked)
    assert seen is not None
    return json.loads(seen.value_text)


class GlancingContract(Contract):
    """One ordinary fact at the addresses asked about, or None."""

    @pytest.mark.parametrize("stored", JSON_VALUES.values(), ids=JSON_VALUES)
    def test_glance_gives_the_value_as_json(self, store: Store, acme: Scribe, stored: Any) -> None:
        """The one ordinary fact in office gives its value, as JSON text."""
        acme.establish(stored)
        assert value(store) == stored

    @pytest.mark.parametrize(
        "elsewhere",
        [
            {"owner": "bob"},
            {"key": "town"},
            {"subject": "house"},
            {"scope": Scope.TASK, "scope_id": "T1"},
            {"scope": Scope.SESSION, "scope_id": ""},
        ],
        ids=lambda fields: " ".join(f"{k}={v!s}" for k, v in fields.items()),
    )
    def test_glance_sees_only_the_addresses_asked_about(
        self, store: Store, acme: Scribe, elsewhere: dict[str, Any]
    ) -> None:
        """A fact of another owner, key, subject or place is not seen."""
        acme.establish(**elsewhere)
        assert glance(store) is None
        assert store.glance("globex", ("alice", ""), (EVERYWHERE,), "city", "") is None

    def test_glance_looks_at_every_owner_and_place(self, store: Store, acme: Scribe) -> None:
        """The one fact is found, for any of the owners and in any of the places."""
        acme.establish("shared", owner="")
        acme.establish("task", key="job", scope=Scope.TASK, scope_id="T1")
        acme.establish("about", subject="house")
        assert value(store) == "shared"
        assert value(store, TASK, EVERYWHERE, key="job") == "task"
        assert value(store, subject="house") == "about"

    @pytest.mark.parametrize(
        "beside", [{"owner": ""}, {"scope": Scope.TASK, "scope_id": "T1"}], ids=["owner", "place"]
    )
    def test_glance_does_not_choose(
        self, store: Store, acme: Scribe, beside: dict[str, Any]
    ) -> None:
        """If two of the addresses are held, the answer is None."""
        acme.establish("one")
        acme.establish("two", **beside)
        assert glance(store, TASK, EVERYWHERE) is None

    @pytest.mark.parametrize(
        "special",
        [
            {"multi_valued": True},
            {"requires": ("hr",)},
            {"min_authority": "manager"},
            {"status": Status.CONTESTED, "started_at": None},
            {"status": Status.WAITING, "started_at": None},
            {"status": Status.OVERRULED, "started_at": None},
        ],
        ids=lambda fields: next(f"{k}={v!s}" for k, v in fields.items()),
    )
    def test_glance_leaves_the_special_to_the_long_way(
        self, store: Store, acme: Scribe, special: dict[str, Any]
    ) -> None:
        """Several values, a condition on readers, or no office: None."""
        acme.establish(**special)
        assert glance(store) is None

    def test_glance_leaves_terms_to_the_long_way(self, store: Store, acme: Scribe) -> None:
        """A start after the recording, or any end, is for callers with a clock."""
        day = timedelta(days=1)
        now = acme.clock.now
        acme.establish(key="later", valid_from=now + day, started_at=now + day)
        acme.establish(key="until", valid_until=now + day)
        acme.establish(key="over", valid_from=now - 2 * day, valid_until=now - day)
        ending = acme.establish(key="ending")
        acme.change(ending, status=Status.RETRACTED, ended_at=now + day)
        for key in ("later", "until", "over", "ending"):
            assert glance(store, key=key) is None, key

    def test_glance_follows_every_change(self, store: Store, acme: Scribe) -> None:
        """It gives the successor of a superseded fact, and nothing of a retracted one."""
        _, new = acme.supersede(acme.establish("Bern"), "Basel")
        assert value(store) == "Basel"
        acme.change(new, status=Status.RETRACTED, ended_at=new.recorded_at)
        assert glance(store) is None
        acme.establish("Zug")
        assert value(store) == "Zug"

    def test_glance_comes_with_the_declarations_in_force(self, store: Store, acme: Scribe) -> None:
        """The declarations are the latest, and the same object as long as none changes."""
        acme.establish()
        assert glance(store) == Glance('"Bern"', ())
        told = Declaration("city", requires=("hr",))
        with store.write("") as transaction:
            transaction.declare(told)
        seen, again = glance(store), glance(store)
        assert seen is not None
        assert again is not None
        assert seen.declarations == (told,)
        assert again.declarations is seen.declarations
