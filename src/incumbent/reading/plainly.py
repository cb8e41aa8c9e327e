"""Plain values: what of a sentence is a value, beside the things and the term that it names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from incumbent.model.fact import Part
from incumbent.reading.form import Span
from incumbent.reading.things import left_over

Names = frozenset[frozenset[str]]
"""The things that have a name already."""
_UNIT = re.compile(r" [a-z]+(?=$|[\s.,;:!?)])")
_ARTICLE = re.compile(r"\b[Tt]he $")


def values_beside(
    text: str, parts: Sequence[Part], spans: Sequence[Span], term: Span | None
) -> list[Part]:
    """The values of a sentence that are no part of a name, one for words that belong together."""
    apart = [*spans, *([term] if term else [])]
    found: list[Part] = []
    for part in sorted(parts, key=lambda one: one.start):
        if part.kind == "term" or any(a < part.end and part.start < b for a, b in apart):
            continue
        if part.kind in ("date", "name") and not left_over(part.text, []):
            continue
        if part.kind == "number" and not any(map(str.isdigit, part.text)):
            continue
        last = found[-1] if found else None
        if last is not None and text[last.end : part.start] in (" ", ""):
            whole = text[last.start : part.end]
            found[-1] = last._replace(text=whole, normal=whole.lower(), end=part.end)
            continue
        found.append(part)
    return found


def whole_value(text: str, value: Part) -> Span:
    """A value with its article and with what it counts: "the Zephyr 12", "32 people"."""
    start, end = value.start, value.end
    if value.kind == "name" and (article := _ARTICLE.search(text[:start])) is not None:
        start = article.start()
    unit = _UNIT.match(text, end) if value.kind == "number" else None
    if unit is not None and left_over(unit.group(), [], changing=True):
        end = unit.end()
    return start, end
