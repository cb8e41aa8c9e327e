"""Pictures of the inspector's pages: `python -m tools.screenshots FOLDER [--docs]`.

The week of `incumbent demo --inspect` is filled in, and every page is taken on a laptop and a
phone, in light and in dark. With --docs, those that the documentation shows are put there.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from playwright.sync_api import Browser

import incumbent
from incumbent.cli import week
from incumbent.http.configuration import Service
from incumbent.http.server import server_for
from incumbent.testing.clock import SteppingClock
from tools.browser import MISSING, found_browser, running

DOCS = Path(__file__).parents[1] / "docs" / "images"
SIZES = {"laptop": (1280, 800), "phone": (390, 844)}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_NOW = datetime(2026, 11, 16, 8, 30, tzinfo=UTC)
_SHOWN = {
    "now-laptop-light": "inspector.png",
    "story-laptop-light": "inspector-story.png",
    "context-laptop-light": "inspector-context.png",
    "reviews-laptop-light": "inspector-reviews.png",
    "conversation-laptop-light": "inspector-conversation.png",
    "timeline-laptop-dark": "inspector-timeline-dark.png",
    "now-phone-dark": "inspector-phone-dark.png",
}
"""The pictures that the documentation shows."""


def pages_of(memory: incumbent.Memory) -> dict[str, str]:
    """The pages to take, by name."""
    mara = memory.session(user_id=week.PERSON, organization=week.ORGANIZATION)
    (total,) = mara.facts("order_total", subject="Lakeside Clinic")
    middle = _NOW - timedelta(days=3)
    return {
        "now": "/inspect",
        "story": f"/inspect/fact?id={quote(total.id)}",
        "reviews": "/inspect/reviews",
        "context": f"/inspect/context?query={quote(week.QUESTION)}&budget=600",
        "timeline": f"/inspect/timeline?at={quote(middle.isoformat())}",
        "conversations": "/inspect/conversations",
        "conversation": "/inspect/conversation?session=wednesday",
        "branches": "/inspect/branches",
        "live": "/inspect/live",
        "erasure": "/inspect/erasure",
        "who": "/inspect/who",
    }


@contextmanager
def served(memory: incumbent.Memory) -> Iterator[str]:
    """The address of the pages of a memory."""
    ready, addresses = threading.Event(), list[str]()

    def announced(address: str) -> None:
        addresses.append(address)
        ready.set()

    looks_as = {"user_id": week.PERSON, "organization": week.ORGANIZATION}
    server = server_for(memory, Service(port=0, looks_as=looks_as), announced)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    ready.wait()
    try:
        yield addresses[0]
    finally:
        server.should_exit = True
        thread.join()


def take(browser: Browser, address: str, pages: dict[str, str], folder: Path) -> None:
    """Take every page in every size and scheme."""
    for size, (width, height) in SIZES.items():
        for scheme in SCHEMES:
            context = browser.new_context(
                base_url=address,
                viewport={"width": width, "height": height},
                color_scheme=scheme,
                reduced_motion="reduce",
            )
            page = context.new_page()
            for name, path in pages.items():
                page.goto(path)
                page.screenshot(path=folder / f"{name}-{size}-{scheme}.png")
            context.close()
            print(f"{size}, {scheme}: {len(pages)} pages", file=sys.stderr)


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--docs", action="store_true", help="put those for the documentation there")
    given = parser.parse_args()
    path = found_browser()
    if path is None:
        sys.exit(MISSING)
    given.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "week.db")
        week.fill(file, _NOW, lambda day: print(day, file=sys.stderr))
        clock = SteppingClock(_NOW)
        with incumbent.open(file, clock=clock, settings=week.SETTINGS) as memory:
            pages = pages_of(memory)
            with served(memory) as address, running(path) as browser:
                take(browser, address, pages, given.folder)
    if given.docs:
        for taken, shown in _SHOWN.items():
            shutil.copy(given.folder / f"{taken}.png", DOCS / shown)


if __name__ == "__main__":
    main()
