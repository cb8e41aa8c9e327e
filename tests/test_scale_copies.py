"""The large files of `python -m benchmarks scale` are as writing would have made them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import incumbent
from benchmarks import scale_fill
from benchmarks.scale_probe import KEY, ORGANIZATION, SETTINGS, SUBJECT

_INDEX = """SELECT organization, fact_id, terms, probes, tokens, length, live, starts, ends, derived
FROM entries ORDER BY organization, fact_id"""
_OUT_OF_ORDER = """SELECT count(*) FROM verdicts AS a JOIN verdicts AS b
ON a.organization = b.organization AND b.seq = a.seq + 1 WHERE b.recorded_at < a.recorded_at"""


@pytest.fixture
def few_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly everything is copied."""
    for kind in scale_fill.WRITTEN:
        monkeypatch.setitem(scale_fill.WRITTEN, kind, 20)


def rows(path: Path, statement: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchall()


def index(path: Path) -> list[Any]:
    """The index of a file. Of a copy, the name comes last among the terms."""
    return [(*row[:2], sorted(row[2].split()), *row[3:]) for row in rows(path, _INDEX)]


@pytest.mark.usefixtures("few_written")
@pytest.mark.parametrize(
    ("kind", "size"),
    [("facts", 70), ("history", 70), ("organizations", 50), ("people", 100), ("store", 100)],
)
def test_a_copied_file_has_the_index_that_is_made_anew(
    kind: str, size: int, tmp_path: Path
) -> None:
    """So many facts, a log in order, and an index that making it anew does not change."""
    path = tmp_path / "scale.db"
    scale_fill.FILLED[kind](path, size)
    assert rows(path, "SELECT count(*) FROM facts") == [(size,)]
    assert rows(path, _OUT_OF_ORDER) == [(0,)]
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    before = index(path)
    with incumbent.open(path, settings=SETTINGS) as memory:
        for organization in list(memory.store.organizations()):
            memory.reindex(organization)
    assert index(path) == before


@pytest.mark.usefixtures("few_written")
def test_copied_facts_of_one_address_are_one_chain(tmp_path: Path) -> None:
    """Each but the first has the one before it as its predecessor, up to the one in office."""
    path = tmp_path / "scale.db"
    scale_fill.FILLED["history"](path, 50)
    with incumbent.open(path, settings=SETTINGS) as memory:
        ann = memory.session(user_id="ann", organization=ORGANIZATION)
        fact, length = ann.facts(KEY, subject=SUBJECT)[0], 1
        while fact.predecessors:
            before = ann.get(fact.predecessors[0])
            assert before is not None
            assert before.superseded_by == fact.id
            fact, length = before, length + 1
    assert length == 50
