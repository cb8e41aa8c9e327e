"""The systems that are measured side by side, each in a process of its own.

`worker` is what runs in such a process, `client` the handle that the benchmark holds on it, and
each other module makes one product answer to the port. Only `worker` imports those modules, and
only the one it needs: the peers are installed in an environment of their own.
"""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """A system that can be measured: where its code is, and what it does for its figures."""

    module: str
    maker: str
    ours: bool
    about: str


KINDS = {
    "incumbent": Kind(
        "ours",
        "Ranked",
        True,
        "a context of at most 4,000 tokens: text and vectors, visibility, scope, supersession, "
        "omissions accounted for; a sync per commit; a text that several facts share is embedded "
        "once",
    ),
    "incumbent, 1,000 tokens": Kind("ours", "Short", True, "the same with at most 1,000 tokens"),
    "incumbent, text only": Kind(
        "ours", "TextOnly", True, "the same without an embedder: full-text ranking alone"
    ),
    "bare": Kind(
        "bare_search",
        "Bare",
        True,
        "an FTS5 MATCH of the question's three rarest words, then an exact numpy search over "
        "float32 vectors held in memory; 50 row numbers each, not fused, no text fetched",
    ),
    "mem0 + qdrant": Kind(
        "mem0_memories",
        "OnQdrant",
        False,
        "infer=False, 50 results, local qdrant; vectors only (its keyword part needs a model that "
        "is downloaded), one fact per call, no supersession, no budget",
    ),
    "mem0 + faiss": Kind(
        "mem0_memories",
        "OnFaiss",
        False,
        "the same on faiss, which rewrites its files with every fact",
    ),
    "langgraph in memory": Kind(
        "langgraph_stores",
        "InMemory",
        False,
        "InMemoryStore, 50 results; vectors only, nothing on disk, no supersession, no budget",
    ),
    "langgraph + sqlite": Kind(
        "langgraph_stores",
        "OnSqlite",
        False,
        "SqliteStore with sqlite-vec, 50 results; vectors only, no supersession, no budget",
    ),
    "memgine": Kind(
        "memgine_engine",
        "Memgine",
        False,
        "a context, token_budget=4000; word overlap, no vectors, nothing on disk; supersession; "
        "does not keep to its budget (see tokens)",
    ),
}
