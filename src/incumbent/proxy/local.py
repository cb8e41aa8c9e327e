"""A proxy in the process of an application, for sessions that the application has at hand.

It is for programs that an application runs and that ask a provider themselves: they are given an
address and a ticket, and nobody else on the machine gets through. What such a program says under a
person's name need not be theirs, so nothing is observed here; the application does that.
"""

from __future__ import annotations

import secrets
import threading
from weakref import WeakValueDictionary

from incumbent.http.admission import SessionForm
from incumbent.http.configuration import Service
from incumbent.http.problems import Refusal
from incumbent.memory import Memory
from incumbent.model.errors import StoreError
from incumbent.proxy.configuration import LARGEST_REQUEST, ProxySettings
from incumbent.proxy.server import proxy_server
from incumbent.session import Session

_PATIENCE = 30.0
"""Seconds in which it must listen, and in which it must have stopped."""


class Ticket:
    """Lets requests through for a session, as long as somebody has it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._secret = secrets.token_urlsafe(32)

    @property
    def header(self) -> str:
        """The header that a request shows."""
        return f"X-Incumbent-Key: {self._secret}"

    @property
    def shown(self) -> str:
        """The header as it is read."""
        return f"Bearer {self._secret}"


class LocalProxy:
    """Guards what is sent to a provider, and adds the context, on a free port of this machine."""

    def __init__(
        self, memory: Memory, upstream: str, *, budget: int = ProxySettings.budget
    ) -> None:
        self.memory = memory
        self.address = ""
        settings = ProxySettings(upstream=upstream, require_user=True, observe=False, budget=budget)
        service = Service(port=0, max_body_bytes=LARGEST_REQUEST, shutdown_timeout=5)
        self._server = proxy_server(memory, settings, service, self._announced, self._admit)
        self._thread = threading.Thread(
            target=self._server.run, name="incumbent-proxy", daemon=True
        )
        self._listens = threading.Event()
        self._tickets: WeakValueDictionary[str, Ticket] = WeakValueDictionary()

    def __enter__(self) -> LocalProxy:
        self._thread.start()
        if not self._listens.wait(_PATIENCE):
            raise StoreError("the proxy does not listen; the log says why")
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(_PATIENCE)

    def ticket(self, session: Session) -> Ticket:
        """Let requests through for a session."""
        made = Ticket(session)
        self._tickets[made.shown] = made
        return made

    def _announced(self, address: str) -> None:
        self.address = address
        self._listens.set()

    def _admit(self, form: SessionForm, shown: str | None) -> Session:
        known = self._tickets.get(shown or "")
        if known is None:
            raise Refusal(401, "NotAuthenticated", "this is no ticket of this proxy")
        return known.session
