"""Spoken values: a text says a value by its whole tokens, in any case and spacing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'"})
# Corpora differ in how they cut "don't" and "Ann's"; here the ending is always a token of its own.
_ENDING = r"n't|'(?:s|m|re|ve|ll|d)"
_ENDINGS = re.compile(rf"\s*({_ENDING})(?!\w)")
_HALF_OF_DAY = re.compile(r"(?<=\d)\s*([ap])\.?\s?m(?!\w)\.?")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_TOKEN = re.compile(
    rf"(?<!\w)(?:{_ENDING})(?!\w)"
    r"|\d+(?:[.,:/]\d+)*[^\W\d_]*"  # 11:30, 4th, 3.5 and 3/4 are one token each
    r"|[^\W_]+"
)
_REMEMBERED = 8_192


@lru_cache(maxsize=_REMEMBERED)
def tokens(text: str) -> tuple[str, ...]:
    """The tokens of a text. A number stays whole: "1" is no token of "11:30", nor "4" of "4th"."""
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_APOSTROPHES)
    plain = _ENDINGS.sub(r" \1 ", plain)
    plain = _THOUSANDS.sub("", _HALF_OF_DAY.sub(r" \1m", plain))
    return tuple(_TOKEN.findall(plain))


class SpokenText:
    """A text that can be asked for values.

    It says a value if all tokens of the value stand in it next to each other and in order.
    """

    def __init__(self, text: str) -> None:
        self._run = _spaced(tokens(text))

    def says(self, value: str) -> bool:
        """Whether the text says a value. One without tokens is said nowhere."""
        wanted = tokens(value)
        return bool(wanted) and _spaced(wanted) in self._run

    def says_any(self, values: Iterable[str]) -> bool:
        """Whether the text says a value in one of several ways."""
        return any(map(self.says, values))


def same_value(one: str, other: str) -> bool:
    """Whether two texts name the same value: the tokens of one stand whole in the other."""
    return SpokenText(one).says(other) or SpokenText(other).says(one)


def _spaced(parts: Sequence[str]) -> str:
    return f" {' '.join(parts)} "
