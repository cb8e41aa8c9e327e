"""The in-memory store: the reference that states in plain Python what a store must do."""

from incumbent.stores.in_memory.store import MemoryStore

__all__ = ["MemoryStore"]
