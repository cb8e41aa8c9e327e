"""What the property tests of contexts share: worlds, histories, and what a reader learns."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import splintr
from hypothesis import strategies as st

import incumbent
from incumbent import Context, Memory, Session, Verdict
from incumbent.model.fact import Fact, Status
from incumbent.rules.temporal import as_seen
from incumbent.testing import SteppingClock
from tests.behaviour.people import FOR_ALL
from tests.conftest import QUICK
from tests.properties.world import ORGANIZATION, all_facts

FAST = replace(QUICK, embedder="static")
"""The embedder that costs nothing: these tests write a hundred thousand facts."""

PROFILES = ("high-stakes", "balanced", "comprehensive")
STYLES = ("plain", "annotated")
KEYS = ("plan", "venue", "q3_budget")
QUERIES = ("what now?", "Which venue, and what is the plan?", "q3 budget", "word", "")


@cache
def encoder(name: str) -> Callable[[str], list[int]]:
    """A tokenizer of the target models, asked without anything of ours in between."""
    encode: Callable[[str], list[int]] = splintr.Tokenizer.from_pretrained(name).encode_ordinary
    return encode


@contextmanager
def a_place(store: str) -> Iterator[str]:
    """Where a store can be opened that nobody else has."""
    with TemporaryDirectory(prefix="incumbent-") as folder:
        yield ":memory:" if store == "memory" else str(Path(folder) / "agent.db")


@contextmanager
def a_memory(
    store: str, clock: SteppingClock | None = None, settings: incumbent.Settings = FAST
) -> Iterator[Memory]:
    """An empty memory on a clock that moves only when told."""
    with (
        a_place(store) as where,
        incumbent.open(where, clock=clock or SteppingClock(), settings=settings) as memory,
    ):
        yield memory


def told(context: Context) -> tuple[Any, ...]:
    """Everything a reader can learn from a context."""
    return (context.text, context.tokens, context.lines, context.omissions)


_ESCAPE = re.compile(r"\\u([0-9a-f]{4})|\\U([0-9a-f]{8})|\\([nrtbf])")
_SEPARATOR = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def bare(text: str) -> str:
    """A text as somebody would read it out: no case, no marks, no hidden characters.

    Written apart from the guard, so that the two cannot be wrong in the same way.
    """
    text = _ESCAPE.sub(lambda found: chr(int(found[1] or found[2] or "20", 16)), text)
    text = unicodedata.normalize("NFKD", text).casefold()
    text = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Mn"))
    text = re.sub(r"(?<=\d)\.0+(?!\d)", "", _SEPARATOR.sub("", text))
    decimal = re.sub(r"(?<=\d)\.(?=\d)", "p", text)
    return f" {' '.join(re.sub(r'[^a-z0-9]+', ' ', decimal).split())} "


def says(text: str, leaf: str) -> bool:
    """Whether a text says something, however it is spelled."""
    return bare(leaf) in bare(text)


steps = st.one_of(
    st.tuples(
        st.just("write"),
        st.sampled_from(["employee", "executive"]),
        st.sampled_from(KEYS),
        st.sampled_from([None, None, 5, 50]),
        st.booleans(),
        st.booleans(),
    ),
    st.tuples(st.just("doubt"), st.sampled_from(KEYS)),
    st.tuples(st.just("retract"), st.sampled_from(KEYS)),
    st.tuples(st.just("undo"), st.integers(0, 20)),
    st.tuples(st.just("secret"), st.sampled_from(KEYS)),
    st.tuples(st.just("arrange"), st.sampled_from(KEYS), st.sampled_from(KEYS)),
    st.tuples(st.just("narrow"), st.sampled_from(KEYS), st.sampled_from(["session", "task"])),
    st.tuples(st.just("share"), st.sampled_from(KEYS)),
    st.tuples(st.just("try_out"), st.sampled_from(KEYS)),
    st.tuples(st.just("tag")),
    st.tuples(st.just("erase"), st.integers(0, 20)),
    st.tuples(st.just("wait"), st.sampled_from([1, 10])),
    st.tuples(st.just("quote"), st.integers(0, 20), st.sampled_from(["text", "list", "name"])),
)
histories = st.lists(steps, max_size=14)
quiet_histories = st.lists(steps.filter(lambda step: step[0] != "quote"), max_size=14)
"""Histories in which nobody takes notes: a moment past has no desk."""


class Story:
    """Plays a history, always the same way: ids and times come from the history alone.

    Every value is a word of its own, so that it can be told in any text.
    """

    def __init__(self, memory: Memory, clock: SteppingClock) -> None:
        self.memory = memory
        self.clock = clock
        self.reader = self.session("employee")
        self.words: list[str] = []
        self.verdicts: list[Verdict] = []
        memory.declare("tag", multi_valued=True)

    def session(self, authority: str, user: str = "eve", **more: Any) -> Session:
        return self.memory.session(
            user_id=user,
            authority=authority,
            organization=ORGANIZATION,
            session_id=f"desk-of-{user}",
            permissions=[*more.pop("permissions", ()), *FOR_ALL],
            **more,
        )

    def resumed(self, memory: Memory) -> Session:
        """The reader's session in another memory on the same file."""
        return memory.session(
            user_id="eve",
            authority="employee",
            organization=ORGANIZATION,
            session_id="desk-of-eve",
            permissions=FOR_ALL,
        )

    def word(self) -> dict[str, Any]:
        """A value that is nowhere else, and an id for it."""
        number = len(self.words)
        self.words.append(f"zq{number:03}word")
        return {"value": self.words[-1], "id": f"fact-{number:03}"}

    def play(self, history: list[tuple[Any, ...]]) -> None:
        for step, *details in history:
            self.clock.advance(seconds=1)
            getattr(self, step)(*details)

    def write(self, rung: str, key: str, minutes: int | None, rests: bool, binds: bool) -> None:
        until = None if minutes is None else self.clock.now + timedelta(minutes=minutes)
        base = "plan" if rests and key != "plan" and self.reader.is_current("plan") else None
        self.verdicts.append(
            self.session(rung).write(
                key,
                **self.word(),
                valid_until=until,
                depends_on=[base] if base else [],
                is_constraint=binds,
            )
        )

    def doubt(self, key: str) -> None:
        self.verdicts.append(self.reader.write(key, **self.word(), confidence=0.1))

    def retract(self, key: str) -> None:
        if self.reader.is_current(key):
            self.verdicts.append(self.session("executive").retract(key))

    def undo(self, number: int) -> None:
        if self.verdicts:
            chosen = self.verdicts.pop(number % len(self.verdicts))
            with suppress(incumbent.IncumbentError):  # what was erased cannot be brought back
                self.verdicts.append(self.session("executive").undo(chosen))

    def secret(self, key: str) -> None:
        keeper = self.session("policy", "hana", permissions=["hr"])
        given = self.word()
        keeper.write(f"secret_{key}", **given, requires=["hr"], memory_type="organizational")

    def arrange(self, key: str, base: str) -> None:
        if self.reader.is_current(base):
            self.reader.write(key, **self.word(), when_superseded=base)

    def narrow(self, key: str, scope: str) -> None:
        self.session("employee", task_id="move").write(key, **self.word(), scope=scope)

    def share(self, key: str) -> None:
        self.session("manager", "otto").write(key, **self.word(), memory_type="organizational")

    def try_out(self, key: str) -> None:
        branch = self.reader.draft(f"draft-{len(self.words)}")
        branch.write(key, **self.word())
        branch.discard()

    def tag(self) -> None:
        self.verdicts.append(self.reader.write("tag", **self.word()))

    def erase(self, number: int) -> None:
        stored = [f for f in all_facts(self.memory).values() if f.status is not Status.ERASED]
        if stored:
            chosen = sorted(stored, key=lambda fact: fact.id)[number % len(stored)]
            self.memory.forget(organization=ORGANIZATION, fact_id=chosen.id)

    def wait(self, minutes: int) -> None:
        self.clock.advance(minutes=minutes)

    def quote(self, number: int, form: str) -> None:
        if not self.words:
            return
        word = self.words[number % len(self.words)]
        said: dict[str, Any] = {"text": f"As I said: {word}!", "list": [1, word], "name": {word: 1}}
        self.reader.note(f"turn_{number}", said[form])

    def elsewhere(self, when: datetime) -> set[str]:
        """The reader's own facts that hold then, and only in a task that is not theirs here."""
        return {
            fact.id
            for fact in all_facts(self.memory).values()
            if fact.owner == "eve" and fact.scope_id == "move" and fact.held_at(when)
        }

    def of_reader(self, when: datetime) -> list[Fact]:
        """Every fact of any status that the reader may know of, in scopes that apply, as of then.

        By the rule of one line, over all that is stored.
        """
        return [
            as_seen(fact, when)
            for fact in all_facts(self.memory).values()
            if fact.status is not Status.ERASED
            and fact.owner in ("eve", "")
            and not fact.requires
            and (fact.place[0].value, fact.place[1]) in (("global", ""), ("session", "desk-of-eve"))
        ]


@contextmanager
def a_story(
    store: str, history: list[tuple[Any, ...]], settings: incumbent.Settings = FAST
) -> Iterator[tuple[Story, str]]:
    """A story that was played, and where it is stored."""
    clock = SteppingClock()
    with a_place(store) as where, incumbent.open(where, clock=clock, settings=settings) as memory:
        story = Story(memory, clock)
        story.play(history)
        yield story, where
