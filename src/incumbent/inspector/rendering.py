"""Rendering: from a page's template and filling to HTML."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from incumbent import __version__, words
from incumbent.context.document import Line
from incumbent.context.quotes import inline
from incumbent.inspector import marking, speech
from incumbent.inspector.navigation import NAVIGATION
from incumbent.inspector.visit import HOME, Visit, WebPage, address

_FOLDER = files("incumbent.inspector")
STATIC = {
    "htmx.min.js": "text/javascript; charset=utf-8",
    "inspector.js": "text/javascript; charset=utf-8",
    "style.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
"""Everything that a page loads."""


@cache
def static(name: str) -> bytes:
    """The content of a file that pages load."""
    return (_FOLDER / "static" / name).read_bytes()


@cache
def _version_of(name: str) -> str:
    return hashlib.sha256(static(name)).hexdigest()[:12]


def _file(name: str) -> str:
    """The address of such a file. Another content has another address."""
    return f"{HOME}/static/{name}?{_version_of(name)}"


@cache
def _environment() -> Environment:
    folder = _FOLDER / "templates"
    made = Environment(
        loader=FunctionLoader(lambda name: (folder / name).read_text(encoding="utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(
        inline=inline,
        shown=words.shown,
        named=speech.named,
        called=words.called,
        standing=words.standing,
        why=words.why,
        source=speech.source_of,
        moment=speech.moment,
        second=speech.second,
        day=speech.day,
        iso=datetime.isoformat,
        ago=speech.ago,
        origin=speech.origin,
        parts_told=words.made_of,
        groupby_section=_by_section,
        sum_counts=lambda groups: sum(group.count for group, _ in groups),
        plainly=marking.plainly,
        number=lambda count: f"{count:,}",
        pretty=lambda value: json.dumps(value, indent=2, ensure_ascii=False, default=str),
    )
    made.globals.update(
        file=_file, address=address, home=HOME, version=__version__, navigation=NAVIGATION
    )
    return made


def _by_section(lines: Iterable[Line]) -> list[tuple[str, list[Line]]]:
    return [(name, list(those)) for name, those in groupby(lines, key=lambda line: line.section)]


def render(visit: Visit, page: WebPage) -> str:
    """The page as HTML."""
    template = _environment().get_template(page.template)
    return template.render({"visit": visit, "now": visit.now, **page.fill})


def choices(pairs: Iterable[tuple[str, str]], chosen: str) -> list[Mapping[str, Any]]:
    """The options of a select, for the macro of that name."""
    return [{"value": value, "label": label, "on": value == chosen} for value, label in pairs]
