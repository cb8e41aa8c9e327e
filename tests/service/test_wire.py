"""Every public value goes over the wire and comes back the same."""

from __future__ import annotations

import dataclasses
import enum
import typing
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import incumbent
from incumbent.client import encoding
from incumbent.model.records import Rehearsed
from incumbent.operations import BY_PATH, OPERATIONS, Operation
from incumbent.testing import SteppingClock
from tests.conftest import QUICK

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
MOMENTS = st.datetimes(timezones=st.just(UTC))
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | NUMBERS | TEXT,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(TEXT, inside, max_size=3),
    max_leaves=6,
)


@given(value=VALUES)
@settings(max_examples=60)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    """Any JSON value, in a fact's place."""
    item = incumbent.WorkingItem("key", value, datetime(2026, 1, 1, tzinfo=UTC), None, ())
    assert (
        encoding.loaded(incumbent.WorkingItem, encoding.dumped(incumbent.WorkingItem, item)) == item
    )


def strategy(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type as the public values have them."""
    if kind is Any:
        return VALUES
    if kind is str:
        return TEXT
    if kind is datetime:
        return MOMENTS
    if kind is date:
        return st.dates()
    if kind is float:
        return NUMBERS
    if kind is int:
        return st.integers(-(2**53), 2**53)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return st.sampled_from(list(kind))
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple and inside[-1] is Ellipsis:
        return st.lists(strategy(inside[0]), max_size=2).map(tuple)
    return st.from_type(kind)


FLAT = [
    incumbent.Omission,
    incumbent.Declaration,
    incumbent.Usage,
    incumbent.ListedUser,
    incumbent.ListedSession,
    incumbent.ListedSubject,
    incumbent.ListedKey,
    incumbent.ListedReceipt,
]


@pytest.mark.parametrize("kind", FLAT, ids=lambda kind: kind.__name__)
def test_plain_values_of_any_content_come_back(kind: Any) -> None:
    """Made up at random from the types of their fields."""
    hints = typing.get_type_hints(kind)
    fields = {one.name: strategy(hints[one.name]) for one in dataclasses.fields(kind)}

    @given(made=st.fixed_dictionaries(fields))
    @settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
    def check(made: dict[str, Any]) -> None:
        try:
            value = kind(**made)
        except incumbent.IncumbentError:
            return
        assert encoding.loaded(kind, encoding.dumped(kind, value)) == value

    check()


@pytest.fixture(scope="module")
def lived() -> dict[str, list[Any]]:
    """What every operation gave in the course of a day with a bit of everything, by operation."""
    memory = incumbent.open(":memory:", clock=SteppingClock(), settings=QUICK)
    found: dict[str, list[Any]] = {operation.path: [] for operation in OPERATIONS}
    memory.environment.provide("weather", lambda: {"sky": ["grey", None]})
    ana = memory.session(
        user_id="ana", user_name="Ana ü", authority="manager", task_id="t", permissions=["x"]
    )

    def keep(name: str, value: Any) -> Any:
        found[name].append(value)
        return value

    for text in (
        "We need 40 desks by Friday. The shipping address is 123 Main St.",
        "No, 45 desks.",
        "What if the price was $9k?",
        "Per the CEO, the max discount is 20%.",
        "The max discount is 25%.",
        "Forget the shipping address.",
        "日本語のテキスト 🎌",
    ):
        keep("observe", ana.observe(text))
    keep("observe_many", ana.observe_many([{"text": "My desk is 4.", "ref": "r"}]))
    keep("write", ana.write("unit_price", 12, source="hr_system", confidence=0.5))
    ana.write("total", {"sum": [1, 2.5, None, "ü"]}, depends_on=["unit_price"])
    raised = keep("write", ana.write("unit_price", 13, requires=["x"], min_authority="employee"))
    keep("write", ana.write("later", 1, when_superseded="unit_price"))
    keep("write_many", ana.write_many([{"key": "a", "value": None}]))
    keep("note", ana.note("n", {"a": 1}, 60, states=[raised]))
    keep("working_set", ana.working_set())
    keep("reviews", ana.reviews())
    keep("resolve", ana.resolve(ana.reviews()[0].fact.id, still_right=True))
    keep("context", ana.context("What is the price?", record=True, history=True, explain=True))
    keep(
        "guard",
        ana.guard([{"role": "user", "content": "40 desks to 123 Main St"}, {"role": "user"}]),
    )
    keep("undo", ana.undo(raised))
    ana.write("a", 2)
    keep("revert", ana.revert("a"))
    ana.write("format", "csv", scope="task")
    keep("promote", ana.promote("format"))
    keep("retract", ana.retract("format", reason="gone"))
    draft = ana.draft("d")
    draft.write("a", 3)
    keep("commit", draft.commit())
    other = ana.hypothetical("h")
    other.write("a", 4)
    keep("discard", other.discard())
    keep("context", ana.context("What is the price?", record=True, style="annotated"))
    for name in ("facts", "reviews", "working_set", "receipts"):
        keep(name, getattr(ana, name)())
    for key in ("a", "unit_price", "total"):
        keep("current", ana.current(key))
        keep("history", ana.history(key))
        keep("explain", ana.explain(key))
    keep("is_current", ana.is_current("a"))
    keep("get", ana.get(raised.fact_id))
    keep("get", None)
    keep("environment", ana.environment)
    one, two = (context.receipt.id for context in found["context"])
    keep("receipt", memory.receipt(one))
    keep("replay", memory.replay(one))
    keep("compare", memory.compare(one, two))
    keep("usage", memory.usage("default"))
    ana.write("size", 3, subject="desk-4")
    for name in ("list_sessions", "list_subjects", "list_keys", "list_receipts"):
        keep(name, getattr(ana, name)(limit=1))
        keep(f"organization/{name}", getattr(memory, name)("default"))
    ana.hypothetical("open").write("size", 4)
    for name in ("list_facts", "list_branches", "list_turns"):
        keep(name, getattr(ana, name)(limit=2))
    keep("organization/activity", memory.activity("default"))
    for name in ("list_users", "list_audit"):
        keep(f"organization/{name}", getattr(memory, name)("default", limit=2))
    keep("organization/list_audit", memory.list_audit("default", values=True))
    _rehearse(ana, found)
    keep("declare", memory.declare("p.*", write_authority="manager", requires=["x"]))
    keep("reindex", memory.reindex("default"))
    keep("forget", memory.forget(organization="default", user_id="ana"))
    keep("close", ana.close())
    return found


def _rehearse(ana: incumbent.Session, found: dict[str, list[Any]]) -> None:
    """What every call that can be rehearsed would give, with what it would change."""
    ana.write("sum", 5, depends_on=["a"])
    written = ana.write("a", 6)
    ana.write("window", "noon", scope="task")
    draft = ana.draft("e")
    draft.write("a", 7)
    calls: dict[str, dict[str, Any]] = {
        "observe": {"text": "My desk is 5. Forget my desk."},
        "write": {"key": "a", "value": [7]},
        "write_many": {"writes": [{"key": "a", "value": 8}, {"key": "b", "value": None}]},
        "note": {"key": "n", "value": 1},
        "retract": {"key_or_id": "a"},
        "revert": {"key_or_id": "a"},
        "promote": {"key_or_id": "window"},
        "undo": {"verdict": written},
        "resolve": {"fact_id": ana.reviews()[0].fact.id, "still_right": True},
        "commit": {},
        "discard": {},
    }
    for name, arguments in calls.items():
        trial = (draft if name in ("commit", "discard") else ana).rehearsal()
        result = getattr(trial, name)(**arguments)
        assert trial.changes or name == "note"
        found[f"rehearse/{name}"].append(Rehearsed(result, trial.changes))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.path)
def test_what_every_operation_gives_comes_back(
    lived: dict[str, list[Any]], operation: Operation
) -> None:
    """All of it, equal and of the same type."""
    kind = operation.returns
    assert lived[operation.path]
    assert any(isinstance(one, incumbent.Listing) for one in lived[operation.path]) == (
        operation.name.startswith("list_")
    )
    for value in lived[operation.path]:
        back = encoding.loaded(kind, encoding.dumped(kind, value))
        assert back == value
        assert type(back) is type(value)


def test_a_context_brings_the_id_of_its_receipt(lived: dict[str, list[Any]]) -> None:
    """By which whoever is not in Python can have it again."""
    import json

    for context in lived["context"]:
        told = json.loads(encoding.dumped(incumbent.Context, context))
        assert told["receipt_id"] == context.receipt.id
        assert encoding.loaded(
            incumbent.Context, encoding.dumped(incumbent.Context, context)
        ).receipt == (context.receipt)


def test_a_context_that_is_asked_for_again_is_sent_as_if_it_were_made_anew() -> None:
    """Byte for byte, whatever people said, and in another minute of the day too."""
    clock = SteppingClock()
    hostile = '"lines":[],"omissions":[] "lines": []'
    with incumbent.open(":memory:", clock=clock, settings=QUICK) as memory:
        session = memory.session(user_id="ann", user_name=hostile, session_id="s")
        session.write("desk", f"by the window, {hostile}", id="f-1")
        session.write("lamp", "blue " * 400)
        for seconds in (0, 1, 1, 61, 1, 1):
            clock.advance(seconds=seconds)
            context = session.context(hostile, budget=300)
            anew = dataclasses.replace(context)
            sent = encoding.dumped(incumbent.Context, context)
            assert sent == encoding.dumped(incumbent.Context, anew)
            assert encoding.loaded(incumbent.Context, sent) == context
            assert context.receipt_id == context.receipt.id == anew.receipt.id
        assert context.omissions
        assert hostile in context.text


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.path)
def test_arguments_that_were_not_given_are_not_given(operation: Operation) -> None:
    """The method's own defaults hold, and the example of every operation is understood."""
    form = encoding.arguments_of(operation).model_validate(dict(operation.example), strict=False)
    assert set(encoding.given(form)) == set(operation.example)


def test_names_of_operations_are_used_once() -> None:
    """A path leads to one of them."""
    assert len(BY_PATH) == len(OPERATIONS)
