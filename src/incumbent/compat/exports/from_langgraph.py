"""What LangGraph exports: items of a store, and the messages of threads."""

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
    short_name,
    words_of,
)
from incumbent.model.errors import InvalidInput
from incumbent.model.fact import Source

_SPEAKERS = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_TEXTS = ("text", "content", "memory", "data", "fact", "value")


def read(
    place: str, record: Any, around: Surroundings, user_part: int | None = None
) -> Iterator[Thing]:
    """The items and turns of a record; `user_part` says which part of a namespace names the user,
    from 1."""
    if isinstance(record, list):
        for at, one in items_of(place, record):
            yield from read(at, one, around, user_part)
    elif not isinstance(record, Mapping):
        raise InvalidInput("it is no object; an item has 'namespace', 'key' and 'value'")
    elif "namespace" in record and "key" in record:
        yield _item(place, record, around, user_part)
    elif isinstance(record.get("items"), list):
        yield from read(place, record["items"], around, user_part)
    elif (messages := _messages(record)) is not None:
        inside = _thread(record, around)
        for at, message in items_of(place, messages):
            yield from _turn(at, message, inside)
    elif "type" in record or "role" in record:
        yield from _turn(place, record, around)
    else:
        raise InvalidInput(
            "it is no item of a store ('namespace', 'key', 'value'), no state with 'messages' and "
            f"no message; it has {sorted(map(str, record))}"
        )


def _item(
    place: str, item: Mapping[str, Any], around: Surroundings, user_part: int | None
) -> ForeignFact:
    space = item["namespace"]
    parts = space.split(".") if isinstance(space, str) else space
    if not isinstance(parts, list | tuple) or not all(isinstance(one, str) for one in parts):
        raise InvalidInput(f"its namespace must be a list of names, not {space!r:.80}")
    if item.get("value") is None:
        raise InvalidInput("it has no 'value'; an item of a store has one")
    user, about = around.user, list(parts)
    if user_part is not None:
        if not 0 < user_part <= len(parts):
            raise InvalidInput(f"its namespace {list(parts)} has no part {user_part}")
        user = about.pop(user_part - 1)
    key = str(item["key"])
    origin = f"langgraph:{'.'.join(parts)}:{key}"
    return ForeignFact(
        place=place,
        id=origin if len(origin) <= 400 else f"langgraph:{short_name(origin)}",
        user=user,
        key=key,
        value=_plain(item["value"]),
        source=Source(name="langgraph", ref=origin[:500]),
        subject=".".join(about) or None,
        at=moment_of(first_of(item, "updated_at", "created_at")),
        valid_until=moment_of(first_of(item, "expires_at")),
    )


def _plain(value: Any) -> Any:
    """The text of an item that is nothing but a text; anything else as it is."""
    while isinstance(value, Mapping) and len(fields := set(value) - {"kind", "type"}) == 1:
        name = next(iter(fields))
        if name not in _TEXTS or not isinstance(value[name], str | Mapping):
            break
        value = value[name]
    return dict(value) if isinstance(value, Mapping) else value


def _messages(record: Mapping[str, Any]) -> list[Any] | None:
    for name in ("values", "channel_values"):
        if isinstance(record.get(name), Mapping):
            record = record[name]
            break
    found = record.get("messages")
    return found if isinstance(found, list) else None


def _thread(record: Mapping[str, Any], around: Surroundings) -> Surroundings:
    places = [record]
    for name in ("config", "checkpoint", "metadata"):
        one = record.get(name)
        if isinstance(one, Mapping):
            inner = one.get("configurable")
            places += [one, inner] if isinstance(inner, Mapping) else [one]
    found = {
        name: next((first_of(one, *names) for one in places if first_of(one, *names)), None)
        for name, names in (("user", ("user_id", "langgraph_user_id")), ("thread", ("thread_id",)))
    }
    at = moment_of(first_of(record, "created_at", "ts"))
    return around.within(found["user"], found["thread"], at)


def _turn(place: str, message: Any, around: Surroundings) -> Iterator[Thing]:
    if not isinstance(message, Mapping):
        raise InvalidInput("a message must be an object with 'type' and 'content'")
    inner = message.get("data", message)
    if not isinstance(inner, Mapping):
        raise InvalidInput("the data of a message must be an object")
    kind = str(first_of(message, "type", "role") or first_of(inner, "type", "role") or "").lower()
    speaker = _SPEAKERS.get(kind)
    if speaker is None:
        yield NotTaken(place, f"a message of the kind {kind!r}")
        return
    text = words_of(inner.get("content"))
    if not text:
        return  # a model that called a tool said nothing
    thread = around.session_id or "messages"
    own_id = first_of(inner, "id") or short_name(f"{place} {text}")
    yield ForeignTurn(
        place=place,
        ref=f"langgraph:{thread}:{own_id}"[:500],
        user=around.user,
        session_id=f"langgraph:{thread}"[:500],
        speaker=speaker,
        text=text,
        at=moment_of(first_of(inner, "created_at", "timestamp")) or around.at,
    )
