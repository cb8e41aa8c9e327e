"""A batch of writes leaves what the same writes leave one after the other."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incumbent
from incumbent import Memory, Session, Verdict
from incumbent.model.scope import EVERYWHERE, Scope
from tests.conftest import QUICK, examples

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
KEYS = ("city", "plan", "tags", "reading", "pay", "travel_policy", "pay_day")
OPTIONS: tuple[dict[str, Any], ...] = (
    *[{}] * 6,
    {"subject": "order 1"},
    {"supersedes": "city"},
    {"depends_on": ["plan"]},
    {"doubts": ["plan"]},
    {"when_superseded": "city"},
    {"at": NOW - timedelta(days=2)},
    {"valid_from": NOW + timedelta(days=2)},
    {"valid_until": NOW + timedelta(days=2)},
    {"id": "chosen"},
    {"memory_type": "organizational"},
    {"memory_type": "organizational", "is_constraint": True},
    {"requires": ["hr"]},
    {"min_authority": "executive"},
    {"scope": "task", "scope_id": "t"},
    {"authority": "guest"},
    {"confidence": 0.2},
)
OWNERS = ("exa", "guest", "mia", "")
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


def writes(most: int) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Writes on few matters, so that many meet, and on some that come once."""
    named = st.sampled_from(KEYS) | st.integers(0, 99).map(lambda number: f"once {number}")
    one = st.builds(
        lambda key, value, options: {"key": key, "value": value, **options},
        named,
        st.sampled_from(["Bern", "12 March", "must be signed", 7, {"a": [1]}]),
        st.sampled_from(OPTIONS),
    )
    return st.lists(one, max_size=most)


def opened(where: Path | str) -> tuple[Memory, dict[str, Session]]:
    """A new memory with declared keys and a clock that stands still, and people in it."""
    memory = incumbent.open(where, clock=lambda: NOW, settings=QUICK)
    memory.declare("tags", multi_valued=True)
    memory.declare("reading", time_sensitive=True)
    memory.declare("pay", requires=["hr"])
    memory.declare("plan", write_authority="manager")
    people = {
        name: memory.session(
            user_id=name, authority=authority, organization="acme", session_id=name, **more
        )
        for name, authority, more in (
            ("guest", "guest", {}),
            ("mia", "manager", {"permissions": ["hr"]}),
            ("exa", "executive", {"task_id": "t"}),
        )
    }
    return memory, people


def without_ids(found: object) -> str:
    """A text of something, in which an id is told by when it first came up."""
    names: dict[str, str] = {}
    return ID.sub(lambda one: names.setdefault(one.group(), f"<{len(names)}>"), repr(found))


def stored(memory: Memory) -> list[object]:
    """All that a store has, but for what depends on the number of transactions that it took."""
    with memory.store.read("acme") as reader:
        shelves = reader.shelves(OWNERS, (EVERYWHERE, (Scope.TASK, "t")))
        placed = [row for shelf in shelves for row in reader.placed(shelf.id, 0)]
        entries = sorted(row._replace(changed=0, vector=None) for row in placed)
        # An entry that was never live at the end of a transaction has no meaning.
        found = [row._replace(vector=None) for row in reader.found([row.entry for row in entries])]
        terms = sorted({term for row in found for term in row.terms.split()})
        posted = reader.many_postings([shelf.id for shelf in shelves], terms, 1_000)
        kept = [shelf._replace(id=0, version=0) for shelf in shelves]
        return [*memory.store.dump("acme"), kept, entries, found, terms, posted]


def one_by_one(
    session: Session, given: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[Verdict]]:
    """Those of the writes that go through, and their verdicts."""
    taken, verdicts = [], []
    for arguments in given:
        try:
            verdicts.append(session.write(**arguments))
        except incumbent.IncumbentError:
            continue
        taken.append(arguments)
    return taken, verdicts


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@given(data=st.data())
@settings(max_examples=examples(40, soak=400), deadline=None)
def test_a_batch_is_as_its_writes_one_by_one(kind: str, data: st.DataObject) -> None:
    """Verdicts, facts, log and index are the same, whatever the writes meet."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in "ab"] if kind == "sqlite" else [":memory:"] * 2
        (memory, people), (other, others) = map(opened, paths)
        for _ in range(data.draw(st.integers(1, 3))):
            name = data.draw(st.sampled_from(sorted(people)))
            taken, verdicts = one_by_one(others[name], data.draw(writes(8)))
            assert without_ids(people[name].write_many(taken)) == without_ids(verdicts)
        assert without_ids(stored(memory)) == without_ids(stored(other))
        memory.close()
        other.close()
