"""Modes: what the proxy and the adapters, which stand between an agent and its model, do."""

from __future__ import annotations

from typing import Literal, get_args

from incumbent.model.errors import InvalidInput

Mode = Literal["both", "observe", "add"]
"""They observe what is said and add the context, or only the one or the other."""
MODES: tuple[Mode, ...] = get_args(Mode)


def check_mode(given: object, name: str = "mode") -> Mode:
    """A mode, checked."""
    if given not in MODES:
        raise InvalidInput(f"{name} {given!r:.80} is not one of {', '.join(MODES)}")
    return given
