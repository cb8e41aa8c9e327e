"""The sections of a context that say nothing of what holds, and its live part."""

from __future__ import annotations

_HEADING = "# "
NO_STATE = ("# Identity", "# Environment")
"""Who asks, and what time it is."""
DOUBTED = ("# Possibly outdated",)
"""What probably no longer holds."""
IN_DOUBT = (*DOUBTED, "# To recalculate")
"""The same, and what rests on something that has changed."""


def live_part(text: str) -> str:
    """What a context says as something that holds."""
    kept = []
    is_live = True
    for line in text.splitlines():
        if line.startswith(_HEADING):
            is_live = not line.startswith((*NO_STATE, *DOUBTED))
        elif is_live:
            kept.append(line)
    return "\n".join(kept)
