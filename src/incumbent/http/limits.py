"""Limits: the rate of one caller, and the answers to repeated requests."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from incumbent.http.credentials import Grant
from incumbent.http.problems import Refusal

_MOST_CALLERS = 100_000
_MOST_ANSWERS = 10_000
_MOST_BYTES = 64_000_000
_KEPT_SECONDS = 3600.0


class Rates:
    """A bucket for each caller: it fills with `rate` a second, and holds `burst`."""

    def __init__(
        self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = rate
        self._burst = float(burst)
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> None:
        """Count one request of a caller; refused if there were too many of late."""
        wait = self.wait(caller)
        if wait:
            raise Refusal(
                429,
                "TooManyRequests",
                f"more than {self._rate:g} requests a second; wait and try again",
                headers={"Retry-After": str(max(1, ceil(wait)))},
            )

    def wait(self, caller: str) -> float:
        """0 if a caller may ask, which is then counted; otherwise the seconds until it may."""
        if not self._rate:
            return 0.0
        now = self._clock()
        with self._lock:
            level, since = self._buckets.pop(caller, (self._burst, now))
            level = min(self._burst, level + (now - since) * self._rate)
            allowed = level >= 1
            self._buckets[caller] = (level - 1 if allowed else level, now)
            while len(self._buckets) > _MOST_CALLERS:
                self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - level) / self._rate


@dataclass(frozen=True)
class Answer:
    """An answer that was given."""

    digest: str
    """The digest of the request."""
    body: bytes
    at: float
    told: datetime
    """The time of the answer, by the clock of the memory."""
    grant: Grant
    """The grant of the credential that received the answer."""


class Answers:
    """The answers to requests with an idempotency key, for callers who ask again.

    Kept in this process, an hour at most. Beyond that, `write` and `observe` recognize a request by
    its stored results, so that a repetition after a crash changes nothing either.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], Answer] = OrderedDict()
        self._running: set[tuple[str, str]] = set()
        self._bytes = 0

    def begin(self, caller: str, key: str, digest: str) -> Answer | None:
        """The earlier answer, if any; otherwise the request is now under way."""
        name = (caller, key)
        with self._lock:
            self._drop_old()
            kept = self._kept.get(name)
            if kept is not None:
                if kept.digest != digest:
                    raise Refusal(
                        422,
                        "IdempotencyKeyReused",
                        "this Idempotency-Key came with another request before; use a new one",
                    )
                return kept
            if name in self._running:
                raise Refusal(
                    409,
                    "InProgress",
                    "a request with this Idempotency-Key is under way; ask again",
                    headers={"Retry-After": "1"},
                )
            self._running.add(name)
            return None

    def end(self, grant: Grant, key: str, digest: str, body: bytes | None, told: datetime) -> None:
        """End a request. Only a success is kept: a failed request may be tried again."""
        name = (grant.name, key)
        with self._lock:
            self._running.discard(name)
            if body is not None:
                self._kept[name] = Answer(digest, body, self._clock(), told, grant)
                self._bytes += len(body)
                self._drop_old()

    def _drop_old(self) -> None:
        oldest = self._clock() - _KEPT_SECONDS
        while self._kept:
            first = next(iter(self._kept.values()))
            few = len(self._kept) <= _MOST_ANSWERS and self._bytes <= _MOST_BYTES
            if few and first.at >= oldest:
                return
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= len(dropped.body)
