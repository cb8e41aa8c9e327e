"""The in-memory store: the reference that says in plain Python what a store has to do."""

from tenure.stores.in_memory.store import MemoryStore

__all__ = ["MemoryStore"]
