"""Attributes: statements that say of something what one thing about it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from incumbent.language.lexicon import data, word_set
from incumbent.language.tokens import stem
from incumbent.language.values.kinds import ValueKind
from incumbent.model.fact import Part

_MOST_WORDS = 10
_LONGEST = 400
_NAME = r"[A-Z][\w&-]*(?: (?:of |the )?[A-Z][\w&-]*){0,3}"
# A verb or an adverb is no part of the name of a thing.
_NO_NAME = (
    r"(?!(?:currently|now|still|also|had|has|have|was|were|is|are|will|would|should|be|been)\b)"
)
_NOUN = rf"(?P<noun>(?:{_NO_NAME}[\w-]+ ){{0,3}}?{_NO_NAME}[\w-]+)"
_ABOUT = (
    rf"(?: (?:of|for|on) (?P<about>(?:the |our |my )?{_NO_NAME}[\w'’.-]+"
    rf"(?: {_NO_NAME}[\w'’.-]+){{0,4}}?))?"
)
_OWNER = (
    r"(?:(?P<kin>(?:my|our|the|your) [\w-]+(?: [\w-]+)?) ?['’]s?|"
    rf"(?P<name>(?-i:{_NAME})) ?['’]s?|(?P<own>my|our|the|your)|"
    r"(?P<other>his|her|their|its))"
)
THING = rf"{_OWNER} {_NOUN}{_ABOUT}"
"""How a thing is named that has a value: "my sister's address", "the fee for the course"."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute, of whom, and what it is said to be."""

    key: str
    subject: str | None
    value: str
    start: int
    """Where the value stands in the statement."""
    end: int
    is_sure: bool
    """Whether a thing has but one of it at a time, so that the address alone decides."""
    is_change: bool = False
    """Whether it was put as a change of what there is."""
    is_own: bool = False
    """Whether it is the speaker's: "my", "I live in"."""


class _Patterns:
    """The patterns of one language."""

    def __init__(self, language: str) -> None:
        told = data("attributes", language)
        self.nouns = frozenset(map(stem, told["nouns"].split()))
        self.qualifiers = word_set(told["qualifiers"])
        self.persons = word_set(told["persons"])
        self.fresh = word_set(told["fresh"])
        self.being = word_set(told["being"])
        self.kinds: dict[str, str] = told["kinds"]
        self.aliases: dict[str, str] = told["aliases"]
        self.numbers: dict[str, str] = told["numbers"]
        flags = re.IGNORECASE
        # After a lead-in comes a mark, or a word that can begin a statement.
        self.lead_in = re.compile(
            rf"(?:(?:{told['lead_in']})(?:\s*[,:;.!—–-]+\s*|\s+(?=(?:{told['beginning']}"
            rf"|(?-i:[A-Z])[\w-]*['’]s)\b)))+",
            flags,
        )
        self.trailing = re.compile(rf"(?:[\s,]+(?:{told['trailing']}))+$", flags)
        self.contrast = re.compile(rf"(?:{told['contrast']})$", flags | re.DOTALL)
        copula = rf"(?: ?(?P<mark>['’]s|[:=])| (?P<copula>{told['copulas']})) (?P<value>\S.*)$"
        self.says = re.compile(rf"{_OWNER} {_NOUN}{_ABOUT}{copula}", flags)
        self.label = re.compile(r"(?P<noun>[A-Za-z][\w /-]{1,30}?) ?[:=] (?P<value>\S.*)$", flags)
        self.holder = re.compile(
            rf"(?P<value>(?-i:{told['titles']}{_NAME})) (?:{told['holding']}) "
            rf"(?P<own>my|our|the) {_NOUN}{_ABOUT}$",
            flags,
        )
        self.change = re.compile(
            rf"(?:{told['change']}) (?:{_OWNER} )?{_NOUN}{_ABOUT}(?: from \S.*?)? "
            rf"(?:back )?to (?P<value>\S.*)$",
            flags,
        )
        self.amount = re.compile(
            rf"(?:\b(?P<own>a|an|the|my|our) )(?P<noun>(?:[\w-]+ ){{0,2}}[\w-]+) "
            rf"(?:{told['amounting']}) (?P<value>\S.*)$",
            flags,
        )
        self.as_noun = re.compile(
            rf"(?P<value>(?-i:{told['titles']}{_NAME})) as (?P<own>my|our|the|your) {_NOUN}$", flags
        )
        self.verbs = [
            (re.compile(rf"(?:i|we) ?(?:{verb['says']}) (?P<value>\S.*)$", flags), verb["key"])
            for verb in told["verbs"]
        ]
        self.no_value = re.compile(rf"(?:{told['no_value']})\b", flags)
        self.naming = re.compile(r"(?:an?|the) [\w-]+(?: [\w-]+){0,2}$", flags)
        self.placing = re.compile(rf"(?:{told['placing']}) ", flags)


@lru_cache(maxsize=8)
def _patterns(language: str) -> _Patterns:
    return _Patterns(language)


def without_lead_in(text: str, language: str = "en") -> int:
    """Where a statement begins once "actually," and the like are passed."""
    found = _patterns(language).lead_in.match(text)
    return found.end() if found is not None and found.end() < len(text) else 0


def is_attribute_noun(word: str, language: str = "en") -> bool:
    """Whether a noun stands for an attribute, of which a thing has one at a time."""
    return stem(word) in _patterns(language).nouns


def is_persons(key: str, language: str = "en") -> bool:
    """Whether whoever holds an attribute is a person: the manager, and not the landlord's firm."""
    return key.split("_")[-1] in _patterns(language).persons


def key_of(noun: str, language: str = "en") -> str:
    """The key of an attribute that goes by this noun."""
    return _key(_patterns(language), noun.lower().split())


def address_of(name: str, language: str = "en") -> tuple[str, str | None] | None:
    """The key and the subject of a thing that is named, or None where it is named otherwise."""
    found = re.fullmatch(THING, name.strip(), re.IGNORECASE)
    if found is None:
        return None
    patterns = _patterns(language)
    given = found.groupdict()
    words = [word for word in given["noun"].lower().split() if word not in patterns.fresh]
    return (_key(patterns, words), _subject(given)) if words else None


def attribute_of(text: str, parts: Sequence[Part], language: str = "en") -> Attribute | None:
    """The attribute that a statement names, or None where it says something else."""
    if len(text) > _LONGEST:
        return None
    patterns = _patterns(language)
    for begin in _beginnings(text, language):
        for pattern in (patterns.says, patterns.holder, patterns.label, patterns.change):
            found = pattern.match(text, begin)
            if found is not None:
                stated = _stated(patterns, found, parts, is_change=pattern is patterns.change)
                if stated is not None:
                    return stated
        for pattern, key in patterns.verbs:
            found = pattern.match(text, begin)
            if found is not None:
                return _told_by_verb(patterns, found, key, parts)
    for pattern in (patterns.amount, patterns.as_noun):
        found = pattern.search(text.rstrip(" .!?"))
        if found is not None:
            stated = _stated(patterns, found, parts, is_change=False)
            if stated is not None and stated.is_sure and _is_one_part(parts, stated):
                return stated
    return None


def _is_one_part(parts: Sequence[Part], stated: Attribute) -> bool:
    """Whether the value is a single one with a form of its own."""
    return any((p.start, p.end) == (stated.start, stated.end) and p.kind != "term" for p in parts)


_CLAUSE = re.compile(
    r", (?=(?:my|our|the|your) )|[,;] (?:but|and)(?: then| please| just)* ", re.IGNORECASE
)


def _beginnings(text: str, language: str) -> list[int]:
    """Where the attribute may be named: at the beginning, or in a clause after a comma."""
    first = without_lead_in(text, language)
    return [first, *(found.end() for found in _CLAUSE.finditer(text, first))]


def _stated(
    patterns: _Patterns, found: re.Match[str], parts: Sequence[Part], *, is_change: bool
) -> Attribute | None:
    given = found.groupdict()
    words = [word for word in given["noun"].lower().split() if word not in patterns.fresh]
    if not words or not patterns.being.isdisjoint(words):
        return None
    named = stem(words[-1]) in patterns.nouns or words[0] in patterns.qualifiers
    start, end = _trimmed(patterns, found)
    value = found.string[start:end]
    placing = patterns.placing.match(value)
    if placing is not None:
        if not named or not _starts_typed(parts, start + placing.end()):
            return None
        start += placing.end()
        value = found.string[start:end]
    if not _is_value(patterns, value):
        return None
    covered = _covered(parts, start, end) or (
        (given.get("own") or "").lower() in ("my", "our", "your")
        and patterns.naming.match(value) is not None
    )
    if not named and not covered and given.get("copula") != "is":
        return None
    is_number = not any(map(str.isalpha, value)) or _has_number(parts, start, end)
    key = _key(patterns, words, is_number=is_number)
    is_own = (given.get("own") or "").lower() in ("my", "your")
    return Attribute(key, _subject(given), value, start, end, named or covered, is_change, is_own)


def _told_by_verb(
    patterns: _Patterns, found: re.Match[str], key: str, parts: Sequence[Part]
) -> Attribute | None:
    start, _ = _trimmed(patterns, found)
    part = next((part for part in parts if part.start == start), None)
    if part is None or part.kind not in (ValueKind.NAME, ValueKind.ADDRESS):
        return None
    key = patterns.kinds.get(part.kind, key)
    value = found.string[start : part.end]
    return Attribute(key, None, value, start, part.end, True, is_own=True)


def _trimmed(patterns: _Patterns, found: re.Match[str]) -> tuple[int, int]:
    """Where the value stands, without what only rounds off the sentence."""
    start = found.start("value")
    value = found.group("value").rstrip(" \t\n.!?;,")
    contrast = patterns.contrast.search(value)
    if contrast is not None and contrast.start() > 0:
        value = value[: contrast.start()]
    trailing = patterns.trailing.search(value)
    if trailing is not None and trailing.start() > 0:
        value = value[: trailing.start()].rstrip(" ,")
    return start, start + len(value)


def _is_value(patterns: _Patterns, value: str) -> bool:
    return (
        bool(value)
        and len(value.split()) <= _MOST_WORDS
        and patterns.no_value.match(value) is None
        and "\n" not in value
    )


def _starts_typed(parts: Sequence[Part], start: int) -> bool:
    return any(part.start == start and part.kind != "term" for part in parts)


def _covered(parts: Sequence[Part], start: int, end: int) -> bool:
    """Whether a value with a form of its own makes up most of the text."""
    inside = [p for p in parts if p.kind != "term" and p.start >= start and p.end <= end]
    return sum(part.end - part.start for part in inside) * 2 > end - start


def _subject(given: dict[str, str | None]) -> str | None:
    """Whose attribute it is; None for the speaker's own, and for what has no owner named."""
    owner = given.get("kin") or given.get("name") or given.get("other") or given.get("about")
    if owner is None:
        return None
    words = owner.lower().replace("’", "'").removesuffix("'s").split()
    if words and words[0] in ("my", "our", "the", "your"):
        words = words[1:]
    return " ".join(words) or None


def _has_number(parts: Sequence[Part], start: int, end: int) -> bool:
    """Whether somebody can be called at what is said: "555-0177, extension 5"."""
    return any(p.kind == ValueKind.PHONE and start <= p.start and p.end <= end for p in parts)


def _key(patterns: _Patterns, words: Sequence[str], *, is_number: bool = True) -> str:
    name = "_".join(word.replace("-", "_") for word in words)
    if name in patterns.numbers and is_number:
        return patterns.numbers[name]
    return patterns.aliases.get(name, name)
