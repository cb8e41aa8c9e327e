"""Contexts of random histories: nothing dead, never too long, always the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import splintr
from hypothesis import given, settings
from hypothesis import strategies as st

import tenure
from tenure import Memory, Session, Verdict
from tenure.testing import SteppingClock
from tests.conftest import QUICK, SOAK, STORES
from tests.properties.world import ORGANIZATION, all_facts

KEYS = ("plan", "venue", "q3_budget")
PROFILES = ("high-stakes", "balanced", "comprehensive")
_encode = splintr.Tokenizer.from_pretrained("o200k_base").encode_ordinary

steps = st.one_of(
    st.tuples(
        st.just("write"),
        st.sampled_from(["employee", "executive"]),
        st.sampled_from(KEYS),
        st.sampled_from([None, None, 5, 50]),
        st.booleans(),
    ),
    st.tuples(st.just("doubt"), st.sampled_from(KEYS)),
    st.tuples(st.just("retract"), st.sampled_from(KEYS)),
    st.tuples(st.just("undo"), st.integers(0, 20)),
    st.tuples(st.just("secret"), st.sampled_from(KEYS)),
    st.tuples(st.just("arrange"), st.sampled_from(KEYS), st.sampled_from(KEYS)),
    st.tuples(st.just("wait"), st.sampled_from([1, 10])),
    st.tuples(st.just("quote"), st.integers(0, 20), st.sampled_from(["text", "list", "name"])),
)
histories = st.lists(steps, max_size=14)


class Story:
    """Plays a history. Every value is a word of its own, so that it can be told in any text."""

    def __init__(self, memory: Memory, clock: SteppingClock) -> None:
        self.memory = memory
        self.clock = clock
        self.reader = self.session("employee")
        self.words: list[str] = []
        self.verdicts: list[Verdict] = []

    def session(self, authority: str, user: str = "eve", **more: Any) -> Session:
        return self.memory.session(
            user_id=user,
            authority=authority,
            organization=ORGANIZATION,
            session_id=f"desk-of-{user}",
            **more,
        )

    def word(self) -> str:
        self.words.append(f"zq{len(self.words):03}word")
        return self.words[-1]

    def play(self, history: list[tuple[Any, ...]]) -> None:
        for step, *details in history:
            getattr(self, step)(*details)

    def write(self, rung: str, key: str, minutes: int | None, rests: bool) -> None:
        until = None if minutes is None else self.clock.now + timedelta(minutes=minutes)
        base = "plan" if rests and key != "plan" and self.reader.is_current("plan") else None
        self.verdicts.append(
            self.session(rung).write(
                key, self.word(), valid_until=until, depends_on=[base] if base else []
            )
        )

    def doubt(self, key: str) -> None:
        self.verdicts.append(self.reader.write(key, self.word(), confidence=0.1))

    def retract(self, key: str) -> None:
        if self.reader.is_current(key):
            self.verdicts.append(self.session("executive").retract(key))

    def undo(self, number: int) -> None:
        if self.verdicts:
            chosen = self.verdicts.pop(number % len(self.verdicts))
            self.verdicts.append(self.session("executive").undo(chosen))

    def secret(self, key: str) -> None:
        keeper = self.session("policy", "hana", permissions=["hr"])
        word = f"zq{len(self.words):03}hidden"
        keeper.write(f"secret_{key}", word, requires=["hr"], memory_type="organizational")

    def arrange(self, key: str, base: str) -> None:
        if self.reader.is_current(base):
            self.reader.write(key, self.word(), when_superseded=base)

    def wait(self, minutes: int) -> None:
        self.clock.advance(minutes=minutes)

    def quote(self, number: int, form: str) -> None:
        if not self.words:
            return
        word = self.words[number % len(self.words)]
        said: dict[str, Any] = {"text": f"As I said: {word}!", "list": [1, word], "name": {word: 1}}
        self.reader.note(f"turn_{number}", said[form])

    def dead_words(self) -> set[str]:
        """Values that no live fact of the reader's holds: of the dead, and of the unseen."""
        now = self.clock.now + timedelta(seconds=1)
        held = {
            fact.value
            for fact in all_facts(self.memory).values()
            if fact.held_at(now) and not fact.requires
        }
        return {str(fact.value) for fact in all_facts(self.memory).values()} - held


@contextmanager
def a_story(store: str) -> Iterator[tuple[Story, str]]:
    """A story on a clock that moves only when the story says so."""
    clock = SteppingClock()
    with TemporaryDirectory(prefix="tenure-") as folder:
        where = ":memory:" if store == "memory" else str(Path(folder) / "agent.db")
        memory = tenure.open(where, clock=clock, settings=QUICK)
        try:
            yield Story(memory, clock), where
        finally:
            memory.close()


FEW = settings(max_examples=500 if SOAK else 100, deadline=None)


@pytest.mark.parametrize("store", STORES)
@FEW
@given(history=histories, profile=st.sampled_from(PROFILES))
def test_no_dead_value_comes_back(store: str, history: list[tuple[Any, ...]], profile: str) -> None:
    """Invariant 3: not through a fact, not through a note, in no profile."""
    with a_story(store) as (story, _):
        story.play(history)
        text = story.reader.context("what now?", budget=100_000, profile=profile).text
        for word in story.dead_words():
            assert word not in text, f"{word} came back"
        for fact in story.reader.facts():
            if not fact.needs_review or profile == "comprehensive":
                assert fact.value in text


@pytest.mark.parametrize("store", STORES)
@FEW
@given(
    history=histories,
    profile=st.sampled_from(PROFILES),
    budgets=st.lists(st.integers(0, 300), min_size=1, max_size=6),
)
def test_the_budget_is_never_exceeded(
    store: str, history: list[tuple[Any, ...]], profile: str, budgets: list[int]
) -> None:
    """Invariant 4: counted again from outside, on the whole text."""
    with a_story(store) as (story, _):
        story.play(history)
        for budget in (*budgets, 100_000):
            context = story.reader.context("what now?", budget=budget, profile=profile)
            assert len(_encode(context.text)) == context.tokens <= budget


@pytest.mark.parametrize("store", STORES)
def test_every_small_budget_is_kept(store: str) -> None:
    """Invariant 4 for every budget from 0 to 300, with text that tokenizers find awkward."""
    with a_story(store) as (story, _):
        awkward = ["é" * 9, "日本語のテキスト", "🜁🜂🜃", "a\nb", "    ", "x" * 70, "1" * 40, "ﬀ́"]
        for number, value in enumerate(awkward * 3):
            story.reader.write(f"key_{number}", f"{value}{number}")
            story.reader.note(f"note_{number}", f"{number}{value}")
        sizes = []
        for budget in (*range(301), 1000, 10_000):
            context = story.reader.context("what now?", budget=budget)
            assert len(_encode(context.text)) == context.tokens <= budget
            sizes.append(context.tokens)
        assert sizes[-1] > 300


@pytest.mark.parametrize("store", STORES)
@FEW
@given(history=histories, budget=st.sampled_from([40, 120, 4000]))
def test_everything_is_shown_or_accounted_for(
    store: str, history: list[tuple[Any, ...]], budget: int
) -> None:
    """Each fact and each note is a line or an omission, and none is both."""
    with a_story(store) as (story, _):
        story.play(history)
        context = story.reader.context("what now?", budget=budget)
        shown = {line.fact_id for line in context.lines if line.fact_id}
        omitted = {o.fact_id for o in context.omissions if o.fact_id and not o.item}
        assert shown | omitted >= {fact.id for fact in story.reader.facts()}
        assert not shown & omitted
        notes = [line for line in context.lines if line.section == "Working set"]
        left_out = [o for o in context.omissions if o.item and o.item.startswith("turn_")]
        assert len(notes) + len(left_out) == len(story.reader.working_set())


@pytest.mark.parametrize("store", STORES)
@FEW
@given(history=histories, budget=st.integers(0, 400))
def test_same_state_same_bytes(store: str, history: list[tuple[Any, ...]], budget: int) -> None:
    """Invariant 5: asked again, by another session, and after closing and opening the file."""
    with a_story(store) as (story, where):
        story.play(history)
        first = story.reader.context("what now?", budget=budget)
        assert story.reader.context("what now?", budget=budget) == first
        assert story.session("employee").context("what now?", budget=budget).text == first.text
        if store == "sqlite":
            story.memory.close()
            with tenure.open(where, clock=story.clock, settings=QUICK) as again:
                story.memory = again
                reopened = story.session("employee").context("what now?", budget=budget)
                assert reopened == first
