"""Isolation: secrets are planted at random, and nobody may ever learn one that is not theirs.

A world has organizations, people with the same names in each, and sessions. Acts are drawn from a
seed before anything is played: writes, turns, questions, baits, guesses, and attempts on the values
of others, such as to erase them. Every text that comes back is searched for every secret. Each
world is also played again for some of its people without the acts that they may not know of: a text
that differs then was shaped by a secret.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, NamedTuple

from incumbent_eval.figures import Share
from incumbent_eval.isolation.acts import WALLS, IsolationAct, Secret, drawn
from incumbent_eval.isolation.playing import guessed, played
from incumbent_eval.running import each
from incumbent_eval.systems import Ability, Maker, Progress, Who

PROBES_A_WORLD = 50
_WITNESSES = 4
_GUESSES = 2
"""The guesses of a world that are made in worlds of their own: each takes three."""


class Leak(NamedTuple):
    """A secret in a text of somebody who may not know it."""

    wall: str
    road: str
    what: str


@dataclass(frozen=True)
class IsolationReport:
    """The number of probes, and the leaks by wall and road."""

    system: str
    probes: int
    leaks: tuple[Leak, ...]
    own: Share
    """The share of secrets that came up among those that a question ought to bring up."""
    compared: int
    """Texts that were compared with those of a world without the others."""
    cannot: tuple[str, ...]
    """Walls that the system does not claim to have."""

    @property
    def by_road(self) -> Counter[tuple[str, str]]:
        return Counter((leak.wall, leak.road) for leak in self.leaks)

    def record(self) -> dict[str, Any]:
        return {
            "system": self.system,
            "probes": self.probes,
            "leaks": len(self.leaks),
            "by_road": [
                {"wall": wall, "road": road, "leaks": count}
                for (wall, road), count in sorted(self.by_road.items())
            ],
            "examples": [leak.what for leak in self.leaks[:10]],
            "own_found": self.own.record(),
            "texts_compared": self.compared,
            "cannot": list(self.cannot),
        }


def run(
    maker: Maker,
    *,
    probes: int = 2000,
    seed: int = 0,
    workers: int = 1,
    progress: Progress | None = None,
) -> IsolationReport:
    """Probe a system in as many worlds as it takes. The seed decides everything."""
    system = maker()
    name, can = system.name, system.can
    system.close()
    sizes = [PROBES_A_WORLD] * (probes // PROBES_A_WORLD) + [probes % PROBES_A_WORLD]
    worlds = [(seed, number, size) for number, size in enumerate(sizes) if size]
    walls = frozenset(WALLS) & can
    cannot = tuple(wall.value for wall in WALLS if wall not in can)
    if not walls & {Ability.ORGANIZATION, Ability.PERSON, Ability.SESSION}:
        return IsolationReport(name, 0, (), Share(), 0, cannot)
    found = list(
        each(
            partial(_probed, maker, can),
            worlds,
            what=f"worlds of {name}",
            workers=workers,
            progress=progress,
        )
    )
    return IsolationReport(
        name,
        probes,
        tuple(leak for world in found for leak in world.leaks),
        sum((world.own for world in found), Share()),
        sum(world.compared for world in found),
        cannot,
    )


def _witnesses(random: Random, acts: Sequence[IsolationAct]) -> list[Who]:
    asking = sorted({act.who for act in acts if act.kind == "ask"}, key=_named)
    return random.sample(asking, min(_WITNESSES, len(asking)))


class _Found(NamedTuple):
    leaks: list[Leak]
    own: Share
    compared: int


def _probed(maker: Maker, can: frozenset[Ability], world: tuple[int, int, int]) -> _Found:
    """Draw a world, play it, search all its texts, and play it again for a witness."""
    seed, number, probes = world
    random = Random(f"{seed}/{number}")
    acts = list(drawn(random, can, probes))
    texts = played(maker, acts, range(len(acts)))
    secrets = [act.secret for act in acts if act.kind == "plant" and act.secret is not None]
    walls = frozenset(WALLS) & can
    leaks, own = [], Share()
    for index, text in texts.items():
        act = acts[index]
        leaks += list(_leaks(act, text, secrets, walls))
        if act.kind == "ask" and act.road == "context" and act.secret is not None:
            own += Share.one(act.secret.word in text)
    compared = 0
    for witness in _witnesses(random, acts):
        shaped, texts_compared = _shaped(maker, acts, texts, witness, walls)
        leaks += shaped
        compared += texts_compared
    answered, answers_compared = _answered(maker, acts, random, walls)
    return _Found([*leaks, *answered], own, compared + answers_compared)


# judging


def _leaks(
    act: IsolationAct, text: str, secrets: Sequence[Secret], walls: frozenset[Ability]
) -> Iterator[Leak]:
    lowered = text.lower()
    road = act.road if act.kind == "ask" else "refusal"
    for secret in secrets:
        wall = secret.wall(act.who)
        if wall in walls and secret.word in lowered:
            assert wall is not None
            what = f"{_named(act.who)} came by the {secret.kind} {secret.key} of "
            yield Leak(wall.value, road, f"{what}{_named(secret.owner)}: {text}")


def _named(who: Who) -> str:
    return f"{who.user} of {who.organization} (session {who.session})"


def _shaped(
    maker: Maker,
    acts: Sequence[IsolationAct],
    texts: dict[int, str],
    witness: Who,
    walls: frozenset[Ability],
) -> tuple[list[Leak], int]:
    """Texts of a witness that differ in a world without the acts they may not know of."""
    known = [index for index, act in enumerate(acts) if not _is_hidden(act, witness, walls)]
    alone = played(maker, acts, known)
    mine = [index for index in alone if acts[index].kind == "ask" and acts[index].who == witness]
    leaks = []
    for index in mine:
        if alone[index] != texts[index]:
            what = f"{_named(witness)}:\n{texts[index]}\nand without the others:\n{alone[index]}"
            leaks.append(Leak("any", "shaped by what it does not say", what))
    return leaks, len(mine)


def _is_hidden(act: IsolationAct, witness: Who, walls: frozenset[Ability]) -> bool:
    """Whether an act is behind a wall for the witness: it must make no difference to them."""
    if act.kind == "ask":
        return act.who != witness
    if act.kind == "bait":
        return act.who.organization != witness.organization and Ability.ORGANIZATION in walls
    if act.kind != "plant":
        return True  # an attempt comes from beyond a wall, and must change nothing for anybody
    assert act.secret is not None
    return act.secret.wall(witness) in walls


def _answered(
    maker: Maker, acts: Sequence[IsolationAct], random: Random, walls: frozenset[Ability]
) -> tuple[list[Leak], int]:
    """Guesses at values that take a permission, if their answer depends on whether they are
    right."""
    guesses = [index for index, act in enumerate(acts) if act.kind == "guess"]
    leaks, compared = [], 0
    for index in random.sample(guesses, min(_GUESSES, len(guesses))):
        act, private = acts[index], random.random() < 0.5
        assert act.secret is not None
        known = [i for i in range(index) if not _is_hidden(acts[i], act.who, walls)]
        ask = partial(guessed, maker, acts, act=act, private=private)
        right = ask(range(index), word=act.secret.word)
        wrong = ask(range(index), word="somethingelse")
        absent = ask(known, word="somethingelse")
        compared += 3
        if not right == wrong == absent:
            told = f"right: {right}; wrong: {wrong}; nothing there: {absent}"
            leaks.append(Leak("permission", "guessing", f"{_named(act.who)}: {told}"))
    return leaks, compared
