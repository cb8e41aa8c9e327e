"""Terms: when a statement holds, where it says so itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from incumbent.reading.terms import Found, term_in
from tests.conftest import examples

MANY = settings(max_examples=examples(300, soak=3_000), deadline=None)

AT = datetime(2026, 3, 11, 10, 0, tzinfo=UTC)
"""A Wednesday."""

Bound = str | None


def written(found: Found | None, text: str) -> tuple[Bound, Bound, str] | None:
    """From when, until when, and the phrase that says so, where that is more than a day's name."""
    if found is None or found.is_bare:
        return None
    return moment(found.term.begins), moment(found.term.ends), text[slice(*found.span)]


def moment(value: datetime | None) -> Bound:
    """A moment without what goes without saying."""
    if value is None:
        return None
    return value.isoformat(" ", "minutes").removesuffix("+00:00").removesuffix(" 00:00")


BOUNDED = [
    ("The code is valid through 30 April.", None, "2026-05-01", "valid through 30 April"),
    ("The code is valid until Friday.", None, "2026-03-14", "valid until Friday"),
    ("I am in Oslo until Friday.", None, "2026-03-14", "until Friday"),
    ("Until Friday, use the old address.", None, "2026-03-14", "Until Friday"),
    ("I work from home till Sunday, then I travel", None, "2026-03-16", "till Sunday"),
    ("The freeze holds through Q3.", None, "2026-10-01", "through Q3"),
    ("The freeze holds through March.", None, "2026-04-01", "through March"),
    ("The lead is Bob until next week.", None, "2026-03-16", "until next week"),
    ("Until the end of March we use Acme", None, "2026-04-01", "Until the end of March"),
    ("He leads until Friday at 5pm.", None, "2026-03-13 17:00", "until Friday at 5pm"),
    ("It is valid until 5pm.", None, "2026-03-11 17:00", "valid until 5pm"),
    ("Valid until 5pm on Friday.", None, "2026-03-13 17:00", "Valid until 5pm on Friday"),
    ("The offer expires on Friday.", None, "2026-03-14", "expires on Friday"),
    ("The offer expires tomorrow and is final.", None, "2026-03-13", "expires tomorrow"),
    ("Shipping is free this week only!", "2026-03-09", "2026-03-16", "this week only"),
    ("We are closed for this week only.", "2026-03-09", "2026-03-16", "for this week only"),
    ("It is 20 % off just for today.", "2026-03-11", "2026-03-12", "just for today"),
    ("only today", "2026-03-11", "2026-03-12", "only today"),
    ("Today only: 5 % off", "2026-03-11", "2026-03-12", "Today only"),
    ("The gym is free on Monday only", "2026-03-16", "2026-03-17", "on Monday only"),
    (
        "For the next two hours the site is down",
        *("2026-03-11 10:00", "2026-03-11 12:00", "For the next two hours"),
    ),
    (
        "The limit is $5k for the next two days.",
        *("2026-03-11 10:00", "2026-03-13 10:00", "for the next two days"),
    ),
    (
        "Use plan B for the next month.",
        *("2026-03-11 10:00", "2026-04-10 10:00", "for the next month"),
    ),
    (
        "For the rest of the week I am in Rome.",
        *("2026-03-11 10:00", "2026-03-16", "For the rest of the week"),
    ),
    (
        "I am out for the rest of the day",
        *("2026-03-11 10:00", "2026-03-12", "for the rest of the day"),
    ),
    ("Starting Monday, the price is $5.", "2026-03-16", None, "Starting Monday"),
    ("The price is $5 starting next week.", "2026-03-16", None, "starting next week"),
    ("The rate is 5 % effective 1 April.", "2026-04-01", None, "effective 1 April"),
    ("As of today we use Postgres", "2026-03-11", None, "As of today"),
    ("I am away from 1 May to 15 June.", "2026-05-01", "2026-06-16", "from 1 May to 15 June"),
    (
        "It is valid from 1 May until 15 June",
        *("2026-05-01", "2026-06-16", "valid from 1 May until 15 June"),
    ),
    (
        "Effective Monday the fee is $2, valid until 1 June.",
        *("2026-03-16", "2026-06-02", "Effective Monday the fee is $2, valid until 1 June"),
    ),
    ("From now on call me Bob.", "2026-03-11 10:00", None, "From now on"),
    ("Effective immediately, leave is off.", "2026-03-11 10:00", None, "Effective immediately"),
    ("I 'm in Oslo until Friday .", None, "2026-03-14", "until Friday"),
]
UNBOUNDED = [
    "My address is 123 Main St.",
    "This holds until further notice.",
    "Send it by Friday.",
    "The deadline is Friday.",
    "The shop is open until 5pm.",
    "The meeting runs from 9am to 5pm.",
    "The launch is postponed until Friday.",
    "We won't ship until Friday.",
    "Don't tell him until Friday.",
    "Let's wait until Monday.",
    "The deadline was extended until June.",
    "It was moved from Monday to Tuesday.",
    "I got it from Monday's report.",
    "I only want two tickets for Friday.",
    "Just a table for Friday please.",
    "I work from home.",
    "We walked through Berlin.",
    "He read it through.",
    "Only Bob can approve it.",
    "I need it for this week.",
    "My shift is just the Tuesday now.",
    "We are open only Friday.",
    "They raised it from 5 to 7.",
    "until",
    "",
]


@pytest.mark.parametrize(("text", "since", "until", "phrase"), BOUNDED)
def test_a_statement_says_when_it_holds(text: str, since: Bound, until: Bound, phrase: str) -> None:
    """A day named as the end belongs to the time, and the phrase is told."""
    assert written(term_in(text, AT), text) == (since, until, phrase)


@pytest.mark.parametrize("text", UNBOUNDED)
def test_most_statements_set_no_bound(text: str) -> None:
    """Deadlines, opening hours and things put off do not bound what is said."""
    assert written(term_in(text, AT), text) is None


def test_days_begin_and_end_where_the_speaker_is() -> None:
    """The end of Friday is the end of Friday in the time zone of the statement."""
    zone = timezone(timedelta(hours=-5))
    found = term_in("It is so until Friday.", datetime(2026, 3, 11, 23, 0, tzinfo=zone))
    assert found is not None
    assert found.term.ends == datetime(2026, 3, 14, tzinfo=zone)


PIECES = """
valid until through till from to effective starting expires only just for the next rest of this week
today Friday Monday 1 May 15 June Q3 5pm two days hours now on further notice . , ; at not won't
moved wait 2026 end month year as
"""
spoken = st.lists(st.sampled_from(PIECES.split()) | st.text(max_size=4), max_size=12).map(" ".join)


@MANY
@given(spoken, st.datetimes(timezones=st.just(UTC)))
@example("for the next 9999 years", datetime(9999, 12, 31, tzinfo=UTC))
@example("until the end of the year", datetime(9999, 12, 31, tzinfo=UTC))
@example("for the rest of the day", datetime(9999, 12, 31, tzinfo=UTC))
@example("for the next month only today", datetime(9999, 12, 31, tzinfo=UTC))
@example("valid until 24:00 on Friday", datetime(9999, 12, 30, tzinfo=UTC))
def test_any_text_is_answered(text: str, at: datetime) -> None:
    """On any text and at any moment: an honest phrase with at least one bound, or nothing."""
    found = term_in(text, at)
    if found is not None:
        assert 0 <= found.span[0] < found.span[1] <= len(text)
        assert found.term.begins or found.term.ends
    assert term_in(text, at) == found


@pytest.mark.parametrize("unit", ["until ", "from 1 ", "only", "until Friday ", " ", "the next "])
def test_endless_repetitions_are_answered(unit: str) -> None:
    """Text that means nothing cannot keep the reader busy."""
    found = term_in(unit * 100_000, AT)
    assert found is None or found.span[0] < found.span[1]
