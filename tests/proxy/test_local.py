"""A proxy in an application's own process: nobody gets through without a ticket, and nothing that
a program says is observed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

import incumbent
from incumbent.proxy import LocalProxy
from tests.patience import PATIENCE
from tests.proxy.stand_in import StandIn
from tests.service.running import PLAIN, a_key

OLD, NEW = "123 Main St", "456 Oak Ave"


@pytest.fixture
def memory() -> Iterator[incumbent.Memory]:
    with incumbent.open(":memory:") as opened:
        yield opened


@pytest.fixture
def local(memory: incumbent.Memory, upstream: StandIn) -> Iterator[LocalProxy]:
    with LocalProxy(memory, upstream.url) as proxy:
        yield proxy


def ask(proxy: LocalProxy, *said: str, **headers: str) -> httpx.Response:
    """Ask with messages of a user."""
    body: Any = {"model": "m", "messages": [{"role": "user", "content": text} for text in said]}
    with httpx.Client(**PLAIN, timeout=PATIENCE) as client:
        return client.post(f"{proxy.address}/v1/messages", json=body, headers=headers)


def shown(header: str) -> dict[str, str]:
    name, _, value = header.partition(": ")
    return {name: value}


def test_requests_with_a_ticket_are_guarded_and_not_observed(
    memory: incumbent.Memory, local: LocalProxy, upstream: StandIn
) -> None:
    """What holds for the session of the ticket is in what the provider gets."""
    alice = memory.session(user_id="alice", session_id="s1")
    alice.write("shipping_address", OLD)
    alice.write("shipping_address", NEW)
    ticket = local.ticket(alice)
    answer = ask(local, f"Ship it to {OLD}.", "I live in Oslo.", **shown(ticket.header))
    assert answer.status_code == 200
    assert NEW in upstream.last.text
    assert OLD not in upstream.last.text
    assert upstream.last.header(b"x-incumbent-key") == []
    assert [item for item in alice.working_set() if "turn" in item.key] == []


def test_nobody_gets_through_without_a_ticket(
    memory: incumbent.Memory, local: LocalProxy, upstream: StandIn
) -> None:
    """Whoever says a name is not believed, also while others have tickets, and whether or not
    there are keys."""
    ticket = local.ticket(memory.session(user_id="alice", session_id="s1"))
    assert ask(local, "Hello.").status_code == 403
    assert ask(local, "Hello.", **{"X-Incumbent-User": "alice"}).status_code == 401
    assert ask(local, "Hello.", **{"X-Incumbent-Key": "another"}).status_code == 401
    assert ask(local, "Hello.", **{"X-Incumbent-Key": a_key(memory)}).status_code == 401
    assert upstream.received == []
    assert ask(local, "Hello.", **shown(ticket.header)).status_code == 200


def test_a_ticket_that_nobody_has_any_more_opens_nothing(
    memory: incumbent.Memory, local: LocalProxy
) -> None:
    """So a conversation that is over leaves nothing behind."""
    ticket = local.ticket(memory.session(user_id="alice", session_id="s1"))
    header = shown(ticket.header)
    assert ask(local, "Hello.", **header).status_code == 200
    del ticket
    gc.collect()
    assert ask(local, "Hello.", **header).status_code == 401
