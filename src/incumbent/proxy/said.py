"""What was said in messages, and which of it is new.

An application sends the whole conversation with every request. What the memory has observed of it
must not be observed again: a value from long ago would replace the one that replaced it. So the
messages are held beside the turns that are known, in order, and what comes after the last of those
is new. Whatever the application left out, shortened or changed before that is not said anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from incumbent.context import message_shapes as shapes
from incumbent.model.records import Turn
from incumbent.turns.receiving import speaking
from incumbent.turns.repeating import may_say

WINDOW = 100
"""How many turns, and how many texts of a request, are looked at from the end."""
_MODEL = "assistant"
_TALKING = ("user", _MODEL)
_TOOL = "tool"
_SURE, _PERHAPS = 2, 1


class Utterance(NamedTuple):
    """A text in a message, and who said it."""

    speaker: str
    text: str
    message: int = 0
    """The number of its message."""


def said_in(
    messages: Sequence[Mapping[str, Any]], *, names: Sequence[str], most_bytes: int
) -> list[Utterance]:
    """What people, tools and models say in messages, in order.

    `names` are those of the person who is speaking. Somebody else's words under the role of a user
    (`name` in chat completions) are theirs. Texts that are too long to be a turn are left out: they
    are guarded like any other, and nothing is learned from them.
    """
    found = []
    for number, message in enumerate(messages):
        for stretch in shapes.stretches(message):
            speaker = _speaker(message, stretch.path, names)
            text = stretch.value
            if speaker is None or stretch.is_json or not isinstance(text, str) or not text.strip():
                continue
            if shapes.is_reminder(text):
                continue
            if len(text) <= most_bytes and len(text.encode("utf-8", "replace")) <= most_bytes:
                found.append(Utterance(speaker, text, number))
    return found


def _speaker(message: Mapping[str, Any], path: shapes.Path, names: Sequence[str]) -> str | None:
    """Who says a text; None for the application's own words, and for what a tool is called with."""
    role = shapes.role_of(message)
    if shapes.is_frame(message) or path[0] in ("arguments", "tool_calls") or "input" in path:
        return None
    if role in ("tool", "function") or _is_result(message, path):
        return _TOOL
    speaker = role if role in _TALKING else None
    name = message.get("name")
    if speaker == "user" and isinstance(name, str) and name.strip():
        known = {one.casefold() for one in names}
        return speaker if name.strip().casefold() in known else speaking(name, None).name
    return speaker


def _is_result(message: Mapping[str, Any], path: shapes.Path) -> bool:
    """Whether a text stands in what a tool gave back."""
    part: Any = message.get(str(path[0]))
    if isinstance(part, list) and len(path) > 1 and isinstance(path[1], int):
        part = part[path[1]]
    return isinstance(part, Mapping) and part.get("type") == "tool_result"


Alike = Callable[[Turn, Utterance], int]
"""0 if a turn did not say a text, 1 if it may have, 2 if it did."""


def alike(turn: Turn, said: Utterance) -> int:
    """How sure it is that a turn said a text. One whose words were erased may have said any."""
    if turn.ref is None or turn.speaker != said.speaker:
        return 0
    if not may_say(turn.digest, said.speaker, said.text):
        return 0
    return _SURE if turn.digest.partition("$")[2] else _PERHAPS


def first_new(known: Sequence[Turn], said: Sequence[Utterance], same: Alike = alike) -> int:
    """The place of the first text that is new; as many as there are if none is."""
    if not known or not said:
        return 0
    if said[0].message == said[-1].message:
        return _new_alone(known, said, same)
    skipped = max(0, len(said) - WINDOW)
    turns, texts = known[-WINDOW:], said[skipped:]
    at_once = _in_one_run(turns, texts, same)
    found = _after_last(turns, texts, same) if at_once is None else at_once
    return skipped + found if found else 0


def is_new_reply(
    known: Sequence[Turn],
    asked: Utterance | None,
    reply: Sequence[Utterance],
    same: Alike = alike,
) -> bool:
    """Whether a reply is new: the conversation stands where it was asked, and has it not yet.

    If it has gone on, the request that went on brought the reply along.
    """
    others = [turn for turn in known if turn.speaker != _MODEL]
    if asked is not None and not (others and same(others[-1], asked)):
        return False
    last = known[-len(reply) :]
    return not (len(last) == len(reply) and all(map(same, last, reply)))


def _new_alone(known: Sequence[Turn], said: Sequence[Utterance], same: Alike) -> int:
    """Of one message without those before it: a repetition says what was said last.

    Somebody who says "yes" again, after something else, says it anew.
    """
    last = [turn for turn in known if turn.speaker != _MODEL][-len(said) :]
    repeats = len(last) == len(said) and all(map(same, last, said))
    return len(said) if repeats else 0


def _in_one_run(known: Sequence[Turn], said: Sequence[Utterance], same: Alike) -> int | None:
    """The same for the usual case, in which one goes on where the other ends; None for others."""
    starts = [(place, 0) for place, turn in enumerate(known) if same(turn, said[0]) == _SURE]
    starts += [(0, place) for place in range(1, len(said)) if same(known[0], said[place]) == _SURE]
    for turn, text in starts:
        length = 0
        pairs = zip(known[turn:], said[text:], strict=False)
        for one, other in pairs:
            if not same(one, other):
                break
            length += 1
        is_all = text + length == len(said)
        goes_on = turn + length == len(known) and 2 * length >= len(said) - text
        if is_all or goes_on:
            return text + length
    return None


def _after_last(known: Sequence[Turn], said: Sequence[Utterance], same: Alike) -> int:
    """The place after the last text that is among the turns, where as many as can be are found
    there in their order."""
    weights = [[same(turn, text) for turn in known] for text in said]
    rows, columns = len(said), len(known)
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for row in range(rows - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            weight = weights[row][column]
            taken = weight + best[row + 1][column + 1] if weight else 0
            best[row][column] = max(taken, best[row + 1][column], best[row][column + 1])
    row = column = last = 0
    while row < rows and column < columns and best[row][column]:
        weight = weights[row][column]
        if weight and best[row][column] == weight + best[row + 1][column + 1]:
            row, column = row + 1, column + 1
            last = row
        elif best[row][column] == best[row][column + 1]:
            column += 1
        else:
            row += 1
    return last
