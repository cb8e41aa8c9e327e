"""Layer 4: signals from outside, read fresh for every use.

Every provider is asked in a thread of its own, all at once, and a reading waits for them together
until one deadline. The threads are daemons, so one that never ends keeps no process alive.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass
from datetime import datetime
from inspect import iscoroutine
from queue import Empty, SimpleQueue
from threading import Thread, current_thread
from time import monotonic
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from incumbent.model.errors import IncumbentError, InvalidInput
from incumbent.model.identity import check_name
from incumbent.model.records import Environment, Signal
from incumbent.model.times import moment
from incumbent.model.values import canonical

Provider = Callable[[], Any]

_OWN = ("current_time", "current_date")
_LONGEST_REASON = 200


class Providers:
    """The providers of one memory. Conversation cannot write here; only code can.

    Safe to share between threads. Invariant: a reading takes no longer than its timeout, and holds
    only the answers to its own questions.
    """

    def __init__(self, timezone: str, max_signal_bytes: int, timeout: float) -> None:
        self._registered: dict[str, _Registration] = {}
        self._timezone = timezone
        self._max_signal_bytes = max_signal_bytes
        self._timeout = timeout

    def provide(self, name: str, provider: Provider) -> None:
        """Register a callable that is asked for the signal each time a context is built.

        It returns a JSON value, or a Signal with an expiry. `timezone` (an IANA name) and
        `location` fill the fields of that name; everything else goes to `external_data`.

        It is called in a thread of its own, with the context variables of whoever reads, and
        several readings may call it at once. One that takes longer than
        `Settings.provider_timeout` is unavailable, and is not asked again before it has answered
        or something is provided under its name anew. A callable that blocks without letting other
        threads run (native code that keeps the interpreter lock) stops those who read too; that
        cannot be helped from here.
        """
        check_name(name, "the name of a signal")
        if name in _OWN:
            raise InvalidInput(f"{name!r} comes from the clock; pass clock= to incumbent.open()")
        if not callable(provider):
            raise InvalidInput(f"the provider of {name!r} must be callable, not {provider!r:.80}")
        self._registered[name] = _Registration(name, provider)

    def withdraw(self, name: str) -> None:
        """Stop asking a provider."""
        self._registered.pop(name, None)

    def read(self, now: datetime) -> Environment:
        """Ask every provider once. One that fails is named in `unavailable`, never hidden."""
        answers = self._ask_all(now)
        signals = {a.name: a.value for a in answers if a.refusal is None}
        unavailable = {a.name: a.refusal for a in answers if a.refusal is not None}
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
            unavailable=dict(sorted(unavailable.items())),
        )

    def clock(self, now: datetime) -> Environment:
        """The clock alone: the answers of providers at a past moment are not kept."""
        unavailable: dict[str, str] = {}
        local = now.astimezone(_zone(self._timezone, unavailable))
        return Environment(local, local.date(), str(local.tzinfo), unavailable=unavailable)

    def _ask_all(self, now: datetime) -> list[_Answer]:
        """One answer for each provider, by name; a refusal for one without an answer in time."""
        # A copy: others may provide and withdraw while this reading goes on.
        registered = sorted(self._registered.copy().items())
        if not registered:
            return []
        # The queue is this reading's own, so an answer that comes too late is found by nobody.
        incoming: SimpleQueue[_Answer] = SimpleQueue()
        deadline = monotonic() + self._timeout
        reading = _Reading(now, self._max_signal_bytes, deadline, incoming)
        for _, registration in registered:
            _ask(registration, reading)
        answers = _collect(incoming, len(registered), deadline)
        silence = f"did not answer within {self._timeout:g} s"
        return [answers.get(name) or _Answer(name, refusal=silence) for name, _ in registered]


@dataclass(frozen=True, slots=True)
class _Answer:
    """The answer of one provider: a value, or the reason why there is none."""

    name: str
    value: Any = None
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class _Reading:
    """The data that the calls of one reading share."""

    now: datetime
    max_signal_bytes: int
    deadline: float
    incoming: SimpleQueue[_Answer]


class _Registration:
    """A provider under its name, with the calls of it that are under way."""

    def __init__(self, name: str, provider: Provider) -> None:
        self.name = name
        self.provider = provider
        # No lock guards the set, as each use of it is one atomic step: a process forked while
        # another thread held the lock would wait for it for ever.
        self.calls: set[_Call] = set()

    def hangs(self) -> bool:
        """Whether a call is still running that an earlier reading has given up on."""
        present = monotonic()
        # In a forked process the threads of its parent are not alive, whatever the set says.
        return any(call.deadline <= present and call.is_alive() for call in self.calls.copy())


class _Call(Thread):
    """One provider being asked for one reading."""

    def __init__(self, registration: _Registration, reading: _Reading) -> None:
        super().__init__(name=f"incumbent provider {registration.name}", daemon=True)
        self.deadline = reading.deadline
        self.asked = _asked_by(current_thread()) | {registration}
        self._registration = registration
        self._reading = reading
        self._context = copy_context()

    def run(self) -> None:
        """Put the answer into the reading's queue, whatever the provider does."""
        name = self._registration.name
        try:
            value = self._context.run(_signal, self._registration.provider, self._reading)
            answer = _Answer(name, value)
        except BaseException as error:  # a provider is someone else's code; it may even exit
            answer = _Answer(name, refusal=_told(error))
        self._registration.calls.discard(self)
        self._reading.incoming.put(answer)


def _asked_by(thread: Thread) -> frozenset[_Registration]:
    """The providers that wait for this thread."""
    return thread.asked if isinstance(thread, _Call) else frozenset()


def _ask(registration: _Registration, reading: _Reading) -> None:
    """Start a call, or refuse at once if it could not end well."""
    if registration in _asked_by(current_thread()):
        refusal = "reads the environment itself, so it is not asked there"
    elif registration.hangs():
        refusal = "still has not answered"
    else:
        call = _Call(registration, reading)
        registration.calls.add(call)
        try:
            call.start()
            return
        except RuntimeError as error:  # no more threads to be had, or the interpreter is ending
            registration.calls.discard(call)
            refusal = f"could not be asked: {_told(error)}"
    reading.incoming.put(_Answer(registration.name, refusal=refusal))


def _collect(incoming: SimpleQueue[_Answer], count: int, deadline: float) -> dict[str, _Answer]:
    """The answers that have arrived by the deadline."""
    answers: dict[str, _Answer] = {}
    while len(answers) < count:
        try:
            answer = incoming.get(timeout=max(0.0, deadline - monotonic()))
        except Empty:
            break
        answers[answer.name] = answer
    return answers


def _signal(provider: Provider, reading: _Reading) -> Any:
    """Ask, and check the answer. This too runs on a thread that cannot hold up a reading."""
    value = provider()
    if isinstance(value, Signal):
        if value.expires_at is not None:
            expiry = moment(value.expires_at, "expires_at")
            if expiry <= reading.now:
                raise InvalidInput(f"expired at {expiry.isoformat()}")
        value = value.value
    if iscoroutine(value):
        value.close()
        raise InvalidInput("returned a coroutine; provide a plain function, not an async one")
    return _own_copy(value, reading.max_signal_bytes)


def _own_copy(value: Any, limit: int) -> Any:
    """A JSON value that nobody else can change any more, refused if it is too big."""
    too_big = f"takes more than {limit:,} bytes; return less, or raise Settings.max_signal_bytes"
    if _outgrows(value, limit):
        raise InvalidInput(too_big)
    text = canonical(value, limit=sys.maxsize)
    if len(text.encode()) > limit:
        raise InvalidInput(too_big)
    return json.loads(text) if isinstance(value, list | dict) else value


def _outgrows(value: Any, limit: int) -> bool:
    """True if a value takes more than `limit` bytes as JSON, judged without writing it out.

    It counts the bytes that every spelling of the value needs and stops at the limit, so that a
    value of any size, or one that contains itself, is refused quickly. A value that fits is never
    refused.
    """
    size, rest = 0, [value]
    while rest and size <= limit:
        item = rest.pop()
        if type(item) is str:
            size += len(item) + 2  # its quotes
        elif type(item) is list:
            size += len(item) + 1  # a bracket, and a comma or bracket behind each
            rest.extend(item if size <= limit else ())
        elif type(item) is dict:
            size += 2 * len(item) + 1  # likewise, and the colons
            rest.extend(item if size <= limit else ())
            rest.extend(item.values() if size <= limit else ())
        else:
            size += 1
    return size > limit


def _told(error: BaseException) -> str:
    """An error as a short reason: ours by its message, any other by its type as well."""
    try:
        message = _one_line(str(error))
    except BaseException:  # the message too is made by someone else's code
        message = ""
    if message and isinstance(error, IncumbentError):
        return message
    return _one_line(f"{type(error).__name__}: {message}" if message else type(error).__name__)


def _one_line(text: str) -> str:
    """A text on one line, of characters that can be seen and stored. A long one loses its middle:
    our own messages name the place first and the trouble last."""
    if len(text) <= _LONGEST_REASON:
        return _plain(text)
    half = (_LONGEST_REASON - 1) // 2
    return f"{_plain(text[:half])}…{_plain(text[-half:])}"


def _plain(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _zone(name: Any, unavailable: dict[str, str]) -> ZoneInfo:
    try:
        return ZoneInfo(str(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        unavailable["timezone"] = f"{name!r:.80} is not a known time zone; using UTC"
        return ZoneInfo("UTC")
