"""The shapes that mem0 gives back: memories, events, the rows of a history."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from incumbent.compat.mem0.details import Details
from incumbent.compat.mem0.refusals import refuse
from incumbent.compat.mem0.scoping import ids_of_owner
from incumbent.context.guard import spaced
from incumbent.context.said_lines import speaks_for_itself
from incumbent.model.errors import InvalidInput
from incumbent.model.fact import Fact, Status
from incumbent.model.values import canonical, text_of
from incumbent.model.verdict import Outcome
from incumbent.turns.transcripts import turn_arguments

RAW = "memory."
"""The beginning of the keys of texts that are kept as they are."""
EVENTS = {
    Outcome.ESTABLISHED: "ADD",
    Outcome.PROMOTED: "ADD",
    Outcome.SHADOWED: "ADD",
    Outcome.SUPERSEDED: "UPDATE",
    Outcome.REVERTED: "UPDATE",
    Outcome.RETRACTED: "DELETE",
}
"""What became of a statement, in mem0's words; of anything else nothing came."""
_MOST_BYTES = 100_000
"""Metadata is beside the point; what is longer belongs elsewhere."""
_IDENTITY = frozenset({"user_id", "agent_id", "run_id", "actor_id"})


def memory_text(fact: Fact) -> str:
    """A fact as a memory reads: a sentence as it is, a value under the name of what it is."""
    if fact.key.startswith(RAW) or speaks_for_itself(fact):
        return text_of(fact.value)
    return f"{label_of(fact)}: {text_of(fact.value)}"


def label_of(fact: Fact) -> str:
    """The name of what a value is, as words."""
    about = f" ({fact.subject})" if fact.subject else ""
    return f"{spaced(fact.key)}{about}"


def value_of(text: str, fact: Fact) -> str:
    """The value in a new text for a memory, where it repeats the name before it."""
    label = f"{label_of(fact)}: "
    return text[len(label) :] if text.startswith(label) and len(text) > len(label) else text


def payload_of(fact: Fact, root: Fact, owner: str, details: Details) -> dict[str, Any]:
    """What filters look at: a memory's ids, metadata and times."""
    agents, runs = details.get("agent_ids") or (), details.get("run_ids") or ()
    named = {
        **ids_of_owner(owner),
        **({"agent_id": agents[-1]} if agents else {}),
        **({"run_id": runs[-1]} if runs else {}),
        **{name: details[name] for name in ("actor_id", "role") if details.get(name)},
    }
    ends = fact.valid_until
    if ends is not None:
        named["expiration_date"] = (ends - timedelta(microseconds=1)).date().isoformat()
    return {
        **(details.get("metadata") or {}),
        **named,
        "data": memory_text(fact),
        "created_at": root.timestamp.isoformat(),
        "updated_at": fact.order.isoformat(),
    }


def item_of(
    memory_id: str, text: str, payload: Mapping[str, Any], details: Details, **more: Any
) -> dict[str, Any]:
    """A memory as `get`, `get_all` and `search` give it."""
    promoted = ("user_id", "agent_id", "run_id", "actor_id", "role", "expiration_date")
    return {
        "id": memory_id,
        "memory": text,
        "hash": hashlib.md5(text.encode("utf-8"), usedforsecurity=False).hexdigest(),
        "metadata": details.get("metadata") or None,
        **more,
        "created_at": payload["created_at"],
        "updated_at": payload["updated_at"],
        **{name: payload[name] for name in promoted if name in payload},
    }


def history_rows(memory_id: str, chain: Sequence[Fact], details: Details) -> list[dict[str, Any]]:
    """The changes of a memory, oldest first: each fact of its chain, and its end."""
    rows: list[dict[str, Any]] = []
    created = chain[0].timestamp.isoformat()
    before: str | None = None
    for fact in chain:
        text = memory_text(fact)
        event = "ADD" if before is None else "UPDATE"
        rows.append(_row(memory_id, fact.id, before, text, event, created, fact.timestamp, details))
        before = text
    last = chain[-1]
    if last.status is Status.RETRACTED:
        ended = last.ended_at or last.recorded_at
        name = f"{last.id}:end"
        rows.append(_row(memory_id, name, before, None, "DELETE", created, ended, details))
    return rows


def _row(
    memory_id: str,
    id: str,
    before: str | None,
    after: str | None,
    event: str,
    created: str,
    at: datetime,
    details: Details,
) -> dict[str, Any]:
    return {
        "id": id,
        "memory_id": memory_id,
        "old_memory": before,
        "new_memory": after,
        "event": event,
        "created_at": created,
        "updated_at": at.isoformat(),
        "is_deleted": event == "DELETE",
        "actor_id": details.get("actor_id"),
        "role": details.get("role"),
    }


def turns_of(messages: Any) -> list[dict[str, Any]]:
    """The messages of a call, each checked: a text, one message, or a list of them."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    elif isinstance(messages, Mapping):
        messages = [messages]
    elif not isinstance(messages, list):
        raise InvalidInput(
            f"messages must be a text, a message or a list of messages, "
            f"not {type(messages).__name__}"
        )
    return list(_turns(messages))


def _turns(messages: list[Any]) -> Iterator[dict[str, Any]]:
    for number, message in enumerate(messages):
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise InvalidInput(
                f"message {number} must have a role and content, as in "
                f'{{"role": "user", "content": "…"}}; it is {message!r:.80}'
            )
        if any(_is_image(part) for part in _parts(message.get("content"))):
            raise refuse("images")
        if message["role"] in ("system", "developer"):
            continue  # the application's own words are nobody's memory
        text = turn_arguments({"content": message.get("content")})["text"]
        if text.strip():
            yield {"role": message["role"], "text": text, "name": message.get("name")}


def _parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content]


def _is_image(part: Any) -> bool:
    return isinstance(part, Mapping) and "image" in str(part.get("type", ""))


def metadata_of(metadata: Any) -> dict[str, Any]:
    """Metadata, checked; who it belongs to is said by the ids, and never by metadata."""
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise InvalidInput(f"metadata must be a mapping, not {type(metadata).__name__}")
    found = {str(name): value for name, value in metadata.items() if name not in _IDENTITY}
    try:
        canonical(found, limit=_MOST_BYTES)
    except InvalidInput as error:
        raise InvalidInput(f"metadata cannot be kept: {error}") from None
    return found


def end_of(expiration: Any) -> datetime | None:
    """The end of the last day on which a memory counts."""
    if expiration is None:
        return None
    if isinstance(expiration, datetime):
        expiration = expiration.date()
    if isinstance(expiration, str):
        try:
            expiration = date.fromisoformat(expiration)
        except ValueError:
            expiration = None
    if not isinstance(expiration, date):
        raise InvalidInput("expiration_date must be a day such as 2026-12-31")
    return datetime.combine(expiration, time(), UTC) + timedelta(days=1)


def check_top_k(top_k: Any) -> int:
    """The number of results that are wanted."""
    if type(top_k) is not int or top_k < 0:
        raise InvalidInput(f"top_k must be a whole number from 0 on, not {top_k!r:.80}")
    return top_k


def check_threshold(threshold: Any) -> float:
    """The least score that counts."""
    if threshold is None:
        return 0.1
    is_number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
    if not is_number or not 0 <= threshold <= 1:
        raise InvalidInput(f"threshold must be between 0 and 1, not {threshold!r:.80}")
    return float(threshold)


def check_query(query: Any) -> str:
    """A query that asks something."""
    if not isinstance(query, str) or not query.strip():
        raise InvalidInput("query is empty; ask for something")
    return query.strip()
