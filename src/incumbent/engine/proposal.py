"""Proposals: the requests of callers to write, checked before anything is looked up."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from incumbent.model.errors import InvalidInput
from incumbent.model.fact import SOURCE_TYPES, UNNAMED, MemoryType, Part, Said, Source
from incumbent.model.identity import check_list, check_name, check_optional, check_permissions
from incumbent.model.ids import ALIAS
from incumbent.model.scope import Scope
from incumbent.model.times import moment
from incumbent.model.values import canonical, check_text
from incumbent.settings import Settings

_STATED = Source()
_SCOPES: dict[str, Scope] = {scope.value: scope for scope in Scope}
_HIGHEST_INDEX = 1 << 53
_MOST_BYTES = 6  # of one character in JSON, \\u001f
CONSTRAINT_TYPES = ("budget", "deadline", "capacity", "policy")


@dataclass(slots=True, kw_only=True)
class Proposal:
    """A candidate in the caller's words. Every field has passed its check; none is changed after.

    It is not frozen only because building frozen values takes twice as long, and each write builds
    one.
    """

    key: str
    """UNNAMED for what is kept as it was said."""
    value: Any
    subject: str | None = None
    supersedes: str | None = None
    scope: Scope = Scope.GLOBAL
    scope_id: str | None = None
    depends_on: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    """Facts that it puts in doubt, by id or key. Those that it may not are dropped, and so are
    those that are not there where it was spoken."""
    when_superseded: str | None = None
    source: Source = _STATED
    authority: str | None = None
    memory_type: MemoryType | None = None
    is_constraint: bool | None = None
    constraint_type: str | None = None
    requires: tuple[str, ...] = ()
    min_authority: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    at: datetime | None = None
    id: str | None = None
    confidence: float = 1.0
    multi_valued: bool = False
    """Whether it stands beside others at its address, whatever was declared."""
    spoken: bool = False
    """Whether it was read off a turn of conversation. Then a statement that its speaker may not
    make for others is kept as the speaker's own, and one at a reserved key is kept as overruled."""

    asks_first: bool = False
    """Whether it waits until its author approves it."""

    @property
    def refers_to_others(self) -> bool:
        return bool(self.supersedes or self.depends_on or self.doubts or self.when_superseded)

    def may_be_late(self, now: datetime) -> bool:
        """Whether it tells of the past, where facts that have left office count too."""
        if self.at is not None and self.at < now:
            return True
        return self.valid_from is not None and self.valid_from < now


def propose(
    settings: Settings,
    key: str,
    value: Any,
    *,
    subject: str | None = None,
    supersedes: str | None = None,
    scope: str = "global",
    scope_id: str | None = None,
    depends_on: Iterable[str] = (),
    doubts: Iterable[str] = (),
    when_superseded: str | None = None,
    source: str | Source | None = None,
    authority: str | None = None,
    memory_type: str | None = None,
    is_constraint: bool | None = None,
    constraint_type: str | None = None,
    requires: Iterable[str] = (),
    min_authority: str | None = None,
    valid_from: datetime | None = None,
    valid_until: datetime | None = None,
    at: datetime | None = None,
    id: str | None = None,
    confidence: float = 1.0,
) -> Proposal:
    """Check the arguments of a caller; raises InvalidInput that names the argument and the fix."""
    if type(value) is str and len(value) <= settings.max_value_bytes // _MOST_BYTES - 1:
        check_text(value, "value")  # of any length in bytes that it can have
    else:
        text = canonical(value, limit=settings.max_value_bytes)
        if isinstance(value, list | dict):
            value = json.loads(text)  # a copy, so that what the caller does with theirs is theirs
    if at is not None:
        at = moment(at, "at")
    if valid_from is not None:
        valid_from = moment(valid_from, "valid_from")
    if valid_until is not None:
        valid_until = moment(valid_until, "valid_until")
        if valid_from is not None and valid_until <= valid_from:
            raise InvalidInput(
                f"valid_until ({valid_until.isoformat()}) must come after "
                f"valid_from ({valid_from.isoformat()})"
            )
    if supersedes is not None and when_superseded is not None:
        raise InvalidInput(
            "a contingent fact takes over its own address when its time comes; "
            "leave out supersedes, or when_superseded"
        )
    if not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise InvalidInput(f"confidence must be between 0 and 1, not {confidence!r}")
    # What corrects a fact without a name has none either, and stands beside all others like it.
    unnamed = key == UNNAMED and supersedes is not None
    return Proposal(
        key=UNNAMED if unnamed else check_key(key, settings),
        value=value,
        subject=None if subject is None else check_name(subject, "subject"),
        supersedes=None if supersedes is None else check_name(supersedes, "supersedes"),
        scope=check_scope(scope),
        scope_id=None if scope_id is None else check_name(scope_id, "scope_id"),
        depends_on=_references(depends_on, "depends_on") if depends_on != () else (),
        doubts=_references(doubts, "doubts") if doubts != () else (),
        when_superseded=check_optional(when_superseded, "when_superseded"),
        source=_STATED if source is None else _source(source),
        authority=authority,
        memory_type=None if memory_type is None else _memory_type(memory_type),
        is_constraint=is_constraint,
        constraint_type=None if constraint_type is None else _constraint_type(constraint_type),
        requires=check_permissions(requires, "requires") if requires != () else (),
        min_authority=min_authority,
        valid_from=valid_from,
        valid_until=valid_until,
        at=at,
        id=None if id is None else _id(id),
        confidence=float(confidence),
        multi_valued=unnamed,
    )


def _id(chosen: str) -> str:
    if ALIAS in check_name(chosen, "id"):
        raise InvalidInput(f"id {chosen!r:.80} contains {ALIAS!r}, which ids of ours are made with")
    return chosen


def check_key(key: object, settings: Settings) -> str:
    """A key: a non-empty, trimmed string of limited length."""
    if not isinstance(key, str):
        raise InvalidInput(f"key must be a string, not {type(key).__name__} ({key!r:.80})")
    if not key or key.isspace():
        raise InvalidInput("key is empty; name what the value is, for example 'order_status'")
    if key != key.strip():
        raise InvalidInput(f"key {key!r} begins or ends with a space; trim it")
    if len(key) > settings.max_key_length:
        raise InvalidInput(
            f"key is {len(key):,} characters long and the limit is {settings.max_key_length}; "
            f"shorten it, or raise Settings.max_key_length (it begins {key[:40]!r})"
        )
    return check_text(key, "key")


def check_scope(scope: str) -> Scope:
    if type(scope) is Scope:
        return scope
    if type(scope) is str and scope in _SCOPES:
        return _SCOPES[scope]
    try:
        return Scope(scope)
    except ValueError:
        raise InvalidInput(f"scope {scope!r} is not one of {', '.join(Scope)}") from None


def _references(references: Iterable[str], argument: str) -> tuple[str, ...]:
    named = check_list(references, argument)
    return tuple(dict.fromkeys(check_name(one, argument) for one in named))


def check_reason(reason: str | None) -> str | None:
    """A reason: free text that every store can carry, or None."""
    if reason is None:
        return None
    if not isinstance(reason, str):
        raise InvalidInput(f"reason must be a string, not {type(reason).__name__} ({reason!r:.80})")
    return check_text(reason, "reason")


def _source(source: str | Source) -> Source:
    """A source given by name: one of the types, or the name of a system or kind of statement."""
    if isinstance(source, Source):
        return _checked_source(source)
    name = check_name(source, "source")
    for kind in SOURCE_TYPES:
        if name == kind:
            return Source(type=kind)
    if name.lower().replace(" ", "_").endswith("_system"):
        return Source(type="system", name=name)
    return Source(name=name)


def _checked_source(source: Source) -> Source:
    for field in fields(source):
        value = getattr(source, field.name)
        if field.name.endswith("_index"):
            if not (value is None or _is_index(value)):
                raise InvalidInput(
                    f"source.{field.name} must be a whole number up to {_HIGHEST_INDEX - 1}"
                )
        elif field.name == "quote":
            check_reason(value)
        elif field.name in ("composed", "by_machine"):
            if not isinstance(value, bool):
                raise InvalidInput(f"source.{field.name} must be true or false, not {value!r:.40}")
        elif field.name in _OF_TEXT:
            _check_of_text(field.name, value)
        elif value is not None:
            check_name(value, f"source.{field.name}")
    return source


_OF_TEXT = {"span": int, "parts": Part, "earlier": Said, "inferred": str, "becomes": str}


def _check_of_text(name: str, value: object) -> None:
    """Check the details of a fact from text: spans, and tuples of plain values."""
    if value is None and name == "span":
        return
    kind = _OF_TEXT[name]
    if not isinstance(value, tuple) or not all(isinstance(item, kind) for item in value):
        raise InvalidInput(f"source.{name} must be a tuple of {kind.__name__}")
    if name == "span" and not (len(value) == 2 and all(map(_is_index, value))):
        raise InvalidInput("source.span must be two whole numbers: a start and an end")
    for item in value:
        for part in item if isinstance(item, tuple) else (item,):
            if isinstance(part, str):
                check_text(part, f"source.{name}")
            elif part is not None and not _is_index(part):
                raise InvalidInput(f"source.{name} holds {part!r:.40}, which cannot be stored")


def _is_index(value: object) -> bool:
    return type(value) is int and 0 <= value < _HIGHEST_INDEX


def _memory_type(memory_type: str) -> MemoryType:
    try:
        return MemoryType(memory_type)
    except ValueError:
        raise InvalidInput(
            f"memory_type {memory_type!r} is not one of {', '.join(MemoryType)}"
        ) from None


def _constraint_type(constraint_type: str) -> str:
    if constraint_type not in CONSTRAINT_TYPES:
        raise InvalidInput(
            f"constraint_type {constraint_type!r} is not one of {', '.join(CONSTRAINT_TYPES)}"
        )
    return constraint_type
