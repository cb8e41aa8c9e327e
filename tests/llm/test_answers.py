"""What is believed of an answer: what was copied is found, what was written was said."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from incumbent.reading.asked.answer import read
from incumbent.reading.asked.grounds import Grounds, placed
from incumbent.reading.form import RelationKind

AT = datetime(2026, 3, 11, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("stretch", "text", "found"),
    [
        ("wednesdays", "Piano is Wednesdays at 4", "Wednesdays"),
        ("40 desks", "We need 40  desks.", "40  desks"),
        ("$900", "the rent is $900/month", "$900"),
        ("15 %", "at most 15 % now", "15 %"),
        ("don't go", "I don’t go there", "don’t go"),
        ("Okafor", "with mrs okafro now", None),
        ("Wednesdays", "piano is wendesdays", "wendesdays"),
        ("4", "at 45 or so", None),
        ("41 desks", "We need 40 desks", None),
        ("", "We need 40 desks", None),
    ],
)
def test_what_is_copied_is_found_loosely(stretch: str, text: str, found: str | None) -> None:
    """Case, spaces, quotation marks and slips of the keys do not matter; figures do."""
    span = placed(stretch, text)
    assert (text[slice(*span)] if span is not None else None) == found


@pytest.mark.parametrize(
    ("wording", "holds"),
    [
        ("Nell does not tolerate milk.", True),
        ("The lesson is at 17:00 on Friday", True),
        ("Nell is off milk until 2026-03-13", True),
        ("The child does not tolerate milk", True),
        ("Bob does not tolerate milk", False),
        ("Nell drinks 2 glasses", False),
        ("Nell is off milk until 2026-03-14", False),
        ("Nell pays 5 euros", False),
        ("Nell eats at Luigi's", False),
    ],
)
def test_a_wording_holds_what_was_said(wording: str, holds: bool) -> None:
    """Every name, number, day and amount stands in what was said, in whatever form."""
    said = [("shes off milk since that rash", AT), ("How is Nell? See you Friday at 5 pm", AT)]
    assert Grounds(said).holds(wording, AT) is holds


@pytest.mark.parametrize(
    ("wording", "holds"),
    [
        ("Joe's van sleeps here from now on", True),
        ("From now on Joe's van sleeps at Bernice's", True),
        ("On Fridays Joe's van sleeps here", False),
        ("Joe's van pays Bernice 22", False),
        ("Tom's van sleeps here", False),
    ],
)
def test_a_wording_may_name_whom_an_earlier_fact_names(wording: str, holds: bool) -> None:
    """A name may be typed without its apostrophe, or stand in what was shown; a figure that only
    stands there was said of something else."""
    grounds = Grounds(
        [("joes van sleeps here too, from now on", AT)], ["Bernice has 22 on Fridays"]
    )
    assert grounds.holds(wording, AT) is holds


def test_an_answer_is_read_as_far_as_it_can_be() -> None:
    """Good entries count, and the others are told of."""
    good = {"s": "s1", "does": [{"to": "k1", "is": "ends", "sure": True}]}
    found = read({"statements": [good, {"s": "s2", "until": "soon"}, 7]})
    assert [one.sentence for one in found.entries] == ["s1"]
    assert found.entries[0].does[0].kind is RelationKind.ENDS
    assert len(found.unreadable) == 2


def test_what_is_not_said_to_be_sure_is_not() -> None:
    """A model that leaves it out loses nobody a fact."""
    found = read({"statements": [{"s": "s1", "does": [{"to": "k1", "is": "ends"}]}]})
    assert not found.entries[0].does[0].is_sure
