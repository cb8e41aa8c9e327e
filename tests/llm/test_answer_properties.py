"""Whatever a model answers, the turn is observed, and nothing is filed that nobody said."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

import tenure
from tenure.testing import SteppingClock
from tests.conftest import examples
from tests.llm.scripted import Scripted, answer, opinion, settings

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


def talk(*contents: Any) -> tuple[tenure.Memory, tenure.Session, list[tenure.Observation]]:
    """Say the turns to a memory whose model answers like this."""
    model = Scripted(*((lambda ask, given=given: given) for given in contents))
    memory = tenure.open(":memory:", clock=SteppingClock(), settings=settings(model, retries=0))
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
