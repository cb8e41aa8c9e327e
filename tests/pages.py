"""Pages of the documentation: their blocks of code, and how the Python in them is run."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PROGRAMS = ("python", "js")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, with the output that the page promises for it."""

    language: str
    text: str
    line: int
    promised: str | None = None


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page; a ```text block is joined to the program before it."""
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    for match in FENCE.finditer(text):
        block = Block(match[1], match[2], text.count("\n", 0, match.start()) + 2)
        last = found[-1] if found else block
        if block.language == "text" and last.language in PROGRAMS and last.promised is None:
            found[-1] = dataclasses.replace(last, promised=block.text)
        else:
            found.append(block)
    return found


def run_snippets(
    page: Path, namespace: dict[str, Any], replaced: Callable[[str], str] = lambda text: text
) -> None:
    """Run every Python snippet of a page in order; each prints exactly what is shown below it."""
    for block in blocks(page):
        if block.language != "python":
            continue
        printed = io.StringIO()
        # Blank lines in front let a traceback name the line of the page.
        lines = "\n" * (block.line - 1) + replaced(block.text)
        with contextlib.redirect_stdout(printed):
            exec(compile(lines, str(page), "exec"), namespace)
        assert printed.getvalue() == (block.promised or ""), f"{page.name}:{block.line}"


@contextlib.contextmanager
def event_loop() -> Iterator[None]:
    """A loop for frameworks whose plain calls start one and leave it open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        asyncio.set_event_loop(None)
        loop.close()
