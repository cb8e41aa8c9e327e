"""Reading: from a model's answer, whatever it is, to candidates in a known form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from tenure.language.llm.asking import Trouble
from tenure.model.scope import Scope

_MOST = 100
"""Proposals of one answer that are looked at."""
_LONGEST = {"quote": 4_000, "about": 200, "attribute": 200, "value": 2_000, "old": 2_000}


class Commitment(StrEnum):
    """How a speaker stands to what they say, as the model reads it."""

    STATED = "stated"
    REQUESTED = "requested"
    COMMITTED = "committed"
    CONSIDERING = "considering"
    HYPOTHETICAL = "hypothetical"
    REPORTED = "reported"
    QUESTION = "question"
    RETRACTED = "retracted"
    NONE = "none"


class Replaced(NamedTuple):
    """A fact that a candidate replaces, by the name it was shown under, and which words of it."""

    handle: str
    old: str


@dataclass(frozen=True)
class Candidate:
    """What a model proposes."""

    turn: int
    quote: str
    about: str
    attribute: str
    value: str
    commitment: Commitment
    scope: Scope
    replaces: tuple[Replaced, ...]
    confidence: float


@dataclass(frozen=True)
class Objection:
    """A fact that a model says is still true."""

    turn: int
    quote: str
    handle: str


@dataclass(frozen=True)
class Proposals:
    """An answer, read."""

    candidates: tuple[Candidate, ...] = ()
    objections: tuple[Objection, ...] = ()
    unreadable: tuple[str, ...] = field(default=())
    """Why each of the rest could not be read."""


class _Unreadable(ValueError):
    """A proposal is not in the form that was asked for."""


def read(content: Any) -> Proposals:
    """The proposals of an answer; raises Trouble where nothing of it is in the form asked for."""
    if not isinstance(content, Mapping):
        raise _malformed()
    candidates, bad = _each(content, "candidates", _candidate)
    objections, worse = _each(content, "objections", _objection)
    unreadable = (*bad, *worse)
    if unreadable and not candidates and not objections:
        raise _malformed()
    return Proposals(tuple(candidates), tuple(objections), unreadable)


def _malformed() -> Trouble:
    return Trouble("malformed", "the answer was not in the form that was asked for", may_pass=True)


def _each(
    content: Mapping[str, Any], name: str, form: Callable[[Mapping[str, Any]], Any]
) -> tuple[list[Any], list[str]]:
    given = content.get(name)
    if not isinstance(given, list):
        raise _malformed()
    found, unreadable = [], []
    for item in given[:_MOST]:
        try:
            if not isinstance(item, Mapping):
                raise _Unreadable(f"one of the {name} is no object")
            found.append(form(item))
        except _Unreadable as error:
            unreadable.append(f"not in the form asked for: {error}")
    unreadable.extend(f"more than {_MOST} {name}" for _ in given[_MOST:])
    return found, unreadable


def _candidate(item: Mapping[str, Any]) -> Candidate:
    replaced = item.get("replaces", [])
    if not isinstance(replaced, list) or not all(isinstance(one, Mapping) for one in replaced):
        raise _Unreadable("replaces is no list of objects")
    try:
        commitment, scope = Commitment(_text(item, "commitment")), Scope(_text(item, "scope"))
    except ValueError as error:
        raise _Unreadable(str(error)) from None
    return Candidate(
        _turn(item),
        _text(item, "quote"),
        _text(item, "about").strip(),
        _text(item, "attribute").strip(),
        _text(item, "value").strip(),
        commitment,
        scope,
        tuple(Replaced(_text(one, "fact"), _text(one, "old").strip()) for one in replaced),
        _share(item),
    )


def _objection(item: Mapping[str, Any]) -> Objection:
    return Objection(_turn(item), _text(item, "quote"), _text(item, "fact"))


def _turn(item: Mapping[str, Any]) -> int:
    turn = item.get("turn")
    if type(turn) is not int:
        raise _Unreadable("turn is no whole number")
    return turn


def _text(item: Mapping[str, Any], name: str) -> str:
    text = item.get(name)
    if not isinstance(text, str):
        raise _Unreadable(f"{name} is no text")
    if len(text) > _LONGEST.get(name, 200):
        raise _Unreadable(f"{name} is too long")
    return text


def _share(item: Mapping[str, Any]) -> float:
    given = item.get("confidence")
    if isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given <= 1:
        return float(given)  # not-a-number is no share either
    raise _Unreadable("confidence is not between 0 and 1")
