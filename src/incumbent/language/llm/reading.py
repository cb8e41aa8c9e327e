"""Reading: from a model's answer, whatever it is, to proposals in a known form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, NamedTuple

from incumbent.language.llm.asking import Trouble
from incumbent.model.scope import Scope

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


class Becomes(StrEnum):
    """What becomes of a fact that a model was shown."""

    REPLACED = "replaced"
    """Something else holds in its place."""
    PART = "part"
    """Some of its words no longer hold; the rest does."""
    ENDED = "ended"
    """It is over, and nothing takes its place."""
    DOUBTFUL = "doubtful"
    HOLDS = "holds"
    """It was replaced or put in doubt by mistake."""
    NO_FACT = "no_fact"
    """It should not have been kept: an order, chat, or what is on record already."""


@dataclass(frozen=True)
class Keep:
    """A stretch of a turn that a model would keep as it was said."""

    turn: int
    quote: str


@dataclass(frozen=True)
class Fate:
    """What a turn does to a fact that was shown, as a model reads both."""

    turn: int
    quote: str
    handle: str
    becomes: Becomes
    old: str
    """The words of the fact that no longer hold, where some of it does."""
    since: date | None = None
    """The day from which that is so, where it is still to come."""


@dataclass(frozen=True)
class Proposals:
    """An answer, read."""

    candidates: tuple[Candidate, ...] = ()
    objections: tuple[Objection, ...] = ()
    keeps: tuple[Keep, ...] = ()
    fates: tuple[Fate, ...] = ()
    unreadable: tuple[str, ...] = field(default=())
    """Why each of the rest could not be read."""


class _Unreadable(ValueError):
    """A proposal is not in the form that was asked for."""


def read(content: Any) -> Proposals:
    """The proposals of an answer; raises Trouble where nothing of it is in the form asked for.

    A list that is left out has nothing in it.
    """
    if not isinstance(content, Mapping) or not any(name in content for name in _FORMS):
        raise _malformed()
    found: dict[str, tuple[Any, ...]] = {}
    unreadable: list[str] = []
    for name, form in _FORMS.items():
        found[name], bad = _each(content.get(name, []), name, form)
        unreadable += bad
    if unreadable and not any(found.values()):
        raise _malformed()
    return Proposals(**found, unreadable=tuple(unreadable))


def _malformed() -> Trouble:
    return Trouble("malformed", "the answer was not in the form that was asked for", may_pass=True)


def _each(
    given: Any, name: str, form: Callable[[Mapping[str, Any]], Any]
) -> tuple[tuple[Any, ...], list[str]]:
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
    return tuple(found), unreadable


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


def _keep(item: Mapping[str, Any]) -> Keep:
    return Keep(_turn(item), _text(item, "quote"))


def _fate(item: Mapping[str, Any]) -> Fate:
    try:
        becomes = Becomes(_text(item, "becomes"))
    except ValueError as error:
        raise _Unreadable(str(error)) from None
    old = _text(item, "old").strip() if "old" in item else ""
    since = _day(item, "from")
    return Fate(_turn(item), _text(item, "quote"), _text(item, "fact"), becomes, old, since)


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


def _day(item: Mapping[str, Any], name: str) -> date | None:
    given = _text(item, name).strip() if name in item else ""
    try:
        return date.fromisoformat(given) if given else None
    except ValueError:
        raise _Unreadable(f"{name} is no date") from None


def _share(item: Mapping[str, Any]) -> float:
    given = item.get("confidence")
    if isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given <= 1:
        return float(given)  # not-a-number is no share either
    raise _Unreadable("confidence is not between 0 and 1")


_FORMS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "candidates": _candidate,
    "objections": _objection,
    "keeps": _keep,
    "fates": _fate,
}
"""The lists of an answer."""
