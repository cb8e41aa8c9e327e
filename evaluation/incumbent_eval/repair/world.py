"""The world of episodes: things that have a value, their possible values, and other talk."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from random import Random
from typing import Any

_MONTHS = ("March", "April", "May", "June", "August", "September", "October", "November")


@dataclass(frozen=True)
class Slot:
    """Something that has one value at a time, and the words for it."""

    noun: str
    verb: str
    pool: str
    owner: str = ""
    """The person or thing it belongs to: "Mia", "the cottage", or nobody in particular."""
    determiner: str = "the"

    @property
    def name(self) -> str:
        """Its name within a sentence."""
        if not self.owner:
            return f"{self.determiner} {self.noun}"
        if self.owner.startswith("the "):
            return f"the {self.noun} for {self.owner}"
        return f"{self.owner}'s {self.noun}"

    @property
    def key(self) -> str:
        return self.noun.replace(" ", "_").replace("-", "_")

    @property
    def subject(self) -> str | None:
        return self.owner.removeprefix("the ") or None


@dataclass(frozen=True)
class Domain:
    """Things that belong together, so that one can depend on another."""

    name: str
    slots: tuple[Slot, ...]
    things: tuple[str, ...]


class World:
    """Draws things, their values and other talk from one source of chance."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self._told = _told()
        self._used: set[str] = set()

    def slots(self, count: int) -> list[Slot]:
        """Things of one domain, all different, all of the same owner or of none."""
        domains = [domain for domain in _domains() if len(domain.slots) >= count]
        domain = self.chance.choice(domains)
        owner = self.chance.choice(("", "", self.chance.choice(domain.things)))
        determiner = self.chance.choice(("the", "the", "our", "my"))
        drawn = self.chance.sample(domain.slots, count)
        return [Slot(s.noun, s.verb, s.pool, owner, determiner) for s in drawn]

    def shared(self, count: int) -> list[Slot]:
        """The same thing of several people."""
        noun, verb, pool = self.chance.choice(self._told["shared"]["slots"])
        owners = self.chance.sample(self._told["shared"]["names"], count)
        return [Slot(noun, verb, pool, owner) for owner in owners]

    def value(self, slot: Slot) -> str:
        """A value that nothing else in the episode has, nor is a part of."""
        for _ in range(1_000):
            value = self._drawn(slot.pool)
            words = set(value.casefold().replace("the ", "").split())
            if words.isdisjoint(self._used):
                # Units and halves of the day may recur; what tells values apart may not.
                self._used |= {word for word in words if len(word) > 1 and word not in _COMMON}
                return value
        raise AssertionError(f"the pool {slot.pool} has too few values")

    def verbs(self, slot: Slot) -> Mapping[str, str]:
        """The verbs that connect a thing with its value."""
        forms = self._told["verbs"][slot.verb]
        return {
            "is": slot.verb,
            "now": forms["now"],
            "will": forms["will"],
            "gets": self.chance.choice(forms["gets"]),
        }

    def filler(self) -> str:
        return str(self.chance.choice(self._told["filler"]["said"]))

    def answer(self, what: str) -> str:
        """An assistant's answer to a turn, now and then with its words."""
        told = self._told["filler"]
        if what and self.chance.random() < 0.3:
            return str(self.chance.choice(told["echoed"])).format(what=what)
        return str(self.chance.choice(told["answered"]))

    def _drawn(self, pool: str) -> str:
        chance = self.chance
        if pool == "money":
            return f"${chance.randrange(110, 9_800, 10):,}"
        if pool == "times":
            return f"{chance.randrange(6, 12)}:{chance.choice(('05', '10', '20', '25', '35'))} am"
        if pool == "durations":
            return f"{chance.randrange(13, 95)} minutes"
        if pool == "counts":
            return f"{chance.randrange(13, 95)} people"
        if pool == "degrees":
            return f"{chance.randrange(130, 245, 5)} degrees"
        if pool == "dates":
            return f"{chance.randrange(2, 29)} {chance.choice(_MONTHS)}"
        if pool == "codes":
            letters = "".join(chance.choice("BCDFGHKLMNPQRTVXZ") for _ in range(2))
            return f"{letters}-{chance.randrange(110, 990)}"
        return str(chance.choice(self._told["pools"][pool]))


_COMMON = frozenset(
    {"am", "minutes", "people", "degrees", "room", "hotel", *map(str.lower, _MONTHS)}
)


@cache
def _told() -> Any:
    text = resources.files(__package__).joinpath("world.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _domains() -> tuple[Domain, ...]:
    return tuple(
        Domain(told["name"], tuple(Slot(*slot) for slot in told["slots"]), tuple(told["things"]))
        for told in _told()["domains"]
    )
