"""A visit: one request for a page, with the rights of its visitor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from incumbent.http.admission import enter
from incumbent.http.credentials import HERE, Grant
from incumbent.http.problems import Refusal
from incumbent.inspector.looking import Looking, branch_of
from incumbent.memory import Memory
from incumbent.model.errors import InvalidInput
from incumbent.model.keys import KeyScope
from incumbent.session import Session

HOME = "/inspect"
"""Where the pages are."""


@dataclass(frozen=True)
class WebPage:
    """A page to show: its template and what it is filled with."""

    template: str
    fill: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True)
class Redirect:
    """Another page to go to, after something was done; `said` is shown there once."""

    to: str
    said: str = ""
    undo: str = ""
    """The verdict that the message offers to undo."""
    looking: Looking | None = None
    credential: str | None = None
    """To be kept by the browser; "" to forget it."""


@dataclass(frozen=True)
class Download:
    """A file to save."""

    name: str
    content: str
    media_type: str = "application/json"


@dataclass(frozen=True)
class Unchanged:
    """Nothing to show: the page that asks again and again already has it."""


Result = WebPage | Redirect | Download | Unchanged


@dataclass(frozen=True)
class Route:
    """A page or an action: where it is, what it takes, and the function that makes it.

    Functions are plain and run on a thread of their own. A page is asked for with GET and changes
    nothing; an action comes with POST.
    """

    path: str
    make: Callable[[Visit], Result]
    scope: KeyScope = KeyScope.READ
    action: bool = False
    needs_person: bool = True
    """Whether it shows what a person sees; the visitor is then asked who that is."""


@dataclass(frozen=True)
class Visit:
    """A request, and everything that a view may use."""

    memory: Memory
    grant: Grant
    looking: Looking
    path: str
    asked: Mapping[str, str]
    """The parameters of the address."""
    form: Mapping[str, str]
    """The fields of a form that was sent."""
    token: str
    """What a form must bring back, so that no other page can send it."""
    is_part: bool = False
    """Whether only a part of the page is asked for, to be put into one that is open."""
    said: Mapping[str, str] = field(default_factory=dict)
    """What the action before has to say."""
    max_budget: int = 32_000
    """The most tokens of a context that the service composes."""

    @property
    def is_open(self) -> bool:
        """Whether there are no credentials, because only this machine can come here."""
        return self.grant is HERE

    @property
    def organization(self) -> str:
        return self.looking.organization or "default"

    @property
    def here(self) -> str:
        """The address of this page; of the first one, where a form was sent to get here."""
        query = f"?{urlencode(self.asked)}" if self.asked else ""
        return HOME if self.form else f"{self.path}{query}"

    @cached_property
    def now(self) -> datetime:
        return self.memory.now()

    def may(self, scope: str) -> bool:
        """Whether the credential is good for that."""
        return KeyScope(scope) in self.grant.scopes

    @cached_property
    def session(self) -> Session:
        """The session of whom the page is shown for, in the present."""
        return enter(self.memory, self.grant, self.looking.form())

    def session_at(
        self,
        *,
        at: datetime | None = None,
        known_at: datetime | None = None,
        branch: str = "",
        looking: Looking | None = None,
    ) -> Session:
        """The same at another moment, in a branch, or for somebody else."""
        chosen = (looking or self.looking).bounded(self.grant)
        branches = branch_of(branch)
        form = chosen.form(as_of=at, known_at=known_at, branches=branches)
        return enter(self.memory, self.grant, form)

    def moment(self, name: str) -> datetime | None:
        """A moment that the address names; without a zone it is meant in UTC."""
        return moment_of(self.asked.get(name, ""), name)

    def whole(self, name: str, default: int, least: int = 1, most: int = 1_000_000) -> int:
        """A whole number that the address names, within bounds."""
        text = self.asked.get(name, "").strip()
        if not text:
            return default
        if not is_whole(text):
            raise InvalidInput(f"{name} must be a whole number, not {text!r:.40}")
        return max(least, min(int(text), most))

    def back(self, default: str = HOME) -> str:
        """Where to go after an action: only to a page of ours."""
        to = self.form.get("back", "")
        ours = to == HOME or to.startswith((f"{HOME}/", f"{HOME}?"))
        return to if ours and not any(ord(one) < 33 for one in to) else default

    def needs(self, name: str) -> str:
        """A field that a form must have."""
        found = self.form.get(name, "") or self.asked.get(name, "")
        if not found:
            raise Refusal(422, "InvalidInput", f"{name} is missing; go back and fill it in")
        return found


def moment_of(text: str, name: str = "moment") -> datetime | None:
    """A moment as people and browsers write it."""
    said = text.strip()
    if not said:
        return None
    try:
        found = datetime.fromisoformat(said)
    except ValueError:
        raise InvalidInput(
            f"{name} {said!r:.40} is no moment; write it like 2026-03-02T09:30"
        ) from None
    try:
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(
            f"{name} {said!r:.40} lies outside the calendar; choose another moment"
        ) from None


def is_whole(text: str) -> bool:
    """Whether a text is a number that we read: there are more digits than those that count."""
    return text.isascii() and text.isdigit() and len(text) <= 9


def address(path: str = "", **asked: object) -> str:
    """The address of a page; parameters that are empty are left out."""
    given = {name: str(value) for name, value in asked.items() if value not in (None, "", False)}
    query = f"?{urlencode(given)}" if given else ""
    return f"{HOME}{'/' + path if path else ''}{query}"
