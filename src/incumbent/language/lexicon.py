"""The words of a language, by what they do. One folder of data files per language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from typing import Any

DEFAULT_LANGUAGE = "en"


@lru_cache(maxsize=32)
def data(name: str, language: str = DEFAULT_LANGUAGE) -> dict[str, Any]:
    """One data file of a language."""
    path = files("incumbent.language").joinpath("data", language, f"{name}.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def either(patterns: Iterable[str] | str, *, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """A pattern that finds any of these at the borders of words."""
    parts = [patterns] if isinstance(patterns, str) else list(patterns)
    return re.compile(rf"(?<![\w'])(?:{'|'.join(parts)})(?![\w])", flags)


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())
