"""Bars, drawn as inline SVG. Colours and type come from the page's own style."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from incumbent_eval.figures import percent
from incumbent_eval.report.document import Table, value_of

_WIDTH = 640
_LABEL = 190
_VALUE = 62
_ROW = 26
_BAR = 14


def bars(table: Table) -> str:
    """The charted column of a table as one bar for each row; "" if nothing can be drawn."""
    column = table.charted
    drawn = [(str(row[0]), value_of(row[column])) for row in table.rows] if column else []
    drawn = [(name, value) for name, value in drawn if value is not None]
    if len(drawn) < 2 or column is None:
        return ""
    height = _ROW * len(drawn) + 22
    title = f"{table.title or 'Figures'}: {table.columns[column]}"
    parts = [
        f'<svg class="bars" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="{escape(title, quote=True)}">',
        *_scale(height),
        *(part for place, row in enumerate(drawn) for part in _bar(place, *row, table.ours)),
        "</svg>",
    ]
    caption = escape(table.columns[column])
    return f"<figure>{''.join(parts)}<figcaption>{caption}</figcaption></figure>"


def _scale(height: int) -> Iterator[str]:
    """Lines at each quarter, with their values beneath."""
    bottom = height - 20
    for quarter in range(5):
        x = _across(quarter / 4)
        yield f'<line class="grid" x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{bottom}"/>'
        yield (
            f'<text class="tick" x="{x:.1f}" y="{height - 6}" text-anchor="middle">'
            f"{25 * quarter} %</text>"
        )


def _bar(place: int, name: str, value: float | None, ours: str) -> Iterator[str]:
    share = min(1.0, max(0.0, value or 0.0))
    top = place * _ROW + (_ROW - _BAR) / 2
    kind = "bar ours" if name == ours else "bar"
    width = max(1.0, _across(share) - _across(0))
    baseline = top + _BAR - 3
    yield (
        f'<text class="name" x="{_LABEL - 8}" y="{baseline}" text-anchor="end">{escape(name)}'
        "</text>"
    )
    yield (
        f'<rect class="{kind}" x="{_LABEL}" y="{top}" width="{width:.1f}" height="{_BAR}" rx="2"/>'
    )
    yield (
        f'<text class="value" x="{_WIDTH}" y="{baseline}" text-anchor="end">{percent(value)}</text>'
    )


def _across(share: float) -> float:
    return _LABEL + share * (_WIDTH - _LABEL - _VALUE)
