"""What kind of statement each sentence of a turn is, and where a sentence holds two."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.language.statements import Kind, Statement, is_counterfactual, kind_of, statements

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
        This is just a brainstorm, nothing more: a tentative name is Juno.
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
