"""Values: what goes in comes out, equal values confirm, and only JSON goes in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import IntEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import incumbent
from incumbent import Memory, Outcome, Session
from incumbent.model.values import same_value
from incumbent.testing import SteppingClock
from tests.conftest import QUICK, STORES, examples

FEW = settings(max_examples=examples(80, soak=500), deadline=None)

text = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(10**40), max_value=10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | text
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=12,
)


@contextmanager
def opened(store: str) -> Iterator[Memory]:
    clock = SteppingClock(step=timedelta(seconds=1))
    with TemporaryDirectory(prefix="incumbent-") as folder:
        where = ":memory:" if store == "memory" else str(Path(folder) / "agent.db")
        with incumbent.open(where, clock=clock, settings=QUICK) as memory:
            yield memory


@contextmanager
def a_session(store: str) -> Iterator[Session]:
    with opened(store) as memory:
        yield memory.session(user_id="ann", organization="acme")


def exactly(value: Any) -> Any:
    """A form in which 1, 1.0 and true differ, and so do 0.0 and -0.0."""
    if isinstance(value, list):
        return [exactly(item) for item in value]
    if isinstance(value, dict):
        return {name: exactly(item) for name, item in value.items()}
    return (type(value).__name__, repr(value))


@pytest.mark.parametrize("store", STORES)
@settings(FEW, max_examples=examples(20, soak=200))
@given(values=st.lists(json_values, min_size=1, max_size=8))
def test_any_json_value_comes_back_exactly(store: str, values: list[Any]) -> None:
    """Through write, current, facts, history, and an export and import."""
    with opened(store) as memory:
        ann = memory.session(user_id="ann", organization="acme")
        for number, value in enumerate(values):
            said = ann.write(f"key_{number}", value)
            assert said.fact is not None
            assert exactly(said.fact.value) == exactly(value)
        for number, value in enumerate(values):
            assert exactly(ann.current(f"key_{number}")) == exactly(value)
            [found] = ann.facts(f"key_{number}")
            assert exactly(found.value) == exactly(value)
            assert exactly(list(ann.history(f"key_{number}").values)) == exactly([value])
        carried = json.loads(json.dumps(list(memory.export("acme"))))
        with incumbent.open(":memory:", settings=QUICK) as copy:
            copy.import_(carried)
            twin = copy.session(user_id="ann", organization="acme")
            for number, value in enumerate(values):
                assert exactly(twin.current(f"key_{number}")) == exactly(value)


def retyped(value: Any) -> Any:
    """An equal value in another form: whole numbers as floats where that is exact."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) < 2**53:
        return float(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [retyped(item) for item in value]
    if isinstance(value, dict):
        return {name: retyped(value[name]) for name in reversed(value)}
    return value


@pytest.mark.parametrize("store", STORES)
@settings(FEW, max_examples=examples(20, soak=200))
@given(values=st.lists(json_values, min_size=1, max_size=8))
def test_equal_values_confirm_whatever_their_form(store: str, values: list[Any]) -> None:
    """1 and 1.0 are one value, and the order of an object's names does not matter."""
    with a_session(store) as ann:
        for number, value in enumerate(values):
            first = ann.write(f"key_{number}", value)
            again = ann.write(f"key_{number}", retyped(value))
            assert again.outcome is Outcome.CONFIRMED
            assert again.fact_id == first.fact_id
            assert exactly(ann.current(f"key_{number}")) == exactly(value)


@pytest.mark.parametrize("store", STORES)
@settings(FEW, max_examples=examples(20, soak=200))
@given(pairs=st.lists(st.tuples(json_values, json_values), min_size=1, max_size=6))
def test_different_values_supersede(store: str, pairs: list[tuple[Any, Any]]) -> None:
    """What does not say the same takes the other's place."""
    assume(all(not same_value(left, right) for left, right in pairs))
    with a_session(store) as ann:
        for number, (left, right) in enumerate(pairs):
            ann.write(f"key_{number}", left)
            assert ann.write(f"key_{number}", right).outcome is Outcome.SUPERSEDED
            assert exactly(ann.current(f"key_{number}")) == exactly(right)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize(
    ("left", "right"),
    [(True, 1), (False, 0), (None, False), (None, ""), ("1", 1), ([], {}), ([True], [1])],
)
def test_values_of_different_kinds_are_different(store: str, left: Any, right: Any) -> None:
    """True is not 1, nothing is not false, and a text is not the number it spells."""
    with a_session(store) as ann:
        ann.write("x", left)
        assert ann.write("x", right).outcome is Outcome.SUPERSEDED
        assert exactly(ann.current("x")) == exactly(right)


@pytest.mark.parametrize("store", STORES)
def test_a_null_is_a_value_in_office(store: str) -> None:
    """It is current and can be superseded, although it reads like nothing."""
    with a_session(store) as ann:
        ann.write("x", None)
        assert ann.is_current("x")
        assert [fact.value for fact in ann.facts("x")] == [None]


class Colour(IntEnum):
    RED = 1


class Text(str):
    pass


foreign = st.sampled_from(
    [
        (1, 2),
        {1},
        b"bytes",
        float("nan"),
        float("inf"),
        float("-inf"),
        1j,
        Decimal("1.5"),
        datetime(2026, 1, 1, tzinfo=UTC),
        object(),
        Colour.RED,
        Text("x"),
        {1: "x"},
        {None: "x"},
        "nul \x00",
        "lone \ud800",
        {"\udfff": 1},
        range(3),
        Ellipsis,
    ]
)
wrapped = st.recursive(
    foreign,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=1).map(lambda items: [0, *items])
        | inner.map(lambda item: {"inside": item})
    ),
    max_leaves=2,
)


@pytest.mark.parametrize("store", STORES)
@settings(FEW, max_examples=examples(40, soak=300))
@given(value=wrapped)
def test_everything_else_is_refused(store: str, value: Any) -> None:
    """At any depth, in a fact and in a note, and nothing is changed."""
    with a_session(store) as ann:
        ann.write("x", "kept")
        with pytest.raises(incumbent.InvalidInput):
            ann.write("x", value)
        with pytest.raises(incumbent.InvalidInput):
            ann.note("x", value)
        with pytest.raises(incumbent.InvalidInput):
            ann.write_many([{"key": "y", "value": 1}, {"key": "x", "value": value}])
        assert ann.current("x") == "kept"
        assert ann.current("y") is None
        assert ann.working_set() == []


@pytest.mark.parametrize("store", STORES)
def test_a_number_too_long_to_spell_is_refused(store: str) -> None:
    """An integer beyond what can be turned into text is an error, not a crash."""
    with a_session(store) as ann:
        with pytest.raises(incumbent.InvalidInput):
            ann.write("x", 10**5000)
        assert ann.facts() == []


@pytest.mark.parametrize("store", STORES)
def test_what_a_caller_does_with_their_object_is_theirs(store: str) -> None:
    """Changing the object after the write changes no fact, neither does changing what was read."""
    with a_session(store) as ann:
        mine: dict[str, list[int]] = {"items": [1]}
        ann.write("x", mine)
        mine["items"].append(2)
        assert ann.current("x") == {"items": [1]}
        read = ann.current("x")
        read["items"].append(3)
        assert ann.current("x") == {"items": [1]}
