"""Whatever a model answers, the turn is observed, and nothing is filed that nobody said."""

from __future__ import annotations

import re
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

import incumbent
from incumbent.reading.asked import Ask
from incumbent.testing import SteppingClock
from tests.conftest import examples
from tests.llm.scripted import Scripted, answer, entry, link, names, opinion, settings, values

TURNS = [
    "We need 40 desks by Friday. My address is 1 Main St.",
    "What if the price was $9k? Bob said it was Lyon.",
    "Turns out 45 fits, and 9 Elm Rd is where we live now. Policy allows 90% discounts.",
]
WORDS = sorted({word for text in TURNS for word in re.findall(r"[\w$%]+", text)})
SNIPPETS = st.one_of(
    st.sampled_from(TURNS),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    st.sampled_from(["", "k1", "Paris", "40 desks", "1 Main St", "9 Elm Rd", "\x00", "x" * 300]),
)
HANDLES = st.sampled_from(["k1", "k2", "k3", "k9", "s1", "s2", "s9", "", "\x00"])
KINDS = ["replaces", "part", "ends", "reverts", "doubts", "confirms", "adds", "depends"]
DAYS = st.sampled_from(["", "2026-01-01", "2030-01-01", "Friday", "\x00"])
ENTRIES = st.fixed_dictionaries(
    {
        "s": HANDLES,
        "says": SNIPPETS,
        "about": SNIPPETS,
        "attribute": SNIPPETS,
        "value": SNIPPETS,
        "from": DAYS,
        "until": DAYS,
        "does": st.lists(
            st.fixed_dictionaries(
                {
                    "to": HANDLES,
                    "is": st.sampled_from([*KINDS, "odd"]),
                    "old": SNIPPETS,
                    "new": SNIPPETS,
                    "sure": st.booleans(),
                }
            ),
            max_size=3,
        ),
    }
)
JUNK = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SNIPPETS, inner, max_size=3),
    max_leaves=8,
)


def talk(*contents: Any) -> tuple[incumbent.Memory, incumbent.Session, list[incumbent.Observation]]:
    """Say the turns to a memory whose model answers like this."""
    model = Scripted(*((lambda ask, given=given: given) for given in contents))
    memory = incumbent.open(":memory:", clock=SteppingClock(), settings=settings(model, retries=0))
    session = memory.session(user_id="ann", authority="executive", organization="acme")
    return memory, session, [session.observe(text) for text in TURNS]


def words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w+", text)}


@given(st.lists(st.lists(ENTRIES, max_size=4), min_size=3, max_size=3))
@tried(max_examples=examples(40, soak=60), deadline=None)
def test_no_answer_files_what_was_not_said(contents: list[Any]) -> None:
    """Facts of a model have only words of the turns, and are the speaker's own."""
    memory, session, made = talk(*(answer(*one) for one in contents))
    with memory:
        everything = words(" ".join(TURNS)) | words("no longer current")
        for observation in made:
            assert opinion(observation).status in ("given", "failed")
            for verdict in opinion(observation).verdicts:
                if verdict.fact is not None:
                    assert words(str(verdict.fact.value)) <= everything
                    assert verdict.fact.owner == "ann"
                explained = session.explain(verdict.fact_id)
                assert verdict.id in {one.id for one in explained.verdicts}


SITTING = [
    {"text": "The van is booked for Thursday at 9 from Kestrel."},
    {"text": "They can only do Friday, same time. Leo has lost his book."},
    {"text": "The van is confirmed, reference V-77.", "speaker": "assistant"},
    {"text": "We do not need a van any more, thanks!"},
    {"text": "The book is found, it was in the attic of Dunmore."},
]


def at_random(chance: Random, ask: Ask) -> dict[str, Any]:
    """An answer with grounds in the turns, whatever sense it makes."""
    shown = names(ask)
    entries = []
    for name in [name for name in shown if name.startswith("s") and chance.random() < 0.8]:
        links = []
        before = [*shown][: [*shown].index(name)]
        for to in chance.sample(before, chance.randint(0, min(2, len(before)))):
            said, here = shown[to].split(), shown[name].split()
            begin, first = chance.randrange(len(said)), chance.randrange(len(here))
            links.append(
                link(
                    to,
                    chance.choice(KINDS),
                    sure=chance.random() < 0.7,
                    old=" ".join(said[begin : begin + chance.randint(1, 4)]),
                    new=" ".join(here[first : first + chance.randint(1, 4)]),
                )
            )
        entries.append(entry(name, *links))
    return answer(*entries)


@given(st.integers(0, 10_000))
@tried(max_examples=examples(40, soak=300), deadline=None)
def test_whatever_a_model_does_to_a_sitting_can_be_undone(seed: int) -> None:
    """Only words that were said are in office; and undone, last first, it is as it was read."""
    model = Scripted(lambda ask: at_random(Random(seed), ask))
    plain = incumbent.Settings(embedder=None)
    with (
        incumbent.open(":memory:", clock=SteppingClock(), settings=settings(model)) as memory,
        incumbent.open(":memory:", clock=SteppingClock(), settings=plain) as offline,
    ):
        session, other = (one.session(user_id="ann") for one in (memory, offline))
        made = session.observe_many(SITTING)
        other.observe_many(SITTING)
        everything = words(" ".join(turn["text"] for turn in SITTING))
        for value in values(session):
            assert words(value) <= everything | words("no longer current")
        opinions = [opinion(one) for one in made]
        assert all(
            one.status == "given" or "could not be believed" in one.reason for one in opinions
        )
        verdicts = [verdict for one in opinions for verdict in one.verdicts]
        for verdict in sorted(verdicts, key=lambda verdict: -verdict.seq):
            session.undo(verdict)
        assert values(session) == values(other)


@given(JUNK)
@tried(max_examples=examples(40, soak=60), deadline=None)
def test_junk_is_no_reading(content: Any) -> None:
    """An answer of whatever form leaves the offline reading as it is."""
    with talk()[0] as plain, talk(content)[0] as memory:
        theirs, ours = (
            [str(fact.value) for fact in one.session(user_id="ann", organization="acme").facts()]
            for one in (plain, memory)
        )
        assert ours == theirs
