"""Valid time, record time, and clocks that misbehave."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

import incumbent
from incumbent import Memory, Outcome, Rule, Session, Status
from incumbent.testing import SteppingClock
from tests.behaviour.people import FOR_ALL, fact, someone
from tests.conftest import OpenMemory

pytestmark = pytest.mark.on_every_store

DAY = timedelta(days=1)


class TestTerms:
    """Facts that begin and end by themselves."""

    def test_a_fact_holds_from_and_until(self, alice: Session, clock: SteppingClock) -> None:
        """It starts at valid_from, and at valid_until it is over."""
        start = clock.now
        alice.write("offer", "10%", valid_from=start + DAY, valid_until=start + 3 * DAY)
        assert alice.current("offer") is None
        clock.move_to(start + DAY)
        assert alice.current("offer") == "10%"
        clock.move_to(start + 3 * DAY)
        assert alice.current("offer") is None
        assert alice.is_current("offer") is False

    def test_an_expired_fact_leaves_its_office_free(
        self, alice: Session, clock: SteppingClock
    ) -> None:
        """The next statement at the address is a first one again."""
        alice.write("offer", "10%", valid_until=clock.now + DAY)
        clock.advance(days=2)
        verdict = alice.write("offer", "5%")
        assert verdict.outcome is Outcome.ESTABLISHED
        assert alice.current("offer") == "5%"

    def test_an_expired_ruling_no_longer_outranks(
        self, memory: Memory, clock: SteppingClock
    ) -> None:
        """What a policy said until Friday binds nobody on Saturday."""
        board, eve = someone(memory, "board", "policy"), someone(memory, "eve")
        board.write("cap", "15%", subject="sales", valid_until=clock.now + DAY)
        assert eve.write("cap", "25%", subject="sales").outcome is Outcome.OVERRULED
        clock.advance(days=2)
        assert eve.write("cap", "25%", subject="sales").took_office

    def test_an_expired_value_is_kept_out_of_the_working_set(
        self, alice: Session, clock: SteppingClock
    ) -> None:
        """A turn that stated it does not bring it back."""
        alice.write("offer", "ten-percent", valid_until=clock.now + timedelta(hours=1))
        alice.note("turn", "we offer ten-percent")
        assert "ten-percent" in alice.context("?").text
        clock.advance(hours=2)
        assert "ten-percent" not in alice.context("?").text

    def test_a_scheduled_successor_waits_for_its_day(
        self, alice: Session, clock: SteppingClock
    ) -> None:
        """Until then the incumbent is in office, and the successor reads as waiting."""
        alice.write("rate", 5)
        planned = alice.write("rate", 6, valid_from=clock.now + 7 * DAY)
        assert planned.fact is not None
        assert planned.fact.status is Status.WAITING
        assert alice.current("rate") == 5
        assert [found.value for found in alice.facts()] == [5]
        clock.advance(days=8)
        assert alice.current("rate") == 6
        assert [found.value for found in alice.facts()] == [6]

    def test_a_scheduled_successor_under_another_key_waits_too(
        self, alice: Session, clock: SteppingClock
    ) -> None:
        """The first key leads to whatever is in office at this moment."""
        alice.write("rate_v1", 5)
        alice.write("rate_v2", 6, supersedes="rate_v1")
        alice.write("rate_v3", 7, supersedes="rate_v2", valid_from=clock.now + 7 * DAY)
        assert alice.current("rate_v2") == 6
        assert alice.current("rate_v1") == 6
        clock.advance(days=8)
        assert alice.current("rate_v1") == 7

    def test_an_interim_statement_takes_the_time_up_to_the_change(
        self, alice: Session, clock: SteppingClock
    ) -> None:
        """Said after the plan was made, it holds until the plan takes effect."""
        alice.write("rate", 5)
        alice.write("rate", 6, valid_from=clock.now + 7 * DAY)
        alice.write("rate", 5.5)
        assert alice.current("rate") == 5.5
        clock.advance(days=8)
        assert alice.current("rate") == 6
        assert alice.history("rate").values == (5, 5.5, 6)

    def test_a_moment_in_another_zone_is_the_same_moment(self, alice: Session) -> None:
        """Times are kept in UTC, whatever zone they came in."""
        east = timezone(timedelta(hours=5))
        said = alice.write("plan", "A", at=datetime(2026, 1, 2, 5, tzinfo=east))
        assert fact(alice, said).timestamp == datetime(2026, 1, 2, tzinfo=UTC)


class TestLateArrivals:
    """Order is by when it was said or true, not by when it arrived."""

    def test_an_older_statement_takes_its_place_in_the_past(
        self, alice: Session, clock: SteppingClock
    ) -> None:
        """The chain is in the order of saying, and the incumbent stays."""
        start = clock.now
        alice.write("plan", "A", at=start - 4 * DAY)
        alice.write("plan", "C", at=start - 1 * DAY)
        late = alice.write("plan", "B", at=start - 2 * DAY)
        assert (late.outcome, late.rule) == (Outcome.SUPERSEDED, Rule.TEMPORAL)
        assert alice.current("plan") == "C"
        assert alice.history("plan").values == ("A", "B", "C")
        seen = [alice.as_of(start - n * DAY).current("plan") for n in (3, 2, 1)]
        assert seen == ["A", "B", "C"]

    def test_a_late_ruling_prevails_all_the_same(
        self, memory: Memory, clock: SteppingClock
    ) -> None:
        """Authority wins in either order of arrival."""
        board, eve = someone(memory, "board", "policy"), someone(memory, "eve", permissions=FOR_ALL)
        eve.write("cap", "25%", subject="sales", memory_type="organizational")
        late = board.write("cap", "15%", subject="sales", at=clock.now - DAY)
        assert late.took_office
        assert late.rule is Rule.AUTHORITY
        assert eve.current("cap", "sales") == "15%"

    def test_a_late_statement_below_its_time_is_overruled(
        self, memory: Memory, clock: SteppingClock
    ) -> None:
        """Where something higher held office at that time, it belongs nowhere."""
        start = clock.now
        boss, eve = someone(memory, "mia", "executive"), someone(memory, "mia", "employee")
        boss.write("plan", "A", at=start - 4 * DAY)
        boss.write("plan", "C", at=start - 1 * DAY)
        assert eve.write("plan", "B", at=start - 2 * DAY).outcome is Outcome.OVERRULED
        assert boss.history("plan").values == ("A", "C")

    def test_an_undated_statement_is_said_now(self, alice: Session, clock: SteppingClock) -> None:
        """It is never late, not even to one that a skewed clock dated into the future."""
        alice.write("plan", "A", at=clock.now + timedelta(minutes=5), valid_from=clock.now)
        assert alice.write("plan", "B").took_office
        assert alice.history("plan").values == ("A", "B")

    def test_readings_are_ordered_by_when_they_were_true(
        self, alice: Session, memory: Memory, clock: SteppingClock
    ) -> None:
        """Of a declared pattern of keys, the newest reading is current."""
        memory.declare("reading.*", time_sensitive=True)
        noon = clock.now
        for hours, value in ((3, "old"), (1, "new"), (2, "middle"), (4, "oldest")):
            alice.write("reading.tank", value, valid_from=noon - timedelta(hours=hours))
        assert alice.current("reading.tank") == "new"
        assert alice.history("reading.tank").values == ("oldest", "old", "middle", "new")
        at = [
            alice.as_of(noon - timedelta(minutes=60 * n - 30)).current("reading.tank")
            for n in (4, 3, 2, 1)
        ]
        assert at == ["oldest", "old", "middle", "new"]


class TestLateToAnEmptyPlace:
    """What comes late finds who would have replaced it gone, and holds no longer for that."""

    @pytest.fixture
    def start(self, clock: SteppingClock) -> datetime:
        return clock.now

    def test_it_ends_where_one_that_was_taken_back_began(
        self, alice: Session, clock: SteppingClock, start: datetime
    ) -> None:
        """It was so up to then, and is not so now."""
        clock.advance(days=3)
        alice.write("gate", "B")
        clock.advance(days=1)
        alice.retract("gate")
        clock.advance(days=1)
        verdict = alice.write("gate", "A", at=start + DAY)
        assert (verdict.outcome, verdict.rule) == (Outcome.SUPERSEDED, Rule.TEMPORAL)
        assert alice.current("gate") is None
        assert alice.as_of(start + 2 * DAY).current("gate") == "A"
        assert alice.as_of(start + 3.5 * DAY).current("gate") == "B"

    def test_it_ends_where_one_began_whose_term_is_over(
        self, alice: Session, clock: SteppingClock, start: datetime
    ) -> None:
        """A term that has run out gives nothing back."""
        clock.advance(days=3)
        alice.write("gate", "B", valid_until=start + 4 * DAY)
        clock.advance(days=2)
        alice.write("gate", "A", at=start + DAY)
        assert alice.current("gate") is None
        assert alice.as_of(start + 2 * DAY).current("gate") == "A"

    def test_it_has_its_place_before_one_that_left_and_was_followed(
        self, alice: Session, clock: SteppingClock, start: datetime
    ) -> None:
        """Who holds the office now did not follow it."""
        clock.advance(days=3)
        alice.write("gate", "B")
        clock.advance(days=1)
        alice.retract("gate")
        clock.advance(days=2)
        alice.write("gate", "C")
        clock.advance(days=1)
        alice.write("gate", "A", at=start + DAY)
        assert alice.as_of(start + 5 * DAY).current("gate") is None
        assert alice.as_of(start + 2 * DAY).current("gate") == "A"
        assert alice.current("gate") == "C"

    def test_it_takes_office_once_that_one_is_undone(
        self, alice: Session, clock: SteppingClock, start: datetime
    ) -> None:
        """As if that one had never been said; and not because its retraction is."""
        clock.advance(days=3)
        later = alice.write("gate", "B")
        clock.advance(days=1)
        gone = alice.retract("gate")
        clock.advance(days=1)
        alice.write("gate", "A", at=start + DAY)
        alice.undo(gone)
        assert alice.current("gate") == "B"
        alice.undo(later)
        assert alice.current("gate") == "A"

    def test_it_takes_office_where_it_outranks_the_one_that_left(
        self, memory: Memory, clock: SteppingClock, start: datetime
    ) -> None:
        """Who could not have replaced it did not."""
        eve, boss = someone(memory, "eve"), someone(memory, "eve", "executive")
        clock.advance(days=3)
        eve.write("gate", "B", subject="hall")
        eve.retract("gate")
        clock.advance(days=1)
        assert boss.write("gate", "A", subject="hall", at=start + DAY).took_office

    def test_it_may_come_after_all_that_was_there(
        self, alice: Session, clock: SteppingClock, start: datetime
    ) -> None:
        """One that was said last takes the empty office, however late it comes in."""
        alice.write("gate", "B")
        clock.advance(days=1)
        alice.retract("gate")
        clock.advance(days=3)
        assert alice.write("gate", "A", at=start + 2 * DAY).took_office

    def test_a_plan_that_began_since_stays(
        self, alice: Session, clock: SteppingClock, start: datetime
    ) -> None:
        """It was made before the late word, and began after it."""
        alice.write("gate", "B", valid_from=start + 3 * DAY)
        clock.advance(days=5)
        alice.write("gate", "A", at=start + 2 * DAY)
        assert alice.current("gate") == "B"
        assert alice.as_of(start + 2.5 * DAY).current("gate") == "A"

    def test_nobody_learns_of_what_left_that_they_may_not_see(
        self, memory: Memory, clock: SteppingClock, start: datetime
    ) -> None:
        """The verdict would tell that there was something."""
        eve = someone(memory, "eve")
        chief = someone(memory, "eve", "executive")
        clock.advance(days=3)
        chief.write("gate", "B", subject="hall", min_authority="executive", authority="employee")
        chief.retract("gate")
        clock.advance(days=1)
        assert eve.write("gate", "A", subject="hall", at=start + DAY).outcome == "established"
        assert eve.write("door", "A", subject="hall", at=start + DAY).outcome == "established"


class TestAsOf:
    """What was true then, and what we took to be true then."""

    def test_both_axes(self, alice: Session, clock: SteppingClock) -> None:
        """What was it on Wednesday, as best we knew on Wednesday, and as we know now?"""
        monday = clock.now
        alice.write("office", "Berlin")
        clock.advance(days=3)
        alice.write("office", "Madrid", valid_from=monday + DAY)
        wednesday = monday + 2 * DAY
        assert alice.as_of(wednesday).current("office") == "Madrid"
        assert alice.as_of(wednesday, known_at=wednesday).current("office") == "Berlin"
        assert alice.as_of(monday + timedelta(hours=1)).current("office") == "Berlin"
        assert alice.as_of(monday - DAY).current("office") is None

    def test_it_is_stable(self, alice: Session, clock: SteppingClock) -> None:
        """Asking later about then, as known then, gives what then gave."""
        alice.write("price", 12)
        alice.write("total", 120, depends_on=["price"])
        raised = alice.write("price", 15)
        then = clock()
        seen = alice.as_of(then, known_at=then)
        before = ([(f.key, f.value, f.needs_review) for f in seen.facts()], seen.context("?").text)
        alice.undo(raised)
        alice.retract("total")
        alice.write("price", 99, at=then - timedelta(seconds=2))
        clock.advance(days=2)
        again = alice.as_of(then, known_at=then)
        after = ([(f.key, f.value, f.needs_review) for f in again.facts()], again.context("?").text)
        assert after == before

    def test_an_undone_fact_was_believed_until_it_was_undone(
        self, alice: Session, clock: SteppingClock
    ) -> None:
        """By what we know now it never was; by what we knew then it was."""
        verdict = alice.write("plan", "A")
        then = clock()
        alice.undo(verdict)
        assert alice.as_of(then).current("plan") is None
        assert alice.as_of(then, known_at=then).current("plan") == "A"

    def test_a_retraction_ends_a_fact_when_it_is_made(
        self, alice: Session, clock: SteppingClock
    ) -> None:
        """It was true until then."""
        alice.write("plan", "A")
        then = clock()
        alice.retract("plan")
        assert alice.as_of(then).current("plan") == "A"
        assert alice.current("plan") is None

    def test_a_superseded_key_leads_to_what_held_then(
        self, alice: Session, clock: SteppingClock
    ) -> None:
        """In the past too, a key follows its chain, as far as the chain went then."""
        alice.write("plan_v1", "A")
        alice.write("plan_v2", "B", supersedes="plan_v1")
        then = clock()
        alice.write("plan_v3", "C", supersedes="plan_v2")
        assert alice.current("plan_v1") == "C"
        assert alice.as_of(then).current("plan_v1") == "B"
        assert alice.as_of(then, known_at=then).current("plan_v1") == "B"

    def test_the_review_queue_of_then_is_that_of_then(
        self, alice: Session, clock: SteppingClock
    ) -> None:
        """Questions that came up later are not in it, and those settled since still are."""
        alice.write("price", 12)
        alice.write("total", 120, depends_on=["price"])
        alice.write("venue", "Lyon")
        calm = clock()
        alice.write("price", 15)
        doubt = alice.write("venue", "Paris", confidence=0.1)
        busy = clock()
        alice.retract("total")
        alice.resolve(doubt.fact_id, retract=True)
        assert alice.reviews() == []
        before, meanwhile = (alice.as_of(t, known_at=t).reviews() for t in (calm, busy))
        assert [review.fact.key for review in before] == []
        assert [review.fact.key for review in meanwhile] == ["total", "venue"]

    def test_what_was_derived_later_is_not_known_then(
        self, alice: Session, clock: SteppingClock
    ) -> None:
        """The facts that rest on a fact are those that did so then."""
        price = alice.write("price", 12)
        then = clock()
        alice.write("total", 120, depends_on=["price"])
        past = alice.as_of(then, known_at=then)
        assert fact(past, price).derived_facts == ()

    def test_it_takes_no_writes(self, alice: Session, clock: SteppingClock) -> None:
        """The past is read-only, and has no branches."""
        past = alice.as_of(clock.now)
        for act in (
            lambda: past.write("x", 1),
            lambda: past.note("x", 1),
            lambda: past.retract("x"),
            lambda: past.hypothetical(),
        ):
            with pytest.raises(incumbent.ReadOnlySession):
                act()

    def test_every_read_agrees_about_the_past(self, alice: Session, clock: SteppingClock) -> None:
        """A fact that is superseded now is in office then, by every read."""
        old = alice.write("plan", "A")
        then = clock()
        alice.write("plan", "B")
        past = alice.as_of(then)
        assert past.current("plan") == "A"
        assert past.is_current("plan")
        assert past.is_current(old.fact_id)
        assert fact(past, old).is_valid
        assert [found.value for found in past.facts()] == ["A"]
        assert "A" in past.context("?").text


class TestClocks:
    """Clocks that stand still or run backwards."""

    def test_a_frozen_clock_keeps_the_order_of_saying(self, open_memory: OpenMemory) -> None:
        """The last word counts, and the log's times grow all the same."""
        frozen = SteppingClock()
        alice = someone(open_memory(clock=frozen), "alice", "manager")
        verdicts = [alice.write("plan", n) for n in range(20)]
        assert alice.current("plan") == 19
        assert alice.history("plan").values == tuple(range(20))
        times = [verdict.recorded_at for verdict in verdicts]
        assert times == sorted(set(times))
        alice.undo(verdicts[-1])
        assert alice.current("plan") == 18

    def test_a_clock_that_goes_back_loses_nothing(self, open_memory: OpenMemory) -> None:
        """What is said after the clock was set back is still said later."""
        times = iter(
            datetime(2026, 1, 5, 12, tzinfo=UTC) - timedelta(minutes=n) for n in range(1000)
        )
        alice = someone(open_memory(clock=lambda: next(times)), "alice", "manager")
        alice.write("plan", "A")
        alice.write("total", 1, depends_on=["plan"])
        alice.write("plan", "B")
        assert alice.current("plan") == "B"
        assert alice.history("plan").values == ("A", "B")
        assert [review.fact.key for review in alice.reviews()] == ["total"]
        alice.retract("plan")
        assert alice.current("plan") is None
