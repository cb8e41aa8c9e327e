"""Forms without a browser: what pages send, sent by hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.patience import PATIENCE
from tests.service.running import PLAIN, Running


class Sender:
    """A visitor who looks as somebody and sends forms."""

    def __init__(self, client: httpx.Client, user_id: str, organization: str) -> None:
        self.client = client
        client.get("/inspect/who")
        self.token = client.cookies["incumbent_token"]
        chosen = self.send("who", user_id=user_id, organization=organization)
        assert chosen.status_code == 303, chosen.text

    def send(self, path: str, **fields: str) -> httpx.Response:
        """Send a form to a page."""
        return self.client.post(f"/inspect/{path}", data={"token": self.token, **fields})

    def get(self, path: str) -> httpx.Response:
        return self.client.get(f"/inspect/{path}")


@contextmanager
def sending(
    served: Running, user_id: str = "alice", *, key: str = "", organization: str = "acme"
) -> Iterator[Sender]:
    """A sender at a service, with a credential where there is one."""
    cookies = {"incumbent_key": key} if key else {}
    with httpx.Client(
        base_url=served.address, cookies=cookies, timeout=PATIENCE, **PLAIN
    ) as client:
        yield Sender(client, user_id, organization)
