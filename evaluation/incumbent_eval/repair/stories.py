"""Stories: the events of an episode, in either form, and the right answers in the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from incumbent_eval.repair.episodes import Task
from incumbent_eval.repair.world import Slot, World

Held = tuple[Slot, str]
"""A thing with one of its values."""


@dataclass(frozen=True)
class State:
    """A thing has a value."""

    slot: Slot
    value: str


@dataclass(frozen=True)
class Derive:
    """A thing has a value that follows from those of others, which were said before or are now."""

    slot: Slot
    value: str
    bases: tuple[Held, ...]
    says_base: bool = False
    """Whether it also states the base for the first time."""


@dataclass(frozen=True)
class StoryChange:
    """A thing gets another value."""

    slot: Slot
    old: str
    new: str


@dataclass(frozen=True)
class StoryRule:
    """The value that a thing gets once another gets this one."""

    base: Held
    becomes: str
    slot: Slot
    value: str


@dataclass(frozen=True)
class Delete:
    """A thing is to be forgotten."""

    slot: Slot


@dataclass(frozen=True)
class Revert:
    """A change is reverted."""

    slot: Slot
    new: str
    old: str


@dataclass(frozen=True)
class Restate:
    """A value is stated again after its base changed."""

    slot: Slot
    value: str
    bases: tuple[Held, ...]


Event = State | Derive | StoryChange | StoryRule | Delete | Revert | Restate


@dataclass(frozen=True)
class StoryQuestion:
    """A question about some things: its wording, and the right answer."""

    form: str
    slots: tuple[Slot, ...]
    must: tuple[str, ...]
    must_not: tuple[str, ...] = ()


@dataclass(frozen=True)
class Story:
    """The events, and the questions."""

    events: tuple[Event, ...]
    asks: tuple[StoryQuestion, ...]
    size: int = 1


def story(task: Task, world: World, number: int) -> Story:
    """A story for a task. `number` counts those of the task, and varies its size."""
    return _MAKERS[task](world, number)


def _recall(world: World, number: int) -> Story:
    slots = [*world.slots(3), *world.shared(3)]
    events = tuple(State(slot, world.value(slot)) for slot in slots)
    asked = world.chance.choice(events)
    return Story(events, (StoryQuestion("ask", (asked.slot,), (asked.value,)),), len(slots))


def _aggregation(world: World, number: int) -> Story:
    slots = world.shared(3 + number % 3)
    first = {slot: world.value(slot) for slot in slots}
    changed = world.chance.sample(slots, 1 + number % 2)
    after = {slot: world.value(slot) for slot in changed}
    events: list[Event] = [State(slot, value) for slot, value in first.items()]
    events += [StoryChange(slot, first[slot], after[slot]) for slot in changed]
    must = tuple({**first, **after}.values())
    stale = tuple(first[slot] for slot in changed)
    return Story(tuple(events), (StoryQuestion("ask_all", tuple(slots), must, stale),), len(slots))


def _tracking(world: World, number: int) -> Story:
    slot, other = world.slots(2)
    values = [world.value(slot) for _ in range(3 + number % 3)]
    events: list[Event] = [State(slot, values[0]), State(other, world.value(other))]
    events += [StoryChange(slot, old, new) for old, new in pairwise(values)]
    asks = (
        StoryQuestion("ask_history", (slot,), tuple(values)),
        StoryQuestion("ask", (slot,), (values[-1],), tuple(values[:-1])),
    )
    return Story(tuple(events), asks, len(values))


def _deletion(world: World, number: int) -> Story:
    slot, other, third = world.slots(3)
    value, kept = world.value(slot), world.value(other)
    events = (
        State(slot, value),
        State(other, kept),
        State(third, world.value(third)),
        Delete(slot),
    )
    return Story(events, (StoryQuestion("ask_two", (other, slot), (kept,), (value,)),))


def _cascade(world: World, number: int) -> Story:
    base, slot = world.slots(2)
    old, new, other = (world.value(base) for _ in range(3))
    before, after, else_ = (world.value(slot) for _ in range(3))
    begins = _begun(world, base, old, slot, before, is_tied=number % 2 == 0)
    rules = [StoryRule((base, old), new, slot, after)]
    if number % 3 == 2:
        rules.insert(world.chance.randrange(2), StoryRule((base, old), other, slot, else_))
    ask = StoryQuestion("ask_two", (base, slot), (new, after), (old, before))
    return Story((*begins, *rules, StoryChange(base, old, new)), (ask,), len(rules))


def _begun(
    world: World, base: Slot, old: str, slot: Slot, value: str, *, is_tied: bool
) -> tuple[Event, ...]:
    """A base and something else that is said beside it, or said to follow from it."""
    if not is_tied:
        return State(base, old), State(slot, value)
    return _derived(world, base, old, [(slot, value)])


def _derived(world: World, base: Slot, old: str, dependents: list[Held]) -> tuple[Event, ...]:
    """A base and the things that follow from it; the first of these may be said in one sentence
    with it."""
    at_once = world.chance.random() < 0.5
    events: list[Event] = [] if at_once else [State(base, old)]
    for index, (slot, value) in enumerate(dependents):
        events.append(Derive(slot, value, ((base, old),), says_base=at_once and index == 0))
    return tuple(events)


def _absence(world: World, number: int) -> Story:
    base, slot = world.slots(2)
    old, new, value = world.value(base), world.value(base), world.value(slot)
    events = (*_derived(world, base, old, [(slot, value)]), StoryChange(base, old, new))
    return Story(events, (StoryQuestion("ask_two", (base, slot), (new,), (old, value)),))


def _depth(world: World, number: int) -> Story:
    depth = 2 + number % 7
    slots = world.slots(depth + 1)
    chain = [(slot, world.value(slot)) for slot in slots]
    events = [*_derived(world, *chain[0], chain[1:2])]
    for below, (slot, value) in pairwise(chain[1:]):
        events.append(Derive(slot, value, (below,)))
    root, old = chain[0]
    new = world.value(root)
    stale = (old, *(value for _, value in chain[1:]))
    ask = StoryQuestion("ask_two", (root, slots[-1]), (new,), stale)
    return Story((*events, StoryChange(root, old, new)), (ask,), depth)


def _fan_out(world: World, number: int) -> Story:
    width = 3 + number % 4
    base, *slots = world.slots(width + 1)
    old, new = world.value(base), world.value(base)
    dependents = [(slot, world.value(slot)) for slot in slots]
    events = (*_derived(world, base, old, dependents), StoryChange(base, old, new))
    stale = (old, *(value for _, value in dependents))
    return Story(events, (StoryQuestion("ask_two", (base, slots[-1]), (new,), stale),), width)


def _diamond(world: World, number: int) -> Story:
    base, left, right, tip = world.slots(4)
    old, new = world.value(base), world.value(base)
    sides = [(left, world.value(left)), (right, world.value(right))]
    value = world.value(tip)
    events = (
        *_derived(world, base, old, sides),
        Derive(tip, value, tuple(sides)),
        StoryChange(base, old, new),
    )
    stale = (old, *(value for _, value in sides), value)
    return Story(events, (StoryQuestion("ask_two", (base, tip), (new,), stale),), 2)


def _undo(world: World, number: int) -> Story:
    base, slot = world.slots(2)
    old, new, value = world.value(base), world.value(base), world.value(slot)
    events = (
        *_derived(world, base, old, [(slot, value)]),
        StoryChange(base, old, new),
        Revert(base, new, old),
    )
    return Story(events, (StoryQuestion("ask_two", (base, slot), (old, value), (new,)),))


def _partial(world: World, number: int) -> Story:
    base, one, two = world.slots(3)
    old, new = world.value(base), world.value(base)
    first, second, again = world.value(one), world.value(two), world.value(one)
    # Every other time what was worked out again is itself what the other one rests on.
    in_line = number % 2 == 1
    events = (
        *_derived(world, base, old, [(one, first)] if in_line else [(one, first), (two, second)]),
        *([Derive(two, second, ((one, first),))] if in_line else []),
        StoryChange(base, old, new),
        Restate(one, again, ((base, new),)),
    )
    asks = (
        StoryQuestion("ask_two", (base, one), (new, again), (old, first)),
        StoryQuestion("ask_two", (one, two), (again,), (first, second)),
    )
    return Story(events, asks, 2)


_MAKERS: Mapping[Task, Callable[[World, int], Story]] = {
    Task.RECALL: _recall,
    Task.AGGREGATION: _aggregation,
    Task.TRACKING: _tracking,
    Task.DELETION: _deletion,
    Task.CASCADE: _cascade,
    Task.ABSENCE: _absence,
    Task.DEPTH: _depth,
    Task.FAN_OUT: _fan_out,
    Task.DIAMOND: _diamond,
    Task.UNDO: _undo,
    Task.PARTIAL: _partial,
}
