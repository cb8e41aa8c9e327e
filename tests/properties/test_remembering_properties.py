"""What a process remembers between contexts changes none of them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incumbent
from incumbent.composing import inquiry, material, omissions
from incumbent.testing import SteppingClock
from tests.conftest import QUICK, examples

KEYS = ("venue", "host", "room")
# Few, so that what is dead in one place is often held in another.
VALUES = ("Leeds", "tea for 40", "Ada Lovell")
SENTENCES = (
    "The kickoff of the autumn programme is on Tuesday in Leeds.",
    "The kickoff of the autumn programme is on Friday in York.",
    "Our host is Ada Lovell.",
)
NOTE = "A hotel in Leeds for Ada Lovell, who asks York about tea for 40."
# What is asked about fills the page, so that the facts above are rarely looked at for it.
ABOUT = [f"paragraph {number} of the statutes of the rowing club" for number in range(6)]
QUERY = "What do the statutes of the rowing club say?"

writes = st.tuples(st.just("write"), st.sampled_from(KEYS), st.sampled_from(VALUES), st.booleans())
steps = st.one_of(
    writes,
    writes,
    st.tuples(st.just("rest"), st.sampled_from(KEYS), st.sampled_from(VALUES)),
    st.tuples(st.just("observe"), st.sampled_from(SENTENCES)),
    st.tuples(st.just("retract"), st.sampled_from(KEYS)),
    st.tuples(st.just("undo")),
    st.tuples(st.just("forget"), st.sampled_from(KEYS)),
)


@pytest.fixture(autouse=True)
def as_in_a_large_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten facts are many here, so that not all of them are looked at."""
    monkeypatch.setattr(omissions, "SMALL", 3)
    monkeypatch.setattr(inquiry, "SMALL", 3)
    monkeypatch.setattr(material, "SMALL", 3)
    monkeypatch.setattr(material, "_FEWEST", 1)


class Playing:
    """One who writes, and remembers what was said last."""

    def __init__(self, memory: incumbent.Memory) -> None:
        self.memory = memory
        self.session = memory.session(
            user_id="ann", authority="manager", organization="acme", session_id="s"
        )
        self.last: Any = None

    def do(self, step: tuple[Any, ...]) -> None:
        kind, *given = step
        with suppress(incumbent.IncumbentError):  # nothing there to retract, undo or rest on
            getattr(self, kind)(*given)

    def write(self, key: str, value: str, shared: bool) -> None:
        kind = "organizational" if shared else "user"
        self.last = self.session.write(key, value, memory_type=kind)

    def rest(self, base: str, value: str) -> None:
        self.session.write(f"plan_of_{base}", value, depends_on=[base])

    def observe(self, text: str) -> None:
        self.session.observe(text)

    def retract(self, key: str) -> None:
        self.last = self.session.retract(key)

    def undo(self) -> None:
        if self.last is not None:
            self.session.undo(self.last)

    def forget(self, key: str) -> None:
        for fact in self.session.facts(key)[:1]:
            self.memory.forget(organization="acme", fact_id=fact.id)


@contextmanager
def opened(path: Path, clock: SteppingClock) -> Iterator[incumbent.Memory]:
    with incumbent.open(path, clock=clock, settings=replace(QUICK, embedder=None)) as memory:
        yield memory


def asked(memory: incumbent.Memory) -> list[Any]:
    """What a context tells those who are there, each through eyes of their own."""
    told: list[Any] = []
    for user in ("ann", "ben"):
        session = memory.session(user_id=user, organization="acme", session_id="s")
        session.note("jotted", NOTE)
        for budget in (130, 2_000):
            context = session.context(QUERY, budget=budget)
            lines = [line.text for line in context.lines if "Current time" not in line.text]
            told.append((lines, sorted(map(str, context.omissions))))
    return told


@settings(max_examples=examples(25, soak=400), deadline=None)
@given(st.lists(steps, min_size=4, max_size=14))
def test_a_memory_that_has_seen_it_all_says_what_a_fresh_one_says(
    play: list[tuple[Any, ...]],
) -> None:
    """After every step, the context is that of a process that has just begun."""
    with tempfile.TemporaryDirectory() as folder:
        path, clock = Path(folder) / "agent.db", SteppingClock()
        with opened(path, clock) as seasoned:
            playing = Playing(seasoned)
            for number, text in enumerate(ABOUT):
                playing.session.write(f"statute_{number}", text, memory_type="organizational")
            for step in play:
                playing.do(step)
                told = asked(seasoned)
                with opened(path, clock) as fresh:
                    assert asked(fresh) == told
                assert asked(seasoned) == told
