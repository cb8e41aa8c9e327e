"""Guarding messages: the dead values that they repeat, as this session sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from incumbent.composing.ahead import ahead_of
from incumbent.composing.dead_values import DeadValueFinder
from incumbent.composing.material import MaterialBuilder
from incumbent.context import message_shapes as shapes
from incumbent.context.guard import DeadValue, DeadValueIndex
from incumbent.context.guarded import Look, latest_of
from incumbent.context.notes import CutItem, cut_item
from incumbent.context.reach import ReadOnce
from incumbent.language.values.forms import forms
from incumbent.model.records import WorkingItem
from incumbent.model.values import text_of


class MessageBuilder(MaterialBuilder):
    """Finds the dead values that the notes of an inquiry repeat; here, the texts of messages."""

    def dead_in_items(self) -> tuple[DeadValueIndex, dict[str, list[DeadValue]]]:
        """The values that are dead, and the facts that texts stated and that are gone."""
        read = ReadOnce(forms)
        with self._space() as space:
            view = self.resolved(self._held(space, self._search(space)))
            ahead = ahead_of(self, space)
            finder = DeadValueFinder(self, space, view, self.items, read, ahead)
            return DeadValueIndex(finder.dead([]), read), finder.gone(self.items)


def as_items(
    messages: Sequence[Mapping[str, Any]], desk: Sequence[WorkingItem], now: datetime
) -> dict[tuple[int, shapes.Path], WorkingItem]:
    """The texts of messages as notes, each by its place.

    What a turn of this session stated is known from the desk, where the turn still lies there; but
    what a person says now is read as it is said.
    """
    known = {item.value: item for item in desk if isinstance(item.value, str)}
    latest = latest_of(messages)
    found: dict[tuple[int, shapes.Path], WorkingItem] = {}
    for number, message in enumerate(messages):
        if shapes.is_frame(message):
            continue
        for stretch in shapes.stretches(message):
            turn = None
            if isinstance(stretch.value, str) and number != latest:
                turn = known.get(stretch.value)
            item = WorkingItem(shapes.role_of(message), stretch.value, now)
            if turn is not None:
                item = replace(item, states=turn.states, spots=turn.spots)
            found[number, stretch.path] = item
    return found


def looking(
    items: Mapping[tuple[int, shapes.Path], WorkingItem],
    dead: DeadValueIndex,
    gone: Mapping[str, Sequence[DeadValue]],
) -> Look:
    """What tells what is left of each text."""

    def look(number: int, stretch: shapes.Stretch) -> CutItem:
        item = items[number, stretch.path]
        if not text_of(item.value).strip():
            return CutItem(item.value, [], [])
        return cut_item(item, dead, gone)

    return look
