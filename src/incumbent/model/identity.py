"""Identity: the asker. Layer 1, frozen for the session."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from incumbent.model.authority import Authority
from incumbent.model.errors import InvalidInput
from incumbent.model.fact import CAPABILITY
from incumbent.model.values import check_text

_MAX_NAME = 512
SPEAK = "organization:write"
"""The permission to speak for the organization, whatever one's rung."""
BIND = "organization:bind"
"""The permission to bind others, whatever one's rung."""


def check_name(value: object, what: str) -> str:
    """A non-empty, storable, reasonably short name."""
    if not isinstance(value, str):
        raise InvalidInput(f"{what} must be a string, not {type(value).__name__} ({value!r:.80})")
    if not value.strip():
        raise InvalidInput(f"{what} is empty; give it a name")
    if len(value) > _MAX_NAME:
        raise InvalidInput(f"{what} is {len(value):,} characters long; the limit is {_MAX_NAME}")
    return check_text(value, what)


def check_permissions(permissions: Iterable[str], what: str) -> tuple[str, ...]:
    """Permissions as a sorted tuple."""
    named = check_list(permissions, what)
    return tuple(sorted({check_name(name, f"a name in {what}") for name in named}))


def check_list(values: Iterable[str], what: str) -> Iterable[str]:
    """Something to iterate over; a lone string is a common slip and is refused."""
    if isinstance(values, str):
        raise InvalidInput(f"{what} must be a list; write [{values!r}]")
    if not isinstance(values, Iterable):
        raise InvalidInput(f"{what} must be a list, not {type(values).__name__} ({values!r:.80})")
    return values


def check_optional(value: str | None, what: str) -> str | None:
    return None if value is None else check_name(value, what)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The asker and the asker's authority. Set when a session starts and read-only after."""

    user_id: str
    user_name: str | None
    authority: Authority
    organization: str
    department: str | None = None
    permissions: frozenset[str] = frozenset()

    def may(self, permission: str) -> bool:
        return permission in self.permissions

    @property
    def capabilities(self) -> tuple[str, ...]:
        """The capabilities it works with, by its permissions that begin with "capability:"."""
        names = (p[len(CAPABILITY) :] for p in self.permissions if p.startswith(CAPABILITY))
        return tuple(sorted(name for name in names if name))
