"""Memory types, and who may read what."""

from __future__ import annotations

import pytest

import incumbent
from incumbent import Memory, Session
from tests.behaviour.people import current, fact, someone


def test_a_personal_fact_is_read_by_its_owner_only(memory: Memory, alice: Session) -> None:
    """What one person said about themselves does not exist for another."""
    said = alice.write("salary", 100)
    bob = someone(memory, "bob", "policy", permissions=["hr", "authority:*"])
    assert alice.current("salary") == 100
    assert bob.current("salary") is None
    assert bob.get(said.fact_id) is None
    assert bob.is_current(said.fact_id) is False
    assert len(bob.history("salary")) == 0
    with pytest.raises(incumbent.UnknownFact):
        bob.explain("salary")


def test_a_persons_facts_follow_them_into_another_session(memory: Memory, alice: Session) -> None:
    """Global facts belong to the person and not to the session that wrote them."""
    alice.write("address", "1 Main St")
    assert someone(memory, "alice").current("address") == "1 Main St"


@pytest.mark.parametrize("source", ["observation", "pattern", "heuristic"])
def test_a_capability_fact_is_read_by_that_capability(memory: Memory, source: str) -> None:
    """What an agent learned is for that agent."""
    agent = someone(memory, "billing-agent", "agent")
    learned = agent.write("retries", 3, source=source)
    assert learned.fact is not None
    assert learned.fact.memory_type == "capability"
    assert agent.current("retries") == 3
    assert someone(memory, "alice", "policy").current("retries") is None


@pytest.mark.parametrize("source", ["policy", "finance_system", "hr_system", "documents"])
def test_a_system_of_record_speaks_for_the_organization(memory: Memory, source: str) -> None:
    """Every member reads what came from a policy, a system or a document."""
    bot = someone(memory, "bot", permissions=["organization:write"])
    written = bot.write("fiscal_year", "July", source=source)
    assert written.fact is not None
    assert written.fact.memory_type == "organizational"
    assert someone(memory, "eve", "guest").current("fiscal_year") == "July"


@pytest.mark.parametrize("source", ["decision", "user", "preference", None])
def test_a_decision_or_preference_is_personal(memory: Memory, source: str | None) -> None:
    """The default memory is the speaker's own."""
    written = someone(memory, "eve").write("style", "short", source=source)
    assert written.fact is not None
    assert written.fact.memory_type == "user"


def test_the_caller_may_name_the_memory_type(memory: Memory) -> None:
    """What is worked out from the source can be said outright."""
    eve = someone(memory, "eve", "manager")
    eve.write("room", "B1", memory_type="organizational")
    eve.write("mood", "fine", source="policy", memory_type="user")
    assert current(someone(memory, "max")) == {"room": "B1"}


def test_nothing_crosses_an_organization(memory: Memory, alice: Session) -> None:
    """Not even the facts of the same user, nor what an organization shares with all."""
    personal = alice.write("address", "1 Main St")
    shared = alice.write("room", "B1", memory_type="organizational")
    elsewhere = memory.session(user_id="alice", authority="policy", organization="globex")
    assert elsewhere.facts() == []
    assert elsewhere.get(personal.fact_id) is None
    assert elsewhere.get(shared.fact_id) is None
    assert elsewhere.write("room", "Z9", memory_type="organizational").outcome == "established"
    assert alice.current("room") == "B1"
    with pytest.raises(incumbent.UnknownTarget):
        elsewhere.write("x", 1, supersedes=shared.fact_id)
    with pytest.raises(incumbent.UnknownVerdict):
        elsewhere.undo(shared)


def test_required_permissions_are_all_needed(memory: Memory) -> None:
    """One of two permissions opens nothing."""
    hr = someone(memory, "hana", "manager", permissions=["hr", "pay"])
    said = hr.write("bonus", 5, requires=["hr", "pay"], memory_type="organizational")
    half = someone(memory, "hal", "policy", permissions=["hr"])
    assert hr.current("bonus") == 5
    assert half.current("bonus") is None
    assert half.get(said.fact_id) is None
    assert half.facts() == []


def test_a_minimum_authority_is_needed(memory: Memory) -> None:
    """A fact for managers is read from that rung up."""
    mia = someone(memory, "mia", "manager")
    mia.write("forecast", "bad", min_authority="manager", memory_type="organizational")
    assert someone(memory, "eve", "employee").current("forecast") is None
    assert someone(memory, "exa", "executive").current("forecast") == "bad"


def test_a_declared_requirement_covers_what_was_written_before(memory: Memory) -> None:
    """Closing a key closes its past as well."""
    eve = someone(memory, "eve")
    said = eve.write("salary.eve", 100)
    memory.declare("salary.*", requires=["hr"])
    assert eve.current("salary.eve") is None
    assert eve.get(said.fact_id) is None
    assert eve.facts() == []
    assert "100" not in eve.context("?").text
    assert someone(memory, "eve", permissions=["hr"]).current("salary.eve") == 100


def test_the_unseen_leaves_no_gap_in_a_context(memory: Memory) -> None:
    """What one may not read is in no line, no omission and no count."""
    eve = someone(memory, "eve")
    before = eve.context("?")
    board = someone(memory, "board", "policy", permissions=["secret"])
    board.write("merger", "in May", requires=["secret"])
    after = eve.context("?")
    assert (after.lines, after.omissions) == (before.lines, before.omissions)


def test_a_secret_ruling_leaves_no_trace_in_a_verdict(memory: Memory) -> None:
    """What one may not see overrules nobody: that one is overruled would tell of it."""
    board = someone(memory, "board", "policy", permissions=["secret"])
    ruling = board.write("cap", "15%", subject="sales", requires=["secret"])
    verdict = someone(memory, "eve").write("cap", "25%", subject="sales")
    assert (verdict.outcome, verdict.evidence) == ("established", {})
    assert ruling.fact_id not in repr(verdict)


def test_explain_names_no_fact_that_the_reader_may_not_see(memory: Memory) -> None:
    """The log of one's own statement does not give away the secret that overruled it."""
    board = someone(memory, "board", "policy", permissions=["secret"])
    ruling = board.write("cap", "15%", subject="sales", requires=["secret"])
    eve = someone(memory, "eve")
    eve.write("cap", "25%", subject="sales")
    assert ruling.fact_id not in repr(eve.explain("cap", "sales"))


def test_derived_facts_names_only_what_the_reader_may_see(memory: Memory) -> None:
    """A secret conclusion does not show at the fact it was drawn from."""
    board = someone(memory, "board", "policy", permissions=["secret"])
    base = board.write("price", 12, memory_type="organizational")
    hidden = board.write("margin", 3, depends_on=["price"], requires=["secret"])
    eve = someone(memory, "eve")
    assert fact(eve, base).derived_facts == ()
    assert fact(board, base).derived_facts == (hidden.fact_id,)


def test_the_unseen_cannot_be_named(memory: Memory, alice: Session) -> None:
    """A dependency, a target and a verdict of others read as if they did not exist."""
    bob = someone(memory, "bob")
    said = alice.write("plan", "A")
    with pytest.raises(incumbent.UnknownDependency):
        bob.write("x", 1, depends_on=[said.fact_id])
    with pytest.raises(incumbent.UnknownTarget):
        bob.write("x", 1, supersedes=said.fact_id)
    with pytest.raises(incumbent.UnknownDependency):
        bob.write("x", 1, when_superseded=said.fact_id)
    with pytest.raises(incumbent.UnknownVerdict):
        bob.undo(said)
    with pytest.raises(incumbent.UnknownFact):
        bob.retract(said.fact_id)
    assert bob.facts() == []


def test_ones_own_value_comes_before_the_shared_one(memory: Memory) -> None:
    """Where a personal and a shared fact stand side by side, current gives one's own."""
    board = someone(memory, "board", "policy")
    board.write("address", "1 Plaza", memory_type="organizational")
    eve = someone(memory, "eve")
    assert eve.current("address") == "1 Plaza"
    eve.write("address", "9 Elm Rd")
    assert eve.current("address") == "9 Elm Rd"
    assert {found.value for found in eve.facts("address")} == {"9 Elm Rd", "1 Plaza"}


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("travel_policy", "policy"),
        ("q3_budget", "budget"),
        ("ship_deadline", "deadline"),
        ("seat_capacity", "capacity"),
        ("policy_owner", None),
    ],
)
def test_constraints_are_recognised_by_their_key(
    alice: Session, key: str, kind: str | None
) -> None:
    """The last word of a key tells whether it is a constraint, and of which type."""
    written = alice.write(key, "x").fact
    assert written is not None
    assert (written.constraint_type, written.is_constraint) == (kind, kind is not None)


def test_the_caller_may_say_whether_it_is_a_constraint(alice: Session) -> None:
    """What is worked out from the key can be overruled in both directions."""
    yes = alice.write("colour", "red", is_constraint=True).fact
    no = alice.write("q3_budget", "planned", is_constraint=False).fact
    assert yes is not None
    assert no is not None
    assert (yes.is_constraint, no.is_constraint) == (True, False)
