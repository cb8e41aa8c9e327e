"""Credentials: the caller, by a key or a signed token, and the rights that go with it."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incumbent import keys
from incumbent.http.configuration import Service, Tokens
from incumbent.http.problems import Refusal
from incumbent.memory import Memory
from incumbent.model.errors import InvalidInput
from incumbent.model.keys import KeyScope, check_scopes

_log = logging.getLogger("incumbent.http")
_ALL = tuple(KeyScope)
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="incumbent"'}
_LONGEST = 16_384
_LOOK_AFTER = 1.0
"""Seconds between two looks for the first key."""
_KEYS_LAST = 60.0
"""Seconds after which a key that its issuer has withdrawn is no longer accepted."""
_ISSUER_GONE = 3600.0
"""Seconds in which the last key set still counts if the issuer does not answer."""
_KEYS_ASKED_AFTER = 10.0
"""Seconds between two requests for the keys of an issuer, whatever tokens come in."""
_FILE_LASTS = 10.0
"""Seconds between two looks at a file of keys."""
_FILE_GONE = 60.0
"""Seconds in which the keys of a file still count after the file is gone or empty."""
_FILE_ASKED_AFTER = 1.0


@dataclass(frozen=True, kw_only=True)
class Grant:
    """The rights of a credential. No request can go beyond them."""

    name: str
    """Its name in logs and limits: the id of a key, or a digest of a token's subject."""
    organization: str | None
    """None for any organization: a caller on this machine where no credentials are needed."""
    scopes: tuple[KeyScope, ...]
    max_authority: str | None
    """None for any."""
    permissions: frozenset[str] | None
    """None for any."""
    user_id: str | None = None
    user_name: str | None = None
    department: str | None = None

    def check(self, scope: KeyScope) -> None:
        """Refuse a scope that the credential does not have."""
        if scope not in self.scopes:
            good_for = ", ".join(self.scopes)
            raise Refusal(
                403,
                "NotPermitted",
                f"this takes the scope {scope.value!r}; the credential is good for {good_for}",
            )


HERE = Grant(name="local", organization=None, scopes=_ALL, max_authority=None, permissions=None)


class Gate:
    """Lets callers in by their credentials."""

    def __init__(
        self, memory: Memory, service: Service, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._memory = memory
        self._service = service
        self._tokens = None if service.tokens is None else _Believed(service.tokens, clock)
        self._open = not service.credentials
        self._looked = -math.inf

    @property
    def is_open(self) -> bool:
        """Whether callers need no credential, as far as is known."""
        return self._open

    def _look(self) -> None:
        """Look for a first key. A key that is made while the service runs closes the gate for
        good."""
        now = time.monotonic()
        if now - self._looked >= _LOOK_AFTER:
            self._looked = now
            self._open = not self._memory.store.keys()

    def admit(self, authorization: str | None) -> Grant:
        """The grant of the caller with this header; a refusal if there is none."""
        if self._open:
            self._look()
        if self._open:
            return HERE
        text = self._bearer(authorization)
        grant = self._by_key(text) or self._by_token(text)
        if grant is None:
            raise _unknown()
        return grant

    def _bearer(self, authorization: str | None) -> str:
        if not authorization:
            raise Refusal(
                401,
                "Unauthenticated",
                "show a key or a token: Authorization: Bearer ...",
                headers=_CHALLENGE,
            )
        kind, _, text = authorization.partition(" ")
        if kind.lower() != "bearer" or not text.strip() or len(text) > _LONGEST:
            raise _unknown()
        return text.strip()

    def _by_key(self, text: str) -> Grant | None:
        parsed = keys.parse(text)
        if parsed is None:
            return None
        found = self._memory.store.key(parsed.id)
        if found is None or not keys.matches(found, text) or not found.usable(self._memory.now()):
            raise _unknown()  # which of the three it is helps only those who try
        return Grant(
            name=found.id,
            organization=found.organization,
            scopes=found.scopes,
            max_authority=found.max_authority,
            permissions=frozenset(found.permissions),
            user_id=found.user_id,
        )

    def _by_token(self, text: str) -> Grant | None:
        return None if self._tokens is None else self._tokens.grant(text)


def _unknown() -> Refusal:
    return Refusal(
        401,
        "Unauthenticated",
        "the credential is not known, was revoked, or has run out",
        headers=_CHALLENGE,
    )


def _chosen(keys: Sequence[Any], named: str | None) -> Any:
    """The key with that name; a token without a name is for the only key."""
    if named is None:
        return keys[0] if len(keys) == 1 else None
    return next((key for key in keys if key.key_id == named), None)


class _KeySet:
    """The keys of an issuer, read again and again: a withdrawn key is not accepted for long. Tokens
    that name unknown keys do not cause a request each time, and a source that is gone for a while
    does not lock everybody out."""

    def __init__(
        self,
        read: Callable[[], Sequence[Any]],
        clock: Callable[[], float],
        *,
        lasts: float,
        asked_after: float,
        gone_after: float,
    ) -> None:
        self._read = read
        self._clock = clock
        self._lasts, self._asked_after, self._gone_after = lasts, asked_after, gone_after
        self._lock = threading.Lock()
        self._found: Sequence[Any] = ()
        self._asked = self._had = -math.inf

    def keys(self, *, unknown: bool = False) -> Sequence[Any]:
        """The keys; read again after a while, and when a key is not among them."""
        with self._lock:
            now = self._clock()
            soon = unknown or not self._found or self._had < self._asked
            if now - self._asked >= (self._asked_after if soon else self._lasts):
                self._ask(now)
            if now - self._had >= self._gone_after:
                self._found = ()
            if not self._found:
                raise Refusal(
                    503,
                    "Unavailable",
                    "the key set of the issuer cannot be had",
                    headers={"Retry-After": "5"},
                )
            return self._found

    def _ask(self, now: float) -> None:
        import jwt

        self._asked = now
        try:
            self._found = self._read()
            self._had = now
        except (jwt.PyJWTError, ValueError, OSError, AttributeError, RecursionError) as error:
            _log.warning("the key set of the issuer cannot be had: %s", type(error).__name__)


def _at_address(where: str, clock: Callable[[], float]) -> _KeySet:
    import jwt

    client = jwt.PyJWKClient(where, cache_jwk_set=False, timeout=5)
    return _KeySet(
        lambda: client.get_jwk_set(refresh=True).keys,
        clock,
        lasts=_KEYS_LAST,
        asked_after=_KEYS_ASKED_AFTER,
        gone_after=_ISSUER_GONE,
    )


def _in_file(where: str, clock: Callable[[], float]) -> _KeySet:
    import jwt

    def read() -> Sequence[Any]:
        return jwt.PyJWKSet.from_dict(json.loads(Path(where).read_text(encoding="utf-8"))).keys

    try:
        read()
    except (OSError, ValueError, AttributeError, jwt.PyJWTError) as error:
        raise InvalidInput(f"the key set {where!r} cannot be read: {error}") from None
    return _KeySet(
        read, clock, lasts=_FILE_LASTS, asked_after=_FILE_ASKED_AFTER, gone_after=_FILE_GONE
    )


class _Believed:
    """Checks signed tokens and reads their claims."""

    def __init__(self, tokens: Tokens, clock: Callable[[], float]) -> None:
        self._settings = tokens
        made = _at_address if tokens.keys.startswith(("https://", "http://")) else _in_file
        self._source = made(tokens.keys, clock)

    def _key(self, text: str) -> Any:
        import jwt

        named = jwt.get_unverified_header(text).get("kid")
        key = _chosen(self._source.keys(), named) or _chosen(self._source.keys(unknown=True), named)
        if key is None:
            raise jwt.InvalidKeyError("no such key")
        return key

    def grant(self, text: str) -> Grant:
        """The grant of a valid token."""
        import jwt

        settings = self._settings
        try:
            claims = jwt.decode(
                text,
                self._key(text),
                algorithms=list(settings.algorithms),
                issuer=settings.issuer,
                audience=settings.audience,
                leeway=settings.leeway,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
            raise _unknown() from None
        return _grant_of(claims)


def _name_of(organization: str, user: str) -> str:
    """The name of one person's tokens in limits. No two people have the same."""
    text = json.dumps([organization, user])
    return f"token:{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def _grant_of(claims: Mapping[str, Any]) -> Grant:
    """The grant by the claims of a token: missing claims grant nothing."""
    scopes = claims.get("scope", "")
    listed = scopes.split() if isinstance(scopes, str) else scopes
    permissions = claims.get("permissions", [])
    texts = {name: claims.get(name) for name in ("authority", "name", "department")}
    organization, user = claims.get("organization"), claims.get("sub")
    well_formed = (
        isinstance(organization, str)
        and isinstance(user, str)
        and isinstance(listed, list)
        and isinstance(permissions, list)
        and all(isinstance(one, str) for one in (*listed, *permissions))
        and all(one is None or isinstance(one, str) for one in texts.values())
    )
    if not well_formed or not organization or not user:
        raise Refusal(
            401,
            "Unauthenticated",
            "the token lacks a claim or has one of another form: it needs organization and sub, "
            "and may have scope, authority, name, department and permissions",
            headers=_CHALLENGE,
        )
    known = [one for one in listed if one in _ALL]
    if not known:
        raise Refusal(403, "NotPermitted", "the token carries no scope of Incumbent, such as read")
    return Grant(
        name=_name_of(organization, user),
        organization=organization,
        scopes=check_scopes(known),
        max_authority=texts["authority"] or "guest",
        permissions=frozenset(permissions),
        user_id=user,
        user_name=texts["name"],
        department=texts["department"],
    )
