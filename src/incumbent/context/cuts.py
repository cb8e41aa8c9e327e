"""Values as they may be shown: without the dead values in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from incumbent.context.guard import Counts, DeadValueIndex, Mention, mentions
from incumbent.context.quotes import GONE
from incumbent.model.values import text_of
from incumbent.model.words import words_of

_HEADING = re.compile(r"[^.!?\n]*:\s*$")


class GuardedValue(NamedTuple):
    """A value as it may be shown: a text with spans to cut, or a list or an object with cut
    texts."""

    value: Any
    cuts: list[tuple[int, int]]
    found: list[Mention]


def guarded(value: Any, name: str, dead: DeadValueIndex, counts: Counts) -> GuardedValue:
    """A value with this name, without the dead values in it."""
    if isinstance(value, str):
        found = mentions(value, name, dead, counts)
        return GuardedValue(value, [(mention.start, mention.end) for mention in found], found)
    found = []
    return GuardedValue(_cut(value, name, dead, counts, found), [], found)


def _cut(value: Any, name: str, dead: DeadValueIndex, counts: Counts, found: list[Mention]) -> Any:
    """A value with its texts cut. The mentions found are added to the list."""
    if isinstance(value, dict):
        return {
            _cut(key, name, dead, counts, found): _cut(item, f"{name} {key}", dead, counts, found)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_cut(item, name, dead, counts, found) for item in value]
    if value is None or isinstance(value, bool):
        return value
    text = text_of(value)
    here = mentions(text, name, dead, counts)
    found.extend(here)
    for mention in reversed(here):
        text = f"{text[: mention.start]}{GONE}{text[mention.end :]}"
    return text if here else value


def says_more(text: str, found: Sequence[Mention]) -> bool:
    """Whether a text still says something after the mentions are cut out.

    Words that only lead up to a mention, with a colon, are cut with it.
    """
    taken = sum(mention.words for mention in found)
    heading = _HEADING.match(text[: min((mention.start for mention in found), default=0)])
    taken += len(words_of(heading.group())) if heading is not None else 0
    return len(words_of(text)) - taken >= max(3, 2 * len(found))
