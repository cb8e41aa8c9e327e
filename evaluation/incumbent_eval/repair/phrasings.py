"""Phrasings for the parts of an episode, in two halves that never mix.

The held-out ones were written after the reading of the others was finished, and nothing was changed
for them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from incumbent_eval.repair.episodes import Half
from incumbent_eval.repair.world import Slot, World

_FILES = {Half.KNOWN: "phrasings.toml", Half.HELD_OUT: "held_out.toml"}


def phrasings(form: str, half: Half) -> tuple[str, ...]:
    """The phrasings of a form that are in a half."""
    return tuple(_told(half)[form])


def forms() -> tuple[str, ...]:
    """The forms that can be said."""
    return tuple(_told(Half.KNOWN))


@cache
def _told(half: Half) -> Mapping[str, list[str]]:
    text = resources.files(__package__).joinpath(_FILES[half]).read_text(encoding="utf-8")
    return tomllib.loads(text)


class EpisodeVoice:
    """Says things in the phrasings of one half."""

    def __init__(self, world: World, half: Half) -> None:
        self._world = world
        self._half = half

    def say(self, form: str, **about: Slot | str) -> str:
        """A sentence of a form. Slots are named b, c or d; their values bv, bo, bn and so on."""
        words: dict[str, str] = {}
        for name, what in about.items():
            if isinstance(what, Slot):
                verbs = self._world.verbs(what)
                words |= {f"{name}{form}": verb for form, verb in verbs.items()}
                words |= {name: what.name, name.upper(): _opening(what.name), "noun": what.noun}
            else:
                words[name] = what
        return self._world.chance.choice(phrasings(form, self._half)).format(**words)


def _opening(name: str) -> str:
    return name[:1].upper() + name[1:]
