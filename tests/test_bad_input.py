"""Bad input: an error of ours that quotes what was wrong and says what to do, and no change."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

import incumbent
from tests.conftest import OpenMemory

NAIVE = datetime(2026, 3, 1, 12, 0)  # noqa: DTZ001
LONE = "half a smile \ud83d"
NUL = "cut \x00 short"

Call = Callable[[incumbent.Session], Any]
Case = tuple[Call, type[incumbent.IncumbentError], str]


class Custom:
    """A class of a caller."""


class Color(enum.StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Scene:
    """An organization with something in it, a colleague, and another organization."""

    memory: incumbent.Memory
    alice: incumbent.Session
    bob: incumbent.Session
    stranger: incumbent.Session


@pytest.fixture
def scene(memory: incumbent.Memory) -> Scene:
    """Alice has a base, what rests on it, and a review; Bob and a stranger have facts too."""
    alice = memory.session(
        user_id="alice", authority="manager", organization="acme", session_id="s1"
    )
    bob = memory.session(user_id="bob", organization="acme")
    stranger = memory.session(user_id="alice", authority="policy", organization="globex")
    alice.write("lead", "Ann", id="lead-1")
    alice.write("report", "goes to Ann", depends_on=["lead"], id="report-1")
    alice.write("summary", "Ann gets the report", depends_on=["report"], id="summary-1")
    alice.write("city", "Bern", id="city-1")
    alice.write("city", "Basel", id="city-2")
    alice.write("task", "local", scope="task", scope_id="T1", id="task-1")
    alice.note("desk", "as it was")
    bob.write("shoe_size", 43, id="bob-1")
    stranger.write("plan", "secret", id="plan-1")
    return Scene(memory, alice, bob, stranger)


def snapshot(memory: incumbent.Memory) -> str:
    """Everything a memory holds, as text that can be compared."""
    held: list[Any] = [memory.store.organizations()]
    for organization in ("acme", "globex", "default"):
        held.extend(memory.store.dump(organization))
        with memory.store.read(organization) as reader:
            held.extend(repr(desk) for desk in reader.desks())
    return json.dumps(held, indent=1, default=str)


@contextmanager
def refused(
    memory: incumbent.Memory, error: type[incumbent.IncumbentError], match: str
) -> Iterator[pytest.ExceptionInfo[incumbent.IncumbentError]]:
    """The block must raise exactly this error, with this in its message, and change nothing."""
    before = snapshot(memory)
    with pytest.raises(error, match=match) as caught:
        yield caught
    assert type(caught.value) is error
    assert snapshot(memory) == before


Invalid = incumbent.InvalidInput

TARGETS: dict[str, Case] = {
    "unknown target": (
        lambda s: s.write("city", "Zug", supersedes="town"),
        incumbent.UnknownTarget,
        "'town'",
    ),
    "a colleague's target": (
        lambda s: s.write("shoe_size", 44, supersedes="bob-1"),
        incumbent.UnknownTarget,
        "'bob-1'",
    ),
    "another organization's target": (
        lambda s: s.write("plan", "x", supersedes="plan-1"),
        incumbent.UnknownTarget,
        "'plan-1'",
    ),
    "unknown dependency": (
        lambda s: s.write("x", 1, depends_on=["lead", "nobody"]),
        incumbent.UnknownDependency,
        "'nobody'",
    ),
    "another organization's dependency": (
        lambda s: s.write("x", 1, depends_on=["plan-1"]),
        incumbent.UnknownDependency,
        "'plan-1'",
    ),
    "unknown base to wait for": (
        lambda s: s.write("x", 1, when_superseded="nobody"),
        incumbent.UnknownDependency,
        "'nobody'",
    ),
    "a base to wait for that has left": (
        lambda s: s.write("x", 1, when_superseded="city-1"),
        Invalid,
        "city-1.*left office",
    ),
    "a fact that rests on what it replaces": (
        lambda s: s.write("lead", "Ben", depends_on=["lead"]),
        incumbent.DependencyCycle,
        "'lead' would rest on what it replaces.*depends_on",
    ),
    "a cycle through another fact": (
        lambda s: s.write("lead", "Ben", depends_on=["report"]),
        incumbent.DependencyCycle,
        "'lead'.*report",
    ),
    "a cycle through two other facts": (
        lambda s: s.write("lead", "Ben", depends_on=["summary"]),
        incumbent.DependencyCycle,
        "'lead'.*summary.*report",
    ),
    "a cycle under another key": (
        lambda s: s.write("boss", "Ben", supersedes="lead", depends_on=["summary"]),
        incumbent.DependencyCycle,
        "'boss'",
    ),
    "dependencies as one string": (
        lambda s: s.write("x", 1, depends_on="lead"),
        Invalid,
        r"write \['lead'\]",
    ),
    "dependencies that are no list": (
        lambda s: s.write("x", 1, depends_on=7),  # type: ignore[arg-type]
        Invalid,
        "depends_on",
    ),
    "duplicate id": (
        lambda s: s.write("x", 1, id="city-1"),
        incumbent.DuplicateId,
        "'city-1'",
    ),
    "empty id": (lambda s: s.write("x", 1, id=""), Invalid, "id is empty"),
}

KEYS: dict[str, Case] = {
    "empty": (lambda s: s.write("", 1), Invalid, "key is empty"),
    "blank": (lambda s: s.write(" \t\n", 1), Invalid, "key is empty"),
    "untrimmed": (lambda s: s.write(" city", 1), Invalid, "' city'.*trim"),
    "huge": (lambda s: s.write("k" * 100_000, 1), Invalid, "100,000.*256.*max_key_length"),
    "a number": (lambda s: s.write(7, 1), Invalid, "key must be a string, not int"),  # type: ignore[arg-type]
    "nothing": (lambda s: s.write(None, 1), Invalid, "not NoneType"),  # type: ignore[arg-type]
    "NUL": (lambda s: s.write(NUL, 1), Invalid, "key contains a NUL"),
    "to look up, NUL": (lambda s: s.get(NUL), Invalid, "key or id contains a NUL"),
    "to look up, subject, NUL": (lambda s: s.current("x", NUL), Invalid, "subject.*NUL"),
    "lone surrogate": (lambda s: s.write(LONE, 1), Invalid, "key contains a lone surrogate"),
    "of a note, empty": (lambda s: s.note("", 1), Invalid, "key is empty"),
    "of a note, NUL": (lambda s: s.note(NUL, 1), Invalid, "NUL"),
    "of a note, lone surrogate": (lambda s: s.note(LONE, 1), Invalid, "lone surrogate"),
    "subject, blank": (lambda s: s.write("x", 1, subject=" "), Invalid, "subject is empty"),
    "subject, huge": (lambda s: s.write("x", 1, subject="s" * 10_000), Invalid, "subject.*10,000"),
    "subject, number": (lambda s: s.write("x", 1, subject=7), Invalid, "subject.*not int"),  # type: ignore[arg-type]
    "subject, NUL": (lambda s: s.write("x", 1, subject=NUL), Invalid, "subject.*NUL"),
    "subject, lone surrogate": (
        lambda s: s.write("x", 1, subject=LONE),
        Invalid,
        "subject.*lone surrogate",
    ),
    "source, NUL": (lambda s: s.write("x", 1, source=NUL), Invalid, "source.*NUL"),
    "source, its name": (
        lambda s: s.write("x", 1, source=incumbent.Source(name=LONE)),
        Invalid,
        "source.*lone surrogate",
    ),
    "source, its reference": (
        lambda s: s.write("x", 1, source=incumbent.Source(ref=NUL)),
        Invalid,
        "source.*NUL",
    ),
    "scope id, lone surrogate": (
        lambda s: s.write("x", 1, scope="task", scope_id=LONE),
        Invalid,
        "scope_id.*lone surrogate",
    ),
    "reason, lone surrogate": (
        lambda s: s.retract("city", reason=LONE),
        Invalid,
        "reason.*lone surrogate",
    ),
    "reason, NUL": (lambda s: s.retract("city", reason=NUL), Invalid, "reason.*NUL"),
    "reason, number": (
        lambda s: s.retract("city", reason=7),  # type: ignore[arg-type]
        Invalid,
        "reason.*int",
    ),
}

READS: dict[str, Call] = {
    "current": lambda s: s.current(LONE),
    "current, subject": lambda s: s.current("city", LONE),
    "facts": lambda s: s.facts(LONE),
    "history": lambda s: s.history(LONE),
    "explain": lambda s: s.explain(LONE),
    "is_current": lambda s: s.is_current(LONE),
    "get": lambda s: s.get(LONE),
    "retract": lambda s: s.retract(LONE),
    "revert": lambda s: s.revert(LONE),
    "promote": lambda s: s.promote(LONE),
    "resolve": lambda s: s.resolve(LONE, still_right=True),
    "undo": lambda s: s.undo(LONE),
}

VALUES: dict[str, tuple[Any, str]] = {
    "10 MB": ("x" * 10_000_000, "10,000,002 bytes.*1,000,000.*max_value_bytes"),
    "10 MB in a list": (["x" * 1000] * 10_000, "max_value_bytes"),
    "NaN": (float("nan"), "nan"),
    "infinity": (float("inf"), "inf"),
    "nested NaN": ({"a": [1, {"b": float("-inf")}]}, r"value\['a'\]\[1\]\['b'\] is -inf"),
    "NUL": (NUL, "value contains a NUL"),
    "nested NUL": ([["fine", NUL]], r"value\[0\]\[1\] contains a NUL"),
    "NUL in a name": ({NUL: 1}, "key of value contains a NUL"),
    "lone surrogate": (LONE, "value contains a lone surrogate at position 13"),
    "nested lone surrogate": ({"a": LONE}, r"value\['a'\] contains a lone surrogate"),
    "lone surrogate in a name": ([{LONE: 1}], "lone surrogate"),
    "set": ({1, 2}, "type set"),
    "frozenset": (frozenset(), "type frozenset"),
    "bytes": (b"raw", "type bytes"),
    "tuple": ((1, 2), "type tuple"),
    "datetime": (datetime(2026, 1, 1, tzinfo=UTC), "type datetime"),
    "date": (date(2026, 1, 1), "type date"),
    "decimal": (Decimal("1.5"), "type Decimal"),
    "uuid": (UUID(int=1), "type UUID"),
    "complex": (1j, "type complex"),
    "enum": (Color.RED, "type Color"),
    "function": (len, "type builtin_function_or_method"),
    "custom object": (Custom(), "type Custom"),
    "nested custom object": ({"a": [Custom()]}, r"value\['a'\]\[0\] is of type Custom"),
    "number as a name": ({1: "x"}, "key of type int.*string keys"),
    "null as a name": ({None: "x"}, "key of type NoneType"),
    "tuple as a name": ({(1, 2): "x"}, "key of type tuple"),
    "huge integer": (10**5000, "cannot be written as JSON"),
}


def nested(depth: int) -> Any:
    """Lists within lists."""
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


CIRCULAR: list[Any] = []
CIRCULAR.append(CIRCULAR)
VALUES |= {
    "too deep": (nested(100), "deeper than 64"),
    "far too deep": (nested(100_000), "deeper than 64"),
    "circular": (CIRCULAR, "deeper than 64"),
}

TIMES: dict[str, Case] = {
    "at": (lambda s: s.write("x", 1, at=NAIVE), Invalid, "at is a naive datetime"),
    "valid_from": (
        lambda s: s.write("x", 1, valid_from=NAIVE),
        Invalid,
        r"valid_from is a naive datetime \(2026-03-01T12:00:00\).*\+00:00",
    ),
    "valid_until": (lambda s: s.write("x", 1, valid_until=NAIVE), Invalid, "valid_until.*naive"),
    "as_of": (lambda s: s.as_of(NAIVE), Invalid, "when is a naive datetime"),
    "known_at": (
        lambda s: s.as_of(NAIVE.replace(tzinfo=UTC), known_at=NAIVE),
        Invalid,
        "known_at is a naive datetime",
    ),
    "a date": (lambda s: s.write("x", 1, at=date(2026, 1, 1)), Invalid, "at.*not date"),  # type: ignore[arg-type]
    "text": (lambda s: s.write("x", 1, valid_from="2026-01-01"), Invalid, "valid_from.*not str"),  # type: ignore[arg-type]
    "until before from": (
        lambda s: s.write(
            "x",
            1,
            valid_from=datetime(2026, 3, 2, tzinfo=UTC),
            valid_until=datetime(2026, 3, 1, tzinfo=UTC),
        ),
        Invalid,
        "2026-03-01.*must come after.*2026-03-02",
    ),
    "until equal to from": (
        lambda s: s.write(
            "x",
            1,
            valid_from=datetime(2026, 3, 1, tzinfo=UTC),
            valid_until=datetime(2026, 3, 1, tzinfo=UTC),
        ),
        Invalid,
        "must come after",
    ),
    "until before now": (
        lambda s: s.write("x", 1, valid_until=datetime(2001, 1, 1, tzinfo=UTC)),
        Invalid,
        "2001.*set valid_from too",
    ),
    "ttl of nothing": (lambda s: s.note("x", 1, ttl=0), Invalid, "ttl must be positive"),
    "negative ttl": (
        lambda s: s.note("x", 1, ttl=timedelta(seconds=-1)),
        Invalid,
        "ttl must be positive",
    ),
    "ttl that is no number": (lambda s: s.note("x", 1, ttl=float("nan")), Invalid, "ttl"),
    "ttl beyond the calendar": (lambda s: s.note("x", 1, ttl=timedelta.max), Invalid, "ttl"),
    "ttl in words": (lambda s: s.note("x", 1, ttl="1 day"), Invalid, "ttl"),  # type: ignore[arg-type]
}

CHOICES: dict[str, Case] = {
    "scope": (lambda s: s.write("x", 1, scope="galaxy"), Invalid, "'galaxy'.*global, task"),
    "scope id without scope": (
        lambda s: s.write("x", 1, scope_id="T1"),
        Invalid,
        "'T1'.*scope='task'",
    ),
    "task scope without a task": (lambda s: s.write("x", 1, scope="task"), Invalid, "task_id"),
    "memory type": (
        lambda s: s.write("x", 1, memory_type="photographic"),
        Invalid,
        "'photographic'.*user, capability, organizational",
    ),
    "constraint type": (
        lambda s: s.write("x", 1, constraint_type="gravity"),
        Invalid,
        "'gravity'.*budget, deadline",
    ),
    "confidence above one": (lambda s: s.write("x", 1, confidence=1.5), Invalid, "1.5"),
    "confidence below zero": (lambda s: s.write("x", 1, confidence=-0.1), Invalid, "-0.1"),
    "confidence NaN": (lambda s: s.write("x", 1, confidence=float("nan")), Invalid, "nan"),
    "confidence in words": (
        lambda s: s.write("x", 1, confidence="high"),  # type: ignore[arg-type]
        Invalid,
        "'high'",
    ),
    "empty authority": (lambda s: s.write("x", 1, authority=" "), Invalid, "authority must be"),
    "authority that is no title": (
        lambda s: s.write("x", 1, authority=7),  # type: ignore[arg-type]
        Invalid,
        "authority must be",
    ),
    "authority above one's own": (
        lambda s: s.write("x", 1, authority="policy"),
        incumbent.NotPermitted,
        "'alice' has authority 'manager'.*'policy'.*authority:policy",
    ),
    "requires as one string": (
        lambda s: s.write("x", 1, requires="hr"),
        Invalid,
        r"write \['hr'\]",
    ),
    "requires with a number": (
        lambda s: s.write("x", 1, requires=[7]),  # type: ignore[list-item]
        Invalid,
        "requires.*not int",
    ),
    "profile": (lambda s: s.context("q", profile="bold"), Invalid, "'bold'.*balanced"),
    "negative budget": (lambda s: s.context("q", budget=-1), Invalid, "-1"),
    "budget in words": (lambda s: s.context("q", budget="10"), Invalid, "'10'"),  # type: ignore[arg-type]
    "budget of a truth": (lambda s: s.context("q", budget=True), Invalid, "True"),
    "query that is no text": (lambda s: s.context(7), Invalid, "query.*int"),  # type: ignore[arg-type]
    "writing the scope inside a branch": (
        lambda s: s.draft().write("x", 1, scope="task", scope_id="T1"),
        Invalid,
        "branch.*scope='task'",
    ),
    "empty name of a branch": (lambda s: s.draft(" "), Invalid, "name is empty"),
    "committing what is no branch": (lambda s: s.commit(), Invalid, "no branch.*draft"),
    "discarding what is no branch": (lambda s: s.discard(), Invalid, "no branch"),
    "promoting what is global": (lambda s: s.promote("city"), Invalid, "global already"),
    "retracting what is superseded": (lambda s: s.retract("city-1"), Invalid, "superseded already"),
    "retracting what is unknown": (lambda s: s.retract("town"), incumbent.UnknownFact, "'town'"),
    "retracting a colleague's fact": (
        lambda s: s.retract("bob-1"),
        incumbent.UnknownFact,
        "'bob-1'",
    ),
    "reverting what is unknown": (lambda s: s.revert("town"), incumbent.UnknownFact, "'town'"),
    "reverting to a stranger": (
        lambda s: s.revert("city", to="lead-1"),
        incumbent.UnknownFact,
        "lead-1",
    ),
    "explaining what is unknown": (lambda s: s.explain("town"), incumbent.UnknownFact, "'town'"),
    "resolving with no answer": (lambda s: s.resolve("report-1"), Invalid, "exactly one"),
    "resolving with two answers": (
        lambda s: s.resolve("report-1", "x", still_right=True),
        Invalid,
        "exactly one",
    ),
    "resolving with three answers": (
        lambda s: s.resolve("report-1", None, still_right=True, retract=True),
        Invalid,
        "exactly one",
    ),
    "resolving what is not under review": (
        lambda s: s.resolve("city-2", still_right=True),
        Invalid,
        "not under review.*reviews",
    ),
    "resolving what is unknown": (
        lambda s: s.resolve("bob-1", retract=True),
        incumbent.UnknownFact,
        "'bob-1'",
    ),
    "undoing what is unknown": (lambda s: s.undo("no-such"), incumbent.UnknownVerdict, "'no-such'"),
    "undoing a number": (lambda s: s.undo(7), Invalid, "verdict must be a string"),  # type: ignore[arg-type]
}


def check(scene: Scene, case: Case) -> None:
    """Run one case as Alice."""
    call, error, match = case
    with refused(scene.memory, error, match):
        call(scene.alice)


@pytest.mark.parametrize("case", TARGETS.values(), ids=TARGETS)
def test_bad_reference(scene: Scene, case: Case) -> None:
    """A reference to nothing, to what may not be seen, or in a circle is refused."""
    check(scene, case)


@pytest.mark.parametrize("case", KEYS.values(), ids=KEYS)
def test_bad_name(scene: Scene, case: Case) -> None:
    """Keys, subjects, sources and reasons that cannot be stored are refused by name."""
    check(scene, case)


@pytest.mark.parametrize("call", READS.values(), ids=READS)
def test_bad_name_in_a_question(scene: Scene, call: Call) -> None:
    """A name that cannot be stored is refused, or found not to exist, wherever one asks by it."""
    before = snapshot(scene.memory)
    try:
        answer = call(scene.alice)
    except incumbent.InvalidInput:
        pass
    else:
        assert not answer
    assert snapshot(scene.memory) == before


@pytest.mark.parametrize(("value", "match"), VALUES.values(), ids=VALUES)
def test_bad_value(scene: Scene, value: Any, match: str) -> None:
    """What JSON cannot carry, or what is too big, is refused with its type and place."""
    with refused(scene.memory, incumbent.InvalidInput, match):
        scene.alice.write("city", value)
    with refused(scene.memory, incumbent.InvalidInput, match):
        scene.alice.note("desk", value)
    with refused(scene.memory, incumbent.InvalidInput, match):
        scene.alice.write_many([{"key": "fine", "value": 1}, {"key": "city", "value": value}])
    scene.alice.write("lead", "Ben")
    with refused(scene.memory, incumbent.InvalidInput, match):
        scene.alice.resolve("report-1", value)


@pytest.mark.parametrize("case", TIMES.values(), ids=TIMES)
def test_bad_time(scene: Scene, case: Case) -> None:
    """A moment without a time zone, or a term that ends before it begins, is refused."""
    check(scene, case)


@pytest.mark.parametrize("case", CHOICES.values(), ids=CHOICES)
def test_bad_choice(scene: Scene, case: Case) -> None:
    """A word that is not one of those expected is refused, with those listed."""
    check(scene, case)


def test_a_value_of_ten_megabytes_is_a_setting(open_memory: OpenMemory) -> None:
    """The limit on values can be raised."""
    memory = open_memory(settings=incumbent.Settings(max_value_bytes=20_000_000))
    session = memory.session(user_id="alice")
    big = "x" * 10_000_000
    session.write("book", big)
    assert session.current("book") == big


def test_a_higher_authority_takes_a_permission(memory: incumbent.Memory) -> None:
    """A session with the permission for it may write above its own authority."""
    session = memory.session(user_id="alice", permissions=["authority:policy"])
    verdict = session.write("max_discount", "15%", authority="policy")
    assert verdict.fact is not None
    assert verdict.fact.authority == "policy"


def test_a_naive_clock_is_refused(open_memory: OpenMemory) -> None:
    """A clock that does not say which zone it shows is refused at the first reading."""
    memory = open_memory(clock=lambda: NAIVE)
    with pytest.raises(incumbent.InvalidInput, match="clock's time is a naive datetime"):
        memory.session(user_id="alice")


@pytest.mark.parametrize(
    ("bad", "error", "match"),
    [
        ({"key": "", "value": 1}, Invalid, "write 2: key is empty"),
        ({"key": "x"}, Invalid, "write 2: .*missing.*'value'"),
        ({"key": "x", "value": 1, "colour": 2}, Invalid, "write 2: .*'colour'"),
        ({"key": "x", "value": 1, "at": NAIVE}, Invalid, "write 2: at is a naive"),
        ("not a mapping", Invalid, "write 2: "),
        ({"key": "x", "value": 1, "supersedes": "town"}, incumbent.UnknownTarget, "'town'"),
        ({"key": "x", "value": 1, "depends_on": ["town"]}, incumbent.UnknownDependency, "'town'"),
        ({"key": "x", "value": 1, "id": "city-1"}, incumbent.DuplicateId, "'city-1'"),
        ({"key": "x", "value": 1, "id": "new-1"}, incumbent.DuplicateId, "'new-1'"),
        ({"key": "x", "value": 1, "authority": "policy"}, incumbent.NotPermitted, "policy"),
        (
            {"key": "city", "value": "Zug", "depends_on": ["city"]},
            incumbent.DependencyCycle,
            "'city'",
        ),
    ],
    ids=lambda given: str(given)[:40] if isinstance(given, dict | str) else None,
)
def test_one_bad_write_of_many(scene: Scene, bad: Any, error: Any, match: str) -> None:
    """Where one of several writes is bad, none is carried out."""
    with refused(scene.memory, error, match):
        scene.alice.write_many(
            [
                {"key": "new", "value": 1, "id": "new-1"},
                {"key": "city", "value": "Genf"},
                bad,
                {"key": "newer", "value": 2},
            ]
        )


@pytest.mark.parametrize(
    ("identity", "match"),
    [
        ({"user_id": ""}, "user_id is empty"),
        ({"user_id": 7}, "user_id must be a string, not int"),
        ({"user_id": NUL}, "user_id contains a NUL"),
        ({"user_id": LONE}, "user_id contains a lone surrogate"),
        ({"user_id": "u" * 1000}, "user_id is 1,000 characters"),
        ({"organization": " "}, "organization is empty"),
        ({"organization": LONE}, "organization contains a lone surrogate"),
        ({"user_name": ""}, "user_name is empty"),
        ({"department": NUL}, "department contains a NUL"),
        ({"authority": ""}, "authority must be a rung or a title"),
        ({"permissions": "hr"}, r"write \['hr'\]"),
        ({"permissions": [""]}, "a name in permissions is empty"),
        ({"session_id": NUL}, "session_id contains a NUL"),
        ({"task_id": ""}, "task_id is empty"),
    ],
    ids=str,
)
def test_bad_identity(memory: incumbent.Memory, identity: dict[str, Any], match: str) -> None:
    """A session cannot be opened for an identity that has no proper name."""
    with refused(memory, incumbent.InvalidInput, match):
        memory.session(**{"user_id": "alice", **identity})


@pytest.mark.parametrize(
    ("declaration", "match"),
    [
        ({"key": ""}, "key is empty"),
        ({"key": LONE}, "lone surrogate"),
        ({"key": "k", "multi_valued": True, "time_sensitive": True}, "'k' cannot be both"),
        ({"key": "k", "requires": "hr"}, r"write \['hr'\]"),
        ({"key": "k", "write_authority": " "}, "authority must be"),
    ],
    ids=str,
)
def test_bad_declaration(memory: incumbent.Memory, declaration: dict[str, Any], match: str) -> None:
    """A declaration that cannot hold is refused."""
    with refused(memory, incumbent.InvalidInput, match):
        memory.declare(**declaration)


def test_a_reserved_key(scene: Scene) -> None:
    """A key declared for a higher authority takes no writes from a lower one."""
    scene.memory.declare("max_discount", write_authority="executive")
    with refused(scene.memory, incumbent.NotPermitted, "'max_discount'.*'executive'.*'manager'"):
        scene.alice.write("max_discount", "25%")


@pytest.mark.parametrize(
    ("asked", "error", "match"),
    [
        ({"organization": "acme"}, Invalid, "say what to forget"),
        ({"organization": "", "user_id": "alice"}, Invalid, "organization is empty"),
        ({"organization": "acme", "fact_id": "plan-1"}, incumbent.UnknownFact, "'plan-1'.*'acme'"),
        ({"organization": "acme", "fact_id": "no-such"}, incumbent.UnknownFact, "'no-such'"),
        ({"organization": "acme", "fact_id": LONE}, Invalid, "no fact|lone surrogate"),
    ],
    ids=["nothing", "nowhere", "of another organization", "unknown", "lone surrogate"],
)
def test_bad_forget(scene: Scene, asked: Any, error: Any, match: str) -> None:
    """Forgetting nothing in particular, or what is not there, is refused."""
    before = snapshot(scene.memory)
    with pytest.raises(error, match=match):
        scene.memory.forget(**asked)
    assert snapshot(scene.memory) == before


def test_undo_of_an_undone_verdict(scene: Scene) -> None:
    """A verdict is undone once; the error names the verdict that did it."""
    verdict = scene.alice.write("city", "Zug")
    undone = scene.alice.undo(verdict)
    with refused(scene.memory, incumbent.NothingToUndo, f"undone already, by '{undone.id}'"):
        scene.alice.undo(verdict)


@pytest.mark.parametrize("owner", ["bob", "stranger"])
def test_undo_of_a_hidden_verdict(scene: Scene, owner: str) -> None:
    """A verdict on a fact that one may not see is as unknown as one that does not exist."""
    session: incumbent.Session = getattr(scene, owner)
    verdict = session.write("private", "thing")
    for given in (verdict, verdict.id):
        with refused(scene.memory, incumbent.UnknownVerdict, f"'{verdict.id}'"):
            scene.alice.undo(given)
    with pytest.raises(incumbent.UnknownVerdict) as unknown:
        scene.alice.undo("no-such")
    with pytest.raises(incumbent.UnknownVerdict) as hidden:
        scene.alice.undo(verdict)
    assert str(hidden.value).replace(verdict.id, "no-such") == str(unknown.value)


def test_undo_of_a_higher_verdict(scene: Scene) -> None:
    """What a higher authority decided, a lower one cannot undo."""
    chief = scene.memory.session(user_id="carol", authority="executive", organization="acme")
    verdict = chief.write("max_discount", "15%", memory_type="organizational")
    with refused(scene.memory, incumbent.NotPermitted, "'executive'.*'alice' has 'manager'"):
        scene.alice.undo(verdict)


def test_undo_of_an_erased_fact(scene: Scene) -> None:
    """What was erased cannot be brought back."""
    verdict = scene.alice.write("city", "Zug")
    scene.memory.forget(organization="acme", fact_id=verdict.fact_id)
    with refused(scene.memory, incumbent.NothingToUndo, "erased"):
        scene.alice.undo(verdict)


CLOSED: dict[str, Call] = {
    "write": lambda s: s.write("x", 1),
    "write_many": lambda s: s.write_many([{"key": "x", "value": 1}]),
    "note": lambda s: s.note("x", 1),
    "retract": lambda s: s.retract("city"),
    "undo": lambda s: s.undo("any"),
    "revert": lambda s: s.revert("city"),
    "promote": lambda s: s.promote("task-1"),
    "resolve": lambda s: s.resolve("report-1", retract=True),
    "draft": lambda s: s.draft(),
    "hypothetical": lambda s: s.hypothetical(),
}
ALSO_READING: dict[str, Call] = {
    "current": lambda s: s.current("city"),
    "is_current": lambda s: s.is_current("city"),
    "get": lambda s: s.get("city-1"),
    "facts": lambda s: s.facts(),
    "history": lambda s: s.history("city"),
    "explain": lambda s: s.explain("city"),
    "reviews": lambda s: s.reviews(),
    "working_set": lambda s: s.working_set(),
    "environment": lambda s: s.environment,
    "context": lambda s: s.context("q"),
    "as_of": lambda s: s.as_of(datetime(2026, 1, 1, tzinfo=UTC)).facts(),
}


@pytest.mark.parametrize("call", (CLOSED | ALSO_READING).values(), ids=CLOSED | ALSO_READING)
def test_a_closed_session(scene: Scene, call: Call) -> None:
    """A closed session does nothing any more."""
    scene.alice.close()
    with refused(scene.memory, incumbent.SessionClosed, r"session was closed.*memory\.session"):
        call(scene.alice)


@pytest.mark.parametrize("call", (CLOSED | ALSO_READING).values(), ids=CLOSED | ALSO_READING)
@pytest.mark.parametrize("end", ["commit", "discard"])
def test_a_closed_branch(scene: Scene, call: Call, end: str) -> None:
    """A branch that was committed or discarded does nothing any more."""
    branch = scene.alice.draft()
    branch.write("idea", "good")
    getattr(branch, end)()
    with refused(scene.memory, incumbent.SessionClosed, f"branch was {end}"):
        call(branch)
    with refused(scene.memory, incumbent.SessionClosed, f"branch was {end}"):
        branch.commit()


STORED = {
    name: call
    for name, call in (CLOSED | ALSO_READING).items()
    if name not in ("draft", "hypothetical", "environment")  # these touch nothing that is stored
}


@pytest.mark.parametrize("call", STORED.values(), ids=STORED)
def test_a_closed_memory(scene: Scene, call: Call) -> None:
    """Sessions of a closed memory say that it is closed."""
    scene.memory.close()
    with pytest.raises(incumbent.SessionClosed, match=r"memory is closed.*incumbent\.open"):
        call(scene.alice)


@pytest.mark.parametrize("call", CLOSED.values(), ids=CLOSED)
def test_writing_into_the_past(scene: Scene, call: Call) -> None:
    """A session on the past is read-only."""
    past = scene.alice.as_of(scene.memory.now())
    with refused(scene.memory, incumbent.ReadOnlySession, "past"):
        call(past)


def test_nothing_crosses_organizations(scene: Scene) -> None:
    """The same user id in another organization sees, finds and changes nothing of this one."""
    stranger = scene.stranger
    before = snapshot(scene.memory)
    for key in ("lead", "city", "report", "shoe_size"):
        assert stranger.current(key) is None
        assert not stranger.is_current(key)
        assert len(stranger.history(key)) == 0
        assert stranger.facts(key) == []
        with pytest.raises(incumbent.UnknownFact):
            stranger.explain(key)
        with pytest.raises(incumbent.UnknownFact):
            stranger.retract(key)
    for fact_id in ("lead-1", "city-1", "bob-1"):
        assert stranger.get(fact_id) is None
        assert not stranger.is_current(fact_id)
    assert [fact.id for fact in stranger.facts()] == ["plan-1"]
    assert stranger.working_set() == []
    assert "Bern" not in stranger.context("everything", budget=4000).text
    assert snapshot(scene.memory) == before
    # Not even an id is taken elsewhere.
    assert stranger.write("city", "Paris", id="city-1").fact_id == "city-1"
    assert scene.alice.current("city") == "Basel"


def record(**fields: Any) -> dict[str, Any]:
    """The header of an export, with other fields."""
    given = {"kind": "header", "format": "incumbent-export", "version": 2, "organization": "acme"}
    return {**given, **fields}


@pytest.mark.parametrize(
    ("records", "match"),
    [
        ([], "first line is not a header"),
        ([{"kind": "fact"}], "first line is not a header"),
        (["text"], "first line is not a header"),
        ([record(version=99)], "version 99.*upgrade"),
        ([record(version=1)], "version 1.*allow_unsealed"),
        ([record()], "its end is missing after 0 records"),
        ([record(organization="")], "organization is empty"),
        ([record(), {"kind": "fact", "id": "x"}], "damaged"),
        ([record(), {"no kind": 1}], "damaged"),
        ([record(), "text"], "damaged"),
        ([record(), {"kind": "verdict", "seq": "one"}], "damaged"),
        ([record(), {"kind": "surprise"}], "surprise"),
    ],
    ids=str,
)
def test_bad_import(memory: incumbent.Memory, records: Any, match: str) -> None:
    """An export that is none, is newer or is damaged is refused whole."""
    with refused(memory, incumbent.InvalidInput, match):
        memory.import_(iter(records))


def test_a_damaged_record_in_an_import(scene: Scene, memory: incumbent.Memory) -> None:
    """Any record with a field gone, or of the wrong kind, makes the whole import fail."""
    records = list(scene.memory.export("acme"))
    for index, damaged in enumerate(records[1:], start=1):
        if damaged["kind"] == "declaration":
            continue
        for spoilt in ({"kind": damaged["kind"]}, {**damaged, "at": 7, "timestamp": "noon"}):
            given = [*records[:index], spoilt, *records[index + 1 :]]
            with refused(memory, incumbent.InvalidInput, "damaged"):
                memory.import_(given, organization="default")


def test_importing_over_facts(scene: Scene) -> None:
    """An organization that has facts takes no import."""
    records = list(scene.memory.export("acme"))
    with refused(scene.memory, incumbent.NotPermitted, "'globex' already has facts"):
        scene.memory.import_(records, organization="globex")


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"fact_share": 1.5}, "fact_share.*1.5"),
        ({"contest_below": -1}, "contest_below.*-1"),
        ({"max_key_length": 0}, "max_key_length.*0"),
        ({"max_value_bytes": -5}, "max_value_bytes.*-5"),
        ({"busy_timeout": 0}, "busy_timeout.*0"),
        ({"durability": "some"}, "durability.*'some'"),
    ],
    ids=str,
)
def test_bad_settings(settings: dict[str, Any], match: str) -> None:
    """A setting out of range is refused by name."""
    with pytest.raises(incumbent.InvalidInput, match=match):
        incumbent.Settings(**settings)


@pytest.mark.parametrize(
    ("where", "match"), [("", "where is empty"), ("mongodb://host/db", "'mongodb'")]
)
def test_bad_address_of_a_memory(where: str, match: str) -> None:
    """An address that names no store we have is refused."""
    with pytest.raises(incumbent.InvalidInput, match=match):
        incumbent.open(where)


@pytest.mark.parametrize("call", ["write", "note", "observe", "context", "forget"])
def test_a_clock_at_the_end_of_the_calendar_is_refused(call: str) -> None:
    """Nothing could be recorded after it; the error says which clock to set."""
    end = datetime.max.replace(tzinfo=UTC)
    with incumbent.open(":memory:", clock=lambda: end) as memory:
        session = memory.session(user_id="alice", session_id="s")
        calls: dict[str, Callable[[], object]] = {
            "write": lambda: session.write("city", "Bern"),
            "note": lambda: session.note("city", "Bern"),
            "observe": lambda: session.observe("My locker is 4."),
            "context": lambda: session.context("Where?"),
            "forget": lambda: memory.forget(organization="default", user_id="alice"),
        }
        with pytest.raises(Invalid, match=r"the clock says 9999-12-31.* set the clock"):
            calls[call]()
        assert list(memory.store.dump("default")) == []
