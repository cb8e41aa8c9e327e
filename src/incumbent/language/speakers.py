"""Speakers: whether a name is a person's, or says of itself that it is a machine's.

What a machine says is context and nobody's word. A name is compared as it looks: without case,
without what cannot be seen, and with letters of other alphabets as those they look like, so that
nobody gets the word of a person for a machine by spelling it in another way.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from incumbent.language.lexicon import DEFAULT_LANGUAGE, data
from incumbent.model.text_cache import remembering

_LONGEST = 80
_OWN = "user"
_UNSEEN = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""What shows nothing, although it counts as a letter or a sign."""
_VERSION = r"[a-z]?\d++(?:[a-z]{1,2}(?![a-z]))?"


class _Names:
    def __init__(self, language: str) -> None:
        told = data("speakers", language)
        machines, besides = told["machines"].split(), told["besides"].split()
        self.lookalikes = str.maketrans({pair[0]: pair[1] for pair in told["lookalikes"].split()})
        self.machine = re.compile("|".join(sorted(machines, key=len, reverse=True)))
        either = "|".join(sorted({*machines, *besides}, key=len, reverse=True))
        self.whole = re.compile(rf"(?:{either}|{_VERSION})+")


@lru_cache(maxsize=8)
def _names(language: str) -> _Names:
    return _Names(language)


def plain_name(name: str) -> str:
    """A name in lower case, in the usual forms of its letters, without what cannot be seen."""
    usual = unicodedata.normalize("NFKC", name)
    return " ".join("".join(filter(_is_seen, usual)).casefold().split())


@remembering(1_024)
def is_machine(name: str, language: str = DEFAULT_LANGUAGE) -> bool:
    """Whether a name says that whoever has it is no person: "assistant", "tool_result", "Claude".

    "Claude Monet" is somebody.
    """
    if len(name) > _LONGEST:
        return False
    names = _names(language)
    apart = unicodedata.normalize("NFKD", plain_name(name).translate(names.lookalikes))
    letters = "".join(filter(str.isalnum, apart)).translate(names.lookalikes)
    return bool(names.whole.fullmatch(letters) and names.machine.search(letters))


def as_heard(text: str, speaker: str | None) -> tuple[str, int]:
    """A text with the name of who says it before it, as the model hears it, and how far that moves
    the text. The person themselves needs no name."""
    if not speaker or speaker.casefold() == _OWN:
        return text, 0
    name = f"{speaker.partition(' (')[0]}: "
    return name + text, len(name)


def _is_seen(sign: str) -> bool:
    if sign in _UNSEEN:
        return False
    kind = unicodedata.category(sign)
    return kind != "Cf" and not (kind[0] == "M" and _is_selector(sign))


def _is_selector(sign: str) -> bool:
    """Whether it only chooses between forms of a sign, and has none itself."""
    return "\ufe00" <= sign <= "\ufe0f" or "\u180b" <= sign <= "\u180f" or sign >= "\U000e0100"
