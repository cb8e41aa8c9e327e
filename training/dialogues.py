"""Dialogues: pairs out of public task dialogues, as the pipeline itself would ask about them.

Incumbent observes each dialogue with a detector that knows the answers, so that its state stays
right, and every question that it asks is noted with its answer. A second source are files of ready
pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import incumbent
from incumbent.language.detection import Judged, Pair, Relation
from incumbent.testing.spoken import same_value
from incumbent_eval.cases import BASE, Dialogue, ValueChange, read_dialogues
from incumbent_eval.pairs import read_pairs
from incumbent_eval.running import HeldClock
from training.examples import Example, Label, Mark, joined

_SURE: Final = 0.97


class Knowing:
    """A detector that looks the answers up, and keeps the questions."""

    name: Final = "known answers"
    reach: Final = Relation.APART

    def __init__(self) -> None:
        self.changes: Sequence[ValueChange] = ()
        self.live: dict[str, tuple[str, ...]] = {}
        self.asked: dict[tuple[str, str], list[Pair]] = {}

    def judge(self, pairs: Sequence[Pair]) -> list[Judged]:
        """The known answers, sure of each."""
        for pair in pairs:
            # The data tell what was replaced, not what simply came to an end.
            if pair.candidate is not None:
                self.asked.setdefault((pair.standing.fact_id, pair.turn), []).append(pair)
        return [Judged(_SURE if self._replaces(pair) else 0.0, "known") for pair in pairs]

    def _replaces(self, pair: Pair) -> bool:
        new = pair.candidate
        return new is not None and any(
            _is(pair.standing.part.text, change.old) and _is(new.text, change.new)
            for change in self.changes
        )

    def label(self, value: str) -> tuple[Label, tuple[str, ...]] | None:
        """What becomes of a value, and what it becomes; None where that cannot be told."""
        changed = [change for change in self.changes if _is(value, change.old)]
        if not changed:
            return "not_replaced", ()
        slots = {slot for slot, held in self.live.items() if _is(value, held)}
        return ("replace", changed[0].new) if len(slots) == 1 else None


def _is(text: str, ways: Sequence[str]) -> bool:
    return any(same_value(text, way) for way in ways)


def asked_in(dialogue: Dialogue) -> Iterator[Example]:
    """The questions that come up in a dialogue, with their answers."""
    knowing = Knowing()
    clock = HeldClock(BASE)
    settings = incumbent.Settings(embedder=None, detector=knowing)
    with incumbent.open(":memory:", clock=clock, settings=settings) as memory:
        session = memory.session(user_id="person", session_id="dialogue")
        for event in dialogue.events:
            clock.move_to(BASE + timedelta(minutes=event.minutes))
            knowing.changes = event.changes
            knowing.asked.clear()
            session.observe(event.text, speaker=event.speaker)
            for pairs in knowing.asked.values():
                example = _example(knowing, pairs)
                if example is not None:
                    yield example
            for told in (*event.adds, *event.changes):
                knowing.live[told.slot] = told.new


def _example(knowing: Knowing, pairs: Sequence[Pair]) -> Example | None:
    first = pairs[0]
    reply = joined(first.previous, first.turn)
    marks: dict[tuple[int, int], Mark] = {}
    for pair in pairs:
        span = pair.standing.span
        if span in marks:
            continue
        told = knowing.label(pair.standing.part.text)
        if told is None:
            return None
        label, new = told
        found = located(reply, new) if label == "replace" else None
        if label == "replace" and found is None:
            return None
        marks[span] = Mark(*span, label, found)
    ordered = sorted(marks.values(), key=lambda mark: mark.start)
    apart = [m for n, m in enumerate(ordered) if n == 0 or m.start >= ordered[n - 1].end]
    marked = tuple(apart)
    return Example(first.standing.text, first.previous, first.turn, marked, "dialogue", "dialogues")


def located(reply: str, ways: Sequence[str]) -> tuple[int, int] | None:
    """Where a reply last names a value."""
    for way in ways:
        hits = list(re.finditer(rf"(?<!\w){re.escape(way)}(?!\w)", reply, re.IGNORECASE))
        if hits:
            return hits[-1].span()
    return None


def of_dialogues(path: Path) -> Iterator[Example]:
    """The questions that come up in the dialogues of a file of cases, with their answers."""
    for number, dialogue in enumerate(read_dialogues(path)):
        for example in asked_in(dialogue):
            yield replace(example, group=str(number))


def of_pairs(path: Path) -> Iterator[Example]:
    """The pairs of a file of pairs, or of cases, one mark each."""
    for pair in read_pairs(path):
        reply = joined(pair.previous, pair.turn)
        new = located(reply, pair.new) if pair.replaced else None
        mark = Mark(pair.start, pair.end, "replace" if pair.replaced else "not_replaced", new)
        said = (pair.statement, pair.previous, pair.turn)
        yield Example(*said, (mark,), pair.kind, "pairs", pair.id.partition(":")[0])
