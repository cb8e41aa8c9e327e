"""Keys: the credentials of programs over a network. A store keeps digests, never a secret."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from incumbent.model.errors import InvalidInput
from incumbent.model.identity import check_list, check_name, check_optional, check_permissions
from incumbent.model.times import moment

_ID = re.compile(r"[0-9a-f]{32}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class KeyScope(StrEnum):
    """A purpose that a key may be used for. None of them includes another."""

    READ = "read"
    WRITE = "write"
    REVIEW = "review"
    ERASE = "erase"
    ADMIN = "admin"
    METRICS = "metrics"
    """The metrics of the whole service, which cover more than one organization."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key as it is kept: its organization, scopes, highest authority and term.

    Invariants: at least one scope; `expires_at` is not before `created_at`. (`revoked_at` may be:
    no revocation fails because two clocks disagree.) Only `digest` is kept of the text that was
    handed out, and it does not lead back to it.
    """

    id: str
    organization: str
    name: str
    """Its name for people."""
    scopes: tuple[KeyScope, ...]
    """In the order of `KeyScope`, each once."""
    max_authority: str
    """The highest rung that a user of the key can have."""
    user_id: str | None = None
    """The one person it speaks for; None for a program that speaks for many."""
    permissions: tuple[str, ...] = ()
    """The permissions of its users beyond those of everybody, sorted."""
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    digest: str = field(repr=False)

    def __post_init__(self) -> None:
        # In the order in which people meet the options; the first that is wrong is told.
        if not isinstance(self.id, str) or not _ID.fullmatch(self.id):
            raise InvalidInput(f"the id of a key is 32 hexadecimal digits, not {self.id!r:.80}")
        check_name(self.organization, "organization")
        check_name(self.name, "the name of a key")
        check_name(self.max_authority, "max_authority")
        check_optional(self.user_id, "user_id")
        if not isinstance(self.digest, str) or not _DIGEST.fullmatch(self.digest):
            raise InvalidInput("the digest of a key is 64 hexadecimal digits")
        set_ = object.__setattr__
        set_(self, "scopes", check_scopes(self.scopes))
        set_(self, "permissions", check_permissions(self.permissions, "permissions"))
        set_(self, "created_at", moment(self.created_at, "created_at"))
        for name in ("expires_at", "revoked_at"):
            given = getattr(self, name)
            set_(self, name, None if given is None else moment(given, name))
        if self.expires_at is not None and self.expires_at < self.created_at:
            raise InvalidInput(
                f"expires_at ({self.expires_at.isoformat()}) is before the key was made "
                f"({self.created_at.isoformat()}); give a later moment"
            )

    def may(self, scope: str) -> bool:
        """Whether it may be used for this."""
        return scope in self.scopes

    def usable(self, when: datetime) -> bool:
        """True if it lets anybody in at that moment: not revoked, and not expired.

        A key that was ever revoked is not usable at any moment, whatever the clock says.
        """
        return self.revoked_at is None and (self.expires_at is None or when < self.expires_at)


def check_scopes(scopes: Iterable[str]) -> tuple[KeyScope, ...]:
    """Scopes in their order, each once; at least one."""
    asked = list(check_list(scopes, "scopes"))
    known = [scope.value for scope in KeyScope]
    for name in asked:
        if name not in known:
            raise InvalidInput(f"{name!r:.80} is not a scope; choose from {', '.join(known)}")
    if not asked:
        raise InvalidInput(f"a key needs a scope; choose from {', '.join(known)}")
    return tuple(scope for scope in KeyScope if scope.value in asked)
