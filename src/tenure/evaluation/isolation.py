"""Isolation: secrets are planted at random, and nobody may ever come by one that is not theirs.

A world has organizations, people with the same names in each, and sessions. Acts are drawn from a
seed before anything is played: writes, turns, questions, and attempts on what belongs to others.
Every text that comes back is searched for every secret. Each world is also played again for
some of its people without all that they may not know of: a text that then reads otherwise has been
shaped by what it does not say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any, NamedTuple

from tenure.evaluation.figures import Share
from tenure.evaluation.ours import BEGINNING
from tenure.evaluation.running import Progress, each
from tenure.evaluation.systems import Ability, Accountable, Entry, Maker, Refused, System, Who

PROBES_A_WORLD = 50
_WITNESSES = 4
_BUDGET = 2000
_MOMENT = timedelta(minutes=1)
_WALLS = (Ability.ORGANIZATION, Ability.PERSON, Ability.SESSION, Ability.DRAFT)
_PEOPLE = ("ada", "bob", "chiara")
_ORGANIZATIONS = ("acme", "globex", "initech")
_SESSIONS = ("one", "two")
# Each kind has keys of its own, so that no value stands in front of another; people share them.
_KEYS = {
    "shared": ("server room", "supplier of paper", "door motto", "project name"),
    "private": ("locker word", "alarm phrase", "favourite poem"),
    "session": ("tone of voice", "pen name"),
    "draft": ("merger partner", "new slogan"),
    "said": ("nickname", "badge name", "parking spot"),
}
_NEEDS = {
    "shared": {Ability.WRITE},
    "private": {Ability.WRITE, Ability.PERSON},
    "session": {Ability.WRITE, Ability.SESSION},
    "draft": {Ability.WRITE, Ability.DRAFT},
    "said": {Ability.OBSERVE},
}
_SCOPES = {"session": "session", "draft": "draft"}
_ROADS = ("context", "look back", "account")


@dataclass(frozen=True)
class Secret:
    """A word that nobody would say by chance, whose it is, and in what way."""

    word: str
    owner: Who
    kind: str
    key: str

    def wall(self, reader: Who) -> Ability | None:
        """The wall that stands between a reader and the secret, if there is one."""
        if reader.organization != self.owner.organization:
            return Ability.ORGANIZATION
        if self.kind == "shared":
            return None
        if reader.user != self.owner.user:
            return Ability.PERSON
        if self.kind == "session" and reader.session != self.owner.session:
            return Ability.SESSION
        return Ability.DRAFT if self.kind == "draft" else None


class Act(NamedTuple):
    """Something that somebody does in a world."""

    kind: str
    """ "plant", "ask", or one of the attempts: "supersede", "rest on", "retract", "undo"."""
    who: Who
    secret: Secret | None = None
    """What is planted; of a question, what it ought to bring up; of an attempt, its aim."""
    road: str = "context"
    key: str = ""
    back: int = 0
    """Of a look back, by how many acts."""


class Leak(NamedTuple):
    """A secret in a text of somebody who may not know it."""

    wall: str
    road: str
    what: str


@dataclass(frozen=True)
class IsolationReport:
    """How many probes there were, and what leaked over which wall by which road."""

    system: str
    probes: int
    leaks: tuple[Leak, ...]
    own: Share
    """Of the secrets that a question ought to bring up: those that it did."""
    compared: int
    """Texts that were held against those of a world without the others."""
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
    """Probe a system in as many worlds as it takes. The seed decides all of it."""
    system = maker()
    name, can = system.name, system.can
    system.close()
    sizes = [PROBES_A_WORLD] * (probes // PROBES_A_WORLD) + [probes % PROBES_A_WORLD]
    worlds = [(seed, number, size) for number, size in enumerate(sizes) if size]
    walls = frozenset(_WALLS) & can
    cannot = tuple(wall.value for wall in _WALLS if wall not in can)
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


def _witnesses(random: Random, acts: Sequence[Act]) -> list[Who]:
    asking = sorted({act.who for act in acts if act.kind == "ask"}, key=_named)
    return random.sample(asking, min(_WITNESSES, len(asking)))


class _Found(NamedTuple):
    leaks: list[Leak]
    own: Share
    compared: int


def _probed(maker: Maker, can: frozenset[Ability], world: tuple[int, int, int]) -> _Found:
    """Draw a world, play it, search all that it said, and play it again for a witness."""
    seed, number, probes = world
    random = Random(f"{seed}/{number}")
    acts = list(_drawn(random, can, probes))
    texts = _played(maker, acts, range(len(acts)))
    secrets = [act.secret for act in acts if act.kind == "plant" and act.secret is not None]
    walls = frozenset(_WALLS) & can
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
    return _Found(leaks, own, compared)


# drawing


def _drawn(random: Random, can: frozenset[Ability], probes: int) -> Iterator[Act]:
    kinds = [kind for kind, needs in _NEEDS.items() if needs <= can]
    current: dict[tuple[str, str, str, str, str], Secret] = {}
    words: set[str] = set()
    while probes:
        if not current or random.random() < 0.4:
            secret = _secret(random, random.choice(kinds), words)
            current[_slot(secret)] = secret
            yield Act("plant", secret.owner, secret)
            continue
        probes -= 1
        aims = [secret for secret in current.values() if secret.kind != "said"]
        attempts = _attempts(can)
        if aims and attempts and random.random() < 0.25:
            yield _attempt(random, random.choice(aims), random.choice(attempts), can)
        else:
            yield _question(random, list(current.values()), can)


def _attempts(can: frozenset[Ability]) -> list[str]:
    means = {
        "supersede": Ability.SUPERSEDE,
        "rest on": Ability.DEPEND,
        "retract": Ability.RETRACT,
        "undo": Ability.UNDO,
    }
    return [attempt for attempt, needs in means.items() if needs in can]


def _slot(secret: Secret) -> tuple[str, str, str, str, str]:
    """Where a secret sits: the next one there takes its place."""
    owner = secret.owner
    user = "" if secret.kind == "shared" else owner.user
    session = owner.session if secret.kind == "session" else ""
    return (secret.kind, owner.organization, user, session, secret.key)


def _secret(random: Random, kind: str, words: set[str]) -> Secret:
    while True:
        word = "".join(random.choice("bdfgklmnprtvz") + random.choice("aeiou") for _ in range(4))
        if word not in words:
            words.add(word)
            return Secret(word, _anybody(random), kind, random.choice(_KEYS[kind]))


def _anybody(random: Random) -> Who:
    return Who(
        user=random.choice(_PEOPLE),
        organization=random.choice(_ORGANIZATIONS),
        session=random.choice(_SESSIONS),
    )


def _attempt(random: Random, aim: Secret, kind: str, can: frozenset[Ability]) -> Act:
    """Somebody beyond a wall that the system claims lays hands on what is not theirs."""
    walls = can & {Ability.ORGANIZATION, Ability.PERSON}
    for _ in range(20):
        who = _anybody(random)
        if aim.wall(who) in walls:
            return Act(kind, who, aim)
    return Act("ask", aim.owner, aim, key=aim.key)


def _question(random: Random, current: Sequence[Secret], can: frozenset[Ability]) -> Act:
    """Half of the questions are about what the asker knows, half about what others know."""
    about = random.choice(current)
    who = about.owner if random.random() < 0.5 else _anybody(random)
    road = random.choice(_ROADS)
    if road == "look back" and Ability.AS_OF not in can:
        road = "context"
    owned = next(
        (one for one in current if one.key == about.key and one.wall(who) is None),
        None,
    )
    return Act("ask", who, owned, road, about.key, random.randrange(20))


# playing


def _played(maker: Maker, acts: Sequence[Act], chosen: Iterable[int]) -> dict[int, str]:
    """What came back from each act that says something, by its number."""
    system = maker()
    try:
        player = _Player(system)
        said = {index: player.do(index, acts[index]) for index in chosen}
    finally:
        system.close()
    return {index: text for index, text in said.items() if text is not None}


class _Player:
    def __init__(self, system: System) -> None:
        self._system = system
        self._written: dict[Secret, str] = {}

    def do(self, index: int, act: Act) -> str | None:
        now = BEGINNING + (index + 1) * _MOMENT
        self._system.move_to(now)
        if act.kind == "plant":
            with suppress(Refused):  # its owner will not find it, which the report shows
                self._plant(act)
            return None
        if act.kind != "ask":
            return self._attempt(act)
        query = f"What is the {act.key}?"
        if act.road == "account" and isinstance(self._system, Accountable):
            return self._system.account(act.who, query, _BUDGET)
        if act.road == "look back":
            then = now - act.back * _MOMENT
            return self._system.context(act.who, query, _BUDGET, as_of=then)
        return self._system.context(act.who, query, _BUDGET)

    def _plant(self, act: Act) -> None:
        secret = act.secret
        assert secret is not None
        if secret.kind == "said":
            self._system.observe(act.who, f"My {secret.key} is {secret.word}.")
            return
        entry = Entry(
            secret.key,
            secret.word,
            scope=_SCOPES.get(secret.kind, "global"),
            is_private=secret.kind != "shared",
        )
        self._written[secret] = self._system.write(act.who, entry)

    def _attempt(self, act: Act) -> str:
        """An attempt on what is somebody else's; what comes back is what was said to it."""
        assert act.secret is not None
        aim = self._written.get(act.secret)
        if aim is None:
            return ""
        entry = Entry("decoy", "a harmless thing", is_private=True)
        try:
            if act.kind == "retract":
                self._system.retract(act.who, aim)
            elif act.kind == "undo":
                self._system.undo(act.who, aim)
            elif act.kind == "supersede":
                self._system.write(act.who, replace(entry, supersedes=aim))
            else:
                self._system.write(act.who, replace(entry, depends_on=(aim,)))
        except Refused as refusal:
            return str(refusal)
        return ""


# judging


def _leaks(
    act: Act, text: str, secrets: Sequence[Secret], walls: frozenset[Ability]
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
    acts: Sequence[Act],
    texts: dict[int, str],
    witness: Who,
    walls: frozenset[Ability],
) -> tuple[list[Leak], int]:
    """Texts of a witness that read otherwise in a world without what they may not know of."""
    known = [index for index, act in enumerate(acts) if not _is_hidden(act, witness, walls)]
    alone = _played(maker, acts, known)
    mine = [index for index in alone if acts[index].kind == "ask" and acts[index].who == witness]
    leaks = []
    for index in mine:
        if alone[index] != texts[index]:
            what = f"{_named(witness)}:\n{texts[index]}\nand without the others:\n{alone[index]}"
            leaks.append(Leak("any", "shaped by what it does not say", what))
    return leaks, len(mine)


def _is_hidden(act: Act, witness: Who, walls: frozenset[Ability]) -> bool:
    """Whether an act is behind a wall for the witness: it must make no difference to them."""
    if act.kind == "ask":
        return act.who != witness
    if act.kind != "plant":
        return True  # an attempt comes from beyond a wall, and must change nothing for anybody
    assert act.secret is not None
    return act.secret.wall(witness) in walls
