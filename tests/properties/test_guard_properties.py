"""The guard: dead values planted everywhere, in every disguise, and innocent text beside them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import incumbent
from incumbent import Context, Memory, Session, Verdict
from incumbent.context.quotes import GONE
from incumbent.context.rendering import HISTORY
from incumbent.model.values import leaves
from incumbent.testing import SteppingClock
from tests.behaviour.people import FOR_ALL
from tests.conftest import STORES, examples
from tests.properties.contexts import FAST, PROFILES, STYLES, a_place, says
from tests.properties.world import ORGANIZATION

FEW = settings(max_examples=examples(30, soak=300), deadline=None)
FEWER = settings(max_examples=examples(12, soak=150), deadline=None)

RARE = ("zqoravel", "zqimtar", "zqubelon", "zqaffin")

SHAPES: dict[str, Callable[[int], Any]] = {
    "address": lambda n: f"{120 + n} {RARE[n].title()} St",
    "amount": lambda n: f"${4 + n},715",
    "priced": lambda n: f"{61 + n},250.50 EUR",
    "word": lambda n: RARE[n],
    "name": lambda n: f"Marisol {RARE[n].title()}",
    "accents": lambda n: f"Café {RARE[n].title()} Ünal",
    "plain name": lambda n: ("Grace Hill", "Rose Park", "Mark Stone", "Frank Field")[n],
    "number": lambda n: 48151 + n,
    "code": lambda n: f"AX-{7731 + n}-q",
    "list": lambda n: [f"{RARE[n]} ward", f"Dr. {RARE[n]} senior", 73310 + n],
    "object": lambda n: {"street": f"{9 + n} {RARE[n]} Lane", "zip": f"{10115 + n}"},
}
"""Values that nobody says by chance; each as one of several that differ."""

DISGUISES: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "upper case": str.upper,
    "lower case": str.lower,
    "spaced out": lambda text: text.replace(" ", "   "),
    "hyphens": lambda text: text.replace(" ", "-"),
    "in quotes": lambda text: f'"{text}".',
    "on two lines": lambda text: text.replace(" ", "\n", 1),
    "thousands": lambda text: f"{int(text):,}" if text.isdigit() else text,
    "no thousands": lambda text: text.replace(",", ""),
    "after a break": lambda text: f"\n{text}",
    "after a tab": lambda text: f"\t{text}",
    "zero width": lambda text: "\u200b".join([text[:1], text[1:]]),
    "soft hyphens": lambda text: "\u00ad".join(text),
    "variation selectors": lambda text: "\ufe0f".join(text),
    "tags": lambda text: "\U000e0061".join([text[:2], text[2:]]),
    "struck through": lambda text: "".join(f"{c}\u0336" for c in text),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "wide": lambda text: "".join(chr(ord(c) + 0xFEE0) if c.isalnum() else c for c in text),
}


@dataclass(frozen=True)
class Death:
    """A value that was said and is no longer so."""

    shape: str
    how: str
    number: int
    whose: str = "own"

    @property
    def key(self) -> str:
        return f"matter{self.number}"

    @property
    def value(self) -> Any:
        return SHAPES[self.shape](self.number)


HOW = ("superseded", "overruled", "retracted", "expired", "withdrawn", "contested", "stale")

WHOSE = ("own", "own", "organization", "session", "task")

deaths = st.lists(
    st.tuples(st.sampled_from(list(SHAPES)), st.sampled_from(HOW), st.sampled_from(WHOSE)),
    min_size=1,
    max_size=3,
).map(
    lambda found: [
        Death(shape, how, number, whose) for number, (shape, how, whose) in enumerate(found)
    ]
)


PLACES: dict[str, dict[str, Any]] = {
    "own": {},
    "organization": {"memory_type": "organizational"},
    "session": {"scope": "session"},
    "task": {"scope": "task"},
}


class Desk:
    """A person at work whose facts die, with every road by which a dead value could come back."""

    def __init__(self, memory: Memory, clock: SteppingClock) -> None:
        self.memory = memory
        self.clock = clock
        self.signals: dict[str, Any] = {}
        self.said: dict[int, Verdict] = {}
        self._plants = 0

    def session(self, authority: str = "employee") -> Session:
        return self.memory.session(
            user_id="eve",
            authority=authority,
            organization=ORGANIZATION,
            session_id="desk",
            task_id="move",
            permissions=FOR_ALL,
        )

    def begin(self, death: Death) -> None:
        """Say what is going to die."""
        session, key, value = self.session(), death.key, death.value
        where = PLACES[death.whose]
        until = self.clock.now + timedelta(minutes=5) if death.how == "expired" else None
        if death.how == "overruled":
            self.session("executive").write(key, "as agreed by the board", **where)
        if death.how == "contested":
            session.write(key, "as agreed on Monday", **where)
        bases = []
        if death.how == "stale":
            bases = [session.write(f"base{death.number}", "first ground").fact_id]
        confidence = 0.1 if death.how == "contested" else 1.0
        self.said[death.number] = session.write(
            key, value, valid_until=until, depends_on=bases, confidence=confidence, **where
        )

    def end(self, death: Death) -> None:
        """Let it die."""
        session = self.session()
        if death.how == "superseded":
            session.write(death.key, "as agreed since", **PLACES[death.whose])
        elif death.how == "retracted":
            session.retract(death.key)
        elif death.how == "expired":
            self.clock.advance(minutes=6)
        elif death.how == "withdrawn":
            session.undo(self.said[death.number])
        elif death.how == "stale":
            session.write(f"base{death.number}", "second ground")

    def plant(self, road: str, text: str, death: Death | None = None) -> str:
        """Say a text on some road; returns the name it goes by."""
        self._plants += 1
        name = f"remark{self._plants}"
        session = self.session()
        if road == "fact":
            session.write(name, text)
        elif road == "fact with a list":
            session.write(name, ["for the record", text])
        elif road == "subject's fact":
            session.write("remark", text, subject=name)
        elif road == "constraint":
            session.write(name, text, is_constraint=True, constraint_type="policy")
        elif road == "organization's fact":
            session.write(name, text, memory_type="organizational")
        elif road == "note":
            session.note(name, text)
        elif road == "note with an object":
            session.note(name, {"role": "user", "content": text})
        elif road == "note that states":
            assert death is not None
            session.note(name, text, states=[self.said[death.number]])
        elif road == "signal":
            self.provide(name, text)
        elif road == "signal with a list":
            self.provide(name, [text, {"also": text}])
        elif road == "location":
            before = self.signals.get("location", "")
            self.provide("location", f"{before} {text}".strip())
        else:
            assert road == "derived fact"
            assert death is not None
            session.write(name, text, depends_on=[self.said[death.number].fact_id])
        return name

    def provide(self, name: str, value: Any) -> None:
        self.signals[name] = value
        self.memory.environment.provide(name, lambda: self.signals[name])

    def context(self, **how: Any) -> Context:
        return self.session().context("What was agreed?", **{"budget": 100_000, **how})


ROADS = (
    "fact",
    "fact with a list",
    "subject's fact",
    "constraint",
    "organization's fact",
    "note",
    "note with an object",
    "note that states",
    "signal",
    "signal with a list",
    "location",
    "derived fact",
)


@contextmanager
def a_desk(store: str, settings: incumbent.Settings = FAST) -> Iterator[Desk]:
    clock = SteppingClock(step=timedelta(milliseconds=1))
    with a_place(store) as where, incumbent.open(where, clock=clock, settings=settings) as memory:
        yield Desk(memory, clock)


def dead_leaves(found: list[Death]) -> list[str]:
    return [leaf for death in found for leaf in leaves(death.value)]


_DISPUTE = re.compile(r" \[contested: [^\n]*\]$", re.MULTILINE)
"""Where a context tells on purpose what was said against a fact."""


def assert_gone(context: Context, found: list[Death]) -> None:
    for death in found:
        text = _DISPUTE.sub("", context.text) if death.how == "contested" else context.text
        for leaf in leaves(death.value):
            assert not says(text, leaf), f"{leaf!r} came back in:\n{context.text}"


def sentence(text: str, frame: int) -> str:
    """A text somewhere in a sentence that says enough without it."""
    frames = (
        "We spoke about it for long: {}, as you may remember from last week",
        "{} is what I heard them say on the phone when we met the others",
        "This is what the letter said that came in with the mail today, {}",
    )
    return frames[frame % len(frames)].format(text)


@pytest.mark.parametrize("disguise", DISGUISES)
@FEWER
@given(
    found=deaths,
    road=st.sampled_from(ROADS),
    frame=st.integers(0, 2),
    store=st.sampled_from(STORES),
)
@example([Death("address", "superseded", 0)], "note", 0, "memory")
@example([Death("address", "superseded", 0)], "note with an object", 0, "sqlite")
@example([Death("word", "superseded", 0)], "fact with a list", 0, "memory")
@example([Death("number", "superseded", 0)], "signal", 0, "memory")
@example([Death("accents", "superseded", 0)], "fact", 0, "memory")
def test_no_disguise_brings_a_dead_value_back(
    disguise: str, found: list[Death], road: str, frame: int, store: str
) -> None:
    """Case, punctuation, spacing, separators and characters that do not show hide nothing."""
    with a_desk(store) as desk:
        for death in found:
            desk.begin(death)
        for leaf in dead_leaves(found[:1]):
            desk.plant(road, sentence(DISGUISES[disguise](leaf), frame), found[0])
        for death in found:
            desk.end(death)
        assert_gone(desk.context(), found)


UNSEEN = [
    chr(code)
    for first, last in (
        *((0x01, 0x08), (0x0E, 0x1F), (0x7F, 0x84), (0x86, 0x9F), (0xAD, 0xAD), (0x34F, 0x34F)),
        *((0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F)),
        *((0x202A, 0x202E), (0x2060, 0x206F), (0x2800, 0x2800), (0x3164, 0x3164)),
        *((0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB)),
        *((0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
    )
    for code in range(first, last + 1)
]
"""Every character that shows nothing."""
hidings = st.lists(
    st.tuples(st.integers(0, 30), st.text(st.sampled_from(UNSEEN), min_size=1, max_size=3)),
    min_size=1,
    max_size=8,
)


def cut_items(context: Context) -> set[str | None]:
    return {left.item for left in context.omissions if left.reason == "quotes a dead value"}


@FEW
@given(
    shape=st.sampled_from([shape for shape in SHAPES if shape not in ("list", "object")]),
    how=st.sampled_from(HOW),
    road=st.sampled_from(["fact", "note", "signal"]),
    hidden=hidings,
    instead=st.booleans(),
)
@example("number", "superseded", "note", [(1, "\u3164"), (2, "\u200b\u2800")], False)
@example("address", "superseded", "fact", [(0, "\u3164")], True)
def test_nothing_that_shows_nothing_hides_a_dead_value(
    shape: str, how: str, road: str, hidden: list[tuple[int, str]], instead: bool
) -> None:
    """Any characters that do not show, anywhere within a value, or in place of every space."""
    death = Death(shape, how, 0)
    said = str(death.value)
    if instead:
        said = said.replace(" ", hidden[0][1])
    else:
        for place, signs in hidden:
            said = f"{said[:place]}{signs}{said[place:]}"
    with a_desk("memory") as desk:
        desk.begin(death)
        name = desk.plant(road, f"We spoke of matter0 for long: {said} as you may remember", death)
        desk.end(death)
        assert name in cut_items(desk.context())


MONTHS = "January February March April May June July August September October November December"


def _ordinal(day: int) -> str:
    ending = "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


DAYS: dict[str, Callable[[date], str]] = {
    "iso": date.isoformat,
    "month first": lambda day: f"{MONTHS.split()[day.month - 1]} {_ordinal(day.day)}",
    "day first": lambda day: f"{day.day} {MONTHS.split()[day.month - 1]} {day.year}",
    "short": lambda day: f"{MONTHS.split()[day.month - 1][:3]} {day.day}, {day.year}",
    "the nth of": lambda day: f"the {_ordinal(day.day)} of {MONTHS.split()[day.month - 1]}",
    "in figures": lambda day: f"{day.month:02}/{day.day:02}/{day.year}",
    "with points": lambda day: f"{day.day}.{day.month}.{day.year}",
}
CLOCKS: dict[str, Callable[[time], str]] = {
    "24 hours": lambda at: f"{at:%H:%M}",
    "12 hours": lambda at: f"{at.hour % 12 or 12}:{at.minute:02} {'pm' if at.hour > 11 else 'am'}",
    "capitals": lambda at: f"{at.hour % 12 or 12}:{at.minute:02} {'PM' if at.hour > 11 else 'AM'}",
    "open": lambda at: f"{at.hour % 12 or 12}:{at.minute:02}",
}
SUMS: dict[str, Callable[[int], str]] = {
    "sign": lambda amount: f"${amount * 100:,}",
    "k": lambda amount: f"${amount / 10:g}k",
    "words": lambda amount: f"{amount * 100} dollars",
    "gaps": lambda amount: f"{amount * 100:,} USD".replace(",", " "),
    "thousand": lambda amount: f"{amount / 10:g} thousand dollars",
}
forms = st.one_of(
    st.tuples(st.just(DAYS), st.dates(date(2020, 1, 1), date(2039, 12, 31))),
    st.tuples(st.just(CLOCKS), st.times()),
    st.tuples(st.just(SUMS), st.integers(11, 999)),
)


@FEW
@given(put=forms, ways=st.tuples(st.integers(0, 6), st.integers(0, 6)), road=st.sampled_from(ROADS))
@example((DAYS, date(2026, 3, 3)), (0, 1), "note")
@example((CLOCKS, time(17, 0)), (0, 1), "fact")
@example((SUMS, 12), (1, 3), "signal")
def test_no_everyday_form_brings_a_dead_value_back(
    put: tuple[dict[str, Callable[[Any], str]], Any], ways: tuple[int, int], road: str
) -> None:
    """However it was put, and however it is put again: the same day, time or sum is dead, unless
    a fact in office says it in whatever form."""
    ways_of_saying, value = list(put[0].values()), put[1]
    lost, said = (ways_of_saying[way % len(ways_of_saying)](value) for way in ways)
    with a_desk("memory") as desk:
        session = desk.session()
        first = session.write("delivery", lost)
        desk.said[0] = first
        session.write("delivery", "as agreed since")
        death = Death("word", "superseded", 0)
        road = "note" if road == "derived fact" else road
        name = desk.plant(road, f"Of the delivery they said {said} as you may remember", death)
        name = {"subject's fact": "remark", "location": "Location"}.get(road, name)
        assert name in cut_items(desk.context()), f"{lost!r} came back as {said!r}"
        session.write("keeper", said)
        assert name not in cut_items(desk.context()), f"{said!r} is in office"


@pytest.mark.parametrize("road", ROADS)
@FEWER
@given(
    found=deaths,
    disguises=st.lists(st.sampled_from(["as it is", "upper case", "in quotes"]), min_size=1),
    frame=st.integers(0, 2),
    store=st.sampled_from(STORES),
    when=st.sampled_from(["before", "after"]),
    shown=st.tuples(st.sampled_from(PROFILES), st.sampled_from(STYLES)),
)
def test_no_road_brings_a_dead_value_back(
    road: str,
    found: list[Death],
    disguises: list[str],
    frame: int,
    store: str,
    when: str,
    shown: tuple[str, str],
) -> None:
    """Said before or after the value died, in any profile and style: it does not come back."""
    profile, style = shown
    with a_desk(store) as desk:
        for death in found:
            desk.begin(death)
            if when == "before":
                _plant_all(desk, road, death, disguises, frame)
        for death in found:
            desk.end(death)
        if when == "after" and road != "derived fact":
            for death in found:
                _plant_all(desk, road, death, disguises, frame)
        # The comprehensive profile may show what has to be worked out again, marked as such.
        shows = profile == "comprehensive"
        dead = [death for death in found if not (shows and death.how == "stale")]
        assert_gone(desk.context(profile=profile, style=style), dead)


def _plant_all(desk: Desk, road: str, death: Death, disguises: list[str], frame: int) -> None:
    for number, leaf in enumerate(leaves(death.value)):
        disguise = DISGUISES[disguises[number % len(disguises)]]
        desk.plant(road, sentence(disguise(leaf), frame + number), death)


@FEW
@given(
    shape=st.sampled_from(list(SHAPES)),
    how=st.sampled_from(HOW),
    road=st.sampled_from(ROADS),
    store=st.sampled_from(STORES),
)
def test_a_value_that_is_still_held_stays(shape: str, how: str, road: str, store: str) -> None:
    """What a live, visible fact also says is not dead, and stays wherever it is said."""
    death = Death(shape, how, 0)
    with a_desk(store) as desk:
        desk.session().write("keeper", death.value)
        desk.begin(death)
        if road != "derived fact":
            for leaf in leaves(death.value):
                desk.plant(road, sentence(leaf, 0), death)
        desk.end(death)
        text = desk.context().text
        if road not in ("derived fact", "note that states"):
            for leaf in leaves(death.value):
                assert says(text, sentence(leaf, 0)), text
        assert GONE not in text


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (48151.0, "48151"),
        (48151.0, "48,151"),
        (48151, "48,151.00"),
        ("$48,151.00", "$48,151"),
        ("$48,151", "48151.00 dollars"),
    ],
)
def test_an_amount_is_the_same_however_it_is_written(value: Any, said: str) -> None:
    """Noughts after the point make no other number."""
    with a_desk("memory") as desk:
        desk.session().write("matter", value)
        desk.session().write("matter", "as agreed since")
        for road in ("fact", "note", "signal"):
            desk.plant(road, sentence(said, 0))
        assert not says(desk.context().text, "48151")


@pytest.mark.parametrize("kind", ["list", "object"])
@pytest.mark.parametrize("road", ["fact", "note", "signal"])
def test_every_part_of_a_long_value_is_dead(road: str, kind: str) -> None:
    """Of a dead list or object with hundreds of parts, the last is as dead as the first."""
    parts = [f"zqpart{number}x" for number in range(300)]
    value: Any = parts if kind == "list" else {f"name {part}": part for part in parts}
    with a_desk("memory") as desk:
        desk.session().write("matter", value)
        desk.session().write("matter", "as agreed since")
        desk.plant(road, sentence(parts[-1], 0))
        assert parts[-1] not in desk.context().text


LOOK_ALIKES = (
    ("123 Zqmain St", "1234 Zqmain St"),
    ("123 Zqmain St", "9123 Zqmain St"),
    ("123 Zqmain St", "123 Zqmain Square"),
    ("123 Zqmain St", "123 Zqmainly St"),
    ("123 Zqmain St", "St Zqmain 123"),
    ("$4,715", "$4,715.50"),
    ("$4,715", "$14,715"),
    ("$4,715", "$4,7150"),
    ("48151", "481516"),
    ("48151", "1,048,151"),
    ("48151", "48151.5"),
    ("zqoravel", "zqoravels"),
    ("zqoravel", "zqora"),
    ("Marisol Zqimtar", "Marisol Imtar"),
    ("Marisol Zqimtar", "Zqimtar, Marisol"),
    ("7.5 zqmiles", "7.55 zqmiles"),
)


@pytest.mark.parametrize("road", ["fact", "note", "signal"])
@pytest.mark.parametrize(("dead", "alike"), LOOK_ALIKES)
def test_a_look_alike_stays(dead: str, alike: str, road: str) -> None:
    """What only resembles a dead value is another value, and is left alone."""
    with a_desk("memory") as desk:
        desk.session().write("matter", dead)
        desk.session().write("matter", "as agreed since")
        text = f"We spoke about it for long, {alike} it is, as you may remember"
        desk.plant(road, text, Death("word", "superseded", 0))
        context = desk.context()
        assert text in context.text
        assert not says(context.text, dead)


INNOCENT = (
    ("approved", "yes", "Ask twice and say yes only once when they call"),
    ("approved", "no", "There is no lift in the house, so take the stairs"),
    ("seats", 3, "Gate 3 closes at noon on the last day"),
    ("colour", "blue", "The sky was blue when they left the harbour"),
    ("home", "Berlin", "The fair in Berlin opens its doors in May"),
    ("grade", "A", "A letter came in from the bank this week"),
    ("rooms", 12, "They have 12 months to think about it"),
    ("lunch", "open", "The shop is open from nine to five"),
    ("choice", True, "It is true that they never came back"),
    ("friend", "Mark", "They said to mark the door with chalk"),
)


@pytest.mark.parametrize("how", ["superseded", "retracted"])
@pytest.mark.parametrize(("key", "value", "text"), INNOCENT)
def test_short_and_common_values_blot_out_nothing(
    key: str, value: Any, text: str, how: str
) -> None:
    """A word that people use for many things stays in facts that are about something else."""
    with a_desk("memory") as desk:
        session = desk.session()
        session.write(key, value)
        if how == "superseded":
            session.write(key, "something else now")
        else:
            session.retract(key)
        session.write("remark", text)
        assert text in desk.context().text


@pytest.mark.parametrize(("key", "value", "text"), [*INNOCENT[:3], INNOCENT[5], INNOCENT[6]])
def test_short_values_blot_out_no_notes(key: str, value: Any, text: str) -> None:
    """A note that has a short dead value by chance, and is about something else, stays."""
    with a_desk("memory") as desk:
        desk.session().write(key, value)
        desk.session().write(key, "something else now")
        desk.session().note("remark", text)
        assert text in desk.context().text


@pytest.mark.parametrize("value", ["no", "yes", 3, "A"])
def test_a_short_value_beside_its_matter_goes(value: Any) -> None:
    """A short value is taken out where the note names what it was about."""
    with a_desk("memory") as desk:
        desk.session().write("parking_permit", value)
        desk.session().write("parking_permit", "something else now")
        desk.session().note("turn", f"The answer on the parking permit was {value} they told me")
        assert f"was {value} they" not in desk.context().text


CUES = (
    "was {}",
    "(was {})",
    "formerly {}",
    "previously: {}",
    "(previous: {})",
    "used to be {}",
    "no longer {}",
    "no longer at {}",
    "not {}",
    "instead of {}",
    "rather than {}",
    "changed from {}",
    "moved here from {}",
    "old address: {}",
    "replaces {}",
    "before that {}",
)


@pytest.mark.parametrize("cue", CUES)
def test_a_successor_that_looks_back_is_cut(cue: str) -> None:
    """A "was ..." in the text of the fact in office does not bring its predecessor back."""
    with a_desk("memory") as desk:
        desk.session().write("address", "123 Zqmain St")
        desk.session().write("address", f"456 Oak Ave, {cue.format('123 Zqmain St')}")
        context = desk.context()
        assert "456 Oak Ave" in context.text
        assert not says(context.text, "123 Zqmain St")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("123 Zqmain St", "123 Zqmain St, floor 4"),
        ("Zqmain Hotel", "Zqmain Hotel and Spa"),
        ("4 people", "4 people and a dog"),
    ],
)
def test_a_successor_may_say_more(old: str, new: str) -> None:
    """A value that was only made more exact stands whole, with the words of its predecessor."""
    with a_desk("memory") as desk:
        desk.session().write("matter", old)
        desk.session().write("matter", new)
        assert f"matter: {new}" in desk.context().text


@FEW
@given(
    shape=st.sampled_from(list(SHAPES)),
    how=st.sampled_from(["superseded", "retracted", "expired"]),
    store=st.sampled_from(STORES),
)
def test_history_shows_it_in_its_own_section_only(shape: str, how: str, store: str) -> None:
    """Asked for history, the dead value stands in that section, and nowhere else."""
    death = Death(shape, how, 0)
    with a_desk(store) as desk:
        desk.begin(death)
        for leaf in leaves(death.value):
            desk.plant("note", sentence(leaf, 0), death)
            desk.plant("fact", sentence(leaf, 1), death)
        desk.end(death)
        context = desk.session().context("matter0?", budget=100_000, history=True)
        past = "\n".join(line.text for line in context.lines if line.section == HISTORY)
        present = "\n".join(line.text for line in context.lines if line.section != HISTORY)
        for leaf in leaves(death.value):
            assert says(past, leaf)
            assert not says(present, leaf)


@FEW
@given(
    shape=st.sampled_from(list(SHAPES)),
    road=st.sampled_from(["note", "note with an object", "note that states", "derived fact"]),
    disguise=st.sampled_from(["as it is", "upper case", "in quotes"]),
    store=st.sampled_from(STORES),
)
def test_what_was_erased_stays_away(shape: str, road: str, disguise: str, store: str) -> None:
    """Notes and derived facts that repeat what is erased are gone with it."""
    death = Death(shape, "erased", 0)
    with a_desk(store) as desk:
        desk.begin(death)
        for leaf in leaves(death.value):
            desk.plant(road, sentence(DISGUISES[disguise](leaf), 0), death)
        desk.memory.forget(organization=ORGANIZATION, fact_id=desk.said[0].fact_id)
        assert_gone(desk.context(profile="comprehensive", history=True), [death])


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_note_goes_with_what_is_erased_in_any_disguise(disguise: str) -> None:
    """Nothing is left to compare with after an erasure, so it has to take the note along."""
    death = Death("address", "erased", 0)
    with a_desk("memory") as desk:
        desk.begin(death)
        desk.plant("note", sentence(DISGUISES[disguise](death.value), 0), death)
        desk.memory.forget(organization=ORGANIZATION, fact_id=desk.said[0].fact_id)
        assert_gone(desk.context(), [death])


@FEWER
@given(shape=st.sampled_from(list(SHAPES)), scope=st.sampled_from(["draft", "hypothetical"]))
def test_a_discarded_draft_leaves_nothing_behind(shape: str, scope: str) -> None:
    """What was only tried out in a branch is no fact after the branch is discarded."""
    death = Death(shape, "discarded", 0)
    with a_desk("memory") as desk:
        session = desk.session()
        branch = session.draft("d") if scope == "draft" else session.hypothetical("d")
        desk.said[0] = branch.write(death.key, death.value)
        for leaf in leaves(death.value):
            desk.plant("note that states", sentence(leaf, 0), death)
        branch.discard()
        assert_gone(desk.context(), [death])


@FEW
@given(
    shape=st.sampled_from(list(SHAPES)),
    how=st.sampled_from(HOW),
    road=st.sampled_from(["fact", "note", "signal"]),
)
def test_a_value_that_comes_back_may_be_said_again(shape: str, how: str, road: str) -> None:
    """Once a live fact says it again, the same text stands as it was said."""
    death = Death(shape, how, 0)
    with a_desk("memory") as desk:
        desk.begin(death)
        said = [sentence(leaf, 0) for leaf in leaves(death.value)]
        for text in said:
            desk.plant(road, text, death)
        desk.end(death)
        assert_gone(desk.context(), [death])
        desk.session("executive").write(death.key, death.value)
        text = desk.context().text
        assert all(text_said in text for text_said in said)


@pytest.mark.parametrize("road", ["fact", "note", "signal"])
def test_words_that_many_facts_have_still_make_a_dead_value(road: str) -> None:
    """A dead value made of words that hundreds of facts use is dead all the same."""
    with a_desk("memory") as desk:
        session = desk.session()
        session.write("contract", "pending approval")
        session.write("contract", "signed and sealed")
        session.write_many(
            {"key": f"order {number}", "value": f"pending their final approval {number}"}
            for number in range(250)
        )
        desk.plant(road, "as they said, the contract is pending approval with the lawyers")
        context = session.context("contract", budget=10_000)
        assert "pending approval" not in context.text


@pytest.mark.parametrize("count", [0, 500])
@pytest.mark.parametrize("road", ["fact", "note", "signal"])
def test_the_guard_is_as_good_in_a_large_memory(road: str, count: int) -> None:
    """Every kind of death is noticed, however many facts stand beside."""
    found = [
        Death(shape, how, number)
        for number, (shape, how) in enumerate(
            zip(("address", "number", "word", "name"), HOW[:4], strict=True)
        )
    ]
    with a_desk("sqlite") as desk:
        session = desk.session()
        session.write_many(
            {"key": f"order {number}", "value": f"agreed with customer {number}"}
            for number in range(count)
        )
        for death in found:
            desk.begin(death)
            for leaf in leaves(death.value):
                desk.plant(road, f"agreed on {sentence(leaf, 0)}", death)
        for death in found:
            desk.end(death)
        context = session.context("We spoke about it for long", budget=4_000)
        assert_gone(context, found)
        assert GONE in context.text


@pytest.mark.parametrize("road", ["note", "signal", "fact"])
def test_a_text_without_spaces_hides_nothing(road: str) -> None:
    """A dead value in the middle of a sentence is found where words are not set apart."""
    with a_desk("memory") as desk:
        desk.session().write("住所", "東京都港区")
        desk.session().write("住所", "大阪市")
        desk.plant(road, "住所は東京都港区です、よろしくお願いします。今日は晴れです")
        assert "東京都港区" not in desk.context().text


@pytest.mark.parametrize("road", ["note", "signal", "fact"])
def test_the_restricted_dead_are_not_felt(road: str) -> None:
    """A value that only a fact this reader may not see has lost stays in what the reader said."""
    with a_desk("memory") as desk:
        keeper = desk.memory.session(
            user_id="hana", authority="policy", organization=ORGANIZATION, permissions=["hr"]
        )
        given: dict[str, Any] = {"requires": ["hr"], "memory_type": "organizational"}
        keeper.write("matter", "123 Zqmain St", **given)
        keeper.write("matter", "something else", **given)
        text = sentence("123 Zqmain St", 0)
        desk.plant(road, text)
        assert text in desk.context().text
