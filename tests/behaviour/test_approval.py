"""Asking before keeping: what a turn says waits until whoever said it approves it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

import incumbent
from incumbent.testing import SteppingClock
from tests.behaviour.people import someone

DAY = timedelta(days=1)


def asked(memory: incumbent.Memory, user_id: str, **more: Any) -> incumbent.Session:
    session = someone(memory, user_id, **{"session_id": "s1", **more})
    session.ask_before_keeping = True
    return session


def waiting(session: incumbent.Session) -> list[str]:
    """What the person is asked about."""
    return [str(one.fact.value) for one in session.reviews() if one.kind == "unapproved"]


def approve(session: incumbent.Session, asked_about: str, **more: Any) -> incumbent.Verdict:
    found = next(one for one in session.reviews() if one.fact.value == asked_about)
    return session.resolve(found.fact.id, **(more or {"still_right": True}))


def test_what_is_read_waits(memory: incumbent.Memory) -> None:
    """It is proposed, and is no fact: nothing goes by it, and no context shows it, neither as a
    fact nor in the words of the turn."""
    ann = asked(memory, "ann")
    made = ann.observe("The venue is Lyon. We need 40 desks by Friday.")
    assert {verdict.outcome for verdict in made.verdicts} == {"waiting"}
    assert {verdict.rule for verdict in made.verdicts} == {"approval"}
    assert waiting(ann) == ["Lyon", "We need 40 desks by Friday."]
    assert ann.facts() == []
    assert ann.current("venue") is None
    context = ann.context("What is the venue, and how many desks?", budget=2000, history=True)
    assert "Lyon" not in context.text
    assert "40" not in context.text
    assert {omission.reason for omission in context.omissions} == {"waiting"}


@pytest.mark.on_every_store
def test_what_is_approved_counts_from_the_day_it_was_said(
    memory: incumbent.Memory, clock: SteppingClock
) -> None:
    """With the words and the turn that it came in; a look at the days between finds it."""
    ann = asked(memory, "ann")
    said = clock.now
    ann.observe("The venue is Lyon.", ref="m1")
    clock.advance(days=3)
    verdict = approve(ann, "Lyon", reason="yes", still_right=True)
    assert (verdict.outcome, verdict.rule, verdict.reason) == ("established", "approval", "yes")
    (fact,) = ann.facts()
    assert fact.timestamp - said < DAY
    assert (fact.source.quote, fact.source.ref) == ("The venue is Lyon.", "m1")
    assert ann.as_of(said + DAY).current("venue") == "Lyon"
    assert ann.as_of(said + DAY, known_at=said + DAY).current("venue") is None
    assert "venue: Lyon (said 2026-01-05)" in ann.context("What is the venue?").text
    assert waiting(ann) == []


@pytest.mark.on_every_store
def test_nothing_ends_before_it_is_approved(memory: incumbent.Memory) -> None:
    """What was kept stands beside the question, which names it; then it gives way."""
    ann = asked(memory, "ann")
    kept = someone(memory, "ann", session_id="s1")
    kept.observe("We need 40 desks by Friday. The venue is Lyon.")
    ann.observe("No, 45 desks.")
    ann.observe("The venue is Paris now.")
    assert {review.rival.value for review in ann.reviews() if review.rival} == {
        "We need 40 desks by Friday.",
        "Lyon",
    }
    assert "40 desks" in ann.context("How many desks?").text
    assert "45" not in ann.context("How many desks?").text
    verdict = approve(ann, "We need [45] desks by Friday.")
    assert verdict.outcome == "superseded"
    approve(ann, "Paris")
    assert sorted(str(fact.value) for fact in ann.facts()) == [
        "Paris",
        "We need [45] desks by Friday.",
    ]
    assert [fact.value for fact in ann.history("venue")] == ["Lyon", "Paris"]
    assert "40 desks" not in ann.context("How many desks?").text


def test_what_is_not_kept_leaves_no_trace(memory: incumbent.Memory) -> None:
    """No context shows it, and nobody's transcript is cut for it: the memory has no opinion."""
    ann = asked(memory, "ann")
    ann.observe("The fee is $40.")
    verdict = approve(ann, "$40", retract=True)
    assert (verdict.outcome, verdict.rule) == ("retracted", "discard")
    assert waiting(ann) == []
    assert ann.facts() == []
    assert "$40" not in ann.context("What is the fee?", history=True).text
    said = [{"role": "user", "content": "The fee is $40."}]
    assert ann.guard([*said, {"role": "user", "content": "And?"}]).messages[:1] == said


def test_what_waits_cuts_nothing_out_of_messages(memory: incumbent.Memory) -> None:
    """A conversation goes on with what was said in it."""
    ann = asked(memory, "ann")
    said = [{"role": "user", "content": "The fee is $40."}, {"role": "user", "content": "Right?"}]
    ann.observe("The fee is $40.")
    assert list(ann.guard(said).messages) == said


@pytest.mark.on_every_store
def test_a_correction_takes_the_place_of_what_waits(memory: incumbent.Memory) -> None:
    """Approving the correction drops what it corrects; undoing that lets both wait again."""
    ann = asked(memory, "ann")
    ann.observe("We need 40 desks by Friday.")
    ann.observe("No, 45 desks.")
    verdict = approve(ann, "We need [45] desks by Friday.")
    assert waiting(ann) == []
    assert [fact.value for fact in ann.facts()] == ["We need [45] desks by Friday."]
    undone = ann.undo(verdict)
    assert waiting(ann) == ["We need 40 desks by Friday.", "We need [45] desks by Friday."]
    assert ann.facts() == []
    ann.undo(undone)
    assert [fact.value for fact in ann.facts()] == ["We need [45] desks by Friday."]
    assert waiting(ann) == []


def test_what_is_approved_late_goes_behind_what_is_newer(
    memory: incumbent.Memory, clock: SteppingClock
) -> None:
    """The person says that it was so, not that it is so again."""
    ann = asked(memory, "ann")
    ann.observe("The venue is Lyon.")
    clock.advance(days=1)
    ann.write("venue", "Paris")
    clock.advance(days=1)
    verdict = approve(ann, "Lyon")
    assert ann.current("venue") == "Paris"
    assert [fact.value for fact in ann.history("venue")] == ["Lyon", "Paris"]
    ann.undo(verdict)
    assert waiting(ann) == ["Lyon"]
    assert [fact.value for fact in ann.history("venue")] == ["Paris"]


def test_a_person_approves_only_their_own(memory: incumbent.Memory) -> None:
    """Not what somebody else said, for themselves or for all; and nothing crosses an
    organization."""
    boss = asked(memory, "boss", authority="executive")
    boss.observe("My phone number is 555-0100.")
    boss.observe("For everyone: our office is in Ghent.")
    theirs = [one.fact.id for one in boss.reviews()]
    assert len(theirs) == 2
    others = [
        someone(memory, "ceo", authority="executive"),
        memory.session(user_id="boss", authority="executive", organization="globex"),
    ]
    for other in others:
        assert other.reviews() == []
        assert other.list_facts(states=(), limit=10).items == ()
        for fact_id in theirs:
            assert other.get(fact_id) is None
            with pytest.raises((incumbent.UnknownFact, incumbent.NotPermitted)):
                other.resolve(fact_id, still_right=True)
    for fact_id in theirs:
        boss.resolve(fact_id, still_right=True)
    assert any("Ghent" in str(fact.value) for fact in others[0].facts())
    assert others[1].facts() == []


def test_an_approval_does_not_get_past_those_above(memory: incumbent.Memory) -> None:
    """It is judged like the statement itself, beside what was settled in the meantime."""
    ann = asked(memory, "ann")
    ann.observe("The max discount is 25%.")
    boss = someone(memory, "boss", authority="policy")
    boss.write("max_discount", "10%", memory_type="organizational", is_constraint=True)
    verdict = approve(ann, "25%")
    assert (verdict.outcome, verdict.rule) == ("overruled", "authority")
    assert ann.current("max_discount") == "10%"
    assert waiting(ann) == []
    ann.undo(verdict)
    assert waiting(ann) == ["25%"]


def test_a_request_to_take_back_is_asked_about(memory: incumbent.Memory) -> None:
    """What was kept goes once the person approves; the request itself becomes no fact."""
    ann = asked(memory, "ann")
    someone(memory, "ann", session_id="s1").observe("The fee is $40.")
    ann.observe("Scratch that.")
    assert ann.current("fee") == "$40"
    assert waiting(ann) == ["Scratch that."]
    verdict = approve(ann, "Scratch that.")
    assert (verdict.outcome, verdict.fact and verdict.fact.value) == ("retracted", "$40")
    assert ann.facts() == []
    assert waiting(ann) == []
    ann.undo(verdict)
    assert ann.current("fee") == "$40"


def test_going_back_is_asked_about(memory: incumbent.Memory) -> None:
    """The earlier value is proposed, and the present one stands until then."""
    ann = asked(memory, "ann")
    kept = someone(memory, "ann", session_id="s1")
    kept.observe("The venue is Lyon.")
    kept.observe("Actually, the venue is Paris.")
    ann.observe("Let's go back to Lyon.")
    assert ann.current("venue") == "Paris"
    assert waiting(ann) == ["Lyon"]
    approve(ann, "Lyon")
    assert ann.current("venue") == "Lyon"


def test_what_only_waits_is_taken_back_at_once(memory: incumbent.Memory) -> None:
    """Nobody has to be asked about what was not kept."""
    ann = asked(memory, "ann")
    ann.observe("The fee is $40.")
    ann.observe("Scratch that.")
    assert waiting(ann) == []


def test_who_wants_something_forgotten_is_not_asked(memory: incumbent.Memory) -> None:
    """What is kept and what waits is erased at once: a memory that asks first still obeys."""
    ann = asked(memory, "ann")
    ann.observe("My phone number is 555-0100.")
    approve(ann, "555-0100")
    ann.observe("My address is 9 Elm Row.")
    made = ann.observe("Please delete my phone number and my address from your memory.")
    assert made.erasures
    assert ann.current("phone_number") is None
    ann.observe("Please forget my address.")
    assert waiting(ann) == []


def test_what_a_statement_rests_on_is_approved_with_it(memory: incumbent.Memory) -> None:
    """A conclusion is worth nothing without its ground, nor an answer without the question."""
    ann = asked(memory, "ann")
    ann.observe("The unit price is $12, so the total is $1,200.")
    approve(ann, "$1,200")
    assert {fact.key: fact.value for fact in ann.facts()} == {
        "unit_price": "$12",
        "total": "$1,200",
    }
    ann.observe("6pm is full. How about 7:30pm?", speaker="assistant")
    ann.observe("Yes, please.")
    approve(ann, "Yes, please.")
    assert waiting(ann) == []
    assert "7:30pm" in ann.context("When?").text


def test_a_contingency_that_is_approved_waits_for_its_base(memory: incumbent.Memory) -> None:
    """It takes office when that leaves, and not before."""
    ann = asked(memory, "ann")
    for text in ("The venue is Porto, so the fee is $40.",):
        ann.observe(text)
        approve(ann, "$40")
    ann.observe("If the venue changes to Ghent, the fee becomes $60.")
    verdict = approve(ann, "$60")
    assert (verdict.outcome, verdict.rule) == ("waiting", "approval")
    assert ann.current("fee") == "$40"
    assert waiting(ann) == []
    ann.write("venue", "Ghent")
    assert ann.current("fee") == "$60"


def test_the_same_words_wait_once_and_what_is_known_is_confirmed(memory: incumbent.Memory) -> None:
    """Nobody is asked twice, nor about what is kept already."""
    ann = asked(memory, "ann")
    for _ in range(2):
        ann.observe("The venue is Lyon.")
        ann.observe("We always take the early ferry.")
    assert waiting(ann) == ["Lyon", "We always take the early ferry."]
    for value in waiting(ann):
        approve(ann, value)
    assert [one.outcome for one in ann.observe("The venue is Lyon.").verdicts] == ["confirmed"]
    assert waiting(ann) == []


def test_what_became_known_meanwhile_is_confirmed(memory: incumbent.Memory) -> None:
    """Another session kept the same: there is one fact."""
    ann = asked(memory, "ann")
    ann.observe("The venue is Lyon.")
    ann.write("venue", "Lyon")
    assert approve(ann, "Lyon").outcome == "confirmed"
    assert len(ann.facts()) == 1
    assert waiting(ann) == []


def test_a_person_can_put_it_right(memory: incumbent.Memory) -> None:
    """Another value is kept in its place, and what it would have replaced gives way to that."""
    ann = asked(memory, "ann")
    someone(memory, "ann", session_id="s1").observe("We need 40 desks by Friday.")
    ann.observe("No, 45 desks.")
    approve(ann, "We need [45] desks by Friday.", value="We need 50 desks by Friday.")
    assert [fact.value for fact in ann.facts()] == ["We need 50 desks by Friday."]
    assert waiting(ann) == []


def test_whether_somebody_is_asked_is_a_setting_and_a_session_s_own(
    open_memory: Any, memory: incumbent.Memory
) -> None:
    """The setting holds for every session that does not say otherwise."""
    someone(memory, "bob").observe("The venue is Lyon.")
    assert waiting(someone(memory, "bob")) == []
    settings = incumbent.Settings(embedder="static", durability="process", ask_before_keeping=True)
    other = open_memory(settings=settings)
    someone(other, "bob").observe("The fee is $40.")
    assert waiting(someone(other, "bob")) == ["$40"]
    plain = someone(other, "bob")
    plain.ask_before_keeping = False
    plain.observe("The room is 7.")
    assert plain.current("room") == "7"


def test_the_words_of_machines_wait_too(memory: incumbent.Memory) -> None:
    """What an assistant reports is kept once the person approves it."""
    ann = asked(memory, "ann")
    ann.observe("I have booked flight KL1234 for you.", speaker="assistant")
    assert len(waiting(ann)) == 1
    assert ann.facts() == []


def test_what_waits_waits_in_every_session_of_the_person(memory: incumbent.Memory) -> None:
    """It is approved wherever they look at their reviews."""
    ann = asked(memory, "ann")
    ann.observe("The venue is Lyon.")
    later = someone(memory, "ann", session_id="s2")
    approve(later, "Lyon")
    assert later.current("venue") == "Lyon"


def test_a_rehearsal_tells_what_an_approval_would_do(memory: incumbent.Memory) -> None:
    """And keeps nothing."""
    ann = asked(memory, "ann")
    ann.observe("The venue is Lyon.")
    rehearsal = ann.rehearsal()
    approve(rehearsal, "Lyon")
    (change,) = rehearsal.changes
    assert (change.after and change.after.status) == "office"
    assert waiting(ann) == ["Lyon"]


def test_an_export_has_what_waits(open_memory: Any, memory: incumbent.Memory) -> None:
    """It waits where that is imported, for the same person, and can be approved there."""
    ann = asked(memory, "ann")
    ann.observe("We need 40 desks by Friday.")
    ann.observe("No, 45 desks.")
    records = list(memory.export("acme"))
    with incumbent.open(":memory:", settings=memory.settings) as other:
        other.import_(records)
        there = asked(other, "ann")
        assert waiting(there) == waiting(ann)
        approve(there, "We need [45] desks by Friday.")
        assert waiting(there) == []
        assert list(other.export("acme"))


def test_everything_of_a_person_is_forgotten_with_what_waits(memory: incumbent.Memory) -> None:
    """Nothing of it is left to ask about."""
    ann = asked(memory, "ann")
    ann.observe("My phone number is 555-0100.")
    memory.forget(organization="acme", user_id="ann")
    assert waiting(asked(memory, "ann")) == []
    assert "555-0100" not in str(list(memory.export("acme")))
