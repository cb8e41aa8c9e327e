"""Making episodes: stories told in structured writes, or in plain language with talk between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from incumbent_eval.repair.episodes import (
    EpisodeForm,
    EpisodeQuestion,
    Half,
    RepairEpisode,
    Retract,
    Say,
    Step,
    Task,
    Undo,
    Write,
)
from incumbent_eval.repair.phrasings import EpisodeVoice
from incumbent_eval.repair.stories import (
    Delete,
    Derive,
    Event,
    Held,
    Restate,
    Revert,
    State,
    Story,
    StoryChange,
    StoryQuestion,
    StoryRule,
    story,
)
from incumbent_eval.repair.world import Slot, World
from incumbent_eval.systems import Ability, Entry

_FEWEST_TURNS, _MOST_TURNS = 24, 48
"""The number of turns about other things in an episode in plain language."""
_NOTES = 12
"""The number of other values that are written in a structured one."""


def episodes(
    count: int,
    seed: int,
    *,
    tasks: Sequence[Task] = tuple(Task),
    forms: Sequence[EpisodeForm] = tuple(EpisodeForm),
    halves: Sequence[Half] = tuple(Half),
) -> list[RepairEpisode]:
    """So many episodes of each task, in each form; in plain language, of each half."""
    made = []
    for task in tasks:
        for number in range(count):
            if EpisodeForm.STRUCTURED in forms:
                made.append(_structured(task, number, seed))
            if EpisodeForm.PLAIN in forms:
                made.extend(_plain(task, number, seed, half) for half in halves)
    return made


def _world(task: Task, number: int, seed: int, form: str) -> World:
    return World(Random(f"{seed} {task} {number} {form}"))


def _structured(task: Task, number: int, seed: int) -> RepairEpisode:
    world = _world(task, number, seed, EpisodeForm.STRUCTURED)
    told = story(task, world, number)
    teller = _Writer(world)
    for event in told.events:
        teller.tell(event)
        teller.pass_time(_NOTES // len(told.events) + 1)
    voice = EpisodeVoice(world, Half.KNOWN)
    return RepairEpisode(
        f"structured {task} {number + 1}",
        task,
        EpisodeForm.STRUCTURED,
        Half.KNOWN,
        tuple(teller.steps),
        _questions(told, voice),
        frozenset(teller.needs),
        told.size,
    )


def _plain(task: Task, number: int, seed: int, half: Half) -> RepairEpisode:
    world = _world(task, number, seed, f"{EpisodeForm.PLAIN} {half}")
    told = story(task, world, number)
    voice = EpisodeVoice(world, half)
    steps = _conversation(told.events, world, voice)
    return RepairEpisode(
        f"plain {task} {number + 1} ({half})",
        task,
        EpisodeForm.PLAIN,
        half,
        tuple(steps),
        _questions(told, voice),
        frozenset({Ability.OBSERVE}),
        told.size,
    )


def _questions(told: Story, voice: EpisodeVoice) -> tuple[EpisodeQuestion, ...]:
    return tuple(_question(ask, voice) for ask in told.asks)


def _question(ask: StoryQuestion, voice: EpisodeVoice) -> EpisodeQuestion:
    first, *rest = ask.slots
    others = {"d": rest[0]} if ask.form == "ask_two" else {}
    text = voice.say(ask.form, b=first, **others)
    return EpisodeQuestion(text, ask.must, ask.must_not, history=ask.form == "ask_history")


# structured


class _Writer:
    """Tells a story in writes, and keeps the name of each value."""

    def __init__(self, world: World) -> None:
        self.steps: list[Step] = []
        self.needs: set[Ability] = {Ability.WRITE}
        self._world = world
        self._latest: dict[Slot, str] = {}
        self._before: dict[Slot, str] = {}
        self._noted = 0

    def tell(self, event: Event) -> None:
        match event:
            case State(slot, value):
                self._write(slot, value)
            case Derive(slot, value, bases, says_base):
                if says_base:
                    self._write(*bases[0])
                self._write(slot, value, bases=bases)
            case StoryChange(slot, _, new):
                self._write(slot, new, replaces=True)
            case StoryRule(base, becomes, slot, value):
                self._await(base, becomes, slot, value)
            case Delete(slot):
                self.needs.add(Ability.RETRACT)
                self.steps.append(Retract(self._latest[slot]))
            case Revert(slot, _, _):
                self.needs.add(Ability.UNDO)
                self.steps.append(Undo(self._latest[slot]))
            case Restate(slot, value, bases):
                self._write(slot, value, bases=bases, replaces=True)

    def pass_time(self, count: int) -> None:
        """Write other things."""
        for _ in range(count):
            self._noted += 1
            entry = Entry(f"note_{self._noted}", self._world.filler())
            self.steps.append(Write(f"note {self._noted}", entry))

    def _write(
        self,
        slot: Slot,
        value: str,
        *,
        bases: tuple[Held, ...] = (),
        replaces: bool = False,
    ) -> None:
        name = f"{slot.name}: {value}"
        if bases:
            self.needs.add(Ability.DEPEND)
        if replaces:
            self.needs.add(Ability.SUPERSEDE)
        entry = Entry(
            slot.key,
            value,
            slot.subject,
            depends_on=tuple(self._latest[base] for base, _ in bases),
            supersedes=self._latest[slot] if replaces else None,
        )
        self.steps.append(Write(name, entry))
        self._latest[slot] = name

    def _await(self, base: Held, becomes: str, slot: Slot, value: str) -> None:
        self.needs.add(Ability.AWAIT)
        entry = Entry(
            slot.key,
            value,
            slot.subject,
            when_superseded=self._latest[base[0]],
            becomes=becomes,
        )
        self.steps.append(Write(f"{slot.name}: {value}", entry))


# in plain language


def _conversation(events: Sequence[Event], world: World, voice: EpisodeVoice) -> Iterator[Step]:
    """The turns of a conversation, with talk about other things between those that matter."""
    talk = world.chance.randrange(_FEWEST_TURNS, _MOST_TURNS + 1)
    breaks = sorted(world.chance.randrange(len(events) + 1) for _ in range(talk))
    for index, event in enumerate(events):
        yield from _talk(world, breaks.count(index))
        said = _said(event, voice)
        yield Say(said)
        if world.chance.random() < 0.5:
            echo = _echo(event)
            yield Say(world.answer(echo), "assistant")
    yield from _talk(world, breaks.count(len(events)))


def _talk(world: World, turns: int) -> Iterator[Step]:
    for turn in range(turns):
        if turn % 2:
            yield Say(world.answer(""), "assistant")
        else:
            yield Say(world.filler())


def _echo(event: Event) -> str:
    """The words of a turn that an assistant may repeat: a value, with the thing it belongs to."""
    match event:
        case State(slot, value) | Derive(slot, value) | StoryChange(slot, _, value):
            return f"{slot.name} {slot.verb} {value}"
        case _:
            return ""


def _said(event: Event, voice: EpisodeVoice) -> str:
    match event:
        case State(slot, value):
            form = "share" if slot.owner and not slot.owner.startswith("the ") else "state"
            return voice.say(form, b=slot, bv=value)
        case Derive(slot, value, (base,), True):
            return voice.say("both", b=base[0], bv=base[1], d=slot, dv=value)
        case Derive(slot, value, (base,)):
            return voice.say("link", b=base[0], bv=base[1], d=slot, dv=value)
        case Derive(slot, value, bases):
            one, two = bases
            return voice.say("link_two", b=one[0], c=two[0], d=slot, dv=value)
        case StoryChange(slot, old, new):
            return voice.say("change", b=slot, bo=old, bv=new)
        case StoryRule(base, becomes, slot, value):
            return voice.say("rule", b=base[0], bn=becomes, d=slot, dn=value)
        case Delete(slot):
            return voice.say("delete", b=slot)
        case Revert(slot, _, old):
            return voice.say("undo", b=slot, bo=old)
        case Restate(slot, value):
            return voice.say("restate", d=slot, dv=value)
