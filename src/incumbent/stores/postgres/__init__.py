"""The store for many machines: one PostgreSQL database, isolation by the database itself."""

from incumbent.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
