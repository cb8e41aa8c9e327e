"""What an export of another memory is read into: facts, turns, and what is not taken over."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from incumbent.model.errors import InvalidInput
from incumbent.model.fact import Source
from incumbent.turns.transcripts import turn_arguments


@dataclass(frozen=True, kw_only=True)
class ForeignFact:
    """A fact of another memory, to be written at an address of its own."""

    place: str
    """Its place in the file: "line 3", "item 3"."""
    id: str
    """The id that it has there, which its fact gets, too."""
    user: str | None
    """Whose it is, if the export says so."""
    key: str
    value: Any
    source: Source
    subject: str | None = None
    at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    details: dict[str, Any] = field(default_factory=dict)
    """What mem0 keeps beside a text: agents, runs, metadata."""


@dataclass(frozen=True, kw_only=True)
class ForeignTurn:
    """A turn of a conversation that another memory kept, to be observed."""

    place: str
    ref: str
    user: str | None
    session_id: str
    speaker: str
    text: str
    at: datetime | None = None


@dataclass(frozen=True)
class NotTaken:
    """Something that has no counterpart here, and is counted instead of lost in silence."""

    place: str
    what: str


Thing = ForeignFact | ForeignTurn | NotTaken


@dataclass(frozen=True)
class Surroundings:
    """What the parts of a document have in common: whose they are, and which conversation."""

    user: str | None = None
    session_id: str | None = None
    at: datetime | None = None

    def within(
        self, user: Any = None, session_id: Any = None, at: datetime | None = None
    ) -> Surroundings:
        """The same with what a part of the document says itself."""
        return Surroundings(
            str(user) if user else self.user,
            str(session_id) if session_id else self.session_id,
            at or self.at,
        )


def told_by_machine(system: str, id: str) -> Source:
    """The source of a wording that a model put together from what was said."""
    return Source(
        type="conversation", name=system, ref=f"{system}:{id}", by_machine=True, composed=True
    )


def short_name(text: str) -> str:
    """A few letters that stand for an id in a key. They say nothing of what the fact says: a value
    may change under its key."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return base64.b32encode(digest[:5]).decode().lower()


def items_of(place: str, several: list[Any]) -> Iterator[tuple[str, Any]]:
    """The elements of a list in a record, each with its place."""
    before = "" if place == "the document" else f"{place}, "
    for number, one in enumerate(several, start=1):
        yield f"{before}item {number}", one


def first_of(record: Mapping[str, Any], *names: str) -> Any:
    """The first of these fields that says something."""
    return next((record[name] for name in names if record.get(name) not in (None, "")), None)


def moment_of(value: Any) -> datetime | None:
    """A time in an export, None if there is none. One without a zone is in UTC."""
    if value in (None, ""):
        return None
    at: datetime | None = turn_arguments({"text": "", "at": value}).get("at")
    return at


def words_of(content: Any) -> str:
    """The text of a message, also where it comes in parts."""
    text: str = turn_arguments({"content": content})["text"]
    return text.strip()


def named(record: Any, names: tuple[str, ...], what: str) -> Mapping[str, Any]:
    """A record with at least one of these fields; anything else is refused."""
    if not isinstance(record, Mapping):
        raise InvalidInput(f"it is {_kind(record)}, and {what} is an object")
    if first_of(record, *names) is None:
        told = " or ".join(map(repr, names))
        raise InvalidInput(f"it has no {told}; {what} has one. It has {sorted(map(str, record))}")
    return record


def _kind(value: Any) -> str:
    kinds = {list: "a list", str: "a text", type(None): "null", bool: "true or false"}
    return kinds.get(type(value), "a number")
