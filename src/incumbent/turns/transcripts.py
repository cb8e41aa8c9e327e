"""Transcripts: turns in the shapes in which people keep them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from incumbent.model.errors import InvalidInput

_NAMES = {
    "text": "text",
    "content": "text",
    "message": "text",
    "speaker": "speaker",
    "role": "speaker",
    "at": "at",
    "time": "at",
    "timestamp": "at",
    "created_at": "at",
    "ref": "ref",
    "id": "ref",
    "authority": "authority",
}


def turn_arguments(turn: Mapping[str, Any]) -> dict[str, Any]:
    """What `observe` takes, from a turn in one of the usual shapes."""
    if not isinstance(turn, Mapping):
        raise InvalidInput(
            f"a turn is a mapping such as {{'role': 'user', 'content': 'Hello'}}, "
            f"not {type(turn).__name__}"
        )
    found: dict[str, Any] = {}
    for name, value in turn.items():
        wanted = _NAMES.get(name)
        if wanted is not None and (value is not None or wanted == "text"):
            found.setdefault(wanted, value)
    if "text" not in found:
        raise InvalidInput(f"a turn needs 'text' or 'content'; this one has {sorted(turn)}")
    found["text"] = _text(found["text"])
    if "at" in found:
        found["at"] = _moment(found["at"])
    if "ref" in found:
        found["ref"] = str(found["ref"])
    return found


def _text(content: Any) -> str:
    """Text, also where it comes in parts, as chat interfaces give it."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""  # an assistant that called a tool said nothing
    if isinstance(content, list):
        return "\n".join(text for text in map(_part_text, content) if text)
    raise InvalidInput(f"the text of a turn must be a string, not {type(content).__name__}")


def _part_text(part: Any) -> str:
    """The text of one part of a content; "" for an image or anything else that is no text."""
    if isinstance(part, Mapping):
        part = part.get("text", "")
    if isinstance(part, Mapping):
        part = part.get("value", "")
    return part if isinstance(part, str) else ""


def _moment(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC)
        except (ValueError, OverflowError, OSError):
            raise InvalidInput(f"time {value!r} is no number of seconds since 1970") from None
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value.strip())
        except ValueError:
            raise InvalidInput(
                f"time {value!r} is not in ISO 8601, such as 2026-01-31T09:30:00+00:00"
            ) from None
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    raise InvalidInput(f"time must be ISO 8601 text or seconds, not {type(value).__name__}")
