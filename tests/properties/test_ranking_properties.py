"""Ranking: what a query is about comes first, and the score says why."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from math import isclose
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incumbent import Context, Memory, Session
from incumbent.context.document import Line
from incumbent.context.ranking import Matches, Ranked, rank, rounded
from incumbent.context.rendering import CONSTRAINTS, HISTORY, UNKNOWN
from incumbent.context.request import PROFILES as REQUESTED
from incumbent.context.roll import Sheets
from incumbent.model.authority import Ladder
from incumbent.model.fact import Fact
from incumbent.search import analysis
from incumbent.search.retrieval import alike
from incumbent.testing import SteppingClock
from incumbent.testing.clock import START
from tests.conftest import QUICK, examples
from tests.properties.contexts import FAST, KEYS, QUERIES, a_memory, a_story, histories
from tests.properties.world import ORGANIZATION, RUNGS

FEW = settings(max_examples=examples(60, soak=300), deadline=None)
FEWER = settings(max_examples=examples(20, soak=150), deadline=None)
SHEETS = Sheets(analysis.name_terms)
EMBEDDERS = {"static": FAST, "none": replace(FAST, embedder=None), "default": QUICK}


def fact(number: int, **given: Any) -> Fact:
    """A fact in office, told from others by its number alone."""
    return Fact(
        **{
            "id": f"fact-{number:03}",
            "organization": ORGANIZATION,
            "key": f"key_{number}",
            "value": f"value {number}",
            "timestamp": START,
            "recorded_at": START,
            "valid_from": START,
            "started_at": START,
            "authority": "employee",
            "standing": "employee",
            **given,
        }
    )


class Rankable(NamedTuple):
    """A fact that was found, with its match."""

    fact: Fact
    text: float
    meaning: float
    tokens: int | None = None
    vector: bytes | None = None
    bears: bool = False


def ranked(candidates: list[Rankable], query: str = "") -> list[Ranked]:
    columns = zip(*candidates, strict=True) if candidates else [()] * len(Matches._fields)
    return rank(
        Matches(*columns),
        set(analysis.terms(query)),
        now=START + timedelta(days=1),
        ladder=Ladder(),
        sheets=SHEETS,
        alike=alike,
    )


vectors = st.lists(st.integers(-3, 3), min_size=4, max_size=4).map(
    lambda row: bytes(part % 256 for part in row)
)
candidates = st.lists(
    st.builds(
        lambda text, meaning, vector, given: (text, meaning, vector, given),
        st.floats(0, 2),
        st.floats(-1, 1),
        st.none() | vectors,
        st.fixed_dictionaries(
            {"value": st.sampled_from(["plan", "plan venue", "venue 12", "venue 13", ""])},
            optional={
                "key": st.sampled_from(KEYS),
                "subject": st.sampled_from(["alice", "the Big Plan"]),
                "standing": st.sampled_from(RUNGS),
                "is_constraint": st.booleans(),
                "time_sensitive": st.booleans(),
            },
        ),
    ),
    max_size=8,
).map(
    lambda rows: [
        Rankable(fact(number, **given), text, meaning, 7, vector)
        for number, (text, meaning, vector, given) in enumerate(rows)
    ]
)


@FEW
@given(found=candidates, query=st.sampled_from(QUERIES))
def test_a_score_is_the_sum_of_its_parts(found: list[Rankable], query: str) -> None:
    """Every candidate comes back once, best first, and its parts add up to its score."""
    order = ranked(found, query)
    assert sorted(one.fact.id for one in order) == [one.fact.id for one in found]
    for one in order:
        assert isclose(one.score, sum(one.parts.values()), abs_tol=1e-9)
        assert one.score >= 0
    for better, worse in pairwise(order):
        assert better.score >= worse.score


@FEW
@given(found=candidates, query=st.sampled_from(QUERIES), data=st.data())
def test_the_order_of_arrival_does_not_matter(
    found: list[Rankable], query: str, data: st.DataObject
) -> None:
    """The same candidates in any order give the same ranking."""
    shuffled = data.draw(st.permutations(found))
    assert ranked(shuffled, query) == ranked(found, query)


@FEW
@given(found=candidates, by_words=st.booleans(), query=st.sampled_from(QUERIES))
def test_a_better_match_never_ranks_lower(
    found: list[Rankable], by_words: bool, query: str
) -> None:
    """Of two facts alike in everything else, the one that matches better stands before."""
    plain = [Rankable(one.fact, one.text, one.meaning) for one in found]
    for one in plain:
        twin = Rankable(fact(900, key=one.fact.key), 0.5, 0.5)
        halves = (0.25, 0.5) if by_words else (0.5, 0.25)
        less = Rankable(fact(901, key=one.fact.key), *halves)
        order = [ranked_one.fact.id for ranked_one in ranked([*plain, less, twin], query)]
        assert order.index("fact-900") < order.index("fact-901")


@pytest.mark.parametrize(
    ("part", "given", "query"),
    [
        ("key", {"key": "delivery_address"}, "What is the delivery address?"),
        ("key", {"key": "deliveryAddress"}, "what is the delivery address"),
        ("key", {"key": "delivery.address"}, "DELIVERY ADDRESS"),
        ("subject", {"subject": "alice"}, "Where does Alice live?"),
        ("authority", {"standing": "executive"}, ""),
        ("recency", {"time_sensitive": True, "valid_from": START}, ""),
        ("constraint", {"is_constraint": True, "key": "delivery_address"}, "delivery address"),
    ],
)
def test_each_part_lifts_a_fact(part: str, given: dict[str, Any], query: str) -> None:
    """What a fact has over one that matches as well lifts it, and is told in its parts."""
    lifted = Rankable(fact(2, **given), 0.3, 0.3)
    other = Rankable(fact(1), 0.3, 0.3)
    first, second = ranked([other, lifted], query)
    assert first.fact.id == lifted.fact.id
    assert first.parts[part] > second.parts.get(part, 0.0)


@FEW
@given(numbers=st.lists(st.floats(0, 2) | st.integers(0, 40_000).map(lambda n: (n + 0.5) / 1e4)))
def test_many_numbers_are_rounded_as_each_would_be(numbers: list[float]) -> None:
    """In columns, too, a number next to the middle of two goes by its exact value."""
    found = rounded(np.array(numbers, np.float64)).tolist()
    assert found == [round(number, 4) for number in numbers]


def test_a_fresh_reading_stands_before_an_old_one() -> None:
    """Where the fact is time-sensitive, and only there, a newer one scores higher."""
    for sensitive in (True, False):
        old, new = (
            Rankable(
                fact(number, time_sensitive=sensitive, valid_from=START - timedelta(days=age)),
                0.3,
                0.3,
            )
            for number, age in ((1, 60), (2, 0))
        )
        scores = {one.fact.id: one.score for one in ranked([old, new])}
        assert (scores["fact-002"] > scores["fact-001"]) is sensitive


# whole contexts


def lines_of(context: Context) -> list[Line]:
    return [line for line in context.lines if line.score is not None]


@pytest.mark.parametrize("embedder", EMBEDDERS)
@settings(max_examples=examples(15, soak=100), deadline=None)
@given(history=histories, query=st.sampled_from(QUERIES))
def test_every_line_of_a_fact_says_why(
    embedder: str, history: list[tuple[Any, ...]], query: str
) -> None:
    """A line that a fact stands behind has a score with its parts, in order within its section."""
    with a_story("memory", history, EMBEDDERS[embedder]) as (story, _):
        context = story.reader.context(query, budget=10_000)
        last: dict[str, float] = {}
        for line in context.lines:
            if line.fact_id is None or line.section in (HISTORY, UNKNOWN):
                assert not line.parts
                continue
            assert line.score is not None
            assert isclose(line.score, sum(line.parts.values()), abs_tol=1e-9)
            assert line.score <= last.get(line.section, line.score)
            last[line.section] = line.score
            assert line.sources


_WORDS = """
boat chair dog engine fish glass house iron juice kite lamp money night onion paper queen river
stone table umbrella village window yard zebra
"""
WORDS = _WORDS.split()
NAMES = ("Alice", "Bruno", "Chloe", "Dmitri")
filler = st.lists(
    st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS), st.sampled_from(WORDS)),
    max_size=12,
    unique=True,
)


def with_filler(memory: Memory, found: list[tuple[str, ...]]) -> Session:
    session = memory.session(user_id="eve", organization=ORGANIZATION, session_id="s")
    session.write_many(
        {"key": f"{one}_{number}", "value": f"the {two} and the {three}"}
        for number, (one, two, three) in enumerate(found)
    )
    return session


@pytest.mark.parametrize("embedder", EMBEDDERS)
@FEWER
@given(found=filler, name=st.sampled_from(NAMES), key=st.sampled_from(["shoe size", "home town"]))
def test_the_fact_that_is_named_comes_first(
    embedder: str, found: list[tuple[str, ...]], name: str, key: str
) -> None:
    """A query that names key and subject gets that fact first, before those of other subjects."""
    clock = SteppingClock()
    with a_memory("memory", clock, EMBEDDERS[embedder]) as memory:
        session = with_filler(memory, found)
        for number, subject in enumerate(NAMES):
            session.write(key.replace(" ", "_"), f"value {number + 40}", subject=subject)
        session.write("remark", f"somebody asked for {name} and the {key.split()[0]}")
        context = session.context(f"What is the {key} of {name}?")
        best = max(lines_of(context), key=lambda line: line.score or 0.0)
        assert f"({name})" in best.text


@pytest.mark.parametrize("embedder", EMBEDDERS)
@FEWER
@given(found=filler)
def test_a_constraint_that_bears_on_the_query_comes_first(
    embedder: str, found: list[tuple[str, ...]]
) -> None:
    """It stands above every other fact, and no room is given to others that it could have had."""
    with a_memory("memory", settings=EMBEDDERS[embedder]) as memory:
        session = with_filler(memory, found)
        for number in range(8):
            session.write(f"discount_{number}", f"a discount of {number + 20} percent for the boat")
        session.write("discount_policy", "a discount of at most 15 percent", is_constraint=True)
        query = "Which discount can we offer?"
        context = session.context(query)
        first = lines_of(context)[0]
        assert first.section == CONSTRAINTS
        assert "at most 15 percent" in first.text
        assert first.parts["constraint"] > 0
        tight = [session.context(query, budget=budget) for budget in range(40, 200, 4)]
        ruled = [any("at most 15" in line.text for line in lines_of(one)) for one in tight]
        assert ruled == sorted(ruled)
        fewest = min(one.tokens for one, shown in zip(tight, ruled, strict=True) if shown)
        for one, shown in zip(tight, ruled, strict=True):
            assert shown or one.budget < fewest + 10


@pytest.mark.parametrize("embedder", ["static", "default"])
@FEWER
@given(found=filler, count=st.integers(5, 25), told=st.permutations(range(4)))
def test_repetitions_do_not_crowd_out_the_rest(
    embedder: str, found: list[tuple[str, ...]], count: int, told: list[int]
) -> None:
    """However often the same is said, what else there is to the question has room beside it."""
    others = (
        ("venue_parking", "parking at the venue is behind the house"),
        ("venue_contact", "ask for Bruno at the venue"),
        ("venue_price", "the venue costs 900 a day"),
        ("venue_capacity", "the venue takes 120 people"),
    )
    with a_memory("memory", settings=EMBEDDERS[embedder]) as memory:
        session = with_filler(memory, found)
        for number in told:
            session.write(*others[number])
        for number in range(count):
            session.write(f"remark_{number}", "The venue is the old glass house by the river.")
        context = session.context("Tell me about the venue", budget=10_000)
        order = sorted(lines_of(context), key=lambda line: -(line.score or 0.0))
        said = ["old glass house" in line.text for line in order]
        assert not any(said[one] and said[one + 1] for one in range(3)), [x.text for x in order]
        tight = session.context("Tell me about the venue", budget=160)
        shown = [line for line in lines_of(tight) if "old glass house" in line.text]
        assert len(shown) <= max(1, len(lines_of(tight)) - 4)


def test_numbers_tell_repetitions_apart() -> None:
    """Statements that differ in a number only are different statements, and none is held back."""
    with a_memory("memory") as memory:
        session = with_filler(memory, [])
        for number in range(6):
            session.write(f"reading_{number}", f"The meter in the yard shows {number + 100} units")
        context = session.context("What does the meter show?")
        assert len(lines_of(context)) == 6
        assert all("repeated" not in line.parts for line in lines_of(context))


@FEWER
@given(found=filler, data=st.data())
def test_room_goes_to_the_best(found: list[tuple[str, ...]], data: st.DataObject) -> None:
    """What fits into less room is what scored best: no line left out beats one of its length."""
    with a_memory("memory") as memory:
        session = with_filler(memory, found)
        query = " ".join(data.draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)))
        whole = session.context(query, budget=10_000)
        scores = {line.fact_id: (line.score or 0.0, len(line.text)) for line in lines_of(whole)}
        tight = session.context(query, budget=data.draw(st.integers(60, 160)))
        shown = {line.fact_id for line in lines_of(tight)}
        assert shown <= scores.keys()
        for line in lines_of(tight):
            assert (line.score, len(line.text)) == scores[line.fact_id]
        left_out = [scores[key] for key in scores.keys() - shown]
        if shown and left_out:
            least = min(scores[key][0] for key in shown)
            # A longer one may have been passed over; the shortest of all cannot have been.
            shortest = min(length for _, length in scores.values())
            assert all(score <= least for score, length in left_out if length < shortest - 8)


@pytest.mark.parametrize("profile", ["high-stakes", "balanced", "comprehensive"])
def test_profiles_differ_in_how_much_they_take_in(profile: str) -> None:
    """A stricter profile leaves out as irrelevant what a wider one shows, and says so."""
    with a_memory("memory") as memory:
        session = with_filler(memory, [])
        session.write("shoe_size", "44 and a half")
        session.write_many(
            {"key": f"{word}_{number}", "value": f"{word} number {number}"}
            for number in range(3)
            for word in WORDS
        )
        context = session.context("What is the shoe size?", budget=1_000, profile=profile)
        irrelevant = [o for o in context.omissions if o.reason == "irrelevant"]
        assert len(lines_of(context)) + len(irrelevant) == 1 + 3 * len(WORDS)
        best = max(lines_of(context), key=lambda line: line.score or 0)
        assert "44 and a half" in best.text
        shown = len(lines_of(context))
        assert shown >= max(1, REQUESTED[profile].always)
        assert bool(irrelevant) == (profile != "comprehensive")
