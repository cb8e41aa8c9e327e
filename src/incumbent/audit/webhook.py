"""Sending the audit stream to a webhook: signed, in order, at least once, nothing skipped."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import logging
import random
import re
import socket
import ssl
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from threading import Event, Timer
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from incumbent.audit.entries import AuditEntry
from incumbent.audit.position import PositionFile, position_of
from incumbent.model.errors import InvalidInput, NotDelivered

log = logging.getLogger("incumbent.audit")

SIGNATURE = "Incumbent-Signature"
"""The header that holds the signature of a delivery."""
_SHORTEST_SECRET = 16
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 60.0
_LONGEST_ASKED_PAUSE = 600.0
_MOST_READ = 65_536
_MOST_BYTES = 1_000_000
_TOLERANCE = timedelta(minutes=5)
# As `signature` writes them: a number that no clock can tell is none.
_TIME = re.compile(r"[0-9]{1,12}")
_MAC = re.compile(r"[0-9a-f]{64}")


def signature(secret: bytes, body: bytes, at: datetime) -> str:
    """The signature of a body, with the time at which it was made, so that it cannot be kept and
    sent again: `t=<seconds since 1970>,v1=<HMAC-SHA256 of "<t>.<body>", hexadecimal>`."""
    seconds = int(at.timestamp())
    return f"t={seconds},v1={_mac(secret, seconds, body)}"


def is_signed(
    secret: bytes,
    body: bytes,
    header: str | None,
    now: datetime,
    *,
    tolerance: timedelta = _TOLERANCE,
) -> bool:
    """True if a delivery comes from a holder of the secret and was signed just now.

    For receivers. Give the body and the header as they came, before anything parses them. The
    function returns True or False for any header and raises nothing.
    """
    parts = dict(part.partition("=")[::2] for part in header.split(",")) if header else {}
    time, given = parts.get("t", ""), parts.get("v1", "")
    if not _TIME.fullmatch(time) or not _MAC.fullmatch(given):
        return False
    seconds = int(time)
    if abs(now.timestamp() - seconds) > tolerance.total_seconds():
        return False
    return hmac.compare_digest(given, _mac(secret, seconds, body))


def _mac(secret: bytes, seconds: int, body: bytes) -> str:
    return hmac.new(secret, b"%d.%b" % (seconds, body), hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class Webhook:
    """The address that deliveries go to. A status of 200 to 299 accepts a delivery; after anything
    else it is tried again."""

    url: str = field(repr=False)
    secret: bytes = field(repr=False)
    timeout: float = 10.0
    """Seconds that one attempt may take, all in all."""

    def __post_init__(self) -> None:
        try:
            found = urlsplit(self.url)
            host, _ = found.hostname, found.port
        except ValueError:
            host, found = None, urlsplit("")
        if found.scheme not in ("http", "https") or not host:
            raise InvalidInput("the webhook must be an address such as https://example.com/audit")
        if found.username is not None or found.password is not None:
            raise InvalidInput("the webhook's address has a password in it, which is not sent")
        if not (self.url.isascii() and self.url.isprintable()) or " " in self.url:
            raise InvalidInput("the webhook's address has characters that have to be escaped")
        if len(self.secret) < _SHORTEST_SECRET:
            raise InvalidInput(
                f"the webhook's secret must have at least {_SHORTEST_SECRET} bytes; make one "
                f"with: openssl rand -hex 32"
            )
        if not 0 < self.timeout <= 3600:
            raise InvalidInput(f"timeout must be more than 0 seconds, not {self.timeout!r}")

    @property
    def host(self) -> str:
        """The host alone: the rest of an address may be a secret."""
        return urlsplit(self.url).hostname or ""

    def post(self, body: bytes, at: datetime) -> WebhookAnswer:
        """Send a body once. Redirects are not followed, and no proxy is used."""
        found = urlsplit(self.url)
        path = (found.path or "/") + (f"?{found.query}" if found.query else "")
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "incumbent-audit",
            SIGNATURE: signature(self.secret, body, at),
        }
        connection = self._connection(found.scheme, found.port)
        # The timeout of a socket is for each read of it; a server that sends a byte now and then
        # would hold us up for ever.
        cut = Timer(self.timeout, _cut, [connection])
        cut.daemon = True
        cut.start()
        try:
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            answer.read(_MOST_READ)
            return WebhookAnswer(answer.status, _seconds(answer.headers.get("Retry-After")))
        except (OSError, http.client.HTTPException, ValueError) as error:
            return WebhookAnswer(None, None, type(error).__name__)
        finally:
            cut.cancel()
            connection.close()

    def _connection(self, scheme: str, port: int | None) -> http.client.HTTPConnection:
        if scheme == "http":
            return http.client.HTTPConnection(self.host, port, timeout=self.timeout)
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(self.host, port, timeout=self.timeout, context=context)


@dataclass(frozen=True)
class WebhookAnswer:
    """The result of an attempt: a status, or the kind of failure."""

    status: int | None
    pause: float | None = None
    """Seconds that the server asked to wait."""
    failure: str = ""

    @property
    def is_taken(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    def __str__(self) -> str:
        return f"status {self.status}" if self.status is not None else self.failure


def _cut(connection: http.client.HTTPConnection) -> None:
    sock: socket.socket | None = connection.sock
    if sock is not None:
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


def _seconds(header: str | None) -> float | None:
    """The pause that a server asks for in seconds; None for a header that gives a date."""
    if header is None or not (header.isascii() and header.isdigit()):
        return None
    return min(float(header), _LONGEST_ASKED_PAUSE)


class Batch(NamedTuple):
    """One request: entries of an organization, in order."""

    first: AuditEntry
    last: AuditEntry
    size: int
    body: bytes


def batches_of(page: Sequence[AuditEntry]) -> Iterator[Batch]:
    """Split a page into requests. None is large, unless a single entry is."""
    held: list[tuple[AuditEntry, bytes]] = []
    size = 0
    for entry in page:
        text = _json(entry.record())
        if held and size + len(text) > _MOST_BYTES:
            yield _batch(held)
            held, size = [], 0
        held.append((entry, text))
        size += len(text)
    if held:
        yield _batch(held)


def _batch(held: Sequence[tuple[AuditEntry, bytes]]) -> Batch:
    first, last = held[0][0], held[-1][0]
    entries = b",".join(text for _, text in held)
    organization = _json(first.organization)
    body = b'{"organization":%b,"entries":[%b]}' % (organization, entries)
    return Batch(first, last, len(held), body)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


class Sender:
    """Delivers entries, one batch after another, and keeps the position after each.

    A batch is tried until it is accepted. If the process is killed in between, the next sender
    sends the batch again: the receiver may see an entry twice, in the same order, and never misses
    one.
    """

    def __init__(
        self,
        webhook: Webhook,
        position: PositionFile,
        now: Callable[[], datetime],
        *,
        stop: Event | None = None,
        retry_for: float | None = None,
        first_pause: float = _FIRST_PAUSE,
        tell: Callable[[str], None] = log.warning,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._webhook = webhook
        self._position = position
        self._now = now
        self._stop = stop or Event()
        self._retry_for = retry_for
        self._first_pause = first_pause
        self._tell = tell
        self._chance = chance
        self.delivered = 0
        """The number of entries that were accepted so far."""

    def send(self, pages: Iterable[Sequence[AuditEntry]]) -> None:
        """Deliver the pages, until there are no more or `stop` is set.

        Raises NotDelivered if a batch is not accepted within `retry_for` seconds.
        """
        for batch in chain.from_iterable(map(batches_of, pages)):
            if not self._deliver(batch):
                break
            self._position.write(position_of(batch.last))
            self.delivered += batch.size

    def _deliver(self, batch: Batch) -> bool:
        began = monotonic()
        attempt = 0
        while True:
            answer = self._webhook.post(batch.body, self._now())
            if answer.is_taken:
                return True
            pause = self._pause(attempt, answer)
            attempt += 1
            about = (
                f"{self._webhook.host} did not take entries {batch.first.seq} to {batch.last.seq}"
            )
            late = monotonic() + pause - began
            if self._retry_for is not None and late > self._retry_for:
                raise NotDelivered(f"{about} ({answer}); they are sent again the next time")
            self._tell(f"{about} ({answer}); again in {pause:.1f} s")
            if self._stop.wait(pause):
                return False

    def _pause(self, attempt: int, answer: WebhookAnswer) -> float:
        """Seconds to wait: doubled each time, partly random, and no less than the server asked
        for."""
        pause: float = min(_LONGEST_PAUSE, self._first_pause * 2 ** min(attempt, 16))
        return max(pause * (0.5 + self._chance() / 2), answer.pause or 0.0)
