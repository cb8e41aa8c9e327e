"""What is asked for instead, and what an update leaves nothing of."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from incumbent.reading.alternatives import alternatives
from incumbent.reading.form import Heard, Known, Relation, RelationKind, Statement, StatementKind
from incumbent.reading.offline import parts_of
from incumbent.reading.overtaking import overtaken

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)


def said(text: str) -> Statement:
    return Statement(text, 0, len(text), StatementKind.STATES, parts=parts_of(text, NOW))


def known(text: str) -> Known:
    return Known("a", text, parts=parts_of(text, NOW), is_here=True)


def changed(relations: Iterator[Relation], old: str, new: str) -> list[str]:
    """The earlier text with what the relations put into it."""
    return [
        f"{old[: one.old[0]]}[{new[slice(*one.new)]}]{old[one.old[1] :]}"
        for one in relations
        if one.old is not None and one.new is not None
    ]


@pytest.mark.parametrize(
    ("asked", "reply", "turn", "then"),
    [
        (
            "I'm looking for an Afghan restaurant in the north.",
            "There are no restaurants like that. Would you like another kind?",
            "How about a European one?",
            "I'm looking for an [European] restaurant in the north.",
        ),
        (
            "Can you find a place with Corsican food?",
            "Sorry, I couldn't find any. Something different?",
            "How about Indian food?",
            "Can you find a place with [Indian] food?",
        ),
        (
            "I want to go to Shiki House for three people.",
            "Please confirm: a ride to Shiki House for three.",
            "No, I'd like to go to the Clover Theater.",
            "I want to go to [the Clover Theater] for three people.",
        ),
    ],
)
def test_what_is_asked_for_instead_takes_the_place(
    asked: str, reply: str, turn: str, then: str
) -> None:
    """After a dead end, or where it was read back wrongly."""
    heard = Heard(turn, "user", NOW, reply, previous_by_machine=True, known=(known(asked),))
    assert changed(alternatives(heard, [said(turn)]), asked, turn) == [then]


@pytest.mark.parametrize(
    ("earlier", "reply", "turn"),
    [
        (
            "I want to fly to Berlin in May.",
            "Your flight to Berlin is noted.",
            "Actually, I also want to fly to Paris in June.",
        ),
        (
            "My brother lives in north London.",
            "I don't have any rooms there. A different area?",
            "How about something in the south?",
        ),
        (
            "I want a table at Luigi's.",
            "It is booked. Anything else?",
            "The cinema is at Grafton Square.",
        ),
    ],
)
def test_what_comes_on_top_takes_no_place(earlier: str, reply: str, turn: str) -> None:
    """What is added, what nobody asked for, and what is said of something else."""
    heard = Heard(turn, "user", NOW, reply, previous_by_machine=True, known=(known(earlier),))
    assert list(alternatives(heard, [said(turn)])) == []


@pytest.mark.parametrize(
    ("old", "new", "is_over"),
    [
        (
            "Note: John Doe interview scheduled for 2:00 PM in Conference Room A",
            "Update: John Doe interview moved to 11:00 AM via Zoom",
            True,
        ),
        ("Dinner with Anna is at 7 pm at Luigi's.", "Update: dinner with Anna is at 8 pm.", False),
        ("The Berlin trip costs 900 euros.", "Update: the Berlin trip is on 4 May.", False),
        ("Order #4521 approved for $50,000.", "Order #4521 cancelled due to a freeze.", True),
        ("The meeting room is A4.", "The meeting is cancelled.", False),
    ],
)
def test_an_update_leaves_nothing_only_where_it_says_all_anew(
    old: str, new: str, *, is_over: bool
) -> None:
    """What it has no value for stands."""
    found = [one.kind for one in overtaken([said(new)], [known(old)])]
    assert found == ([RelationKind.REPLACES] if is_over else [])
