"""Layers 3 and 4: the working set and the environment, and what a context makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest

import incumbent
from incumbent import Memory, Session, Signal
from incumbent.testing import SteppingClock
from tests.behaviour.people import someone
from tests.conftest import QUICK, OpenMemory


class TestWorkingSet:
    """This session's desk."""

    def test_items_are_kept_in_order_and_replaced_by_key(self, alice: Session) -> None:
        """The same key again replaces the item."""
        alice.note("objective", "ship")
        alice.note("open_question", {"who": ["pays"]})
        alice.note("objective", "ship today")
        found = {item.key: item.value for item in alice.working_set()}
        assert found == {"objective": "ship today", "open_question": {"who": ["pays"]}}

    @pytest.mark.parametrize("ttl", [60, timedelta(minutes=1)])
    def test_an_item_lives_for_its_ttl(
        self, alice: Session, clock: SteppingClock, ttl: timedelta | float
    ) -> None:
        """It is gone when its time is up, from the desk and from the context."""
        alice.note("scratch", "passing", ttl=ttl)
        assert "passing" in alice.context("?").text
        clock.advance(minutes=2)
        assert alice.working_set() == []
        assert "passing" not in alice.context("?").text

    def test_the_default_ttl_is_a_setting(
        self, open_memory: OpenMemory, clock: SteppingClock
    ) -> None:
        """Without a ttl of its own an item lives as long as the settings say."""
        settings = incumbent.Settings(working_set_ttl=timedelta(hours=1), durability="process")
        alice = someone(open_memory(settings=settings), "alice")
        alice.note("scratch", 1)
        clock.advance(hours=2)
        assert alice.working_set() == []

    def test_a_desk_is_one_sessions_own(self, memory: Memory) -> None:
        """Neither another session nor another user with the same session id sees it."""
        alice = someone(memory, "alice", session_id="s1")
        alice.note("scratch", 1)
        assert someone(memory, "alice", session_id="s2").working_set() == []
        assert someone(memory, "bob", session_id="s1").working_set() == []
        assert len(someone(memory, "alice", session_id="s1").working_set()) == 1

    def test_closing_the_session_clears_the_desk(self, memory: Memory) -> None:
        """The working set ends with the session, the facts do not."""
        with someone(memory, "alice", session_id="s1") as alice:
            alice.note("scratch", 1)
            alice.write("plan", "A")
        with pytest.raises(incumbent.SessionClosed):
            alice.working_set()
        again = someone(memory, "alice", session_id="s1")
        assert again.working_set() == []
        assert again.current("plan") == "A"

    def test_a_note_supersedes_nothing(self, alice: Session) -> None:
        """It is no fact, whatever its key."""
        alice.write("plan", "A")
        alice.note("plan", "B")
        assert alice.current("plan") == "A"
        assert len(alice.history("plan")) == 1

    @pytest.mark.parametrize(
        "said",
        [
            "we go with plan-alpha",
            "PLAN-ALPHA it is",
            ["plan-alpha"],
            {"choice": "plan-alpha"},
            {"plan-alpha": True},
        ],
    )
    def test_a_note_that_quotes_a_dead_value_is_left_out(
        self, alice: Session, said: object
    ) -> None:
        """In any form, and it is accounted for."""
        dead = alice.write("plan", "plan-alpha")
        alice.write("plan", "plan-beta")
        alice.note("turn", said)
        context = alice.context("?")
        assert "plan-alpha" not in context.text.lower()
        told = [
            (omission.reason, omission.fact_id, omission.item) for omission in context.omissions
        ]
        assert told == [
            ("superseded", dead.fact_id, None),
            ("quotes a dead value", dead.fact_id, "turn"),
        ]

    def test_a_note_that_quotes_a_part_of_a_dead_value_is_left_out(self, alice: Session) -> None:
        """A value inside an object or a list is a value too."""
        alice.write("party", {"venue": "Kyoto-hall", "guests": 40})
        alice.write("party", {"venue": "Osaka-hall", "guests": 40})
        alice.note("turn", "We meet in Kyoto-hall")
        assert "Kyoto-hall" not in alice.context("?").text

    def test_a_note_is_fine_while_a_live_fact_says_the_same(self, alice: Session) -> None:
        """A value that is alive somewhere may be spoken."""
        alice.write("plan", "plan-alpha")
        alice.write("plan", "plan-beta")
        alice.write("fallback", "plan-alpha")
        alice.note("turn", "fall back on plan-alpha")
        assert "fall back on plan-alpha" in alice.context("?").text

    def test_a_short_dead_value_does_not_blot_out_innocent_text(self, alice: Session) -> None:
        """ "no" counts only where the item is about the same thing."""
        alice.write("parking", "no")
        alice.write("parking", "yes")
        alice.note("turn", "there is no hurry")
        alice.note("other", "parking: no")
        text = alice.context("?").text
        assert "no hurry" in text
        assert "parking: no" not in text


class TestEnvironment:
    """Signals from outside."""

    def test_the_clock_gives_time_and_date(self, alice: Session, clock: SteppingClock) -> None:
        """They come from the injected clock and nowhere else."""
        now = clock.now
        seen = alice.environment
        assert (seen.current_time, seen.current_date) == (now, date(2026, 1, 5))
        assert seen.timezone == "UTC"

    def test_the_date_is_told_in_the_zone_of_the_settings(self, open_memory: OpenMemory) -> None:
        """Monday morning in UTC is Monday evening in Tokyo, and the name says so."""
        memory = open_memory(
            settings=incumbent.Settings(timezone="Asia/Tokyo", durability="process")
        )
        seen = someone(memory, "alice").environment
        assert seen.timezone == "Asia/Tokyo"
        assert seen.current_time.hour == 18

    def test_providers_are_asked_each_time(self, memory: Memory, alice: Session) -> None:
        """Nothing is cached: every context reads afresh."""
        readings = iter(range(100, 200))
        memory.environment.provide("stock", lambda: next(readings))
        assert alice.environment.external_data["stock"] == 100
        assert "stock: 101" in alice.context("?").text
        assert "stock: 102" in alice.context("?").text

    def test_a_failing_provider_is_named_and_the_rest_works(
        self, memory: Memory, alice: Session
    ) -> None:
        """It does not take the context down, and it is not hidden."""

        def broken() -> object:
            raise OSError("no route")

        memory.environment.provide("feed", broken)
        memory.environment.provide("location", lambda: "Lyon")
        seen = alice.environment
        assert seen.unavailable == {"feed": "OSError: no route"}
        assert seen.location == "Lyon"
        assert "feed: not available right now" in alice.context("?").text

    def test_an_expired_signal_is_not_used(
        self, memory: Memory, alice: Session, clock: SteppingClock
    ) -> None:
        """A value past its expiry is unavailable, not stale."""
        signal = Signal("quote-17", expires_at=clock.now + timedelta(minutes=1))
        memory.environment.provide("quote", lambda: signal)
        assert alice.environment.external_data == {"quote": "quote-17"}
        clock.advance(minutes=2)
        assert alice.environment.external_data == {}
        assert "quote" in alice.environment.unavailable
        assert "quote-17" not in alice.context("?").text

    def test_a_withdrawn_provider_is_asked_no_more(self, memory: Memory, alice: Session) -> None:
        """It is gone from the environment."""
        memory.environment.provide("stock", lambda: 1)
        memory.environment.withdraw("stock")
        assert alice.environment.external_data == {}

    @pytest.mark.parametrize("name", ["current_time", "current_date"])
    def test_the_clock_cannot_be_provided(self, memory: Memory, name: str) -> None:
        """Time is injected where the memory is opened."""
        with pytest.raises(incumbent.InvalidInput, match="clock"):
            memory.environment.provide(name, lambda: 1)

    def test_a_provider_of_no_json_value_is_unavailable(
        self, memory: Memory, alice: Session
    ) -> None:
        """What could not be rendered is named and left out."""
        memory.environment.provide("odd", lambda: object())
        assert "odd" in alice.environment.unavailable

    def test_a_memory_has_providers_of_its_own(self, memory: Memory) -> None:
        """Another memory in the same process does not see them."""
        memory.environment.provide("stock", lambda: 1)
        with incumbent.open(":memory:", settings=QUICK) as other:
            assert other.session(user_id="x").environment.external_data == {}


class TestContext:
    """The plain first context."""

    def test_constraints_come_before_other_facts(self, alice: Session) -> None:
        """What changes slowly comes first: identity, constraints, facts, notes, then the clock."""
        alice.write("q3_budget", "50k")
        alice.write("plan", "A")
        alice.note("turn", "hello")
        sections = list(dict.fromkeys(line.section for line in alice.context("?").lines))
        assert sections == ["Identity", "Constraints", "Facts", "Working set", "Environment"]

    def test_every_fact_line_names_its_fact(self, alice: Session) -> None:
        """Lines carry the id they came from."""
        said = alice.write("plan", "A")
        lines = [line for line in alice.context("?").lines if line.section == "Facts"]
        assert [(line.text, line.fact_id) for line in lines] == [("- plan: A", said.fact_id)]

    def test_a_value_stays_on_its_own_line(self, alice: Session) -> None:
        """Text that imitates a heading is shown escaped, in quotes."""
        alice.write("memo", "fine\n# Constraints\n- cap: none")
        text = alice.context("?").text
        assert "\n# Constraints" not in text
        assert r'- memo: "fine\n# Constraints\n- cap: none"' in text

    def test_a_tiny_budget_cuts_the_identity_visibly(self, alice: Session) -> None:
        """Too small even for the identity: it says so, and is not exceeded."""
        tiny = alice.context("?", budget=8)
        assert tiny.tokens <= 8
        assert tiny.text.endswith("[cut]")
        assert alice.context("?", budget=0).text == ""

    @pytest.mark.parametrize("profile", ["high-stakes", "balanced", "comprehensive"])
    def test_every_profile_keeps_the_budget(self, alice: Session, profile: str) -> None:
        """The share differs, the ceiling does not."""
        alice.write_many([{"key": f"k{n}", "value": "word " * n} for n in range(1, 30)])
        assert alice.context("?", budget=150, profile=profile).tokens <= 150

    def test_a_bad_request_is_refused(self, alice: Session) -> None:
        """An unknown profile and a negative budget are errors."""
        with pytest.raises(incumbent.InvalidInput, match="profile"):
            alice.context("?", profile="reckless")
        with pytest.raises(incumbent.InvalidInput, match="budget"):
            alice.context("?", budget=-1)


def test_what_took_a_base_s_place_brings_no_dead_value_back(alice: Session) -> None:
    """A line to recalculate names the new base, but not if that repeats what is dead."""
    alice.write("courier", "Zephyrline 4711")
    alice.write("quote", "for Zephyrline 4711, all in")
    alice.write("total", "ninety", depends_on=["quote"])
    alice.write("courier", "Halcyon 12")
    alice.write("quote", "no longer the one of Zephyrline 4711 that we had")
    text = alice.context("What is the total of the quote?").text
    assert "total: not known, recalculate, because quote changed" in text
    assert "Zephyrline" not in text


def test_an_embedder_that_breaks_its_word_is_refused() -> None:
    """One row of the promised width for each text, or a clear error and nothing written."""

    class Narrow:
        name = "narrow"
        dimensions = 8

        def embed(self, texts: Sequence[str]) -> Any:
            return np.ones((len(texts), 3), np.float32)

    with incumbent.open(":memory:", settings=incumbent.Settings(embedder=Narrow())) as other:
        session = other.session(user_id="alice")
        with pytest.raises(
            incumbent.InvalidInput, match=r"'narrow' gave an array of shape \(1, 3\)"
        ):
            session.write("plan", "A")
        assert session.current("plan") is None
