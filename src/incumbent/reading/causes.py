"""Causes: which of two clauses is the reason for the other, and what a sentence leans on.

Whatever words stand between "the pool is at 27 degrees" and "the class starts at 10:30": where one
of them is a word for a cause or a consequence, the one rests on the other, and its place and what
it points at tell which.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Final

from incumbent.language.attributes import is_persons
from incumbent.language.lexicon import word_sets
from incumbent.reading.form import Span
from incumbent.reading.telling import Told
from incumbent.reading.things import Thing, lows, name_of

_POINTS_BACK = re.compile(
    r"\b(?:of|to|on|for|from|by|in|with|at|upon|after)(?: (?:all|just|only))? "
    r"(?:this|that|which|it)\b",
    re.IGNORECASE,
)
_IS_THAT = re.compile(r"\b(?:is|was|being|because|simple)\b|:", re.IGNORECASE)
_IS_REASON = re.compile(
    r"\breason\b.*\b(?:is|was|being)\b|\bfor (?!(?:that|this|which)\b)[\w ]*\breason\b",
    re.IGNORECASE,
)
_ASKS_WHY = re.compile(r"\b(?:reason|why|how come)\b", re.IGNORECASE)
_AND = re.compile(r"\b(?:and|but|while|whereas)\b", re.IGNORECASE)
_EDGE = re.compile(r"[.,;:!?)(—–]+ ?| -+>? | (?=\w)|=> ?")
_THAT: Final = frozenset({"that", "this", "it", "which", "that's"})
_MOST_JOINING: Final = 4
_NEAR: Final = 9
"""A word for a cause stands no further than this before the clause that it belongs to."""
_FEWEST: Final = 2
"""One bare preposition narrows a value down: "$900 for the flat". More of them lean on a thing."""


_words = partial(word_sets, "telling")


def base_of(before: str, between: str) -> int | None:
    """Which of two clauses is the reason for the other, by what stands before the first and between
    the two: 0 or 1; None where they only stand side by side."""
    words = _words()
    lead, joint = lows(before), lows(between)[-_NEAR:]
    if _ASKS_WHY.search(before) and _IS_THAT.search(between):
        return 1
    opens = [one for one in lead if one in words.cause]
    if opens and not _AND.search(between) and not _POINTS_BACK.search(before):
        return 0
    if not any(one.removesuffix("'s") in words.causal for one in joint) and "->" not in between:
        return 0 if "=>" in between else None
    causes = [one for one in joint if one in words.cause and one not in ("with", "from")]
    if not causes or _POINTS_BACK.search(between) is not None:
        return 0
    if causes == ["reason"] or "why" in joint:
        return 1 if _IS_REASON.search(between) is not None else 0
    return 1


def concludes(lead: str) -> bool:
    """Whether a sentence opens with a conclusion from what was said right before it."""
    words = lows(lead)
    is_drawn = not _words().concluding.isdisjoint(words[:3])
    points = _POINTS_BACK.search(lead) is not None or (bool(words) and words[0] in _THAT)
    return is_drawn or (points and any(one in _words().causal for one in words))


def points_back(text: str) -> bool:
    """Whether a sentence speaks of what was said right before it, and sets nothing beside it."""
    words = lows(text)
    points = not _THAT.isdisjoint(words) or "there" in words or "both" in words
    return points and _words().beside.isdisjoint(set(words) - {"and", "both", "also", "too"})


def edges(text: str, told: Sequence[Told]) -> Span | None:
    """Where a sentence falls into a reason and what follows from it: where the first ends, and
    where the second begins."""
    for one, other in pairwise(told):
        end, begin = ends_at(one), begins_at(other)
        if end >= begin or base_of(text[: begins_at(one)], text[end:begin]) is None:
            continue
        edge = _EDGE.search(text, end, begin)
        return (edge.start(), edge.end()) if edge is not None else (end, end)
    return None


def begins_at(one: Told) -> int:
    """Where what tells a thing's value begins."""
    return min(one.thing.start, one.value[0])


def ends_at(one: Told) -> int:
    """Where what tells a thing's value ends."""
    return max(one.thing.end, one.value[1])


def leans_on(text: str, told: Sequence[Told], named: Sequence[Thing]) -> list[frozenset[str]]:
    """The things that a sentence names without giving them a value, beside the one to which it
    gives one, and on which that leans therefore: "Room 14, on the strength of the speaker"."""
    if len(told) != 1:
        return []
    (about,) = told
    found: list[frozenset[str]] = []
    last: Thing | None = None
    for thing in named:
        name = name_of(thing.key, thing.subject)
        overlaps = thing.start < ends_at(about) and begins_at(about) < thing.end
        if name == about.name or overlaps:
            continue
        words = lows(_gap(text, thing, about, named))
        is_joined = last is not None and _is_joined(text[last.end : thing.start])
        if is_joined or _leans(text, words, thing, about):
            found.append(name)
            last = thing
    return found


def _is_joined(gap: str) -> bool:
    """Whether a thing is only one more beside another: "the rent and the deposit"."""
    words = lows(gap)
    return 0 < len(words) <= _MOST_JOINING and not _words().joined.isdisjoint(words)


def _leans(text: str, words: Sequence[str], thing: Thing, about: Told) -> bool:
    told = _words()
    if _is_causal(text, words, thing, about):
        return True
    if not words or is_persons(thing.key) or not told.beside.isdisjoint(words):
        return False  # a person is mentioned for other reasons too: "my sister told me"
    return len(words) >= _FEWEST or words[0] not in told.narrowing


def _is_causal(text: str, words: Sequence[str], thing: Thing, about: Told) -> bool:
    """Whether the words that join a thing to a clause are for a cause or a consequence."""
    told = _words()
    behind = text[thing.end :] if thing.start >= ends_at(about) else ""
    if any(one in told.causal for one in lows(behind)) and _POINTS_BACK.search(behind):
        return True  # "and the menu is the cause of that"
    if thing.end <= begins_at(about) and words and words[0] in told.cause:
        return True
    is_beside = not told.beside.isdisjoint(set(words) - told.joined)
    return not is_beside and any(one in told.causal for one in words)


def _gap(text: str, thing: Thing, about: Told, named: Sequence[Thing]) -> str:
    """What joins a thing to the clause that it stands beside, without what else is named there."""
    if thing.start >= ends_at(about):
        stretches = [(ends_at(about), thing.start)]
    else:
        stretches = [(0, thing.start), (thing.end, begins_at(about))]
    found = []
    for begin, end in stretches:
        for one in named:
            if begin <= one.start and one.end <= end:
                found.append(text[begin : one.start])
                begin = one.end
        found.append(text[begin:end])
    return " ".join(found)
