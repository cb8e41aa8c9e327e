"""What an update, a cancellation or an aside leaves behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import incumbent
from incumbent.model.verdict import Outcome


@pytest.fixture(params=["rules", "both"])
def session(request: pytest.FixtureRequest) -> Iterator[incumbent.Session]:
    settings = incumbent.Settings(embedder=None, detector=request.param)
    with incumbent.open(":memory:", settings=settings) as memory:
        yield memory.session(user_id="mara", authority="manager")


def told(session: incumbent.Session, query: str) -> str:
    return session.context(query, budget=2_000).text


class TestAnnouncedUpdates:
    def test_an_update_overtakes_what_was_said_of_the_same_thing(
        self, session: incumbent.Session
    ) -> None:
        """What was said of the pipeline run goes, with what was said along with it."""
        session.observe("Pipeline run #881 succeeded. Good to merge.")
        session.observe("Update: Pipeline run #881 broke in the lint step. 3 files to fix.")
        text = told(session, "How is pipeline run #881?")
        assert "broke in the lint step" in text
        assert "succeeded" not in text
        assert "Good to merge" not in text

    def test_what_it_overtakes_points_to_it(self, session: incumbent.Session) -> None:
        """The chain leads from the old report to the new one."""
        session.observe("The ferry timetable to Skye is being revised by the council.")
        heard = session.observe("Status update: the ferry timetable to Skye is out.")
        (verdict,) = [v for v in heard.verdicts if v.outcome is Outcome.SUPERSEDED]
        assert verdict.fact is not None
        (old,) = [session.get(fact_id) for fact_id in verdict.superseded]
        assert old is not None
        assert old.superseded_by == verdict.fact.id

    def test_other_things_stand(self, session: incumbent.Session) -> None:
        """One name in common is not enough: Nadia's birthday is none of her flight's business."""
        session.observe("Nadia's birthday is on May 5.")
        session.observe("Update: Nadia lands at 9:40.")
        assert "May 5" in told(session, "When is Nadia's birthday?")

    def test_without_the_word_nothing_is_overtaken(self, session: incumbent.Session) -> None:
        """Two statements about one thing stand side by side."""
        session.observe("Pipeline run #881 compiles the docs.")
        session.observe("Pipeline run #881 takes a while in the lint step.")
        assert "compiles the docs" in told(session, "What does pipeline run #881 do?")

    def test_a_lower_voice_overtakes_nothing(self, session: incumbent.Session) -> None:
        """Who may not replace a fact cannot announce it away either."""
        session.observe("The freeze of the payment service begins on Monday.")
        session.observe("Update: the freeze of the payment service is off.", authority="guest")
        assert "begins on Monday" in told(session, "When does the freeze begin?")


class TestWhatIsOver:
    def test_that_something_is_cancelled_is_known(self, session: incumbent.Session) -> None:
        """It goes, and that it is cancelled stays, with the reason."""
        session.observe("Work order #77 approved for $9,000. Go on with the order.")
        session.observe("Work order #77 CANCELLED for lack of parts.")
        text = told(session, "What about work order #77?")
        assert "CANCELLED for lack of parts" in text
        assert "$9,000" not in text
        assert "Go on with the order" not in text

    def test_what_only_makes_sense_with_it_goes_too(self, session: incumbent.Session) -> None:
        """Once there is no picnic, it starts at no time."""
        session.observe("The picnic is on June 6 in the park. It starts at 11:00.")
        session.observe("The picnic has been called off.")
        text = told(session, "When is the picnic?")
        assert "June 6" not in text
        assert "11:00" not in text

    def test_it_goes_wherever_it_was_said(self, session: incumbent.Session) -> None:
        """Said twice in other words, gone twice."""
        session.observe("Contract C-204 is worth $40,000.")
        session.observe("To be clear: contract C-204 runs until 2031.")
        session.observe("Contract C-204 was scrapped.")
        text = told(session, "What about contract C-204?")
        assert "$40,000" not in text
        assert "2031" not in text

    def test_other_orders_stand(self, session: incumbent.Session) -> None:
        session.observe("Work order #77 is worth $9,000.")
        session.observe("Work order #78 is worth $4,000.")
        session.observe("Work order #77 was cancelled.")
        assert "$4,000" in told(session, "What is work order #78 worth?")


class TestAsides:
    TURNS = (
        "Planned the spring catalogue with the printer.",
        "Hold on - the printer in the office is jammed.",
        "Ordered a new fuser unit.",
        "Office sorted, back to the catalogue.",
    )

    def test_an_aside_that_is_over_stays_out(self, session: incumbent.Session) -> None:
        """Also where a word of the query is in both: the printer of the main line is meant."""
        for turn in self.TURNS:
            session.observe(turn)
        text = told(session, "What did we plan with the printer?")
        assert "spring catalogue" in text
        assert "fuser" not in text

    def test_who_asks_about_it_hears_of_it(self, session: incumbent.Session) -> None:
        for turn in self.TURNS:
            session.observe(turn)
        assert "fuser" in told(session, "Which fuser unit was ordered?")


class TestOneThingByTwoNames:
    def test_the_shorter_name_means_the_longer_where_there_is_one(
        self, session: incumbent.Session
    ) -> None:
        session.observe("Our main supplier is Kestrel Paper.")
        session.observe("The supplier is Blue Heron now.")
        text = told(session, "Who is our supplier?")
        assert "Blue Heron" in text
        assert "Kestrel" not in text

    def test_of_two_it_means_neither(self, session: incumbent.Session) -> None:
        """Which of the suppliers changed cannot be told, so both stand."""
        session.observe("Our main supplier is Kestrel Paper.")
        session.observe("Our backup supplier is Dunlin Print.")
        session.observe("The supplier is Blue Heron now.")
        text = told(session, "Who are our suppliers?")
        assert "Kestrel" in text
        assert "Dunlin" in text

    def test_a_value_that_was_also_written_down_goes_there_too(
        self, session: incumbent.Session
    ) -> None:
        session.observe("Please deliver the chairs to Leeds.")
        session.write("delivery_city", "Leeds")
        session.observe("Actually, deliver them to York instead.")
        assert session.current("delivery_city") == "York"


def test_an_old_value_that_is_named_takes_nobodys_place(session: incumbent.Session) -> None:
    """In "your 200 is now 140" only the second is new."""
    session.observe("The budget is $200.")
    session.observe("The caterer asks for $150.")
    session.observe("Bad news, the $200 budget is now $140.")
    text = told(session, "What does the caterer ask for?")
    assert "$150" in text
    assert "$140" in text


def test_who_goes_on_talking_replaces_nothing(session: incumbent.Session) -> None:
    """The second sentence of a turn is about something else."""
    session.observe("The API answers with errors. Support is looking at it.")
    assert "API answers with errors" in told(session, "What about the API?")


def test_who_speaks_is_no_value(session: incumbent.Session) -> None:
    """The role in "Eva (Senior Engineer):" takes nobody's place."""
    session.observe("Engineer Eva reckons with 3 weeks for the importer.")
    session.observe("Eva (Senior Engineer): The importer takes 3 weeks.")
    assert "Engineer Eva reckons" in told(session, "How long does the importer take?")


def test_a_turn_that_only_confirms_hides_nothing_else(session: incumbent.Session) -> None:
    """Once the statement is gone, the words around it in the turn that repeated it are whole."""
    session.observe("Great! Work order #77 approved for $9,000.")
    session.observe("The lift is broken. Work order #77 approved for $9,000. Please note it.")
    session.observe("Work order #77 was cancelled.")
    text = told(session, "What about work order #77?")
    assert "The lift is broken. [no longer current]" in text
    assert "$9,000" not in text
