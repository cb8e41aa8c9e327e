"""Receiving: a turn as it comes in, checked and not yet read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from incumbent.language.speakers import is_machine, plain_name
from incumbent.model.errors import InvalidInput
from incumbent.model.identity import check_name
from incumbent.model.times import moment
from incumbent.model.values import check_text
from incumbent.settings import Settings
from incumbent.turns.circumstances import Speaker


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
