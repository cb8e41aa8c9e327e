"""What the pages of the inspector take, against the calls of the API that they show.

A service of its own (`incumbent serve`) on a SQLite file. Each page is asked for, and right after
it the calls of the API that it is made of, over the same HTTP, in turn and in one run. Contexts are
of a question that nobody has asked before, each time. The size of the first page is that of
everything a browser loads for it.
"""

from __future__ import annotations

import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import httpx
from rich.table import Table

import incumbent
from benchmarks import corpus
from benchmarks.figures import Target
from benchmarks.service import served

FACTS = 100_000
ROUNDS = 15
LARGEST = 300_000
"""Bytes of the first page, with all that it loads."""
QUESTION = "Which orders are late, and who carries them?"
REQUEST = "NUMBER"
"""In a path or an argument: what tells each request from all others."""
_SLOWER = 3.0
_BATCH = 500
_WHO = {"user_id": "ann", "organization": "acme"}
_LOADED = re.compile(r'(?:src|href)="(/inspect/static/[^"]+)"')
Tell = Callable[[str], None]
Call = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Asked:
    """A page, and the calls of the API that it shows the answers of."""

    name: str
    path: str
    calls: tuple[Call, ...]


@dataclass
class PageTimes:
    """Seconds of a page and of its calls, one of each a round."""

    page: list[float] = field(default_factory=list)
    calls: list[float] = field(default_factory=list)
    size: int = 0

    @property
    def ratio(self) -> float:
        return statistics.median(self.page) / statistics.median(self.calls)


@dataclass
class PagesReport:
    """What all pages took, and the bytes of the first."""

    facts: int
    first: int = 0
    times: dict[str, PageTimes] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """For programs."""
        return {
            "facts": self.facts,
            "first_page_bytes": self.first,
            "pages": {
                name: {
                    "page_ms": 1e3 * statistics.median(one.page),
                    "calls_ms": 1e3 * statistics.median(one.calls),
                    "ratio": one.ratio,
                    "bytes": one.size,
                }
                for name, one in self.times.items()
            },
        }


def measure(tell: Tell, facts: int = FACTS, rounds: int = ROUNDS) -> PagesReport:
    """Fill a file, serve it, and ask for every page."""
    report = PagesReport(facts)
    with tempfile.TemporaryDirectory(prefix="incumbent-bench-") as folder:
        path = Path(folder) / "agent.db"
        pages = _fill(path, facts, tell)
        with (
            served(path, "static", 1) as (port, _),
            httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=600) as client,
        ):
            _enter(client)
            report.first = _first_page(client)
            for asked in pages:
                tell(f"{asked.name}: {rounds} rounds")
                report.times[asked.name] = _times(client, asked, rounds)
    return report


def _fill(path: Path, facts: int, tell: Tell) -> tuple[Asked, ...]:
    """A person with so many facts, a chain, a talk and a few reviews; and what to ask for."""
    settings = incumbent.Settings(durability="process", embedder="static")
    with incumbent.open(path, settings=settings) as memory:
        session = memory.session(**_WHO, session_id="talk")
        batch: list[dict[str, Any]] = []
        for number, fact in enumerate(corpus.facts(0, facts)):
            batch.append({"key": fact.key, "value": fact.value, "subject": fact.subject})
            if len(batch) == _BATCH:
                session.write_many(batch)
                batch.clear()
            if number % 20_000 == 0:
                tell(f"filling: {number:,} of {facts:,}")
        if batch:
            session.write_many(batch)
        for value in range(5):
            base = session.write("base", value)
            session.write(f"derived_{value}", value, depends_on=[base.fact_id])
        session.observe("The meeting is on Tuesday at 10.")
        session.observe("No, the meeting is on Wednesday.")
        found = session.facts("base")[0]
        begun = found.recorded_at
        session.context(QUESTION, budget=1_000)
    return tuple(_asked(found.id, begun.isoformat()))


def _asked(fact_id: str, moment: str) -> Iterator[Asked]:
    yield Asked(
        "now", "/inspect", (("list_facts", {"limit": 50}), ("list_subjects", {"limit": 50}))
    )
    text = {"text": "late"}
    yield Asked("search", "/inspect?text=late", (("list_facts", {**text, "limit": 50}),))
    yield Asked("story", f"/inspect/fact?id={fact_id}", (("explain", {"key_or_id": fact_id}),))
    yield Asked("reviews", "/inspect/reviews", (("reviews", {}),))
    question = corpus.anew(QUESTION, REQUEST)
    asked = {"query": question, "budget": 1_000}
    query = quote_plus(question)
    yield Asked("context", f"/inspect/context?query={query}&budget=1000", (("context", asked),))
    yield Asked("branches", "/inspect/branches", (("list_branches", {}),))
    yield Asked("conversations", "/inspect/conversations", (("list_sessions", {}),))
    yield Asked(
        "conversation",
        "/inspect/conversation?session=talk",
        (("list_turns", {"session_id": "talk"}),),
    )
    yield Asked(
        "live", "/inspect/live", (("organization/list_audit", {}), ("organization/activity", {}))
    )
    past = {"limit": 50, "session": {**_WHO, "as_of": moment}}
    at = moment.replace("+", "%2B")
    yield Asked("timeline", f"/inspect/timeline?at={at}", (("list_facts", past),))


def _enter(client: httpx.Client) -> None:
    """Choose whom to look as, the way a browser does."""
    page = client.get("/inspect/who").text
    found = re.search(r'name="token" value="([^"]+)"', page)
    assert found is not None, page
    client.post("/inspect/who", data={"token": found[1], **_WHO})


def _first_page(client: httpx.Client) -> int:
    page = client.get("/inspect")
    page.raise_for_status()
    loaded = set(_LOADED.findall(page.text))
    return len(page.content) + sum(len(client.get(one).content) for one in loaded)


def _times(client: httpx.Client, asked: Asked, rounds: int) -> PageTimes:
    found = PageTimes()
    for number in range(rounds + 1):
        began = time.perf_counter()
        page = client.get(asked.path.replace(REQUEST, f"page-{number}"))
        between = time.perf_counter()
        page.raise_for_status()
        answers = [_call(client, path, _told(given, number)) for path, given in asked.calls]
        ended = time.perf_counter()
        for answer in answers:
            answer.raise_for_status()
        if number:  # the first one warms up
            found.page.append(between - began)
            found.calls.append(ended - between)
        found.size = len(page.content)
    return found


def _told(arguments: Mapping[str, Any], number: int) -> dict[str, Any]:
    return {
        name: one.replace(REQUEST, f"call-{number}") if isinstance(one, str) else one
        for name, one in arguments.items()
    }


def _call(client: httpx.Client, path: str, arguments: Mapping[str, Any]) -> httpx.Response:
    return client.post(f"/v1/{path}", json={"session": _WHO, **arguments})


def table(report: PagesReport) -> Table:
    """The pages beside their calls."""
    made = Table(title=f"Pages of the inspector, {report.facts:,} facts of one person")
    for title in ("page", "page, ms", "calls, ms", "ratio", "kB"):
        made.add_column(title, justify="left" if title == "page" else "right")
    for name, one in report.times.items():
        made.add_row(
            name,
            f"{1e3 * statistics.median(one.page):.1f}",
            f"{1e3 * statistics.median(one.calls):.1f}",
            f"{one.ratio:.2f}",
            f"{one.size / 1e3:.0f}",
        )
    made.add_row("first page with all it loads", "", "", "", f"{report.first / 1e3:.0f}")
    return made


def targets_of(report: PagesReport) -> list[Target]:
    """The project's targets for the pages."""
    found = [
        Target(f"page {name} against its calls", one.ratio, _SLOWER)
        for name, one in report.times.items()
    ]
    return [*found, Target("first page with all it loads", report.first / 1e3, LARGEST / 1e3, "kB")]
