"""The audit stream over HTTP: the log of one organization, for those who may see it."""

from __future__ import annotations

import json

import httpx
import pytest

import incumbent
from tests.patience import PATIENCE
from tests.service.conftest import Start
from tests.service.running import Running, a_key


def test_the_remote_log_is_the_log(service: Running) -> None:
    """A client reads the same entries as the process that has the memory, from where it likes."""
    session = service.memory.session(user_id="ann", organization="acme")
    for value in ("draft", "final"):
        session.write("report", value)
    with incumbent.open(service.address) as remote:
        for options in ({}, {"after": 1}, {"values": True}):
            told = list(remote.audit("acme", **options))
            assert told == list(service.memory.audit("acme", **options))
            assert told


def test_what_is_added_comes_as_it_is_added(service: Running) -> None:
    """With follow, the stream stays open and tells what is written next."""
    session = service.memory.session(user_id="ann", organization="acme")
    session.write("report", "draft")
    asked = {"session": {"organization": "acme"}, "follow": True}
    with httpx.stream(
        "POST", f"{service.address}/v1/audit", json=asked, timeout=PATIENCE
    ) as answer:
        lines = answer.iter_lines()
        assert json.loads(next(lines))["seq"] == 1
        session.write("report", "final")
        told = json.loads(next(lines))
    assert (told["seq"], told["outcome"]) == (2, "superseded")
    assert "final" not in json.dumps(told)


def test_only_an_admin_reads_the_log(guarded: Running) -> None:
    """A key that may read facts may not read the log, and an admin's reads one organization's."""
    reader = a_key(guarded.memory, "read", "write")
    admin = a_key(guarded.memory, "admin")
    guarded.memory.session(user_id="eve", organization="other").write("secret", "theirs")
    with (
        incumbent.open(guarded.address, key=reader) as memory,
        pytest.raises(incumbent.NotPermitted),
    ):
        list(memory.audit("acme"))
    with incumbent.open(guarded.address, key=admin) as memory:
        assert list(memory.audit("acme")) == []
        with pytest.raises(incumbent.NotPermitted):
            list(memory.audit("other"))


def test_a_place_beyond_the_end_is_refused(start: Start) -> None:
    """Nobody waits for ever for entries after one that was never written."""
    service = start()
    with (
        incumbent.open(service.address) as memory,
        pytest.raises(incumbent.InvalidInput, match="ends at 0"),
    ):
        list(memory.audit("acme", after=7))


def test_a_service_that_stops_ends_the_stream(start: Start) -> None:
    """Whoever follows the log does not hold up the end of a service."""
    service = start(shutdown_timeout=60)
    service.memory.session(user_id="ann", organization="acme").write("report", "draft")
    asked = {"session": {"organization": "acme"}, "follow": True}
    with httpx.stream(
        "POST", f"{service.address}/v1/audit", json=asked, timeout=PATIENCE
    ) as answer:
        lines = answer.iter_lines()
        next(lines)
        service.stop()
        assert list(lines) == []
