"""Whom the pages are shown for: what the visitor chose, kept by the browser."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from incumbent.http.admission import Branch, SessionForm
from incumbent.http.credentials import Grant
from incumbent.model.errors import InvalidInput

_LONGEST = 3_000
"""Characters of the cookie: browsers keep about four thousand, with its name and terms."""
_CHARACTERS = 512
"""The longest name that anybody has. A name that were cut would be somebody else's."""


@dataclass(frozen=True)
class Looking:
    """Through whose eyes the pages look. Nothing here is believed beyond the credential."""

    organization: str = ""
    user_id: str = ""
    authority: str = ""
    department: str = ""
    permissions: str = ""
    """Names, separated by commas."""
    session_id: str = ""
    task_id: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Looking:
        """What a form says, without the spaces around it."""
        said = {one.name: given.get(one.name, "").strip() for one in fields(cls)}
        for name, text in said.items():
            if len(text) > _CHARACTERS:
                raise InvalidInput(
                    f"{name} has {len(text):,} characters, and the limit is {_CHARACTERS}"
                )
        return cls(**said)

    @classmethod
    def kept(cls, text: str) -> Looking:
        """What a cookie says; nobody if it says nothing that we wrote."""
        if not text or len(text) > _LONGEST:
            return cls()
        try:
            found = json.loads(base64.urlsafe_b64decode(text.encode()))
        except (ValueError, binascii.Error, RecursionError):
            return cls()
        if not isinstance(found, dict):
            return cls()
        try:
            return cls.of({name: said for name, said in found.items() if isinstance(said, str)})
        except InvalidInput:
            return cls()

    def text(self) -> str:
        """For a cookie."""
        said = {name: value for name, value in asdict(self).items() if value}
        made = base64.urlsafe_b64encode(json.dumps(said, ensure_ascii=False).encode()).decode()
        if len(made) > _LONGEST:
            raise InvalidInput("that is more than a browser keeps; leave something out")
        return made

    def bounded(self, grant: Grant) -> Looking:
        """With what the credential fixes."""
        changes: dict[str, str] = {}
        if grant.organization is not None:
            changes["organization"] = grant.organization
        if grant.user_id is not None:
            changes["user_id"] = grant.user_id
        return Looking(**{**asdict(self), **changes})

    def form(self, **more: Any) -> SessionForm:
        """As the service takes it. A name that is left out is the credential's to say."""
        names = ("organization", "user_id", "authority", "department", "session_id", "task_id")
        said: dict[str, Any] = {name: getattr(self, name) or None for name in names}
        if self.permissions:
            said["permissions"] = [
                one.strip() for one in self.permissions.split(",") if one.strip()
            ]
        return SessionForm(**said, **more)


def branch_of(text: str) -> list[Branch]:
    """The branch that an address names: `draft:plan-b`."""
    kind, _, name = text.partition(":")
    return [Branch(kind=kind, name=name)] if kind in ("draft", "hypothetical") and name else []  # type: ignore[arg-type]
