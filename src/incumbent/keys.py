"""The text of a key: made once, shown once, and recognised ever after by its digest.

    incumbent_<id>_<secret>

The id finds the row and is no secret. The rest is 256 bits of randomness in 43 characters.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from incumbent.model.errors import InvalidInput
from incumbent.model.identity import check_permissions
from incumbent.model.ids import new_id
from incumbent.model.keys import ApiKey, check_scopes
from incumbent.model.times import moment

_SECRET_BYTES = 32
_TEXT = re.compile(r"incumbent_([0-9a-f]{32})_([A-Za-z0-9_-]{43})")


class ParsedKey(NamedTuple):
    """The two parts of the text of a key."""

    id: str
    secret: str

    def __repr__(self) -> str:
        """The key without its secret, which must not get into a log with a message."""
        return f"ParsedKey(id={self.id!r})"


def make_key(
    *,
    organization: str,
    name: str,
    scopes: Iterable[str],
    max_authority: str,
    now: datetime,
    user_id: str | None = None,
    permissions: Iterable[str] = (),
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """A new key to store, and its text. The text is kept nowhere and cannot be read again."""
    if expires_at is not None and moment(expires_at, "expires_at") <= now:
        raise InvalidInput(
            f"the key would have run out before it is made ({expires_at.isoformat()}); give a "
            f"moment to come"
        )
    key_id = new_id(now).replace("-", "")
    text = f"incumbent_{key_id}_{secrets.token_urlsafe(_SECRET_BYTES)}"
    key = ApiKey(
        id=key_id,
        organization=organization,
        name=name,
        scopes=check_scopes(scopes),
        max_authority=max_authority,
        user_id=user_id,
        permissions=check_permissions(permissions, "permissions"),
        created_at=now,
        expires_at=expires_at,
        digest=digest_of(text),
    )
    return key, text


def parse(text: str) -> ParsedKey | None:
    """The id and the secret in the text of a key; None for a text that cannot be one."""
    found = _TEXT.fullmatch(text) if isinstance(text, str) else None
    return None if found is None else ParsedKey(found[1], found[2])


def matches(key: ApiKey, text: str) -> bool:
    """True if this is the text of that key. A near miss takes as long as any other.

    Whether the key may still be used is another question: see `ApiKey.usable`.
    """
    return parse(text) is not None and secrets.compare_digest(digest_of(text), key.digest)


def digest_of(text: str) -> str:
    """The digest that is kept of a key's text.

    One round of SHA-256. A slow hash protects passwords, which people choose and others guess.
    Nobody guesses 256 random bits, however quick each guess is, and this runs at every request.
    """
    return hashlib.sha256(text.encode()).hexdigest()
