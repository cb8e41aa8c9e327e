"""Services with pages, on SQLite and PostgreSQL, and browsers that visit them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser

import incumbent
from tests.inspector.browsing import Browsing, a_browser
from tests.service.running import Running

Visit = Callable[..., Browsing]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for a module: it takes a second to start."""
    with a_browser() as found:
        yield found


@pytest.fixture
def served(memory: incumbent.Memory) -> Iterator[Running]:
    """The service of that memory, without credentials."""
    with Running(memory) as running:
        yield running


@pytest.fixture
def visit(browser: Browser, served: Running) -> Iterator[Visit]:
    """Starts visits to the service; each ends without an error on any page."""
    with ExitStack() as stack:

        def visiting(user_id: str = "alice", **options: Any) -> Browsing:
            browsing = Browsing(browser, served.address, **options)
            stack.callback(browsing.close)
            browsing.look_as(user_id)
            return browsing

        yield visiting
