"""LangGraph's InMemoryStore: items under keys in namespaces, searched by similarity.

An item that is put under a key replaces the one there: its users update in this way.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from incumbent.search.embedders import Embedder
from incumbent_eval.adapters.base import (
    KEEPS_ITEMS,
    Adapter,
    Room,
    results_for,
    rooms_of,
    text_of,
)
from incumbent_eval.systems import Entry, Refused, Who

_SHARED = "shared"


class _StoredItem(NamedTuple):
    namespace: tuple[str, ...]
    key: str


def index_with(embedder: Embedder) -> dict[str, Any]:
    """The configuration of the stores: the embedder, and the fields of an item to embed."""
    return {
        "dims": embedder.dimensions,
        "embed": lambda texts: embedder.embed(list(texts)).tolist(),
        "fields": ["text"],
        "text_fields": ["text"],  # what SqliteStore calls them
    }


class LangGraphStore(Adapter):
    """Values by key, turns by number; everything by likeness to the question."""

    name = "langgraph"
    can = KEEPS_ITEMS

    def __init__(self, embedder: Embedder) -> None:
        super().__init__()
        memory = import_module("langgraph.store.memory")
        self._store: Any = memory.InMemoryStore(index=index_with(embedder))
        self._items: dict[str, _StoredItem] = {}
        self._holders: dict[_StoredItem, str] = {}
        self._turns = 0

    def write(self, who: Who, entry: Entry) -> str:
        self._check(who, entry)
        if entry.supersedes is not None:
            self._drop(who, entry.supersedes)
        key = f"{entry.subject}/{entry.key}" if entry.subject else entry.key
        item = _StoredItem(_namespace(Room.of(who, private=entry.is_private)), key)
        self._store.put(*item, {"text": text_of(entry)})
        name = f"w{len(self._items) + 1}"
        self._items[name] = item
        self._holders[item] = name
        return name

    def retract(self, who: Who, written: str) -> None:
        self._drop(who, written)

    def observe(self, who: Who, text: str, speaker: str = "user") -> None:
        self._turns += 1
        namespace = _namespace(Room.of(who, private=True))
        self._store.put(namespace, f"turn {self._turns}", {"text": f"{speaker}: {text}"})

    def _drop(self, who: Who, written: str) -> None:
        """Delete an item, unless another was put in its place meanwhile.

        A call names the namespace, so nobody reaches into a namespace of others.
        """
        item = self._items.get(written)
        if item is None or item.namespace not in map(_namespace, rooms_of(who)):
            raise Refused(f"there is no item {written!r}")
        if self._holders.get(item) == written:
            self._store.delete(*item)

    def _context(self, who: Who, query: str, budget: int) -> str:
        found = [
            hit
            for room in rooms_of(who)
            for hit in self._store.search(_namespace(room), query=query, limit=results_for(budget))
        ]
        found.sort(key=lambda hit: -(hit.score or 0.0))
        return "\n".join(self._first_that_fit((hit.value["text"] for hit in found), budget))


def _namespace(room: Room) -> tuple[str, ...]:
    # A search looks below a namespace too, so what is shared is no parent of what is a person's.
    kind = (_SHARED,) if room.user is None else ("person", room.user)
    # Its labels may hold no full stop.
    return tuple(
        label.replace("%", "%25").replace(".", "%2E") for label in (room.organization, *kind)
    )
