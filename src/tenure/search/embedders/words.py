"""The tokenizer that both models share, and the folder their weights are in."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer

WEIGHTS = Path(__file__).parent / "weights"


class Words:
    """Cuts a text into the ids of its word pieces, reading no more than the first characters."""

    def __init__(self, *, most_characters: int, most_pieces: int | None = None) -> None:
        self._tokenizer = Tokenizer.from_file(str(WEIGHTS / "tokenizer.json"))
        # A text that says "[SEP]" is a text, not a command to the model.
        self._tokenizer.encode_special_tokens = True
        self._most_characters = most_characters
        self._most_pieces = most_pieces

    def pieces(self, text: str) -> list[int]:
        """The ids of the text's word pieces; none for a text without words."""
        beginning = text[: self._most_characters]
        if not beginning.isascii():
            # Half a surrogate pair is legal in a Python string and unknown to the tokenizer.
            beginning = beginning.encode("utf-8", "replace").decode("utf-8")
        # One at a time: a batch would start threads, which neither keep to one core nor fork.
        ids: list[int] = self._tokenizer.encode(beginning, add_special_tokens=False).ids
        return ids[: self._most_pieces]


def common_words() -> frozenset[str]:
    """The words that the tokenizer knows whole: those people use all the time."""
    vocabulary: dict[str, int] = Tokenizer.from_file(str(WEIGHTS / "tokenizer.json")).get_vocab()
    return frozenset(word for word in vocabulary if word.isalpha())
