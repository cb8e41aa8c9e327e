"""A client that goes on whatever happens, and writes down what it was told of each write."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import incumbent
from tests.stores.invariants import findings

KINDS = ("single", "supersession", "supersession", "batch", "undo", "note")
BATCH = 5
DURABLE = incumbent.Settings(durability="full", embedder="static")
_PAUSE = 0.02


class Entry(NamedTuple):
    """One thing that was attempted, and what came of it as far as the client was told."""

    kind: str
    values: tuple[str, ...]
    target: str = ""
    """The verdict that an undo undoes."""
    verdicts: tuple[str, ...] | None = None
    """The verdicts that were acknowledged; None for an attempt that raised an error."""
    is_unsure: bool = False
    """Whether the error said that it may have been kept all the same."""


class Journal:
    """One client with an organization of its own."""

    def __init__(self, memory: incumbent.Memory, organization: str, seed: int) -> None:
        self.session = memory.session(
            user_id="alice", authority="manager", organization=organization, session_id="s1"
        )
        self.entries: list[Entry] = []
        self._chance = random.Random(seed)
        self._written: list[str] = []

    def go_on(self) -> None:
        """Attempt something, again and again until it is acknowledged."""
        kind = self._chance.choice(KINDS)
        if kind == "undo" and not self._written:
            kind = "single"
        target = self._written.pop() if kind == "undo" else ""
        number = len(self.entries)
        while True:
            count = {"batch": BATCH, "undo": 0}.get(kind, 1)
            attempt = f"{number}-{len(self.entries)}"
            values = tuple(f"{attempt}-{i}" for i in range(count))
            entry = self.attempt(Entry(kind, values, target))
            self.entries.append(entry)
            if entry.verdicts is not None or entry.is_unsure:
                return
            time.sleep(_PAUSE)

    def attempt(self, entry: Entry) -> Entry:
        try:
            return entry._replace(verdicts=self._carry_out(entry))
        except incumbent.StoreUnavailable as error:
            return entry._replace(is_unsure="may or may not" in str(error))

    def _carry_out(self, entry: Entry) -> tuple[str, ...]:
        session, values = self.session, entry.values
        if entry.kind == "note":
            session.note("desk", values[0])
            return ()
        if entry.kind == "undo":
            return (session.undo(entry.target).id,)
        if entry.kind == "batch":
            made = session.write_many([{"key": f"part {i}", "value": v} for i, v in _each(values)])
        else:
            key = "status" if entry.kind == "supersession" else values[0]
            made = [session.write(key, values[0])]
        self._written.append(made[-1].id)
        return tuple(verdict.id for verdict in made)


def _each(values: tuple[str, ...]) -> list[tuple[int, str]]:
    return list(enumerate(values))


def write_while(url: str, organization: str, seed: int, goes_on: Callable[[], bool]) -> list[Entry]:
    """Write until told to stop, and once more after that. The memory is opened once."""
    with incumbent.open(url, settings=DURABLE) as memory:
        journal = Journal(memory, organization, seed)
        while goes_on():
            journal.go_on()
        journal.go_on()
    return journal.entries


def check(memory: incumbent.Memory, organization: str, entries: list[Entry]) -> None:
    """The log is what was acknowledged, in order, whole; and what raised an error is not there."""
    assert findings(memory, organization) == []
    with memory.store.read(organization) as reader:
        log = reader.log(0, 1_000_000)
        facts = {fact.id: fact for fact in reader.facts([v.fact_id for v in log])}
    place = 0
    notes: set[Any] = {None}
    for entry in entries:
        if entry.kind == "note":
            notes = _noted(entry, notes)
            continue
        size = max(1, len(entry.values))
        here = log[place : place + size]
        if entry.verdicts is not None:
            assert [v.id for v in here] == list(entry.verdicts), f"{entry} is lost or out of place"
            place += size
        elif entry.is_unsure and _is_there(entry, here, facts):
            place += size
        if entry.verdicts is not None and entry.values:
            assert [facts[v.fact_id].value for v in here] == list(entry.values)
    assert len(log) == place, f"nobody was told of {log[place:]}"
    session = memory.session(user_id="alice", organization=organization, session_id="s1")
    found = [item.value for item in session.working_set()]
    assert (found[0] if found else None) in notes


def _noted(entry: Entry, before: set[Any]) -> set[Any]:
    if entry.verdicts is not None:
        return {entry.values[0]}
    return before | {entry.values[0]} if entry.is_unsure else before


def _is_there(
    entry: Entry, here: list[incumbent.Verdict], facts: dict[str, incumbent.Fact]
) -> bool:
    if entry.kind == "undo":
        return bool(here) and here[0].action.value == "undo"
    found = [facts[verdict.fact_id].value for verdict in here]
    if found[:1] != list(entry.values[:1]):
        return False
    assert found == list(entry.values), f"{entry} is there by half"
    return True
