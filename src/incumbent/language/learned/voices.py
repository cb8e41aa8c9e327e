"""Voices: who speaks, as the model hears it. The person themselves needs no name."""

from __future__ import annotations

from typing import Final

_OWN: Final = "user"


def as_heard(text: str, speaker: str | None) -> tuple[str, int]:
    """A text with the name of who says it before it, and how far that moves the text."""
    if not speaker or speaker.casefold() == _OWN:
        return text, 0
    name = f"{speaker.partition(' (')[0]}: "
    return name + text, len(name)
