"""Retrieval: what a query is about, by its words and by its meaning."""

from __future__ import annotations

from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from incumbent.search import retrieval
from incumbent.search.collection import AdHoc
from incumbent.search.retrieval import Hit, alike, search
from incumbent.stores.port import Found
from tests.conftest import STORES, examples
from tests.search.sample import WORDS, Said, a_hall, a_library, ad_hoc, said
from tests.search.test_collection import CROWD

FEW = settings(max_examples=examples(25, soak=200), deadline=None)
queries = st.lists(st.sampled_from((*WORDS, "Zebra", "the", "boat")), max_size=4).map(" ".join)


def row(entry: int, terms: str, vector: bytes | None = None) -> Found:
    return Found(entry, f"id-{entry}", f"key_{entry}", terms, 7, vector)


def found_by(rows: list[Found], query: str, meaning: Any = None, limit: int = 99) -> dict[int, Hit]:
    dimensions = 0 if meaning is None else len(meaning)
    collection = AdHoc([(one, False) for one in rows], dimensions)
    return {hit.entry: hit for hit in search(collection, query, lambda _: meaning, limit=limit)}


@pytest.mark.parametrize("store", STORES)
@FEW
@given(found=st.lists(said, max_size=14), query=queries, limit=st.integers(1, 20))
@example(found=CROWD, query="harbour dock", limit=3)
@example(found=CROWD, query="harbour", limit=8)
def test_shelves_and_facts_give_the_same_hits(
    store: str, found: list[Said], query: str, limit: int
) -> None:
    """A search over shelves finds what a search over the very facts finds, score for score.

    With limits so low that terms are frequent and usual in a handful of facts.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrieval, "_FREQUENT", 3)
        patch.setattr(retrieval, "_FEW", 2)
        patch.setattr(retrieval, "_BINDING", 2)
        with a_library(store, found) as memory, a_hall(memory) as (reader, space):
            embed = memory.index.meaning
            hits = search(space.collection, query, embed, limit=limit)
            expected = search(ad_hoc(memory, reader), query, embed, limit=limit)
            assert hits == expected


@FEW
@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), max_size=8),
    query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True),
)
def test_words_are_weighed_as_bm25_does(texts: list[list[str]], query: list[str]) -> None:
    """The score of the words is BM25 as a share of what the query could get, worked out anew."""
    rows = [row(number, " ".join(words)) for number, words in enumerate(texts, start=1)]
    hits = found_by(rows, " ".join(query))
    count = len(texts)
    weights = {}
    for term in query:
        having = sum(term in words for words in texts)
        if having:
            weights[term] = np.log(1 + (count - having + 0.5) / (having + 0.5))
    mean = sum(map(len, texts)) / count if count else 0
    for number, words in enumerate(texts, start=1):
        score = sum(
            weights[term]
            * (times := words.count(term))
            * 2.2
            / (times + 1.2 * (0.25 + 0.75 * len(words) / mean))
            for term in weights
        )
        expected = score / sum(weights.values()) if weights else 0
        assert (number in hits) == any(term in words for term in query)
        if number in hits:
            assert hits[number].text == pytest.approx(expected)
            assert hits[number].meaning == 0


@FEW
@given(
    rows=st.lists(
        st.none() | st.lists(st.integers(-5, 5), min_size=3, max_size=3).map(tuple), max_size=8
    ),
    query=st.lists(st.integers(-3, 3), min_size=3, max_size=3).filter(any),
)
def test_meanings_are_compared_by_their_angle(
    rows: list[tuple[int, ...] | None], query: list[int]
) -> None:
    """The score of the meaning is the cosine; what has none scores nothing and is not found."""
    length = sqrt(sum(part * part for part in query))
    meaning = np.array([part / length for part in query], np.float32)
    given = [
        row(number, "word", None if one is None else bytes(part % 256 for part in one))
        for number, one in enumerate(rows, start=1)
    ]
    hits = found_by(given, "zebra", meaning)
    for number, one in enumerate(rows, start=1):
        assert (number in hits) == (one is not None)
        if one is not None:
            norm = sqrt(sum(part * part for part in one))
            product = float(np.dot(one, meaning))
            expected = product / norm if norm else 0.0
            assert hits[number].meaning == pytest.approx(expected, abs=1e-6)


def test_a_rare_word_weighs_more_than_a_frequent_one() -> None:
    """Of two texts with one word of the query each, the one with the rarer word is nearer."""
    rows = [row(number, "harbour") for number in range(1, 10)] + [row(10, "crane")]
    hits = found_by(rows, "harbour crane")
    assert hits[10].text > hits[1].text


def test_a_very_frequent_word_is_not_looked_up() -> None:
    """A word that more than a thousand have tells nothing apart, and costs nothing."""
    rows = [row(number, "harbour") for number in range(1, 1_102)] + [row(2_000, "harbour crane")]
    hits = found_by(rows, "harbour crane")
    assert list(hits) == [2_000]


def test_where_all_words_are_frequent_the_newest_that_have_one_are_found() -> None:
    """Who asks about harbours in a memory of harbours is not told that there are none."""
    rows = [row(number, "harbour") for number in range(1, 1_102)] + [row(2_000, "crane")]
    assert sorted(found_by(rows, "harbour", limit=3)) == [1_099, 1_100, 1_101]
    assert not found_by(rows, "lighthouse")


def test_a_word_that_all_have_does_not_draw_the_meaning() -> None:
    """The meaning of a query is taken without the words that a good part of the memory has."""
    rows = [row(number, f"harbour w{number}") for number in range(1, 31)]
    asked: list[str] = []
    collection = AdHoc([(one, False) for one in rows], 0)

    def embed(query: str) -> None:
        asked.append(query)

    for query in ("Which harbour has w3?", "harbour", "the harbour", "w3"):
        search(collection, query, embed, limit=5)
    assert asked == ["Which has w3?", "harbour", "the harbour", "w3"]


def test_the_limit_takes_the_best_by_words() -> None:
    """With a limit, the best by words are looked at, the newer first among equals."""
    rows = [row(number, "harbour") for number in range(1, 10)] + [row(10, "harbour crane")]
    assert sorted(found_by(rows, "harbour crane", limit=3)) == [8, 9, 10]


def test_constraints_are_always_looked_at() -> None:
    """A constraint is among the hits though neither a word nor its meaning brought it there."""
    rows = [(row(1, "harbour"), True), (row(2, "crane"), False), (row(3, "dock"), False)]
    hits = search(AdHoc(rows, 0), "crane", lambda _: None, limit=1)
    assert [(hit.entry, hit.binding) for hit in hits] == [(1, True), (2, False)]


@pytest.mark.parametrize("query", ["quay", "harbour " * 500, "x" * 20_000])
def test_odd_queries_are_served(query: str) -> None:
    """A query of a word nobody wrote, or of very many words has an answer."""
    rows = [row(number, "harbour") for number in range(1, 4)]
    hits = found_by(rows, query)
    assert set(hits) == ({1, 2, 3} if "harbour" in query else set())


@pytest.mark.parametrize("query", ["", "the of", "?!", "🜁"])
def test_a_query_of_nothing_finds_what_is_newest(query: str) -> None:
    """A context that nobody asked anything of has something to show, however much is known."""
    rows = [row(number, "harbour") for number in range(1, 9)]
    assert sorted(found_by(rows, query, limit=3)) == [6, 7, 8]


@FEW
@given(
    rows=st.lists(
        st.none() | st.lists(st.integers(-2, 2), min_size=3, max_size=3).map(tuple), max_size=8
    ),
    least=st.sampled_from([0.3, 0.7, 0.94, 0.999]),
)
def test_likeness_is_found_pair_by_pair(rows: list[tuple[int, ...] | None], least: float) -> None:
    """For each vector that is like an earlier one: the first such, and it."""

    def cosine(one: tuple[int, ...], other: tuple[int, ...]) -> float:
        norm = sqrt(float(np.dot(one, one)) * float(np.dot(other, other)))
        return float(np.dot(one, other)) / norm if norm else 0.0

    first: dict[int, int] = {}
    for earlier, later in combinations(range(len(rows)), 2):
        one, other = rows[earlier], rows[later]
        if one is not None and other is not None and cosine(one, other) >= least + 1e-6:
            first.setdefault(later, earlier)
    given = [None if one is None else bytes(part % 256 for part in one) for one in rows]
    assert alike(given, least) == [(first[later], later) for later in sorted(first)]
