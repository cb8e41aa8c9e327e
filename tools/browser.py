"""A real browser without a screen, for tests and screenshots of pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

MISSING = "no browser: run `apt-get install chromium`, or name yours in INCUMBENT_CHROMIUM"
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_OPTIONS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def found_browser() -> str | None:
    """Where a browser is, or None."""
    named = os.environ.get("INCUMBENT_CHROMIUM")
    return named or next(filter(None, map(shutil.which, _NAMES)), None)


@contextmanager
def running(path: str) -> Iterator[Browser]:
    """That browser, as long as the block runs."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_OPTIONS))
        try:
            yield browser
        finally:
            browser.close()
