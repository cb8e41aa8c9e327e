"""mem0 with `infer=False`: memories are texts, added, updated and deleted by id; vectors alone.

Its own extraction asks a hosted model and is left out, and so is its keyword part, which downloads
one. Telemetry is switched off.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

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

COLLECTION = "evaluation"
_MORE: dict[str, dict[str, Any]] = {
    "qdrant": {"on_disk": True},  # otherwise it empties the folder when it opens
    "faiss": {"distance_strategy": "cosine"},
}


def opened(
    folder: Path, provider: str, embedder: Embedder, config: dict[str, Any] | None = None
) -> Any:
    """A mem0 `Memory` in a folder that embeds with our embedder and calls nobody.

    `config` is for a vector store that is not in the folder.
    """
    place = config if config is not None else {"path": str(folder / provider), **_MORE[provider]}
    # Read when the package is imported, and when a memory is made: its constructor wants a key.
    os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder), OPENAI_API_KEY="unused")
    logging.getLogger("mem0").setLevel(logging.ERROR)  # it tells what it could do with a model
    memory = import_module("mem0").Memory.from_config(
        {
            "vector_store": {
                "provider": provider,
                "config": {
                    "collection_name": COLLECTION,
                    "embedding_model_dims": embedder.dimensions,
                    **place,
                },
            },
            "history_db_path": str(folder / "history.db"),
        }
    )
    memory.embedding_model = _embedding()(embedder)
    return memory


@cache
def _embedding() -> Any:
    """The class, made on demand: its base class is the package's."""
    base: Any = import_module("mem0.embeddings.base")

    class Ours(base.EmbeddingBase):  # type: ignore[misc]
        def __init__(self, embedder: Embedder) -> None:
            super().__init__()
            self._embedder = embedder

        def embed(self, text: str, memory_action: str | None = None) -> list[float]:
            vector: list[float] = self._embedder.embed([text])[0].tolist()
            return vector

    return Ours


class Mem0(Adapter):
    """Every value and every turn is a memory of its own."""

    name = "mem0"
    can = KEEPS_ITEMS

    def __init__(self, embedder: Embedder) -> None:
        super().__init__()
        self._folder = TemporaryDirectory(prefix="incumbent-mem0-")
        self._memory = opened(Path(self._folder.name), "qdrant", embedder)

    def write(self, who: Who, entry: Entry) -> str:
        self._check(who, entry)
        if entry.supersedes is not None:
            with _refusing():
                self._memory.update(entry.supersedes, text_of(entry))
            return entry.supersedes
        return self._add(Room.of(who, private=entry.is_private), text_of(entry))

    def retract(self, who: Who, written: str) -> None:
        with _refusing():
            self._memory.delete(written)

    def observe(self, who: Who, text: str, speaker: str = "user") -> None:
        self._add(Room.of(who, private=True), f"{speaker}: {text}")

    def close(self) -> None:
        self._memory.close()
        self._folder.cleanup()

    def _add(self, room: Room, text: str) -> str:
        [made] = self._memory.add(text, user_id=_user_id(room), infer=False)["results"]
        return str(made["id"])

    def _context(self, who: Who, query: str, budget: int) -> str:
        found = [
            hit
            for room in rooms_of(who)
            for hit in self._memory.search(
                query, filters={"user_id": _user_id(room)}, top_k=results_for(budget)
            )["results"]
        ]
        found.sort(key=lambda hit: -hit["score"])
        return "\n".join(self._first_that_fit((hit["memory"] for hit in found), budget))


@contextmanager
def _refusing() -> Iterator[None]:
    """Turn the package's error for an unknown id into a refusal. The package does not check whose
    memory an id is."""
    try:
        yield
    except ValueError as error:
        raise Refused(str(error)) from error


def _user_id(room: Room) -> str:
    """Its ids may hold no blanks; a slash parts an organization from a person."""
    return "/".join(quote(part, safe="") for part in room if part is not None)
