"""Texts that are looked for in a database, as patterns."""

from __future__ import annotations

import re
from itertools import groupby

from incumbent.model.folding import cases_of

_DOT = "\u0307"
"""The dot of a capital i, which folding sets apart: it may have been one character with its i."""
_BEYOND = re.compile("[^ -~]+")
_TELLING = 4


def longest_run(text: str) -> str:
    """The longest part of a folded text that stands in a stored value as it is.

    JSON writes quotes, backslashes and controls otherwise. A part of the text may be in facts that
    do not have the whole, and who asked looks again.
    """
    runs = ("".join(run) for stays, run in groupby(text, _stays) if stays)
    return max(runs, key=len, default="")


def _stays(character: str) -> bool:
    return character >= " " and character not in ('"', "\\", _DOT)


def plain_pattern(run: str) -> str | None:
    """A pattern of LIKE for the part of a run in letters of English, if that tells enough.

    LIKE takes a fraction of the time of what knows the case of other letters.
    """
    plain = max(_BEYOND.split(run), key=len)
    if not run.isascii() and len(plain) < _TELLING:
        return None
    return f"%{''.join(map(_liked, plain))}%"


def _liked(character: str) -> str:
    """A character in a pattern of LIKE; any, where one beyond English is another case of it."""
    if not cases_of(character).isascii():
        return "_"
    return f"\\{character}" if character in "%_\\" else character
