"""Retrieval: the entries that a query is about, by its words and by its meaning."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count
from math import log
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from incumbent.search.analysis import terms
from incumbent.search.recent import EntryRow

if TYPE_CHECKING:
    import numpy.typing as npt

    from incumbent.search.collection import Collection as Entries
    from incumbent.search.collection import Vector

    Shares = npt.NDArray[np.float64]

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
_WORK = 262_144
"""The most multiplications of a block."""
_BINDING = 64
"""Constraints that are looked at, whatever else is nearer."""


class Hit(NamedTuple):
    """An entry that was found, with its match."""

    row: EntryRow
    text: float
    """The share of the query's words that its text has; 1 for all of them, once."""
    meaning: float
    """From -1 to 1: the cosine between the two meanings."""
    binding: bool
    """Whether it was looked at for being a constraint."""

    @property
    def entry(self) -> int:
        return self.row.entry

    @property
    def fact_id(self) -> str:
        return self.row.fact_id


class Hits:
    """The entries that were found, with their matches, in columns: see `Hit`."""

    def __init__(
        self,
        rows: Sequence[EntryRow] = (),
        texts: Sequence[float] | Shares = (),
        meanings: Sequence[float] | Shares = (),
        binding: Sequence[bool] = (),
    ) -> None:
        self.rows = rows
        self.texts: Shares = np.asarray(texts, np.float64)
        self.meanings: Shares = np.asarray(meanings, np.float64)
        self.binding = binding
        self.places = {row[1]: place for place, row in enumerate(rows)}
        """Where each is, by the id of its fact."""

    def __iter__(self) -> Iterator[Hit]:
        said, meant = self.texts.tolist(), self.meanings.tolist()
        return map(Hit, self.rows, said, meant, self.binding)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hits) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __or__(self, more: Hits) -> Hits:
        """These and more, in which a fact that both have is as the latter has it."""
        if not more.rows:
            return self
        kept = [place for row, place in zip(self.rows, count()) if row[1] not in more.places]
        return Hits(
            [*(self.rows[place] for place in kept), *more.rows],
            np.concatenate((self.texts[kept], more.texts)),
            np.concatenate((self.meanings[kept], more.meanings)),
            [*(self.binding[place] for place in kept), *more.binding],
        )


def search(
    collection: Entries,
    query: str,
    embed: Callable[[str], Vector | None],
    *,
    limit: int,
) -> Hits:
    """At least the `limit` best entries by words and as many by meaning, in no order; the newest
    for a query that says nothing."""
    wanted = list(dict.fromkeys(terms(query)))[:_MOST_TERMS]
    size = collection.size
    weights: dict[str, float] = {}
    shares: dict[str, float] = {}
    gathered: dict[int, float] = {}
    frequent: dict[str, float] = {}
    collection.expect(wanted, _FREQUENT)
    for term in wanted:
        posted = collection.postings(term, _FREQUENT)
        shares[term] = posted.share if size >= _FEW else 0.0
        if posted.entries:
            weight = weights[term] = _weight(size, len(posted.entries))
            _gather(gathered, posted.entries, weight)
        elif posted.entries is None:
            frequent[term] = posted.share  # what everything has tells no two facts apart
    mean_length = collection.mean_length
    meaning = embed(_telling(query, shares, mean_length))
    if meaning is None and not gathered and frequent:
        # With nothing else to go by, what everything has is still what is asked about.
        rarest = min(frequent, key=lambda term: (frequent[term], term))
        entries = collection.postings(rarest, size).entries or ()
        weights[rarest] = _weight(size, len(entries))
        _gather(gathered, sorted(entries)[-limit:], weights[rarest])
    chosen = set(_best(gathered, limit))
    if meaning is not None:
        chosen.update(collection.nearest(meaning, limit))
    if not wanted:
        chosen.update(collection.newest(limit))
    binding = set(collection.binding(meaning, _BINDING))
    chosen |= binding
    rows = collection.rows(sorted(chosen))
    said = _said(rows, gathered, weights, mean_length)
    meant = _meant(rows, meaning)
    bound = [row[0] in binding for row in rows]
    return Hits(rows, said, meant, bound)


def _gather(gathered: dict[int, float], entries: Sequence[int], weight: float) -> None:
    """Add the weight of a word to the entries that have it."""
    if not gathered:
        gathered.update(dict.fromkeys(entries, weight))
        return
    known = gathered.get
    for entry in entries:
        gathered[entry] = known(entry, 0.0) + weight


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
    entries = np.fromiter(gathered, np.int64, len(gathered))
    weights = np.fromiter(gathered.values(), np.float64, len(gathered))
    best: list[int] = entries[np.lexsort((-entries, -weights))[:limit]].tolist()
    return best


def _said(
    rows: Sequence[EntryRow],
    gathered: dict[int, float],
    weights: dict[str, float],
    mean_length: float,
) -> list[float]:
    """The match by words: BM25 as a share of the most that the query could get."""
    most = sum(weights.values())
    if not most:
        return [0.0] * len(rows)
    found: list[float] = []
    for entry, _, _, _, own in rows:
        if entry not in gathered:
            found.append(0.0)
            continue
        ballast = _K1 * (1 - _B + _B * len(own) / mean_length) if mean_length else _K1
        times: dict[str, int] = {}
        for term in own:
            if term in weights:
                times[term] = times.get(term, 0) + 1
        said = 0.0
        for term, often in times.items():
            said += weights[term] * often * (1 + _K1) / (often + ballast)
        found.append(said / most)
    return found


def _meant(rows: Sequence[EntryRow], meaning: Vector | None) -> Shares:
    """The cosine of each row's meaning with the query's."""
    return cosines([row[3] for row in rows], meaning)


def cosines(given: Sequence[bytes | None], meaning: Vector | None) -> Shares:
    """The cosine of each of these vectors with a meaning; 0 where one of them is missing."""
    if meaning is None or not given:
        return np.zeros(len(given))
    blank = bytes(len(meaning))
    raw = b"".join([vector if vector is not None else blank for vector in given])
    vectors = np.frombuffer(raw, np.int8).reshape(len(given), len(meaning)).astype(np.float32)
    # Row by row: the same bits whatever else is in the table.
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    products = np.einsum("ij,j->i", vectors, meaning)
    near = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    told: Shares = near.astype(np.float64)
    return told


def alike(
    vectors: Sequence[bytes | None], least: float, wanted: Collection[int] | None = None
) -> list[tuple[int, int]]:
    """For each vector with at least this cosine to an earlier one: the first such, and the vector
    itself. Where places are wanted, only for the vectors there."""
    known: Sequence[int] = range(len(vectors))
    looked_at: Sequence[int] = known if wanted is None else sorted(wanted)
    if None in vectors:
        known = [place for place, vector in enumerate(vectors) if vector is not None]
        vectors = [vectors[place] for place in known]
        numbers = dict(zip(known, count()))
        looked_at = [numbers[place] for place in looked_at if place in numbers]
    if len(known) < 2 or not looked_at:
        return []
    raw = b"".join(cast("Sequence[bytes]", vectors))
    table = np.frombuffer(raw, np.int8).reshape(len(known), -1).astype(np.float32)
    first = _first_alike(table, least, np.array(looked_at))
    return [(known[first[place]], known[place]) for place in sorted(first)]


def _first_alike(table: Vector, least: float, looked_at: npt.NDArray[np.int64]) -> dict[int, int]:
    """For each of these rows that is so similar to an earlier one, the first such.

    Products of whole numbers are exact in any order. It works in blocks that are too small for a
    linear algebra library to spread over threads: threads wait for each other, and on a busy
    processor that takes many times as long.
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", table, table).astype(np.float64))
    lengths[lengths == 0] = np.inf  # what has no meaning is like nothing
    first: dict[int, int] = {}
    for right in range(0, len(looked_at), _BLOCK):
        places = looked_at[right : right + _BLOCK]
        columns = table[places].T
        wanted = least * lengths[places]
        height = max(1, _WORK // columns.size)
        for left in range(0, int(places[-1]), height):
            rows = slice(left, min(left + height, int(places[-1])))
            near = table[rows] @ columns >= lengths[rows, None] * wanted
            near &= np.arange(rows.start, rows.stop)[:, None] < places
            found = near.any(axis=0)
            tops = near.argmax(axis=0)[found] + left
            for place, top in zip(places[found].tolist(), tops.tolist(), strict=True):
                first.setdefault(place, top)
    return first
