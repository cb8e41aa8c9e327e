"""What was written while Incumbent was called Tenure: files of the last commit under that name."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import incumbent
from incumbent.stores.exports import sealed
from tests.conftest import QUICK

FOLDER = Path(__file__).parent / "former_name"
RECEIPT = "rc-a58ba0010d6557814cd94a58631b92a1"


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """A copy of the file."""
    path = tmp_path / "before.db"
    path.write_bytes(gzip.decompress((FOLDER / "before.db.gz").read_bytes()))
    return path


def alice(memory: incumbent.Memory) -> incumbent.Session:
    return memory.session(user_id="alice", authority="manager", organization="acme")


def test_a_file_of_the_former_name_opens_as_before(before: Path) -> None:
    """Its facts, its history and its declarations are there, and it takes new facts."""
    for _ in range(2):
        with incumbent.open(before, settings=QUICK) as memory:
            session = alice(memory)
            assert session.history("shipping_address").values == ("123 Main St", "456 Oak Ave")
            assert session.current("unit_price", "order 4711") == 310
            assert "allergy: dust" in session.context("What is known?").text
            session.write("order_status", "approved")


def test_a_receipt_of_the_former_name_is_replayed(before: Path) -> None:
    """The same context comes again, byte for byte."""
    with incumbent.open(before) as memory:
        assert "456 Oak Ave" in memory.replay(RECEIPT, organization="acme").text


def test_a_file_of_the_former_name_has_facts_without_a_name(before: Path) -> None:
    """What "statement" stood for as it was said has no key, and is found."""
    with closing(sqlite3.connect(before)) as connection, connection:
        connection.execute(
            "UPDATE facts SET key = 'statement', source = json_set(source, '$.turn_index', 1) "
            "WHERE value = '\"dust\"'"
        )
    with incumbent.open(before, settings=QUICK) as memory:
        (fact,) = alice(memory).facts("")
        assert (fact.value, fact.is_unnamed) == ("dust", True)
        assert "dust" in alice(memory).context("dust?").text


def test_an_export_of_the_former_name_is_imported(tmp_path: Path) -> None:
    """Its header and its seal are taken as they are."""
    with incumbent.open(tmp_path / "new.db", settings=QUICK) as memory:
        lines = (FOLDER / "before.jsonl").read_text(encoding="utf-8").splitlines()
        memory.import_(map(json.loads, lines))
        assert alice(memory).history("shipping_address").values == ("123 Main St", "456 Oak Ave")


def test_an_export_of_the_former_name_has_facts_without_a_name(tmp_path: Path) -> None:
    """What "statement" stood for as it was said has no key; who wrote that key keeps it."""
    lines = (FOLDER / "before.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines[:-1]]
    for record in records:
        if record.get("value") in ("dust", "nuts"):
            record["key"] = "statement"
        if record.get("value") == "dust":
            record["source"]["turn_index"] = 1
    with incumbent.open(tmp_path / "new.db", settings=QUICK) as memory:
        memory.import_(sealed(records))
        assert [fact.value for fact in alice(memory).facts("")] == ["dust"]
        assert [fact.value for fact in alice(memory).facts("statement")] == ["nuts"]
