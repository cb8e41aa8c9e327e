"""What kind of statement each sentence of a turn is, and where a sentence holds two."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.language.lexicon import data
from incumbent.language.phrasebook import Phrase, class_table
from incumbent.language.statements import Kind, Statement, is_counterfactual, kind_of, statements
from tests.selection import sampled

SENTENCES = {
    Kind.ASSERTION: """
        My address is 12 Harbour Road, Bergen.
        The launch is on 4 March.
        Our budget for the offsite is 8k.
        I moved to Lisbon last month.
        She works at the bakery on Elm Street.
        we have two cats and a dog
        the server runs on port 8443
        I'm allergic to peanuts.
        My name is Priya and I'm the new accountant.
        The board decided to close the Turin office.
        Actually it was Tuesday, not Wednesday.
        I would recommend the smaller van.
        I would say the repair costs about 300 euros.
        It should be delivered to the back door.
        Invoices must be paid within 30 days.
        I think the password is stored in the vault.
        I believe we signed in June.
        I'm sure the keys are in the drawer.
        I told you that the meeting was moved.
        I said the red one.
        Per the CFO, travel is frozen until May.
        According to policy, refunds take ten days.
        The CEO says we ship on Friday.
        The handbook requires two signatures.
        Legal approved the new terms.
        Note that the office closes at noon.
        Remember that my flight lands at six.
        They don't know that I sold the car.
        He didn't realise the shop had moved.
        Did you know that I changed jobs?
        Did you notice that the price went up?
        I'm glad that you found the wallet.
        I'm sorry that the parcel was late.
        She regrets that she left the band.
        I can't believe we won.
        I could see that the roof was leaking.
        It's a pity that the museum is closed.
        If she finds out that I sold it, she will be furious.
        No.
        No, thanks.
        Not really.
        That's not right.
        I don't think so.
        three adults and one child
        7:45 pm
        Vegetarian.
        The meeting in May is cancelled.
        I could not open the file.
        The rent went from 900 to 950.
        Bob confirmed that the hall is free.
    """,
    Kind.REQUEST: """
        Book a table for six at eight.
        Please send the contract to Maria.
        Can you move the call to 3pm?
        Could you find me a cheaper flight?
        Would you mind changing the font to 12 points?
        I want a window seat.
        I need a plumber before Friday.
        I'd like a quiet room on a high floor.
        I would like to change my order.
        We are looking for a flat with two bedrooms.
        I'm interested in the evening course.
        How about a Thai place instead?
        What about Thursday?
        Could we make it 9am?
        Is there a later ferry?
        Are there any seats left in the first row?
        Do you have something cheaper?
        Do you have any blue ones?
        Why don't we meet at the station?
        Shall we start at ten?
        Is 4pm okay?
        Would it be possible to pay in two parts?
        I was wondering if you could extend the deadline.
        Any chance of an upgrade?
        Make it five people.
        Don't call me before nine.
        Remind the team to update the wiki.
        Use metric units in the report.
        Something with a garden would be great.
        I'd prefer the morning.
        Get me a taxi to the airport, if possible.
        It would be nice if you could add a chart.
        I wish to speak with a manager.
        Give me another option.
        Let me have two tickets.
        Looking for a used bike under 200 euros.
        If there is no train, can you find a bus?
        please add oat milk to the list
        Remind me on Thursday to water the ferns.
        Use the title "What if we had stayed" for the deck.
    """,
    Kind.COMMITMENT: """
        I'll send the draft by Friday.
        We will pay the deposit tomorrow.
        I'm going to take the night train.
        Let's go with the blue logo.
        Let's meet at noon.
        We decided on Lisbon.
        We've agreed to split the costs.
        I promise to call her tonight.
        We're going with the second supplier.
        I have chosen the larger plan.
        We have settled on four days a week.
        I won't renew the lease.
    """,
    Kind.QUESTION: """
        What is my address?
        When does the shop open?
        Does it have a balcony?
        Is the meeting on Monday?
        Who is the new director?
        How much did we pay last year?
        Where did I park the car?
        Will she be there?
        what time is my flight
        Can you tell me the phone number?
        Do you know where the keys are?
        I'd like to know what the fee is.
        I wonder who took it.
        Let me know the total.
        Could I have their address?
        What about the price?
        Do you believe he left?
        Do you think it will rain?
        Is it far from the station?
        Which platform does it leave from?
        Remind me what the code is.
        You mean the one in Porto?
        It starts at six, doesn't it?
        The deadline is Friday, right?
        Did the parcel arrive?
        Has Tom paid?
        Why was the order cancelled?
        会议是星期一吗？
    """,
    Kind.HYPOTHETICAL: """
        What if we moved the office to Ghent?
        Suppose the bank says no.
        Imagine we had a million users.
        Let's assume the tax goes up.
        Hypothetically, the rent is 2k.
        If we win the tender, the budget is 90k.
        If it rains, we stay at home.
        If I were you, I would sell.
        If we had a garden, we would grow tomatoes.
        If I had asked earlier, they would have said yes.
        Had I asked earlier, they would have said yes.
        I wish my room were bigger.
        I wish I had bought the extended warranty.
        If only the flight were direct.
        We should have taken the other road.
        It could have been worse.
        She would have loved this place.
        Unless they call, the visit is off.
        We might move to Oslo.
        I may be late tonight.
        Maybe the shop is closed.
        Perhaps we will stay longer.
        It could be a loose cable.
        It's possible that he forgot.
        I don't think it works that way.
        I don't believe the price is final.
        Nobody thought that the bridge was safe.
        I'm not sure the number is right.
        I doubt that they sell stamps.
        I don't know if she is coming.
        If I know that you are coming, I will bake a cake.
        Were we to cancel, the fee would be 50 euros.
        Provided that the weather holds, we sail on Sunday.
        In theory, the battery lasts ten hours.
        Possibly in June.
    """,
    Kind.DRAFT: """
        Draft: the fee is 40 euros per seat.
        Proposal: four sprints of two weeks.
        I propose a budget of 12k.
        I suggest we meet on Tuesdays.
        Tentatively, the party is on the 9th.
        We are thinking of hiring two people.
        I'm considering a move to Madrid.
        One option would be to rent a van.
        We're leaning towards the cheaper vendor.
        Our proposal is a discount of ten percent.
        The tentative name is Juno.
    """,
    Kind.RETRACTION: """
        Forget that.
        Never mind.
        Scratch that.
        Cancel the booking.
        Please cancel my subscription.
        Ignore what I said about the colour.
        Disregard my last message.
        I no longer work at the bank.
        We don't need the projector anymore.
        I take that back.
        Forget about the hotel.
        Please delete that from your memory.
        I changed my mind.
        Can you cancel the taxi?
    """,
    Kind.CONFIRMATION: """
        Yes.
        Yes, please.
        That's right.
        Correct!
        Sounds good.
        That works for me.
        Let's go with that.
        Perfect, book it.
        Okay, go ahead.
        Sure, why not
        Exactly.
        I agree.
        That's the one.
        yep, that is fine
        You're right.
        I'll take it.
        Great!
    """,
    Kind.REPORT: """
        He said the budget is 5k.
        She thinks the office is too small.
        They claim the part is in stock.
        According to rumours, the CTO is leaving.
        My neighbour told me that the road is closed.
        Apparently the store has moved.
        I heard that the fee went up.
        Someone mentioned that the lift is broken.
        People say the food is better upstairs.
        Anna wrote that she is moving to Turin.
        You said it was free.
        Rumour has it that they were sold.
        I got a mail: "Our account has changed, please pay there."
        "I am moving to Turin."
        "I am moving to Turin," she said.
    """,
    Kind.SMALL_TALK: """
        Hi!
        Hello there
        Good morning.
        Thanks a lot!
        Thank you for your help.
        haha
        How are you?
        Have a nice day!
        You're welcome.
        Bye!
        That's all for now.
        No problem.
        Nice to meet you.
        😀🎉
        ...
    """,
}
TABLE = [
    pytest.param(kind, line.strip(), id=line.strip())
    for kind, lines in SENTENCES.items()
    for line in lines.strip().splitlines()
]


@pytest.mark.parametrize(("kind", "sentence"), TABLE)
def test_a_sentence_is_of_its_kind(kind: Kind, sentence: str) -> None:
    """Grammar shows what a sentence is for."""
    told, cues = kind_of(sentence)
    assert told is kind, cues


# Turns that do more than one thing: each part with its kind.
TURNS: dict[str, list[tuple[Kind, str]]] = {
    "We moved to Ghent, but what if we had stayed?": [
        (Kind.ASSERTION, "We moved to Ghent"),
        (Kind.HYPOTHETICAL, "but what if we had stayed?"),
    ],
    "Thanks, the budget is 5k.": [
        (Kind.SMALL_TALK, "Thanks"),
        (Kind.ASSERTION, "the budget is 5k."),
    ],
    "Scratch that, make it five.": [
        (Kind.RETRACTION, "Scratch that"),
        (Kind.REQUEST, "make it five."),
    ],
    "Yes, but for four people please.": [
        (Kind.CONFIRMATION, "Yes"),
        (Kind.REQUEST, "but for four people please."),
    ],
    "Actually no, make that seven.": [
        (Kind.ASSERTION, "Actually no"),
        (Kind.REQUEST, "make that seven."),
    ],
    "No, only three people.": [(Kind.ASSERTION, "No, only three people.")],
    "I was at the bank today, what is my balance?": [
        (Kind.ASSERTION, "I was at the bank today"),
        (Kind.QUESTION, "what is my balance?"),
    ],
    "He said the fee is 20 euros and the hall is free, but I paid 30.": [
        (Kind.REPORT, "He said the fee is 20 euros and the hall is free"),
        (Kind.ASSERTION, "but I paid 30."),
    ],
    "If it rains, we stay here, and the kids play inside.": [
        (Kind.HYPOTHETICAL, "If it rains, we stay here, and the kids play inside."),
    ],
    "The fee is 90, but if we book early it is 70.": [
        (Kind.ASSERTION, "The fee is 90"),
        (Kind.HYPOTHETICAL, "but if we book early it is 70."),
    ],
    "When we land, can you call me a taxi?": [
        (Kind.REQUEST, "When we land, can you call me a taxi?"),
    ],
    "On Friday, could you water the plants?": [
        (Kind.REQUEST, "On Friday, could you water the plants?"),
    ],
    "My mail is no longer ana@old.example, use ana@new.example.": [
        (Kind.RETRACTION, "My mail is no longer ana@old.example"),
        (Kind.REQUEST, "use ana@new.example."),
    ],
    "I love the flat — I wish it had a lift.": [
        (Kind.ASSERTION, "I love the flat"),
        (Kind.HYPOTHETICAL, "I wish it had a lift."),
    ],
    'She said "I am late, please wait" and I waited, but what if I had left?': [
        (Kind.REPORT, 'She said "I am late, please wait"'),
        (Kind.ASSERTION, "and I waited"),
        (Kind.HYPOTHETICAL, "but what if I had left?"),
    ],
    "Hi Bob! I need a plumber . Thanks !": [
        (Kind.SMALL_TALK, "Hi Bob!"),
        (Kind.REQUEST, "I need a plumber ."),
        (Kind.SMALL_TALK, "Thanks !"),
    ],
}


@pytest.mark.parametrize("turn", TURNS)
def test_a_turn_falls_apart_where_its_clauses_differ_in_kind(turn: str) -> None:
    """Clauses of one kind stay together, and what a condition or a speaker reaches stays theirs."""
    assert [(told.kind, told.text) for told in statements(turn)] == TURNS[turn]


@pytest.mark.parametrize(
    ("sentence", "cue"),
    [
        ("I wish it had a balcony.", "wish"),
        ("We should have sold in May.", "counterfactual"),
        ("If we win, we celebrate.", "conditional"),
        ("Suppose they refuse.", "supposition"),
        ("We might move.", "modal"),
        ("I don't think it works.", "attitude"),
        ("They didn't know that I had left.", "factive"),
        ("I think it is red.", "opinion"),
        ("Per the CFO, travel is frozen.", "attributed"),
        ("Could you book it for me on Monday?", "polite request"),
        ("I'd like some tea.", "desire"),
        ("How about Friday?", "suggestion"),
        ("Is there a later bus?", "availability"),
        ("Invoices must be paid.", "obligation"),
        ("no", "rejection"),
        ("Draft: the fee is 40.", "label"),
    ],
)
def test_the_first_cue_names_what_decided(sentence: str, cue: str) -> None:
    """Whoever reads a statement can see why it is of its kind."""
    assert kind_of(sentence)[1][0] == cue


@pytest.mark.parametrize(
    "sentence",
    [
        "I wish the bag were bigger.",
        "It would have fitted a smaller car.",
        "Had they told me, I would have waited.",
        "If it had a handle, it would be perfect.",
        "They could have wrapped it better.",
    ],
)
def test_what_is_not_so_is_counterfactual(sentence: str) -> None:
    """Wishes, regrets and unreal conditions tell of what is not so."""
    assert any(map(is_counterfactual, statements(sentence)))


@pytest.mark.parametrize(
    "sentence",
    [
        "If it rains, we stay at home.",
        "We might move to Ghent.",
        "I would recommend the blue one.",
        "I wish you a good trip.",
        "The bag is big.",
        "Would you like some tea?",
    ],
)
def test_what_may_well_be_so_is_not_counterfactual(sentence: str) -> None:
    """Open conditions, possibilities and good wishes are no denials."""
    assert not any(map(is_counterfactual, statements(sentence)))


def test_a_label_goes_for_its_whole_paragraph() -> None:
    """What is headed as a draft is a draft to the end of the paragraph, and no further."""
    told = statements("Draft: the fee is 40. The date is 3 May.\n\nThe office is in Rome.")
    assert [statement.kind for statement in told] == [Kind.DRAFT, Kind.DRAFT, Kind.ASSERTION]


def test_a_supposition_goes_on_while_its_mood_does() -> None:
    """ "Would" after a supposition tells more of it; a plain sentence ends it."""
    told = statements("Suppose we hire Ana. She would start in June. My desk is on floor 2.")
    assert [statement.kind for statement in told] == [
        *(Kind.HYPOTHETICAL, Kind.HYPOTHETICAL),
        Kind.ASSERTION,
    ]


@pytest.mark.parametrize(
    "tag", ["CFO: ", "[Manager] ", "[Dana Roy (VP Sales)]: ", "Dana Roy (VP Sales): ", "note: "]
)
def test_a_speaker_tag_stays_in_the_text_but_decides_nothing(tag: str) -> None:
    """Who speaks is read elsewhere; what they say is of the same kind without the tag."""
    [told] = statements(f"{tag}we might lose the deal")
    assert (told.kind, told.text) == (Kind.HYPOTHETICAL, f"{tag}we might lose the deal")


def test_code_logs_and_quoted_mail_are_one_statement_each() -> None:
    """What is pasted is kept word for word, and what others wrote is theirs."""
    turn = (
        "The port is 80.\n```\nport = 90\n\nhost = 1\n```\n"
        "2024-05-01 10:00:00 ERROR worker: no\n\n> The port is 70.\n> Really.\n"
    )
    told = statements(turn)
    assert [statement.kind for statement in told] == [
        *(Kind.ASSERTION, Kind.VERBATIM, Kind.VERBATIM),
        Kind.REPORT,
    ]
    assert told[1].text == "```\nport = 90\n\nhost = 1\n```"


@pytest.mark.parametrize("kind", Kind)
def test_only_what_is_said_asked_for_or_promised_is_committed(kind: Kind) -> None:
    """Three kinds bind their speaker."""
    committed = {Kind.ASSERTION, Kind.REQUEST, Kind.COMMITMENT}
    assert Statement("x", 0, 1, kind).is_committed is (kind in committed)


def test_spelling_and_case_do_not_matter() -> None:
    """People write as they like: curly apostrophes, none at all, capitals, words taken apart."""
    for way in ("I don't think so.", "i dont think so", "I DO N'T THINK SO .", "I don’t think so"):
        assert kind_of(way)[1][0] == "rejection", way


def test_inline_tags_are_no_words() -> None:
    """Markup inside a sentence changes nothing about what it is for."""
    assert kind_of("I <b>wish</b> it <i>were</i> red.")[0] is Kind.HYPOTHETICAL


def test_every_phrase_of_the_language_can_be_read() -> None:
    """No phrase of the data file names a class that is missing, or cannot become a pattern."""
    told = data("statements")
    classes = class_table(told["classes"])
    tables = [table.get("phrases", ()) for table in told["cues"]]
    openings = [*told["openings"]["free"].values(), *told["openings"]["set_off"].values()]
    starts = [told["clauses"][name] for name in ("starts", "joined_starts", "inverted")]
    phrases = [written for ways in (*tables, *openings, *starts) for written in ways]
    assert len(phrases) > 200
    for written in phrases:
        Phrase(written, classes).found_in("nothing to see here ")


VOCABULARY = """
    I we you he the a my is was if would could wish not n't that what can please yes no but and so
    , . ? ! ; - — : " ' ( ) > ``` 5pm Oslo budget 你好 。 😀 don't I'd let's scratch thanks said
"""
WORDS = st.sampled_from([*VOCABULARY.split(), "\n"])
TURN = st.one_of(st.text(max_size=200), st.lists(WORDS, max_size=40).map(" ".join))


@given(TURN)
def test_statements_keep_to_their_places(turn: str) -> None:
    """The text of a statement is what stands in the turn; they come in order and apart."""
    told = statements(turn)
    for statement in told:
        assert turn[statement.start : statement.end] == statement.text
        assert statement.text.strip()
    assert all(one.end <= other.start for one, other in pairwise(told))


@given(TURN)
def test_no_word_of_a_turn_is_lost(turn: str) -> None:
    """What was said is in one statement or another, and once."""
    told = statements(turn)
    covered = "".join(statement.text for statement in told)
    for word in ("Oslo", "budget", "5pm"):
        assert covered.count(word) == turn.count(word)


@given(st.text(max_size=100))
def test_any_text_is_of_some_kind(text: str) -> None:
    """A kind is told for whatever is asked about, and always the same one."""
    assert kind_of(text) == kind_of(text)
    assert isinstance(kind_of(text)[0], Kind)


@pytest.mark.parametrize(
    "piece",
    sampled(
        [
            "a",
            "(",
            "if ",
            "n't ",
            "would have been if ",
            "I moved to Oslo. ",
            "<a ",
            "。",
            "\n",
        ]
    ),
)
def test_a_very_long_turn_is_read_to_its_end(piece: str) -> None:
    """A megabyte of anything gives statements that keep to their places."""
    turn = (piece * 1_000_000)[:1_000_000]
    told = statements(turn)
    assert all(turn[one.start : one.end] == one.text for one in told)
    assert not told or not turn[told[-1].end :].strip()
