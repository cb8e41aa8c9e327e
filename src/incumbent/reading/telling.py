"""Telling: which things a sentence gives a value to, by its structure.

"Bad luck, they pushed the ferry back to 8:15 am." tells of the ferry that it is at 8:15, whatever
the words around say. A thing, what joins it to a value, and the value are looked for, and words of
a few closed classes speak against: those that deny, suppose, ask or narrow down. Of the open
classes nothing is listed, so it does not matter in which words somebody leads in to a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from incumbent.language.lexicon import word_sets
from incumbent.model.fact import Part
from incumbent.model.text_cache import remembering
from incumbent.reading.form import Span
from incumbent.reading.things import (
    Thing,
    is_one_at_a_time,
    left_over,
    lows,
    name_of,
    things,
    words_of,
)

_LONGEST: Final = 300
_REMEMBERED: Final = 512
_MOST_JOINING: Final = 6
"""So many words may stand between a thing and its value."""
_BREAK = re.compile(r"[.;:!?()—–]+(?=\s|$)|, | -+>? |=> ?")
_NEXT: Final = (
    r"(?:if|when|whenever|once|because|since|so|and|but|as|unless|i|we|you|they|he|she|it|our|my|"
    r"the)"
)
_WORDS = re.compile(rf"[a-z][a-z-]*(?: (?!{_NEXT} )[a-z][a-z-]*)?(?=$|[.,;:!?–]| \(| - | {_NEXT} )")
_SAYS = re.compile(
    r"(?: now| currently)?(?: ?[=:]| (?:is|becomes?|became|will be)"
    r"| [a-z]+s(?: now)? (?:on|with|in|at)"
    r"|(?: [a-z]+){0,2} (?:in)?to) (?:now )?"
)
_IT = re.compile(
    r"\b(?:it|that|this|we)(?:['’]s| \w+)"
    r"(?: (?:now|currently|at|on|to|in|with|up with|the|have))*\s+$",
    re.IGNORECASE,
)
_MARKS: Final = (":", "=", "->", "→")
_ON: Final = ("to", "->", "→", "=>", "up to", "down to", "back to")
_CLOSES = re.compile(r"\s*(?:[.,;!?)\]–—-]|$)|\s+[a-z]+(?=[.,;!)]|$)")
_IS = re.compile(r" (?:is|are|was|were|has|have|had|will|would|can|could|takes?|costs?|lasts?)\b")
_DENIED = re.compile(r"n['’]t$")
_CHOSEN = re.compile(
    r"\b(?:with|have|had|put|down|got|us|need|want|take|took|chose|chosen|picked) "
    r"([a-z][a-z-]*(?: [a-z][a-z-]*)?) for $"
)
_FOR = re.compile(r" (?:for|as) $", re.IGNORECASE)


class Told(NamedTuple):
    """A thing that a sentence gives a value to."""

    name: frozenset[str]
    thing: Thing
    value: Span
    kind: str
    normal: str
    is_plain: bool
    """Whether nothing narrows it down: no "on Mondays", no "if it rains", no "not"."""


_classes = partial(word_sets, "telling")


@remembering(_REMEMBERED)
def told_in(text: str, parts: tuple[Part, ...]) -> tuple[Told, ...]:
    """The things that a sentence gives a value to, in order; each thing once, with the last value
    that it is given."""
    if len(text) > _LONGEST or text.rstrip().endswith("?"):
        return ()
    named = things(text, parts)
    found: dict[frozenset[str], Told] = {}
    for number, thing in enumerate(named):
        name = name_of(thing.key, thing.subject)
        until = named[number + 1].start if number + 1 < len(named) else len(text)
        value = _value_behind(text, parts, thing, until) or _value_before(text, parts, thing)
        if value is not None:
            found[name] = _told(text, name, thing, value)
    if not found and named and (pointed := _pointed(text, parts, named[0], named[-1].end)):
        name = name_of(named[0].key, named[0].subject)
        found[name] = _told(text, name, named[0], pointed)
    return tuple(sorted(found.values(), key=lambda one: one.thing.start))


def _pointed(text: str, parts: Sequence[Part], thing: Thing, begin: int) -> Part | None:
    """The value of what a sentence is about, said behind what else it names: "The fee goes with the
    rent; right now it is $900."."""
    for part in _typed(parts, begin, len(text)):
        if _IT.search(text[begin : part.start]) is not None:
            return part
    return None


def _told(text: str, name: frozenset[str], thing: Thing, value: Part) -> Told:
    begin = _clause_before(text, min(thing.start, value.start))
    end = max(thing.end, value.end)
    lead = text[begin : min(thing.start, value.start)]
    is_one = is_one_at_a_time(thing.key)
    # "A milestone for the move is in May" says nothing of the move.
    is_inside = bool(lead.split()) and lead.split()[-1].lower() in _classes().narrowing
    is_apart = (
        is_inside or _is_hearsay(lead, text[thing.end : value.start]) or _is_said(text, begin)
    )
    is_told = not speaks_against(text[begin:end]) and not _narrows(lead, _behind(text, end))
    is_plain = is_one and is_told and not is_apart
    return Told(name, thing, (value.start, value.end), value.kind, value.normal, is_plain)


def _is_hearsay(lead: str, gap: str) -> bool:
    """Whether a clause is what somebody else says: "Somebody swore the flat is let"."""
    words = lows(lead)
    if not words or words[0] in _classes().talking or gap.strip() in ("to", "at"):
        return False
    return bool(left_over(lead, [], changing=True))


def _is_said(text: str, begin: int) -> bool:
    """Whether a clause is what somebody else says that is so: "My neighbour claims that …"."""
    outer = text[: max(0, begin - len("that"))].rstrip()
    if text[len(outer) : begin].strip().lower() != "that":
        return False
    return _is_hearsay(outer[_clause_before(outer, len(outer)) :], "")


def speaks_against(text: str) -> bool:
    """Whether a clause denies, supposes or wishes what it says."""
    words = lows(text)
    return any(one in _classes().against or _DENIED.search(one) for one in words)


def _narrows(lead: str, behind: str) -> bool:
    """Whether what stands around a value says of when, for whom or in which case it is."""
    before = lows(lead)
    if before and before[0] in _classes().narrowing and left_over(lead, []):
        return True
    words = lows(behind)
    return bool(words) and words[0] in _classes().narrowing and bool(left_over(behind, []))


def _clause_before(text: str, end: int) -> int:
    """Where the clause begins that goes on here."""
    begin = 0
    for one in _BREAK.finditer(text, 0, end):
        begin = one.end()
    for word in words_of(text[:end]):
        if word.start() >= begin and word.group().lower() in _classes().opening:
            begin = word.end()
    return begin


def _behind(text: str, end: int) -> str:
    """What follows on a value in its own clause; what is narrowed down behind a comma as well."""
    found = _BREAK.search(text, end)
    stop = found.start() if found is not None else len(text)
    if found is not None and text.startswith(", ", end):
        then = _BREAK.search(text, found.end())
        end, stop = found.end(), then.start() if then is not None else len(text)
    words = words_of(text[end:stop])
    is_clause = words and words[0].group().lower() in _classes().opening - {"who", "whose"}
    return "" if is_clause and not any(map(str.isdigit, text[end:stop])) else text[end:stop]


def _value_behind(text: str, parts: Sequence[Part], thing: Thing, until: int) -> Part | None:
    """The value that a thing is joined to by a verb or a word for where or when: the last one,
    where it goes from one to another."""
    found: Part | None = None
    for part in _typed(parts, thing.end, until):
        start = found.end if found is not None else thing.end
        gap = text[start : part.start]
        if found is not None and (part.kind != found.kind or gap.strip().lower() not in _ON):
            break
        if found is None and not _joins(gap) and not gap.endswith(" from "):
            break
        if found is None and _says_which(text, gap, part):
            break  # "the weather in Seville is sunny" tells no more of the weather than where
        if gap.strip() in _MARKS and _CLOSES.match(text, part.end) is None:
            break  # "one thing about the call: Acton wrote to us"
        found = part
    if found is None:
        return _plain_words(text, thing, until)
    return None if text[: found.start].endswith(" from ") else found


def _says_which(text: str, gap: str, part: Part) -> bool:
    """Whether a value behind a mere word for where or when belongs to the name of a thing, of which
    something else is told."""
    words = lows(gap)
    is_mere = bool(words) and all(one in _classes().narrowing for one in words)
    return is_mere and _IS.match(text, part.end) is not None


def _typed(parts: Sequence[Part], begin: int, end: int) -> Iterator[Part]:
    for part in sorted(parts, key=lambda one: one.start):
        inside = begin <= part.start and part.end <= end
        if inside and part.kind != "term" and (part.kind != "name" or part.text[:1].isupper()):
            yield part


def _joins(gap: str) -> bool:
    """Whether what stands between a thing and a value joins the two: "is", "got pushed to", ":"."""
    inner = gap.strip()
    if inner in _MARKS:
        return True
    words = lows(gap)
    while words and words[-1] in ("the", "a", "an"):
        words = words[:-1]
    if not words or len(words) > _MOST_JOINING or _BREAK.search(gap.replace(", which", "")):
        return False
    classes = _classes()
    if any(one in classes.ending for one in words if one != "which"):
        return False
    return words[-1] in classes.joining


def _plain_words(text: str, thing: Thing, until: int) -> Part | None:
    """A value in plain words right behind a verb of being: "the fuel is propane"."""
    said = _SAYS.match(text, thing.end)
    value = _WORDS.match(text, said.end()) if said is not None else None
    if value is None or value.end() > until or not left_over(value.group(), []):
        return None
    words = value.group()
    first = words.split()[0]
    if words != first and not left_over(words[len(first) :], [], changing=True):
        words = first
    if lows(words)[0] in _classes().narrowing or words.split()[-1].endswith(("ed", "ing")):
        return None
    return Part("term", words, words.lower(), "", value.start(), value.start() + len(words))


def _value_before(text: str, parts: Sequence[Part], thing: Thing) -> Part | None:
    """The value that is put down for a thing: "$900 for the rent"."""
    before = list(_typed(parts, 0, thing.start))
    if (chosen := _CHOSEN.search(text[: thing.start])) is not None:
        words = chosen.group(1)
        return Part("term", words, words.lower(), "", *chosen.span(1))
    if not before or _FOR.fullmatch(text[before[-1].end : thing.start]) is None:
        return None
    return before[-1]
