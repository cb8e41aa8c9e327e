"""The store for many machines: one PostgreSQL database, isolation by the database itself."""

from tenure.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
