"""Layer 4: signals from outside, read fresh for every use."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tenure.model.errors import InvalidInput, TenureError
from tenure.model.identity import check_name
from tenure.model.records import Environment, Signal
from tenure.model.values import canonical

Provider = Callable[[], Any]

_OWN = ("current_time", "current_date")


class Providers:
    """The providers of one memory. Conversation cannot write here; only code can."""

    def __init__(self, timezone: str, max_value_bytes: int) -> None:
        self._providers: dict[str, Provider] = {}
        self._timezone = timezone
        self._max_value_bytes = max_value_bytes

    def provide(self, name: str, provider: Provider) -> None:
        """Register a callable that is asked for the signal each time a context is built.

        It returns a JSON value, or a Signal with an expiry. `timezone` (an IANA name) and
        `location` fill the fields of that name; everything else goes to `external_data`.
        """
        check_name(name, "the name of a signal")
        if name in _OWN:
            raise InvalidInput(f"{name!r} comes from the clock; pass clock= to tenure.open()")
        if not callable(provider):
            raise InvalidInput(f"the provider of {name!r} must be callable, not {provider!r:.80}")
        self._providers[name] = provider

    def withdraw(self, name: str) -> None:
        """Stop asking a provider."""
        self._providers.pop(name, None)

    def read(self, now: datetime) -> Environment:
        """Ask every provider once. One that fails is named in `unavailable`, never hidden."""
        signals: dict[str, Any] = {}
        unavailable: dict[str, str] = {}
        for name, provider in sorted(self._providers.items()):
            try:
                signals[name] = self._ask(provider, now)
            except Exception as error:  # a provider is someone else's code
                unavailable[name] = _told(error)
        zone = _zone(signals.pop("timezone", None) or self._timezone, unavailable)
        location = signals.pop("location", None)
        try:
            local = now.astimezone(zone)
        except OverflowError:  # at the ends of the calendar
            local, zone = now, ZoneInfo("UTC")
        return Environment(
            current_time=local,
            current_date=local.date(),
            timezone=str(zone),
            location=None if location is None else str(location),
            external_data=signals,
            unavailable=unavailable,
        )

    def _ask(self, provider: Provider, now: datetime) -> Any:
        signal = provider()
        if isinstance(signal, Signal):
            if signal.expires_at is not None and signal.expires_at <= now:
                raise InvalidInput(f"expired at {signal.expires_at.isoformat()}")
            signal = signal.value
        canonical(signal, limit=self._max_value_bytes)
        return signal


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, TenureError) else f"{type(error).__name__}: {error}"


def _zone(name: Any, unavailable: dict[str, str]) -> ZoneInfo:
    try:
        return ZoneInfo(str(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        unavailable["timezone"] = f"{name!r:.80} is not a known time zone; using UTC"
        return ZoneInfo("UTC")
