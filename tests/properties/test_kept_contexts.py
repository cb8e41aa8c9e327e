"""A context that was made before is the one that would be made now, to the byte."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

import incumbent
from incumbent.composing.kept_contexts import KeptContexts
from incumbent.composing.watched_moment import _TELLING, WatchedMoment
from tests.conftest import QUICK, examples

START = datetime(2026, 3, 4, 23, 50, tzinfo=UTC)
KEYS = ("venue", "host", "reading")
VALUES = ("Leeds", "York", 1, True, 1.0, "1")
SENTENCES = (
    "The kickoff is tomorrow in Leeds.",
    "Actually, the kickoff is in York.",
    "From 5 March on our host is Ada.",
)
MINUTES = (0, 0.01, 1, 5, 30, 60 * 24, -2)
READERS = (
    {"user_id": "ann", "authority": "manager", "session_id": "s"},
    {"user_id": "ann", "authority": "manager", "session_id": "s", "permissions": ["hr"]},
    {"user_id": "bob", "authority": "employee", "session_id": "t"},
    {"user_id": "bob", "authority": "employee", "session_id": "t", "task_id": "move"},
)
SHAPES: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"budget": 90},
    {"style": "annotated"},
    {"history": True},
    {"explain": True, "profile": "comprehensive"},
    {"conversation": False},
    {"profile": "high-stakes"},
)

readers = st.integers(0, len(READERS) - 1)
asks = st.tuples(
    st.just("ask"),
    readers,
    st.sampled_from(["Which venue?", "Who is the host?", "the kickoff"]),
    st.integers(0, len(SHAPES) - 1),
)
terms = st.sampled_from([None, None, 0.5, 5, 40])
steps = st.one_of(
    asks,
    asks,
    asks,
    st.tuples(st.just("wait"), st.sampled_from(MINUTES)),
    st.tuples(st.just("wait"), st.sampled_from(MINUTES)),
    st.tuples(
        st.just("write"),
        readers,
        st.sampled_from(KEYS),
        st.sampled_from(VALUES),
        terms,
        terms,
        st.sampled_from(["user", "organizational"]),
    ),
    st.tuples(st.just("rest"), readers, st.sampled_from(KEYS), terms),
    st.tuples(st.just("observe"), readers, st.sampled_from(SENTENCES)),
    st.tuples(st.just("note"), readers, st.sampled_from(VALUES), terms),
    st.tuples(st.just("retract"), readers, st.sampled_from(KEYS)),
    st.tuples(st.just("erase"), st.sampled_from(["ann", "bob"])),
    st.tuples(st.just("declare"), st.sampled_from(KEYS), st.booleans(), st.booleans()),
    st.tuples(st.just("signal"), st.sampled_from([None, *VALUES, "Current time: 23:50 UTC"])),
)


@dataclass
class World:
    """One file with two memories: one that keeps its contexts, and one that makes each anew."""

    folder: Path
    now: datetime = START
    signals: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.keeping, self.plain = (
            incumbent.open(self.folder / "agent.db", clock=lambda: self.now, settings=QUICK)
            for _ in range(2)
        )
        for memory in (self.keeping, self.plain):
            memory.environment.provide("weather", lambda: self.signals.get("weather"))
        self.plain.resources.contexts = KeptContexts(most=0)

    def close(self) -> None:
        self.keeping.close()
        self.plain.close()

    def session(self, reader: int, memory: incumbent.Memory | None = None) -> incumbent.Session:
        return (memory or self.plain).session(**READERS[reader], organization="acme")

    def ask(self, reader: int, query: str, shape: int) -> None:
        kept, anew = (
            self.session(reader, memory).context(query, **SHAPES[shape])
            for memory in (self.keeping, self.plain)
        )
        assert kept.text == anew.text
        assert kept == anew
        assert repr(kept) == repr(anew)  # 1 and True are equal, and no line may mistake them
        assert kept.receipt == anew.receipt
        assert type(kept.at) is datetime

    def wait(self, minutes: float) -> None:
        self.now += timedelta(minutes=minutes)

    def later(self, minutes: float | None) -> datetime | None:
        return None if minutes is None else self.now + timedelta(minutes=minutes)

    def write(
        self,
        reader: int,
        key: str,
        value: Any,
        begins: float | None,
        ends: float | None,
        kind: str,
    ) -> None:
        self.session(reader).write(
            key,
            value,
            memory_type=kind,
            valid_from=self.later(begins),
            valid_until=self.later(ends),
        )

    def rest(self, reader: int, base: str, ends: float | None) -> None:
        session = self.session(reader)
        session.write(f"plan_of_{base}", "go", depends_on=[base], valid_until=self.later(ends))

    def observe(self, reader: int, text: str) -> None:
        self.session(reader).observe(text)

    def note(self, reader: int, value: Any, ends: float | None) -> None:
        self.session(reader).note("draft", value, None if ends is None else 60 * ends)

    def retract(self, reader: int, key: str) -> None:
        self.session(reader).retract(key)

    def erase(self, user: str) -> None:
        self.plain.forget(organization="acme", user_id=user)

    def declare(self, key: str, hidden: bool, ages: bool) -> None:
        self.plain.declare(key, requires=["hr"] if hidden else [], time_sensitive=ages)

    def signal(self, value: Any) -> None:
        self.signals = {"weather": value}

    def do(self, step: tuple[Any, ...]) -> None:
        kind, *given = step
        if kind == "ask":
            self.ask(*given)
            return
        with suppress(
            incumbent.IncumbentError
        ):  # nothing there to rest on, or not theirs to take back
            getattr(self, kind)(*given)


LEEDS = (0, "venue", "Leeds")


@example([("write", *LEEDS, None, 5, "user"), ("wait", 1), ("wait", 5), ("wait", -2)])
@example([("write", *LEEDS, 5, None, "user"), ("wait", 1), ("wait", 5), ("wait", -2)])
@example([("declare", "venue", False, True), ("write", *LEEDS, None, None, "user"), ("wait", 5)])
@example([("note", 0, 1, None), ("note", 0, True, None), ("signal", 1), ("signal", True)])
@given(st.lists(steps, min_size=4, max_size=20))
@settings(max_examples=examples(100, soak=3_000, least=10), deadline=None)
def test_a_kept_context_is_the_one_that_would_be_made_now(history: list[tuple[Any, ...]]) -> None:
    """Whatever is written, said, noted, declared or erased in between by another process, whoever
    asks, and wherever the clock is moved."""
    with tempfile.TemporaryDirectory(prefix="incumbent-") as folder:
        world = World(Path(folder))
        try:
            for step in history:
                world.do(step)
                world.do(("ask", 0, "Which venue?", 0))
        finally:
            world.close()


moments = st.integers(-3, 3).map(lambda seconds: START + timedelta(microseconds=seconds))


@given(moments, moments, st.lists(st.tuples(st.sampled_from("<>≤≥"), moments), max_size=4))
def test_a_watched_moment_covers_those_that_compare_alike(
    one: datetime, other: datetime, compared: list[tuple[str, datetime]]
) -> None:
    """And no others, whichever side of a comparison it stands on."""

    def outcomes(moment: datetime) -> list[bool]:
        told = {"<": lambda x: moment < x, ">": lambda x: x < moment}
        told |= {"≤": lambda x: moment <= x, "≥": lambda x: x <= moment}
        return [told[sign](limit) for sign, limit in compared]

    watched = WatchedMoment.of(one)
    assert outcomes(watched) == outcomes(one)
    assert watched.covers(other) == (outcomes(other) == outcomes(one))


def test_a_moment_that_is_used_for_more_covers_nothing() -> None:
    """Everything that a datetime has either tells nothing of the moment or is noted."""
    harmless = {"tzinfo", "utcoffset", "dst", "tzname", "min", "max", "resolution"}
    makers = {name for name in dir(datetime) if isinstance(vars(datetime).get(name), classmethod)}
    makers |= {name for name in dir(datetime) if getattr(getattr(datetime, name), "__self__", 0)}
    compared = {"__lt__", "__le__", "__gt__", "__ge__"}
    of_every_object = set(dir(object)) - {"__format__", "__repr__", "__str__", "__hash__"}
    known = harmless | makers | compared | of_every_object
    assert set(dir(datetime)) - known <= set(_TELLING)
    uses: list[Callable[[datetime], object]] = [
        *(str, hash, lambda m: m - START, lambda m: START - m, lambda m: m.isoformat()),
        *(lambda m: m.year, lambda m: m == START, lambda m: m != START, lambda m: f"{m:%H}"),
    ]
    for use in uses:
        watched = WatchedMoment.of(START)
        assert watched.covers(START)
        use(watched)
        assert not watched.covers(START)
