"""Scenes out of public task dialogues, whose annotation tells the values and their changes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Final

from incumbent.reading.learned.pieces import Age
from incumbent_eval.cases import Dialogue, Event, read_dialogues
from incumbent_eval.pairs import LabelledPair, read_pairs
from incumbent_eval.spoken import same_value
from training.conversing import located
from training.scenes import Becomes, KnownText, Scene, Value

_MOST: Final = 8


class _Said:
    """A turn of the person with the values that it has, by slot."""

    def __init__(self, text: str, place: int) -> None:
        self.text = text
        self.place = place
        self.live: dict[str, tuple[int, int]] = {}


def of_dialogue(dialogue: Dialogue, source: str, rng: Random) -> Iterator[Scene]:
    """What each turn of a person does to the values that they have given."""
    held: list[_Said] = []
    previous = ""
    for place, event in enumerate(dialogue.events):
        if event.speaker == "user" and event.text.strip():
            if held:
                known = [_told(one, event, previous, place) for one in held[-3 * _MOST :]]
                recent = known[-rng.randint(3, _MOST) :]
                rng.shuffle(recent)
                yield Scene(previous, event.text, tuple(recent), (), source)
            _change(held, event)
            said = _Said(event.text, place)
            for told in (*event.adds, *event.changes):
                at = _located(event.text, told.new)
                if at is not None:
                    said.live[told.slot] = at
            if said.live:
                held.append(said)
        previous = event.text


def _located(text: str, ways: Sequence[str]) -> tuple[int, int] | None:
    for way in ways:
        found = located("", text, way)
        if found is not None:
            return found.start, found.end
    return None


def _told(one: _Said, event: Event, previous: str, place: int) -> KnownText:
    values = []
    for slot, (start, end) in one.live.items():
        change = next((c for c in event.changes if c.slot == slot), None)
        over = change is not None and any(same_value(one.text[start:end], w) for w in change.old)
        new = None
        if over and change is not None:
            new = next((p for w in change.new if (p := located(previous, event.text, w))), None)
        values.append(Value(start, end, over, new))
    dead = [value for value in values if value.is_over]
    label: Becomes | None = None
    if not event.changes:
        label = "leaves"
    elif dead:
        label = "replaces" if len(dead) == len(values) else "part"
    age = Age.JUST if place - one.place <= 2 else Age.HERE
    new = dead[0].new if dead else None
    by = 0 if label in ("replaces", "part") else None
    return KnownText(
        one.text, age, label, by, new, tuple(sorted(values, key=lambda one: one.start))
    )


def _change(held: list[_Said], event: Event) -> None:
    for change in event.changes:
        for one in held:
            at = one.live.get(change.slot)
            if at is not None and any(same_value(one.text[slice(*at)], w) for w in change.old):
                del one.live[change.slot]
    held[:] = [one for one in held if one.live]


def of_dialogues(path: Path, rng: Random) -> Iterator[Scene]:
    """The scenes of the dialogues of a file of cases."""
    for dialogue in read_dialogues(path):
        yield from of_dialogue(dialogue, "dialogues", rng)


def of_pairs(path: Path) -> Iterator[Scene]:
    """The pairs of a file of pairs, or of cases: those of one turn together."""
    turns: dict[tuple[str, str], list[LabelledPair]] = defaultdict(list)
    for pair in read_pairs(path):
        turns[pair.id.rpartition(":")[0] or pair.id, f"{pair.previous}¦{pair.turn}"].append(pair)
    for pairs in turns.values():
        for first in range(0, len(pairs), _MOST):
            here = pairs[first : first + _MOST]
            yield Scene(here[0].previous, here[0].turn, tuple(map(_known, here)), (), "pairs")


def _known(pair: LabelledPair) -> KnownText:
    new = None
    if pair.replaced:
        new = next((p for w in pair.new if (p := located(pair.previous, pair.turn, w))), None)
    value = Value(pair.start, pair.end, pair.replaced, new)
    return KnownText(pair.statement, Age.HERE, None, values=(value,))


_TURN = re.compile(r"\S")


def without_labels(turns: Sequence[tuple[str, str]], source: str, rng: Random) -> Iterator[Scene]:
    """Scenes of a dialogue that nobody labelled: speakers and texts, for a teacher to judge."""
    held: list[tuple[int, str]] = []
    previous = ""
    for place, (speaker, text) in enumerate(turns):
        if speaker == "user" and _TURN.search(text):
            if held:
                known = [
                    KnownText(one, Age.JUST if place - at <= 2 else Age.HERE)
                    for at, one in held[-rng.randint(3, _MOST) :]
                ]
                rng.shuffle(known)
                yield Scene(previous, text, tuple(known), (), source)
            held.append((place, text))
        previous = text
