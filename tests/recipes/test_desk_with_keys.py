"""The support desk over the service: what each may see is fixed by keys, not by the program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import incumbent
from tests.conftest import QUICK
from tests.service.running import Running, a_key

ORDER = "My order 4711 came with a broken lamp."
ASKED = "What about order 4711, and what was promised?"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Running]:
    """A service with a customer's words, a promise to that customer, and a note about them."""
    with (
        incumbent.open(tmp_path / "desk.db", settings=QUICK) as memory,
        Running(memory, credentials=True) as service,
    ):
        tom = memory.session(
            user_id="tom",
            organization="northwind",
            permissions=["organization:write", "desk", "customer:nora"],
        )
        memory.session(user_id="nora", organization="northwind").observe(ORDER)
        for key, value, needs in (
            ("refund", "40 EUR", "customer:nora"),
            ("note", "Third complaint", "desk"),
        ):
            tom.write(
                key,
                value,
                subject="order 4711",
                memory_type="organizational",
                requires=[needs],
            )
        yield service


def key_of(desk: Running, rung: str, *permissions: str, user: str | None = None) -> str:
    return a_key(
        desk.memory,
        "read",
        organization="northwind",
        max_authority=rung,
        user_id=user,
        permissions=permissions,
    )


def seen(desk: Running, key: str, customer: str, *permissions: str) -> str:
    """The file of a customer, as the holder of a key reads it."""
    with incumbent.open(desk.address, key=key) as memory:
        session = memory.session(
            user_id=customer,
            organization="northwind",
            authority="guest",
            permissions=permissions,
        )
        return session.context(ASKED).text


def test_a_key_of_the_desk_opens_a_file_with_the_note_and_the_promise(desk: Running) -> None:
    """What the customer said, what was promised, what was noted."""
    rights = ("desk", "customer:nora")
    text = seen(desk, key_of(desk, "employee", *rights), "nora", *rights)
    for told in (ORDER, "40 EUR", "Third complaint"):
        assert told in text


def test_a_key_of_the_customer_opens_that_file_alone_without_the_note(desk: Running) -> None:
    """Another customer's is refused, and so is a permission that the key does not have."""
    key = key_of(desk, "guest", "customer:nora", user="nora")
    text = seen(desk, key, "nora", "customer:nora")
    assert ORDER in text
    assert "40 EUR" in text
    assert "Third complaint" not in text
    with pytest.raises(incumbent.NotPermitted):
        seen(desk, key, "omar")
    with pytest.raises(incumbent.NotPermitted):
        seen(desk, key, "nora", "desk")


def test_a_key_of_another_company_opens_no_file_of_this_one(desk: Running) -> None:
    """Whatever it names."""
    key = a_key(desk.memory, "read", organization="lakeside", permissions=["desk"])
    with pytest.raises(incumbent.NotPermitted):
        seen(desk, key, "nora")


def test_the_right_ends_when_the_key_is_revoked(desk: Running) -> None:
    """At once."""
    key = key_of(desk, "employee", "desk")
    assert ORDER in seen(desk, key, "nora")
    desk.memory.store.revoke_key(key.split("_")[1], desk.memory.now())
    with pytest.raises(incumbent.IncumbentError, match="credential"):
        seen(desk, key, "nora")
