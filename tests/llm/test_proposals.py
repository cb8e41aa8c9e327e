"""A model proposes, the rules decide: what is believed of an answer, and what is not."""

from __future__ import annotations

from typing import Any

import pytest

import incumbent
from incumbent.language.llm import Ask
from tests.conftest import OpenMemory
from tests.llm.scripted import (
    Scripted,
    answer,
    candidate,
    opinion,
    reasons,
    replacing,
    settings,
    shown,
    told,
)


class Desk:
    """A memory with a scripted model, and one person who talks to it."""

    def __init__(self, open_memory: OpenMemory, **options: Any) -> None:
        self.model = Scripted()
        self.memory = open_memory(settings=settings(self.model, **options))
        self.ann = self.memory.session(user_id="ann", organization="acme")

    def say(
        self, text: str, *scripts: Any, session: incumbent.Session | None = None, **more: Any
    ) -> incumbent.Observation:
        """Observe a turn that the model answers like this."""
        self.model.answers[:] = list(scripts)
        return (session or self.ann).observe(text, **more)


@pytest.fixture
def desk(open_memory: OpenMemory) -> Desk:
    return Desk(open_memory)


def test_a_proposal_becomes_a_fact_with_its_evidence(desk: Desk) -> None:
    """What the model proposes with a quote becomes an ordinary fact, and the verdict says how."""
    made = desk.say(
        "Peanuts make me ill, sadly.",
        answer(candidate(1, "Peanuts make me ill", "allergy", "Peanuts")),
    )
    assert reasons(made) == [("accepted", "")]
    verdict = opinion(made).verdicts[0]
    assert made.verdicts[-1] == verdict
    assert desk.ann.current("allergy") == "Peanuts"
    assert verdict.evidence["detector"] == "llm"
    assert verdict.evidence["model"] == "scripted:model"
    assert verdict.evidence["prompt"] == "propose@2"
    assert len(verdict.evidence["prompt_hash"]) == 12
    assert 0 < verdict.confidence < 1
    fact = desk.ann.facts("allergy")[0]
    assert (fact.source.quote, fact.source.turn_index) == ("Peanuts make me ill", 1)
    assert fact.authority == "employee"


def test_evidence_holds_nothing_of_what_was_said(desk: Desk) -> None:
    """The quote is kept by the fact, which can be erased, and not by the verdict."""
    made = desk.say("Peanuts make me ill.", answer(candidate(1, "Peanuts", "allergy", "Peanuts")))
    assert "peanuts" not in str(dict(opinion(made).verdicts[0].evidence)).lower()


def test_a_correction_that_the_rules_missed_replaces_the_value(desk: Desk) -> None:
    """The statement is rewritten with the new value, the rest of it stands, and undo works."""
    desk.say("We need 40 desks by Friday.", answer())
    made = desk.say(
        "Turns out 45 is what fits the floor plan",
        replacing(
            2, "45 is what fits", "desks", "45", says="We need 40 desks by Friday.", old="40"
        ),
    )
    assert reasons(made) == [("accepted", "")]
    assert "We need 45 desks by Friday." in [fact.value for fact in desk.ann.facts()]
    assert not any("40" in str(fact.value) for fact in desk.ann.facts())
    desk.ann.undo(opinion(made).verdicts[0])
    assert "We need 40 desks by Friday." in [fact.value for fact in desk.ann.facts()]


def test_a_keyed_value_is_replaced_at_its_own_address(desk: Desk) -> None:
    """A candidate under another name sits where the fact sat that it replaces."""
    desk.say("My address is 1 Main St.", answer())
    desk.say(
        "Ship everything to 9 Elm Rd from now on, we are in the new house",
        replacing(2, "9 Elm Rd", "shipping_address", "9 Elm Rd", says="1 Main St"),
    )
    assert desk.ann.current("address") == "9 Elm Rd"
    assert [fact.value for fact in desk.ann.history("address")] == ["1 Main St", "9 Elm Rd"]
    assert desk.ann.current("shipping_address") is None


@pytest.mark.parametrize(
    ("text", "proposed", "reason"),
    [
        ("I like tea.", {"quote": "I like coffee"}, "the quote is not in the turn"),
        ("I like tea.", {"quote": "I like te"}, "the quote is not in the turn"),
        ("I like tea.", {"quote": ""}, "the quote is not in the turn"),
        ("I like tea.", {"value": "green tea"}, "the quote does not say the value"),
        ("I like tea.", {"value": ""}, "it has no value"),
        ("I like tea.", {"value": "I hate tea"}, "the quote does not say the value"),
        ("I like tea.", {"turn": 7}, "it is from turn 7, which was not to be read"),
        ("I like tea.", {"attribute": "?!"}, "it does not say what the value is of"),
        ("I like tea.", {"about": "Zoe"}, "nobody has spoken of 'zoe'"),
        ("I like tea.", {"confidence": 0.4}, "the model is not sure itself"),
        ("I like tea.", {"commitment": "question"}, "the model itself takes it for: question"),
        ("I like tea.", {"commitment": "reported"}, "the model itself takes it for: reported"),
        ("I like tea.", {"commitment": "none"}, "the model itself takes it for: none"),
        (
            "Do I like tea?",
            {"quote": "I like tea"},
            "the turn does not say that it is so (read as question)",
        ),
        (
            "Bob said that I like tea.",
            {"quote": "I like tea"},
            "the turn does not say that it is so (read as report)",
        ),
        (
            "Thanks!",
            {"quote": "Thanks", "value": "Thanks"},
            "the turn does not say that it is so (read as small talk)",
        ),
        ("I used to like tea.", {"quote": "like tea"}, "the turn tells how things were once"),
    ],
)
def test_a_proposal_without_grounds_is_dropped(
    desk: Desk, text: str, proposed: dict[str, Any], reason: str
) -> None:
    """A quote, a value, a turn or a subject that is not there, and what nobody claims."""
    given = {**candidate(1, "I like tea", "drink", "tea"), **proposed}
    made = desk.say(text, answer(given))
    assert reasons(made) == [("dropped", reason)]
    assert opinion(made).verdicts == ()
    assert desk.ann.current("drink") is None


def test_a_value_may_be_put_in_another_form(desk: Desk) -> None:
    """A date or an amount is supported by a quote that says the same in other words."""
    made = desk.say(
        "Let's say next Friday works, for forty-five hundred dollars",
        answer(
            candidate(1, "next Friday works", "visit", "2026-01-16"),
            candidate(1, "forty-five hundred dollars", "fee", "$4,500"),
            candidate(1, "forty-five hundred dollars", "other_fee", "$4,600"),
        ),
    )
    assert [outcome for outcome, _ in reasons(made)] == ["accepted", "accepted", "dropped"]


def test_quotes_are_compared_up_to_spacing(desk: Desk) -> None:
    """Line breaks and double spaces in a turn are no reason to drop a quote."""
    made = desk.say(
        "My allergy:\n  peanuts   and\tcashews, badly",
        answer(candidate(1, "peanuts and cashews", "allergy", "peanuts and cashews")),
    )
    assert reasons(made) == [("accepted", "")]


def test_the_value_must_stand_in_a_statement_that_is_meant(desk: Desk) -> None:
    """A quote over a what-if and an assertion supports as real only what the assertion says."""
    text = "What if the fee was $9k? Our cook is Lyonel."
    made = desk.say(
        text,
        answer(
            candidate(1, text, "fee", "$9k"),
            candidate(1, text, "fees", "$9,000"),
            candidate(1, text, "chef", "Lyonel"),
        ),
    )
    assert [one.outcome for one in opinion(made).proposals][2] == "agreed"
    assert desk.ann.current("fee") is None
    assert desk.ann.current("fees") is None


def test_what_a_turn_denies_is_not_filed(desk: Desk) -> None:
    """A value that is named as what is not so is no value."""
    made = desk.say(
        "The venue is not Lyon, for sure.", answer(candidate(1, "Lyon", "venue", "Lyon"))
    )
    assert reasons(made) == [("dropped", "the turn says that it is not so")]
    assert desk.ann.current("venue") is None


def test_a_model_cannot_make_a_what_if_real(desk: Desk) -> None:
    """What the offline reading takes for a supposition stays in its own scope, whatever is said."""
    desk.say("The price is $4k.", answer())
    made = desk.say(
        "Suppose the price went up to $9k for the big customers.",
        replacing(2, "price went up to $9k", "price", "$9k", says="$4k", scope="global"),
    )
    assert desk.ann.current("price") == "$4k"
    for fact in (verdict.fact for verdict in opinion(made).verdicts):
        assert fact is not None
        assert fact.scope is incumbent.Scope.HYPOTHETICAL


@pytest.mark.parametrize(
    ("commitment", "scope", "filed"),
    [
        ("considering", "global", None),
        ("stated", "session", incumbent.Scope.SESSION),
        ("stated", "task", incumbent.Scope.TASK),
        ("stated", "global", incumbent.Scope.GLOBAL),
    ],
)
def test_a_model_may_narrow(
    desk: Desk, commitment: str, scope: str, filed: incumbent.Scope | None
) -> None:
    """The scope that a model names counts where it is narrower than what the turn allows."""
    audit = desk.memory.session(user_id="ann", organization="acme", task_id="audit")
    made = desk.say(
        "Peanuts make me ill.",
        answer(
            candidate(
                1, "Peanuts make me ill", "allergy", "Peanuts", commitment=commitment, scope=scope
            )
        ),
        session=audit,
    )
    facts = [verdict.fact for verdict in opinion(made).verdicts if verdict.fact is not None]
    assert [fact.scope for fact in facts] == ([] if filed is None else [filed])


def test_a_task_scope_without_a_task_is_the_session(desk: Desk) -> None:
    """Where there is no task, a proposal for it does not become global."""
    made = desk.say(
        "Peanuts make me ill.", answer(candidate(1, "Peanuts", "allergy", "Peanuts", scope="task"))
    )
    (verdict,) = opinion(made).verdicts
    assert verdict.fact is not None
    assert verdict.fact.scope is incumbent.Scope.SESSION


def test_what_is_on_record_needs_no_second_verdict(desk: Desk) -> None:
    """A proposal that says what the offline reading filed is agreed, and changes nothing."""
    made = desk.say(
        "My address is 1 Main St.", answer(candidate(1, "1 Main St", "home", "1 Main St"))
    )
    assert reasons(made) == [("agreed", "on record")]
    assert opinion(made).verdicts == ()
    assert len(desk.ann.facts()) == 1


def test_a_fact_that_was_not_shown_cannot_be_replaced(desk: Desk) -> None:
    """A made-up id is left out, and said to be; the candidate is judged without it."""
    desk.ann.write("mood", "calm")
    made = desk.say(
        "Peanuts make me ill.",
        answer(candidate(1, "Peanuts", "allergy", "Peanuts", replaces=[("f99", "")])),
    )
    assert reasons(made) == [("accepted", "it replaces a fact that the model was not shown")]
    assert desk.ann.current("mood") == "calm"


def test_an_incumbent_that_was_not_named_is_contested(desk: Desk) -> None:
    """A value for a taken address that is not said to replace anything waits for a review."""
    desk.say("The venue is Lyon.", answer())
    made = desk.say(
        "Paris has a lovely spot as well, we booked that",
        answer(candidate(2, "Paris has a lovely spot", "venue", "Paris")),
    )
    assert opinion(made).verdicts[0].outcome is incumbent.Outcome.CONTESTED
    assert desk.ann.current("venue") == "Lyon"
    assert [review.kind for review in desk.ann.reviews()] == ["contested"]


@pytest.mark.parametrize(
    ("first", "turn", "quote", "value", "about", "reason"),
    [
        (
            "My sister's address is 9 Elm Rd.",
            "I am at 4 High St these days",
            "4 High St",
            "4 High St",
            "",
            "the fact that it replaces is about something else",
        ),
        (
            "The deadline is 3 March.",
            "We paid $400 in the end, that is settled",
            "$400",
            "$400",
            "",
            "the value that it replaces is of another kind",
        ),
        (
            "I like jazz.",
            "I also like rock.",
            "I also like rock",
            "rock",
            "",
            "the turn says that it comes on top of what there is",
        ),
    ],
    ids=["somebody else's", "another kind", "an addition"],
)
def test_what_a_proposal_cannot_replace_stays(
    desk: Desk, first: str, turn: str, quote: str, value: str, about: str, reason: str
) -> None:
    """Another's fact, a value of another kind, and what a turn adds to are left in office."""
    before = desk.say(first, answer()).facts[0]

    def script(ask: Ask) -> dict[str, Any]:
        name = shown(ask, str(before.value))
        return answer(candidate(2, quote, "thing", value, about=about, replaces=[(name, "")]))

    made = desk.say(turn, script)
    assert reason in opinion(made).proposals[0].reason
    assert desk.ann.is_current(before.id)


def test_a_retraction_takes_a_fact_back(desk: Desk) -> None:
    """The model may see that something is over; the verdict is a retraction with its reason."""
    desk.say("I am allergic to peanuts.", answer())
    says = str(desk.ann.facts()[0].value)
    made = desk.say(
        "The doctor tested me and the peanut thing is gone for good",
        replacing(2, "the peanut thing is gone", "allergy", "", says=says, commitment="retracted"),
    )
    (verdict,) = opinion(made).verdicts
    assert verdict.outcome is incumbent.Outcome.RETRACTED
    assert (verdict.reason, verdict.evidence["detector"]) == ("the peanut thing is gone", "llm")
    assert not any(fact.value == says for fact in desk.ann.facts())
    desk.ann.undo(verdict)
    assert any(fact.value == says for fact in desk.ann.facts())


def test_an_assistants_turn_yields_nothing(desk: Desk) -> None:
    """It is not asked about; shown as context, it gives no facts even if the model says so."""
    desk.ann.observe("Your allergy is to peanuts, I gather.", speaker="assistant")
    assert desk.model.asked == []
    made = desk.say(
        "Well, tell me more about the menu then",
        answer(candidate(1, "Your allergy is to peanuts", "allergy", "peanuts")),
    )
    turns = told(desk.model.asked[0])["turns"]
    assert [(turn["speaker"], turn["read"]) for turn in turns] == [
        ("assistant", False),
        ("user", True),
    ]
    assert reasons(made) == [("dropped", "it is from turn 1, which was not to be read")]
    assert desk.ann.current("allergy") is None


def test_a_lower_authority_stays_overruled(desk: Desk) -> None:
    """A proposal speaks with the authority of whoever spoke, by the rules for everybody."""
    boss = desk.memory.session(user_id="boss", authority="executive", organization="acme")
    boss.write("launch_date", "3 March", memory_type="organizational", subject="apollo")
    ian = desk.memory.session(user_id="ian", authority="intern", organization="acme")

    def script(ask: Ask) -> dict[str, Any]:
        found = [fact["id"] for fact in told(ask)["known"] if fact["key"] == "launch_date"]
        return answer(
            candidate(
                1, "apollo flies on 9 April", "launch_date", "9 April", about="apollo",
                replaces=[(name, "") for name in found],
            )
        )  # fmt: skip

    made = desk.say("I hear you: apollo flies on 9 April", script, session=ian)
    outcomes = {verdict.outcome for verdict in opinion(made).verdicts}
    assert outcomes <= {incumbent.Outcome.OVERRULED}
    assert ian.current("launch_date", "apollo") == "3 March"


def test_restricted_facts_are_not_sent(desk: Desk) -> None:
    """A fact that takes a permission or a rank to read does not leave for a provider."""
    desk.memory.declare("iban", requires=["payments"])
    clerk = desk.memory.session(
        user_id="ann", organization="acme", authority="manager",
        permissions=["payroll", "payments"],
    )  # fmt: skip
    clerk.write("salary", "5200", requires=["payroll"])
    clerk.write("bonus", "900", min_authority="manager")
    clerk.write("iban", "DE00 1234")
    clerk.write("refund_policy", "Refunds above 500 need two signatures")
    clerk.write("desk", "by the window")
    desk.say("What a day that was, honestly", answer(), session=clerk)
    data = told(desk.model.asked[0])
    keys = {fact["key"] for fact in data["known"]}
    assert "desk" in keys
    assert keys.isdisjoint({"salary", "bonus", "iban", "refund_policy"})
    assert "5200" not in desk.model.asked[0].data


def test_another_persons_facts_are_not_sent(desk: Desk) -> None:
    """Only what the speaker may see is shown, and nothing of another organization."""
    for user, organization in (("bob", "acme"), ("ann", "globex")):
        other = desk.memory.session(user_id=user, organization=organization)
        other.write("desk", f"that of {user} at {organization}")
    desk.say("My desk is by the window.", answer())
    assert "that of" not in desk.model.asked[0].data


def test_an_objection_undoes_a_wrong_supersession(desk: Desk) -> None:
    """What the offline reading replaced comes back, and what the turn says is kept beside it."""
    desk.say("The venue is Lyon.", answer())

    def script(ask: Ask) -> dict[str, Any]:
        name = shown(ask, "Lyon")
        quote = "The venue is Paris"
        return answer(
            candidate(2, quote, "dinner_venue", "Paris", about="dinner"),
            objections=[{"fact": name, "turn": 2, "quote": quote}],
        )

    made = desk.say("The venue is Paris. Dinner, I mean.", script)
    assert made.verdicts[0].outcome is incumbent.Outcome.SUPERSEDED
    assert [one.outcome for one in opinion(made).proposals] == ["accepted", "accepted"]
    assert desk.ann.current("venue") == "Lyon"
    assert desk.ann.current("dinner_venue", "dinner") == "Paris"
    undone = opinion(made).verdicts[0]
    assert (undone.rule, undone.evidence["detector"]) == (incumbent.Rule.UNDO, "llm")
    desk.ann.undo(undone)
    assert desk.ann.current("venue") == "Paris"


def test_an_objection_loses_nothing_that_was_said(desk: Desk) -> None:
    """Where the model does not say where the turn's value goes, a review asks."""
    desk.say("The venue is Lyon.", answer())

    def script(ask: Ask) -> dict[str, Any]:
        name = shown(ask, "Lyon")
        return answer(objections=[{"fact": name, "turn": 2, "quote": "The venue is Paris"}])

    desk.say("The venue is Paris.", script)
    assert desk.ann.current("venue") == "Lyon"
    assert [review.fact.value for review in desk.ann.reviews()] == ["Paris"]


@pytest.mark.parametrize(
    "objection",
    [
        {"fact": "r9", "turn": 2, "quote": "The venue is Paris"},
        {"fact": "r1", "turn": 1, "quote": "The venue is Lyon"},
        {"fact": "r1", "turn": 2, "quote": "not in the turn"},
        {"fact": "f1", "turn": 2, "quote": "The venue is Paris"},
    ],
    ids=["unknown", "another turn", "no quote", "not replaced"],
)
def test_an_objection_without_grounds_changes_nothing(
    desk: Desk, objection: dict[str, Any]
) -> None:
    """Only what a turn was taken to replace can be objected to, with words of that turn."""
    desk.say("The venue is Lyon.", answer())
    made = desk.say("The venue is Paris.", answer(objections=[objection]))
    assert [one.outcome for one in opinion(made).proposals] == ["dropped"]
    assert desk.ann.current("venue") == "Paris"


def test_what_came_of_an_opinion_belongs_to_the_turn(desk: Desk) -> None:
    """The same turn again tells of it, and its words leave the context with the fact."""
    made = desk.say(
        "Peanuts make me ill.",
        answer(candidate(1, "Peanuts make me ill", "allergy", "Peanuts")),
        ref="m1",
    )
    again = desk.ann.observe("Peanuts make me ill.", ref="m1")
    assert again.repeated
    assert opinion(made).verdicts[0].fact_id in {fact.id for fact in again.facts}
    assert again.opinion is None
    assert len(desk.model.asked) == 1


def test_a_batch_is_one_request(desk: Desk) -> None:
    """observe_many asks about several turns at once, and each turn gets its own account."""
    turns = [{"role": "user", "content": f"Fruit number {n} is ripe."} for n in range(1, 11)]
    desk.model.then(
        answer(
            candidate(2, "Fruit number 2 is ripe", "ripe_fruit_2", "number 2"),
            candidate(8, "Fruit number 8 is ripe", "ripe_fruit_8", "number 8"),
        )
    )
    made = desk.ann.observe_many(turns)
    assert [len(told(ask)["turns"]) for ask in desk.model.asked] == [8, 2 + 4]
    counted = [len(opinion(one).proposals) for one in made]
    assert counted == [0, 1, 0, 0, 0, 0, 0, 1, 0, 0]
    (usage,) = desk.memory.usage("acme")
    assert (usage.calls, usage.turns) == (2, 10)


def test_a_later_turn_of_a_batch_builds_on_an_earlier_one(desk: Desk) -> None:
    """A fact that the answer itself replaced is followed to what replaced it."""
    desk.say("We need 40 desks by Friday.", answer())

    def script(ask: Ask) -> dict[str, Any]:
        name = shown(ask, "We need 40 desks by Friday.")
        return answer(
            candidate(2, "45 fits", "desks", "45", replaces=[(name, "40")]),
            candidate(3, "50 fits even better", "desks", "50", replaces=[(name, "45")]),
        )

    desk.model.then(script)
    desk.ann.observe_many(
        [{"text": "Turns out 45 fits the plan"}, {"text": "Turns out 50 fits even better"}]
    )
    assert "We need 50 desks by Friday." in [fact.value for fact in desk.ann.facts()]
    assert not any("45" in str(fact.value) for fact in desk.ann.facts())


def test_a_branch_changes_nothing_real(desk: Desk) -> None:
    """In a what-if session, proposals stay in the branch, whatever they say they replace."""
    desk.say("My address is 1 Main St.", answer())
    trial = desk.ann.hypothetical("move")
    desk.say(
        "Boxes are packed, 9 Elm Rd is the new place",
        replacing(2, "9 Elm Rd is the new place", "address", "9 Elm Rd", says="1 Main St"),
        session=trial,
    )
    assert trial.current("address") == "9 Elm Rd"
    assert desk.ann.current("address") == "1 Main St"
    trial.discard()
    assert desk.ann.current("address") == "1 Main St"


def test_a_branch_takes_back_nothing_real(desk: Desk) -> None:
    """What a what-if session says is over is still so outside of it."""
    desk.say("My address is 1 Main St.", answer())
    trial = desk.ann.hypothetical("move")
    made = desk.say(
        "The place is sold, so that one is over",
        replacing(2, "that one is over", "address", "", says="1 Main St", commitment="retracted"),
        session=trial,
    )
    assert reasons(made) == [("dropped", "a branch takes back nothing real")]
    assert desk.ann.current("address") == "1 Main St"


def test_an_earlier_turn_does_not_replace_what_a_later_one_said(desk: Desk) -> None:
    """In one request a model sees what came later, and cannot use it against that."""

    def script(ask: Ask) -> dict[str, Any]:
        name = shown(ask, "4 High St")
        return answer(
            candidate(1, "9 Elm Rd has a garden", "home", "9 Elm Rd", replaces=[(name, "")])
        )

    desk.model.then(script)
    made = desk.ann.observe_many(
        [{"text": "9 Elm Rd has a garden, which is nice"}, {"text": "My address is 4 High St."}]
    )
    assert "the fact that it replaces was said later" in opinion(made[0]).proposals[0].reason
    assert desk.ann.current("address") == "4 High St"


def test_a_request_to_forget_is_never_sent(desk: Desk) -> None:
    """Even where there was nothing to forget, what it names is not passed on."""
    made = desk.say("Please forget my phone number 555-0100.")
    assert made.opinion is None
    assert desk.model.asked == []


def test_a_bad_turn_leaves_those_before_it_with_their_opinion(desk: Desk) -> None:
    """What was observed before a turn that is refused is looked at like the rest."""
    desk.model.then(answer(candidate(1, "Peanuts make me ill", "allergy", "Peanuts")))
    with pytest.raises(incumbent.InvalidInput, match="turn 1"):
        desk.ann.observe_many([{"text": "Peanuts make me ill."}, {"role": "user"}])
    assert desk.ann.current("allergy") == "Peanuts"
