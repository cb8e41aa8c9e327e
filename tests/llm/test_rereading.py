"""A model's reading takes the place of the offline one, and can be explained and undone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import incumbent
from incumbent.model.verdict import Outcome
from incumbent.reading.asked.config import EVERYBODY
from tests.conftest import OpenMemory
from tests.llm.scripted import (
    Scripted,
    does,
    opinion,
    reading,
    reasons,
    said,
    sentences,
    settings,
    shown,
    told,
    values,
)

PIANO = "The piano lesson is on Wednesdays at 4 with Mrs Okafor."
DESKS = "We need 40 desks by Friday."


def talk(open_memory: OpenMemory, *answers: Any, **who: Any) -> tuple[Any, Any]:
    """A model that answers like this, and a session that it reads along with."""
    model = Scripted(*answers)
    memory = open_memory(settings=settings(model))
    return model, memory.session(**{"user_id": "ann", "organization": "acme", **who})


def test_what_both_read_alike_is_not_filed_again(open_memory: OpenMemory) -> None:
    """Where the model comes to the same, nothing is taken back and nothing is added."""
    _, ann = talk(open_memory)
    made = ann.observe(PIANO)
    assert reasons(made) == [("agreed", "")]
    assert opinion(made).verdicts == ()
    assert [fact.id for fact in made.facts] == [fact.id for fact in ann.facts()]


def test_what_the_model_leaves_out_is_taken_back(open_memory: OpenMemory) -> None:
    """Chat that the offline reader kept is gone, with an undo that names the model."""
    _, ann = talk(open_memory, reading(said("The piano")))
    made = ann.observe(f"{PIANO} Lovely weather today.")
    assert values(ann) == [PIANO]
    undone = [one for one in opinion(made).verdicts if one.outcome is Outcome.REVERTED]
    assert {one.evidence["reader"] for one in undone} == {"scripted:model"}
    assert [str(fact.value) for fact in made.facts] == [PIANO]


def test_every_verdict_names_the_model_the_prompt_and_the_revision(
    open_memory: OpenMemory,
) -> None:
    """What was taken back and what was filed belong to one revision."""
    _, ann = talk(open_memory, reading(said("The piano")))
    made = ann.observe(f"{PIANO} Lovely weather today.")
    told_by = [one.evidence for one in opinion(made).verdicts]
    assert len({one["revision"] for one in told_by}) == 1
    assert all(one["prompt"].startswith("reading@1 ") for one in told_by)


def test_a_revision_can_be_undone(open_memory: OpenMemory) -> None:
    """Undone, last first, everything is as the offline reader had it."""
    change = reading(said("only do Fridays", does(PIANO, "replaces")))
    _, ann = talk(open_memory, reading(said("The piano")), change)
    ann.observe(PIANO)
    text = "She can only do Fridays now, same time. Nice."
    made = ann.observe(text)
    offline = open_memory(settings=incumbent.Settings(embedder=None))
    plain = offline.session(user_id="bea", organization="other")
    plain.observe(PIANO)
    plain.observe(text)
    assert values(ann) != values(plain)
    for verdict in reversed(opinion(made).verdicts):
        ann.undo(verdict)
    assert values(ann) == values(plain)


def test_a_part_changes_in_brackets(open_memory: OpenMemory) -> None:
    """One stretch changes, however it was typed, and the rest stands."""
    change = reading(said("only do Fridays", does(PIANO, "part", old="wednesdays", new="fridays")))
    _, ann = talk(open_memory, reading(said("The piano")), change)
    ann.observe(PIANO)
    ann.observe("She can only do Fridays now, same time")
    assert values(ann) == ["The piano lesson is on [Fridays] at 4 with Mrs Okafor."]


@pytest.mark.parametrize(
    ("maybe", "doubts"),
    [("granny says she may not be the teacher any more", True), ("maybe on tuesdays then", False)],
)
def test_a_doubt_outlives_a_change_of_something_else(
    open_memory: OpenMemory, maybe: str, doubts: bool
) -> None:
    """Where another part of a doubtful statement changes, all is shown, and the doubt with it;
    where the part in doubt is settled, so is the doubt."""
    new = "it is on fridays from now on"
    change = reading(said(new, does(PIANO, "part", old="Wednesdays", new="fridays")))
    _, ann = talk(
        open_memory, reading(said("The piano")), reading(said(maybe, does(PIANO, "doubts"))), change
    )
    for text in (PIANO, maybe, new):
        ann.observe(text)
    amended = PIANO.replace("Wednesdays", "[fridays]")
    assert [one.fact.value for one in ann.reviews()] == ([PIANO] if doubts else [])
    assert (amended in values(ann)) is not doubts
    assert (new in values(ann)) is doubts


@pytest.mark.parametrize(("part", "settles"), [("Wednesdays", True), ("Mrs Okafor", False)])
def test_only_a_part_may_be_in_doubt(open_memory: OpenMemory, part: str, settles: bool) -> None:
    """What a model doubts of a statement is known, and a change of just that settles it."""
    maybe, new = "not sure that stays", "it is on fridays from now on"
    change = reading(said(new, does(PIANO, "part", old="Wednesdays", new="fridays")))
    _, ann = talk(
        open_memory,
        reading(said("The piano")),
        reading(said(maybe, does(PIANO, "part", old=part, new="", sure=False))),
        change,
    )
    for text in (PIANO, maybe, new):
        ann.observe(text)
    assert [one.fact.value for one in ann.reviews()] == ([] if settles else [PIANO])


def test_a_change_that_ends_the_doubt_as_well_is_made(open_memory: OpenMemory) -> None:
    """A statement that settles what put another in doubt leaves nothing open."""
    maybe, new = "her hands hurt, so she may give up teaching", "it is on fridays from now on"
    settled = reading(
        said(new, does(PIANO, "part", old="Wednesdays", new="fridays"), does("hands", "ends"))
    )
    _, ann = talk(
        open_memory,
        reading(said("The piano")),
        reading(said(maybe, does(PIANO, "doubts"))),
        settled,
    )
    for text in (PIANO, maybe, new):
        ann.observe(text)
    assert PIANO.replace("Wednesdays", "[fridays]") in values(ann)
    assert ann.reviews() == []


def test_a_part_that_is_not_there_shows_both(open_memory: OpenMemory) -> None:
    """Where the old words cannot be found, the fact stands, in doubt."""
    change = reading(said("only do Fridays", does(PIANO, "part", old="Mondays", new="Fridays")))
    _, ann = talk(open_memory, reading(said("The piano")), change)
    ann.observe(PIANO)
    new = "She can only do Fridays now, same time"
    ann.observe(new)
    assert values(ann) == [new, PIANO]
    assert [one.fact.value for one in ann.reviews()] == [PIANO]


@pytest.mark.parametrize("kind", ["replaces", "ends"])
def test_what_is_over_is_gone(open_memory: OpenMemory, kind: str) -> None:
    """Its chain tells what took its place, and who thought so."""
    change = reading(said("new lodging", does("van", kind)))
    _, ann = talk(open_memory, reading(said("van")), change)
    ann.observe("Renting a van from Kestrel to move the loom.")
    made = ann.observe("thats the loom in its new lodging")
    assert values(ann) == ["thats the loom in its new lodging"]
    filed = opinion(made).verdicts[-1]
    assert (filed.outcome, filed.evidence["reader"]) == (Outcome.SUPERSEDED, "scripted:model")
    assert filed.evidence["chance"] == 0.9


def test_what_is_only_likely_shows_both(open_memory: OpenMemory) -> None:
    """Neither is lost, and the earlier one is in doubt."""
    change = reading(said("new lodging", does("van", "ends", sure=False)))
    _, ann = talk(open_memory, reading(said("van")), change)
    van, loom = "Renting a van from Kestrel to move the loom.", "thats the loom in its new lodging"
    ann.observe(van)
    ann.observe(loom)
    assert values(ann) == sorted([van, loom])
    assert [one.fact.value for one in ann.reviews()] == [van]


def test_what_was_before_can_count_again(open_memory: OpenMemory) -> None:
    """Of a chain the value before is back in office."""
    new = "Mrs Okafor teaches on Fridays instead"
    _, ann = talk(
        open_memory,
        reading(said("The piano")),
        reading(said(new, does(PIANO, "replaces"))),
        reading(said("back to", does(new, "reverts"))),
    )
    for text in (PIANO, new, "so we are back to how it was, good"):
        ann.observe(text)
    assert values(ann) == [PIANO]


def test_what_says_the_same_confirms(open_memory: OpenMemory) -> None:
    """The fact stays the one it was, and stands as said again."""
    _, ann = talk(
        open_memory, reading(said("The piano")), reading(said("still", does(PIANO, "confirms")))
    )
    (first,) = ann.observe(PIANO).facts
    ann.observe("it still is on wednesdays")
    (fact,) = ann.facts()
    assert (fact.id, fact.value) == (first.id, PIANO)
    assert fact.confirmed_at is not None


def test_what_rests_on_something_is_reviewed_with_it(open_memory: OpenMemory) -> None:
    """A dependency that the model saw marks what hangs on a fact that changes."""
    _, ann = talk(
        open_memory,
        reading(said("The piano")),
        reading(said("pick him up", does(PIANO, "depends"))),
        reading(said("given up", does(PIANO, "ends"))),
    )
    late = "Granny has to pick him up then"
    for text in (PIANO, late, "he has given up the lessons altogether"):
        ann.observe(text)
    assert [(one.kind, one.fact.value) for one in ann.reviews()] == [("base changed", late)]


def test_a_change_that_begins_later_waits_for_its_day(open_memory: OpenMemory, clock: Any) -> None:
    """Until then the earlier one holds, and from then on the new one."""
    old, new = "The rent is 800 euros.", "From February on its 900, they wrote"
    change = reading(said(new, does("800", "replaces"), from_="2026-02-01"))
    _, ann = talk(open_memory, reading(said("rent")), change)
    ann.observe(old)
    ann.observe(new)
    assert "800 euros" in values(ann)[0]
    clock.advance(days=40)
    assert values(ann) == [new]


def test_what_is_to_come_is_told_with_its_day(open_memory: OpenMemory) -> None:
    """What the offline reader made of the same words is no dead value that masks them."""
    new = "driver route changes, so wednesdays from 1 april"
    wording = "The veg box comes on wednesdays from 1 april"
    change = reading(
        said(
            new,
            does("veg box", "part", old="fridays", new="wednesdays"),
            says=wording,
            from_="2026-04-01",
        )
    )
    _, ann = talk(open_memory, reading(said("veg box")), change)
    ann.observe("we get the small veg box fridays from greenleaf, 14.50")
    ann.observe(new)
    text = ann.context("When does the veg box come?").text
    assert wording in text
    assert "no longer current" not in text


def test_what_stops_on_a_day_stops(open_memory: OpenMemory, clock: Any) -> None:
    """A statement with an end is gone after it."""
    _, ann = talk(open_memory, reading(said("Oslo", until="2026-01-09")))
    ann.observe("im in Oslo, back on the tenth")
    assert len(values(ann)) == 1
    clock.advance(days=7)
    assert values(ann) == []


def test_what_passes_gives_way_to_what_was_before(open_memory: OpenMemory, clock: Any) -> None:
    """A value with an end takes the place of another until then."""
    old, new = "My desk is next to the window.", "sitting by the door, just till friday"
    change = reading(said(new, does(old, "replaces"), until="2026-01-09"))
    _, ann = talk(open_memory, reading(said(old)), change)
    ann.observe(old)
    ann.observe(new)
    assert values(ann) == [new]
    clock.advance(days=7)
    assert values(ann) == [old]


def test_a_figure_that_a_model_leaves_out_is_kept(open_memory: OpenMemory) -> None:
    """An oversight of a weak model loses nothing that has a figure in it."""
    _, ann = talk(open_memory, reading())
    ann.observe("Our bakery opens at 7 in the morning. Lovely weather today.")
    (value,) = values(ann)
    assert "7 in the morning" in value


# what a model writes


def test_a_wording_is_kept_beside_its_quote(open_memory: OpenMemory) -> None:
    """What could not be understood alone says who is meant; the words as said are its source."""
    wording = "Nell does not tolerate milk"
    _, ann = talk(open_memory, reading(), reading(said("off milk", says=wording)))
    ann.observe("How is Nell doing?", speaker="assistant")
    ann.observe("hows Nell? well")
    ann.observe("shes off milk since that rash")
    (fact,) = ann.facts()
    assert (fact.value, fact.source.quote) == (wording, "shes off milk since that rash")
    assert wording in ann.context("What does Nell drink?").text


@pytest.mark.parametrize(
    "wording",
    ["Bob is off milk since that rash", "She is off milk since 3 days", "She is off Oatly milk"],
)
def test_a_wording_with_something_unsaid_is_not_believed(
    open_memory: OpenMemory, wording: str
) -> None:
    """A name or a number that nobody said leaves the quote alone."""
    _, ann = talk(open_memory, reading(said("off milk", says=wording)))
    made = ann.observe("shes off milk since that rash")
    assert values(ann) == ["shes off milk since that rash"]
    assert ("dropped", "its wording has a name or a number that nobody said") in reasons(made)


def test_a_day_in_a_wording_may_be_worked_out(open_memory: OpenMemory) -> None:
    """What comes to the same as what was said counts as said."""
    wording = "The delivery comes on 2026-01-09"
    _, ann = talk(open_memory, reading(said("Friday", says=wording)))
    ann.observe("the delivery? comes this friday, yes. Friday it is")
    assert wording in values(ann)


def test_a_name_is_given_where_the_value_was_said(open_memory: OpenMemory) -> None:
    """So that `current` has something to tell."""
    _, ann = talk(
        open_memory, reading(said("off milk", about="Nell", attribute="Diet", value="off Milk"))
    )
    ann.observe("nells off milk since that rash")
    assert ann.current("diet", subject="nell") == "off milk"


def test_a_value_that_was_not_said_gives_no_name(open_memory: OpenMemory) -> None:
    """The sentence is kept as it was said."""
    _, ann = talk(open_memory, reading(said("milk", attribute="diet", value="vegan")))
    ann.observe("nells off milk since that rash")
    assert values(ann) == ["nells off milk since that rash"]


def test_a_name_that_is_held_goes_over_only_where_it_is_said_to(open_memory: OpenMemory) -> None:
    """A second value under a name, with nothing said of the first, stands beside it."""
    one = said("green", attribute="desk", value="green")
    _, ann = talk(open_memory, reading(one), reading(said("blue", attribute="desk", value="blue")))
    ann.observe("My desk is green as of today.")
    ann.observe("And then there is my desk in blue at home")
    assert ann.current("desk") == "green"
    assert "And then there is my desk in blue at home" in values(ann)


# sittings


def test_a_sitting_is_one_request(open_memory: OpenMemory) -> None:
    """Its sentences are numbered through, and a later one can end an earlier one."""
    model, ann = talk(
        open_memory,
        reading(said("booked"), said("need a van", does("booked", "ends"))),
    )
    made = ann.observe_many(
        [
            {"text": "The van is booked for Thursday at 9 from Kestrel."},
            {"text": "Noted!", "speaker": "assistant"},
            {"text": "Forget it I mean we do not need a van any more"},
        ]
    )
    assert len(model.asked) == 1
    assert len(sentences(model.asked[0])) == 3
    assert [one["by"] for one in told(model.asked[0])["turns"] if "by" in one] == ["assistant"]
    assert values(ann) == ["Forget it I mean we do not need a van any more"]
    assert all(opinion(one).status == "given" for one in made if one.opinion is not None)


def test_a_sentence_that_only_the_model_keeps_can_be_ended(open_memory: OpenMemory) -> None:
    """What the offline reader left out is there for the turns after it."""
    _, ann = talk(
        open_memory,
        reading(
            said("chairs?", says="The chairs are to be blue"), said("red", does("chairs?", "ends"))
        ),
    )
    made = ann.observe_many(
        [{"text": "and the chairs? blue I think"}, {"text": "no, they are going to be red"}]
    )
    assert values(ann) == ["no, they are going to be red"]
    assert not any(one.outcome == "dropped" for m in made for one in opinion(m).proposals)


def test_a_sentence_can_change_an_earlier_one_of_its_turn(open_memory: OpenMemory) -> None:
    """Within a turn too, a part changes in brackets."""
    _, ann = talk(
        open_memory,
        reading(said("40"), said("No, 45", does("40", "part", old="40", new="45"))),
    )
    ann.observe("Please order 40 desks for us by Friday. No, 45.")
    assert values(ann) == ["Please order [45] desks for us by Friday."]


def test_what_the_offline_reader_ended_is_shown_as_it_was(open_memory: OpenMemory) -> None:
    """The model sees what was known before the sitting, and can let it stand."""
    model, ann = talk(open_memory, reading(said("address")), reading(said("Dan")))
    ann.write("address", "1 Main St")
    ann.observe("My address is 9 Elm Rd.")
    assert "1 Main St" in model.asked[0].data


def test_doubts_and_dependencies_are_shown(open_memory: OpenMemory) -> None:
    """What is in doubt says so, and what rests on something names it."""
    model, ann = talk(
        open_memory,
        reading(said("The piano")),
        reading(said("pick him up", does(PIANO, "depends"))),
        reading(said("may move", does(PIANO, "doubts"))),
    )
    ann.observe(PIANO)
    ann.observe("Granny has to pick him up then")
    ann.observe("its day may move, she is not sure")
    ann.observe("My desk is green.")
    shown_facts = told(model.asked[-1])["known"]
    assert shown_facts[0]["doubted"]
    assert shown_facts[1]["rests"] == ["k1"]


def test_what_is_too_long_to_be_shown_stays_as_it_was(open_memory: OpenMemory) -> None:
    """Of a very long turn the end is not read, and nothing of it is taken back."""
    tins = [f"Shelf {n} of the east wing is full of old tins." for n in range(200)]
    model, ann = talk(open_memory, reading())
    ann.observe("\n".join(tins))
    assert len(model.asked[0].data) < 9_000
    kept = values(ann)
    assert tins[-1] in kept
    assert tins[0] not in kept


def test_the_time_is_that_of_the_turns(open_memory: OpenMemory, clock: Any) -> None:
    """A fact that is filed anew is as old as what was said."""
    at = clock()
    clock.advance(days=3)
    _, ann = talk(open_memory, reading(said("off milk", says="Nell is off milk")))
    ann.observe("nell, shes off milk", at=at)
    (fact,) = ann.facts()
    assert fact.timestamp == at


def test_turns_that_others_built_on_stay_as_they_are(open_memory: OpenMemory) -> None:
    """What was written since, or said by a later turn, is not undone."""
    _, ann = talk(open_memory)
    ann.observe("My address is 1 Main St.")

    def script(ask: Any) -> dict[str, Any]:
        ann.write("address", "4 High St")
        return {"statements": []}

    ann.rereader._completion.then(script)
    made = ann.observe("My address is 9 Elm Rd.")
    assert ann.current("address") == "4 High St"
    dropped = "what the turn brought has changed since; the offline reading stands"
    assert reasons(made) == [("dropped", dropped)]
    assert opinion(made).verdicts == ()


def test_a_known_turn_is_told_with_what_it_brings_now(open_memory: OpenMemory) -> None:
    """The same turn with the same ref tells the facts of the second reading."""
    _, ann = talk(open_memory, reading(said("off milk", says="Nell is off milk")))
    ann.observe("nell, shes off milk", ref="t1")
    again = ann.observe("nell, shes off milk", ref="t1")
    assert [fact.value for fact in again.facts] == ["Nell is off milk"]


def test_an_assistant_ends_nothing_that_a_person_said(open_memory: OpenMemory) -> None:
    """Whatever the model makes of its words."""
    _, ann = talk(open_memory, reading(said("desks"), said("chairs", does("desks", "replaces"))))
    ann.observe_many(
        [{"text": DESKS}, {"text": "I have booked 20 chairs instead.", "speaker": "assistant"}]
    )
    assert DESKS in values(ann)


def test_a_tool_is_read_by_itself(open_memory: OpenMemory) -> None:
    """What a tool found is worth a request; what an assistant says alone is not."""
    model, ann = talk(open_memory)
    ann.observe("Let me think about that.", speaker="assistant")
    assert model.asked == []
    ann.observe("Order 4711: shipped on 2026-01-04", speaker="tool")
    assert len(model.asked) == 1


def test_quoted_words_act_on_nothing(open_memory: OpenMemory) -> None:
    """A mail that is pasted ends no fact, whatever the model thinks."""
    mail = "Tom wrote:\n> The desks are cancelled.\n> Best, Tom"
    _, ann = talk(
        open_memory, reading(said("desks")), reading(said("cancelled", does(DESKS, "ends")))
    )
    ann.observe(DESKS)
    made = ann.observe(mail)
    assert DESKS in values(ann)
    assert ("dropped", "what is quoted acts on nothing") in reasons(made)


@pytest.mark.parametrize(
    ("text", "old", "new", "is_changed"),
    [
        ("borrowing one off the scouts tbh forecast says biblical rain", "gaz", "scouts", True),
        ("forecast says biblical, gaz says the scouts have one", "gaz", "scouts", False),
    ],
)
def test_words_beside_what_others_say_are_ones_own(
    open_memory: OpenMemory, text: str, old: str, new: str, is_changed: bool
) -> None:
    """A sentence that also tells somebody else's word changes what its own words change; what is
    only told changes nothing."""
    tent = "tents are coming from gaz, the six man"
    change = reading(said(text, does(tent, "part", old=old, new=new)))
    _, ann = talk(open_memory, reading(said(tent)), change)
    ann.observe(tent)
    ann.observe(text)
    assert ("tents are coming from [scouts], the six man" in values(ann)) is is_changed
    assert (tent in values(ann)) is not is_changed


def test_what_is_said_beside_a_what_if_changes_what_it_changes(open_memory: OpenMemory) -> None:
    """A sentence that supposes something at its end has said something before it."""
    maybe = "The loo might get flamingo wallpaper."
    done = "the flamingos went up on all four walls this morning, in case the landlord asks"
    _, ann = talk(open_memory, reading(said(maybe)), reading(said(done, does(maybe, "replaces"))))
    ann.observe(maybe)
    ann.observe(done)
    assert values(ann) == [done]


def test_what_if_stays_apart(open_memory: OpenMemory) -> None:
    """A model that says nothing of a what-if leaves it where it was."""
    _, ann = talk(open_memory, reading(said("We need")))
    made = ann.observe(f"{DESKS} What if we took 50 desks from Kestrel?")
    assert values(ann) == [DESKS]
    assert not any(one.outcome == "dropped" for one in opinion(made).proposals)


def test_names_hold_for_one_request(open_memory: OpenMemory) -> None:
    """A name of the request before stands for nothing now."""
    model, ann = talk(open_memory)
    ann.observe(DESKS)
    ann.observe(PIANO)
    assert shown(model.asked[1], DESKS) == "k1"
    assert shown(model.asked[1], PIANO) == "s1"


def test_each_organization_has_its_own_model(open_memory: OpenMemory) -> None:
    """One that is named has that, and the others have the one for all."""
    own, other = Scripted(), Scripted()
    chosen: Any = {"acme": settings(own).llm, EVERYBODY: settings(other).llm}
    memory = open_memory(settings=replace(settings(own), llm=chosen))
    for organization in ("acme", "globex", "initech"):
        memory.session(user_id="ann", organization=organization).observe("Shelf 1 is full.")
    assert (len(own.asked), len(other.asked)) == (1, 2)


def test_without_a_model_for_all_others_have_none(open_memory: OpenMemory) -> None:
    """They are read offline, as ever."""
    own = Scripted()
    chosen: Any = {"acme": settings(own).llm}
    memory = open_memory(settings=replace(settings(own), llm=chosen))
    made = memory.session(user_id="ann", organization="globex").observe("Shelf 1 is full.")
    assert (made.opinion, own.asked) == (None, [])


def test_who_may_not_erase_is_read_too(open_memory: OpenMemory) -> None:
    """What is read does not depend on what may be erased; a wish to forget is still not sent."""
    model, ann = talk(open_memory)
    ann.may_erase = False
    assert opinion(ann.observe(PIANO)).status == "given"
    assert ann.observe("Please forget the piano lesson.").opinion is None
    assert len(model.asked) == 1
