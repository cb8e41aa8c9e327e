"""Forged forms: no action takes one from another page, or without the token of its own."""

from __future__ import annotations

import pytest

import incumbent
from incumbent.inspector.views import ROUTES
from tests.inspector.forms import sending
from tests.service.running import Running

ACTIONS = sorted(route.path for route in ROUTES if route.action)


@pytest.mark.parametrize("path", ACTIONS)
def test_a_forged_form_does_nothing(served: Running, memory: incumbent.Memory, path: str) -> None:
    """Refused without the token or with a wrong one, and from another site even with its own."""
    alice = memory.session(user_id="alice", organization="acme")
    verdict = alice.write("city", "Bern")
    head = memory.audit("acme")
    before = [entry.id for entry in head]
    form = {
        "id": verdict.fact_id,
        "fact": verdict.fact_id,
        "verdict": verdict.id,
        "do": "retract",
        "typed": "erase 1",
        "user_id": "alice",
        "organization": "acme",
    }
    with sending(served) as sender:
        post, address = sender.client.post, f"/inspect/{path}"
        assert post(address, data=form).status_code == 403
        assert post(address, data={**form, "token": "x" * 43}).status_code == 403
        ours = {**form, "token": sender.token}
        for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            assert post(address, data=ours, headers=headers).status_code == 403
        # What a plain page of another site can send without asking is a form alone.
        typed = {"Content-Type": "text/plain"}
        assert post(
            address, content=b"token=" + sender.token.encode(), headers=typed
        ).status_code in (
            403,
            415,
        )
        assert sender.client.get(address).status_code in (200, 303, 404, 405, 422)
    assert [entry.id for entry in memory.audit("acme")] == before
    assert alice.current("city") == "Bern"
