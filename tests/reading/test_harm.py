"""What leaves true statements alone: words that are only shown, two things, suppositions, rungs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import incumbent
from incumbent.reading.comparing import compared
from incumbent.reading.displayed import is_displayed, may_be_shown
from incumbent.testing import SteppingClock

MONDAY = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture
def memory() -> Iterator[incumbent.Memory]:
    settings = incumbent.Settings(embedder="static", reader="rules")
    with incumbent.open(":memory:", clock=SteppingClock(MONDAY), settings=settings) as memory:
        yield memory


def live(session: incumbent.Session) -> set[str]:
    """What stands and is in no doubt."""
    facts = session.facts()
    doubted = {one for fact in facts for one in fact.doubts}
    return {str(fact.value) for fact in facts if fact.id not in doubted}


@pytest.mark.parametrize(
    ("turn", "shown"),
    [
        ("From: Ada\nTo: all\nSubject: tools\n\nWe stop using Figma today.", True),
        ("Make it sound more polite: I am no longer your manager.", True),
        ("[10:02] Ada: forget the rota\n[10:03] Ben: ok", True),
        ("Continue the story:\n\nShe put the phone down for good.", True),
        ("We stopped using Figma today.", False),
        ("can you squeeze it\nDear partners, we are now 7 people. Noor has left us.", True),
        ("hey my name is Ben and I'm vegan", False),
        ("love my new job at Acme so far", False),
        ("thanks I moved to Oslo last week", False),
        ("Name: Ben Okafor\nAddress: 5 Elm Road, Leeds", False),
        ("- My name is Ben\n- I live in Oslo now", False),
        ("hi!\nmy budget is 900 euros now\nthanks", False),
        ("Can you write me a reply to Ada? I am on leave from Monday.", False),
        ("My address is 12 Elm Road: the house with the red door.", False),
    ],
)
def test_a_turn_that_only_shows_words_is_known_by_its_form(turn: str, *, shown: bool) -> None:
    """Asking for something alone does not make it one."""
    assert is_displayed(turn) is shown


def test_what_is_told_in_the_paragraph_of_a_question_is_own() -> None:
    """The other paragraphs may be what the question is about."""
    own = "I moved out on Saturday. Do I have to react to this?"
    turn = f"{own}\n\nYour lease goes on unchanged."
    assert [turn[a:b] for a, b in may_be_shown(turn)] == ["Your lease goes on unchanged."]
    assert may_be_shown("I moved out.\n\nIt was raining.") == []


def test_a_letter_is_full_of_requests_that_are_not_what_is_asked() -> None:
    """With a question beside them they are shown; without one, a request is what is asked."""
    letter = "Dear FitBox, please cancel my membership."
    assert may_be_shown(f"{letter}\n\nwhat's missing legally?") == [(0, len(letter))]
    told = "I moved to Oslo."
    assert may_be_shown(f"Please shorten this.\n\n{told}") == [(22, 22 + len(told))]


def test_a_turn_that_quotes_at_length_or_holds_code_may_be_shown_whole() -> None:
    """A word in quotation marks is only a word."""
    told = 'My sister wrote "I am moving to Oslo and will not need the car any more" today.'
    assert may_be_shown(told) == [(0, len(told))]
    assert may_be_shown('My dog is called "Rex".') == []


@pytest.mark.parametrize("before", ["", "what's missing in this?\n\n"])
def test_what_may_be_shown_ends_nothing(memory: incumbent.Memory, before: str) -> None:
    """Said straight out, the same words do."""
    ann = memory.session(user_id="ann")
    ann.observe("My email is ada@one.org.")
    ann.observe(f"{before}My email is ben@two.org.")
    assert ("ada@one.org" in {str(fact.value) for fact in ann.facts()}) is bool(before)


def test_sentences_that_differ_in_the_thing_and_in_its_value_are_of_two_things() -> None:
    """What stands between the two keeps them apart."""
    microsoft = "The chief executive of Microsoft is Steve Jobs."
    boeing = "The chief executive of Boeing is Adel Karim."
    assert [slot.new for slot in compared(microsoft, boeing).slots] == ["Boeing", "Adel Karim"]


def test_what_stands_before_a_supposition_is_kept(memory: incumbent.Memory) -> None:
    """A mere supposition is not."""
    ann = memory.session(user_id="ann")
    told = "new knee on 17 march at the Elisabeth, right side first, the left one maybe next year"
    ann.observe(told)
    ann.observe("What if the rent were 900?")
    assert live(ann) == {told}


@pytest.mark.parametrize(
    "told",
    [
        "old mill at Kinnegad, 22 august we're thinking no, we're SAYING 84 guests and a band",
        "you won't believe it, somebody walked out, and he has us on the same Dvorak again",
        "he was seeing cats on the curtain again, so bedtime is back to the half, doctor's orders",
    ],
)
def test_whoever_types_on_and_on_tells_something(memory: incumbent.Memory, told: str) -> None:
    """A long stretch is kept as it was said, whatever in it is only thought of."""
    ann = memory.session(user_id="ann")
    ann.observe(told)
    assert live(ann) == {told}


def test_what_may_or_may_not_happen_binds_nobody(memory: incumbent.Memory) -> None:
    """It is told, and no rule."""
    ann = memory.session(user_id="ann")
    ann.observe("The 17th may or may not happen.")
    ann.observe("The boat may not come on Sunday.")
    assert [fact.is_constraint for fact in ann.facts()] == [False, False]


def test_nobody_doubts_their_own_word_in_one_breath(memory: incumbent.Memory) -> None:
    """What a turn says further on is shown beside what it said first."""
    ann = memory.session(user_id="ann")
    ann.observe("It is permanent. I'm his guardian, Ms Oduya no longer needs to come at all.")
    assert len(live(ann)) == 2


@pytest.mark.parametrize(
    ("told", "changes"),
    [
        ("Change of plan: the moving date is now 25 September.", True),
        ("New info: the moving date is now 25 September.", True),
        ("My sister told me: the moving date is now 25 September.", False),
        ("Please translate this: the moving date is now 25 September.", False),
    ],
)
def test_saying_what_kind_of_news_comes_makes_it_nobody_elses_word(
    memory: incumbent.Memory, told: str, *, changes: bool
) -> None:
    """What others said, or what is to be worked on, changes nothing."""
    ann = memory.session(user_id="ann")
    ann.observe("The moving date is 13 October.")
    ann.observe(told)
    assert (ann.current("moving_date") == "25 September") is changes


def test_what_is_cancelled_is_not_approved_however_often_it_was_said(
    memory: incumbent.Memory,
) -> None:
    """Another order that was approved still is."""
    ann = memory.session(user_id="ann")
    ann.observe("Order 7810 is approved.")
    ann.observe("To be clear, order 7810 was approved.")
    ann.observe("Order 7822 is approved.")
    ann.observe("Order 7810 is cancelled.")
    assert live(ann) == {"Order 7822 is approved.", "Order 7810 is cancelled."}


def test_a_lower_rung_does_not_say_otherwise_than_a_higher_one(memory: incumbent.Memory) -> None:
    """What both say of themselves is of two people."""
    session = memory.session(user_id="ann", authority="executive", permissions=("authority:*",))
    for told in ("Visitors sign in at the north gate.", "I work in the north wing."):
        session.observe(told, speaker="Security", authority="executive")
    session.observe("Visitors sign in at the loading dock.", speaker="Nils", authority="employee")
    session.observe("I work in the south wing.", speaker="Nils", authority="employee")
    assert live(session) == {
        "Visitors sign in at the north gate.",
        "I work in the north wing.",
        "I work in the south wing.",
    }


@pytest.mark.parametrize(
    "told",
    [
        "I changed jobs, I work at Vertex now.",
        "The landlord sold the house.",
        "We switched the logs to Loki last week.",
        "We moved to Lille.",
    ],
)
def test_a_sentence_about_something_else_ends_nothing(told: str) -> None:
    """However little else is known, and said right before it: no word of theirs is in both."""
    for known in ("My sister lives in Porto.", "The invoice goes to Acme Ltd.", "Keep it short."):
        with incumbent.open(":memory:", clock=SteppingClock(MONDAY)) as memory:
            session = memory.session(user_id="ann")
            before = [fact.id for fact in session.observe(known).facts]
            session.observe(told)
            assert set(before) <= {fact.id for fact in session.facts()}


def test_what_is_surely_said_of_one_thing_puts_no_other_in_doubt() -> None:
    """The sentence names what it changes."""
    with incumbent.open(":memory:", clock=SteppingClock(MONDAY)) as memory:
        session = memory.session(user_id="ann")
        for told in ("We deploy with Fabric.", "Please don't touch the migrations folder."):
            session.observe(told)
        session.observe("From today we deploy with Kubernetes instead of Fabric.")
        assert "Please don't touch the migrations folder." in live(session)
