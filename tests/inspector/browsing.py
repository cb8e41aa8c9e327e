"""A real browser for the pages, and what all of them hold to: no error, nothing from elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Route,
    expect,
)

from tests.patience import PATIENCE
from tools.browser import MISSING, found_browser, running

# By default it waits five seconds, and then calls a busy machine a fault.
expect.set_options(timeout=PATIENCE * 1_000)
LAPTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


@contextmanager
def a_browser() -> Iterator[Browser]:
    """A browser that runs as long as the block. Without one its tests are skipped, not in CI."""
    path = found_browser()
    if path is None and os.environ.get("CI"):
        pytest.fail(MISSING)
    if path is None:
        pytest.skip(f"the pages are not tested: {MISSING}")
    with running(path) as browser:
        yield browser


class Browsing:
    """One visitor's browser, at one service. It remembers everything that went wrong."""

    def __init__(self, browser: Browser, address: str, **options: Any) -> None:
        self.address = address
        self.context: BrowserContext = browser.new_context(
            base_url=address,
            viewport=options.pop("viewport", LAPTOP),
            **options,
        )
        self.context.set_default_timeout(PATIENCE * 1000)
        self.problems: list[str] = []
        self.context.route("**/*", self._routed)
        self.page: Page = self.context.new_page()
        self.page.on("console", self._told)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))

    def _routed(self, route: Route) -> None:
        url = route.request.url
        if url.startswith((self.address, "data:", "blob:")):
            route.continue_()
        else:
            self.problems.append(f"asked for {url}")
            route.abort()

    def _told(self, message: ConsoleMessage) -> None:
        # A page that tells of a refusal has that status, which browsers call an error.
        if message.type in ("error", "warning") and "the server responded with" not in message.text:
            self.problems.append(message.text)

    def look_as(self, user_id: str, organization: str = "acme", **more: str) -> None:
        """Choose through whose eyes to look."""
        self.page.goto("/inspect/who")
        form = self.page.locator("form.stack")
        form.locator("[name=organization]").evaluate("(e, v) => { e.value = v }", organization)
        form.locator("[name=user_id]").fill(user_id)
        if more:
            form.locator("summary").click()
        for name, value in more.items():
            chosen = form.locator(f"[name={name}]")
            if name == "authority":
                chosen.select_option(value)
            else:
                chosen.fill(value)
        form.get_by_role("button", name="Look").click()

    def open(self, path: str) -> Page:
        """Go to a page."""
        self.page.goto(path)
        return self.page

    def serious(self) -> list[str]:
        """What axe finds on this page that is serious or critical."""
        self.page.evaluate(_axe())
        found = self.page.evaluate("async () => (await axe.run()).violations")
        return [
            f"{one['id']}: {one['help']}: {[node['html'][:200] for node in one['nodes'][:3]]}"
            for one in found
            if one["impact"] in ("serious", "critical")
        ]

    def close(self) -> None:
        """Leave, and see that nothing went wrong."""
        self.context.close()
        assert self.problems == []


def press(page: Page, key: str) -> None:
    """Press a key on a page, once its script listens: a page can be seen before it does."""
    expect(page.locator("html[data-keys=on]")).to_have_count(1)
    page.keyboard.press(key)


@cache
def _axe() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
