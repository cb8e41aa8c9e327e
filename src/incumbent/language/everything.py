"""Whether words ask for all that is kept of their speaker to be gone: "erase all my data".

Such a request is told by what it does not name: it has a word for making things go, one for all or
for data, one for the speaker, and nothing but these and what goes with them. "Delete everything
about my mother" names somebody, and is another request.
"""

from __future__ import annotations

import re
from functools import lru_cache

from incumbent.language.lexicon import DEFAULT_LANGUAGE, data, word_set

_LONGEST = 400
_BETWEEN = re.compile(r"[.!?,;:\n]+|\s[-–—]+\s")
_WORD = re.compile(r"[^\W_]+(?:['’](?!(?:m|d|ve)\b)[^\W_]+)*|['’](?:m|d|ve)\b")


class _Words:
    def __init__(self, language: str) -> None:
        told = data("voice", language)["everything"]
        self.verbs = word_set(told["verbs"])
        self.all = word_set(told["all"])
        self.own = word_set(told["own"])
        self.what = word_set(told["what"])
        self.done = word_set(told["done"])
        besides = word_set(told["besides"])
        self.known = self.verbs | self.all | self.own | self.what | besides


@lru_cache(maxsize=8)
def _words(language: str) -> _Words:
    return _Words(language)


def asks_for_everything(text: str, language: str = DEFAULT_LANGUAGE) -> bool:
    """Whether a statement asks for all that is kept of its speaker to be gone."""
    return any(_asks(clause, _words(language)) for clause in _clauses(text[:_LONGEST]))


def _clauses(text: str) -> list[str]:
    """A statement, and its clauses by themselves."""
    return [text, *_BETWEEN.split(text)]


def _asks(clause: str, known: _Words) -> bool:
    words = [word.group().lower().replace("’", "'") for word in _WORD.finditer(clause)]
    if not words or not known.known.issuperset(words) or known.own.isdisjoint(words):
        return False
    # "I have deleted my data" tells of something else, and asks for nothing.
    found = [
        index
        for index, word in enumerate(words)
        if word in known.verbs and words[max(0, index - 1)] not in known.done
    ]
    if not found:
        return False
    # "Forget me" names nothing else to forget.
    alone = words[found[0] + 1 :] in (["me"], ["about", "me"], ["me", "please"])
    return alone or not (known.all | known.what).isdisjoint(words)
