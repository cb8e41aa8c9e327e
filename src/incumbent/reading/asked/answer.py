"""Answers: from what a model answered, whatever it is, to entries in a known form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from incumbent.model.errors import InvalidInput
from incumbent.model.values import check_text
from incumbent.reading.asked.asking import malformed
from incumbent.reading.form import RelationKind

_MOST: Final = 100
"""Entries of one answer that are looked at."""
_MOST_RELATIONS: Final = 20
_LONGEST: Final = {"says": 400, "value": 400, "old": 400, "new": 400}
_LONGEST_NAME: Final = 80
_KINDS: Final = {one.value: one for one in RelationKind if one is not RelationKind.LATER}


@dataclass(frozen=True)
class Link:
    """What a sentence does to a fact or a sentence, by the name that was shown."""

    to: str
    kind: RelationKind
    old: str = ""
    new: str = ""
    is_sure: bool = True


@dataclass(frozen=True)
class Entry:
    """What a model says of one sentence."""

    sentence: str
    says: str = ""
    about: str = ""
    attribute: str = ""
    value: str = ""
    begins: date | None = None
    ends: date | None = None
    does: tuple[Link, ...] = ()


@dataclass(frozen=True)
class Answered:
    """An answer, read."""

    entries: tuple[Entry, ...] = ()
    unreadable: tuple[str, ...] = field(default=())
    """Why each of the rest could not be read."""


def read(content: Any) -> Answered:
    """The entries of an answer; raises Trouble where nothing of it is in the form asked for."""
    given = content.get("statements") if isinstance(content, Mapping) else None
    if not isinstance(given, list):
        raise malformed()
    entries: list[Entry] = []
    unreadable: list[str] = []
    for item in given[:_MOST]:
        try:
            entries.append(_entry(item))
        except InvalidInput as error:
            unreadable.append(f"not in the form asked for: {error}")
    unreadable += [f"more than {_MOST} statements"] * len(given[_MOST:])
    if unreadable and not entries:
        raise malformed()
    return Answered(tuple(entries), tuple(unreadable))


def _entry(item: Any) -> Entry:
    if not isinstance(item, Mapping):
        raise InvalidInput("a statement is no object")
    links = item.get("does", [])
    if not isinstance(links, list) or len(links) > _MOST_RELATIONS:
        raise InvalidInput("does is no list, or a very long one")
    sentence = _text(item, "s")
    if not sentence:
        raise InvalidInput("s is missing")
    return Entry(
        sentence,
        _text(item, "says"),
        _text(item, "about"),
        _text(item, "attribute"),
        _text(item, "value"),
        _day(item, "from"),
        _day(item, "until"),
        tuple(_link(one) for one in links),
    )


def _link(item: Any) -> Link:
    if not isinstance(item, Mapping):
        raise InvalidInput("what a statement does is no object")
    kind = _KINDS.get(_text(item, "is"))
    if kind is None:
        raise InvalidInput("what a statement does is none of the words for it")
    is_sure = item.get("sure", False)
    if not isinstance(is_sure, bool):
        raise InvalidInput("sure is neither true nor false")
    return Link(_text(item, "to"), kind, _text(item, "old"), _text(item, "new"), is_sure)


def _text(item: Mapping[str, Any], name: str) -> str:
    text = item.get(name, "")
    if not isinstance(text, str):
        raise InvalidInput(f"{name} is no text")
    if len(text) > _LONGEST.get(name, _LONGEST_NAME):
        raise InvalidInput(f"{name} is too long")
    return str(check_text(text, name)).strip() if text else ""


def _day(item: Mapping[str, Any], name: str) -> date | None:
    given = _text(item, name)
    try:
        return date.fromisoformat(given) if given else None
    except ValueError:
        raise InvalidInput(f"{name} is no day") from None
