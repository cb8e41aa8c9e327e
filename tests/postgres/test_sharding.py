"""What a sharded PostgreSQL asks of a schema: the organization in every key and every statement."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest

from incumbent.stores.postgres import PostgresStore
from incumbent.stores.postgres.sql import SCHEMA, _templates
from tests.postgres.population import tables
from tests.servers import Databases

_TABLE = r"\b(?:FROM|JOIN|INTO|UPDATE)\s+{}\b"


@pytest.fixture
def administrator(databases: Databases) -> Any:
    address = databases.empty()
    PostgresStore(address).close()
    with psycopg.connect(address) as connection:
        yield connection


def test_every_table_is_partitioned_by_organization(administrator: Any) -> None:
    """Each table of organizations is spread by the organization alone."""
    found = tables(administrator)
    assert {"facts", "verdicts", "entries", "turns", "receipts"} <= set(found)
    for table in found:
        (by,) = administrator.execute(
            "SELECT pg_get_partkeydef(%s::regclass)", (f"{SCHEMA}.{table}",)
        ).fetchone()
        assert by == "HASH (organization)", table


def test_every_unique_key_begins_with_the_organization(administrator: Any) -> None:
    """No uniqueness has to be looked after across nodes."""
    for table in tables(administrator):
        keys = administrator.execute(
            "SELECT pg_get_indexdef(indexrelid, 1, true) FROM pg_index "
            "WHERE indrelid = %s::regclass AND (indisunique OR indisprimary)",
            (f"{SCHEMA}.{table}",),
        ).fetchall()
        assert keys, table
        assert {first for (first,) in keys} == {"organization"}, table


def test_nothing_refers_across_organizations(administrator: Any) -> None:
    """There are no foreign keys, which would have to be checked on another node."""
    (count,) = administrator.execute(
        "SELECT count(*) FROM pg_constraint "
        "WHERE contype = 'f' AND connamespace = %s::regnamespace",
        (SCHEMA,),
    ).fetchone()
    assert count == 0


def test_every_statement_names_the_organization(administrator: Any) -> None:
    """A statement that reads or writes such a table can be sent to one node."""
    spread = "|".join(tables(administrator))
    asking = re.compile(_TABLE.format(f"(?:{spread})"), re.IGNORECASE)
    nameless = [
        name
        for name, text in _templates().items()
        if asking.search(text)
        and "%(organization)s" not in text
        and "organization = $1" not in text  # prepared, and given it later
        and "values}" not in text  # the lists of columns begin with it
    ]
    assert nameless == []
