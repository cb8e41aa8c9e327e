"""Edits of a text: the values that one version corrects in another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from incumbent.context.quotes import GONE

_LONGEST_VALUE = 12
"""Words. Whoever replaces more than that writes anew, and corrects no value."""
LABEL = re.compile(r"\W*(\w[\w /-]{0,60}?):\s+(?=\S)")
"""The beginning of a line that names a value: "- ship to: "."""


class Correction(NamedTuple):
    """A value that another one replaced, and the words of its line that name what it is."""

    key: str
    before: str
    after: str


def changes(text: str, place: int, old: str, new: str) -> Iterator[Correction]:
    """The values that a replacement corrects, line by line.

    Only what stands in the same line of as many lines is compared: whoever writes more or fewer
    lines writes anew. What is only taken away, or only added, corrects nothing.
    """
    begin = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place + len(old))
    end = len(text) if end < 0 else end
    before = text[begin:end].split("\n")
    after = f"{text[begin:place]}{new}{text[place + len(old) : end]}".split("\n")
    if len(before) == len(after):
        for one, other in zip(before, after, strict=True):
            found = _change(one, other)
            if found is not None:
                yield found


def _change(before: str, after: str) -> Correction | None:
    """The words in which two versions of a line differ."""
    label = LABEL.match(before)
    if label is not None and after.startswith(label.group()):
        around = label.group(1)
        old, new = before[label.end() :].split(), after[label.end() :].split()
    else:
        words, others = before.split(), after.split()
        head = _alike(words, others)
        tail = _alike(words[head:][::-1], others[head:][::-1])
        while tail and words[-tail][:1].isupper():
            tail -= 1  # "Main St" and "Oak St" are two names
        around = " ".join([*words[:head], *words[len(words) - tail :]])
        old, new = words[head : len(words) - tail], others[head : len(others) - tail]
    gone, came = (" ".join(part).strip(".,;:!?") for part in (old, new))
    if not gone or not came or gone == came or len(old) > _LONGEST_VALUE or GONE in gone:
        return None
    key = re.sub(r"\W+", "_", around.lower()).strip("_")[:120] or "value"
    return Correction(key, gone, came)


def _alike(words: Sequence[str], others: Sequence[str]) -> int:
    """The number of words with which both begin."""
    pairs = zip(words, others, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
