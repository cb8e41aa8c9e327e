"""Counting tokens with the target model's own tokenizer, offline."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from tenure.model.errors import InvalidInput

Count = Callable[[str], int]


@cache
def counter(name: str) -> Count:
    """A function that counts the tokens of a text. Loaded on first use: it takes some memory."""
    import splintr

    try:
        encode = splintr.Tokenizer.from_pretrained(name).encode_ordinary
    except ValueError as error:
        raise InvalidInput(f"Settings.tokenizer {name!r} is not available: {error}") from None

    def count(text: str) -> int:
        return len(encode(text))

    return count
