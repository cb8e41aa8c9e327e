"""Attributes: how a thing is named that has a value, and by which noun."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from incumbent.language.lexicon import data, word_set
from incumbent.language.tokens import stem

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
LABEL = rf"(?:{_OWNER} )?{_NOUN}{_ABOUT}"
"""The same before a colon: "Gate code"."""


class _Words:
    """The nouns of one language."""

    def __init__(self, language: str) -> None:
        told = data("attributes", language)
        self.nouns = frozenset(map(stem, told["nouns"].split()))
        self.persons = word_set(told["persons"])
        self.fresh = word_set(told["fresh"])
        self.being = word_set(told["being"])
        self.aliases: dict[str, str] = told["aliases"]
        self.numbers: dict[str, str] = told["numbers"]


@lru_cache(maxsize=8)
def _words(language: str) -> _Words:
    return _Words(language)


def is_attribute_noun(word: str, language: str = "en") -> bool:
    """Whether a noun stands for an attribute, of which a thing has one at a time."""
    return stem(word) in _words(language).nouns


def is_persons(key: str, language: str = "en") -> bool:
    """Whether whoever holds an attribute is a person: the manager, and not the landlord's firm."""
    return key.split("_")[-1] in _words(language).persons


def key_of(noun: str, language: str = "en") -> str:
    """The key of an attribute that goes by this noun."""
    return _key(_words(language), noun.lower().split())


def address_of(name: str, language: str = "en") -> tuple[str, str | None] | None:
    """The key and the subject of a thing that is named, or None where it is named otherwise."""
    found = re.fullmatch(THING, name.strip(), re.IGNORECASE)
    return address_in(found, language=language) if found is not None else None


def address_in(
    found: re.Match[str], *, is_number: bool = True, language: str = "en"
) -> tuple[str, str | None] | None:
    """The key and the subject of a thing that a pattern has found. `is_number` is whether what is
    said of it can be a number: "my phone is a Pixel" tells which phone it is."""
    words, given = _words(language), found.groupdict()
    noun = [word for word in given["noun"].lower().split() if word not in words.fresh]
    if not noun or not words.being.isdisjoint(noun):
        return None
    return _key(words, noun, is_number=is_number), _subject(given)


def _subject(given: dict[str, str | None]) -> str | None:
    """Whose attribute it is; None for the speaker's own, and for what has no owner named."""
    owner = given.get("kin") or given.get("name") or given.get("other") or given.get("about")
    if owner is None:
        return None
    words = owner.lower().replace("’", "'").removesuffix("'s").split()
    if words and words[0] in ("my", "our", "the", "your"):
        words = words[1:]
    return " ".join(words) or None


def _key(words: _Words, noun: Sequence[str], *, is_number: bool = True) -> str:
    name = "_".join(word.replace("-", "_") for word in noun)
    if name in words.numbers and is_number:
        return words.numbers[name]
    return words.aliases.get(name, name)
