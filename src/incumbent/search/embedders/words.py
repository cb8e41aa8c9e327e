"""The word pieces that both models share, and the folder their weights are in.

The cutting is that of the models' own tokenizer (uncased WordPiece). It is written out here because
the usual package for it brings a client for a model hub along, and because a dictionary of words
that were cut before is faster than any tokenizer.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

from incumbent.model.text_cache import when_forgetting

WEIGHTS = Path(__file__).parent / "weights"

_UNKNOWN = 100
_LONGEST_WORD = 100
_REMEMBERED = 200_000
_PLAIN = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_UNSPACED = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


@cache
def vocabulary() -> dict[str, int]:
    """Every word piece with its id; a piece that continues a word begins with ##."""
    text = (WEIGHTS / "vocabulary.txt").read_text(encoding="utf-8")
    return {piece: number for number, piece in enumerate(text.split("\n")[:-1])}


def common_words() -> frozenset[str]:
    """The words that are known whole: those in common use."""
    return frozenset(word for word in vocabulary() if word.isalpha())


class Words:
    """Cuts a text into the ids of its word pieces, reading no more than the first characters."""

    def __init__(self, *, most_characters: int, most_pieces: int | None = None) -> None:
        self._most_characters = most_characters
        self._most_pieces = most_pieces
        self._known = _Cut(vocabulary())

    def pieces(self, text: str) -> list[int]:
        """The ids of the text's word pieces; none for a text without words."""
        known = self._known
        words = text[: self._most_characters].split()
        return [piece for word in words for piece in known[word]][: self._most_pieces]


class _Cut(dict[str, tuple[int, ...]]):
    """Words between spaces, with their pieces; cut when first asked for."""

    def __init__(self, pieces: dict[str, int]) -> None:
        self._first = {piece: number for piece, number in pieces.items() if piece[:2] != "##"}
        self._further = {piece[2:]: number for piece, number in pieces.items() if piece[:2] == "##"}
        when_forgetting(self.forget)

    def forget(self) -> None:
        """Drop the remembered words: some may be of a text that was erased."""
        self.clear()

    def __missing__(self, word: str) -> tuple[int, ...]:
        found = tuple(piece for part in _parts(word) for piece in self._cut(part))
        if len(self) < _REMEMBERED:
            self[word] = found
        return found

    def _cut(self, word: str) -> tuple[int, ...]:
        """The longest piece first, then the longest that continues it; unknown if one of them
        is."""
        if len(word) > _LONGEST_WORD:
            return (_UNKNOWN,)
        whole = self._first.get(word)
        if whole is not None:
            return (whole,)
        found: list[int] = []
        start, known = 0, self._first
        while start < len(word):
            for end in range(len(word), start, -1):
                number = known.get(word[start:end])
                if number is not None:
                    found.append(number)
                    start, known = end, self._further
                    break
            else:
                return (_UNKNOWN,)
        return tuple(found)


def _parts(word: str) -> list[str]:
    """A word cleaned, without accents, in lower case, cut at punctuation."""
    if word.isascii():
        return _PLAIN.findall(_CONTROLS.sub("", word).lower())
    cleaned = "".join(_cleaned(character) for character in word)
    decomposed = unicodedata.normalize("NFD", cleaned)
    plain = "".join(c for c in decomposed if unicodedata.category(c) != "Mn").lower()
    return "".join(f" {c} " if _is_punctuation(c) else c for c in plain).split()


def _cleaned(character: str) -> str:
    if character == "\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Co", "Cn"):
        return ""
    if unicodedata.category(character) == "Zs":
        return " "
    number = ord(character)
    if any(first <= number <= last for first, last in _UNSPACED):
        return f" {character} "
    return character


def _is_punctuation(character: str) -> bool:
    if character.isascii():
        return not character.isalnum()
    return unicodedata.category(character).startswith("P")
