"""The SQLite files of LangGraph: a store of items, and checkpoints of threads. Only read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from incumbent.compat.exports.msgpack import unpacked
from incumbent.model.errors import InvalidInput

MAGIC = b"SQLite format 3\x00"
Record = tuple[str, Any, str | None]
"""A place, a record, and what is wrong with it."""
_ITEMS = "SELECT * FROM store ORDER BY updated_at, prefix, key"
_LATEST = """
    SELECT thread_id, checkpoint_id, type, checkpoint, metadata FROM checkpoints AS one
    WHERE checkpoint_ns = '' AND checkpoint_id = (
        SELECT max(checkpoint_id) FROM checkpoints
        WHERE thread_id = one.thread_id AND checkpoint_ns = ''
    )
    ORDER BY checkpoint_id
"""
_WRITES = """
    SELECT checkpoint_id, type, value FROM writes
    WHERE thread_id = ? AND checkpoint_ns = '' AND channel = 'messages'
    ORDER BY checkpoint_id, idx
"""
_GREGORIAN = datetime(1582, 10, 15, tzinfo=UTC)


def records(path: str) -> Iterator[Record]:
    """The items of a store and the threads of checkpoints in a file, as LangGraph dumps them."""
    try:
        address = f"{Path(path).absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as file:
            file.row_factory = sqlite3.Row
            tables = {row[0] for row in file.execute("SELECT name FROM sqlite_master")}
            if not tables & {"store", "checkpoints"}:
                raise InvalidInput(
                    f"{path} is a SQLite file without a store or checkpoints of LangGraph"
                )
            if "store" in tables:
                yield from map(_item, file.execute(_ITEMS))
            if "checkpoints" in tables:
                for row in file.execute(_LATEST).fetchall():
                    yield _thread(file, row, has_writes="writes" in tables)
    except sqlite3.Error as error:
        raise InvalidInput(f"cannot read {path}: {error}") from None


def _item(row: sqlite3.Row) -> Record:
    place = f"store item {row['prefix']}/{row['key']}"
    try:
        item = {name: row[name] for name in row.keys() if name in _COLUMNS}  # noqa: SIM118
        return place, {**item, "namespace": row["prefix"], "value": json.loads(row["value"])}, None
    except ValueError as error:
        return place, None, f"its value is not JSON ({error})"


_COLUMNS = ("key", "created_at", "updated_at", "expires_at")


def _thread(file: sqlite3.Connection, row: sqlite3.Row, *, has_writes: bool) -> Record:
    place = f"thread {row['thread_id']}"
    try:
        state = _decoded(row["type"], row["checkpoint"])
        metadata = json.loads(row["metadata"] or b"{}")
    except (InvalidInput, ValueError) as error:
        return place, None, str(error)
    values = state.get("channel_values") if isinstance(state, Mapping) else None
    messages = values.get("messages") if isinstance(values, Mapping) else None
    if not isinstance(messages, list):
        return place, None, "its state has no 'messages'"
    times = _times(file, row["thread_id"]) if has_writes else {}
    _date(messages, times, state.get("ts"))
    metadata = metadata if isinstance(metadata, Mapping) else {}
    made = {"messages": messages, "metadata": metadata, "thread_id": row["thread_id"]}
    return place, made, None


def _date(messages: list[Any], times: Mapping[str, str], last: Any) -> None:
    """Say of each message when it was written: of one that does not tell, when the next was."""
    at = last
    for message in reversed(messages):
        if isinstance(message, dict):
            at = times.get(str(message.get("id"))) or times.get(_text_key(message)) or at
            message.setdefault("created_at", at)


def _times(file: sqlite3.Connection, thread_id: str) -> dict[str, str]:
    """When messages were written, by their ids and by their texts; the first time counts."""
    found: dict[str, str] = {}
    for row in file.execute(_WRITES, (thread_id,)):
        try:
            written = _decoded(row["type"], row["value"])
            at = _moment_in(row["checkpoint_id"])
        except (InvalidInput, ValueError):
            continue  # it only dates what the checkpoint itself has
        for message in written if isinstance(written, list) else [written]:
            if isinstance(message, Mapping):
                for name in (str(message.get("id")), _text_key(message)):
                    found.setdefault(name, at)
    found.pop("None", None)
    return found


def _text_key(message: Mapping[str, Any]) -> str:
    return f"{message.get('type')} {message.get('content')!r}"


def _moment_in(checkpoint_id: str) -> str:
    """The time that a checkpoint's id was made with (a UUID of version 6)."""
    whole = UUID(checkpoint_id)
    ticks = (whole.int >> 80) << 12 | (whole.int >> 64) & 0x0FFF
    return (_GREGORIAN + timedelta(microseconds=ticks // 10)).isoformat()


def _decoded(kind: Any, data: Any) -> Any:
    if kind == "msgpack":
        return unpacked(data)
    if kind == "json":
        return _constructed(json.loads(data))
    raise InvalidInput(
        f"it is written as {kind!r}; only msgpack and json are read, because reading others could "
        f"run what is in them"
    )


def _constructed(value: Any) -> Any:
    """Objects as LangChain writes them in JSON, as what they are made from."""
    if isinstance(value, list):
        return [_constructed(one) for one in value]
    if isinstance(value, dict):
        if value.get("lc") and isinstance(value.get("kwargs"), dict):
            name = str((value.get("id") or [""])[-1]).removesuffix("Message").lower()
            return {"type": name, **_constructed(value["kwargs"])}
        return {name: _constructed(one) for name, one in value.items()}
    return value
