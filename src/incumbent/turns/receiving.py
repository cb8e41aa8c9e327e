"""Receiving: a turn as it comes in, with who says it, where and when; checked and not yet read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from incumbent.language.speakers import is_machine, plain_name
from incumbent.model.errors import InvalidInput
from incumbent.model.fact import Fact, Said
from incumbent.model.identity import check_name
from incumbent.model.scope import Place
from incumbent.model.times import moment
from incumbent.model.values import check_text
from incumbent.settings import Settings

_MOST_TURNS = 8
"""How many turns a statement that was corrected again and again names as its source."""


@dataclass(frozen=True)
class Speaker:
    """Who is speaking, and for whom."""

    name: str
    is_self: bool
    """Whether it is the person whose session it is."""
    authority: str | None = None


@dataclass(frozen=True)
class Circumstances:
    """Where and when a turn was said."""

    speaker: Speaker
    session_id: str
    task_id: str | None
    branch: Place | None
    turn_index: int
    ref: str | None
    at: datetime | None
    text: str = ""
    """The whole turn."""
    asks_first: bool = False
    """Whether what it says is kept only once its author approves it."""


def history_of(fact: Fact) -> tuple[Said, ...]:
    """The turns whose words a fact keeps, its own last."""
    source = fact.source
    if source.turn_index is None:
        return source.earlier
    start, end = source.span or (0, 0)
    said = Said(source.turn_index, source.speaker or "", source.ref, start, end)
    return (*source.earlier[1 - _MOST_TURNS :], said)


@dataclass(frozen=True)
class Received:
    """A turn as it came in, checked and not yet read."""

    text: str
    speaker: Speaker
    at: datetime | None
    ref: str | None


def receive(
    text: str,
    *,
    speaker: str,
    at: datetime | None,
    ref: str | None,
    authority: str | None,
    settings: Settings,
) -> Received:
    """Check a turn; raises InvalidInput that names the argument and the fix."""
    if not isinstance(text, str):
        raise InvalidInput(f"text must be a string, not {type(text).__name__}")
    check_text(text, "text")
    size = len(text) if text.isascii() else len(text.encode("utf-8"))
    if size > settings.max_turn_bytes:
        raise InvalidInput(
            f"the turn takes {size:,} bytes and the limit is {settings.max_turn_bytes:,}; split it "
            f"into turns, write() it as a document, or raise Settings.max_turn_bytes"
        )
    who = speaking(speaker, authority)
    if authority is not None:
        settings.ladder.resolve(authority)  # refuses what is no title
    at = None if at is None else moment(at, "at")
    if ref is not None:
        check_name(ref, "ref")
    if is_machine(who.name):
        # Whatever a machine says is below anybody's word.
        who = replace(who, authority=settings.ladder.rungs[0])
    return Received(text, who, at, ref)


def speaking(name: str, authority: str | None) -> Speaker:
    """Whoever is called so; raises InvalidInput where nobody can be."""
    name = check_name(name, "speaker").strip()
    seen = plain_name(name)
    if not seen:
        raise InvalidInput(
            f"speaker {name!r:.80} shows nothing; give a name that can be read, or leave it out"
        )
    # As it is written, and not as it looks: nobody becomes the user by a likeness.
    is_self = name.lower() in ("user", "human", "me")
    if is_self or is_machine(name):
        name = name.lower() if is_self else seen
    return Speaker(name, is_self, authority)
