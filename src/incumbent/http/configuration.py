"""The settings of a service: its address, the tokens it accepts, and its limits."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from incumbent.model.errors import InvalidInput

DEFAULT_PORT = 8765
# With a key pair: who can check a token cannot make one.
_SIGNATURES = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
_NAMES_FOR_HERE = ("localhost", "ip6-localhost", "127.0.0.1")
"""The usual address is among them, because every request without a key is looked up here."""


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """The issuer whose signed tokens (JWT) are accepted.

    `keys` is a file with a key set (JWKS) or an https address of one. Tokens must name this issuer
    and this audience, and must expire.
    """

    issuer: str
    audience: str
    keys: str
    algorithms: tuple[str, ...] = ("RS256", "ES256", "EdDSA")
    leeway: float = 30.0
    """Seconds by which clocks may differ."""

    def __post_init__(self) -> None:
        if not self.issuer or not self.audience:
            raise InvalidInput("tokens need an issuer and an audience; give both")
        for name in self.algorithms:
            if name not in _SIGNATURES:
                raise InvalidInput(
                    f"tokens signed with {name!r} are not accepted; "
                    f"choose from {', '.join(_SIGNATURES)}"
                )
        if self.keys.startswith("http://") and not is_here(urlsplit(self.keys).hostname or ""):
            raise InvalidInput(
                "a key set is fetched by https only: whoever can change it on the "
                "way can sign anything"
            )


@dataclass(frozen=True, kw_only=True)
class Service:
    """The settings of a service."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    credentials: bool = False
    """Whether callers must show a key or a token."""
    tokens: Tokens | None = None
    inspector: bool = True
    """Whether it has pages for people, at /inspect."""
    looks_as: Mapping[str, str] = field(default_factory=dict)
    """Whom the pages look as until the visitor chooses: user_id, organization and so on."""
    max_body_bytes: int = 2_000_000
    """Largest request, but for imports."""
    max_import_bytes: int = 1_000_000_000
    body_timeout: float = 20.0
    """Seconds in which the body of a request must arrive."""
    header_timeout: float = 10.0
    """Seconds in which the head of a request must arrive."""
    idle_timeout: float = 300.0
    """Seconds in which the next piece of a stream or an import must arrive."""
    rate: float = 100.0
    """Requests a second that one key may make for long; 0 for no limit."""
    burst: int = 200
    """Requests that it may make at once."""
    at_once: int = 64
    """Calls of one key that may be under way at the same time; more are told to come back."""
    share: float = 0.25
    """The share of one processor that an organization may keep busy while others call too."""
    max_turns: int = 100
    """Turns in one call."""
    max_writes: int = 1_000
    """Writes in one call."""
    max_budget: int = 32_000
    """Tokens of one context."""
    threads: int = 8
    """Calls that are worked on at the same time; others queue."""
    waiting: int = 1000
    """Connections at the same time; more are told to come back later."""
    shutdown_timeout: float = 30.0
    """Seconds that calls under way get when the service is stopped."""

    def __post_init__(self) -> None:
        for name in (
            *("max_body_bytes", "max_import_bytes"),
            *("body_timeout", "header_timeout", "idle_timeout"),
        ):
            if getattr(self, name) <= 0:
                raise InvalidInput(f"{name} must be positive, not {getattr(self, name)!r}")
        for name in (
            *("threads", "waiting", "burst", "at_once"),
            *("max_turns", "max_writes", "max_budget"),
        ):
            if getattr(self, name) < 1:
                raise InvalidInput(f"{name} must be at least 1, not {getattr(self, name)!r}")
        if self.rate < 0:
            raise InvalidInput(f"rate must not be negative, not {self.rate!r}")
        if not 0 < self.share <= 1:
            raise InvalidInput(f"share must be more than 0 and at most 1, not {self.share!r}")
        if not 0 <= self.port < 65536:
            raise InvalidInput(f"port must be between 0 and 65535, not {self.port!r}")
        if not self.credentials and not is_here(self.host):
            raise InvalidInput(
                f"{self.host} can be reached from elsewhere, and there are no credentials yet: "
                f"anybody could read and write everything. Make a key with "
                f"`incumbent keys create NAME`, or name an issuer of tokens, or listen on 127.0.0.1"
            )


def is_here(host: str) -> bool:
    """Whether an address can be reached from this machine alone."""
    name = host.strip().lower()
    if name.startswith("["):
        name, _, port = name[1:].partition("]")
        if port and not port.startswith(":"):
            return False
    elif name.count(":") == 1:
        name, _, port = name.partition(":")
        if not port.isdigit():
            return False
    if name in _NAMES_FOR_HERE:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
