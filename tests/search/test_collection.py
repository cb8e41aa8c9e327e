"""Shelves and facts put together ad hoc: two ways to hold the same things, one answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from incumbent.search.collection import Collection
from incumbent.testing import SteppingClock
from tests.conftest import STORES, examples
from tests.properties.contexts import FAST
from tests.search.sample import HIDES, WORDS, Said, a_hall, a_library, ad_hoc, said, seen

FEW = settings(max_examples=examples(25, soak=200), deadline=None)
QUERIES = ("harbour crane", "ship", "something by the sea")
libraries = st.lists(said, max_size=14)


def plain(*words: str, hidden: bool = False) -> Said:
    return Said(words, hidden, False, False, "open", False)


CROWD = [
    *(plain("harbour", "dock", hidden=True) for _ in range(4)),
    *(plain("harbour", word) for word in WORDS),
    plain("dock", "dock"),
    *(plain("parcel", hidden=True) for _ in range(3)),
    *(plain("harbour", "crane", word) for word in WORDS),
]


def answers(collection: Collection, embed: Any, limits: tuple[int, ...]) -> dict[str, Any]:
    """Everything a search asks of a collection."""
    found: dict[str, Any] = {"size": collection.size, "mean length": collection.mean_length}
    for limit in limits:
        for term in (*WORDS, "anew", "zebra"):
            found[f"{term}, {limit}"] = collection.postings(term, limit)
        for query in QUERIES:
            meaning = embed(query)
            if meaning is not None:
                found[f"near {query}, {limit}"] = sorted(collection.nearest(meaning, limit))
            found[f"binding {query}, {limit}"] = sorted(collection.binding(meaning, limit))
    return found


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("embedder", ["static", None])
@FEW
@given(found=libraries, limit=st.integers(1, 6))
@example(found=CROWD, limit=1)
@example(found=CROWD, limit=3)
@example(found=[plain("harbour")] * 4, limit=1)
def test_shelves_answer_like_the_facts_themselves(
    store: str, embedder: str | None, found: list[Said], limit: int
) -> None:
    """Size, lengths, postings, shares, neighbours and constraints are those of what is seen.

    Whatever is hidden, out of term or dead on the same shelves is in none of the answers.
    """
    with (
        a_library(store, found, settings=replace(FAST, embedder=embedder)) as memory,
        a_hall(memory) as (reader, space),
    ):
        assert space.size == len(seen(reader, memory.now()))
        embed = memory.index.meaning
        limits = (limit, 100)
        expected = answers(ad_hoc(memory, reader), embed, limits)
        assert answers(space.collection, embed, limits) == expected


@pytest.mark.parametrize("store", STORES)
@FEW
@given(found=libraries, limit=st.integers(1, 4))
@example(found=CROWD, limit=2)
def test_it_does_not_matter_who_asked_before(store: str, found: list[Said], limit: int) -> None:
    """What was worked out for one who sees more is not told to one who sees less, nor back."""
    with a_library(store, found) as memory:
        embed = memory.index.meaning
        for hides in ((), HIDES, (), HIDES):
            with a_hall(memory, hides) as (reader, space):
                expected = answers(ad_hoc(memory, reader, hides), embed, (limit,))
                assert answers(space.collection, embed, (limit,)) == expected


@pytest.mark.parametrize("store", STORES)
@FEW
@given(
    steps=st.lists(st.lists(said, min_size=1, max_size=4), min_size=2, max_size=4),
    limit=st.integers(1, 4),
)
@example(steps=[[plain("harbour")] * 4, [plain("dock")] * 30, [plain("harbour")]], limit=3)
def test_what_was_remembered_is_still_right(
    store: str, steps: list[list[Said]], limit: int
) -> None:
    """Asked between writes, a collection gives what one gives that was never asked before."""
    clock = SteppingClock()
    with a_library(store, [], clock) as memory:
        session = memory.session(
            user_id="eve", organization="acme", permissions=["hr"], session_id="s"
        )
        embed = memory.index.meaning
        for number, step in enumerate(steps):
            for place, one in enumerate(step):
                key = f"{'vault' if one.hidden else 'fact'}_{place if one.replaced else number}"
                session.write(f"{key}_{place}", f"{' '.join(one.words)} {number}")
            clock.advance(seconds=10)
            with a_hall(memory) as (reader, space):
                expected = answers(ad_hoc(memory, reader), embed, (limit,))
                assert answers(space.collection, embed, (limit,)) == expected


@FEW
@given(found=libraries)
def test_rows_come_ordered(found: list[Said]) -> None:
    """Entries are given in the order of their numbers, each with its terms."""
    with a_library("memory", found) as memory, a_hall(memory) as (reader, space):
        other = ad_hoc(memory, reader)
        numbers = [row.entry for row in reader.entries_of(f.id for f in seen(reader, memory.now()))]
        for collection in (space.collection, other):
            rows = collection.rows(numbers[::-1])
            assert [row.entry for row in rows] == sorted(numbers)
        assert space.collection.rows(numbers) == other.rows(numbers)


def test_an_empty_collection_has_no_answers() -> None:
    """With nothing on the shelves there is nothing to divide by either."""
    with a_library("memory", []) as memory, a_hall(memory) as (reader, space):
        for collection in (space.collection, ad_hoc(memory, reader)):
            assert collection.size == 0
            assert collection.mean_length == 0
            assert collection.postings("harbour", 5) == ([], 0.0)
            assert collection.binding(None, 5) == []
