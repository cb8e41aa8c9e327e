"""What mem0 exports: `json.dump(memory.get_all(...))`, of the package or of the platform."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from incumbent.compat.exports.things import (
    ForeignFact,
    NotTaken,
    Surroundings,
    Thing,
    first_of,
    items_of,
    moment_of,
    named,
    short_name,
    told_by_machine,
)
from incumbent.compat.mem0.scoping import IDS, ids_of, ids_of_owner
from incumbent.compat.mem0.shapes import RAW, end_of, metadata_of
from incumbent.model.errors import InvalidInput

_TEXTS = ("memory", "text", "data", "content")
_LISTS = ("results", "memories")


def read(place: str, record: Any, around: Surroundings) -> Iterator[Thing]:
    """The memories of a record: one, a list of them, or a document with `results`."""
    if isinstance(record, list):
        for at, one in items_of(place, record):
            yield from read(at, one, around)
        return
    several = _several(record)
    if several is None:
        yield _memory(place, record, around)
        return
    relations = record.get("relations")
    if isinstance(relations, list) and relations:
        yield NotTaken(place, f"{len(relations)} relation(s) of a graph")
    for at, one in items_of(place, several):
        yield _memory(at, one, around)


def _several(record: Any) -> list[Any] | None:
    if not isinstance(record, Mapping):
        return None
    found = (record[name] for name in _LISTS if isinstance(record.get(name), list))
    return next(found, None)


def _memory(place: str, record: Any, around: Surroundings) -> ForeignFact:
    memory = named(record, _TEXTS, "a memory of mem0")
    text = first_of(memory, *_TEXTS)
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(f"the text of a memory must be a string, not {type(text).__name__}")
    ids = {name: memory.get(name) for name in IDS if memory.get(name)}
    owner = ids_of(ids, "a memory").owner if ids else around.user
    own_id = str(first_of(memory, "id") or f"mem0.{short_name(f'{owner} {text}')}")
    return ForeignFact(
        place=place,
        id=own_id,
        user=owner,
        key=RAW + short_name(own_id),
        value=text.strip(),
        source=told_by_machine("mem0", own_id),
        at=moment_of(first_of(memory, "updated_at", "created_at")),
        valid_until=end_of(first_of(memory, "expiration_date")),
        details=_details(memory, owner or ""),
    )


def _details(memory: Mapping[str, Any], owner: str) -> dict[str, Any]:
    own = ids_of_owner(owner)
    found: dict[str, Any] = {}
    for name in ("agent_id", "run_id"):
        if memory.get(name) and name not in own:
            found[f"{name}s"] = [str(memory[name])]
    metadata = metadata_of(memory.get("metadata"))
    categories = memory.get("categories")
    if categories:
        metadata = {"categories": categories, **metadata}
    if metadata:
        found["metadata"] = metadata
    found.update({k: str(memory[k]) for k in ("actor_id", "role") if memory.get(k)})
    return found
