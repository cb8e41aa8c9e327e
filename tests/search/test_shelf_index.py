"""A shelf in memory: caught up with in any number of steps, it is what it would be at once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from incumbent.model.records import Declaration
from incumbent.search import marks as marks_module
from incumbent.search import shelf_index as stack_module
from incumbent.search.collection import code_of, nearest_of
from incumbent.search.shelf_index import ShelfIndex, signs
from incumbent.stores.port import Placed
from incumbent.testing.clock import START
from tests.conftest import examples

FEW = settings(max_examples=examples(80, soak=600), deadline=None)
DIMENSIONS = 9
MARKS = ("=0000000a", "=f000000b")
MATTERS = ("~0000000a", "~f000000c")

moments = st.none() | st.integers(-2, 2).map(lambda days: START + timedelta(days=days))
vectors = st.none() | st.lists(st.integers(-2, 2), min_size=DIMENSIONS, max_size=DIMENSIONS).map(
    lambda row: bytes(part % 256 for part in row)
)


class Content(NamedTuple):
    """What an entry holds after a change of it."""

    live: bool
    starts: Any
    ends: Any
    derived: bool
    length: int
    probes: str
    vector: bytes | None


contents = st.builds(
    Content,
    st.booleans(),
    moments,
    moments,
    st.booleans(),
    st.integers(0, 9),
    st.lists(st.sampled_from(["a", "b", "c"]), max_size=2, unique=True).map(" ".join),
    vectors,
)
transactions = st.lists(
    st.tuples(
        st.lists(contents, max_size=3),  # new ones
        st.lists(st.tuples(st.integers(0, 9), st.none() | contents), max_size=2),  # None erases
        st.booleans(),  # whether somebody looks afterwards
    ),
    max_size=5,
)
_ERASED = Content(False, None, None, False, 0, "", None)


class Shelf:
    """What a store keeps of one shelf."""

    def __init__(self) -> None:
        self.entries: dict[int, Placed] = {}
        self.version = 0

    def commit(
        self, new: list[Content], changes: list[tuple[int, Content | None]], gap: int
    ) -> None:
        self.version += 1
        known = sorted(self.entries)
        for number, content in changes:
            entry = known[number % len(known)] if known else 0
            if known and self.entries[entry].key:  # what was erased is never changed again
                self._put(entry, content or _ERASED, "" if content is None else f"key_{entry}")
        for content in new:
            # Other shelves take numbers in between.
            entry = max(self.entries, default=0) + gap
            self._put(entry, content, f"key_{entry}")

    def _put(self, entry: int, content: Content, key: str) -> None:
        live, starts, ends, derived, length, probes, vector = content
        if key:  # what it holds, and its matter, never change
            marks = [mark for bit, mark in enumerate(MARKS) if entry >> bit & 1]
            probes = " ".join([probes, *marks, MATTERS[entry % 2]]).strip()
        self.entries[entry] = Placed(
            entry, self.version, live, starts, ends, derived, length, key, probes, vector
        )

    def placed(self, after: int) -> list[Placed]:
        found = [placed for placed in self.entries.values() if placed.changed > after]
        return sorted(found, key=lambda placed: (placed.changed, placed.entry))


def state(stack: ShelfIndex, query: Any) -> dict[str, Any]:
    """Everything a stack can be asked."""
    far, numbers = stack.distances(code_of(query))
    entries = range(60)
    return {
        "version": stack.version,
        "size": stack.size,
        "length": stack.length,
        "count": len(stack),
        "live": stack.newest(1_000),
        "termed": stack.termed,
        "suspects": {probe: set(found) for probe, found in stack.suspects.items()},
        "lengths": [stack.length_of(entry) for entry in entries],
        "up to": [stack.count_up_to(entry) for entry in entries],
        "distances": sorted(zip(numbers.tolist(), far.tolist(), strict=True)),
        "out of term": sorted(stack.out_of_term(START)),
        "expired": list(stack.expired(START)),
        "holding": [list(stack.holding(mark)) for mark in MARKS],
        "on matters": [sorted(stack.on_matters({int(one[1:], 16)})) for one in MATTERS],
    }


queries = st.lists(st.integers(-3, 3), min_size=DIMENSIONS, max_size=DIMENSIONS).map(
    lambda row: np.array(row, np.float32)
)


@pytest.mark.parametrize("portion", [1, 2, 5, 8_192])
@FEW
@given(history=transactions, query=queries, gap=st.integers(1, 3))
def test_any_number_of_portions_gives_the_same(
    portion: int, history: list[Any], query: Any, gap: int
) -> None:
    """Followed change by change, or read at once at the end, in portions of any size: the same."""
    shelf = Shelf()
    followed = ShelfIndex(DIMENSIONS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stack_module, "_PORTION", portion)
        patch.setattr(marks_module, "_FEW", portion // 2)
        for new, changes, looks in history:
            shelf.commit(new, changes, gap)
            if looks:
                followed.catch_up(iter(shelf.placed(followed.version)), shelf.version)
        followed.catch_up(iter(shelf.placed(followed.version)), shelf.version)
        at_once = ShelfIndex(DIMENSIONS)
        at_once.catch_up(iter(shelf.placed(0)), shelf.version)
    assert state(followed, query) == state(at_once, query)
    live = sorted(entry for entry, placed in shelf.entries.items() if placed.live)
    assert at_once.newest(1_000) == live
    assert at_once.length == sum(shelf.entries[entry].length for entry in live)


@FEW
@given(history=transactions, query=queries, gap=st.integers(1, 3))
def test_what_may_be_dead_is_watched(history: list[Any], query: Any, gap: int) -> None:
    """An entry is a suspect while its value is dead, may expire, or rests on others."""
    shelf = Shelf()
    stack = ShelfIndex(DIMENSIONS, with_keys=True)
    for new, changes, looks in history:
        shelf.commit(new, changes, gap)
        if looks:
            stack.catch_up(iter(shelf.placed(stack.version)), shelf.version)
    stack.catch_up(iter(shelf.placed(stack.version)), shelf.version)
    for entry, placed in shelf.entries.items():
        termed = placed.starts is not None or placed.ends is not None
        wanted = not placed.live or placed.derived or termed
        for probe in set(placed.probes.split()).difference(MARKS, MATTERS):
            assert (entry in stack.suspects.get(probe, ())) == wanted
        over = placed.ends is not None and placed.ends <= START
        early = placed.starts is not None and placed.starts > START
        assert (entry in set(stack.out_of_term(START))) == (placed.live and (over or early))
        assert (entry in set(stack.expired(START))) == (placed.live and over)
    hides = (Declaration("key_1*", requires=("hr",)),)
    for _ in range(2):
        assert stack.kept_by(hides) == {
            entry for entry, placed in shelf.entries.items() if placed.key.startswith("key_1")
        }


def test_an_erased_entry_leaves_no_key() -> None:
    """Nothing of an entry stays in memory once its fact was erased, not even its key."""
    shelf = Shelf()
    stack = ShelfIndex(DIMENSIONS, with_keys=True)
    shelf.commit([Content(True, None, None, False, 1, "a", None)], [], 1)
    stack.catch_up(iter(shelf.placed(0)), shelf.version)
    shelf.commit([], [(0, None)], 1)
    stack.catch_up(iter(shelf.placed(1)), shelf.version)
    assert stack.keys == {1: None}


def test_an_entry_without_a_name_is_there_as_long_as_its_fact() -> None:
    """Leaving office does not make it an erased one, and a pattern for every key hides it."""
    stack = ShelfIndex(DIMENSIONS, with_keys=True)
    hides = (Declaration("*", requires=("hr",)),)
    held = Placed(1, 1, True, None, None, False, 1, "", MATTERS[0], None)
    stack.catch_up([held], 1)
    stack.catch_up([held._replace(changed=2, live=False, length=0)], 2)
    assert (stack.filled, stack.kept_by(hides)) == (1, {1})
    stack.catch_up([held._replace(changed=3, live=False, length=0, probes="")], 3)
    assert (stack.filled, stack.kept_by(hides)) == (0, set())


# nearness

tables = st.lists(st.tuples(st.sampled_from([True, True, False]), vectors), max_size=16).map(
    lambda rows: dict(enumerate(rows, start=1))
)


def stacked(rows: dict[int, tuple[bool, bytes | None]]) -> ShelfIndex:
    stack = ShelfIndex(DIMENSIONS)
    stack.catch_up(
        (
            Placed(entry, 1, live, None, None, False, 1, "k", "", vector)
            for entry, (live, vector) in rows.items()
        ),
        1,
    )
    return stack


def apart(vector: bytes, query: Any) -> int:
    """How many signs differ, counted one by one."""
    row = np.frombuffer(vector, np.int8)
    return sum((one > 0) != (other > 0) for one, other in zip(row, query, strict=True))


@FEW
@given(
    table=tables,
    query=queries,
    count=st.integers(1, 8),
    cut=st.integers(0, 16),
    unseen=st.sets(st.integers(1, 16), max_size=6),
)
@example(
    table={entry: (True, bytes([1] * entry + [0] * (DIMENSIONS - entry))) for entry in range(1, 9)},
    query=np.ones(DIMENSIONS, np.float32),
    count=2,
    cut=0,
    unseen={1, 2, 3},
)
def test_the_nearest_are_the_nearest(
    table: dict[int, tuple[bool, bytes | None]],
    query: Any,
    count: int,
    cut: int,
    unseen: set[int],
) -> None:
    """As many as asked for, with all that are as near as the last of them, over several stacks.

    What is hidden is not among them and takes nobody's place.
    """
    hidden = {entry for entry in unseen if entry in table and table[entry][0]}
    stacks = [
        stacked({entry: row for entry, row in table.items() if entry <= cut}),
        stacked({entry: row for entry, row in table.items() if entry > cut}),
    ]
    far = {
        entry: apart(vector, query)
        for entry, (live, vector) in table.items()
        if live and vector is not None and entry not in hidden
    }
    nearest = sorted(far.values())[:count]
    expected = {entry for entry, distance in far.items() if nearest and distance <= nearest[-1]}
    found = nearest_of(stacks, query, count, hidden)
    assert len(found) == len(set(found))
    assert set(found) == expected


@pytest.mark.parametrize("dimensions", [1, 7, 8, 63, 64, 65, 384])
def test_signs_take_any_width(dimensions: int) -> None:
    """One bit for each dimension, whatever their number, and none beyond."""
    generator = np.random.default_rng(dimensions)
    table = generator.integers(-127, 128, (5, dimensions)).astype(np.int8)
    codes = signs(table)
    assert codes.shape == (5, -(-dimensions // 64))
    for one in range(5):
        for other in range(5):
            differing = int(np.bitwise_count(codes[one] ^ codes[other]).sum())
            assert differing == int(((table[one] > 0) != (table[other] > 0)).sum())


def test_without_an_embedder_nothing_is_near() -> None:
    """A stack without dimensions counts its entries and finds none by meaning."""
    stack = ShelfIndex(0)
    stack.catch_up([Placed(1, 1, True, None, None, False, 3, "k", "", None)], 1)
    assert (stack.size, stack.length, stack.newest(1_000)) == (1, 3, [1])
    assert nearest_of([stack], np.zeros(0, np.float32), 5, set()) == []
