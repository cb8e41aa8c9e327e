"""The checker of histories finds what it is there to find, and nothing else."""

from __future__ import annotations

import random

from tests.postgres.linearizability import END, Read, Span, Write, check, overlaps

CITY = {"city": [Span(1, 2, "Bern"), Span(2, END, "Chur")]}
BERN, CHUR = Write(0, 10, 1), Write(20, 30, 2)


def test_an_orderly_history_passes() -> None:
    """Reads see what was last written, or what is being written."""
    reads = [
        Read(11, 12, "city", "Bern"),
        Read(22, 23, "city", "Bern"),
        Read(24, 25, "city", "Chur"),
        Read(31, 32, "city", "Chur"),
        Read(1, 2, "city", None),
        Read(3, 12, "town", None),
    ]
    assert check([BERN, CHUR], reads, CITY) == []


def test_a_stale_read_is_found() -> None:
    """A read that begins after a write was acknowledged does not see what was before."""
    assert len(check([BERN, CHUR], [Read(31, 32, "city", "Bern")], CITY)) == 1


def test_a_read_of_the_future_is_found() -> None:
    """A read that is over before a write begins does not see what is written."""
    assert len(check([BERN, CHUR], [Read(11, 19, "city", "Chur")], CITY)) == 1


def test_going_back_is_found() -> None:
    """What one read has seen, a later one does not see undone."""
    reads = [Read(21, 22, "city", "Chur"), Read(23, 24, "city", "Bern")]
    assert len(check([BERN, CHUR], reads, CITY)) == 1
    assert check([BERN, CHUR], reads[::-1], CITY) == check([BERN, CHUR], reads, CITY)


def test_reads_at_the_same_time_may_see_either() -> None:
    """Reads that overlap are in no order."""
    reads = [Read(21, 25, "city", "Chur"), Read(22, 26, "city", "Bern")]
    assert check([BERN, CHUR], reads, CITY) == []


def test_a_read_orders_what_another_address_shows() -> None:
    """The order holds across addresses: after seeing entry 2, entry 1 is seen too."""
    spans = {"city": [Span(1, END, "Bern")], "lead": [Span(2, END, "Ann")]}
    reads = [Read(21, 22, "lead", "Ann"), Read(23, 24, "city", None)]
    assert len(check([Write(0, 40, 1), Write(0, 40, 2)], reads, spans)) == 1


def test_entries_out_of_order_are_found() -> None:
    """A write that began after another was acknowledged has the greater number."""
    assert len(check([Write(0, 10, 2), Write(20, 30, 1)], [], {})) == 1
    assert check([Write(0, 10, 2), Write(5, 30, 1)], [], {}) == []


def test_nothing_seen_while_something_holds_is_found() -> None:
    """Nothing is a value like others: it fits only where nothing holds."""
    assert len(check([BERN], [Read(11, 12, "city", None)], {"city": [Span(1, END, "Bern")]})) == 1
    assert check([BERN], [Read(11, 12, "city", None)], {"city": [Span(1, 2, "Bern")]}) == []


def test_two_at_one_address_are_found() -> None:
    """Spans of an address do not overlap."""
    assert overlaps([Span(1, 3, "a"), Span(3, END, "b")]) == []
    assert len(overlaps([Span(1, 4, "a"), Span(3, END, "b")])) == 1


def test_histories_made_one_after_the_other_pass_and_broken_ones_do_not() -> None:
    """Random histories of a real register pass; with one read exchanged for a dead value, not."""
    for seed in range(200):
        chance = random.Random(seed)
        writes, reads, spans = _history(chance)
        assert check(writes, reads, spans) == []
        begun = max(write.end for write in writes) + 1
        assert check(writes, [*reads, Read(begun, begun + 1, "x", 1)], spans)


def _history(chance: random.Random) -> tuple[list[Write], list[Read], dict[str, list[Span]]]:
    """Operations that each take effect at a moment of their own within a longer time."""
    writes, reads = [], []
    seq = 0
    for moment in range(0, 2000, 10):
        begin, end = moment - chance.randrange(40), moment + 1 + chance.randrange(40)
        if chance.random() < 0.3 or seq < 2:
            seq += 1
            writes.append(Write(begin, end, seq))
        else:
            reads.append(Read(begin, end, "x", seq))
    last = len(writes)
    spans = [Span(n, n + 1 if n < last else END, n) for n in range(1, last + 1)]
    return writes, reads, {"x": spans}
