"""Where the time of a context, or of a batch of writes, goes: the parts of it, timed from outside.

Timers cost something themselves, so phases are measured by themselves, and not in the run that
tells how long the whole takes. Read their shares.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import incumbent.composing.material as composing
import incumbent.resources as resources
import incumbent.search.analysis as analysis
import incumbent.session.contexts as session
import incumbent.session.writes as writes
from incumbent.composing.dead_values import DeadValueFinder
from incumbent.composing.material import MaterialBuilder
from incumbent.engine.batch import WriteBatch
from incumbent.search.index import Index
from incumbent.session.contexts import SessionContexts
from incumbent.session.writes import SessionWrites
from incumbent.stores.sql.index import SQLIndex
from incumbent.stores.sql.transaction import SQLTransaction
from incumbent.stores.sqlite.connection import SQLiteConnection
from incumbent.stores.sqlite.transaction import SQLiteTransaction

Places = tuple[tuple[str, Any, str], ...]
"""Phases, each with a function of it. What it calls of another phase is that one's."""

CONTEXT: Places = (
    ("opening and closing", SessionContexts, "_compose"),
    ("gathering the rest", MaterialBuilder, "material"),
    ("searching", MaterialBuilder, "_search"),
    ("choosing and loading", MaterialBuilder, "_held"),
    ("doubts and scopes", composing, "doubts_about"),
    ("doubts and scopes", MaterialBuilder, "resolved"),
    ("ranking", MaterialBuilder, "_rank"),
    ("guard", DeadValueFinder, "dead"),
    ("guard", DeadValueFinder, "gone"),
    ("what is not known", composing, "unknown_matters"),
    ("lines within the budget", session, "assemble"),
)
WRITING: Places = (
    ("opening, committing and the rest", SessionWrites, "write_many"),
    ("checking the arguments", writes, "propose"),
    ("embedding", Index, "prepare"),
    ("looking up what they meet", SQLiteTransaction, "met"),
    ("judging", WriteBatch, "propose"),
    ("rows of facts and verdicts", SQLTransaction, "record_all"),
    ("index: the rest of an entry", Index, "entry"),
    ("index: terms", analysis, "terms"),
    ("index: probes", analysis, "probes"),
    ("index: tokens of the line", resources, "measured"),
    ("index: rows and postings", SQLIndex, "index"),
    ("SQLite, all inserts", SQLiteConnection, "run_many"),
)


@contextmanager
def timed(places: Places = CONTEXT) -> Iterator[dict[str, float]]:
    """Time the phases of everything meanwhile: seconds of the processor by phase."""
    spent: dict[str, float] = defaultdict(float)
    others: list[float] = []
    before = [(owner, name, _of(owner, name)) for _, owner, name in places]
    for phase, owner, name in places:
        setattr(owner, name, _timing(_of(owner, name), phase, spent, others))
    try:
        yield spent
    finally:
        for owner, name, function in before:
            setattr(owner, name, function)


def _of(owner: Any, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(owner, name)
    return found


def _timing(
    function: Callable[..., Any], phase: str, spent: dict[str, float], others: list[float]
) -> Callable[..., Any]:
    """`others` has, for each phase that is under way, the time of phases within it."""

    def timed(*given: Any, **named: Any) -> Any:
        others.append(0.0)
        begin = time.thread_time()
        try:
            return function(*given, **named)
        finally:
            seconds = time.thread_time() - begin
            spent[phase] += seconds - others.pop()
            if others:
                others[-1] += seconds

    return timed
