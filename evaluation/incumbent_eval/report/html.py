"""The document of a run as one page of HTML that needs nothing else: no script, no font, no net."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from incumbent_eval.figures import percent
from incumbent_eval.report.charts import bars
from incumbent_eval.report.document import Cell, Document, Failure, Section, Table, shown
from incumbent_eval.report.words import duration, facts_of, met_word, target_text

_MOST = 12
"""Failures of a section that are shown."""
_HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    "<title>Incumbent, measured</title><style>{style}</style></head><body>"
)


def page(document: Document, *, made_by: str, texts: bool = False) -> str:
    """The whole page. With `texts`, failures quote the data sets they are from."""
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    parts = [
        _HEAD.format(style=style),
        *_head(document),
        "<main>",
        *_targets(document),
        *(part for section in document.sections for part in _section(section, texts=texts)),
        *_left_out(document),
        "</main>",
        f"<footer>Made by <code>{escape(made_by)}</code>. What each figure counts, and what it "
        "does not say, is in docs/evaluation.md.</footer>",
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _head(document: Document) -> Iterator[str]:
    yield "<header><h1>Incumbent, measured</h1>"
    yield (
        '<p class="lead">How often a context was right, on one machine, in one run, other systems '
        "beside us.</p><dl>"
    )
    yield from (
        f"<dt>{escape(name)}</dt><dd>{escape(told)}</dd>" for name, told in facts_of(document)
    )
    yield "</dl><nav><ul>"
    for section in document.sections:
        yield f'<li><a href="#{_anchor(section.name)}">{escape(section.title)}</a></li>'
    yield "</ul></nav></header>"


def _anchor(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "section"


def _targets(document: Document) -> Iterator[str]:
    if not document.targets:
        return
    reached = [target["met"] for target in document.targets]
    yield '<h2 id="targets">Targets</h2>'
    yield f"<p>{reached.count(True)} met, {reached.count(False)} missed.</p>"
    yield '<div class="wide"><table class="targets"><thead><tr>'
    yield "".join(f"<th>{name}</th>" for name in ("measure", "target", "measured", ""))
    yield "</tr></thead><tbody>"
    for target in document.targets:
        word = met_word(target)
        cells = (target["measure"], target_text(target), percent(target["measured"]))
        row = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        yield f'<tr>{row}<td class="{word.replace(" ", "-")}">{word}</td></tr>'
    yield "</tbody></table></div>"


def _section(section: Section, *, texts: bool) -> Iterator[str]:
    took = f' <span class="note">({duration(section.seconds)})</span>' if section.seconds else ""
    yield f'<section id="{_anchor(section.name)}"><h2>{escape(section.title)}</h2>'
    yield f"<p>{escape(section.about)}{took}</p>"
    for table in section.tables:
        yield from _table(table)
    yield from _failures(section, texts=texts)
    yield "</section>"


def _table(table: Table) -> Iterator[str]:
    if table.title:
        yield f"<h3>{escape(table.title)}</h3>"
    yield bars(table)
    yield '<div class="wide"><table><thead><tr>'
    yield "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    yield "</tr></thead><tbody>"
    for row in table.rows:
        kind = ' class="ours"' if row and row[0] == table.ours else ""
        cells = (_cell(cell, column == table.ours) for cell, column in _under(row, table))
        yield f"<tr{kind}>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"
    if table.note:
        yield f'<p class="note">{escape(table.note)}</p>'


def _under(row: Sequence[Cell], table: Table) -> Iterator[tuple[Cell, str]]:
    """The cells of a row, each with the heading that it stands under."""
    return zip(row, table.columns, strict=True)


def _cell(cell: Cell, is_ours: bool) -> str:
    if isinstance(cell, dict) and "cannot" in cell:
        return f'<td class="cannot">{escape(shown(cell))}</td>'
    kind = ' class="ours"' if is_ours else ""
    return f"<td{kind}>{escape(shown(cell))}</td>"


def _failures(section: Section, *, texts: bool) -> Iterator[str]:
    if not section.failures:
        return
    if section.quotes_data and not texts:
        yield (
            f'<p class="note">{len(section.failures)} failures quote the data and are left out '
            "here; <code>--texts</code> prints them.</p>"
        )
        return
    yield f"<details><summary>{_counted(section.failures)} worth reading</summary>"
    for failure in section.failures[:_MOST]:
        yield from _failure(failure)
    yield "</details>"


def _counted(failures: Sequence[Any]) -> str:
    count = min(len(failures), _MOST)
    return "One failure" if count == 1 else f"{count} failures"


def _failure(failure: Failure) -> Iterator[str]:
    yield f"<details><summary>{escape(failure.title)}</summary><dl>"
    yield from (f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in failure.told)
    yield "</dl>"
    if failure.context:
        yield f"<pre>{escape(failure.context)}</pre>"
    yield "</details>"


def _left_out(document: Document) -> Iterator[str]:
    if document.left_out:
        yield '<h2 id="left-out">Left out</h2><dl>'
        for one in document.left_out:
            yield f"<dt>{escape(one['what'])}</dt><dd>{escape(one['why'])}</dd>"
        yield "</dl>"
