"""Receipts: the proof of a context, the way back to it, and what changed between two of them."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import incumbent
from incumbent import Memory, ReceiptChange, Session
from incumbent.testing import SteppingClock
from tests.conftest import QUICK, OpenMemory
from tests.patience import PATIENCE

pytestmark = pytest.mark.on_every_store

QUERY = "What is the plan, and where is the hold?"
SRC = Path(incumbent.__file__).parents[1]

REPLAY = """
import sys, incumbent
with incumbent.open(sys.argv[1]) as memory:
    context = memory.replay(sys.argv[2], organization="acme")
    sys.stdout.buffer.write(context.text.encode())
    sys.exit(0 if context.intact else 3)
"""


def filled(memory: Memory, clock: SteppingClock) -> Session:
    """A desk with facts of every kind of line: plain, bound, aged, to recalculate, unknown."""
    memory.declare("weather", time_sensitive=True)
    alice = memory.session(
        user_id="alice", authority="manager", organization="acme", session_id="desk"
    )
    alice.write("plan", "ship on Monday", id="f-plan")
    alice.write("travel_policy", "economy class", source="policy", id="f-policy")
    alice.write("weather", "sunny", id="f-weather")
    alice.write("weight", "74 kilograms", id="f-weight")
    alice.write("dose", "80 milligrams", depends_on=["f-weight"], id="f-dose")
    alice.write("weight", "90 kilograms", id="f-weight-2")
    alice.write("hold", "room 12", valid_until=clock.now + timedelta(hours=1), id="f-hold")
    alice.write("lunch", "soup", id="f-lunch")
    alice.retract("lunch")
    alice.note("objective", "get it out of the door")
    memory.environment.provide("stock", lambda: 17)
    return alice


def stored(memory: Memory, receipt_id: str) -> str:
    """Everything that is kept of a receipt, as one text."""
    record = memory.receipt(receipt_id, organization="acme").record()
    return json.dumps(record, ensure_ascii=False)


@pytest.mark.parametrize("query", [QUERY, '"lines": []', '\\"lines\\": [] Zoë'])
def test_the_id_of_a_receipt_is_a_digest_of_all_of_it(open_memory: OpenMemory, query: str) -> None:
    """So that nobody can change a receipt and keep its id, with quoted facts or without."""
    clock = SteppingClock()
    with open_memory(clock=clock) as memory:
        full = filled(memory, clock).context(query)
        plain = memory.session(user_id="bob", organization="acme").context(query)
    assert {full.receipt.format, plain.receipt.format} == {1, 2}
    for context in (full, plain):
        record = {**context.receipt.record(), "id": ""}
        digest = hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
        assert context.receipt.id == context.receipt_id == f"rc-{digest[:32]}"


class TestKeeping:
    """What is kept, and for whom."""

    def test_a_context_is_kept_for_the_asking(self, alice: Session) -> None:
        """Without `record` nothing is stored; with it, the receipt can be had by its id."""
        alice.context("one?")
        assert alice.receipts() == []
        kept = alice.context("two?", record=True)
        assert [receipt.id for receipt in alice.receipts()] == [kept.receipt.id]

    def test_a_setting_keeps_them_all(self, open_memory: OpenMemory) -> None:
        """`record_contexts` makes it the rule, and `record=False` the exception."""
        memory = open_memory(settings=replace(QUICK, record_contexts=True))
        alice = memory.session(user_id="alice", organization="acme")
        alice.context("one?")
        alice.context("two?", record=False)
        assert [receipt.query for receipt in alice.receipts()] == ["one?"]

    def test_a_receipt_says_what_was_asked(self, alice: Session) -> None:
        """By whom, when, how, and which facts were shown."""
        said = alice.write("plan", "A")
        context = alice.context(
            "plan?", budget=777, profile="high-stakes", style="annotated", record=True
        )
        [receipt] = alice.receipts()
        assert (receipt.user_id, receipt.organization, receipt.at) == ("alice", "acme", context.at)
        assert (receipt.query, receipt.budget) == ("plan?", 777)
        assert (receipt.profile, receipt.style) == ("high-stakes", "annotated")
        assert said.fact_id in {line.fact_id for line in receipt.lines}

    def test_others_do_not_get_it(self, memory: Memory, alice: Session) -> None:
        """A person's receipts are that person's."""
        alice.context("plan?", record=True)
        assert memory.session(user_id="bob", organization="acme").receipts() == []
        assert memory.session(user_id="alice", organization="other").receipts() == []

    def test_newest_first_and_no_more_than_asked(
        self, alice: Session, clock: SteppingClock
    ) -> None:
        """The limit counts from the newest."""
        for name in ("one", "two", "three"):
            clock.advance(minutes=1)
            alice.context(name, record=True)
        assert [receipt.query for receipt in alice.receipts(limit=2)] == ["three", "two"]

    def test_an_unknown_receipt_is_refused(self, memory: Memory) -> None:
        """The error says how contexts are kept."""
        with pytest.raises(incumbent.UnknownFact, match="record=True"):
            memory.replay("rc-nothing")

    @pytest.mark.parametrize("record", [{}, {"format": 1}, {"format": 99}, {"format": 1, "at": 3}])
    def test_a_damaged_record_is_refused(self, record: dict[str, Any]) -> None:
        """What is no receipt, or one of another format, is an error of ours."""
        with pytest.raises(incumbent.InvalidInput, match="receipt"):
            incumbent.Receipt.from_record(record)

    def test_a_record_comes_back_as_it_was(self, alice: Session) -> None:
        """`from_record` is the reverse of `record`, through JSON."""
        alice.write("plan", "A")
        receipt = alice.context("plan?").receipt
        assert incumbent.Receipt.from_record(json.loads(json.dumps(receipt.record()))) == receipt


class TestReplay:
    """The same context again."""

    @pytest.mark.parametrize("style", ["plain", "annotated"])
    @pytest.mark.parametrize("profile", ["high-stakes", "balanced", "comprehensive"])
    @pytest.mark.parametrize("budget", [0, 15, 80, 4000])
    def test_it_is_the_same_byte_for_byte(
        self, memory: Memory, clock: SteppingClock, style: str, profile: str, budget: int
    ) -> None:
        """After further writes, retractions, notes and readings, and after the time has passed."""
        alice = filled(memory, clock)
        context = alice.context(
            QUERY, budget=budget, style=style, profile=profile, history=True, record=True
        )
        change_everything(memory, alice, clock)
        again = memory.replay(context.receipt.id, organization="acme")
        assert again.text == context.text
        assert again.intact
        assert again.tokens == context.tokens
        told = [(line.section, line.text, line.fact_id, line.score) for line in context.lines]
        assert [(x.section, x.text, x.fact_id, x.score) for x in again.lines] == told

    def test_a_fresh_process_replays_it(self, store_path: Path) -> None:
        """From the file alone, whatever was written since."""
        clock = SteppingClock()
        with incumbent.open(store_path, clock=clock, settings=QUICK) as memory:
            alice = filled(memory, clock)
            context = alice.context(QUERY, style="annotated", history=True, record=True)
            change_everything(memory, alice, clock)
        done = subprocess.run(
            [sys.executable, "-c", REPLAY, str(store_path), context.receipt.id],
            env={"PYTHONPATH": str(SRC)},
            capture_output=True,
            timeout=PATIENCE,
        )
        assert done.stderr == b""
        assert (done.returncode, done.stdout) == (0, context.text.encode())

    def test_a_receipt_in_hand_replays_too(self, memory: Memory, clock: SteppingClock) -> None:
        """One that was never kept is enough."""
        context = filled(memory, clock).context(QUERY)
        assert memory.replay(context.receipt).text == context.text

    def test_a_context_of_the_past_is_replayed(self, memory: Memory, clock: SteppingClock) -> None:
        """One that looked back with `at` comes again as it was."""
        alice = filled(memory, clock)
        then = clock.now
        clock.advance(days=1)
        change_everything(memory, alice, clock)
        context = alice.context(QUERY, at=then, record=True)
        assert "ship on Monday" in context.text
        alice.write("plan", "ship never")
        assert memory.replay(context.receipt.id, organization="acme").text == context.text

    def test_equal_contexts_have_one_receipt(self, memory: Memory) -> None:
        """Its id is made of its content."""
        with incumbent.open(":memory:", clock=SteppingClock(), settings=QUICK) as still:
            bob = still.session(user_id="bob", organization="acme")
            ids = {bob.context("plan?", record=True).receipt.id for _ in range(3)}
            assert len(ids) == len(bob.receipts()) == 1


def change_everything(memory: Memory, alice: Session, clock: SteppingClock) -> None:
    """A busy day later."""
    clock.advance(hours=8)
    alice.write("plan", "ship on Tuesday")
    alice.write("weather", "rain")
    alice.write("weight", "91 kilograms")
    alice.resolve("f-dose", "95 milligrams")
    alice.retract("travel_policy")
    alice.write("lunch", "salad")
    alice.note("objective", "something else")
    memory.environment.provide("stock", lambda: 3)
    memory.environment.provide("news", lambda: "none")


class TestErased:
    """What was erased is gone from receipts too."""

    def test_a_replay_shows_where_it_was(self, memory: Memory, clock: SteppingClock) -> None:
        """The line says so, the rest stands, and the context is not intact."""
        alice = filled(memory, clock)
        context = alice.context(QUERY, record=True)
        memory.forget(organization="acme", fact_id="f-plan")
        again = memory.replay(context.receipt.id, organization="acme")
        assert not again.intact
        assert again.text == context.text.replace("- plan: ship on Monday", "- [erased]")
        assert "Monday" not in stored(memory, context.receipt.id).replace("Monday 2026", "")

    def test_a_receipt_in_hand_is_no_way_around(self, memory: Memory, clock: SteppingClock) -> None:
        """Replaying one that was made before the erasure gives nothing back."""
        receipt = filled(memory, clock).context(QUERY, style="annotated").receipt
        memory.forget(organization="acme", fact_id="f-plan")
        again = memory.replay(receipt)
        assert "ship on Monday" not in again.text
        assert not again.intact

    @pytest.mark.parametrize("style", ["plain", "annotated"])
    def test_lines_that_are_kept_as_text_go_too(
        self, memory: Memory, clock: SteppingClock, style: str
    ) -> None:
        """Readings with an age, values to be recalculated, history: whatever is kept as it read."""
        alice = filled(memory, clock)
        clock.advance(hours=3)
        alice.write("plan", "ship on Tuesday", id="f-plan-2")
        context = alice.context(
            QUERY, profile="comprehensive", style=style, history=True, record=True
        )
        for fact_id, word in (
            ("f-weather", "sunny"),
            ("f-dose", "80 milligrams"),
            ("f-plan", "ship on Monday"),
            ("f-hold", "room 12"),
        ):
            assert word in context.text
            memory.forget(organization="acme", fact_id=fact_id)
            assert word not in memory.replay(context.receipt.id, organization="acme").text
            assert word not in stored(memory, context.receipt.id)

    def test_notes_and_queries_that_quote_it_go_too(self, memory: Memory, alice: Session) -> None:
        """A turn, a signal and the question itself."""
        said = alice.write("alias", "Blue Heron")
        alice.note("turn", "they call her Blue Heron here")
        alice.note("list", ["one", "blue heron"])
        alice.note("other", "nothing to do with it")
        memory.environment.provide("feed", lambda: {"seen": "Blue Heron"})
        context = alice.context("Who is Blue Heron?", profile="comprehensive", record=True)
        memory.forget(organization="acme", fact_id=said.fact_id)
        again = memory.replay(context.receipt.id, organization="acme")
        assert "heron" not in again.text.lower()
        assert again.query == "[erased]"
        assert "nothing to do with it" in again.text
        assert not again.intact
        assert "heron" not in stored(memory, context.receipt.id).lower()

    @pytest.mark.parametrize(
        "secret",
        ['the "Blue Heron" file', "Blue Heron\nof the north", "C:\\heron\\blue", "blue\tHeron"],
        ids=["quotes", "lines", "backslash", "tab"],
    )
    def test_text_that_is_shown_escaped_goes_too(
        self, memory: Memory, alice: Session, secret: str
    ) -> None:
        """A quotation reads otherwise in a receipt than in the fact, and is found all the same."""
        said = alice.write("alias", secret)
        alice.note("turn", f"# she said: {secret}")
        alice.note("list", [1, secret])
        context = alice.context("Who?", record=True)
        memory.forget(organization="acme", fact_id=said.fact_id)
        assert "heron" not in stored(memory, context.receipt.id).lower()
        assert "heron" not in str(alice.working_set()).lower()

    def test_forgetting_a_subject_takes_the_name_too(self, memory: Memory, alice: Session) -> None:
        """Whoever is forgotten is not named by old questions and old lines either."""
        alice.write("weight", "74 kilograms", subject="Erika Mustermann", id="f-weight")
        alice.write("ward_total", "310 kilograms", depends_on=["f-weight"], id="f-total")
        alice.write("weight", "70 kilograms", subject="Erika Mustermann")
        context = alice.context("How much does Erika Mustermann weigh?", record=True)
        assert "ward_total: not known, recalculate, because weight (Erika" in context.text
        memory.forget(organization="acme", subject="Erika Mustermann")
        assert "Erika" not in stored(memory, context.receipt.id)

    def test_forgetting_a_person_takes_their_receipts(self, memory: Memory, alice: Session) -> None:
        """What alice asked is alice's, and goes with her."""
        alice.context("plan?", record=True)
        bob = memory.session(user_id="bob", organization="acme")
        kept = bob.context("plan?", record=True)
        erasure = memory.forget(organization="acme", user_id="alice")
        assert erasure.removed["receipts"] == 1
        assert alice.receipts() == []
        assert [receipt.id for receipt in bob.receipts()] == [kept.receipt.id]


def told(changes: list[ReceiptChange]) -> dict[str, ReceiptChange]:
    """Changes by the name that the line is about."""
    found = {}
    for change in changes:
        text = change.after or change.before or ""
        found[re.sub(r"^- (?:\[[^]]*\] )?", "", text).partition(":")[0]] = change
    return found


class TestCompare:
    """What changed between Monday's answer and today's."""

    def test_nothing_changed(self, memory: Memory, clock: SteppingClock) -> None:
        """A receipt compared with itself has no differences."""
        receipt = filled(memory, clock).context(QUERY).receipt
        assert memory.compare(receipt, receipt) == []

    def test_every_kind_of_change_is_told(self, memory: Memory, clock: SteppingClock) -> None:
        """Superseded, expired, retracted, added, gone, read anew: each line with its reason."""
        alice = filled(memory, clock)
        alice.note("scratch", "soon gone", ttl=60)
        earlier = alice.context("What is the plan?", record=True)
        clock.advance(days=1)
        alice.write("plan", "ship on Tuesday", id="f-plan-2")
        alice.write("newcomer", "first day", id="f-new")
        alice.retract("travel_policy")
        alice.note("objective", "something else", ttl=timedelta(days=9))
        clock.advance(minutes=1)
        later = alice.context("What is the plan?", record=True)
        changes = memory.compare(earlier.receipt.id, later.receipt.id, organization="acme")
        by_name = told(changes)
        plan = by_name["plan"]
        assert (plan.kind, plan.before, plan.after) == (
            "changed",
            "- plan: ship on Monday",
            "- plan: ship on Tuesday",
        )
        assert (plan.why, plan.fact_id) == ("superseded since", "f-plan-2")
        assert (by_name["hold"].kind, by_name["hold"].why) == ("removed", "expired")
        assert (by_name["travel_policy"].kind, by_name["travel_policy"].why) == (
            "removed",
            "retracted",
        )
        assert (by_name["newcomer"].kind, by_name["newcomer"].after) == (
            "added",
            "- newcomer: first day",
        )
        assert by_name["newcomer"].why.startswith("said 2026-01-06")
        assert (by_name["scratch"].kind, by_name["scratch"].why) == ("removed", "gone")
        assert by_name["objective"].why == "read anew"
        assert "Current date" in by_name
        assert "weight" not in by_name

    def test_what_is_left_out_for_want_of_room_is_told_apart(
        self, memory: Memory, clock: SteppingClock
    ) -> None:
        """It is still in office, and the difference says so."""
        alice = filled(memory, clock)
        large = alice.context("What is the plan?").receipt
        small = alice.context("What is the plan?", budget=70).receipt
        gone = [change for change in memory.compare(large, small) if change.kind == "removed"]
        assert gone
        assert any("still in office" in change.why for change in gone)

    def test_what_is_no_longer_known_says_why(self, memory: Memory, clock: SteppingClock) -> None:
        """A line that turned into "not known" or "recalculate" is no mere matter of showing."""
        alice = filled(memory, clock)
        alice.write("price", "100 euros", depends_on=["plan"], id="f-price")
        query = "What is the plan, the hold and the price?"
        earlier = alice.context(query).receipt
        clock.advance(days=1)
        alice.write("plan", "ship on Tuesday")
        clock.advance(minutes=1)
        later = alice.context(query).receipt
        by_name = told(memory.compare(earlier, later))
        assert "expired" in by_name["hold"].why
        assert "review" in by_name["price"].why or "plan" in by_name["price"].why

    def test_the_latest_write_counts(self) -> None:
        """A write at the very moment of the comparison is known to it, as it is to a context."""
        with incumbent.open(":memory:", clock=SteppingClock(), settings=QUICK) as memory:
            alice = memory.session(user_id="alice", organization="acme")
            alice.write("plan", "ship on Monday")
            earlier = alice.context("plan?").receipt
            alice.write("plan", "ship on Tuesday")
            later = alice.context("plan?").receipt
            [change] = memory.compare(earlier, later)
            assert change.why == "superseded since"

    def test_erased_facts_are_told_and_not_shown(
        self, memory: Memory, clock: SteppingClock
    ) -> None:
        """The difference names no content of theirs."""
        alice = filled(memory, clock)
        earlier = alice.context(QUERY, record=True)
        memory.forget(organization="acme", fact_id="f-plan")
        later = alice.context(QUERY, record=True)
        changes = memory.compare(earlier.receipt.id, later.receipt.id, organization="acme")
        assert "ship on Monday" not in str(changes)
        [gone] = [change for change in changes if change.fact_id == "f-plan"]
        assert (gone.kind, gone.before) == ("removed", "- [erased]")
        assert gone.why == "erased"

    def test_nothing_crosses_an_organization(self, memory: Memory, alice: Session) -> None:
        """Receipts of two organizations are not compared."""
        other = memory.session(user_id="alice", organization="other").context("?").receipt
        with pytest.raises(incumbent.InvalidInput, match="organization"):
            memory.compare(alice.context("?").receipt, other)
