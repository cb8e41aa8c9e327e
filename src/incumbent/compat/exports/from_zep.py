"""What Zep exports: edges of a graph (Zep Cloud, Graphiti), and facts and messages of sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from incumbent.compat.exports.things import (
    ForeignFact,
    ForeignTurn,
    NotTaken,
    Surroundings,
    Thing,
    first_of,
    items_of,
    moment_of,
    named,
    short_name,
    told_by_machine,
    words_of,
)
from incumbent.model.errors import InvalidInput

_LISTS = ("items", "edges", "facts", "relevant_facts", "messages", "results", "sessions", "threads")
_NOT_TAKEN = ("nodes", "episodes", "hyperedges", "communities", "summary", "summaries")
_USERS = ("user_id", "user_uuid", "group_id")
_SESSIONS = ("session_id", "thread_id", "thread_uuid")
_FRAME = ("system", "developer")


def read(place: str, record: Any, around: Surroundings) -> Iterator[Thing]:
    """The facts and turns of a record: an edge, a fact, a message, or a document of them."""
    if isinstance(record, list):
        for at, one in items_of(place, record):
            yield from read(at, one, around)
        return
    lists = _lists(record)
    if not lists:
        yield from _one(place, record, around)
        return
    inside = around.within(first_of(record, *_USERS), first_of(record, *_SESSIONS))
    for name in _NOT_TAKEN:
        if record.get(name):
            count = len(record[name]) if isinstance(record[name], list) else 1
            yield NotTaken(place, f"{count} of {name!r}")
    for name, several in lists:
        at = name if place == "the document" else f"{place}, {name}"
        for where, one in items_of(at, several):
            yield from read(where, one, inside)


def _lists(record: Any) -> list[tuple[str, list[Any]]]:
    if not isinstance(record, Mapping) or "fact" in record or "content" in record:
        return []
    return [(name, record[name]) for name in _LISTS if isinstance(record.get(name), list)]


def _one(place: str, record: Any, around: Surroundings) -> Iterator[Thing]:
    if isinstance(record, str) and record.strip():
        yield _fact(place, {"fact": record}, around)  # older sessions list their facts as texts
        return
    found = named(record, ("fact", "content"), "a fact or a message of Zep")
    if first_of(found, "fact") is not None:
        yield _fact(place, found, around)
    elif first_of(found, "role", "role_type") is not None:
        yield from _turn(place, found, around)
    else:
        yield NotTaken(place, "an episode that nobody said")


def _fact(place: str, edge: Mapping[str, Any], around: Surroundings) -> ForeignFact:
    text = edge["fact"]
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(f"the text of a fact must be a string, not {type(text).__name__}")
    user = first_of(edge, *_USERS) or around.user
    begins = moment_of(first_of(edge, "valid_at"))
    ends = moment_of(first_of(edge, "invalid_at", "expired_at"))
    if begins is not None and ends is not None and ends <= begins:
        raise InvalidInput(f"it ends ({ends.isoformat()}) before it begins ({begins.isoformat()})")
    own_id = str(first_of(edge, "uuid", "uuid_") or f"zep.{short_name(f'{user} {text}')}")
    relation = str(first_of(edge, "name") or "fact").strip().lower()[:80]
    return ForeignFact(
        place=place,
        id=own_id,
        user=str(user) if user else None,
        key=f"{relation}.{short_name(own_id)}",
        value=text.strip(),
        source=told_by_machine("zep", own_id),
        # What was learned after it had ended is said at the time that it was so.
        at=begins if ends is not None and begins is not None else _said_at(edge, begins, ends),
        valid_from=begins,
        valid_until=ends,
    )


def _said_at(edge: Mapping[str, Any], begins: Any, ends: Any) -> Any:
    at = moment_of(first_of(edge, "created_at")) or begins
    return None if at is not None and ends is not None and at >= ends else at


def _turn(place: str, message: Mapping[str, Any], around: Surroundings) -> Iterator[Thing]:
    # Zep Cloud has the kind of speaker in `role`; before, `role` was a name beside `role_type`.
    kind = str(first_of(message, "role_type", "role")).lower()
    if kind in _FRAME:
        yield NotTaken(place, "a message of the application itself")
        return
    text = words_of(message.get("content"))
    session_id = first_of(message, *_SESSIONS) or around.session_id
    if not text:
        return
    own_id = first_of(message, "uuid", "uuid_") or short_name(f"{session_id} {place} {text}")
    user = first_of(message, *_USERS) or around.user
    yield ForeignTurn(
        place=place,
        ref=f"zep:{own_id}",
        user=str(user) if user else None,
        session_id=f"zep:{session_id or 'messages'}",
        speaker=kind if kind in ("assistant", "tool", "function") else "user",
        text=text,
        at=moment_of(first_of(message, "reference_time", "created_at")),
    )
