"""Acts: the events of a world, drawn from a seed before any of it is played."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

from incumbent_eval.systems import Ability, Who

WALLS = (
    Ability.ORGANIZATION,
    Ability.PERSON,
    Ability.PERMISSION,
    Ability.SESSION,
    Ability.DRAFT,
)
_PERMISSION = "vault"
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
    "restricted": ("payroll sum", "case file", "vault code"),
}
_NEEDS = {
    "shared": {Ability.WRITE},
    "private": {Ability.WRITE, Ability.PERSON},
    "session": {Ability.WRITE, Ability.SESSION},
    "draft": {Ability.WRITE, Ability.DRAFT},
    "said": {Ability.OBSERVE},
    "restricted": {Ability.WRITE, Ability.PERMISSION},
}
_BAITED = (*_KEYS["private"], *_KEYS["said"])
"""Keys that are put on the organization's record first, to draw private things there."""
SCOPES = {"session": "session", "draft": "draft"}
_ROADS = ("context", "look back", "account")


@dataclass(frozen=True)
class Secret:
    """A word that nobody would say by chance, its owner, and its kind."""

    word: str
    owner: Who
    kind: str
    key: str

    def wall(self, reader: Who) -> Ability | None:
        """The wall between a reader and the secret, if there is one."""
        if reader.organization != self.owner.organization:
            return Ability.ORGANIZATION
        if self.kind == "shared":
            return None
        if self.kind == "restricted":
            return None if _PERMISSION in reader.permissions else Ability.PERMISSION
        if reader.user != self.owner.user:
            return Ability.PERSON
        if self.kind == "session" and reader.session != self.owner.session:
            return Ability.SESSION
        return Ability.DRAFT if self.kind == "draft" else None


class IsolationAct(NamedTuple):
    """Something that somebody does in a world."""

    kind: str
    """ "plant", "ask", "bait", "guess", or one of the attempts: "supersede", "rest on", "retract",
    "undo", "erase"."""
    who: Who
    secret: Secret | None = None
    """The secret that is planted; for a question, the one it ought to bring up; for an attempt, its
    aim."""
    road: str = "context"
    key: str = ""
    back: int = 0
    """For a look back, the number of acts."""


def drawn(random: Random, can: frozenset[Ability], probes: int) -> Iterator[IsolationAct]:
    kinds = [kind for kind, needs in _NEEDS.items() if needs <= can]
    current: dict[tuple[str, str, str, str, str], Secret] = {}
    words: set[str] = set()
    while probes:
        if not current or random.random() < 0.4:
            secret = _secret(random, random.choice(kinds), words)
            current[_slot(secret)] = secret
            yield IsolationAct("plant", secret.owner, secret)
            continue
        if {Ability.WRITE, Ability.PERSON} <= can and random.random() < 0.1:
            baiter = replace(_anybody(random), permissions=())
            yield IsolationAct("bait", baiter, key=random.choice(_BAITED))
            continue
        probes -= 1
        aims = [secret for secret in current.values() if secret.kind != "said"]
        attempts = _attempts(can)
        hidden = [secret for secret in aims if secret.kind == "restricted"]
        if hidden and random.random() < 0.1:
            yield _attempt(random, random.choice(hidden), "guess", can)
        elif aims and attempts and random.random() < 0.25:
            yield _attempt(random, random.choice(aims), random.choice(attempts), can)
        else:
            yield _question(random, list(current.values()), can)


def _attempts(can: frozenset[Ability]) -> list[str]:
    means = {
        "supersede": Ability.SUPERSEDE,
        "rest on": Ability.DEPEND,
        "retract": Ability.RETRACT,
        "undo": Ability.UNDO,
        "erase": Ability.ERASE,
    }
    return [attempt for attempt, needs in means.items() if needs in can]


def _slot(secret: Secret) -> tuple[str, str, str, str, str]:
    """The place of a secret: the next one there takes its place."""
    owner = secret.owner
    user = "" if secret.kind in ("shared", "restricted") else owner.user
    session = owner.session if secret.kind == "session" else ""
    return (secret.kind, owner.organization, user, session, secret.key)


def _secret(random: Random, kind: str, words: set[str]) -> Secret:
    while True:
        word = "".join(random.choice("bdfgklmnprtvz") + random.choice("aeiou") for _ in range(4))
        if word not in words:
            words.add(word)
            owner = _anybody(random)
            if kind == "restricted":
                owner = replace(owner, permissions=(_PERMISSION,))
            return Secret(word, owner, kind, random.choice(_KEYS[kind]))


def _anybody(random: Random) -> Who:
    return Who(
        user=random.choice(_PEOPLE),
        organization=random.choice(_ORGANIZATIONS),
        session=random.choice(_SESSIONS),
        permissions=(_PERMISSION,) if random.random() < 0.3 else (),
    )


def _attempt(random: Random, aim: Secret, kind: str, can: frozenset[Ability]) -> IsolationAct:
    """An attempt of somebody beyond a wall that the system claims on a value that is not theirs."""
    walls = can & {Ability.ORGANIZATION, Ability.PERSON, Ability.PERMISSION}
    for _ in range(20):
        who = _anybody(random)
        if kind == "guess" and aim.wall(who) is not Ability.PERMISSION:
            continue
        if aim.wall(who) in walls:
            return IsolationAct(kind, who, aim)
    return IsolationAct("ask", aim.owner, aim, key=aim.key)


def _question(random: Random, current: Sequence[Secret], can: frozenset[Ability]) -> IsolationAct:
    """A question, half of the time about a value of the asker's own."""
    about = random.choice(current)
    who = about.owner if random.random() < 0.5 else _anybody(random)
    road = random.choice(_ROADS)
    if road == "look back" and Ability.AS_OF not in can:
        road = "context"
    owned = next(
        (one for one in current if one.key == about.key and one.wall(who) is None),
        None,
    )
    return IsolationAct("ask", who, owned, road, about.key, random.randrange(20))
