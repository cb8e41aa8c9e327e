"""The clients of `crowd`: each a process of its own, working on one PostgreSQL server.

`worker` is what runs in such a process, `herd` the benchmark's end of many of them, and each other
module makes one product answer to the port. Only `worker` imports those modules, and only the one
it needs: the peers are installed in an environment of their own.
"""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """A system that clients can work with: where its code is, and what it does for its figures."""

    module: str
    maker: str
    ours: bool
    about: str
    shares: str | None = None
    """The system whose database it searches, where it has none of its own."""


OURS = "incumbent"
BARE = "bare psycopg"
ANEW = "bare psycopg, all anew"
KINDS = {
    OURS: Kind(
        "ours",
        "Incumbent",
        True,
        "a write decides what it supersedes, keeps the history and is logged; a context is text of "
        "at most 1,000 tokens, ranked by words and vectors, permission-checked, every omission "
        "accounted for",
    ),
    BARE: Kind(
        "bare",
        "Bare",
        True,
        "the very statements that Incumbent sent for each of those calls, with their parameters, "
        "again in the same order on a copy of the same database; nothing decided, ranked or "
        "rendered",
    ),
    ANEW: Kind(
        "bare",
        "Bare",
        True,
        "the same for contexts of a process that keeps nothing of what it has read of facts and "
        "lists: what a context is made from, read from the server each time",
    ),
    "langgraph + postgres": Kind(
        "langgraph_store",
        "LangGraph",
        False,
        "PostgresStore with its pgvector index (HNSW); a write puts an item in place of the one "
        "under its key, without history; a search gives the 50 nearest items of one namespace by "
        "vector, no words, no budget, no permissions",
    ),
    "mem0 + pgvector": Kind(
        "mem0_memory",
        "Mem0",
        False,
        "as it comes (HNSW), infer=False; a write adds a memory or updates it by id, and notes it "
        "in a SQLite file of the client's own; a search gives up to 50 memories of one user_id by "
        "vector, those with all words of the question raised, no budget, no permissions",
    ),
    "mem0 + pgvector, iterative": Kind(
        "mem0_memory",
        "Iterative",
        False,
        "the same with hnsw.iterative_scan switched on for its connections, without which the "
        "filter leaves next to nothing of what the index finds; searches only",
        "mem0 + pgvector",
    ),
}
