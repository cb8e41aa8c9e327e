"""The words of a language, by what they do. One folder of data files per language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

DEFAULT_LANGUAGE = "en"


@lru_cache(maxsize=32)
def data(name: str, language: str = DEFAULT_LANGUAGE) -> dict[str, Any]:
    """One data file of a language."""
    path = files("incumbent.language").joinpath("data", language, f"{name}.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


class WordSets:
    """The classes of words that a data file lists, each under its name."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        listed = ((name, words) for name, words in told.items() if isinstance(words, str))
        vars(self).update((name, word_set(words)) for name, words in listed)

    def __getattr__(self, name: str) -> frozenset[str]:
        raise AttributeError(f"no words are listed as {name}")


@lru_cache(maxsize=32)
def word_sets(name: str, language: str = DEFAULT_LANGUAGE) -> WordSets:
    """The classes of words of a data file, or of a part of it: "voice.everything"."""
    name, _, part = name.partition(".")
    told = data(name, language)
    return WordSets(told[part] if part else told)


def either(patterns: Iterable[str] | str, *, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """A pattern that finds any of these at the borders of words."""
    parts = [patterns] if isinstance(patterns, str) else list(patterns)
    return re.compile(rf"(?<![\w'])(?:{'|'.join(parts)})(?![\w])", flags)


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())
