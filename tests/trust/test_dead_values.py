"""Dead values do not come back in other words for the same, nor behind what nobody sees."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import incumbent
from incumbent import Memory, Session
from incumbent.context.quotes import GONE
from incumbent.language.values.forms import forms
from incumbent.model.invisible import readings
from incumbent.testing import SteppingClock
from tests.conftest import QUICK, OpenMemory

ROADS = ("note", "signal", "fact", "list")
_MANY = 450
"""More facts than are all ranked: dead values are found by the index alone."""


@pytest.fixture
def memory() -> Iterator[Memory]:
    """In memory: the stores only keep the marks that are made of values."""
    with incumbent.open(":memory:", clock=SteppingClock(), settings=QUICK) as opened:
        yield opened


def desk(memory: Memory, who: str = "ann") -> Session:
    return memory.session(user_id=who, organization="acme", session_id="desk")


def replaced(session: Session, key: str, dead: object, live: object = "as agreed since") -> None:
    """A value that was said and is no longer so."""
    session.write(key, dead)
    session.write(key, live)


def told(memory: Memory, session: Session, road: str, text: str) -> str:
    """What a context shows of a text that came on some road."""
    if road == "note":
        session.note("remark", text)
    elif road == "signal":
        memory.environment.provide("remark", lambda: text)
    elif road == "fact":
        session.write("remark", text)
    else:
        session.write("remark", ["for the record", text])
    context = session.context("What is there to know of the remark?", budget=4_000)
    lines = [line.text for line in context.lines if "remark" in line.text]
    return lines[0] if lines else ""


# Each matter with what was said of it, and other ways to say the same.
EVERYDAY: dict[str, list[tuple[str, ...]]] = {
    "delivery_date": [
        ("March 3rd", "2026-03-03", "3 March", "03/03/2026", "the third of March", "Mar. 3, 2026"),
        ("2026-11-09", "November 9th", "9 Nov 2026", "Monday, 9 November", "9.11.2026"),
        ("28 February 2027", "Feb 28", "2027-02-28", "28/02/2027"),
    ],
    "delivery_time": [
        ("17:00", "5 pm", "5pm", "five o'clock", "17:00:00", "5 p.m.", "5 in the afternoon"),
        ("9:30 am", "half past nine", "09:30", "9.30 a.m."),
        ("12:00", "noon", "12 pm"),
    ],
    "delivery_price": [
        ("$1.2k", "1,200 dollars", "USD 1200", "$1 200", "twelve hundred dollars", "1.2K USD"),
        ("4500 EUR", "€4,500", "4.500 euros", "four and a half thousand euros", "4'500 €"),
        ("1 200", "1200", "1,200.00", "1.2 thousand", "twelve hundred"),
        ("two million", "2,000,000", "2 000 000", "2M"),
    ],
    "delivery_discount": [
        ("25%", "twenty-five percent", "25 per cent", "25.0 %", "25 pct"),
        ("seven and a half percent", "7.5%", "7.50 percent"),
    ],
    "delivery_weight": [("20 kg", "twenty kilos", "20 kilograms", "20kg")],
    "delivery_phone": [("+1 415 555 0199", "(415) 555-0199", "415.555.0199", "555-0199")],
}


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize(
    ("key", "family"),
    [(key, family) for key, families in EVERYDAY.items() for family in families],
    ids=lambda given: given[0] if isinstance(given, tuple) else given,
)
def test_a_dead_value_is_dead_in_every_everyday_form(
    memory: Memory, road: str, key: str, family: tuple[str, ...]
) -> None:
    """A day, a time, an amount: whichever way it was put, and whichever way it is put again."""
    for number, dead in enumerate(family):
        said = family[number - 1]
        session = desk(memory, f"user{number}")
        replaced(session, key, dead)
        text = f"as for the delivery they told us {said} back then, and we wrote it down"
        line = told(memory, session, road, text)
        assert GONE in line, f"{dead!r} came back as {said!r}: {line}"
        assert said not in line


@pytest.mark.parametrize(
    ("dead", "live", "text"),
    [
        ("March 4th", "2026-03-03", "they come on March 3rd as far as I know"),
        ("2026-03-04", "March 3rd", "they come on 2026-03-03 as far as I know"),
        ("6 pm", "17:00", "they come at 5 pm as far as I know"),
        ("$1.3k", "1,200 dollars", "they take $1.2k as far as I know"),
        ("30%", "twenty-five percent", "they give 25% as far as I know"),
    ],
)
def test_what_a_live_fact_says_in_another_form_stays(
    memory: Memory, dead: str, live: str, text: str
) -> None:
    """A value that was lost here and is held there may be said, however either is put."""
    session = desk(memory)
    replaced(session, "delivery", dead, live)
    said = live  # the same value, lost by another fact
    replaced(session, "pickup", said)
    session.note("remark", f"about the pickup: {text}")
    assert f"about the pickup: {text}" in session.context("pickup").text


@pytest.mark.parametrize(
    ("key", "dead", "text"),
    [
        ("fee", "$1.2k", "You find us in room 1200 on the left"),
        ("fee", "$1.2k", "The hall seats 1200 and is warm"),
        ("fee", "$1.2k", "They paid €1,200 a week for the boat"),
        ("fee", "twelve hundred", "See page 1200 of the big manual"),
        ("meeting", "17:00", "They sold the old chairs at 5 each"),
        ("meeting", "17:00", "The train leaves at 5 am every day"),
        ("meeting", "17:00", "The bakery has 17 kinds of bread"),
        ("visit", "2026-05-03", "May came by with 3 of her friends"),
        ("visit", "2026-05-03", "You may bring 3 of your friends"),
        ("visit", "2026-03-03", "We march 3 miles every morning"),
        ("visit", "2026-03-03", "They were founded on 2019-03-03 in Porto"),
        ("visit", "2026-03-03", "The score was 3 to 3 in the end"),
        ("rebate", "25%", "Around 0.25 of a litre was left"),
        ("rebate", "twenty-five percent", "Bus 25 stops at the corner"),
        ("stock", "12 sacks", "The apostles were twelve in number"),
        ("status", "shipped on 3 March", "Grandmother was born on 3rd March"),
        ("ref", "AX-1200-q", "The hall holds twelve hundred people"),
        ("address", "1200 Main St", "The hall holds twelve hundred people"),
    ],
)
@pytest.mark.parametrize("road", ["note", "fact"])
def test_a_number_about_something_else_stays(
    memory: Memory, road: str, key: str, dead: str, text: str
) -> None:
    """A room, a person called May, a price at which something is sold: they keep their numbers."""
    session = desk(memory)
    replaced(session, key, dead)
    assert text in told(memory, session, road, text)


def test_part_of_a_dead_value_counts_beside_what_was_said_with_it(memory: Memory) -> None:
    """A day within a longer value is dead where the rest of it, or its matter, is spoken of."""
    session = desk(memory)
    replaced(session, "parcel", "shipped on 3 March")
    session.note("one", "Yes, that was shipped 2026-03-03 from the port of Leith")
    session.note("two", "The parcel left them on March 3rd, as far as we know")
    session.note("three", "Her birthday is on March 3rd, as far as we know")
    text = session.context("parcel", profile="comprehensive").text
    assert f"- one: Yes, that was shipped {GONE} from the port of Leith" in text
    assert f"- two: The parcel left them on {GONE}, as far as we know" in text
    assert "- three: Her birthday is on March 3rd, as far as we know" in text


def test_a_short_number_in_words_counts_only_beside_its_matter(memory: Memory) -> None:
    """Three of anything else are not the three that were meant."""
    session = desk(memory)
    replaced(session, "guests", "3", "5")
    session.note("one", "There will be three guests at the long table")
    session.note("two", "There will be three courses and some wine")
    text = session.context("guests", profile="comprehensive").text
    assert f"- one: There will be {GONE} guests at the long table" in text
    assert "- two: There will be three courses and some wine" in text


def test_the_successor_may_say_the_old_value_and_is_cut_only_looking_back(memory: Memory) -> None:
    """In another form, too, a predecessor's value is cut where the new one says that it was."""
    session = desk(memory)
    replaced(session, "meeting", "17:00", "6 pm on the dot, it was 5 pm before")
    text = session.context("meeting").text
    assert f"- meeting: 6 pm on the dot, it was {GONE} before" in text


def test_a_day_that_was_said_from_a_day_is_known_by_its_date(memory: Memory) -> None:
    """What was "tomorrow" when it was said is that date for whoever repeats it."""
    session = desk(memory)
    session.observe("The inspection is tomorrow.")
    day = session.facts()[0].parts[0].normal if session.facts()[0].parts else ""
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", day), session.facts()
    session.observe("The inspection is on 24 December.")
    session.note("jotted", f"They put the inspection down for {day} in the big calendar")
    text = session.context("inspection").text
    assert f"down for {GONE} in the big calendar" in text


def test_other_forms_are_found_by_the_index_of_a_large_memory(open_memory: OpenMemory) -> None:
    """On every store: where not all facts are looked at, and where one of them still holds it."""
    session = desk(open_memory(settings=QUICK))
    session.write_many(
        {"key": f"plan_note_{number}", "value": f"entry {number} of the season plan"}
        for number in range(_MANY)
    )
    replaced(session, "kickoff", "2031-03-03")
    replaced(session, "closing", "2031-04-05")
    session.write("holiday", "April 5th")
    session.note("jotted", "From March 3rd to lunch, then 5 April 2031 it is, says the season plan")
    text = session.context("What is entry 7 of the season plan?", budget=600).text
    assert f"- jotted: From {GONE} to lunch, then 5 April 2031 it is" in text


# What shows nothing, by what it is. Each stands for a whole range.
HIDDEN = {
    "hangul filler": "\u3164",
    "half-width filler": "\uffa0",
    "jamo filler": "\u115f",
    "blank braille": "\u2800",
    "mongolian selector": "\u180b",
    "mongolian selector four": "\u180f",
    "khmer inherent vowel": "\u17b4",
    "unit separator": "\x1f",
    "escape": "\x1b",
    "c1 control": "\x90",
    "zero width space": "\u200b",
    "zero width joiner": "\u200d",
    "word joiner": "\u2060",
    "soft hyphen": "\u00ad",
    "grapheme joiner": "\u034f",
    "bidi override": "\u202e",
    "variation selector": "\ufe0f",
    "supplementary selector": "\U000e0101",
    "tag": "\U000e0041",
    "reserved": "\ufff3",
    "annotation": "\ufffa",
    "shorthand": "\U0001bca1",
    "musical": "\U0001d174",
    "combining mark": "\u20e3",
    "strike": "\u0336",
}
SECRET = ("4711", "Berlin", "17 Oak Ave", "5,250.50 EUR", "2026-03-03", "Marisol Quint")


def hide(text: str, sign: str, where: str) -> str:
    if where == "inside":
        return sign.join(text)
    if where == "around":
        return f"{sign}{sign.join(text.split())}{sign}" if " " in text else f"{sign}{text}{sign}"
    return text[:2] + sign * 3 + text[2:]


@pytest.mark.parametrize("where", ["inside", "around", "once"])
@pytest.mark.parametrize("name", HIDDEN)
def test_what_shows_nothing_hides_no_dead_value(memory: Memory, name: str, where: str) -> None:
    """Within a word, between words instead of a space, around them: the value is found."""
    sign = HIDDEN[name]
    if where == "around" and name in ("combining mark", "strike"):
        pytest.skip("a mark is drawn on the letter before it, so that nobody takes it for a space")
    session = desk(memory)
    for number, dead in enumerate(SECRET):
        replaced(session, f"secret_{number}", dead)
        hidden = hide(dead, sign, where)
        session.note(f"remark_{number}", f"the one they told us of is {hidden} as I heard it")
        session.write(f"fact_{number}", f"the secret they told us of is {hidden} as I heard it")
    context = session.context("secret", budget=8_000)
    lines = [line.text for line in context.lines if line.text.startswith(("- remark", "- fact"))]
    assert len(lines) == 2 * len(SECRET)
    assert [line for line in lines if GONE not in line] == []


@pytest.mark.parametrize(
    "hidden",
    [
        "1\u200b7 O\u00adak\u3164A\u2060ve",
        "17\u2800Oak\u200bAve",
        "１７ Ｏａｋ Ａｖｅ",
        "17\u3164O\u180bak\x1fAve",
    ],
)
def test_mixed_disguises_hide_no_dead_value(memory: Memory, hidden: str) -> None:
    """Nothing within words and a blank between them, in one text, or letters set wide."""
    session = desk(memory)
    replaced(session, "depot", "17 Oak Ave")
    line = told(memory, session, "note", f"the vans start from {hidden} at dawn, they say")
    assert GONE in line


@pytest.mark.parametrize("sign", ["\u3164", "\u2800", "\u200b", "\x1f"])
def test_a_value_that_was_written_with_hidden_characters_is_dead_in_plain_words(
    memory: Memory, sign: str
) -> None:
    """Whoever wrote the dead value in disguise does not keep its plain words alive."""
    session = desk(memory)
    replaced(session, "depot", f"17{sign}Oak{sign}Ave")
    replaced(session, "pin", sign.join("48151"))
    line = told(memory, session, "note", "the vans start from 17 Oak Ave, and 48151 opens it all")
    assert line.count(GONE) == 2


def test_what_an_innocent_text_hides_stays_where_it_was_said(memory: Memory) -> None:
    """Emoji, accents and joined scripts lose nothing, and are shown as they were written."""
    session = desk(memory)
    replaced(session, "depot", "17 Oak Ave")
    text = "Zoe\u0308 sagt 👩\u200d🚀 kommt um 8 ins Cafe\u0301"
    assert text in told(memory, session, "note", text)


def test_reading_a_text_costs_what_its_length_is() -> None:
    """There are at most three readings of a text, however much is hidden in it, and each has
    no more characters than the text."""
    for size in (10, 1_000, 20_000):
        text = "4\u31647\u200b1\u2800Oak" * size
        ways = readings(text)
        assert len(ways) <= 3
        assert all(len(way.text) <= len(text) for way in ways)


def test_a_long_text_is_read_in_pieces_and_where_they_meet() -> None:
    """A day that stands across the edge of a piece is read once, with its place."""
    for pad in range(1_985, 2_003):
        text = f"{'x ' * (pad // 2)}{'y' * (pad % 2)} 3 March 2026 and more"
        [found] = [form for form in forms(text) if form.kind == "date" and form.whole]
        assert text[found.start : found.end] == "3 March 2026"
