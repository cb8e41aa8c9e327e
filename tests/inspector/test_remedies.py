"""Remedies: what a form asks for, and what a rehearsal of it tells."""

from __future__ import annotations

from typing import Any

import pytest

import incumbent
from incumbent.inspector.consequences import consequences_of
from incumbent.inspector.remedies import CORRECTIONS, Remedy, value_of

WHO = {"user_id": "alice", "organization": "acme"}


@pytest.mark.parametrize(
    ("text", "like", "value"),
    [
        ("12", "eleven", "12"),
        ("12", 11, 12),
        ('["a"]', [], ["a"]),
        ('"none"', None, "none"),
        (" two\nlines ", "text", " two\nlines "),
    ],
)
def test_a_value_keeps_its_kind(text: str, like: Any, value: Any) -> None:
    """Text stays text; anything else is read as JSON."""
    assert value_of(text, like) == value


@pytest.mark.parametrize(
    ("text", "like"), [("eleven", 11), ("NaN", 1.5), ("[" * 100_000, []), ("", 1), ("  ", "text")]
)
def test_a_value_of_no_kind_is_refused(text: str, like: Any) -> None:
    """The message says how to write it."""
    with pytest.raises(incumbent.InvalidInput, match=r"JSON|empty"):
        value_of(text, like)


def test_only_what_is_offered_can_be_asked_for() -> None:
    """A form with something else is refused."""
    with pytest.raises(incumbent.InvalidInput, match="choose again"):
        Remedy.of({"do": "forget", "id": "x"}, CORRECTIONS)


def test_a_correction_keeps_the_terms_of_the_fact(memory: incumbent.Memory) -> None:
    """Whom the fact kept out does not read the new value either."""
    seen = memory.session(**WHO, permissions=["hr"])
    fact = seen.write("salary", "90k", subject="bob", requires=["hr"], is_constraint=True).fact
    assert fact is not None
    remedy = Remedy("correct", fact.id, value="95k")
    new = CORRECTIONS["correct"].carried_out(seen, remedy).fact
    assert new is not None
    assert (new.value, new.requires, new.subject, new.is_constraint) == (
        "95k",
        ("hr",),
        "bob",
        True,
    )
    assert memory.session(**WHO).get(new.id) is None


def test_consequences_tell_who_moves_and_who_is_reached(memory: incumbent.Memory) -> None:
    """The new value, the old one, and the dependents, in that order; and nothing is done."""
    alice = memory.session(**WHO)
    price = alice.write("price", 12).fact
    assert price is not None
    alice.write("total", 480, depends_on=[price.id])
    rehearsal = alice.rehearsal()
    CORRECTIONS["correct"].carried_out(rehearsal, Remedy("correct", price.id, value="15"))
    found = consequences_of(rehearsal.changes)
    assert [(one.kind, one.fact.key, one.says) for one in found] == [
        ("new", "price", "takes office"),
        ("leaves", "price", "leaves office: superseded"),
        ("review", "total", "needs review"),
    ]
    assert alice.current("price") == 12
