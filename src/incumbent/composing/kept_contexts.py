"""Contexts that were made lately, for whoever asks the same while nothing has changed.

A context is made of the state of its organization, the asker, the request, the desk, the signals of
outside systems and the clock. Everything but the clock is in the name that a context is kept under,
in full, so that another state is another name. The clock counts in three ways. Where it decides
which terms have begun or ended, a `WatchedMoment` tells from when to when the same comes out. Where
it tells an age, nothing is kept. And its own line is written anew, which changes nothing else as
long as that line takes as many tokens.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from incumbent.composing.watched_moment import WatchedMoment
from incumbent.context.document import Context, Line, Spelled, copied
from incumbent.context.rendering import ENVIRONMENT, other_environment_lines, render
from incumbent.context.request import Request
from incumbent.context.tokens import Count
from incumbent.engine.lens import Lens
from incumbent.model.records import Environment, WorkingItem
from incumbent.model.text_cache import when_forgetting
from incumbent.model.values import is_longer
from incumbent.stores.port import Reader

Asked = tuple[Request, Environment, Sequence[WorkingItem], Sequence[str], float]
"""A request, and what goes into its context besides facts: the environment, the desk, the lines
about the session, and the share of the budget for facts."""

_MOST = 100_000
"""Lines and omissions of all contexts that are kept together: some 40 MB, and at most as much again
if a service is asked for all of them more than once."""
_A_LINE = 400
"""Characters that take as much memory as a line: values, and so lines, can be very long."""
_MOST_ORGANIZATIONS = 10_000
_CLOCK = "current_time"
_LONG_DESK = 20_000
"""Characters."""
_MOST_ITEMS = 100


@dataclass(frozen=True, slots=True)
class Name:
    """Everything that a context is made of, but for the time of the day."""

    organization: str
    revision: tuple[Any, ...]
    """The last entry of the organization's log, and a digest of the declarations."""
    digest: bytes
    """Of the asker, the request, the desk and the environment."""
    generation: int
    """Grows with every erasure: what was read before one is not kept after it."""


@dataclass(frozen=True, slots=True)
class _KeptContext:
    context: Context
    moment: WatchedMoment
    clock: str
    """The line of the clock."""
    is_for_the_day: bool
    """Whether the line of the clock may be written anew."""
    spelled: Spelled

    @staticmethod
    def of(context: Context, moment: WatchedMoment, clock: str) -> _KeptContext:
        spelled = Spelled(_A_LINE * size_of(context))
        return _KeptContext(context, moment, clock, _tells_clock_once(context, clock), spelled)


def clock_of(environment: Environment) -> str:
    """The line that tells the time."""
    return dict(other_environment_lines(environment))[_CLOCK]


def is_soon_spelled(desk: Sequence[WorkingItem]) -> bool:
    """Whether a desk is short enough to be part of a name. Of a long one, little is looked at."""
    return len(desk) <= _MOST_ITEMS and not is_longer([one.value for one in desk], _LONG_DESK)


def name_of(
    reader: Reader,
    lens: Lens,
    request: Request,
    environment: Environment,
    desk: Sequence[WorkingItem],
    frame: Sequence[str],
    share: float,
    *,
    generation: int,
) -> Name:
    """The name of the context that would be made of these.

    `generation` is that of what is kept from before `reader` was opened.
    """
    who = lens.identity
    day = environment.current_time.replace(hour=0, minute=0, second=0, microsecond=0)
    # Spelled out: what is equal in Python, such as 1 and True, reads differently in a context.
    told = repr(
        (
            *(replace(who, permissions=frozenset()), sorted(who.permissions), lens.places),
            *(request, share, list(frame), list(desk)),
            replace(environment, current_time=day),
            reader.passage_count(who.user_id) if lens.settings.passages else 0,
        )
    )
    seq, at = reader.head()
    declared = _digest(repr(reader.declarations()))
    return Name(reader.organization, (seq, at, declared), _digest(told), generation)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=32).digest()


class KeptContexts:
    """The contexts of one memory that were made lately. Safe to share between threads."""

    def __init__(self, most: int = _MOST) -> None:
        self.generation = 0
        """Grows with every erasure."""
        self._most = most
        self._revisions: OrderedDict[str, tuple[Any, ...]] = OrderedDict()
        self._kept: OrderedDict[tuple[str, bytes], _KeptContext] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()
        when_forgetting(self.forget)

    def forget(self) -> None:
        """Drop everything: contexts are people's words."""
        with self._lock:
            self.generation += 1
            self._kept.clear()
            self._revisions.clear()
            self._size = 0

    def find(
        self, name: Name, when: datetime, environment: Environment, count: Count
    ) -> Context | None:
        """The context of that name as it is at a moment, if it was made before."""
        place = (name.organization, name.digest)
        with self._lock:
            if self._revisions.get(name.organization) != name.revision:
                self._drop(name.organization)
                self._revisions[name.organization] = name.revision
                self._revisions.move_to_end(name.organization)
                if len(self._revisions) > _MOST_ORGANIZATIONS:
                    # What is kept of it goes in its turn; without a revision it is not found.
                    self._revisions.popitem(last=False)
                return None
            self._revisions.move_to_end(name.organization)
            kept = self._kept.get(place)
            if kept is None or not kept.moment.covers(when):
                return None
            self._kept.move_to_end(place)
        clock = clock_of(environment)
        if clock != kept.clock:
            if not kept.is_for_the_day or not _take_as_much(clock, kept.clock, count):
                return None
            anew = _told_anew(kept, clock)
            with self._lock:
                if self._kept.get(place) is kept:
                    self._kept[place] = anew  # for whoever asks in the same minute
            kept = anew
        return copied(kept.context, when, kept.spelled)

    def keep(
        self, name: Name, moment: WatchedMoment, environment: Environment, context: Context
    ) -> None:
        """Keep a context, made at that moment, which has noted how it was used."""
        if moment.was_told:
            return
        clock = clock_of(environment)
        kept = _KeptContext.of(context, moment, clock)
        place = (name.organization, name.digest)
        with self._lock:
            is_present = self._revisions.get(name.organization) == name.revision
            if not is_present or self.generation != name.generation:
                return  # somebody has seen a later state, or has erased something
            before = self._kept.pop(place, None)
            self._size += _size(kept) - (0 if before is None else _size(before))
            self._kept[place] = kept
            while self._size > self._most:
                self._size -= _size(self._kept.popitem(last=False)[1])

    def _drop(self, organization: str) -> None:
        """Drop the contexts of an earlier state, which nobody will ask for again."""
        for place in [one for one in self._kept if one[0] == organization]:
            self._size -= _size(self._kept.pop(place))


def _size(kept: _KeptContext) -> int:
    return size_of(kept.context)


def size_of(context: Context) -> int:
    """What a context takes, in lines. Its text is there twice, as a whole and by its lines."""
    characters = 2 * len(context.text) + len(context.query)
    return 1 + len(context.lines) + len(context.omissions) + characters // _A_LINE


def _tells_clock_once(context: Context, clock: str) -> bool:
    """Whether the line of the clock is known for sure: a signal may read like it."""
    shown = sum(line.text == clock for line in context.lines if line.section == ENVIRONMENT)
    left_out = any(omission.item == _CLOCK for omission in context.omissions)
    return shown == 1 and not left_out


def _told_anew(kept: _KeptContext, clock: str) -> _KeptContext:
    """The same context with another line for the clock."""
    lines = tuple(
        Line(ENVIRONMENT, clock)
        if line.section == ENVIRONMENT and line.text == kept.clock
        else line
        for line in kept.context.lines
    )
    text = render([(line.section, line.text) for line in lines])
    anew = replace(kept.context, lines=lines, text=text)
    # A signal that reads like the clock of another minute may do so now.
    return _KeptContext.of(anew, kept.moment, clock)


def _take_as_much(one: str, other: str, count: Count) -> bool:
    """Whether a line can take the place of another, whatever follows it."""
    ends = ("", "\n", "\n\n")
    return (
        count.adds_up
        and len(one) == len(other)
        and all(count(f"{one}{end}") == count(f"{other}{end}") for end in ends)
    )
