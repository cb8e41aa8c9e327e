"""The document of a run as a Markdown page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incumbent_eval.figures import percent
from incumbent_eval.report.document import Cell, Document, Failure, Section, Table, shown
from incumbent_eval.report.words import facts_of, met_word, target_text

_READABLE = 3
"""Failures of a section that are printed."""


def page(document: Document, *, made_by: str, texts: bool = False) -> str:
    """The whole page. With `texts`, failures quote the data sets they are from."""
    return "\n".join([*_head(document, made_by), *_body(document, texts=texts)]) + "\n"


def _head(document: Document, made_by: str) -> Iterator[str]:
    yield "# Figures"
    yield ""
    yield (
        f"Made by `{made_by}` and not edited by hand. What each figure counts, and what it does "
        "not say, is in [Evaluation](evaluation.md)."
    )
    yield ""
    yield from (f"- {name}: {told}" for name, told in facts_of(document))
    yield ""


def _body(document: Document, *, texts: bool) -> Iterator[str]:
    if document.targets:
        yield "## Targets"
        yield ""
        yield from _rows(
            ["measure", "target", "measured", ""],
            [
                [t["measure"], target_text(t), percent(t["measured"]), met_word(t)]
                for t in document.targets
            ],
        )
    for section in document.sections:
        yield from _section(section, texts=texts)
    if document.left_out:
        yield "## Left out"
        yield ""
        yield from (
            f"- {_escaped(one['what'])}: {_escaped(one['why'])}" for one in document.left_out
        )


def _section(section: Section, *, texts: bool) -> Iterator[str]:
    yield f"## {section.title}"
    yield ""
    yield section.about
    yield ""
    for table in section.tables:
        yield from _table(table)
    if section.failures and (texts or not section.quotes_data):
        yield "Worth reading:"
        yield ""
        for failure in section.failures[:_READABLE]:
            yield from _failure(failure)
        yield ""


def _table(table: Table) -> Iterator[str]:
    if table.title:
        yield f"**{table.title}**"
        yield ""
    emphasised = [
        [f"**{shown(cell)}**" if row[0] == table.ours else shown(cell) for cell in row]
        for row in table.rows
    ]
    yield from _rows(table.columns, emphasised)
    if table.note:
        yield table.note
        yield ""


def _rows(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
    yield f"| {' | '.join(map(_escaped, columns))} |"
    yield f"|{'---|' * len(columns)}"
    yield from (f"| {' | '.join(_escaped(shown(cell)) for cell in row)} |" for row in rows)
    yield ""


def _failure(failure: Failure) -> Iterator[str]:
    yield f"- {_escaped(failure.title)}"
    yield from (f"  - {name}: {_escaped(text)}" for name, text in failure.told)


def _escaped(text: str) -> str:
    """A text that stays in its cell."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
