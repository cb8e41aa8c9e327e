"""Names in plain talk, changes that name old and new, reasons, and what waits for a change."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import incumbent
from incumbent.reading.claims import claim_of, claim_of_known
from incumbent.reading.naming import stretches
from incumbent.reading.offline import parts_of
from incumbent.reading.things import name_of
from incumbent.testing import SteppingClock

MONDAY = datetime(2026, 1, 5, 9, tzinfo=UTC)
BUDGET = frozenset({name_of("budget", None)})


@pytest.fixture
def ann() -> Iterator[incumbent.Session]:
    settings = incumbent.Settings(embedder="static")
    with incumbent.open(":memory:", clock=SteppingClock(MONDAY), settings=settings) as memory:
        yield memory.session(user_id="ann", organization="acme")


def named(text: str, known: frozenset[frozenset[str]] = frozenset()) -> tuple[object, ...] | None:
    parts = parts_of(text, MONDAY)
    claim = claim_of(text, parts) or claim_of_known(text, parts, known)
    return claim and (claim.subject, claim.attribute, claim.value)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("oh and my grocery bill comes to $410 btw", (None, "grocery_bill", "$410")),
        ("Let me add that our rehearsal is on 3 May.", (None, "rehearsal", "3 May")),
        ("Tom's deposit is $90.", ("tom", "deposit", "$90")),
        ("FYI the build time = 78 minutes", (None, "build_time", "78 minutes")),
        ("ok so my headcount is 32 people, that much is certain", (None, "headcount", "32 people")),
        ("Based on the wind, my ferry is at 6:20 am.", (None, "ferry", "6:20 am")),
    ],
)
def test_a_name_in_plain_talk(text: str, name: tuple[object, ...]) -> None:
    """What leads in and what rounds off says nothing."""
    assert named(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "My aunt collects stamps from Peru.",
        "My aunt is in Peru.",
        "Just so you know, my ferry leaves at 6:20 am.",
        "Tom might say that my rent is $900.",
        "We met at the club on Friday.",
        "Shirts: 10 M, 6 L.",
        "The horse is stabled at Coldwell Farm.",
        "The fish tank holds 240 litres.",
        "In winter my heating bill comes to $410.",
        "Tom says my grocery bill comes to $410.",
        "If my grocery bill comes to $410, I am broke.",
        "Is my grocery bill $410?",
        "We ate at 7 pm and the waiter wanted $20.",
    ],
)
def test_what_says_more_gets_no_name_in_plain_talk(text: str) -> None:
    """A word that says something of its own, and the statement is kept as it was said."""
    assert named(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "We changed my budget from $900 to $210.",
        "For my budget it used to be $900, these days it's $210.",
        "$900 out, $210 in, that's the change for my budget",
        "My budget is $210 and no longer $900.",
        "They switched my budget on us again, $210 now instead of $900",
    ],
)
def test_a_change_names_old_and_new(text: str) -> None:
    """The new value goes under the name, and the old one is not said again."""
    assert named(text, BUDGET) == (None, "budget", "$210")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "My rent is $900, so my budget is $50.",
            ["My rent is $900", "so my budget is $50."],
        ),
        (
            "My budget is $50 because my rent is $900.",
            ["My budget is $50", "because my rent is $900."],
        ),
        ("I was late, so my boss was angry.", ["I was late, so my boss was angry."]),
    ],
)
def test_a_reason_stands_apart_from_what_follows_from_it(text: str, found: list[str]) -> None:
    """Where each of the two gives a name; otherwise the sentence is kept whole."""
    assert [text[a:b] for a, b in stretches(text, parts_of(text, MONDAY))] == found


@pytest.mark.parametrize(
    "told",
    [
        "My budget is $50 because my rent is $900.",
        "My rent is $900. My budget is $50, and that depends on my rent.",
        "My rent is $900. Judging by my rent, my budget is $50.",
        "My rent is $900. My budget is $50. It hangs on my rent.",
    ],
)
def test_what_follows_is_not_known_once_its_reason_changes(
    ann: incumbent.Session, told: str
) -> None:
    """Whichever is said first, and in whatever words."""
    ann.observe(told)
    ann.observe("My rent is now $1,000.")
    assert ann.current("rent") == "$1,000"
    assert "$50" not in ann.context("What is my budget?").text


def test_what_waits_for_a_value_takes_office_with_that_value(ann: incumbent.Session) -> None:
    """Another value of the same thing does not bring it."""
    ann.observe("The wall colour is amber. The reception is at 8:20 am.")
    ann.observe("If the wall colour becomes crimson, then the reception changes to 11:20 am.")
    ann.observe("The wall colour is now lavender.")
    assert ann.current("reception") == "8:20 am"
    ann.observe("The wall colour is now crimson.")
    assert ann.current("reception") == "11:20 am"


def test_a_value_of_another_kind_takes_nothing_over(ann: incumbent.Session) -> None:
    """The day of a party is not its time."""
    ann.observe("My party is on 3 May.")
    ann.observe("My party is at 8 pm.")
    told = ann.context("When is my party?").text
    assert "3 May" in told
    assert "8 pm" in told


def test_an_echo_of_a_machine_keeps_nothing_alive(ann: incumbent.Session) -> None:
    """What it says again is the person's, and goes with it."""
    ann.observe("Just so you know, my boiler inspection is on 14 April.")
    ann.observe("Okay, your boiler inspection is on 14 April.", speaker="assistant")
    ann.observe("My boiler inspection is now on 20 April.")
    assert "14 April" not in ann.context("When is my boiler inspection?").text
