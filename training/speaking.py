"""Speaking: the way a turn is put, with a cue, a greeting before it, or a letter missing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

from training.filling import Text

_CUE_HOLE = re.compile(r"\{([xXy])\}")


class Speaker:
    """Says turns the way people do. `noise` is the share of turns that are typed carelessly."""

    def __init__(self, talk: Mapping[str, Sequence[str]], r: Random, noise: float) -> None:
        self._talk = talk
        self._r = r
        self._noise = noise

    def cued(self, turn: Text) -> Text:
        """The turn with words that say that it corrects something."""
        pattern = self._r.choice(self._talk["cue"])
        hole = _CUE_HOLE.search(pattern)
        assert hole is not None, f"the cue {pattern!r} of talk.toml has no hole"
        text = turn.text
        if hole.group(1) == "y":
            text = text.rstrip(".!? ")
        if hole.start() and hole.group(1) != "X" and not re.match(r"I\b|[A-Z]{2}", text):
            text = text if _starts_with_value(turn) else lowered(text)
        said = Text(text, {s: span for s, span in turn.spots.items() if span[1] <= len(text)})
        return said.shifted(pattern[: hole.start()], pattern[hole.end() :])

    def rounded(self, turn: Text) -> Text:
        """The turn with something said before it or after it, now and then."""
        r = self._r
        if r.random() < 0.15:
            opening = r.choice(self._talk["opening"])
            if opening[-1] not in ".!?" and not _starts_with_value(turn):
                turn = Text(lowered(turn.text), turn.spots)
            turn = turn.shifted(f"{opening} ")
        if r.random() < 0.12:
            turn = turn.shifted("", f" {r.choice(self._talk['closing'])}")
        return turn

    def typed(self, turn: Text) -> Text:
        """The way people type: without capitals, without a full stop, with a letter missing."""
        r = self._r
        if r.random() > self._noise:
            return turn
        text = turn.text
        dice = r.random()
        if dice < 0.45:
            return Text(text.lower(), turn.spots) if len(text.lower()) == len(text) else turn
        if dice < 0.75:
            cut = text.rstrip(".!")
            return Text(cut, {s: (a, min(b, len(cut))) for s, (a, b) in turn.spots.items()})
        return self._without_a_letter(turn)

    def _without_a_letter(self, turn: Text) -> Text:
        """The turn with a letter missing inside a word that is no value."""
        text = turn.text
        places = [
            i
            for i in range(1, len(text) - 1)
            if text[i - 1 : i + 2].isalpha()
            and not any(a <= i <= b for a, b in turn.spots.values())
        ]
        if not places:
            return turn
        at = self._r.choice(places)
        return Text(
            text[:at] + text[at + 1 :],
            {s: (a - (a > at), b - (b > at)) for s, (a, b) in turn.spots.items()},
        )


def lowered(text: str) -> str:
    """A sentence as it goes on after a comma; names and the like keep their capitals."""
    first = text.split(" ", 1)[0]
    return text if first.startswith("I'") or not first[1:].islower() else text[0].lower() + text[1:]


def ended(text: str) -> str:
    """A sentence with a full stop, if it has none."""
    return text if text.rstrip()[-1:] in ".!?" else f"{text.rstrip()}."


def _starts_with_value(turn: Text) -> bool:
    return any(start == 0 for start, _ in turn.spots.values())
