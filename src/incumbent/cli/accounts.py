"""The account of a context: every line with its score, everything left out, and the budget."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.console import RenderableType
from rich.text import Text

import incumbent
from incumbent.cli.tables import console, is_narrow, table, with_id
from incumbent.context.quotes import inline
from incumbent.context.rendering import (
    ENVIRONMENT,
    HISTORY,
    IDENTITY,
    WORKING_SET,
    name_of,
    render,
)
from incumbent.context.tokens import counter
from incumbent.words import Find, by_reason, cut, left_out, made_of

_LONGEST = 60
_MOST = 30
"""The most omissions of one reason that are named; in a large memory the rest would fill the
screen."""
_ROOMY = 170
"""From this width on, ids and the parts of scores have columns of their own."""
_BAR = 60


@dataclass(frozen=True)
class _Band:
    """A part of the budget: its purpose, its sign in the bar, and its tokens."""

    name: str
    glyph: str
    plain: str
    style: str
    tokens: int = 0


_BANDS = (
    _Band("identity and environment", "█", "#", "blue"),
    _Band("facts", "▓", "=", "green"),
    _Band("history", "▚", "~", "magenta"),
    _Band("working set", "▒", "+", "yellow"),
)
_FREE = _Band("free", "░", ".", "dim")
_BAND_OF = {
    IDENTITY: "identity and environment",
    ENVIRONMENT: "identity and environment",
    HISTORY: "history",
    WORKING_SET: "working set",
}


def account_of(made: incumbent.Context, find: Find) -> Iterator[RenderableType]:
    """The whole account of a context, for people to read under its text."""
    yield Text("Budget", style="bold")
    yield from _budget(made)
    if made.lines:
        yield Text("\nLines", style="bold")
        yield _lines(made)
    yield Text(f"\nLeft out: {left_out(made.omissions)}", style="bold")
    rows = list(_omissions(made.omissions, find))
    if rows and is_narrow():
        yield table(["reason", "what and id"], [[why, with_id(*told)] for why, *told in rows])
    elif rows:
        yield table(["reason", "what", "fact"], rows)


# the budget


def _budget(made: incumbent.Context) -> Iterator[RenderableType]:
    bands = [*_used(made), _sized(_FREE, made.budget - made.tokens)]
    bands = [band for band in bands if band.tokens > 0]
    if made.budget:
        bar = Text("  ")
        for band, cells in zip(bands, _cells(bands, made.budget), strict=True):
            bar.append(_glyph(band) * cells, style=band.style)
        yield bar
    for band in bands:
        share = f"{100 * band.tokens / made.budget:.0f} %"
        told = f" {band.name:<24} {band.tokens:>9,} {share:>6}"
        yield Text("  ").append(_glyph(band), style=band.style).append(told)
    yield f"  {made.tokens:,} of {made.budget:,} tokens ({made.tokenizer}), profile {made.profile}"


def _used(made: incumbent.Context) -> list[_Band]:
    """The tokens of each part, with its headings and the blank lines between sections."""
    count = counter(made.tokenizer)
    taken = dict.fromkeys((band.name for band in _BANDS), 0)
    sections = [(s, [*lines]) for s, lines in groupby(made.lines, key=lambda line: line.section)]
    for place, (section, lines) in enumerate(sections, start=1):
        body = render([(section, line.text) for line in lines])
        band = _BAND_OF.get(section, "facts")
        taken[band] += count(body if place == len(sections) else f"{body}\n\n")
    return [_sized(band, taken[band.name]) for band in _BANDS]


def _sized(band: _Band, tokens: int) -> _Band:
    return _Band(band.name, band.glyph, band.plain, band.style, tokens)


def _cells(bands: Sequence[_Band], budget: int) -> list[int]:
    """The length of each band: at least one cell; the largest takes the remaining cells."""
    cells = [max(1, _BAR * band.tokens // budget) for band in bands]
    largest = cells.index(max(cells))
    cells[largest] += _BAR - sum(cells)
    return cells


def _glyph(band: _Band) -> str:
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    return band.glyph if encoding.startswith("utf") else band.plain


# the lines


def _lines(made: incumbent.Context) -> RenderableType:
    count = counter(made.tokenizer)
    costs = [f"{count(line.text + chr(10)):>6,}" for line in made.lines]
    told = list(zip(made.lines, costs, strict=True))
    if console().width < _ROOMY:
        rows = [_narrow_row(line, cost) for line, cost in told]
        return table(["section ", "line, id, parts of the score", "score", "tokens"], rows)
    wide = [_wide_row(line, cost) for line, cost in told]
    return table(["section", "fact or name", "line", "score", "made of", "tokens"], wide)


def _wide_row(line: incumbent.Line, cost: str) -> list[str | Text]:
    return [
        line.section,
        line.fact_id or cut(line.text, _LONGEST).partition(":")[0],
        cut(line.text, _LONGEST),
        _score(line),
        made_of(line.parts),
        cost,
    ]


def _narrow_row(line: incumbent.Line, cost: str) -> list[str | Text]:
    """The row in few columns: the id and the parts of the score beneath the line."""
    told = Text(cut(line.text, _LONGEST))
    for beneath in (line.fact_id, made_of(line.parts)):
        if beneath:
            told.append(f"\n{beneath}", style="dim")
    return [line.section, told, _score(line), cost]


def _score(line: incumbent.Line) -> str:
    return "" if line.score is None else f"{line.score:.2f}"


# what was left out


def _omissions(
    omissions: Sequence[incumbent.Omission], find: Find
) -> Iterator[tuple[str, str, str]]:
    """The omissions by reason. A fact that this reader cannot look up is not named."""
    for reason in by_reason(omissions):
        of_reason = [omission for omission in omissions if omission.reason == reason]
        for omission in of_reason[:_MOST]:
            told = _told(omission, find)
            if told is not None:
                yield reason, *told
        if len(of_reason) > _MOST:
            yield reason, f"and {len(of_reason) - _MOST:,} more; --json names them all", ""


def _told(omission: incumbent.Omission, find: Find) -> tuple[str, str] | None:
    """The omitted thing and the id of the fact behind it, as far as this reader may know them."""
    fact = find(omission.fact_id) if omission.fact_id is not None else None
    if omission.item is not None:
        item = inline(omission.item)
        if fact is None:
            return item, ""
        return f"{item} (repeats {name_of(fact)})", fact.id
    if omission.fact_id is None:
        return f"{omission.count:,} facts, too many to name; --explain names them", ""
    return None if fact is None else (name_of(fact), fact.id)
