"""Whatever a model answers, the turn is observed, and nothing is filed that nobody said."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

import incumbent
from incumbent.language.llm import Ask
from incumbent.testing import SteppingClock
from tests.conftest import examples
from tests.llm.scripted import (
    Scripted,
    Suspicious,
    answer,
    fate,
    keep,
    opinion,
    settings,
    told,
)

TURNS = [
    "We need 40 desks by Friday. My address is 1 Main St.",
    "What if the price was $9k? Bob said it was Lyon.",
    "Turns out 45 fits, and 9 Elm Rd is where we live now. Policy allows 90% discounts.",
]
WORDS = sorted({word for text in TURNS for word in re.findall(r"[\w$%]+", text)})
SNIPPETS = st.one_of(
    st.sampled_from(TURNS),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    st.sampled_from(["", "f1", "Paris", "40 desks", "1 Main St", "9 Elm Rd", "\x00", "x" * 300]),
)
HANDLES = st.sampled_from(["f1", "f2", "f3", "f9", "r1", "r2", "", "\x00"])
CANDIDATES = st.fixed_dictionaries(
    {
        "turn": st.integers(0, 4),
        "quote": SNIPPETS,
        "about": SNIPPETS,
        "attribute": SNIPPETS,
        "value": SNIPPETS,
        "commitment": st.sampled_from(
            ["stated", "requested", "committed", "considering", "hypothetical", "retracted", "odd"]
        ),
        "scope": st.sampled_from(["global", "task", "session", "draft", "hypothetical", "odd"]),
        "replaces": st.lists(st.fixed_dictionaries({"fact": HANDLES, "old": SNIPPETS}), max_size=3),
        "confidence": st.floats(0, 1),
    }
)
OBJECTIONS = st.fixed_dictionaries({"fact": HANDLES, "turn": st.integers(0, 4), "quote": SNIPPETS})
KEEPS = st.fixed_dictionaries({"turn": st.integers(0, 4), "quote": SNIPPETS})
FATES = st.fixed_dictionaries(
    {
        "fact": HANDLES,
        "turn": st.integers(0, 4),
        "quote": SNIPPETS,
        "becomes": st.sampled_from(
            ["replaced", "part", "ended", "doubtful", "holds", "no_fact", "odd"]
        ),
        "old": SNIPPETS,
        "from": st.sampled_from(["", "2030-01-01", "Friday", "\x00"]),
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


def said(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w+", text)}


@given(
    st.lists(
        st.tuples(
            st.lists(CANDIDATES, max_size=4),
            st.lists(OBJECTIONS, max_size=2),
            st.lists(KEEPS, max_size=3),
            st.lists(FATES, max_size=4),
        ),
        min_size=3,
        max_size=3,
    )
)
@tried(max_examples=examples(60, soak=60), deadline=None)
def test_no_answer_files_what_was_not_said(contents: list[Any]) -> None:
    """Facts of a model have only words of the turns, bind nobody, and are the speaker's own."""
    memory, session, made = talk(
        *(answer(*c, objections=o, keeps=k, fates=f) for c, o, k, f in contents)
    )
    with memory:
        everything = said(" ".join(TURNS))
        for observation in made:
            assert opinion(observation).status in ("given", "failed")
            for verdict in opinion(observation).verdicts:
                fact = verdict.fact
                if fact is None or verdict.evidence.get("detector") != "llm":
                    continue
                assert said(str(fact.value)) <= everything
                assert fact.owner == "ann"
                assert fact.constraint_type != "policy"
        # The what-if of the second turn is nobody's word, and the hearsay at most Bob's.
        said_now = [str(fact.value) for fact in session.facts()]
        assert not any("$9k" in text for text in said_now)
        assert all("Bob said" in text for text in said_now if "Lyon" in text)
        for observation in made:
            for verdict in reversed(opinion(observation).verdicts):
                explained = session.explain(verdict.fact_id)
                assert verdict.id in {one.id for one in explained.verdicts}


SITTING = [
    {"text": "The van is booked for Thursday at 9 from Kestrel."},
    {"text": "They can only do Friday, same time. Leo has lost his book."},
    {"text": "The van is confirmed, reference V-77.", "speaker": "assistant"},
    {"text": "We do not need a van any more, thanks!"},
    {"text": "The book is found, it was in the attic of Dunmore."},
]
FATE_WORDS = ["replaced", "part", "ended", "doubtful", "holds", "no_fact"]


def at_random(chance: Random, ask: Ask) -> dict[str, Any]:
    """An answer with grounds in the turns, whatever sense it makes."""
    data = told(ask)
    read = [turn for turn in data["turns"] if turn["read"]]
    pieces = [
        (turn["turn"], piece)
        for turn in read
        for piece in (turn["text"], *turn["text"].split(". "), *turn["text"].split(", "))
    ]
    shown = [(one["id"], one["says"].split()) for one in data["known"]]
    shown += [(one["id"], one["was"].split()) for one in data["replaced"]]
    fates = []
    for _ in range(chance.randint(0, 6)):
        (handle, words), (turn, quote) = chance.choice(shown), chance.choice(pieces)
        begin = chance.randrange(len(words))
        old = " ".join(words[begin : begin + chance.randint(1, 4)])
        fates.append(fate(handle, turn, quote, chance.choice(FATE_WORDS), old))
    keeps = [keep(*chance.choice(pieces)) for _ in range(chance.randint(0, 3))]
    return answer(keeps=keeps, fates=fates)


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.6, 0.95]))
@tried(max_examples=examples(60, soak=300), deadline=None)
def test_whatever_a_model_does_to_a_sitting_can_be_undone(seed: int, suspicion: float) -> None:
    """Only words that were said are in office; and undone, last first, it is as it was read."""
    model = Scripted(lambda ask: at_random(Random(seed), ask))
    given = replace(settings(model), detector=Suspicious(suspicion))
    offline = replace(given, llm=None)
    with (
        incumbent.open(":memory:", clock=SteppingClock(), settings=given) as memory,
        incumbent.open(":memory:", clock=SteppingClock(), settings=offline) as plain,
    ):
        session, other = (one.session(user_id="ann") for one in (memory, plain))
        made = session.observe_many(SITTING)
        other.observe_many(SITTING)
        everything = " ".join(turn["text"] for turn in SITTING)
        for fact in session.facts():
            pieces = re.split("[…→]", str(fact.value))
            assert fact.source.composed or all(one.strip() in everything for one in pieces)
        opinions = [opinion(one) for one in made]
        assert all(one.status == "given" for one in opinions)
        verdicts = [verdict for one in opinions for verdict in one.verdicts]
        for verdict in sorted(verdicts, key=lambda verdict: -verdict.seq):
            session.undo(verdict)
        ours, theirs = (sorted(str(f.value) for f in one.facts()) for one in (session, other))
        assert ours == theirs


@given(JUNK)
@tried(max_examples=examples(60, soak=60), deadline=None)
def test_junk_is_no_opinion(content: Any) -> None:
    """An answer of whatever form leaves the offline reading as it is."""
    with talk()[0] as plain, talk(content)[0] as memory:
        theirs, ours = (
            [str(fact) for fact in one.session(user_id="ann", organization="acme").facts()]
            for one in (plain, memory)
        )
        assert ours == theirs
