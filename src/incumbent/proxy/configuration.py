"""The settings of a proxy: the provider behind it, and what happens when the memory fails."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import urlsplit

from incumbent.model.errors import InvalidInput

DEFAULT_PORT = 8787
LARGEST_REQUEST = 32_000_000
"""Bytes of one request: pictures and documents travel in it."""
OnFailure = Literal["closed", "open"]
_ROOT = "/v1"
_READER = re.compile(r"upstream(:\S+)?")


@dataclass(frozen=True, kw_only=True)
class ProxySettings:
    """The settings of a proxy."""

    upstream: str
    """The address of the provider, as an application would give it as its base URL."""
    on_failure: OnFailure = "closed"
    """"closed" refuses a request that the memory cannot guard, "open" passes it on as it came."""
    require_user: bool = False
    """Whether requests that do not say who is speaking are refused instead of passed on."""
    budget: int = 2000
    """The most tokens of the context that is added; 0 for none."""
    observe: bool = True
    """Whether what is said is observed; False where the application does that itself."""
    reader: str | None = None
    """"upstream": the provider's model that a request names reads what is said in it, with the
    caller's own key, once the request is answered. "upstream:MODEL" asks another model there."""
    reader_pause: float = 0.0
    """Seconds without a request of a session after which it reads."""
    reader_calls: int | None = None
    """How often it is asked for an organization per day (UTC) at most."""
    connect_timeout: float = 10.0
    """Seconds in which the provider must take the connection."""
    answer_timeout: float = 600.0
    """Seconds in which the provider must begin its answer, and send the next piece of it."""

    def __post_init__(self) -> None:
        check_upstream(self.upstream)
        if self.on_failure not in get_args(OnFailure):
            raise InvalidInput(f'on_failure is "closed" or "open", not {self.on_failure!r:.80}')
        if self.reader is not None and not _READER.fullmatch(self.reader):
            raise InvalidInput(f"reader is upstream or upstream:MODEL, not {self.reader!r:.80}")
        if self.budget < 0:
            raise InvalidInput(f"budget must not be negative, not {self.budget!r}")
        for name in ("connect_timeout", "answer_timeout"):
            if getattr(self, name) <= 0:
                raise InvalidInput(f"{name} must be positive, not {getattr(self, name)!r}")


def check_upstream(address: str) -> None:
    """Refuse what is no plain address of a provider."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        # Only the beginning is told: a password may stand in an address.
        raise InvalidInput(
            f"upstream {address.partition('@')[0]!r:.40} is no address of a provider; write it "
            f"as https://api.example.com/v1"
        )
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(
            "the upstream's address has a user or a password in it; leave them out: every "
            "request brings its own Authorization"
        )
    if parts.query or parts.fragment or not address.isascii() or any(c <= " " for c in address):
        raise InvalidInput("the upstream's address must end with its path: no ?, # or spaces")


def target_of(upstream: str, path: bytes, query: bytes) -> tuple[str, str, int | None, bytes]:
    """Where a request for a path below /v1 goes: scheme, host, port and path.

    An address with a path stands for our /v1; an address without one has its own.
    """
    parts = urlsplit(upstream)
    base = parts.path.rstrip("/") or _ROOT
    target = base.encode("ascii") + path.removeprefix(_ROOT.encode())
    return parts.scheme, parts.hostname or "", parts.port, target + (b"?" + query if query else b"")
