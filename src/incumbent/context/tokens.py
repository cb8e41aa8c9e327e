"""Counting tokens with the target model's own tokenizer, offline."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Protocol

from incumbent.model.errors import InvalidInput
from incumbent.model.text_cache import remembering, when_forgetting

# These cut a text at line breaks before they join anything.
_ADDING_UP = ("cl100k_base", "o200k_base")
_REMEMBERED = 8_192
_SHORT = 400


class Count(Protocol):
    """Counts the tokens of a text."""

    @property
    def name(self) -> str: ...

    @property
    def adds_up(self) -> bool:
        """Whether lines cost as much together as apart."""
        ...

    def __call__(self, text: str) -> int: ...


class Counter:
    """Counts with one of the tokenizers that the `splintr` package carries."""

    def __init__(self, name: str) -> None:
        import splintr  # on first use: it takes some memory

        self.name = name
        self.adds_up = name in _ADDING_UP
        try:
            self._tokenizer = splintr.Tokenizer.from_pretrained(name)
        except ValueError as error:
            raise InvalidInput(f"Settings.tokenizer {name!r} is not available: {error}") from None
        self._short = remembering(_REMEMBERED)(self._count)
        when_forgetting(self.forget)

    def forget(self) -> None:
        """Drop the texts that the tokenizer itself keeps; only some kinds keep any."""
        with suppress(ValueError):
            self._tokenizer.clear_cache()

    def _count(self, text: str) -> int:
        return len(self._tokenizer.encode_ordinary(text))

    def __call__(self, text: str) -> int:
        return self._short(text) if len(text) <= _SHORT else self._count(text)


@cache
def counter(name: str) -> Count:
    """The counter of a tokenizer, loaded once per process."""
    return Counter(name)
