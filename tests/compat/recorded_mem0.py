"""The surface of mem0ai 2.2.1, recorded, for where the package itself is not installed.

`make dropin` compares with the package, and fails where this is no longer what it has.
"""

from __future__ import annotations

from typing import Any

VERSION = "2.2.1"

# The parameters of each method, in order; those after "*" by name only.
SIGNATURES = {
    "add": [
        *("messages", "*", "user_id", "agent_id", "run_id", "metadata", "timestamp"),
        *("expiration_date", "infer", "memory_type", "prompt"),
    ],
    "search": [
        *("query", "*", "top_k", "filters", "threshold", "rerank", "explain", "reference_date"),
        *("show_expired", "**"),
    ],
    "get_all": ["*", "filters", "top_k", "show_expired", "**"],
    "get": ["memory_id"],
    "update": ["memory_id", "text", "metadata", "expiration_date", "data"],
    "delete": ["memory_id"],
    "delete_all": ["user_id", "agent_id", "run_id"],
    "history": ["memory_id"],
    "reset": [],
    "chat": ["query"],
    "close": [],
}
AWAITED = {**SIGNATURES, "add": [*SIGNATURES["add"], "llm"]}

# The defaults that callers rely on.
DEFAULTS: dict[str, dict[str, Any]] = {
    "add": {"infer": True},
    "search": {"top_k": 20, "threshold": 0.1, "rerank": False, "explain": False},
    "get_all": {"top_k": 20, "show_expired": False},
}

# The names in what each call gives, for a memory with metadata, an agent and a run.
MEMORY = {
    *("id", "memory", "hash", "metadata", "created_at", "updated_at", "user_id", "agent_id"),
    *("run_id", "role"),
}
SHAPES = {
    "add": {"id", "memory", "event", "actor_id", "role"},
    "get": {*MEMORY, "score"},
    "get_all": MEMORY,
    "search": {*MEMORY, "score"},
    "history": {
        *("id", "memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at"),
        *("is_deleted", "actor_id", "role"),
    },
}
MESSAGES = {
    "update": {"message": "Memory updated successfully!"},
    "delete": {"message": "Memory deleted successfully!"},
    "delete_all": {"message": "Memories deleted successfully!"},
}
EVENTS = ["ADD", "UPDATE", "DELETE"]
