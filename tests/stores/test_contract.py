"""Every store passes the whole contract suite that ships with the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from incumbent.stores.in_memory import MemoryStore
from incumbent.stores.port import Store
from incumbent.stores.postgres import PostgresStore
from incumbent.stores.sqlite import SQLiteStore
from incumbent.testing import StoreContract
from tests.servers import Databases


class TestMemoryStore(StoreContract):
    """The in-memory reference."""

    def make_store(self, tmp_path: Path) -> Store:
        return MemoryStore()


class TestSQLiteStore(StoreContract):
    """The SQLite store."""

    def make_store(self, tmp_path: Path) -> Store:
        return SQLiteStore(tmp_path / "contract.db", durability="process")


class TestPostgresStore(StoreContract):
    """The PostgreSQL store."""

    scrubs = False

    @pytest.fixture(autouse=True)
    def on_a_server(self, databases: Databases) -> None:
        self.databases = databases

    def make_store(self, tmp_path: Path) -> Store:
        return PostgresStore(self.databases.empty(), durability="process")
