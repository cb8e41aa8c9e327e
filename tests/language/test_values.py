"""Values in text: what is found, what it means, and what means the same."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from incumbent.language.values.comparing import same
from incumbent.language.values.finding import find
from incumbent.language.values.kinds import Value, ValueKind
from tests.conftest import examples

MANY = settings(max_examples=examples(300, soak=3_000), deadline=None)

AT = datetime(2026, 3, 11, 10, 0, tzinfo=UTC)
"""A Wednesday."""


def told(value: Value) -> str:
    """A value in one line, as the tables below write it."""
    unit = f" [{value.unit}]" if value.unit else ""
    return f"{value.kind} {value.text} = {value.normal}{unit}"


# What is said on Wednesday, 11 March 2026, and the values in it.
DATES = [
    ("Book it for March 2nd.", "date March 2nd = 2026-03-02"),
    ("Book it for 2 March.", "date 2 March = 2026-03-02"),
    ("Book it for the 2nd of March.", "date 2nd of March = 2026-03-02"),
    ("10th of March please", "date 10th of March = 2026-03-10"),
    ("Book it for March the second.", "date March the second = 2026-03-02"),
    ("the twenty-first of May", "date twenty-first of May = 2026-05-21"),
    ("We met on Monday, March 2nd, 2026.", "date Monday, March 2nd, 2026 = 2026-03-02"),
    ("It ends on 31 December 2027", "date 31 December 2027 = 2027-12-31"),
    ("We meet on Dec. 25th", "date Dec. 25th = 2026-12-25"),
    ("due Jan 15", "date Jan 15 = 2026-01-15"),
    ("delivery on 5 Feb 2027 or later", "date 5 Feb 2027 = 2027-02-05"),
    ("November 5th works for us", "date November 5th = 2026-11-05"),
    ("It was on 1 January", "date 1 January = 2027-01-01"),
    ("the 29th of February", "date 29th of February = 2028-02-29"),
    ("We leave March 2-5", "date March 2-5 = 2026-03-02..2026-03-05"),
    ("from 2 to 5 March", "date 2 to 5 March = 2026-03-02..2026-03-05"),
    ("from 1 May to 15 June", "date 1 May to 15 June = 2026-05-01..2026-06-15"),
    (
        "from 20 December to 5 January",
        "date 20 December to 5 January = 2026-12-20..2027-01-05",
    ),
    ("between Monday and Wednesday", "date between Monday and Wednesday = 2026-03-16..2026-03-18"),
    ("open Mon-Fri", "date Mon-Fri = 2026-03-16..2026-03-20"),
    ("Let's say Monday.", "date Monday = 2026-03-16"),
    ("let's say wednesday", "date wednesday = 2026-03-18"),
    ("next Friday then", "date next Friday = 2026-03-20"),
    ("this Friday then", "date this Friday = 2026-03-13"),
    ("last Friday it rained", "date last Friday = 2026-03-06"),
    ("the coming Friday", "date coming Friday = 2026-03-13"),
    ("Thursday next week", "date Thursday next week = 2026-03-19"),
    ("It is on Fri at noon", "date Fri = 2026-03-13", "time noon = 12:00"),
    ("every Monday", "date every Monday = every monday"),
    ("We meet on Tuesdays", "date Tuesdays = every tuesday"),
    ("Monday's meeting is off", "date Monday = 2026-03-16"),
    ("Friday the 13th", "date Friday the 13th = 2026-03-13"),
    ("see you tomorrow", "date tomorrow = 2026-03-12"),
    ("yesterday was fine", "date yesterday = 2026-03-10"),
    ("the day after tomorrow", "date day after tomorrow = 2026-03-13"),
    ("the day before yesterday", "date day before yesterday = 2026-03-09"),
    ("I'm free tonight", "date tonight = 2026-03-11 evening"),
    ("I'm free this afternoon", "date this afternoon = 2026-03-11 afternoon"),
    ("I need it next week", "date next week = 2026-W12"),
    ("I need it this weekend", "date this weekend = 2026-W11-WE"),
    ("I need it last month", "date last month = 2026-02"),
    ("I need it this year", "date this year = 2026"),
    ("in two weeks", "date in two weeks = 2026-03-25"),
    ("in a month", "date in a month = 2026-04-11"),
    ("ten days ago", "date ten days ago = 2026-03-01"),
    ("3 days from now", "date 3 days from now = 2026-03-14"),
    ("a week from Monday", "date a week from Monday = 2026-03-23"),
    ("in 3 business days", "date in 3 business days = 2026-03-16"),
    ("in half an hour", "time in half an hour = 2026-03-11T10:30"),
    ("I want it on the 2nd.", "date 2nd = 2026-04-02"),
    ("I want it on the 15th please", "date 15th = 2026-03-15"),
    ("the 4th of this month", "date 4th of this month = 2026-03-04"),
    ("the first of next month", "date first of next month = 2026-04-01"),
    ("the end of the month", "date end of the month = 2026-03-31"),
    ("by the end of March", "date end of March = 2026-03-31"),
    ("around mid-March", "date mid-March = 2026-03-mid"),
    ("early next year", "date early next year = 2027-early"),
    ("the launch is in Q3", "date Q3 = 2026-Q3"),
    ("the launch was in Q3 2025", "date Q3 2025 = 2025-Q3"),
    ("the third quarter of 2027", "date third quarter of 2027 = 2027-Q3"),
    ("by the end of Q2", "date end of Q2 = 2026-06-30"),
    ("We start in May", "date May = 2026-05"),
    ("we start in may", "date may = 2026-05"),
    ("It is due next January", "date next January = 2027-01"),
    ("March 2027 at the latest", "date March 2027 = 2027-03"),
    ("the scan was on 3/3", "date 3/3 = 2026-03-03"),
    ("I have lived here since 2019.", "date 2019 = 2019"),
    ("2026-03-02", "date 2026-03-02 = 2026-03-02"),
    ("It was 2026/3/2", "date 2026/3/2 = 2026-03-02"),
    ("14/03/2027", "date 14/03/2027 = 2027-03-14"),
    ("03/14/2027", "date 03/14/2027 = 2027-03-14"),
    ("on 03/02", "date 03/02 = 3/2"),
    ("on 3/2/2027", "date 3/2/2027 = 3/2/2027"),
]
TIMES = [
    ("A table at 5pm", "time 5pm = 17:00"),
    ("A table at 5 p.m. please", "time 5 p.m. = 17:00"),
    ("A table at 5:15 PM", "time 5:15 PM = 17:15"),
    ("A table at 5.30pm", "time 5.30pm = 17:30"),
    ("A table at 17:00", "time 17:00 = 17:00"),
    ("A table at 09:05", "time 09:05 = 09:05"),
    ("A table at 11:30", "time 11:30 = 11:30|23:30"),
    ("A table at 20:15", "time 20:15 = 20:15"),
    ("A table at 12am", "time 12am = 00:00"),
    ("A table at 12:30 pm", "time 12:30 pm = 12:30"),
    ("A table at 5", "time 5 = 05:00|17:00"),
    ("A table at 5 o'clock", "time 5 o'clock = 05:00|17:00"),
    ("5 o'clock in the afternoon", "time 5 o'clock in the afternoon = 17:00"),
    ("7 in the evening", "time 7 in the evening = 19:00"),
    ("eight in the morning", "time eight in the morning = 08:00"),
    ("5 p.m. or later", "time 5 p.m. = 17:00"),
    ("leave at 1730 hours", "time 1730 hours = 17:30"),
    ("ten at night", "time ten at night = 22:00"),
    ("half past five", "time half past five = 05:30|17:30"),
    ("a quarter to nine", "time quarter to nine = 08:45|20:45"),
    ("a quarter past 12", "time quarter past 12 = 00:15|12:15"),
    ("twenty past six pm", "time twenty past six pm = 18:20"),
    ("at noon", "time noon = 12:00"),
    ("by midnight", "time midnight = 00:00"),
    ("send it by EOD", "time EOD = end of day"),
    ("tonight at 8", "date tonight = 2026-03-11 evening", "time 8 = 20:00"),
    ("at 8 tonight", "time 8 = 20:00", "date tonight = 2026-03-11 evening"),
    ("tomorrow at 9", "date tomorrow = 2026-03-12", "time 9 = 09:00|21:00"),
    ("in the morning", "time morning = morning"),
    ("tomorrow evening", "date tomorrow = 2026-03-12", "time evening = evening"),
    ("3pm EST", "time 3pm EST = 15:00 EST"),
    ("We are open 5-7pm", "time 5-7pm = 17:00..19:00"),
    ("11-1pm", "time 11-1pm = 11:00..13:00"),
    ("from 9am to 5pm", "time 9am to 5pm = 09:00..17:00"),
    ("between 2 and 4 pm", "time between 2 and 4 pm = 14:00..16:00"),
    ("at 5 hotels", "number 5 = 5 [hotel]"),
]
AMOUNTS = [
    ("It costs $4.5k", "money $4.5k = USD 4500"),
    ("It costs 4,500 dollars", "money 4,500 dollars = USD 4500"),
    ("It costs 4500 USD", "money 4500 USD = USD 4500"),
    ("It costs USD 4500", "money USD 4500 = USD 4500"),
    ("It costs a hundred and fifty bucks", "money a hundred and fifty bucks = USD 150"),
    ("It costs £5m", "money £5m = GBP 5000000"),
    ("It costs €1.2 million", "money €1.2 million = EUR 1200000"),
    ("It costs 20€", "money 20€ = EUR 20"),
    ("It costs fifty cents", "money fifty cents = USD 0.5"),
    ("It costs ten grand", "money ten grand = 10000"),
    ("The rent is $5,200 per month.", "money $5,200 per month = USD 5200/month"),
    ("She makes $20/hr", "money $20/hr = USD 20/hour"),
    ("It is $50 a person", "money $50 a person = USD 50/person"),
    ("It is $99.90 monthly", "money $99.90 monthly = USD 99.9/month"),
    ("$12 per seat", "money $12 per seat = USD 12/seat"),
    ("between 10 and 20 dollars", "money between 10 and 20 dollars = USD 10..USD 20"),
    ("$10-20", "money $10-20 = USD 10..USD 20"),
    ("$10 to $20 per hour", "money $10 to $20 per hour = USD 10/hour..USD 20/hour"),
    ("raise it from $10 to $20", "money $10 = USD 10", "money $20 = USD 20"),
    ("prices range from $10 to $20", "money $10 to $20 = USD 10..USD 20"),
    ("She lost 5 pounds", "quantity 5 pounds = 5 lb"),
    ("It was 5 pounds", "money 5 pounds = GBP 5"),
    ("15 % of it", "percent 15 % = 15%"),
    ("fifteen per cent", "percent fifteen per cent = 15%"),
    ("15% a year", "percent 15% a year = 15%/year"),
    ("10-15%", "percent 10-15% = 10%..15%"),
    ("20 mg of it", "quantity 20 mg = 20 mg"),
    ("20mg per day", "quantity 20mg per day = 20 mg/day"),
    ("2 km away", "quantity 2 km = 2 km"),
    ("six feet tall", "quantity six feet = 6 ft"),
    ("60 miles per hour", "quantity 60 miles per hour = 60 mph"),
    ("1,000 sq ft", "quantity 1,000 sq ft = 1000 sq ft"),
    ("-5 °C outside", "quantity -5 °C = -5 °C"),
    ("16 GB of memory", "quantity 16 GB = 16 GB"),
    ("use 14pt", "quantity 14pt = 14 pt"),
    ("1/2 cup of milk", "quantity 1/2 cup = 0.5 cup"),
    ("3 days", "duration 3 days = P3D"),
    ("48 hours", "duration 48 hours = P2D"),
    ("90 minutes", "duration 90 minutes = PT1H30M"),
    ("an hour and a half", "duration an hour and a half = PT1H30M"),
    ("1 hour and 30 minutes", "duration 1 hour and 30 minutes = PT1H30M"),
    ("2h 30min", "duration 2h 30min = PT2H30M"),
    ("half an hour", "duration half an hour = PT30M"),
    ("two and a half hours", "duration two and a half hours = PT2H30M"),
    ("18 months", "duration 18 months = P18M"),
    ("a year and a half", "duration a year and a half = P18M"),
    ("for a week", "duration a week = P7D"),
    ("a 30-day trial", "duration 30-day = P30D"),
    ("3-5 days", "duration 3-5 days = P3D..P5D"),
    ("two to three weeks", "duration two to three weeks = P14D..P21D"),
    ("200 ms", "duration 200 ms = PT0.2S"),
    ("5 business days", "duration 5 business days = P5B"),
    ("a table for 4", "number 4 = 4"),
    ("only 3 people", "number 3 = 3 [person]"),
    ("4 big bags", "number 4 = 4 [bag]"),
    ("5 more people", "number 5 = 5 [person]"),
    ("2 adults and 1 child", "number 2 = 2 [adult]", "number 1 = 1 [child]"),
    ("a 4 star hotel", "number 4 = 4 [star]"),
    ("a three-bedroom flat", "number three = 3 [bedroom]"),
    ("I want one ticket", "number one = 1 [ticket]"),
    ("a table for one", "number one = 1"),
    ("forty-five hundred", "number forty-five hundred = 4500"),
    ("two hundred and five boxes", "number two hundred and five = 205 [box]"),
    ("one point five million", "number one point five million = 1500000"),
    ("half a million users", "number half a million = 500000 [user]"),
    ("a dozen eggs", "number a dozen = 12 [egg]"),
    ("two dozen", "number two dozen = 24"),
    ("5k users", "number 5k = 5000 [user]"),
    ("5 to 7 people", "number 5 to 7 = 5..7 [person]"),
    ("change 5 to 7", "number 5 = 5", "number 7 = 7"),
    ("4 works for me", "number 4 = 4"),
    ("3 cities and 2 boxes", "number 3 = 3 [city]", "number 2 = 2 [box]"),
]
WORDS = [
    (
        "I'd like a table at Rosie McCann's for two",
        "name Rosie McCann's = rosie mccanns",
        "number two = 2",
    ),
    ("I moved to Berlin", "name Berlin = berlin"),
    ("Sarah will lead the project.", "name Sarah = sarah"),
    ("Sarah's address is new.", "name Sarah = sarah"),
    ("Dinner is at the Golden Lion", "name Golden Lion = golden lion"),
    ("Ask Bob about it", "name Bob = bob"),
    ("Bank of America called", "name Bank of America = bank of america"),
    ("New York is big", "name New York = new york"),
    ("Dr. Smith is here", "name Dr. Smith = dr smith"),
    ("I flew to O'Hare", "name O'Hare = ohare"),
    ("I live in San José, CA", "name San José, CA = san josé, ca"),
    ("It is by Procter & Gamble", "name Procter & Gamble = procter & gamble"),
    ("I read J. K. Rowling", "name J. K. Rowling = j k rowling"),
    ("I met Theresa May", "name Theresa May = theresa may"),
    ("I like Ludwig van Beethoven", "name Ludwig van Beethoven = ludwig van beethoven"),
    ("Meet me in The Hague", "name The Hague = the hague"),
    ("Meet me at Studio 54", "name Studio 54 = studio 54"),
    ("I was in Berlin 3 times", "name Berlin = berlin", "number 3 = 3 [time]"),
    ("Go back to Plan A", "name Plan A = plan a"),
    ("go back to plan A", "name plan A = plan a"),
    ("I take option 2", "name option 2 = option 2"),
    ("He works for IBM", "name IBM = ibm"),
    ("a Chinese restaurant", "name Chinese = chinese"),
    ("My address is 123 Main St.", "address 123 Main St = 123 main street"),
    (
        "Ship to 456 Oak Ave., Apt 4, Salem, IL 62701.",
        "address 456 Oak Ave., Apt 4, Salem, IL 62701 = 456 oak avenue apartment 4 salem il 62701",
    ),
    (
        "I live at 221B Baker Street, London.",
        "address 221B Baker Street, London = 221b baker street london",
    ),
    ("at 12 mill road", "address 12 mill road = 12 mill road"),
    ("123 Main St, Sarah said", "address 123 Main St = 123 main street", "name Sarah = sarah"),
    ("Call 555-123-4567", "phone 555-123-4567 = 5551234567"),
    ("Call +44 20 7946 0958", "phone +44 20 7946 0958 = +442079460958"),
    ("my number is 4155552671", "phone 4155552671 = 4155552671"),
    ("Write to Bob.Lee@Example.com.", "email Bob.Lee@Example.com = bob.lee@example.com"),
    ("see https://example.com/Docs/", "url https://example.com/Docs/ = example.com/Docs"),
    ("see example.org for more", "url example.org = example.org"),
    ("ticket ABC-123", "code ABC-123 = ABC-123"),
    ("we run v2.3.1", "code v2.3.1 = v2.3.1"),
    ("invoice INV-2024-001", "code INV-2024-001 = INV-2024-001"),
    ("host 192.168.0.1", "code 192.168.0.1 = 192.168.0.1"),
    ("commit 9fceb02d0ae598", "code 9fceb02d0ae598 = 9fceb02d0ae598"),
    ("fix #1234 first", "code #1234 = #1234"),
    ("the postcode is cb58pa", "code cb58pa = cb58pa"),
    ("deploy to node-eu-04", "code node-eu-04 = node-eu-04"),
    ("it was 142/91 then", "code 142/91 = 142/91"),
    ("a ratio of 16:9", "code 16:9 = 16:9"),
    ("rename user_id", "code user_id = user_id"),
    ("set `max_size` now", "code max_size = max_size"),
    ('The title is "Meet at 5pm".', "quoted Meet at 5pm = meet at 5pm"),
    ("The title is “Plan B”", "quoted Plan B = plan b"),
    ("He called it 'the big one' once", "quoted the big one = the big one"),
]
# Ordinary words that look like values.
NOTHING = [
    "I may march to the bank",
    "May I come in?",
    "March on!",
    "wait a second",
    "Give me one minute",
    "just a minute, please",
    "in a second",
    "what a day",
    "one day I will",
    "the cheap one",
    "No one came",
    "that one is fine",
    "one of them",
    "the second one",
    "the 2nd one",
    "the 2nd floor is fine",
    "first of all",
    "a one-way trip",
    "we are open 24/7",
    "music of the 1990s",
    "it is 2x faster",
    "Good morning!",
    "Good evening, how are you?",
    "I am fine. I think so.",
    "Yes, please. No, thanks. OK!",
    "We're fine and they're not.",
    "THIS IS NOT WHAT I WANT",
    "It's NOT the boys' room",
    "Let's go. Here's why.",
    "Everything is ready",
    "Budget is tight and parking is hard",
    "the sun sat low",
    "I can't, won't and don't",
    "",
    "   ",
    "...!?",
    "🎉🎉",
    "this is all in lower case",
]
# Written with spaces around every mark, as some collections have it.
TOKENISED = [
    ("I 'm leaving at 5:15 pm from the hotel , thanks .", "time 5:15 pm = 17:15"),
    ("It is $ 5,200 per month .", "money $ 5,200 per month = USD 5200/month"),
    ("We met on March 2 , 2026 .", "date March 2 , 2026 = 2026-03-02"),
    ("Rosie McCann 's door is red .", "name Rosie McCann = rosie mccann"),
    ("I eat at Rosie McCann 's .", "name Rosie McCann 's = rosie mccanns"),
    ("I do n't need 15 % .", "percent 15 % = 15%"),
    ("The address is 78 - 80 milton road .", "address 78 - 80 milton road = 78 - 80 milton road"),
    (
        "5 nights for 1 beginning on Tuesday .",
        "number 5 = 5 [night]",
        "number 1 = 1",
        "date Tuesday = 2026-03-17",
    ),
]


@pytest.mark.parametrize(
    ("text", "values"),
    [(text, values) for text, *values in [*DATES, *TIMES, *AMOUNTS, *WORDS, *TOKENISED]],
)
def test_a_sentence_gives_its_values(text: str, values: list[str]) -> None:
    """Each value is found where it stands, with its kind, its meaning and what it counts."""
    assert [told(value) for value in find(text, AT)] == values


@pytest.mark.parametrize("text", NOTHING)
def test_ordinary_words_are_no_values(text: str) -> None:
    """Words that only look like values give none."""
    assert [told(value) for value in find(text, AT)] == []


SAME = [
    ("$4.5k", "4,500 dollars"),
    ("$4.5k", "4500 USD"),
    ("$4.5k", "forty-five hundred"),
    ("4500", "4,500.00"),
    ("15 %", "15 percent"),
    ("15 %", "15% a year"),
    ("$5,200", "$5,200 per month"),
    ("5pm", "17:00"),
    ("5pm", "5 o'clock in the afternoon"),
    ("half past five", "5:30"),
    ("half past five", "05:30"),
    ("half past five", "17:30"),
    ("March 2nd", "2 March"),
    ("March 2nd", "the 2nd of March"),
    ("March 2nd", "2026-03-02"),
    ("Monday", "March 16"),
    ("Monday", "next Monday"),
    ("today", "tonight"),
    ("an hour and a half", "90 minutes"),
    ("1 week", "7 days"),
    ("1.5 years", "18 months"),
    ("2 km", "2000 m"),
    ("1 kg", "1000 g"),
    ("a dozen", "12"),
    ("4 people", "only 4"),
    ("between 10 and 20 dollars", "$10-20"),
    ("at McDonald's", "at McDonalds"),
    ("in berlin's Mitte", "in Mitte"),
    ("at Dr. Smith", "at Dr Smith"),
    ("40 Elm St.", "40 Elm Street"),
    ("12 N Oak Ave, Apt 4", "12 North Oak Avenue, Apartment 4"),
    ("the book 'Plan B'", "the Plan B"),
    ("+1 555-123-4567", "555-123-4567"),
    ("https://www.example.com/", "example.com"),
    ("XKQ-12", "xkq-12"),
]
DIFFERENT = [
    ("15 %", "15"),
    ("15 %", "16 %"),
    ("$15", "€15"),
    ("$20 per hour", "$20 per day"),
    ("$15", "$16"),
    ("4 people", "4 bags"),
    ("5am", "5pm"),
    ("half past five", "18:30"),
    ("3pm EST", "3pm PST"),
    ("03/02", "March 2nd"),
    ("March 2nd", "March 3rd"),
    ("2 March 2026", "2 March 2027"),
    ("this morning", "tonight"),
    ("2 km", "2 kg"),
    ("2 km", "2 m"),
    ("3 days", "3 business days"),
    ("5 nights", "5 days"),
    ("3-5 days", "3-6 days"),
    ("3-5 days", "3 days"),
    ("in Berlin", "in Munich"),
    ("ABC-123", "ABC-124"),
    ("555-123-4567", "555-123-4568"),
    ("the morning of in the morning", "at 9"),
]


def only(text: str) -> Value:
    """The one value of a text, or its last."""
    return find(text, AT)[-1]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_what_means_the_same_is_the_same(left: str, right: str) -> None:
    """However it is written, a value is the same value, seen from either side."""
    assert same(only(left), only(right))
    assert same(only(right), only(left))


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_what_means_something_else_is_not_the_same(left: str, right: str) -> None:
    """Values that mean different things are told apart, from either side."""
    assert not same(only(left), only(right))
    assert not same(only(right), only(left))


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("next week", "next week"),
        ("Tomorrow", "tomorrow"),
        ("Monday", "monday"),
        ("on Mon", "monday"),
        ("the 4th of this month", "4th of this month"),
        ("in two  weeks", "in two weeks"),
        ("March 2nd", "XXXX-03-02"),
        ("2 March 2026", "2026-03-02"),
        ("Q3", "XXXX-Q3"),
        ("5pm", "17:00"),
    ],
)
def test_without_a_moment_relative_dates_stay_what_they_are(text: str, normal: str) -> None:
    """Nobody knows what day tomorrow is without knowing what day it is."""
    assert [value.normal for value in find(text)] == [normal]


def test_a_day_without_a_year_is_the_same_whenever_it_was_said() -> None:
    """March 2nd stays March 2nd although a later speaker would mean that of the next year."""
    early, late = find("March 2nd", AT), find("March 2nd", AT + timedelta(days=200))
    assert early[0].normal != late[0].normal
    assert same(early[0], late[0])


def test_a_day_with_another_year_is_another_day() -> None:
    """Where both years are said, they count."""
    assert not same(find("2 March 2026", AT)[0], find("2 March 2025", AT)[0])


def test_the_day_is_that_of_the_speaker() -> None:
    """At eleven at night in New York it is tomorrow in London, but not for who speaks there."""
    there = datetime(2026, 3, 11, 23, 0, tzinfo=timezone(timedelta(hours=-5)))
    assert find("today", there)[0].normal == "2026-03-11"
    assert find("today", there.astimezone(UTC))[0].normal == "2026-03-12"


@pytest.mark.parametrize(
    "text",
    [
        "in 999999999 years",
        "99999999999 days ago",
        "in 12345678901234 weeks",
        "February 31st of 2026",
        "the 31st of next month",
        "99/99/9999",
        "25:61",
    ],
)
def test_days_that_do_not_exist_are_not_made_up(text: str) -> None:
    """What lies outside the calendar is no day."""
    found = [value.normal for value in find(text, AT) if value.kind is ValueKind.DATE]
    assert not any(re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", normal) for normal in found)


def test_values_are_found_in_a_long_text_without_reading_all_of_it() -> None:
    """A megabyte is answered from its beginning."""
    found = find("It costs $5. " + "word " * 200_000 + "It costs $6.", AT)
    assert [value.normal for value in found] == ["USD 5"]


@pytest.mark.parametrize(
    "unit", ["(", "a", "1", "'", '"', "1 ", "one ", "Ab ", "a_", "1.", "$", "@"]
)
def test_endless_repetitions_are_answered(unit: str) -> None:
    """Text that means nothing cannot keep the finder busy."""
    for value in find(unit * 300_000, AT):
        assert value.text


PIECES = """
March may Monday monday next this last week 2nd the of in at on to from between and half past
quarter 5 12 5pm 5:30 pm 2026 2026-03-02 3/4 $ $5k 4,500 % 15% dollars km 20mg hours an hour a day
one two twenty hundred million dozen people Rosie McCann's Bob's Dr. Plan B New York 123 Main St .
, ; ? ! - – ' " “ ” ’s 's n't +44 555-123-4567 a@b.co https://x.io ABC-123 v2 #12 user_id tonight
tomorrow Q3 end mid early ago now noon I I'm OK 東京 مارس München ½ the minutes each year per
"""
spoken = st.lists(
    st.sampled_from([*PIECES.split(), "\n", "\t"]) | st.text(max_size=5), max_size=14
).flatmap(lambda parts: st.sampled_from([" ", "", "  "]).map(lambda gap: gap.join(parts)))
moments = st.none() | st.datetimes(timezones=st.just(UTC))


@MANY
@given(spoken | st.text(max_size=60), moments)
@example("in 9999 years", datetime(9999, 12, 31, tzinfo=UTC))
@example("last week, yesterday, 400 years ago", datetime(1, 1, 1, tzinfo=UTC))
@example("’s‘’“”", None)
def test_values_stand_where_they_say_and_apart(text: str, at: datetime | None) -> None:
    """On any text: spans are honest, in order and do not overlap; asking twice changes nothing."""
    found = find(text, at)
    last = 0
    for value in found:
        assert value.text == text[value.start : value.end]
        assert value.text.strip() == value.text != ""
        assert last <= value.start < value.end
        assert value.normal
        last = value.end
    assert find(text, at) == found


@MANY
@given(spoken, spoken, moments)
def test_being_the_same_holds_both_ways(left: str, right: str, at: datetime | None) -> None:
    """Every value is the same as itself, and sameness does not depend on the side."""
    values = [*find(left, at), *find(right, at)]
    for value in values:
        assert same(value, value)
        for other in values:
            assert same(value, other) == same(other, value)
