"""What a model may say of earlier statements: that they are over, in part, in doubt, no facts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

import incumbent
from incumbent.language.llm import Ask
from incumbent.testing import SteppingClock
from tests.conftest import OpenMemory
from tests.llm.scripted import (
    Scripted,
    Suspicious,
    answer,
    fate,
    fated,
    keep,
    opinion,
    reasons,
    settings,
    shown,
    told,
)

VAN = "The van is booked for Thursday at 9 from Kestrel."
LOOM = "The loom has arrived and stands in the attic."


class Desk:
    """A memory with a scripted model, and one person who talks to it."""

    def __init__(self, open_memory: OpenMemory, detector: Any = None, **options: Any) -> None:
        self.model = Scripted()
        chosen = settings(self.model, **options)
        self.memory = open_memory(
            settings=chosen if detector is None else replace(chosen, detector=detector)
        )
        self.ann = self.memory.session(user_id="ann", organization="acme")

    def say(self, text: str, *scripts: Any, **more: Any) -> incumbent.Observation:
        """Observe a turn that the model answers like this."""
        self.model.answers[:] = list(scripts)
        return self.ann.observe(text, **more)

    def says(self) -> list[str]:
        """What is in office."""
        return [str(fact.value) for fact in self.ann.facts()]

    def doubted(self) -> list[str]:
        return [str(one.fact.value) for one in self.ann.reviews() if one.kind == "doubted"]


@pytest.fixture
def desk(open_memory: OpenMemory) -> Desk:
    return Desk(open_memory)


# keeping


def test_a_stretch_that_was_not_kept_is_filed_as_it_was_said(desk: Desk) -> None:
    """Under no name, in the words of the turn, with the authority of who speaks, and undoable."""
    made = desk.say(
        "haha yes and anton has the spare key",
        answer(keeps=[keep(1, "anton has the spare key")]),
    )
    (verdict,) = opinion(made).verdicts
    fact = verdict.fact
    assert fact is not None
    assert (fact.key, fact.value) == ("statement", "anton has the spare key")
    assert (fact.owner, fact.authority, fact.is_constraint) == ("ann", "employee", False)
    assert fact.source.turn_index == 1
    assert verdict.evidence["detector"] == "llm"
    assert "anton" not in str(dict(verdict.evidence))
    desk.ann.undo(verdict)
    assert "anton has the spare key" not in desk.says()


def test_what_is_kept_already_is_agreed_on(desk: Desk) -> None:
    """A stretch of a statement that the offline reading kept brings nothing more."""
    made = desk.say(VAN, answer(keeps=[keep(1, VAN), keep(1, "booked for Thursday")]))
    assert reasons(made) == [("agreed", "on record")] * 2
    assert desk.says() == [VAN]


@pytest.mark.parametrize(
    ("text", "quote", "reason"),
    [
        (VAN, "The van is booked for Friday", "the quote is not in the turn"),
        (VAN, "", "the quote is not in the turn"),
        (VAN, "The van is booked for Thurs", "the quote is not in the turn"),
        ("Is the van booked?", "the van booked",
         "the turn does not say that it is so (read as question)"),
        ("What if the van was booked for Friday?", "the van was booked for Friday",
         "the turn does not say that it is so (read as hypothetical)"),
        ("haha yes and our refund policy rocks", "our refund policy rocks",
         "it speaks of policy, which is not for a model to set; use write()"),
    ],
)  # fmt: skip
def test_a_stretch_without_grounds_is_not_kept(
    desk: Desk, text: str, quote: str, reason: str
) -> None:
    """What is not in the turn, what nobody says, and what would be policy."""
    made = desk.say(text, answer(keeps=[keep(1, quote)]))
    assert reasons(made) == [("dropped", reason)]
    assert opinion(made).verdicts == ()


def test_words_that_are_denied_are_kept_with_what_denies_them(desk: Desk) -> None:
    """A quote that leaves out the "never" is filed with it."""
    made = desk.say("hm so honestly i never eat walnuts",
                    answer(keeps=[keep(1, "eat walnuts")]))  # fmt: skip
    kept = [str(fact.value) for fact in made.facts]
    assert all("never" in text for text in kept if "walnuts" in text)


def test_a_short_answer_is_kept_with_its_question(desk: Desk) -> None:
    """By itself it says nothing; both are in the words in which they were said."""
    desk.ann.observe("Has the gate been mended?", speaker="assistant")
    desk.say("nope not yet", answer(keeps=[keep(2, "nope not yet")]))
    assert desk.says() == ["Has the gate been mended? → nope not yet"]


# what becomes of what is known


def test_what_a_statement_replaces_is_in_its_chain(desk: Desk) -> None:
    """The fact goes, what took its place is traceable, and an undo brings both back."""
    desk.say(VAN, answer())
    made = desk.say(LOOM, fated(2, LOOM, "ended", says=VAN))
    assert reasons(made) == [("accepted", "")]
    assert desk.says() == [LOOM]
    (verdict,) = opinion(made).verdicts
    (now,) = desk.ann.facts()
    chain = [str(fact.value) for fact in desk.ann.explain(now.id).chain.facts]
    assert VAN in chain
    assert verdict.evidence["detector"] == "llm"
    desk.ann.undo(verdict)
    assert sorted(desk.says()) == sorted([VAN, LOOM])


def test_what_no_fact_replaces_is_retracted_with_the_quote(desk: Desk) -> None:
    """Words that were not kept can end a fact all the same; the reason says which."""
    desk.say(VAN, answer())
    made = desk.say("Thanks!", fated(2, "Thanks!", "ended", says=VAN))
    (verdict,) = opinion(made).verdicts
    assert (verdict.outcome, verdict.reason) == (incumbent.Outcome.RETRACTED, "Thanks!")
    assert desk.says() == []
    desk.ann.undo(verdict)
    assert desk.says() == [VAN]


def test_a_stretch_that_is_kept_takes_the_place_of_what_it_ends(desk: Desk) -> None:
    """A keep and a fate of one answer go together."""
    desk.say(VAN, answer())
    made = desk.say("cheers, kestrel called it off",
                    fated(2, "kestrel called it off", "ended", says=VAN,
                          keeps=["kestrel called it off"]))  # fmt: skip
    assert all(outcome != "dropped" for outcome, _ in reasons(made))
    assert VAN not in desk.says()
    assert any("kestrel called it off" in text for text in desk.says())


def test_of_a_statement_that_is_wrong_in_part_the_rest_stands(desk: Desk) -> None:
    """The words that no longer hold are cut, and what was said instead follows."""
    desk.say(VAN, answer())
    new = "They can only do Friday, same time"
    made = desk.say(new, fated(2, new, "part", says=VAN, old="Thursday"))
    assert reasons(made) == [("accepted", "")]
    assert desk.says() == [f"The van is booked for … at 9 from Kestrel. → {new}"]
    desk.ann.undo(opinion(made).verdicts[0])
    assert sorted(desk.says()) == sorted([VAN, new])


def test_several_parts_of_one_statement_can_go(desk: Desk) -> None:
    """Each stretch is cut, and what was said instead is told once."""
    desk.say(VAN, answer())
    new = "They can only do Friday, and it is from Dunmore"

    def script(ask: Ask) -> dict[str, Any]:
        name = shown(ask, VAN)
        return answer(fates=[fate(name, 2, new, "part", "Thursday"),
                             fate(name, 2, new, "part", "Kestrel")])  # fmt: skip

    desk.say(new, script)
    assert desk.says() == [f"The van is booked for … at 9 from …. → {new}"]


def test_what_may_be_out_of_date_is_put_in_doubt(desk: Desk) -> None:
    """It stays in office with a review; the statement against it is named; undo lifts it."""
    desk.say(VAN, answer())
    made = desk.say(LOOM, fated(2, LOOM, "doubtful", says=VAN))
    assert reasons(made) == [("accepted", "")]
    assert sorted(desk.says()) == sorted([VAN, LOOM])
    assert desk.doubted() == [VAN]
    desk.ann.undo(opinion(made).verdicts[0])
    assert desk.doubted() == []


def test_words_that_nobody_stands_by_end_nothing(desk: Desk) -> None:
    """What the offline reading takes for hearsay brings doubt at most, a bare question nothing."""
    desk.say(VAN, answer())
    made = desk.say("Bob said that the van is gone for good.",
                    fated(2, "Bob said that the van is gone for good.", "ended",
                          says=VAN))  # fmt: skip
    assert [outcome for outcome, _ in reasons(made)] == ["accepted"]
    assert "only put in doubt" in reasons(made)[0][1]
    assert (VAN in desk.says(), desk.doubted()) == (True, [VAN])
    made = desk.say("Is it off?", fated(3, "Is it off?", "ended", says=VAN))
    assert [outcome for outcome, _ in reasons(made)] == ["dropped"]
    assert VAN in desk.says()


def test_what_should_not_have_been_kept_is_taken_back(desk: Desk) -> None:
    """Only what the turns themselves brought can be struck, and an undo brings it back."""
    desk.say(VAN, answer())
    text = "The weather is splendid on Monday."

    def script(ask: Ask) -> dict[str, Any]:
        return answer(fates=[fate(shown(ask, text), 2, text, "no_fact"),
                             fate(shown(ask, VAN), 2, text, "no_fact")])  # fmt: skip

    made = desk.say(text, script)
    assert reasons(made) == [
        ("accepted", "it is no fact"),
        ("dropped", "the turn did not bring it"),
    ]
    assert desk.says() == [VAN]
    desk.ann.undo(opinion(made).verdicts[0])
    assert sorted(desk.says()) == sorted([VAN, text])


def test_a_doubt_that_a_turn_raised_wrongly_is_lifted(open_memory: OpenMemory) -> None:
    """The fact holds, the record says why, and an undo brings the doubt back."""
    desk = Desk(open_memory, detector=Suspicious(0.6))
    desk.say(VAN, answer())
    made = desk.say(LOOM, fated(2, LOOM, "holds", says=VAN))
    assert told(desk.model.asked[-1])["known"][0]["doubted"] is True
    assert reasons(made) == [("accepted", "it is not in doubt")]
    assert desk.doubted() == []
    (verdict,) = opinion(made).verdicts
    assert (verdict.reason, verdict.evidence["detector"]) == (LOOM, "llm")
    desk.ann.undo(verdict)
    assert desk.doubted() == [VAN]


def test_a_doubt_of_another_turn_stays(desk: Desk) -> None:
    """A model speaks of the turns that it reads."""
    desk.say(VAN, answer())
    desk.say(LOOM, fated(2, LOOM, "doubtful", says=VAN))
    again = "The loom needs a new treadle."
    made = desk.say(again, fated(3, again, "holds", says=VAN))
    assert reasons(made) == [("agreed", "nothing here speaks against it")]
    assert desk.doubted() == [VAN]


def test_what_was_replaced_wrongly_holds_again(open_memory: OpenMemory) -> None:
    """A replacement of the offline reading is undone, and both statements stand."""
    desk = Desk(open_memory, detector=Suspicious(0.95))
    first, second = "The loom is from Leeds.", "The other loom is from Lyon."
    desk.say(first, answer())
    made = desk.say(second, fated(2, second, "holds", says=first))
    assert ("accepted", "it was not replaced") in reasons(made)
    assert sorted(desk.says()) == sorted([first, second])


def test_what_was_taken_back_wrongly_holds_again(open_memory: OpenMemory) -> None:
    """A retraction of the offline reading is undone like a replacement."""
    desk = Desk(open_memory)
    first, text = "The loom is from Leeds.", "The loom is not from Leeds any more."
    desk.say(first, answer())
    made = desk.say(text, fated(2, text, "holds", says=first))
    assert incumbent.Outcome.RETRACTED in {verdict.outcome for verdict in made.verdicts}
    assert reasons(made) == [("accepted", "it was not replaced")]
    assert first in desk.says()


def test_the_likeliest_facts_are_shown_where_not_all_fit(open_memory: OpenMemory) -> None:
    """What a turn is about goes before what was merely said last."""
    desk = Desk(open_memory, known_facts=3)
    desk.say(VAN, answer())
    for number in range(6):
        desk.say(f"Room {number} has been painted.", answer())
    later = desk.memory.session(user_id="ann", organization="acme", session_id="later")
    later.observe("The van from Kestrel did not turn up.")
    says = [one["says"] for one in told(desk.model.asked[-1])["known"]]
    assert len(says) == 3
    assert VAN in says


def test_what_was_kept_badly_is_cut_anew(open_memory: OpenMemory) -> None:
    """Taken back as a whole, and kept as it should have been; what it had replaced is back."""
    desk = Desk(open_memory, detector=Suspicious(0.95))
    desk.say(VAN, answer())
    text = "The loom stands in the attic lovely day it is."

    def script(ask: Ask) -> dict[str, Any]:
        return answer(
            keeps=[keep(2, "The loom stands in the attic")],
            fates=[fate(shown(ask, text), 2, text, "no_fact")],
        )

    made = desk.say(text, script)
    assert [outcome for outcome, _ in reasons(made)] == ["accepted", "accepted"]
    assert sorted(desk.says()) == ["The loom stands in the attic", VAN]


def test_one_statement_can_speak_against_several(desk: Desk) -> None:
    """What it replaces and what it puts in doubt is one decision, and an undo takes it all back."""
    desk.say(VAN, answer())
    desk.say("Dunmore wants 80 for a van.", answer())

    def script(ask: Ask) -> dict[str, Any]:
        return answer(fates=[fate(shown(ask, VAN), 3, LOOM, "replaced"),
                             fate(shown(ask, "Dunmore wants 80 for a van."), 3, LOOM,
                                  "doubtful")])  # fmt: skip

    made = desk.say(LOOM, script)
    assert reasons(made) == [("accepted", "")] * 2
    (verdict,) = opinion(made).verdicts
    assert desk.doubted() == ["Dunmore wants 80 for a van."]
    assert VAN not in desk.says()
    desk.ann.undo(verdict)
    assert (VAN in desk.says(), desk.doubted()) == (True, [])


@pytest.mark.parametrize("becomes", ["replaced", "part", "ended"])
def test_what_changes_on_a_later_day_holds_until_then(
    open_memory: OpenMemory, clock: SteppingClock, becomes: str
) -> None:
    """The fact is in office up to the day that the quote names, and gone from then on."""
    desk = Desk(open_memory)
    desk.say(VAN, answer())
    new = "From 9 March it comes from Dunmore"
    old = "Kestrel" if becomes == "part" else ""
    made = desk.say(new, fated(2, new, becomes, says=VAN, old=old, since="2026-03-09"))
    assert reasons(made) == [("accepted", "")]
    assert VAN in desk.says()
    clock.advance(days=90)
    assert VAN not in desk.says()
    assert any("Dunmore" in text for text in desk.says())


def test_a_day_that_the_quote_does_not_say_is_no_day(desk: Desk) -> None:
    """A model cannot date what nobody dated."""
    desk.say(VAN, answer())
    made = desk.say(LOOM, fated(2, LOOM, "ended", says=VAN, since="2026-03-09"))
    assert reasons(made) == [("dropped", "the quote does not say from which day")]
    assert VAN in desk.says()


@pytest.mark.on_every_store
def test_each_effect_is_in_the_record_of_its_turn(open_memory: OpenMemory) -> None:
    """The same turn again, by its ref, tells what the model led to."""
    desk = Desk(open_memory)
    desk.say(VAN, answer(), ref="1")
    new = "They can only do Friday, same time"
    made = desk.say(new, fated(2, new, "part", says=VAN, old="Thursday"), ref="2")
    repeated = desk.say(new, ref="2")
    assert repeated.repeated
    assert opinion(made).verdicts[0].id in {verdict.id for verdict in repeated.verdicts}


def test_a_sitting_can_correct_itself_twice(desk: Desk) -> None:
    """What a turn put in the place of something is ended by a later turn of the same sitting."""
    desk.say(VAN, answer())
    second, third = "The van now comes on Friday from Dunmore.", "We do not need a van any more."

    def script(ask: Ask) -> dict[str, Any]:
        return answer(
            fates=[
                fate(shown(ask, VAN), 2, second, "replaced"),
                fate(shown(ask, second), 3, third, "ended"),
            ]
        )

    desk.model.answers[:] = [script]
    desk.ann.observe_many([{"text": second}, {"text": third}])
    assert not any("van" in text and "need" not in text for text in desk.says())


def test_what_followed_an_arrow_is_cut_in_its_turn(desk: Desk) -> None:
    """A later turn of the sitting ends the new words, and the rest of the old ones stands."""
    desk.say(VAN, answer())
    second, third = "They can only do Friday, same time", "It is Monday after all"

    def script(ask: Ask) -> dict[str, Any]:
        return answer(
            fates=[
                fate(shown(ask, VAN), 2, second, "part", "Thursday"),
                fate(shown(ask, second), 3, third, "replaced"),
            ]
        )

    desk.model.answers[:] = [script]
    desk.ann.observe_many([{"text": second}, {"text": third}])
    assert desk.says() == [f"The van is booked for … at 9 from Kestrel. → … → {third}"]


# what is shown


def test_facts_of_other_sessions_are_shown_with_day_and_speaker(open_memory: OpenMemory) -> None:
    """What was said days ago elsewhere is what a sitting puts out of date."""
    desk = Desk(open_memory)
    desk.say(VAN, answer(), at=datetime(2026, 1, 3, 9, tzinfo=UTC))
    later = desk.memory.session(user_id="ann", organization="acme", session_id="later")
    desk.model.answers[:] = [fated(1, LOOM, "ended", says=VAN)]
    later.observe(LOOM, at=datetime(2026, 1, 4, 9, tzinfo=UTC))
    known = told(desk.model.asked[-1])["known"]
    assert [(one["says"], one["day"], one["by"], one["turn"]) for one in known] == [
        (VAN, "2026-01-03", "user", None),
        (LOOM, "2026-01-04", "user", 1),
    ]
    assert VAN not in desk.says()


def test_a_sitting_is_one_request(open_memory: OpenMemory) -> None:
    """Assistants' turns are read with those of people, and a long sitting is several requests."""
    desk = Desk(open_memory, batch_turns=3)
    turns = [{"text": VAN}, {"text": "Noted: VAN-77 is the reference.", "speaker": "assistant"},
             {"text": LOOM}, {"text": "The attic is dry."}]  # fmt: skip
    desk.ann.observe_many(turns)
    assert [
        [turn["turn"] for turn in told(ask)["turns"] if turn["read"]] for ask in desk.model.asked
    ] == [[1, 2, 3], [4]]


def test_an_assistant_by_itself_is_not_asked_about(desk: Desk) -> None:
    """What it says is read with what people say."""
    made = desk.ann.observe_many([{"text": "Hello there, VAN-77.", "speaker": "assistant"}])
    assert (desk.model.asked, made[0].opinion) == ([], None)


def test_an_assistants_word_is_kept_as_its_own_and_ends_no_persons(desk: Desk) -> None:
    """What it reports is on the lowest rung, and a person's word stands against it."""
    report = "All done, the van was cancelled for you"

    def script(ask: Ask) -> dict[str, Any]:
        return answer(keeps=[keep(2, report)], fates=[fate(shown(ask, VAN), 2, report, "ended")])

    desk.model.answers[:] = [script]
    made = desk.ann.observe_many(
        [{"text": VAN}, {"text": report, "speaker": "assistant"}, {"text": "Thanks!"}]
    )
    assert ("dropped", "what an assistant says ends nothing that a person said") in reasons(made[1])
    assert VAN in desk.says()
    kept = [fact for fact in desk.ann.facts() if fact.value == report]
    assert [fact.source.by_machine for fact in kept] == [True]


# what nobody may do by a fate


@pytest.mark.parametrize("becomes", ["replaced", "part", "ended", "doubtful", "holds", "no_fact"])
@pytest.mark.parametrize("handle", ["f99", "r1", "", "\x00"])
def test_a_fact_that_was_not_shown_has_no_fate(desk: Desk, becomes: str, handle: str) -> None:
    """A name that was guessed is no name."""
    desk.say(VAN, answer())
    made = desk.say(LOOM, answer(fates=[fate(handle, 2, LOOM, becomes, "Thursday")]))
    assert [outcome for outcome, _ in reasons(made)] == ["dropped"]
    assert sorted(desk.says()) == sorted([VAN, LOOM])


@pytest.mark.parametrize("becomes", ["replaced", "part", "ended", "doubtful", "holds", "no_fact"])
def test_a_quote_that_nobody_said_changes_nothing(desk: Desk, becomes: str) -> None:
    """Neither words that are not in the turn nor words of another one."""
    desk.say(VAN, answer())
    for quote in ("The loom is here", VAN, ""):
        made = desk.say(LOOM, fated(len(desk.model.asked) + 1, quote, becomes, says=VAN,
                                    old="Thursday"))  # fmt: skip
        assert reasons(made) == [("dropped", "the quote is not in the turn")]
    assert VAN in desk.says()
    assert desk.doubted() == []


def test_what_was_said_later_stays(desk: Desk) -> None:
    """A turn that arrives late does not end what was said after it."""
    desk.say(VAN, answer(), at=datetime(2026, 1, 4, 9, tzinfo=UTC))
    made = desk.say(LOOM, fated(2, LOOM, "ended", says=VAN), at=datetime(2026, 1, 3, tzinfo=UTC))
    assert reasons(made) == [("dropped", "the fact was said later")]
    assert VAN in desk.says()


def test_what_binds_others_is_neither_shown_nor_ended(open_memory: OpenMemory) -> None:
    """A policy is no matter of a model, whoever the session belongs to."""
    desk = Desk(open_memory)
    boss = desk.memory.session(user_id="boss", authority="executive", organization="acme")
    boss.write("refund_policy", "Refunds within 30 days", memory_type="organizational")
    desk.model.answers[:] = [
        answer(fates=[fate(f"f{number}", 1, LOOM, "ended") for number in range(1, 4)])
    ]
    boss.observe(LOOM)
    assert "30 days" not in desk.model.asked[0].data
    assert boss.current("refund_policy") == "Refunds within 30 days"


def test_a_fact_of_a_higher_authority_stays(open_memory: OpenMemory) -> None:
    """A fate speaks with the authority of whoever spoke."""
    desk = Desk(open_memory)
    boss = desk.memory.session(user_id="boss", authority="executive", organization="acme")
    boss.write("launch", "3 March", memory_type="organizational", subject="apollo")
    desk.model.answers[:] = [fated(1, "apollo is called off", "ended", says="3 March")]
    ian = desk.memory.session(user_id="ian", authority="intern", organization="acme")
    made = ian.observe("I think apollo is called off, the 3 March launch")
    assert [outcome for outcome, _ in reasons(made)] == ["dropped"]
    assert boss.current("launch", "apollo") == "3 March"


def test_somebody_elses_facts_are_out_of_reach(open_memory: OpenMemory) -> None:
    """Their ids are no names, and they are not shown."""
    desk = Desk(open_memory)
    theirs = desk.memory.session(user_id="bob", organization="acme").observe(VAN).facts[0].id
    desk.model.asked.clear()
    made = desk.say(LOOM, answer(fates=[fate(theirs, 1, LOOM, "ended")]))
    assert VAN not in desk.model.asked[0].data
    assert [outcome for outcome, _ in reasons(made)] == ["dropped"]
    bob = desk.memory.session(user_id="bob", organization="acme")
    assert [fact.value for fact in bob.facts()] == [VAN]


def test_a_branch_ends_nothing_real(desk: Desk) -> None:
    """What is said in a what-if stays there."""
    desk.say(VAN, answer())
    desk.model.answers[:] = [fated(2, LOOM, "ended", says=VAN)]
    made = desk.ann.hypothetical().observe(LOOM)
    assert reasons(made) == [("dropped", "a branch ends nothing real")]
    assert VAN in desk.says()


def test_endless_lists_are_cut_off(desk: Desk) -> None:
    """Of each list a hundred are looked at; the rest is told as dropped."""
    desk.say(VAN, answer())
    endless = [fate("f1", 2, "nothing of it", "ended")] * 150
    made = desk.say(LOOM, answer(keeps=[keep(2, LOOM)] * 150, fates=endless))
    outcomes = [outcome for outcome, _ in reasons(made)]
    assert (outcomes.count("agreed"), outcomes.count("dropped")) == (100, 200)
    assert sorted(desk.says()) == sorted([VAN, LOOM])


def test_what_was_forgotten_while_the_model_thought_is_left_alone(desk: Desk) -> None:
    """A fact that is erased between asking and answering has no fate any more."""
    first = desk.say(VAN, answer()).facts[0]

    def script(ask: Ask) -> dict[str, Any]:
        name = shown(ask, VAN)
        desk.memory.forget(organization="acme", fact_id=first.id)
        return answer(fates=[fate(name, 2, LOOM, "part", "Thursday")])

    made = desk.say(LOOM, script)
    assert "Kestrel" not in str(list(desk.memory.export("acme")))
    assert opinion(made).verdicts == ()


def test_a_model_that_fails_leaves_the_offline_reading(desk: Desk) -> None:
    """Nothing of what it would have said is done."""
    desk.say(VAN, answer())
    made = desk.say(LOOM, RuntimeError("gone"))
    assert opinion(made).status == "failed"
    assert sorted(desk.says()) == sorted([VAN, LOOM])


def test_hearsay_at_the_end_of_a_run_on_turn_takes_nothing_from_its_beginning(desk: Desk) -> None:
    """What opens the turn is said straight out; what comes after somebody's name is not."""
    desk.say(VAN, answer())
    plain = "the loom is here now so the van goes back on monday in the same state"
    turn = f"{plain} cousin mags thinks we never needed one"
    made = desk.say(turn, fated(2, plain, "ended", says=VAN))
    assert reasons(made)[0][1] == ""
    assert VAN not in desk.says()


def test_the_end_of_a_run_on_turn_is_read_with_what_comes_before_it(desk: Desk) -> None:
    desk.say(VAN, answer())
    heard = "the loom is here now so the van goes back on monday in the same state"
    made = desk.say(f"cousin mags thinks that {heard}", fated(2, heard, "ended", says=VAN))
    assert "only put in doubt" in reasons(made)[0][1]
    assert VAN in desk.says()
