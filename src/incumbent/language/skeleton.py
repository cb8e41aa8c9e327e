"""Skeletons: a turn with its things and its values marked, so that the words between can be read.

However freely something is put, it names things and says values of them. With those marked, what
is left are the words that tell how they hang together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from incumbent.language import loosely
from incumbent.language.frames import frame_again
from incumbent.language.lexicon import data, word_set
from incumbent.model.fact import Part
from incumbent.search.analysis import is_common

_FLAGS = re.IGNORECASE
_END = " \t\n.!?;,:-–—"
_THINGS, _VALUES, _MOST = 0xE000, 0xE100, 0xFF
THING = "[\ue000-\ue0ff]"
"""What stands in a skeleton for a thing that is named."""
VALUE = "[\ue100-\ue1ff]"
"""What stands in it for a value."""
_SMALL = re.compile(r"[a-z]")
_ACRONYM = re.compile(r"[A-Z]{2,5}$")
_COUNTED = re.compile(r"\s+(?P<unit>[a-z]{3,})\b")

_RELATIVE = (
    r"(?:,\s+(?:[\w'’-]+\s+){0,7}[\w'’]+,|\s+[-–—]+\s[^–—.?!\ue000-\ue1ff]{1,80}?\s[-–—]+(?=\s)"
    r"|\s*\([^().?!\ue100-\ue1ff]{1,80}\)"
    r"|,?\s+(?:which|that|who|and that|that one|and it|this one)|,)?"
)
"""What may stand between a thing and the verb that says a value of it."""
_OBJECT = re.compile(r"\s+(?:the|our|my|your|all|any|everything)\b")
_PARTNER = re.compile(r"\b[A-Z][\w'’.-]* & $")
_LABEL = re.compile(r"(?:\s+[a-z]+){0,2}:")
_NUMBERING = ("code", "number", "name")
_ABOUT = re.compile(r"\s(?:for|of)\s+", _FLAGS)
_CONTRACTED = re.compile(r"\b(?:it|that|this|there|here|he|she|what)['’]s(?=\s)", _FLAGS)
_OPENING_NAME = re.compile(r"(?:^|[.!?:]\s+)(?P<first>[A-Z][a-z]+) $")
_FORMED = re.compile(r"(?:ing|ly|ed)$")
"""How words end that are no names, where they open a sentence."""

PLAIN = "plain"
HELD = "held"
MEASURED = frozenset(
    ("date", "time", "duration", "money", "percent", "quantity", "number", "code", "email", "phone")
)
"""Kinds of which a thing has one at a time, however it is put."""

Known = Callable[[str], bool]


class Mark(NamedTuple):
    """A thing or a value, and where it stands."""

    text: str
    start: int
    end: int
    is_thing: bool
    normal: str
    """What it is compared by."""
    kind: str = ""
    """What kind of value it is; of a thing, nothing."""

    @property
    def is_plain(self) -> bool:
        """Whether it is a value in plain words, that only its place makes one."""
        return self.kind == PLAIN


class Patterns:
    """The patterns of one language."""

    def __init__(self, language: str) -> None:
        told, reasons = data("gist", language), data("reasons", language)
        self.ending = word_set(reasons["ending"])
        self.no_things = word_set(told["no_things"])
        self.fresh = word_set(told["fresh"])
        adverbs = rf"(?:\s+(?:{told['adverbs']}))*"
        placing = r"(?:\s+(?:in|at|on|with|to|into|from|by|for|as|of))?"
        saying = rf"(?:{reasons['getting']}|{reasons['telling']}|{told['saying']}){placing}"
        self.meta = re.compile(
            rf"\b(?:(?:the|our|my|your|this|that|an?)\s+)?(?:\w+\s+){{0,2}}?(?:{told['meta']})"
            rf"(?:\s+(?!(?:the|our|my|your|his|her|their)\b)[\w'’]+){{0,2}}?"
            rf"\s+(?:{told['about']})\s+(?=(?:the|our|my|your|\w+['’]s)\s)",
            _FLAGS,
        )
        self.saying = re.compile(rf"{_RELATIVE}{adverbs}\s+{saying}{adverbs}\s+$", _FLAGS)
        self.moving = re.compile(rf"\b(?:{told['moving']})(?:\s+[\w'’]+){{0,2}}?\s+$", _FLAGS)
        self.verb_after = re.compile(rf"\s+(?:{told['verb_after']})\b", _FLAGS)
        self.placing = frozenset(("in", "at", "on", "of", "from", "near", "by", "with"))
        it = r"\b(?:it|that|this|they|(?:that|this) one)"
        self.anaphoric = re.compile(rf"{it}{adverbs}(?:['’]s|\s+{saying}){adverbs}\s+$", _FLAGS)
        self.enclosed = re.compile(r"\s*[(=]\s*$")
        self.beside = re.compile(r"\)?\s*(?:[(:=–—]|-+>?\s|→)\s*$")
        self.having = re.compile(rf"(?:{told['concerned']})?,?\s+(?:{told['having']})\s+$", _FLAGS)
        self.naming = re.compile(rf"\W{{0,3}}\s*(?:{told['naming']})\s+$", _FLAGS)
        self.then = re.compile(rf"\b(?:{told['then']})\b", _FLAGS)
        self.attaching = re.compile(
            rf"(?:\s+(?!(?:{told['joining']})\b)(?:[–—-]|[\w'’]+)){{0,8}}?"
            rf"\s+(?:{told['attaching']})\s+$",
            _FLAGS,
        )
        self.relying = re.compile(
            rf"\b(?:{told['relying']})\s+(?:(?:{told['between']})\s+)*$", _FLAGS
        )
        self.listing = re.compile(rf"\s*(?:{told['listing']})\s+$", _FLAGS)
        self.passing = re.compile(rf"(?:{told['passing']})$", _FLAGS)
        self.topic = re.compile(rf"(?:^|[.,;:!?–—-]\s*|\s)(?:{told['topic']})\s+$", _FLAGS)
        self.denied = re.compile(
            rf"(?:{told['denied_before']})(?:\s+(?:{told['placing']}))*[\s,]*$"
            rf"|\b(?:{told['dropping']})(?:\s+the)?\s*$",
            _FLAGS,
        )
        self.was = re.compile(rf"(?:{told['was_before']})\W*$", _FLAGS)
        self.denied_after = re.compile(rf"\W*(?:{told['denied_after']})\b", _FLAGS)
        self.gone_from = re.compile(rf"\s+(?:(?:in)?to\s+|->\s*|→\s*|=>\s*){VALUE}")
        self.no_name = re.compile(
            rf"(?:{told['obtaining']}|{told['denying']}|{'|'.join(sorted(self.ending))})$|\w+(?:ed|ing|ly)$",
            _FLAGS,
        )
        self.terms = _term_patterns(told, self.ending, adverbs, saying)


def _term_patterns(
    told: dict[str, Any], ending: frozenset[str], adverbs: str, saying: str
) -> list[re.Pattern[str]]:
    """Where plain words are a value: what stands before them and after them."""
    stop = "|".join(sorted((*ending, *told["not_values"].split()), key=len, reverse=True))
    word = rf"(?!(?:{stop}|for|of)\b)[a-z][\w'’-]*"
    verbal = rf"(?!\w{{2,}}(?:ed|ing|ly)\b(?:(?! [a-z])| (?:{told['governing']})\b))"
    term = rf"(?P<term>\b{verbal}(?:an?\s+)?{word}(?:\s+{word}){{0,2}})"
    after = rf"(?=\s*(?:[.,;:!?)(–—]|-+\s|-+>|→|$)|\s+(?:{stop}|for)\b)"
    of_thing = rf"(?=\s+(?:[\w'’]+\s+){{0,5}}?(?:{told['attaching']})\s+{THING})"
    begin = r"(?:^|[.,;:!?–—-]\s*)"
    shapes = (
        rf"{THING}{_RELATIVE}{adverbs}\s+{saying}{adverbs}\s+{term}{after}",
        rf"{THING}(?:\s+[\w'’]+){{1,6}}?\s+and{adverbs}\s+{saying}{adverbs}\s+{term}{after}",
        rf"{THING}\)?(?:,\s*\w+)?\s*(?:[(:=–—]|-+>?\s|→)\s*{term}{after}",
        rf"{THING}(?:\s+[\w'’]+)?\s+(?:in)?to\s+{term}{after}(?!\s+(?:the|our|my|your|an?|it)\b)",
        rf"\b(?:with|{told['making']}|set|fix)\s+{THING}\s+(?:at|on|in|as|with|set to)\s+"
        rf"{term}{after}",
        rf"\b(?:{told['making']})\s+{THING}\s+{term}{after}",
        rf"\b(?:{told['obtaining']})\s+{term}{of_thing}",
        rf"{begin}(?:(?:{told['leading']})\s+)*{term}(?=\s+(?:(?!and\b|but\b|so\b)[\w'’]+\s+){{0,3}}?for\s+{THING})",
        rf"\b(?:{told['denying']})\s+{term}{after}",
        rf"\b(?:{told['swapping']})\s+{VALUE}\s+(?:for|with|by|against)\s+{term}{after}",
        rf"\b(?:{told['obtaining']})\s+{term}{after}",
        rf"\b(?:it|that|they|one|this){adverbs}(?:['’]s|['’]re|\s+{saying}){adverbs}\s+{term}{after}",
        rf"\b(?:{told['meta']})(?:\s+is\s+|\s*[:=]\s*){term}{after}",
        rf"\b(?:{told['newest']})\s+(?:(?:{told['meta']})\s+){term}{after}",
        rf"{begin}{term}(?=\s+(?:{told['confirming']})\b)",
        rf"{begin}{term}(?=\s*[-–—,:]\s*(?:that|this|it)(?:['’]s|\s+is|\s+was)\b)",
        rf"{begin}{term}(?=\s+(?:in|out|off)\s*(?:[,.;:!–—-]|$))",
        rf"(?:->|→|=>)\s*{term}{after}",
        rf"{term}(?=\s*(?:->|→|=>))",
        rf"{THING}[^.?!]*?[:–—-]\s+{term}(?:\s+(?:{told['adverbs']}|please|it is))*[.!]?$",
    )
    return [re.compile(shape, _FLAGS) for shape in shapes]


@lru_cache(maxsize=8)
def patterns_of(language: str = "en") -> Patterns:
    return Patterns(language)


@dataclass(frozen=True)
class Skeleton:
    """A turn with its things and values marked."""

    text: str
    masked: str
    """The turn with a sign in the place of each thing and each value."""
    marks: tuple[Mark, ...]
    """In order."""
    places: tuple[int, ...]
    """Where each mark stands in the masked text."""
    known: frozenset[str] = frozenset()
    """The things that are on record."""

    @property
    def things(self) -> list[Mark]:
        return [mark for mark in self.marks if mark.is_thing]

    @property
    def values(self) -> list[Mark]:
        return [mark for mark in self.marks if not mark.is_thing]

    def place(self, mark: Mark) -> int:
        return self.places[self.marks.index(mark)]

    def only_known(self) -> Skeleton:
        """The same, with nothing marked but the things that are on record."""
        marks = [mark for mark in self.marks if mark.normal in self.known]
        return replace(_masked(self.text, marks), known=self.known)

    def original(self, place: int) -> int:
        """Where in the turn a place of the masked text is."""
        shift = 0
        for mark, at in zip(self.marks, self.places, strict=True):
            if at >= place:
                break
            shift += mark.end - mark.start - 1
        return place + shift

    def between(self, one: Mark, two: Mark) -> str:
        """The masked words between two marks."""
        return self.masked[self.place(one) + 1 : self.place(two)]


def skeleton(text: str, is_known: Known, held: Iterable[str] = ()) -> Skeleton:
    """Mark the things and the values of a turn. `held` are values that are known of its things."""
    held = list(held)
    things = _things(text, is_known, held)
    marks = _with_labels(_with_values(text, things, held))
    known = frozenset(mark.normal for mark in marks if mark.is_thing and is_known(mark.text))
    return replace(_masked(text, _with_terms(text, marks)), known=known)


def _with_labels(marks: Sequence[Mark]) -> list[Mark]:
    """The marks with numbers that only tell which thing is meant: "ticket 4471"."""
    found: list[Mark] = []
    for mark in sorted(marks, key=lambda one: one.start):
        last = found[-1] if found else None
        numbered = not mark.is_thing and mark.text[:1].isdigit() and mark.text.isalnum()
        if last is not None and last.is_thing and numbered and mark.start == last.end + 1:
            name = f"{last.text} {mark.text}"
            found[-1] = last._replace(text=name, end=mark.end, normal=_normal(name))
        else:
            found.append(mark)
    return found


def _masked(text: str, marks: Sequence[Mark]) -> Skeleton:
    ordered = sorted(marks, key=lambda mark: mark.start)
    names = list(dict.fromkeys(mark.normal for mark in ordered if mark.is_thing))
    pieces, places, at, size = [], [], 0, 0
    for number, mark in enumerate(ordered):
        sign = _THINGS + names.index(mark.normal) if mark.is_thing else _VALUES + number
        pieces += [text[at : mark.start], chr(sign)]
        size += mark.start - at
        places.append(size)
        size, at = size + 1, mark.end
    pieces.append(text[at:])
    return Skeleton(text, "".join(pieces), tuple(ordered), tuple(places))


# things


def _things(text: str, is_known: Known, held: Sequence[str]) -> list[Mark]:
    skipped = {m.start(): m.end() for m in patterns_of().meta.finditer(text)}
    found: list[Mark] = []
    at = 0
    while len(found) < _MOST // 2:
        thing = next(iter(loosely.things(text[at:])), None)
        if thing is None:
            break
        start, end = at + thing.start, at + thing.end
        value = next((v for v in held if _opens(thing.name, v)), "")
        if value and not is_known(thing.name):
            at = start + len(value)  # "the Glass Box stays" begins with what a thing is
            continue
        inner = max((b for a, b in skipped.items() if a <= start < b < end), default=0)
        if inner and not is_known(thing.name):
            at = inner  # "the entry for the fee" is about the fee
            continue
        said = _trimmed(thing.name, is_known)
        if said:
            found.append(Mark(said, start, start + len(said), True, _normal(said)))
            at = start + len(said)
        else:
            # "The Glass Box for our meetings" names a value, and then a thing.
            other = _ABOUT.search(thing.name)
            at = start + other.end() if other is not None else end
    return sorted((*found, *_pointed(text, found)))


def _opens(text: str, words: str) -> bool:
    """Whether a text begins with these words."""
    return f"{_normal(text)} ".startswith(f"{_normal(words)} ")


def _trimmed(name: str, is_known: Known) -> str:
    """A name without what only seems to belong to it; empty where it names no thing."""
    words = name.split()
    for size in range(len(words), 1, -1):
        shorter = " ".join(words[:size])
        if name.startswith(shorter) and is_known(shorter):
            return shorter
    patterns = patterns_of()
    head = next((i for i, word in enumerate(words) if word.lower() in ("for", "of")), len(words))
    noun = words[1:head]
    if head == len(words) and noun and _SMALL.match(noun[0]):
        # "The office Porto" is a thing and a value.
        while len(noun) > 1 and not _SMALL.match(noun[-1]) and not _ACRONYM.match(noun[-1]):
            noun = noun[:-1]
        name = " ".join(words[: 1 + len(noun)])
    if not noun or not (_SMALL.match(noun[-1]) or _ACRONYM.match(noun[-1])):
        return ""  # "the Glass Box" is a name
    plain = [word.lower() for word in noun if word.lower() not in patterns.fresh]
    return "" if len(plain) < 2 and (plain or noun)[-1].lower() in patterns.no_things else name


def names_a_thing(name: str) -> bool:
    """Whether a name is that of a thing, and not of what is on record of one: "the answer"."""
    return bool(_trimmed(name, lambda _: False))


def _pointed(text: str, things: Sequence[Mark]) -> list[Mark]:
    """The former and the latter, of two things that were named before."""
    found = []
    for word in re.finditer(r"\bthe (?P<which>former|latter)\b", text, _FLAGS):
        before = [thing for thing in things if thing.end <= word.start()]
        if before:
            meant = before[0] if word.group("which").lower() == "former" else before[-1]
            found.append(meant._replace(start=word.start(), end=word.end()))
    return found


def _normal(name: str) -> str:
    return " ".join(name.lower().replace("’", "'").split())


# values


def _with_values(text: str, things: Sequence[Mark], held: Iterable[str]) -> list[Mark]:
    found = list(things)
    for value in sorted(held, key=len, reverse=True):
        for place in re.finditer(rf"(?<!\w){re.escape(value)}(?!\w)", text, _FLAGS):
            _add(found, kind_of(value), place.group(), place.start(), place.end())
    plain = _CONTRACTED.sub(lambda said: said.group()[:-2] + "  ", text)
    for part in _joined(text, [p for p in frame_again(plain).parts if p.kind != "term"]):
        if not _is_passing(text, part):
            _add(found, part.kind, *_whole(text, part))
    return found


def kind_of(value: str) -> str:
    """What kind of value a text is, if it is one."""
    parts = [part for part in frame_again(value).parts if part.kind != "term"]
    return parts[0].kind if parts else HELD


def _joined(text: str, parts: Sequence[Part]) -> list[Part]:
    """Values with a name and its number taken together: "the Corvid X2"."""
    found: list[Part] = []
    for part in parts:
        last = found[-1] if found else None
        joins = part.kind in _NUMBERING and text[part.start - 1 : part.start] == " "
        if last is not None and last.kind == "name" and joins and last.end == part.start - 1:
            found[-1] = last._replace(text=text[last.start : part.end], end=part.end)
        else:
            found.append(part)
    return found


def _add(found: list[Mark], kind: str, text: str, start: int, end: int) -> None:
    if all(end <= mark.start or start >= mark.end for mark in found):
        found.append(Mark(text, start, end, False, _normal(text), kind))


def _whole(text: str, part: Part) -> tuple[str, int, int]:
    """A value with its article, and with what is counted: "the Glass Box", "34 people"."""
    start, end = part.start, part.end
    first = _OPENING_NAME.search(text[:start]) if part.kind == "name" else None
    if first is not None and not patterns_of().no_name.match(first.group("first")):
        start = first.start("first")
    if part.kind == "name" and (partner := _PARTNER.search(text[:start])):
        start = partner.start()
    if part.kind == "name" and (article := re.search(r"\b[Tt]he $", text[:start])):
        start = article.start()
    unit = _COUNTED.match(text, end) if part.kind == "number" else None
    if unit is not None and unit.group("unit") not in patterns_of().ending:
        end = unit.end()
    return text[start:end], start, end


def _is_passing(text: str, part: Part) -> bool:
    """Whether a value only tells when it is said, or is a word that opens a sentence."""
    if patterns_of().passing.match(part.text):
        return True
    if part.kind != "name" or " " in part.text:
        return False
    begins = not text[: part.start].rstrip() or text[: part.start].rstrip()[-1] in ".!?:"
    if begins and (_LABEL.match(text, part.end) or _OBJECT.match(text, part.end)):
        return True
    return begins and (is_common(part.text.lower()) or bool(_FORMED.search(part.text)))


def _with_terms(text: str, marks: Sequence[Mark]) -> list[Mark]:
    """The marks with plain words that their place makes values: "teal for the walls"."""
    found = list(marks)
    for pattern in patterns_of().terms:
        masked = _masked(text, found)
        for place in pattern.finditer(masked.masked):
            start = masked.original(place.start("term"))
            end = masked.original(place.end("term"))
            _add(found, PLAIN, text[start:end], start, end)
    return found
