"""Retrieval: the entries that a query is about, by its words and by its meaning."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tenure.search.analysis import terms
from tenure.stores.port import Found

if TYPE_CHECKING:
    from tenure.search.collection import Collection, Vector

# The usual constants of BM25.
_K1 = 1.2
_B = 0.75
_FREQUENT = 1_000
"""A term that more entries have than this distinguishes nothing, and reading its postings is
slow."""
_USUAL = 0.15
"""The share of all entries from which a term counts as common to all."""
_FEW = 20
_SHORT = 25
"""The most terms of a text of usual length."""
_MOST_TERMS = 48
"""The terms that count of a longer query, the first ones."""
_BLOCK = 32
_BINDING = 64
"""Constraints that are looked at, whatever else is nearer."""


class Hit(NamedTuple):
    """An entry that was found, with its match."""

    entry: int
    fact_id: str
    tokens: int
    text: float
    """The share of the query's words that its text has; 1 for all of them, once."""
    meaning: float
    """From -1 to 1: the cosine between the two meanings."""
    vector: bytes | None
    terms: str = ""
    binding: bool = False
    """Whether it was looked at for being a constraint."""


def search(
    collection: Collection,
    query: str,
    embed: Callable[[str], Vector | None],
    *,
    limit: int,
) -> list[Hit]:
    """At least the `limit` best entries by words and as many by meaning, in no order."""
    wanted = list(dict.fromkeys(terms(query)))[:_MOST_TERMS]
    size = collection.size
    weights: dict[str, float] = {}
    shares: dict[str, float] = {}
    gathered: dict[int, float] = defaultdict(float)
    frequent: dict[str, float] = {}
    collection.expect(wanted, _FREQUENT)
    for term in wanted:
        posted = collection.postings(term, _FREQUENT)
        shares[term] = posted.share if size >= _FEW else 0.0
        if posted.entries:
            weights[term] = _weight(size, len(posted.entries))
            for entry in posted.entries:
                gathered[entry] += weights[term]
        elif posted.entries is None:
            frequent[term] = posted.share  # what everything has tells no two facts apart
    mean_length = collection.mean_length
    meaning = embed(_telling(query, shares, mean_length))
    if meaning is None and not gathered and frequent:
        # With nothing else to go by, what everything has is still what is asked about.
        rarest = min(frequent, key=lambda term: (frequent[term], term))
        entries = collection.postings(rarest, size).entries or ()
        weights[rarest] = _weight(size, len(entries))
        gathered.update(dict.fromkeys(sorted(entries)[-limit:], weights[rarest]))
    chosen = set(_best(gathered, limit))
    if meaning is not None:
        chosen.update(collection.nearest(meaning, limit))
    binding = set(collection.binding(meaning, _BINDING))
    chosen |= binding
    rows = collection.rows(sorted(chosen))
    said = _said(rows, gathered, weights, mean_length)
    meant = _meant(rows, meaning)
    return [
        Hit(
            row.entry,
            row.fact_id,
            row.tokens,
            text,
            near,
            row.vector,
            row.terms,
            row.entry in binding,
        )
        for row, text, near in zip(rows, said, meant, strict=True)
    ]


def _weight(size: int, found: int) -> float:
    """The weight of a word that so many entries of a collection have."""
    return log(1 + (size - found + 0.5) / (found + 0.5))


def _telling(query: str, shares: dict[str, float], mean_length: float) -> str:
    """The query without the words that a good part of the memory has.

    A name in half of all facts draws a meaning towards itself and away from the question: without
    it, the right facts come up far more often. Long texts have many common words that are no names,
    so for those only words written like a name are taken out.
    """
    usual = _USUAL * max(1.0, mean_length / _SHORT)

    def is_usual(place: int, word: str) -> bool:
        told = [shares.get(term, 0.0) for term in terms(word)]
        least = _USUAL if place and word[:1].isupper() else usual
        return bool(told) and min(told) >= least

    kept = [word for place, word in enumerate(query.split()) if not is_usual(place, word)]
    return " ".join(kept) if any(terms(word) for word in kept) else query


def _best(gathered: dict[int, float], limit: int) -> list[int]:
    """The best by words, the newer first among equals."""
    if len(gathered) <= limit:
        return list(gathered)
    return sorted(gathered, key=lambda entry: (-gathered[entry], -entry))[:limit]


def _said(
    rows: Sequence[Found],
    gathered: dict[int, float],
    weights: dict[str, float],
    mean_length: float,
) -> list[float]:
    """The match by words: BM25 as a share of the most that the query could get."""
    most = sum(weights.values())
    if not most:
        return [0.0] * len(rows)
    return [
        _bm25(row, weights, mean_length) / most if row.entry in gathered else 0.0 for row in rows
    ]


def _bm25(row: Found, weights: dict[str, float], mean_length: float) -> float:
    own = row.terms.split()
    counts = Counter(term for term in own if term in weights)
    ballast = _K1 * (1 - _B + _B * len(own) / mean_length) if mean_length else _K1
    return sum(
        weights[term] * times * (1 + _K1) / (times + ballast) for term, times in counts.items()
    )


def _meant(rows: Sequence[Found], meaning: Vector | None) -> list[float]:
    """The cosine of each row's meaning with the query's."""
    if meaning is None or not rows:
        return [0.0] * len(rows)
    blank = bytes(len(meaning))
    raw = b"".join(row.vector if row.vector is not None else blank for row in rows)
    vectors = np.frombuffer(raw, np.int8).reshape(len(rows), len(meaning)).astype(np.float32)
    # Row by row: the same bits whatever else is in the table.
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    products = np.einsum("ij,j->i", vectors, meaning)
    near = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    return [float(value) for value in near]


def alike(vectors: Sequence[bytes | None], least: float) -> list[tuple[int, int]]:
    """For each vector with at least this cosine to an earlier one: the first such, and the vector
    itself."""
    known = [place for place, vector in enumerate(vectors) if vector is not None]
    if len(known) < 2:
        return []
    raw = b"".join(vectors[place] or b"" for place in known)
    table = np.frombuffer(raw, np.int8).reshape(len(known), -1).astype(np.float32)
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    table = np.divide(table, lengths, out=np.zeros_like(table), where=lengths > 0)
    first = _first_alike(table, least)
    return [(known[first[place]], known[place]) for place in sorted(first)]


def _first_alike(table: Vector, least: float) -> dict[int, int]:
    """For each row that is so similar to an earlier one, the first such.

    It works in blocks that are too small for a linear algebra library to spread over threads:
    threads wait for each other, and on a busy processor that takes many times as long.
    """
    first: dict[int, int] = {}
    for right in range(0, len(table), _BLOCK):
        columns = table[right : right + _BLOCK].T
        for left in range(0, right + 1, _BLOCK):
            near = table[left : left + _BLOCK] @ columns >= least
            if left == right:
                near = np.triu(near, k=1)
            if near.any():
                for place in np.flatnonzero(near.any(axis=0)):
                    first.setdefault(right + int(place), left + int(near[:, place].argmax()))
    return first
