"""The sections of a context that say nothing of what holds, and its live part."""

from __future__ import annotations

import re

_HEADING = "# "
NO_STATE = ("# Identity", "# Environment")
"""Who asks, and what time it is."""
DOUBTED = ("# Possibly outdated",)
"""What probably no longer holds."""
IN_DOUBT = (*DOUBTED, "# To recalculate")
"""The same, and what rests on something that has changed."""
OURS = ("# Not known", "# To recalculate")
"""Told in our own words, which nobody takes for somebody's."""
_DAY = r"\d{4}-\d\d-\d\d"
_OUR_DAYS = re.compile(rf"^(?P<mark>- (?:\[[^\]]*\] )?){_DAY}|(?<=\(said ){_DAY}")


def undated(line: str) -> str:
    """A line without the day that we put before what was said, or after a value.

    Nobody said that day, and its digits are no values: "2026-03-10" does not say "10".
    """
    return _OUR_DAYS.sub(lambda found: found["mark"] or "", line)


def live_part(text: str) -> str:
    """What a context says as something that holds, without the days that it was said on."""
    kept = []
    is_live = True
    for line in text.splitlines():
        if line.startswith(_HEADING):
            is_live = not line.startswith((*NO_STATE, *DOUBTED))
        elif is_live:
            kept.append(undated(line))
    return "\n".join(kept)
