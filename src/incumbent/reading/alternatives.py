"""Alternatives: what is asked for in the place of what could not be had, or was read back wrongly.

"Belgian, please." – "There are no Belgian places." – "How about Turkish food?" Only one of them is
wanted now. "A ride to the station, is that right?" – "No, I'd like to go to the theatre." The value
that changes is found by the scale of its words (prices, quarters, origins) or by the word before it
("to", "at", "in"), in what the same person asked for last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from incumbent.language.lexicon import WordSets, data, either
from incumbent.reading import thresholds
from incumbent.reading.form import (
    Heard,
    Known,
    Relation,
    RelationKind,
    Span,
    Statement,
    StatementKind,
)

_WORD = re.compile(r"[\w&-]+")
_LOOKED_AT: Final = 400
_AGE: Final = 12
"""So many facts may have been filed since."""
_ASKING: Final = (StatementKind.STATES, StatementKind.ORDERS, StatementKind.ASKS)
_JOINED: Final = ("origin",)
"""A scale whose words take in what stands right before them: "eastern European"."""
_MOST: Final = 5
"""A value that is named after "to" or "at" has no more words."""


class _Value(NamedTuple):
    """A value that takes one place among others of its sort."""

    sort: str
    text: str
    span: Span


class _Words(WordSets):
    def __init__(self, language: str) -> None:
        told = data("alternatives", language)
        super().__init__(told)
        self.dead_end, self.instead = either(told["dead_end"]), either(told["instead"])
        self.otherwise = either(told["otherwise"])
        self.opening = re.compile(told["opening"], re.IGNORECASE)
        self.adding, self.asking = either(told["adding"]), either(told["asking"])
        self.scale_of: dict[str, str] = {
            w: name for name, words in told["scales"].items() for w in words.split()
        }
        # What a word is a scale of that stands right before one of these: "food".
        self.headed: dict[str, str] = {
            w: name for name, words in told["headed"].items() for w in words.split()
        }


@lru_cache(maxsize=2)
def _words(language: str = "en") -> _Words:
    return _Words(language)


def alternatives(heard: Heard, statements: Sequence[Statement]) -> Iterator[Relation]:
    """What a turn puts in the place of what its speaker asked for before."""
    if not heard.previous_by_machine:
        return
    words, text = _words(), heard.text[:_LOOKED_AT]
    previous = heard.previous[-_LOOKED_AT:]
    is_failed = words.dead_end.search(previous) is not None and (
        words.instead.search(text) is not None
    )
    is_otherwise = words.otherwise.search(text) is not None or any(
        words.opening.match(one.text) for one in statements
    )
    if not is_failed and not is_otherwise:
        return
    asked = sorted(
        (one for one in heard.known if _is_asked(one)),
        key=lambda one: one.age,
    )
    done: set[tuple[str, Span]] = set()
    for number, said in enumerate(statements):
        if said.kind not in _ASKING or words.adding.search(said.text) is not None:
            continue
        for new in _values(said.text):
            for known, old in _taken(new, asked, heard, "" if is_failed else previous):
                span = (said.start + new.span[0], said.start + new.span[1])
                if (known.id, old.span) not in done:
                    done.add((known.id, old.span))
                    yield Relation(
                        RelationKind.PART,
                        known.id,
                        number,
                        thresholds.TOLD,
                        said.text[:80],
                        is_told=True,
                        old=old.span,
                        new=span,
                    )


def _is_asked(one: Known) -> bool:
    """Whether something known is what this person asked for a while ago, here."""
    is_near = one.is_here and not one.by_machine and one.age <= _AGE
    return is_near and _words().asking.search(one.text) is not None


def _taken(
    new: _Value, asked: Sequence[Known], heard: Heard, shown: str
) -> Iterator[tuple[Known, _Value]]:
    """The values whose place a new one takes, in the last thing that had one of its sort. It must
    have been `shown` to be wrong, where anything was."""
    low, before = heard.text.lower(), heard.previous[-_LOOKED_AT:].lower()
    for known in asked:
        same = [
            one
            for one in _values(known.text)
            if one.sort == new.sort and known.text not in heard.text
        ]
        if not same:
            continue
        old = [one for one in same if one.text.lower() not in low]
        is_free = not shown and new.sort not in _words().placing
        if len(old) == len(same) == 1:
            # Otherwise the last reply names it, or what is special about it.
            words = (word for word in _WORD.findall(old[0].text) if len(word) > 2)
            if is_free or any(word.lower() in before for word in words):
                yield known, old[0]
        return


def _values(text: str) -> Iterator[_Value]:
    """The values of a text that stand on a scale or behind a word for a place."""
    words = _words()
    found = list(_WORD.finditer(text[:_LOOKED_AT]))
    yield from _on_scales(text, found)
    for place, word in enumerate(found):
        low = word.group().lower()
        if low in words.placing and place + 1 < len(found):
            end = _end_of(text, found, place + 1)
            if end is not None:
                start = found[place + 1].start()
                yield _Value(low, text[start:end], (start, end))


def _on_scales(text: str, found: Sequence[re.Match[str]]) -> Iterator[_Value]:
    """The words that stand on a scale. Neighbours make one value: "north Indian"."""
    open_: _Value | None = None
    for place, word in enumerate(found):
        sort = _words().scale_of.get(word.group().lower()) or _headed(text, found, place)
        if open_ is not None and (sort not in _JOINED or text[open_.span[1] : word.start()] != " "):
            yield open_
            open_ = None
        if sort is not None:
            start = open_.span[0] if open_ is not None else word.start()
            open_ = _Value(sort, text[start : word.end()], (start, word.end()))
    if open_ is not None:
        yield open_


def _headed(text: str, found: Sequence[re.Match[str]], place: int) -> str | None:
    """What scale a word is on by the word behind it, where it tells something: "Corsican food"."""
    words = _words()
    if found[place].group().lower() in words.unheaded:
        return None
    for after in found[place + 1 : place + 3]:
        low = after.group().lower()
        if text[after.start() - 1] != " " or (low in words.unheaded and low not in words.headed):
            return None
        if low in words.headed:
            return words.headed[low]
    return None


def _end_of(text: str, found: Sequence[re.Match[str]], first: int) -> int | None:
    """Where a name ends that begins at a word; None where there is none."""
    closing, end, is_name = _words().closing, 0, False
    for word in found[first : first + _MOST]:
        if end and text[end : word.start()].strip(" '’#."):
            break
        low = word.group().lower()
        if end and low in closing:
            break
        is_name = is_name or word.group()[0].isupper()
        end = word.end()
    return end if is_name else None
