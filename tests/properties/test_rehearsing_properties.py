"""Rehearsals of random calls in random histories: each is then done, and nothing surprises."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import incumbent
from incumbent import Change, Fact, Memory, Observation, Session, Verdict
from incumbent.stores.port import Selection
from incumbent.testing import SteppingClock
from incumbent.testing.contract.catalogue import everything_indexed
from tests.conftest import QUICK, OpenMemory, examples

pytestmark = pytest.mark.on_every_store

KEYS = ("rate", "total", "plan", "vendor")
TURNS = (
    "My address is 123 Main St.",
    "I moved to 456 Oak Ave.",
    "The rate is 3.",
    "The rate is now 2, not 3.",
    "What if the plan was 9?",
    "Forget my address.",
    "Scrap the plan.",
)
PEOPLE: dict[str, dict[str, Any]] = {
    "eve": {"authority": "employee", "task_id": "t"},
    "mia": {"authority": "manager", "permissions": ("hr",)},
    "mia at work": {"authority": "manager", "task_id": "t"},
    "exa": {"authority": "executive", "permissions": ("hr",)},
}
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
NAMES = count()


@dataclass(frozen=True)
class Step:
    """One call. What it is about is picked from what there is by a number."""

    who: str
    branch: str | None
    kind: str
    key: str
    value: int
    pick: int
    options: dict[str, Any]


OPTIONS: list[dict[str, Any]] = [
    {},
    *[{"memory_type": "organizational"}] * 5,
    {"scope": "task", "memory_type": "organizational"},
    {"scope": "task"},
    {"scope": "task", "depends_on": ("rate",)},
    {"requires": ("hr",)},
    {"depends_on": ("rate", "plan"), "memory_type": "organizational"},
    {"depends_on": ("total",)},
    {"doubts": ("plan",)},
    {"when_superseded": "plan"},
    {"confidence": 0.1},
    {"supersedes": "plan"},
]
STEPS = st.builds(
    Step,
    who=st.sampled_from(sorted(PEOPLE)),
    branch=st.sampled_from([None, None, None, "d"]),
    kind=st.sampled_from(
        ["write"] * 6
        + ["write_many", "retract", "undo", "undo", "revert", "promote", "still right", "resolve"]
        + ["take back", "commit", "discard", "observe", "observe", "note"]
    ),
    key=st.sampled_from(KEYS),
    value=st.integers(1, 3),
    pick=st.integers(0, 1000),
    options=st.sampled_from(OPTIONS),
)


@dataclass
class World:
    """An organization, the sessions of its people, and the verdicts that were made."""

    memory: Memory
    clock: SteppingClock
    organization: str
    verdicts: list[str] = field(default_factory=list)

    def begin(self) -> None:
        """Let there be something to work with: facts for all, one's own, of a task, derived."""
        shared = {"memory_type": "organizational"}
        many: dict[str, list[dict[str, Any]]] = {
            "exa": [
                {"key": "rate", "value": 1, **shared},
                {"key": "plan", "value": 1, **shared},
                {"key": "vendor", "value": 1, "requires": ("hr",), **shared},
            ],
            "mia": [
                {"key": "total", "value": 1, "depends_on": ("rate", "vendor"), **shared},
                {"key": "plan", "value": 2},
            ],
            "eve": [
                {"key": "margin", "value": 1, "depends_on": ("total", "plan")},
                {"key": "plan", "value": 2, "scope": "task"},
            ],
        }
        for who, writes in many.items():
            step = Step(who, None, "write_many", "", 0, 0, {})
            made = self.session(step).write_many(writes)
            self.verdicts += [verdict.id for verdict in made]

    def session(self, step: Step) -> Session:
        identity = {**PEOPLE[step.who], "user_id": step.who.split()[0]}
        named = f"s-{step.who}".replace(" ", "-")
        made = self.memory.session(organization=self.organization, session_id=named, **identity)
        return made if step.branch is None else made.draft(step.branch)

    def stored(self) -> list[Any]:
        """All that there is of the organization, whoever may see it."""
        store = self.memory.store
        with store.read(self.organization) as reader:
            people = sorted({name.split()[0] for name in PEOPLE})
            sessions = [f"s-{name}".replace(" ", "-") for name in PEOPLE]
            return [
                *store.dump(self.organization),
                *everything_indexed(store, self.organization),
                reader.head(),
                reader.log(0, 1000),
                reader.desks(),
                [reader.turns(user, one, 100) for user in people for one in sessions],
                reader.receipts(None, 100),
                reader.usage(None),
            ]

    def seen(self, session: Session) -> dict[str, Fact]:
        """Every fact that a session sees, however it stands."""
        with self.memory.store.read(self.organization) as reader:
            facts = [fact.id for fact in reader.timeline(Selection())]
        found = (session.get(fact_id) for fact_id in facts)
        return {fact.id: fact for fact in found if fact is not None}

    def call(self, step: Step, session: Session) -> Callable[[Session], Any]:
        """The call of a step, the same for a session and for its rehearsal."""
        if step.kind == "observe":
            turn, ref = TURNS[step.pick % len(TURNS)], f"r{step.pick}"
            return lambda one: one.observe(turn, ref=ref)
        if step.kind == "undo":
            verdict = self.verdicts[step.pick % len(self.verdicts)] if self.verdicts else "none"
            return lambda one: one.undo(verdict, reason="slip")
        if step.kind in ("still right", "resolve", "take back"):
            queue = session.reviews()
            fact_id = queue[step.pick % len(queue)].fact.id if queue else "none"
            ways: dict[str, dict[str, Any]] = {
                "still right": {"still_right": True},
                "resolve": {"value": step.value},
                "take back": {"retract": True},
            }
            return lambda one: one.resolve(fact_id, **ways[step.kind])
        options = {} if step.branch and "scope" in step.options else step.options
        if step.kind == "write":
            return lambda one: one.write(step.key, step.value, **options)
        if step.kind == "write_many":
            many = [{"key": key, "value": step.value} for key in KEYS]
            return lambda one: one.write_many([{**many[0], **options}, *many])
        if step.kind in ("commit", "discard"):
            return lambda one: getattr(one, step.kind)()
        if step.kind == "note":
            return lambda one: one.note(step.key, step.value)
        return lambda one: getattr(one, step.kind)(step.key)


def outcome(call: Callable[[Session], Any], session: Session) -> Any:
    """What comes of a call: its result, or its error."""
    try:
        made = call(session)
    except incumbent.IncumbentError as error:
        return type(error), str(error)
    if isinstance(made, Observation) and made.erasures:
        return replace(
            made, erasures=tuple(replace(e, id="", scrubbed=False) for e in made.erasures)
        )
    return made


def told(value: Any, known: Iterable[str]) -> str:
    """A value in words, with "new" for every id that nothing had before."""
    old = set(known)
    return ID.sub(lambda found: found[0] if found[0] in old else "new", repr(value))


def changes_between(before: dict[str, Fact], after: dict[str, Fact]) -> list[Change]:
    """Every fact that stands differently. What is derived from it is not its own standing."""
    found = []
    for fact_id in sorted(before.keys() | after.keys()):
        one, two = before.get(fact_id), after.get(fact_id)
        if (one and one.evolve(derived_facts=())) != (two and two.evolve(derived_facts=())):
            found.append(Change(one, two))
    return found


def without_derived(change: Change) -> Change:
    """What is derived from new facts has new ids too, in the order of noise."""
    sides = (change.before, change.after)
    return Change(*(fact and fact.evolve(derived_facts=()) for fact in sides))


def play(world: World, step: Step) -> None:
    """Rehearse a step, look whether anything is left of that, and do it."""
    world.clock.advance(seconds=1)
    session = world.session(step)
    call = world.call(step, session)
    stored, before = world.stored(), world.seen(session)
    known = ID.findall(repr(stored))
    trial = session.rehearsal()
    foreseen = outcome(call, trial)
    assert world.stored() == stored
    done = outcome(call, session)
    assert told(foreseen, known) == told(done, known)
    again = world.session(step)
    expected = map(without_derived, changes_between(before, world.seen(again)))
    named = sorted(told(change, known) for change in map(without_derived, trial.changes))
    assert named == sorted(told(change, known) for change in expected)
    if isinstance(done, Verdict):
        world.verdicts.append(done.id)
    elif isinstance(done, Observation):
        world.verdicts += [verdict.id for verdict in done.verdicts]


def test_what_is_rehearsed_is_what_is_done(open_memory: OpenMemory, kind_of_store: str) -> None:
    """Whatever the call and whoever makes it: nothing is left of its rehearsal, the same comes of
    it when it is done, and every change to what its session sees was told, and nothing else."""
    clock = SteppingClock()
    memory = open_memory(clock=clock, settings=QUICK)
    often = {"memory": 60, "sqlite": 20}.get(kind_of_store, 8)

    @given(steps=st.lists(STEPS, min_size=1, max_size=10))
    @settings(
        max_examples=examples(often, soak=10 * often),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    def check(steps: list[Step]) -> None:
        world = World(memory, clock, f"acme-{next(NAMES)}")
        world.begin()
        for step in steps:
            play(world, step)

    check()
