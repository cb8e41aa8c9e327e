"""The words of values in a language, as `data/<language>/values.toml` lists them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from incumbent.language.lexicon import DEFAULT_LANGUAGE, data

FIGURE = "0"
"""What stands for any number in figures where words are looked up."""

_PLACEHOLDER = re.compile(r"\{([a-z_]+?)(\d?)\}")
_END_OF_WORD = r"(?![^\W_])"


class Unit(NamedTuple):
    """A unit of measure."""

    symbol: str
    family: str
    size: Decimal
    """How many of the family's base unit it is."""


def alternatives(words: Iterable[str]) -> str:
    """A pattern for any of these words, the longest first."""
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in ordered)


def first_word(phrase: str) -> str:
    return re.split(r"[\s.-]", phrase)[0]


def split(listed: str) -> list[str]:
    """The words of a list; a hyphen stands for a space within one."""
    return [word.replace("-", " ") for word in listed.split()]


class Vocabulary:
    """What the data file says, in the shapes that finding needs."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.told: dict[str, Any] = data("values", language)
        words = self.told["words"]
        self.classes: dict[str, dict[str, Any]] = {
            name: dict(listed)
            for name, listed in words.items()
            if name not in ("lists", "closed")
            if isinstance(listed, dict)
        }
        for name, listed in words["lists"].items():
            self.classes[name] = {word: word for word in listed.split()}
        self._listed = {name: frozenset(listed) for name, listed in self.classes.items()}
        self.closed = frozenset(
            word for listed in words["closed"].values() for word in listed.split()
        )
        self.function_words = frozenset(
            word
            for name, listed in words["closed"].items()
            if name not in ("adverbs", "verbs")
            for word in listed.split()
        )
        self.irregular: dict[str, str] = self.told["irregular_plurals"]
        self.number_words = self.told["numbers"]["words"].split()
        self.articles: list[str] = words["articles"].split()
        self.between: str = self.told["numbers"]["between"]
        self.domains = frozenset(self.told["sites"]["domains"].split())
        self.units = {
            symbol: Unit(symbol, unit["of"], Decimal(unit["is"]))
            for symbol, unit in self.told["units"].items()
        }

    def words(self, name: str) -> frozenset[str]:
        """The words of a class."""
        return self._listed[name]

    def meaning(self, name: str, word: str) -> Any:
        """What a word of a class stands for."""
        return self.classes[name][" ".join(word.lower().split())]

    def full(self, name: str, number: int) -> str:
        """The word in full for a number of a class: the first that the file lists."""
        return next(word for word, meaning in self.classes[name].items() if meaning == number)

    def is_full(self, name: str, word: str) -> bool:
        """Whether a word of a class is written in full."""
        return self.full(name, self.meaning(name, word)) == word.lower()

    def pattern(self, form: str, parts: Mapping[str, str]) -> re.Pattern[str]:
        """A form of the data file as a regular expression, to be matched where a word starts."""
        spaced = form.replace(" ", r"\s{1,3}").replace("~", r"\s{0,3}")
        filled = _PLACEHOLDER.sub(lambda part: self._part(part[1], part[2], parts), spaced)
        return re.compile(filled + _END_OF_WORD, re.IGNORECASE)

    def _part(self, name: str, number: str, parts: Mapping[str, str]) -> str:
        inside = parts.get(name)
        if inside is None:
            inside = f"(?:{alternatives(self.classes[name])}){_END_OF_WORD}"
        return f"(?P<{name}{number}>{inside})"

    def first_words(self, starts: Iterable[str], more: Mapping[str, Iterable[str]]) -> set[str]:
        """The words that a form can start with."""
        found: set[str] = set()
        for start in starts:
            if start == "figure":
                found.add(FIGURE)
            elif start in self.classes:
                found.update(first_word(word) for word in self.classes[start])
            else:
                found.update(more.get(start, (start,)))
        return found


@lru_cache(maxsize=8)
def vocabulary(language: str = DEFAULT_LANGUAGE) -> Vocabulary:
    return Vocabulary(language)
