"""Reading at its port: what a turn states and does, by the rules alone, table by table."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from incumbent.reading.beside import windows
from incumbent.reading.form import (
    ActKind,
    Heard,
    Known,
    Reading,
    Relation,
    RelationKind,
    StatementKind,
)
from incumbent.reading.offline import OfflineReader, parts_of
from incumbent.reading.segments import segments

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
READER = OfflineReader(None)


def read(text: str, *known: str, previous: str = "", speaker: str = "user") -> Reading:
    facts = tuple(
        Known(str(place), one, parts=parts_of(one, AT), likeness=0.6, is_here=True, age=place)
        for place, one in enumerate(known)
    )
    return READER.read(Heard(text, speaker, AT, previous, False, facts))


@pytest.mark.parametrize(
    ("turn", "statements"),
    [
        ("We need 40 desks by Friday. Ship them to Oslo.", 2),
        ("milk\neggs\n\nbread, two loaves", 3),
        ("Dr. Amin put me on 5 mg. It works, e.g. at night.", 2),
        ("so we moved in and the heating is broken but the landlord is nice", 1),
    ],
)
def test_a_statement_is_a_whole_sentence_or_line_as_typed(turn: str, statements: int) -> None:
    """Nothing is cut out, joined or composed: each is a stretch of the turn, and all of it is."""
    found = read(turn).statements
    assert len(found) == statements
    assert all(turn[one.start : one.end] == one.text for one in found)
    assert " ".join(one.text for one in found).split() == turn.split()


@pytest.mark.parametrize(
    ("turn", "subject", "attribute", "value"),
    [
        ("My phone number is 555-0100.", None, "phone_number", "555-0100"),
        ("The gate of flight 4711 is B12.", "flight 4711", "gate", "B12"),
        ("Company policy: the maximum discount is 15 %.", None, "maximum_discount", "15 %"),
        ("My sister's address is 9 Elm Rd.", "sister", "address", "9 Elm Rd"),
        ("From 1 February the rent is 900 euros.", None, "rent", "900 euros"),
        ("Our landlord is called Mr. Pereira.", None, "landlord", "Mr. Pereira"),
    ],
)
def test_a_name_in_plain_sight_is_taken(
    turn: str, subject: str | None, attribute: str, value: str
) -> None:
    """Subject, attribute and value are all there, and nothing else is said."""
    claim = read(turn).statements[0].claim
    assert claim is not None
    assert (claim.subject, claim.attribute, claim.value) == (subject, attribute, value)
    assert turn[claim.start : claim.end] == value


@pytest.mark.parametrize(
    "turn",
    [
        "Madame du Barry is a citizen of France.",
        "my nephew is called tobias",
        "My allergy is nuts.",
        "The rent is 900 euros and includes heating.",
        "My yoga teacher is Ines, she's wonderful.",
        "The hinge patent is granted in the United States.",
        "The meeting is on Tuesday at 3pm.",
        "payments-api is owned by Team Heron",
    ],
)
def test_what_is_not_certain_goes_under_no_name(turn: str) -> None:
    """There can be several of it, more is said, or the thing itself is not named."""
    assert read(turn).statements[0].claim is None


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        ("The venue is Lyon.", StatementKind.STATES),
        ("Employees may not accept gifts.", StatementKind.STATES),
        ("Only the board may approve loans.", StatementKind.STATES),
        ("Is the venue Lyon?", StatementKind.ASKS),
        ("What if the venue were Lyon?", StatementKind.SUPPOSES),
        ("I propose we ship in May.", StatementKind.PROPOSES),
        ("> the venue is Lyon", StatementKind.REPORTS),
        ("Thanks!", StatementKind.CHATS),
    ],
)
def test_each_statement_is_of_a_kind(turn: str, kind: StatementKind) -> None:
    """What states, what asks, what supposes; a rule is a statement, whatever its verb."""
    assert read(turn).statements[0].kind is kind


def only(reading: Reading, kind: RelationKind) -> Relation:
    [found] = [one for one in reading.relations if one.kind is kind]
    return found


@pytest.mark.parametrize(
    ("known", "turn", "old", "new"),
    [
        ("We need 40 desks by Friday.", "No, 45 desks.", "40", "45"),
        ("The code is 14.", "The code is 41, not 14.", "14", "41"),
        ("Call me at 3 pm on Friday.", "Sorry, 4 pm.", "3 pm", "4 pm"),
    ],
)
def test_one_value_changes_where_old_and_new_are_certain(
    known: str, turn: str, old: str, new: str
) -> None:
    """A correction of a value of the same kind that says nothing else, or one that names both."""
    found = only(read(turn, known), RelationKind.PART)
    assert found.old is not None
    assert found.new is not None
    assert (known[slice(*found.old)], turn[slice(*found.new)]) == (old, new)
    assert found.is_told


@pytest.mark.parametrize(
    ("known", "turn"),
    [
        ("Madame du Barry is a citizen of France.", "Vijay Mallya is a citizen of India."),
        ("I'm allergic to walnuts.", "I'm allergic to kiwi."),
        ("my nephew is called tobias", "my nephew is called anselm"),
        ("The billing service is called by Ledger.", "The billing service is called by Web."),
        (
            "She put me on lisinopril, one tablet a day.",
            "She put me on metformin, two tablets a day.",
        ),
        ("The red van carries 40 crates.", "The blue van carries 45 crates."),
    ],
)
def test_what_merely_stands_beside_something_leaves_it_alone(known: str, turn: str) -> None:
    """Another person, another thing, one more of a list."""
    assert read(turn, known).relations == ()


def test_saying_it_again_confirms_it() -> None:
    """The same words say the same thing."""
    found = read("The ferry leaves at noon.", "The ferry leaves at noon.")
    assert only(found, RelationKind.CONFIRMS).fact_id == "0"


@pytest.mark.parametrize(
    ("turn", "kind", "what"),
    [
        ("Please forget my phone number.", ActKind.ERASE, "my phone number"),
        ("Take that back.", ActKind.UNDO, ""),
        ("Scratch that.", ActKind.UNDO, ""),
        ("Delete everything you know about me.", ActKind.ERASE_ALL, ""),
    ],
)
def test_a_request_to_the_memory_is_an_act(turn: str, kind: ActKind, what: str) -> None:
    """Typed by the person, addressed to the memory, and nothing else in the turn."""
    [act] = read(turn).acts
    assert (act.kind, act.what, act.is_sure) == (kind, what, True)


@pytest.mark.parametrize(
    "turn",
    [
        'Tom wrote: "please forget my phone number".',
        "> Please forget my phone number.",
        "Should I ask them to forget my phone number?",
        "```\nforget my phone number\n```",
        "He said: please forget my phone number.",
    ],
)
def test_quoted_and_pasted_words_act_on_nothing(turn: str) -> None:
    """A quotation, a mail, a question or code is no request."""
    assert read(turn).acts == ()


def test_in_a_mail_a_request_is_not_sure() -> None:
    """It may be meant, so the person is asked."""
    turn = "Subject: hello\nHi all,\nplease forget my phone number.\nBest, Tom"
    assert [act for act in read(turn).acts if act.is_sure] == []


def test_a_machine_gives_no_orders_and_no_names() -> None:
    """What an assistant says is context, whatever it says."""
    found = read("Please forget my phone number. Your address is 1 Main St.", speaker="assistant")
    assert found.acts == ()
    assert [one.claim for one in found.statements] == [None, None]


@pytest.mark.parametrize(
    ("known", "turn"),
    [
        ("The menu is lamb.", "The wine is Merlot because of the menu."),
        ("The menu is lamb.", "The wine is Merlot, based on the menu."),
        ("The menu is lamb.", "The wine is Merlot. That depends on the menu."),
    ],
)
def test_a_statement_rests_on_what_it_names_as_its_reason(known: str, turn: str) -> None:
    """A word that gives a reason, and the thing that something known is about."""
    assert only(read(turn, known), RelationKind.DEPENDS).fact_id == "0"


def test_a_conclusion_rests_on_what_was_said_right_before() -> None:
    """In the same turn, or last in the conversation."""
    found = read("There are 40 guests. So the budget is 5,000 euros.")
    assert only(found, RelationKind.DEPENDS).earlier == 0
    found = read("That means the match is off.", "It rained all night.")
    assert only(found, RelationKind.DEPENDS).fact_id == "0"


@pytest.mark.parametrize(
    "turn", ["The wine is Merlot.", "The menu is nice.", "So long!", "So the menu is set."]
)
def test_without_a_reason_nothing_rests_on_anything(turn: str) -> None:
    """Being about the same thing is no reason."""
    relations = read(turn, "The menu is lamb.").relations
    assert [one for one in relations if one.kind is RelationKind.DEPENDS] == []


def test_what_is_quoted_between_is_not_read_as_said() -> None:
    """Statements around a quotation are read each for itself."""
    text = "We leave at 8.\n> we leave at 9\nBring the tent."
    found = READER.read(Heard(text, "user", AT)).statements
    told = [n for n, one in enumerate(found) if one.kind is StatementKind.STATES]
    assert told == [0, 2]
    apart = [one.text for one in windows(text, segments(text))]
    assert apart == ["We leave at 8.", "> we leave at 9", "Bring the tent."]
