"""Small memories for the tests of searching, and what is on their shelves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st

import incumbent
from incumbent.model.fact import Fact, Status
from incumbent.model.records import Declaration
from incumbent.model.scope import EVERYWHERE
from incumbent.rules.temporal import as_seen
from incumbent.search.collection import AdHoc
from incumbent.search.space import SearchSpace
from incumbent.stores.port import Reader, Selection
from incumbent.testing import SteppingClock
from tests.behaviour.people import FOR_ALL
from tests.properties.contexts import FAST, a_memory, told
from tests.stores.processes import NOBODY

ORGANIZATION = "acme"
OWNERS = ("eve", "")
PLACES = (EVERYWHERE,)
HIDES = (Declaration("vault*", requires=("hr",)),)
WORDS = ("harbour", "crane", "parcel", "ship", "dock", "17")


class Said(NamedTuple):
    """A fact to be written."""

    words: tuple[str, ...]
    hidden: bool
    binding: bool
    shared: bool
    term: str
    replaced: bool


said = st.builds(
    Said,
    st.lists(st.sampled_from(WORDS), max_size=5).map(tuple),
    st.sampled_from([False, False, True]),
    st.sampled_from([False, False, False, True]),
    st.booleans(),
    st.sampled_from(["open", "open", "open", "over", "to come"]),
    st.sampled_from([False, False, True]),
)


@contextmanager
def a_library(
    store: str, found: list[Said], clock: SteppingClock | None = None, **how: Any
) -> Iterator[incumbent.Memory]:
    """A memory in which these were said, one after the other."""
    clock = clock or SteppingClock()
    with a_memory(store, clock, **how) as memory:
        memory.declare(HIDES[0].pattern, requires=HIDES[0].requires)
        session = memory.session(
            user_id="eve",
            authority="manager",
            organization=ORGANIZATION,
            permissions=["hr"],
            session_id="s",
        )
        for number, one in enumerate(found):
            clock.advance(seconds=10)
            terms: dict[str, Any] = {
                "is_constraint": one.binding,
                "memory_type": "organizational" if one.shared else "user",
            }
            if one.term == "over":
                terms["valid_until"] = clock.now + timedelta(seconds=5)
            elif one.term == "to come":
                terms["valid_from"] = clock.now + timedelta(days=5)
            key = f"{'vault' if one.hidden else 'fact'}_{number}"
            session.write(key, " ".join(one.words), id=f"id-{number:03}", **terms)
            if one.replaced and one.term == "open":
                session.write(key, " ".join((*one.words, "anew")), id=f"id-{number:03}b", **terms)
        clock.advance(seconds=10)
        yield memory


@contextmanager
def a_hall(
    memory: incumbent.Memory, hides: tuple[Declaration, ...] = HIDES
) -> Iterator[tuple[Reader, SearchSpace]]:
    """What somebody may search for whom these declarations hide keys."""
    with memory.store.read(ORGANIZATION) as reader:
        shelves = reader.shelves(OWNERS, PLACES)
        with memory.index.shelved(reader, shelves, memory.now(), hides) as space:
            yield reader, space


def seen(reader: Reader, now: datetime, hides: tuple[Declaration, ...] = HIDES) -> list[Fact]:
    """The facts in office whose key is not hidden, by looking at all of them."""
    facts = (as_seen(fact, now) for fact in reader.timeline(Selection(OWNERS)))
    return [
        fact
        for fact in facts
        if fact.status is Status.OFFICE and not any(told.matches(fact.key) for told in hides)
    ]


def ad_hoc(
    memory: incumbent.Memory, reader: Reader, hides: tuple[Declaration, ...] = HIDES
) -> AdHoc:
    """The same facts put together for one search, under the same numbers."""
    facts = {fact.id: fact for fact in seen(reader, memory.now(), hides)}
    rows = [(row, facts[row.fact_id].comes_first) for row in reader.entries_of(facts)]
    return AdHoc(rows, memory.index.dimensions)


def ask_read_only(path: Path, now: datetime, query: str) -> dict[str, Any]:
    """In a process that gives up its rights: the context of a query, and what a write comes to."""
    with a_memory("memory") as memory:
        # Nobody may be able to read where Python's own modules lie, so they are loaded before.
        memory.session(user_id="eve", organization=ORGANIZATION).context(query)
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    with incumbent.open(path, clock=SteppingClock(now), settings=FAST) as memory:
        session = memory.session(
            user_id="eve",
            organization=ORGANIZATION,
            session_id="desk-of-eve",
            permissions=FOR_ALL,
        )
        context = session.context(query)
        with memory.store.read(ORGANIZATION) as reader:
            current = memory.index.is_current(reader)
        try:
            session.write("plan", "something")
            refused = ""
        except incumbent.IncumbentError as error:
            refused = type(error).__name__
    return {"told": told(context), "current": current, "refused": refused}
