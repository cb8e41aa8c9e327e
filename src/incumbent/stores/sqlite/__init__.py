"""The SQLite store: one file, several processes, one transaction per decision."""

from incumbent.stores.sqlite.store import SQLiteStore

__all__ = ["SQLiteStore"]
