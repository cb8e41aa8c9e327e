"""A memory of mem0 is one thing that changes; in Incumbent it is a chain of facts, each with its
id.

The id of a memory is the id of the first fact of its chain, so that it stays the same when the
memory is updated. The id of any later fact leads to the same memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from incumbent.compat.mem0.scoping import KEEPER, owned_id, parted
from incumbent.memory import Memory
from incumbent.model.errors import InvalidInput
from incumbent.model.fact import Fact, Status
from incumbent.model.scope import Scope
from incumbent.session import Session
from incumbent.stores.port import Store


def line_of(session: Session, fact: Fact) -> list[Fact]:
    """A fact and what it came to replace, oldest first, as far back as this session can see."""
    line = [fact]
    while line[-1].predecessors:
        before = session.get(line[-1].predecessors[0])
        if before is None:
            break
        line.append(before)
    return line[::-1]


def root_of(session: Session, fact: Fact) -> Fact:
    """The first fact of a chain."""
    return line_of(session, fact)[0]


def chain_of(session: Session, root: Fact) -> list[Fact]:
    """The chain from its first fact on, as far as this session can see."""
    chain = [root]
    while chain[-1].superseded_by is not None:
        after = session.get(chain[-1].superseded_by)
        if after is None:
            break
        chain.append(after)
    return chain


class MemoryFinder:
    """Finds the chain that an id stands for, and the person whose it is."""

    def __init__(self, memory: Memory, organization: str, identity: Mapping[str, Any]) -> None:
        self._memory = memory
        self._organization = organization
        self._identity = identity
        self._store: Store | None = None
        with suppress(InvalidInput):  # a service shows no store: there the ids say whose they are
            self._store = memory.store

    def session(
        self, owner: str, *, run_id: str | None = None, task_id: str | None = None
    ) -> Session:
        """A session of an owner; a run is a session of its own."""
        return self._memory.session(
            user_id=owner,
            organization=self._organization,
            session_id=run_id or "mem0",
            task_id=task_id,
            **self._identity,
        )

    def id_of(self, root: Fact, owner: str) -> str:
        """The id of a memory."""
        return root.id if self._store is not None else owned_id(root.id, owner)

    def chain(self, memory_id: object) -> tuple[Session, list[Fact], str] | None:
        """The chain of a memory, and whose it is; None where there is none to be seen."""
        fact_id, owner = parted(memory_id)
        run_id = task_id = None
        if owner is None and self._store is not None:
            with self._store.read(self._organization) as reader:
                stored = reader.fact(fact_id)
            if stored is None or stored.status is Status.ERASED:
                return None
            owner = stored.owner
            run_id = stored.scope_id if stored.scope is Scope.SESSION else None
            task_id = stored.scope_id if stored.scope is Scope.TASK else None
        if owner == KEEPER:
            return None
        if owner is None:
            raise InvalidInput(
                f"memory_id {memory_id!r:.80} does not say whose it is; over a service use the ids "
                f"that add, search and get_all give"
            )
        session = self.session(owner or KEEPER, run_id=run_id, task_id=task_id)
        fact = session.get(fact_id)
        if fact is None:
            return None
        return session, chain_of(session, root_of(session, fact)), owner
