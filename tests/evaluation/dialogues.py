"""Small dialogues of our own, in the shape that the runners read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def user(minute: int, text: str, **told: Any) -> dict[str, Any]:
    """A turn of the user, with what it adds and changes."""
    return {"speaker": "user", "text": text, "time": minute, "adds": [], "changes": [], **told}


def system(minute: int, text: str) -> dict[str, Any]:
    return {"speaker": "system", "text": text, "time": minute}


def added(slot: str, *ways: str) -> dict[str, Any]:
    return {"service": "Post", "slot": slot, "value": list(ways)}


def changed(slot: str, old: str, new: str) -> dict[str, Any]:
    """A change in the other shape: one string, no service."""
    return {"service": "Post", "slot": slot, "old": [old], "new": [new]}


MOVED = [
    user(0, "My address is 9 Mill Lane.", adds=[added("address", "9 Mill Lane", "Mill Lane")]),
    system(1, "Thank you, I have 9 Mill Lane."),
    user(2, "My birthday is May 3.", adds=[added("birthday_date", "May 3")]),
    system(3, "Noted."),
    user(
        4,
        "I moved to 4 Quay Street.",
        changes=[changed("address", "9 Mill Lane", "4 Quay Street")],
    ),
    system(5, "Anything else?"),
    user(6, "No, that is all."),
]
"""A person tells an address and a birthday, and later another address."""


def case(slot: str, right: str, wrong: str, events: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"own-1-Post-{slot}",
        "events": events,
        "query": f"What is the current {slot}?",
        "must_contain_any": [right],
        "must_not_contain": [wrong],
    }


ROWS = [
    case("address", "4 Quay Street", "9 Mill Lane", MOVED),
    case("birthday_date", "May 3", "June 8", MOVED),
    case("name", "Nobody Said", "May 3", [*MOVED, system(7, "Goodbye.")]),
]
"""The first two can be got right; nothing can make the third one right."""


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    """A file of JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path
