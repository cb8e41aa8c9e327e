"""Whether a recorded history could have happened one operation after the other.

An organization is a log of numbered entries, and at each address something holds office from one
entry up to another. An operation that was over before another began must come before it: a write
has the place of its entry, a read may be anywhere among the entries at which what it saw was so.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

END = 1 << 62


class Write(NamedTuple):
    """Something that was acknowledged with an entry of the log."""

    begin: int
    end: int
    seq: int


class Read(NamedTuple):
    """What somebody saw at an address; None for nothing."""

    begin: int
    end: int
    address: str
    value: Any


class Span(NamedTuple):
    """What an address held, from one entry up to, not including, another."""

    since: int
    until: int
    value: Any


def check(
    writes: Sequence[Write], reads: Sequence[Read], spans: dict[str, list[Span]]
) -> list[str]:
    """What could not have happened one after the other; nothing, if all could."""
    return [*_misplaced(writes), *_impossible(writes, reads, spans)]


def _misplaced(writes: Sequence[Write]) -> list[str]:
    """Writes whose entries are not in the order in which they were made."""
    wrong = []
    ended = sorted(writes, key=lambda write: write.end)
    latest = 0
    done = 0
    for write in sorted(writes, key=lambda write: write.begin):
        while done < len(ended) and ended[done].end < write.begin:
            latest = max(latest, ended[done].seq)
            done += 1
        if write.seq <= latest:
            wrong.append(f"{write} began after entry {latest} was acknowledged")
    return wrong


def _impossible(
    writes: Sequence[Write], reads: Sequence[Read], spans: dict[str, list[Span]]
) -> list[str]:
    """Reads that fit nowhere. Each takes the earliest place it can, which leaves the most to
    those after it: that is why one pass is enough."""
    wrong = []
    ended = sorted((write.end, write.seq) for write in writes)
    begun = sorted((write.begin, write.seq) for write in writes)
    begins = [begin for begin, _ in begun]
    firsts = _least_from([seq for _, seq in begun])
    latest, done = 0, 0
    over: list[tuple[int, int]] = []
    for read in sorted(reads, key=lambda read: read.begin):
        while done < len(ended) and ended[done][0] < read.begin:
            latest = max(latest, ended[done][1])
            done += 1
        while over and over[0][0] < read.begin:
            latest = max(latest, heapq.heappop(over)[1])
        # Writes that began after this read ended come after it.
        bound = firsts[bisect_left(begins, read.end + 1)] - 1
        place = _earliest(spans.get(read.address, []), read.value, latest, bound)
        if place is None:
            wrong.append(f"{read} fits nowhere between entries {latest} and {min(bound, END)}")
        else:
            heapq.heappush(over, (read.end, place))
    return wrong


def _least_from(numbers: Sequence[int]) -> list[int]:
    """For each place in a sequence the least number from there on."""
    least = [END]
    for number in reversed(numbers):
        least.append(min(least[-1], number))
    return least[::-1]


def _earliest(spans: Iterable[Span], value: Any, low: int, high: int) -> int | None:
    """The earliest entry from `low` to `high` after which an address held a value."""
    if value is None:
        found = _gaps(spans)
    else:
        found = [span for span in spans if span.value == value]
    places = [max(low, span.since) for span in found if max(low, span.since) < span.until]
    return min((place for place in places if place <= high), default=None)


def _gaps(spans: Iterable[Span]) -> list[Span]:
    """When an address held nothing."""
    gaps, since = [], 0
    for span in sorted(spans, key=lambda span: span.since):
        if span.since > since:
            gaps.append(Span(since, span.since, None))
        since = span.until
    return [*gaps, Span(since, END, None)] if since < END else gaps


def overlaps(spans: Iterable[Span]) -> list[str]:
    """Where an address held two things at once."""
    ordered = sorted(spans, key=lambda span: span.since)
    return [
        f"{one} and {other} hold the same address"
        for one, other in pairwise(ordered)
        if other.since < one.until
    ]
