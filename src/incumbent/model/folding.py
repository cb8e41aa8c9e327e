"""Letter case: texts as they are compared where it does not matter."""

from __future__ import annotations

from collections.abc import Mapping

_FINAL_SIGMA = "ς"
# What `lower` makes of these is not undone by `upper`.
_FURTHER: Mapping[str, str] = {
    "i": "İ",
    "k": "\u212a",
    "å": "\u212b",
    "ß": "ẞ",
    "θ": "ϴ",
    "σ": _FINAL_SIGMA,
    "ω": "\u2126",
}


def folded(text: str) -> str:
    """A text in small letters, with one form of sigma."""
    return text.lower().replace(_FINAL_SIGMA, "σ")


def cases_of(letter: str) -> str:
    """Every character that `folded` turns into this one of a folded text, itself included."""
    others = {letter.upper(), letter.title(), *_FURTHER.get(letter, "")}
    return letter + "".join(sorted(one for one in others - {letter} if len(one) == 1))
