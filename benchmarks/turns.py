"""Conversations to observe: some two hundred turns of several kinds, with blanks in them.

Every time they are played the blanks are filled anew, so that no text comes twice and nothing that
Incumbent remembers of an earlier text makes a turn look cheaper than it is.
"""

from __future__ import annotations

import random
import re
from typing import NamedTuple


class Turn(NamedTuple):
    """One turn of a conversation."""

    speaker: str
    text: str

    @property
    def is_context(self) -> bool:
        return self.speaker == "assistant"


Conversation = list[Turn]


def conversations() -> int:
    """How many there are."""
    return len(_WRITTEN)


def conversation(number: int, seed: int) -> Conversation:
    """One of them, filled in."""
    choose = random.Random(seed * 1_000 + number)
    drawn: dict[str, str] = {}

    def fill(blank: re.Match[str]) -> str:
        # The same blank is filled alike throughout a conversation, others as a rule differently.
        name = blank[1]
        if name not in drawn:
            drawn[name] = _draw(name.rstrip("0123456789"), choose, set(drawn.values()))
        return drawn[name]

    return [
        Turn(speaker, _BLANK.sub(fill, text).replace("\\n", "\n"))
        for speaker, text in _WRITTEN[number % len(_WRITTEN)]
    ]


_BLANK = re.compile(r"\{(\w+)\}")


def _words(text: str) -> list[str]:
    return text.split()


_PLACES = _words(
    "Lisbon Bergen Krakow Valencia Dundee Tallinn Graz Leipzig Turin Malmo Ghent Cork Split Bilbao "
    "Aarhus Utrecht Basel Oviedo Reykjavik Salzburg Toulouse Bristol Gdansk Verona"
)
_FIRST = _words(
    "Amelie Boris Chidi Daria Emeka Farah Gideon Helga Imran Jolene Katya Lorenzo Marisol Nils "
    "Oriana Pascal Quentin Rania Stellan Tamsin Ulrike Vikram Wanda Xenia Yusuf Zelda"
)
_LAST = _words(
    "Abbott Berger Cavalli Drummond Eriksen Falk Grimaldi Holloway Ibarra Jurgens Kaplan Lefevre "
    "Maddox Nakata Ortega Prentice Quigley Rask Sandoval Thorne Urban Vance Whitlock Yates"
)
_STREETS = _words("Maple Station Harbour Mill Orchard Chapel Castle Bridge Garden Church Market")
_DAYS = _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
_MONTHS = _words("January March April May June July August September October November")
_COLOURS = _words("blue green grey white red black yellow silver")
_FOODS = _words("Thai Italian Mexican Indian Greek Lebanese Korean Spanish vegan Turkish")
_THINGS = _words("desks chairs monitors laptops lamps shelves keyboards headsets whiteboards")


def _draw(kind: str, choose: random.Random, taken: set[str]) -> str:
    for _ in range(20):
        drawn = _drawn(kind, choose)
        if drawn not in taken:
            break
    return drawn


def _drawn(kind: str, choose: random.Random) -> str:
    pools = {
        "place": _PLACES,
        "person": _FIRST,
        "day": _DAYS,
        "colour": _COLOURS,
        "food": _FOODS,
        "things": _THINGS,
    }
    if kind in pools:
        return choose.choice(pools[kind])
    number = choose.randrange
    made = {
        "name": lambda: f"{choose.choice(_FIRST)} {choose.choice(_LAST)}",
        "street": lambda: f"{number(2, 240)} {choose.choice(_STREETS)} Street",
        "company": lambda: f"{choose.choice(_LAST)} Ltd",
        "date": lambda: f"{number(1, 28)} {choose.choice(_MONTHS)}",
        "time": lambda: f"{number(1, 12)}{choose.choice((':15', ':30', ':45', ''))}pm",
        "few": lambda: str(number(2, 10)),
        "count": lambda: str(number(12, 90)),
        "many": lambda: str(number(110, 900)),
        "money": lambda: f"${number(12, 480) * 25:,}",
        "percent": lambda: f"{number(3, 40)}%",
        "phone": lambda: f"555-{number(10_000):04}",
        "code": lambda: f"{choose.choice('ABCDEFGH')}{number(1_000, 9_999)}",
    }
    return made[kind]()


_TEXT = """
user: Hi there, I need a table for {few1} in {place1} on {day1}.
assistant: Of course. What kind of food would you like, and at what time?
user: {food1}, around {time1}.
assistant: There is a {food1} place by the river in {place1} with a table at {time1}. Shall I book?
user: How expensive is it?
assistant: It is in the middle range, about {money1} for a party of {few1}.
user: Sounds good. Make it {few2} people though, {person1} is joining us.
assistant: Sure, {few2} people at {time1} on {day1}. Anything else?
user: Is there parking nearby?
assistant: Yes, there is a car park behind the building.
user: Actually, {time2} would suit us better.
assistant: Changed to {time2}. Shall I confirm the booking?
user: Yes, please.
assistant: Booked. Your reference is {code1}.
user: Perfect, thanks a lot!

user: My name is {name1} and I live at {street1}, {place1}.
user: My phone number is {phone1}.
assistant: Thank you. Which e-mail address may we use?
user: {person1}@example.org
assistant: And how would you like to be contacted?
user: By phone, but never before {time1}.
user: I work for {company1} as a site manager.
user: My manager is {name2}.
user: My sister lives in {place2}, and her birthday is on {date1}.
assistant: Noted. Is there anything about your diet that we should know?
user: I'm allergic to peanuts, and I don't eat pork.
user: We moved last month. My address is {street2}, {place3} now.
assistant: I have updated your address to {street2}.
user: My new number is {phone2}.
user: Which address do you have on file for me?
assistant: {street2}, {place3}.
user: Right.

user: We need {count1} {things1} for the office in {place1} by {date1}.
assistant: Understood: {count1} {things1}. Do you have a budget in mind?
user: The budget is {money1}, and it cannot exceed {money2} under any circumstances.
user: {company1} quoted {money3} with delivery in {few1} weeks.
user: {company2} is cheaper but they only deliver on {day1}s.
assistant: Which of the two should I go with?
user: Let's go with {company1}.
user: Sorry, I meant {count2} {things1}, not {count1}.
assistant: Corrected to {count2}.
user: And {count3} {things2} as well.
user: What would the total be if we took the cheaper ones?
assistant: About {money4}.
user: Hmm, no. Keep the order as it is.
user: The purchase order number is {code1}.
user: {person1} from accounting has to sign off before we pay.
user: The invoice goes to {street1}, attention {name1}.
assistant: Is {date1} still the deadline?
user: No, we got an extension until {date2}.

user: I want to fly from {place1} to {place2} on {date1}.
assistant: Would you like a return flight?
user: Yes, coming back on {date2}.
assistant: I found a flight at {time1} for {money1} and one at {time2} for {money2}.
user: The second one.
assistant: Window or aisle?
user: Aisle. And one checked bag.
user: Wait, I have to be in {place2} a day earlier.
user: Can we leave from {place3} instead?
assistant: There is one from {place3} at {time3} for {money3}.
user: OK, take that.
user: I'd also like a hotel near the station for {few1} nights, not more than {money4} in total.
assistant: The Grand in {place2} has a room for {money4}. Does that work?
user: What about breakfast, is it included?
assistant: Breakfast is included.
user: Great, book it under {name1}.
user: Make it {few2} nights.
assistant: Extended to {few2} nights.
user: Thank you so much, that's all.

user: The project is called {code1} and it started on {date1}.
user: {name1} is the project lead, {name2} is responsible for testing.
user: We release every second {day1} at {time1}.
user: The staging server is in {place1}; the production servers are in {place2} and {place3}.
assistant: Who approves a release?
user: {person1} does, and when {person1} is away it's {person2}.
user: If the lead changes, the weekly report goes to {person2}.
user: The deadline for the first milestone is {date2}.
user: I think we might move to {place3} entirely next year, but nothing is decided.
user: {person3} said the deadline was {date3}.
assistant: So the deadline is {date2}?
user: Yes, {date2}.
user: Per the CEO, no new hires before {date5}.
user: Our test coverage is at {percent1}.
user: The lead is {name3} from today on.
user: The deadline has been moved to {date4}.
user: What if we dropped the mobile app?
assistant: Then you could ship about {few1} weeks earlier.
user: I wish we could. Forget it.
user: Scratch the {place3} server, we only have {place2}.

user: good morning
assistant: Good morning! How can I help you today?
user: not sure yet, let me think
user: ok so I'm planning a birthday party for my daughter {person1}
assistant: How lovely! When is it?
user: {date1}
assistant: And how many guests?
user: {count1}
assistant: Where would you like to have it?
user: at home, or in the park if it's warm
user: she likes {colour1} and anything with horses
assistant: A {colour1} horse cake, then?
user: haha yes
user: no wait, she's into dinosaurs now
user: {count2} guests, her whole class is coming
assistant: Then the garden may be better. What is your budget?
user: {money1}, maybe a bit more
user: the cake has to be without nuts because of {person2}
user: can you remind me to call the bakery on {day1}?
assistant: I will remind you on {day1}.
user: thx

user: The meeting is on {day1} at {time1} in room {many1}.
user: {name1}, {name2} and {name3} will attend.
user: Let's talk about the {percent1} discount for {company1} and the contract with {company2}.
assistant: Should I send an agenda?
user: Yes, and attach the report of {date1}.
user: {name2} can't come on {day1}. Move it to {day2}.
assistant: Moved to {day2}, {time1}.
user: Room {many1} is taken, so we'll be in {many2}.
user: I propose we start at {time2}.
user: Agreed, let's do that.
assistant: Updated: {day2}, {time2}, room {many2}.
user: Who is attending?
assistant: {name1}, {name2} and {name3}.
user: {name3} isn't, she is on leave until {date2}.
user: The discount for {company1} is {percent2} as of {date3}.
user: Go back to {percent1}, legal has not approved the change.
user: Thanks, see you on {day2}.

user: My order {code1} has not arrived yet. It was promised for {date1}.
assistant: I am sorry to hear that. Which address should it have gone to?
user: {street1} in {place1}.
assistant: It was sent to {street2}.
user: That's my old address. Please send it to {street1}.
assistant: Done. May I have a number where the courier can reach you?
user: {phone1}
user: I ordered the {colour1} one but I'd rather have {colour2}.
assistant: The {colour2} one costs {money1} more. Is that all right?
user: In that case keep the {colour1} one.
user: I paid {money2} by card.
user: When will it be here?
assistant: On {day1} at the latest.
user: I'm out on {day1}. {day2} after {time1} please.
assistant: {day2} after {time1}, noted.
user: You can leave it with my neighbour {name1}, number {few1}.
user: Is there a discount for the trouble?
assistant: We can offer you {percent1} on your next order.
user: Fine.

user: Here is what I got when I ran the job last night:\\n```\\n2026-02-03 02:14:07 INFO \
started job {code1}\\n2026-02-03 02:14:09 ERROR disk full on node-{few1}, \
{many1} MB needed\\n```\\nCan you tell why?
assistant: The disk of node-{few1} was full. Free {many1} MB and run it again.
user: OK. The job runs every night at {time1} on node-{few1}.
user: We keep backups for {count1} days.
user: The on-call engineer this week is {name1}, next week it's {name2}.
assistant: Should alerts go to both of them?
user: Only to {name1}.
user: The password policy requires at least {few2} characters and two factors.
user: We must not store customer data outside of {place1}.
user: Node-{few1} has {many2} GB of disk and {count2} GB of memory.
user: We upgraded it to {many3} GB.
assistant: Is the nightly job still at {time1}?
user: No, at {time2} since the upgrade.
user: Therefore the report is ready by {time3}.
user: Why is it so slow?
assistant: Most of the time goes into copying files.

user: On {date1} {name1} wrote:\\n> The contract ends on {date2}.\\n> We would like to renew it.\
\\n\\nI told them we will renew for {few1} years at {money1} a month, provided that support is \
included. Our contact at {company1} is {name2}, and their office is at {street1}, {place1}.
assistant: Shall I draft a reply?
user: Yes, keep it short, and mention that the old price of {money2} was too high.
user: The contract with {company1} runs until {date3}.
user: For the legal brief, use {count1}pt; everything else stays at 11pt.
user: {name2} has left {company1}. Our new contact is {name3}.
assistant: Noted. Should the meeting with {name2} on {day1} be cancelled?
user: Yes, cancel it.
user: The notice period is {count2} days.
user: Correction: {count3} days.
user: We pay by bank transfer, and the invoice has to arrive before the {few2}th of the month.
user: What did we agree on for support?
assistant: That it is included.
user: ok

user: I'm looking for a flat in {place1} with {few1} rooms, up to {money1} a month.
assistant: From when?
user: {date1}, or a little later if that helps. It should be quiet, not on the ground floor, and \
close to a school because our son {person1} starts there after the summer. A balcony would be nice \
but it's not essential, and we have a cat called {person2}.
assistant: Would you consider {place2} as well?
user: no
assistant: There are two: one in {street1} for {money2}, and one in {street2} for {money3}.
user: the first one looks great, can we see it on {day1}?
assistant: {day1} at {time1} is free.
user: {time2}?
assistant: {time2} works too.
user: cool
user: actually {few2} rooms would be enough
user: and our limit is {money4} now, {person3} got a raise
assistant: Then there is one more, in {street3}.
user: forget the one in {street2}, too far out
user: do they allow pets?
assistant: Pets are allowed in {street1}.
user: my wife's name is {person3}, please put her on the list too
user: brilliant, talk to you on {day1} then

user: I run {few1} km every {day1} and swim on {day2}s.
user: My goal is a marathon in {place1} on {date1}.
assistant: That is ambitious! What is your best time so far?
user: {few2} hours and {count1} minutes.
user: My coach is {name1}. She wants me to rest on {day3}s.
user: I weigh {count2} kg and sleep about {few3} hours.
user: I've stopped swimming, my shoulder hurts.
assistant: I am sorry to hear that. Since when?
user: Since {date2}.
user: The doctor's appointment is on {date3} at {time1}.
user: They moved it to {time2}.
user: I used to drink a lot of coffee.
user: If my shoulder gets better I might start again in spring.
user: It's {few4} km now, not {few1}.
user: Could you make a plan for next week?
assistant: Here is a plan: {few4} km on {day1}, rest on {day3}, and a long run on the weekend.
user: Love it!
"""


def _written() -> list[list[tuple[str, str]]]:
    found = []
    for block in _TEXT.strip().split("\n\n"):
        lines = (line.split(": ", 1) for line in block.split("\n"))
        found.append([(speaker, text) for speaker, text in lines])
    return found


_WRITTEN = _written()
