"""Stems of words."""

from __future__ import annotations

import Stemmer

from incumbent.model.text_cache import remembering

_stemmer = Stemmer.Stemmer("english", 0)


@remembering(32_768)
def stem(word: str) -> str:
    """The stem of a word, without a genitive."""
    low = word.lower().replace("’", "'")
    if low.endswith("'s"):
        low = low[:-2]
    return str(_stemmer.stemWord(low))
