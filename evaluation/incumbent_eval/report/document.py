"""The document of a run: figures in tables, targets, failures, and the machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from incumbent.model.errors import InvalidInput
from incumbent_eval.figures import Share, percent, rounded

FORMAT = "incumbent-evaluation/1"

Cell = str | int | float | None | dict[str, Any]
"""A text, a number, nothing, a share as `share_of` makes it, or an ability that a system lacks."""


def share_of(value: float | None, of: int | None = None, deviation: float | None = None) -> Cell:
    """A cell with a share, the number of its trials, and its deviation from run to run."""
    told: dict[str, Any] = {"share": rounded(value), "of": of}
    return told if deviation is None else {**told, "deviation": rounded(deviation)}


def counted(share: Share) -> Cell:
    """A cell with the share of a count."""
    return share_of(share.value, share.of)


def cannot(what: str) -> Cell:
    """A cell with the abilities that a system lacks, which is no nought."""
    return {"cannot": what}


def value_of(cell: Cell) -> float | None:
    """The share in a cell, if there is one."""
    found = cell.get("share") if isinstance(cell, dict) else None
    return found if isinstance(found, int | float) else None


def shown(cell: Cell) -> str:
    """A cell for people to read."""
    if isinstance(cell, dict):
        if "cannot" in cell:
            return f"cannot: {cell['cannot']}" if cell["cannot"] else "cannot"
        return percent(value_of(cell), cell.get("deviation"))
    if cell is None:
        return "–"
    return f"{cell:,}" if isinstance(cell, int | float) else cell


@dataclass(frozen=True)
class Table:
    """Figures in rows. The first column names the subject of a row."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    charted: int | None = None
    """The column that is also drawn as bars."""
    ours: str = "incumbent"
    """The row that is ours."""
    note: str = ""


@dataclass(frozen=True)
class Failure:
    """Something that went wrong and is worth reading."""

    title: str
    told: Sequence[tuple[str, str]] = ()
    context: str | None = None


@dataclass(frozen=True)
class Section:
    """One evaluation."""

    name: str
    title: str
    about: str
    tables: Sequence[Table]
    failures: Sequence[Failure] = ()
    quotes_data: bool = False
    """Whether the failures quote a data set that may not be passed on by everybody."""
    record: Mapping[str, Any] = field(default_factory=dict)
    """All figures, as the evaluation's own command gives them."""
    seconds: float | None = None
    part: str = ""
    """The part of the run that it came from."""


@dataclass(frozen=True)
class Document:
    """A whole run."""

    date: str
    versions: Mapping[str, str]
    machine: Mapping[str, Any]
    settings: Mapping[str, Any]
    targets: Sequence[Mapping[str, Any]]
    left_out: Sequence[Mapping[str, str]]
    sections: Sequence[Section]
    seconds: float | None = None
    done: Sequence[str] = ()
    """The parts that were run."""
    unfinished: Sequence[str] = ()
    """The parts that were planned and have not been run yet."""

    def plain(self) -> dict[str, Any]:
        """The document for a JSON file."""
        return {"format": FORMAT, **asdict(self)}


def written(document: Document, path: Path) -> None:
    """Write a document down: all of it or, if that is interrupted, nothing."""
    beside = path.with_name(f"{path.name}.part")
    try:
        beside.write_text(
            json.dumps(document.plain(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
        )
        beside.replace(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error}") from None


def read(path: Path) -> Document:
    """A document that was written down. Anything else is refused, with the fix."""
    advice = "give a file that `incumbent eval all --json FILE` has written"
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidInput(f"there is no file {path}; {advice}") from None
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be read ({error}); {advice}") from None
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise InvalidInput(f"{path} is no report of the format {FORMAT}; {advice}")
    try:
        return _document(plain)
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{path} is not whole ({error!r}); {advice}") from None


def _document(plain: Mapping[str, Any]) -> Document:
    # A field that earlier versions did not write has a default.
    later = {"done", "unfinished"} - set(plain)
    given = {name: plain[name] for name in Document.__dataclass_fields__ if name not in later}
    return Document(**{**given, "sections": [_section(one) for one in plain["sections"]]})


def _section(plain: Mapping[str, Any]) -> Section:
    failures = [
        Failure(one["title"], [(told[0], told[1]) for told in one["told"]], one["context"])
        for one in plain["failures"]
    ]
    tables = [Table(**table) for table in plain["tables"]]
    return Section(**{**plain, "tables": tables, "failures": failures})
