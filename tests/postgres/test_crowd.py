"""Many clients on a few addresses at once: nothing lost, one incumbent, and an order that could
have been."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from multiprocessing.synchronize import Barrier
from typing import Any, NamedTuple

import pytest

import incumbent
from tests.conftest import QUICK, SOAK
from tests.patience import PATIENCE
from tests.postgres import linearizability
from tests.postgres.linearizability import END, Read, Span, Write
from tests.servers import Databases
from tests.stores.invariants import findings
from tests.stores.processes import run_together

PROCESSES, THREADS, SECONDS = (16, 4, 60.0) if SOAK else (4, 4, 5.0)
ORGANIZATIONS = ("acme", "globex")
REGISTERS = ("status", "city")
"""Addresses that are only written and read."""
CONTENDED = ("price", "total")
"""Addresses that are also taken back, undone and repaired. A total rests on a price."""
REFUSALS = (incumbent.NothingToUndo, incumbent.UnknownFact, incumbent.UnknownDependency)
"""What others may have made pointless in the meantime. No error of a server is among them."""


class Event(NamedTuple):
    """Something a client did, as it saw it. Times are of one clock, for all processes."""

    organization: str
    kind: str
    begin: int
    end: int
    key: str = ""
    value: Any = None
    seq: int = 0
    verdict: str = ""


class Client:
    """Does one random thing after another."""

    def __init__(self, memory: incumbent.Memory, name: str) -> None:
        self.chance = random.Random(name)
        self.name = name
        self.sessions = {
            organization: memory.session(
                user_id=name, authority="manager", organization=organization
            )
            for organization in ORGANIZATIONS
        }
        self.events: list[Event] = []
        self.made: dict[str, list[incumbent.Verdict]] = {name: [] for name in ORGANIZATIONS}

    def go_on(self) -> None:
        organization = self.chance.choice(ORGANIZATIONS)
        session = self.sessions[organization]
        kind = self.chance.choice(("write", "write", "read", "read", "read", "undo", "repair"))
        if kind == "read":
            key = self.chance.choice(REGISTERS + CONTENDED)
            self._record(organization, kind, lambda: session.current(key), key)
        elif kind == "write":
            key = self.chance.choice(REGISTERS + CONTENDED)
            value = f"{self.name}/{len(self.events)}"
            bases = ["price"] if key == "total" else []
            self._record(
                organization,
                kind,
                lambda: session.write(key, value, memory_type="organizational", depends_on=bases),
                key,
            )
        elif kind == "undo" and self.made[organization]:
            verdict = self.chance.choice(self.made[organization])
            self._record(organization, kind, lambda: session.undo(verdict))
        elif kind == "repair":
            self._repair(organization, session)

    def _repair(self, organization: str, session: incumbent.Session) -> None:
        waiting = session.reviews()
        if not waiting:
            return
        fact = self.chance.choice(waiting).fact
        how = self.chance.choice(("value", "still right", "retract"))
        if how == "value":
            value = f"{self.name}/{len(self.events)}"
            self._record(organization, how, lambda: session.resolve(fact.id, value), fact.key)
        elif how == "still right":
            self._record(
                organization, how, lambda: session.resolve(fact.id, still_right=True), fact.key
            )
        else:
            self._record(organization, how, lambda: session.retract(fact.id), fact.key)

    def _record(self, organization: str, kind: str, act: Callable[[], Any], key: str = "") -> None:
        begin = time.monotonic_ns()
        try:
            result = act()
        except REFUSALS:
            return
        except incumbent.InvalidInput as error:
            # Settled by another before us: the fact waits for no review any more.
            assert type(error) is incumbent.InvalidInput  # noqa: PT017
            return
        end = time.monotonic_ns()
        if isinstance(result, incumbent.Verdict):
            self._keep_for_undo(organization, result, key)
            event = Event(organization, kind, begin, end, key, None, result.seq, result.id)
        else:
            event = Event(organization, kind, begin, end, key, result)
        self.events.append(event)

    def _keep_for_undo(self, organization: str, verdict: incumbent.Verdict, key: str) -> None:
        if key not in REGISTERS:
            self.made[organization].append(verdict)


def crowd(start: Barrier, url: str, seconds: float) -> list[Event]:
    """A process of several clients that share a memory."""
    with incumbent.open(url, settings=QUICK) as memory:
        number = start.wait(PATIENCE)
        clients = [Client(memory, f"{number}.{thread}") for thread in range(THREADS)]
        deadline = time.monotonic() + seconds
        failed: list[BaseException] = []

        def work(client: Client) -> None:
            try:
                while time.monotonic() < deadline:
                    client.go_on()
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=work, args=(client,)) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            raise failed[0]
        return [event for client in clients for event in client.events]


def spans_of(memory: incumbent.Memory, organization: str) -> dict[str, list[Span]]:
    """What each address held from when to when, from the rows themselves."""
    found: dict[str, list[Span]] = {}
    for record in memory.store.dump(organization):
        if record["kind"] in ("fact", "tenure") and record["status"] == "office":
            until = record.get("until", END)
            span = Span(record["since"], until, record["value"])
            found.setdefault(record["key"], []).append(span)
    return found


@pytest.mark.timeout(3600)
def test_a_crowd_on_eight_addresses(databases: Databases) -> None:
    """One incumbent each, unbroken chains, all that was acknowledged and nothing else, and a
    history that could have happened one operation after the other."""
    url = databases.empty()
    events = [event for told in run_together(crowd, PROCESSES, url, SECONDS) for event in told]
    kinds = Counter(event.kind for event in events)
    assert {"write", "read", "undo"} <= kinds.keys(), kinds
    assert kinds.keys() & {"value", "still right", "retract"}, kinds
    with incumbent.open(url, settings=QUICK) as memory:
        for organization in ORGANIZATIONS:
            told = [event for event in events if event.organization == organization]
            check_log(memory, organization, told)
            check_chains(memory, organization)
            check_order(memory, organization, told)


def check_log(memory: incumbent.Memory, organization: str, events: list[Event]) -> None:
    """Every acknowledged verdict is in the log under its number, and no other."""
    assert findings(memory, organization) == []
    with memory.store.read(organization) as reader:
        log = {verdict.seq: verdict.id for verdict in reader.log(0, 1_000_000)}
    assert log == {event.seq: event.verdict for event in events if event.verdict}


def check_chains(memory: incumbent.Memory, organization: str) -> None:
    """What is only written is one chain, and only its end is valid."""
    session = memory.session(user_id="reader", authority="guest", organization=organization)
    for key in REGISTERS:
        chain = session.history(key)
        assert [fact.is_valid for fact in chain] == [False] * (len(chain) - 1) + [True]
        for fact, successor in pairwise(chain):
            assert fact.superseded_by == successor.id
            assert successor.predecessors == (fact.id,)
    for key in REGISTERS + CONTENDED:
        assert len(session.facts(key)) <= 1


def check_order(memory: incumbent.Memory, organization: str, events: list[Event]) -> None:
    """Numbers and what was read agree with the times at which things were done."""
    spans = spans_of(memory, organization)
    for held in spans.values():
        assert linearizability.overlaps(held) == []
    writes = [Write(event.begin, event.end, event.seq) for event in events if event.verdict]
    reads = [
        Read(event.begin, event.end, event.key, event.value)
        for event in events
        if event.kind == "read"
    ]
    assert len(reads) > len(writes) / 10
    assert linearizability.check(writes, reads, spans) == []
