"""Worth: what a turn tells that is kept, and what is talk."""

from __future__ import annotations

import pytest

import incumbent
from tests.conftest import QUICK, OpenMemory

_ADVICE = (
    "**Setting it up**\n\n1. Create a repository and add a licence file that is set to MIT.\n"
    "2. Once the tests are done, the branch is merged and closed by the reviewer.\n"
    "3. The invoice is paid and confirmed within a week in most such shops.\n"
    "4. Keep the changes small, because a small change is reviewed and merged sooner.\n"
    "5. The release is created, saved and shipped by the workflow that was added above.\n\n"
)


@pytest.fixture
def ann(open_memory: OpenMemory) -> incumbent.Session:
    return open_memory(settings=QUICK).session(user_id="ann")


def test_of_a_long_reply_only_what_is_said_outright_as_done_is_kept(
    ann: incumbent.Session,
) -> None:
    """Advice is full of words for things that are done."""
    ann.observe(_ADVICE * 2 + "I've booked the room for Friday at ten.", speaker="assistant")
    assert [fact.value for fact in ann.facts()] == ["I've booked the room for Friday at ten."]


def test_a_short_reply_is_kept_where_it_reports_something_done(ann: incumbent.Session) -> None:
    ann.observe("The return label is sent.", speaker="assistant")
    assert [fact.value for fact in ann.facts()] == ["The return label is sent."]


@pytest.mark.parametrize(
    "text",
    ["Can you help me with that?", "Could you please explain the difference between the two?"],
)
def test_a_request_for_help_that_tells_nothing_is_not_kept(
    ann: incumbent.Session, text: str
) -> None:
    ann.observe(text)
    assert ann.facts() == []


def test_a_request_for_help_that_tells_something_is_kept(ann: incumbent.Session) -> None:
    ann.observe("Could you recommend books for my eight-year-old, he's mad about dinosaurs?")
    assert len(ann.facts()) == 1
