"""The files of `scale`: filled through the public API, and beyond a size by copies within the file.

Writing a million facts takes five minutes, and ten million most of an hour. So at most 100,000
facts are written, or 10,000 organizations, and what is still missing is copied (`scale_copy`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import incumbent
from benchmarks import corpus
from benchmarks.scale_copy import POSTINGS, Chain, Copy, Stretch, copying, far_back, insert
from benchmarks.scale_probe import (
    KEY,
    ORGANIZATION,
    PERSON,
    SETTINGS,
    SUBJECT,
    branch_name,
    organization_name,
    person_name,
    portion_of,
    session_in,
)

WRITTEN = {"facts": 100_000, "history": 100_000, "organizations": 10_000}
"""How many of a kind are written through the API at most."""
_BATCH = 1_000
_SYLLABLES = ("ba", "de", "fi", "go", "lu", "ma", "ne", "ri")
_LETTERS = str.maketrans("01234567", "abcdefgh")
Write = dict[str, Any]


def written_of(kind: str, size: int) -> int:
    """How many of a file are written through the API; the others are copies of them."""
    return min(size, portion_of(size) if kind in ("people", "store") else WRITTEN[kind])


def _fill(path: Path, writes: Iterator[Write]) -> None:
    with incumbent.open(path, settings=SETTINGS, clock=far_back()) as memory:
        ann = session_in(memory)
        while batch := list(islice(writes, _BATCH)):
            ann.write_many(batch)


def _corpus(path: Path, size: int) -> None:
    facts = corpus.facts(0, size)
    _fill(path, ({"key": f.key, "subject": f.subject, "value": f.value} for f in facts))


def _copied(path: Path, size: int, copies: Callable[[int], Copy]) -> None:
    """Copy what is in a file, until it has so many facts."""
    with copying(path) as connection:
        stretch = Stretch(connection, ORGANIZATION, PERSON)
        for number, start in enumerate(range(0, size, stretch.facts)):
            if number:
                stretch.copy(copies(number), min(stretch.facts, size - start))


def _facts(path: Path, size: int) -> None:
    _corpus(path, written_of("facts", size))
    _copied(path, size, lambda n: Copy(n, ORGANIZATION, PERSON, branch_name(n)))


def _people(path: Path, size: int) -> None:
    _corpus(path, portion_of(size))
    _copied(path, size, lambda n: Copy(n, ORGANIZATION, person_name(n)))


def _store(path: Path, size: int) -> None:
    _corpus(path, portion_of(size))
    _copied(path, size, lambda n: Copy(n, organization_name(n), PERSON))


def _history(path: Path, size: int) -> None:
    written = written_of("history", size)
    _fill(path, ({"key": KEY, "subject": SUBJECT, "value": _name(n)} for n in range(written)))
    if size > written:
        with copying(path) as connection:
            Chain(connection, ORGANIZATION, PERSON).lengthen(size)


def _organizations(path: Path, size: int) -> None:
    written = written_of("organizations", size)
    with incumbent.open(path, settings=SETTINGS) as memory:
        for number in range(written):
            ann = session_in(memory, organization_name(number))
            ann.write(KEY, _name(number), subject=SUBJECT)
    with copying(path) as connection:
        for start in range(written, size, written):
            given = {"later": start, "most": min(written, size - start)}
            connection.execute("BEGIN")
            for table, changed, place in _OF_MANY:
                insert(connection, table, {**_ELSEWHERE, **changed}, f"{place} <= :most", given)
            connection.execute(POSTINGS, {**given, "entry": start, "least": 1})
            connection.execute("COMMIT")


_NUMBER = f"CAST(substr(organization, {len(organization_name(0))}) AS INTEGER)"
_ELSEWHERE = {
    "organization": f"replace(organization, {_NUMBER}, {_NUMBER} + :later)",
}
_OF_MANY: Iterable[tuple[str, dict[str, str], str]] = (
    ("recipes", {}, f"{_NUMBER} + 1"),
    ("shelves", {"id": "id + :later"}, "id"),
    ("facts", {}, "rowid"),
    ("verdicts", {}, f"{_NUMBER} + 1"),
    ("entries", {"entry": "entry + :later", "shelf": "shelf + :later"}, "entry"),
)
"""The tables, what is changed besides the organization, and what numbers the organizations."""


def _name(number: int) -> str:
    """Two words that no other number has."""
    chance = random.Random(number)
    first = "".join(chance.choice(_SYLLABLES) for _ in range(3))
    return f"{first} {number:o}".translate(_LETTERS)


FILLED: dict[str, Callable[[Path, int], None]] = {
    "facts": _facts,
    "history": _history,
    "organizations": _organizations,
    "people": _people,
    "store": _store,
}
