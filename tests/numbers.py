"""Numbers in what a program tells: an id or a moment can hold any digits by chance."""

from __future__ import annotations

import re


def tells_number(text: str, number: int) -> bool:
    """Whether a text tells a number, other than as a part of an id, a digest or a moment."""
    return re.search(rf"(?<![0-9a-f-]){number}(?![0-9a-f-])", text) is not None
