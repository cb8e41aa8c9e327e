"""Exports of any content are read, or refused in our words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incumbent
from incumbent.compat.exports import from_langgraph, from_mem0, from_zep
from incumbent.compat.exports.importing import Importer
from incumbent.compat.exports.things import NotTaken, Surroundings
from incumbent.model.errors import InvalidInput
from tests.conftest import QUICK, examples

NAMES = [
    *("results", "memories", "relations", "memory", "id", "user_id", "agent_id", "run_id"),
    *("metadata", "created_at", "updated_at", "expiration_date", "role", "categories"),
    *("edges", "facts", "fact", "messages", "items", "nodes", "uuid", "valid_at", "invalid_at"),
    *("content", "role_type", "session_id", "name", "namespace", "key", "value", "type", "data"),
    *("values", "channel_values", "config", "configurable", "thread_id", "text", "checkpoint"),
]
PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "alice", "user", "human", "2026-01-01T00:00:00Z", "Likes tea", "\ud800"])
    | st.text(max_size=20)
)
RECORDS = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6)
    ),
    max_leaves=25,
)
READERS = {"mem0": from_mem0.read, "zep": from_zep.read, "langgraph": from_langgraph.read}


def things_of(name: str, record: Any) -> list[Any]:
    try:
        return list(READERS[name]("the document", record, Surroundings()))
    except InvalidInput:
        return []


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=examples(400, soak=3_000))
@given(RECORDS)
def test_any_record_is_read_or_refused(name: str, record: Any) -> None:
    """Whatever JSON stands in a file, no other error comes of it."""
    for thing in things_of(name, record):
        assert thing.place


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=examples(40, soak=300), deadline=None)
@given(st.lists(RECORDS, max_size=5))
def test_whatever_is_read_is_taken_or_told(name: str, records: list[Any]) -> None:
    """Each thing is counted once: written, there before, not taken or bad. Again, none is new."""
    things = [thing for record in records for thing in things_of(name, record)]
    wrong: list[str] = []
    with incumbent.open(":memory:", settings=QUICK) as memory:
        tallies = []
        for _ in range(2):
            importer = Importer(
                memory,
                organization="default",
                bad=lambda place, error: wrong.append(str(error)),
                user="somebody",
            )
            importer.take(things)
            importer.finish()
            tallies.append(importer.tally)
    first, second = tallies
    taken = [thing for thing in things if not isinstance(thing, NotTaken)]
    for tally in (first, second):
        assert tally.done + tally.skipped == len(taken)
        assert sum(tally.not_taken.values()) == len(things) - len(taken)
    assert second.facts == 0
    assert second.turns == 0
