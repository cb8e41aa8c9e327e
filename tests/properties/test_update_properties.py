"""Random talks: nothing that is over is in a context, and nothing in doubt without its update."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import incumbent
from incumbent import Context, Line
from incumbent.model.fact import Part
from incumbent.reading.form import Heard, Reading, Relation, RelationKind, Statement, StatementKind
from incumbent.testing import SteppingClock
from tests.conftest import examples
from tests.properties.contexts import FAST, PROFILES

FRAMES = (
    "The {} is what we settled on for the harbour.",
    "We went with {} then, which took all of a long afternoon and two phone calls to arrange.",
    "It is {} now.",
    "Nobody minded that it would be {} for the boats, "
    + "and so on and so forth about the boats and the harbour and who pays for them " * 7,
)
"""What a statement says, from short to longer than a note on a doubt quotes."""
ASIDES = ("Nice weather for it by the way.", "Anyway, I am off to lunch with my sister at 12.", "")
DOES = (None, None, None, RelationKind.DOUBTS, RelationKind.REPLACES, RelationKind.ENDS)
QUERIES = ("What about the harbour?", "Who settled on what for the boats, and when?", "lunch", "")

statements = st.tuples(
    st.sampled_from(FRAMES), st.sampled_from(DOES), st.integers(0, 9), st.booleans()
)
turns = st.tuples(
    st.lists(statements, min_size=1, max_size=3), st.sampled_from(ASIDES), st.booleans()
)
talks = st.lists(turns, min_size=1, max_size=6)


class Scripted:
    """A reader that finds in a turn what the test has put there, and nothing else."""

    name = "scripted"

    def __init__(self) -> None:
        self.reading = Reading()

    def read(self, heard: Heard) -> Reading:
        return self.reading


class Talk:
    """What somebody says over days, every statement with a word of its own."""

    def __init__(self, memory: incumbent.Memory, clock: SteppingClock, reader: Scripted) -> None:
        self.memory, self.clock, self.reader = memory, clock, reader
        self.facts: list[tuple[str, str, str]] = []
        """The text, the word and the id of each statement."""
        self.day = 0

    @property
    def session(self) -> incumbent.Session:
        return self.memory.session(user_id="eve", organization="acme", session_id=f"{self.day}")

    def say(self, said: Sequence[Any], aside: str, is_next_day: bool) -> None:
        if is_next_day:
            self.day += 1
            self.clock.advance(days=1)
        self.clock.advance(seconds=30)
        text, found, does = "", [], []
        for number, (frame, kind, target, echoes) in enumerate(said):
            word = f"zq{len(self.facts) + number:03}word"
            sentence = frame.format(word).strip()
            start = len(text)
            text += f"{sentence} "
            place = sentence.index(word)
            part = Part("name", word, word, "", place, place + len(word))
            end = start + len(sentence)
            found.append(Statement(sentence, start, end, StatementKind.STATES, parts=(part,)))
            if kind is not None and self.facts:
                _, old, fact_id = self.facts[target % len(self.facts)]
                does.append(Relation(kind, fact_id, number))
                text += f"So much for {old}, then. " if echoes else ""
        self.reader.reading = Reading(tuple(found), tuple(does))
        observation = self.session.observe(f"{text}{aside}".strip())
        ids = {fact.value: fact.id for fact in observation.facts}
        self.facts += [(one.text, one.parts[0].text, ids[one.text]) for one in found]


@contextmanager
def a_talk(said: Sequence[Any]) -> Iterator[Talk]:
    clock, reader = SteppingClock(), Scripted()
    given = replace(FAST, reader=reader)
    with incumbent.open(":memory:", clock=clock, settings=given) as memory:
        talk = Talk(memory, clock, reader)
        for turn in said:
            talk.say(*turn)
        yield talk


def doubts_of(session: incumbent.Session) -> dict[str, str]:
    """What is in doubt, and the newest statement against it."""
    found = {}
    for review in session.reviews():
        if review.kind == "doubted":
            assert review.rival is not None
            found[review.fact.id] = review.rival.id
    return found


def lines_with(talk: Talk, context: Context, fact_id: str, *, whole: bool) -> list[Line]:
    """The lines that say a statement, or only its word."""
    [(sentence, word)] = [(text, word) for text, word, one in talk.facts if one == fact_id]
    return [line for line in context.lines if (sentence if whole else word) in line.text]


@settings(max_examples=examples(60, soak=1_000), deadline=None)
@given(
    said=talks,
    query=st.sampled_from(QUERIES),
    budgets=st.lists(st.integers(60, 500), min_size=1, max_size=4),
    profile=st.sampled_from(PROFILES),
    is_later=st.booleans(),
)
def test_nothing_is_shown_without_its_update(
    said: Sequence[Any], query: str, budgets: Sequence[int], profile: str, is_later: bool
) -> None:
    """What is over is nowhere; what is in doubt is never seen without what put it there."""
    with a_talk(said) as talk:
        if is_later:
            talk.day += 1
            talk.clock.advance(days=1)
        session = talk.session
        doubts = doubts_of(session)
        held = {fact.id for fact in session.facts()}
        for budget in (*budgets, 100_000):
            context = session.context(query, budget=budget, profile=profile)
            for _, _, fact_id in talk.facts:
                if fact_id not in held:
                    assert not lines_with(talk, context, fact_id, whole=False)
                elif fact_id in doubts:
                    shown = lines_with(talk, context, fact_id, whole=True)
                    update = lines_with(talk, context, doubts[fact_id], whole=True)
                    assert update or not shown
                    assert all("(in doubt since " in one.text or one in update for one in shown)


@settings(max_examples=examples(30, soak=500), deadline=None)
@given(said=talks, budgets=st.tuples(st.integers(60, 500), st.integers(60, 500)))
def test_what_was_said_stands_in_one_order_for_every_question(
    said: Sequence[Any], budgets: tuple[int, int]
) -> None:
    """Whatever is asked, and however much room there is: facts as they were said, turn by turn."""
    with a_talk(said) as talk:
        known = [fact_id for _, _, fact_id in talk.facts]
        for query, budget in zip(QUERIES, (*budgets, 100_000, 100_000), strict=True):
            lines = talk.session.context(query, budget=budget).lines
            for section in {line.section for line in lines}:
                told = [one.fact_id for one in lines if one.section == section and one.fact_id]
                assert told == [fact_id for fact_id in known if fact_id in told]
