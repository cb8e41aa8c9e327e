"""Whose a memory is: the ids of mem0 and the person of Incumbent that owns the facts.

A memory of mem0 has a user, an agent and a run, or any of them. In Incumbent a person owns facts:
the user, else the agent, else the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote, unquote

from incumbent.model.errors import InvalidInput

IDS = ("user_id", "agent_id", "run_id")
KEEPER = "incumbent.compat.mem0"
"""The person of Incumbent that keeps what mem0 has beside texts. Nobody may go by that name."""
_KINDS: tuple[tuple[Literal["user_id", "agent_id", "run_id"], str], ...] = (
    ("user_id", "user:"),
    ("agent_id", "agent:"),
    ("run_id", "run:"),
)
_OWNED = "@"
"""Stands between the id of a fact and its owner where the owner cannot be looked up."""


@dataclass(frozen=True)
class Ids:
    """The ids that a call names. At least one is there."""

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None

    @property
    def owner(self) -> str:
        """The person of Incumbent that these ids name."""
        for kind, mark in _KINDS:
            named = getattr(self, kind)
            if named is not None:
                plain = kind == "user_id" and not named.startswith(tuple(m for _, m in _KINDS))
                return str(named) if plain else f"{mark}{named}"
        raise AssertionError("ids without an id")

    def given(self) -> dict[str, str]:
        """The ids that were given, by name."""
        return {name: value for name in IDS if (value := getattr(self, name)) is not None}


def ids_of(named: Mapping[str, Any], call: str) -> Ids:
    """The ids of a call, checked as mem0 checks them."""
    found = {name: _checked(named.get(name), name) for name in IDS}
    if not any(found.values()):
        raise InvalidInput(
            f"{call} needs at least one of user_id, agent_id, run_id; "
            f"for example {{'user_id': 'alice'}}"
        )
    return Ids(**found)


def ids_of_owner(owner: str) -> dict[str, str]:
    """The id that a person of Incumbent stands for."""
    for kind, mark in _KINDS:
        if owner.startswith(mark):
            return {kind: owner[len(mark) :]}
    return {"user_id": owner} if owner else {}


def _checked(value: Any, name: str) -> str | None:
    if value is None:
        return None
    text = str(value).strip()
    if not text:
        raise InvalidInput(f"{name} is empty; give it a name, or leave it out")
    if text == KEEPER:
        raise InvalidInput(f"{name} {text!r} is reserved; give another id")
    if text == "*" or any(sign.isspace() for sign in text):
        raise InvalidInput(f"{name} {text!r:.80} names nobody; give an id without spaces")
    return text


def owned_id(fact_id: str, owner: str) -> str:
    """An id that says whose the memory is."""
    return f"{quote(fact_id, safe=':')}{_OWNED}{quote(owner, safe=':')}"


def parted(memory_id: object) -> tuple[str, str | None]:
    """The id of a fact, and its owner where the id says it."""
    if not isinstance(memory_id, str) or not memory_id.strip():
        raise InvalidInput(f"memory_id must be the id of a memory, not {memory_id!r:.80}")
    fact_id, mark, owner = memory_id.partition(_OWNED)
    return (unquote(fact_id), unquote(owner)) if mark else (memory_id, None)
