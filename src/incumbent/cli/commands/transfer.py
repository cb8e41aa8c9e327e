"""Commands that carry an organization out of a store and into another: export, import."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from incumbent.cli.declaring import argument, command, flag, option
from incumbent.cli.foreign import Foreign, import_foreign
from incumbent.cli.options import ORGANIZATION, Common, require_organization
from incumbent.cli.root import remark
from incumbent.cli.tables import console, print_json, show
from incumbent.cli.transcripts import STDIN, opened
from incumbent.model.errors import IncumbentError, InvalidInput

_STEP = 1000


@command("export acme.jsonl --org acme", "export --org acme | gzip > acme.jsonl.gz")
def export(
    file: str = argument("FILE", "Where to; - is stdout.", default=STDIN, show_default=True),
    *,
    organization: str = ORGANIZATION,
    force: bool = flag("Replace a file that exists."),
    common: Common,
) -> None:
    """Write everything of an organization as JSON Lines.

    History and verdicts included. Not in it: what was erased, notes of sessions, receipts.
    --json prints a summary, and needs a FILE: on stdout the lines themselves are the output.
    """
    if common.json and file == STDIN:
        raise InvalidInput("--json prints a summary on stdout, where the export goes; name a FILE")
    with common.open() as memory:
        require_organization(memory, organization, "export")
        lines = map(_line, _counted(memory.export(organization), "exporting"))
        count = _print_all(lines) if file == STDIN else _save(Path(file), lines, force=force)
    if common.json:
        print_json({"organization": organization, "file": file, "records": count})
    else:
        remark(f"exported {count:,} records of organization {organization!r}")


@command(
    "import acme.jsonl --db copy.db",
    "import - --db copy.db --org acme-test < acme.jsonl",
    "import --from mem0 memories.json --dry-run",
    "import --from langgraph store.db --user-part 2",
)
def import_(
    file: str = argument("FILE", "An export; - is stdin."),
    *,
    organization: str | None = option(
        "NAME",
        "Into this organization.",
        "--organization",
        "--org",
        shown="the one it came from; default for other memories",
    ),
    allow_unsealed: bool = flag(
        "Take an export of before version 2, which cannot tell that its end is missing."
    ),
    foreign: Foreign,
    common: Common,
) -> None:
    """Load an export into an organization, or one of another memory.

    The organization must have no facts yet. All of an export, or nothing; one whose end is missing
    is refused. Makes the file of the store if it is missing.

    With --from, FILE is what mem0, Zep or LangGraph exported: JSON, JSON Lines, or a SQLite file of
    LangGraph. Memories become facts with their ids and times, conversations are observed. It goes
    into an organization that may have facts. Run again, it changes nothing but what changed there.
    """
    if foreign.origin is not None:
        if allow_unsealed:
            raise InvalidInput("--allow-unsealed is for exports of Incumbent; leave it out")
        import_foreign(file, foreign, organization or "default", common)
        return
    if foreign.is_asked:
        raise InvalidInput("these options are for exports of other memories; name it with --from")
    with opened(file) as source:
        records = _records(source)
        header = next(records, {})
        with common.open(create=True) as memory:
            count = memory.import_(
                _counted(_chained(header, records), "importing"),
                organization=organization,
                allow_unsealed=allow_unsealed,
            )
    target = organization or header.get("organization")
    if common.json:
        print_json({"organization": target, "records": count})
    else:
        show(f"imported  {count:,} records into organization {target!r}")


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _print_all(lines: Iterable[bytes]) -> int:
    """Write the lines to stdout; returns how many stand between the header and the trailer."""
    count = -2
    for line in lines:
        sys.stdout.buffer.write(line)
        count += 1
    sys.stdout.buffer.flush()
    return count


def _save(path: Path, lines: Iterable[bytes], *, force: bool) -> int:
    """Write the lines to a file that appears whole or not at all, and is its owner's alone.

    One that is replaced keeps the mode that it had.
    """
    if path.exists() and not force:
        raise InvalidInput(f"{path} exists; replace it with --force")
    partial = path.with_name(f"{path.name}.partial")
    count = -2
    try:
        partial.unlink(missing_ok=True)  # what an interrupted export left has a mode of its own
        with open(partial, "xb", opener=_private) as file:
            for line in lines:
                file.write(line)
                count += 1
        if path.exists():
            partial.chmod(stat.S_IMODE(path.stat().st_mode))
        os.replace(partial, path)
    except IncumbentError:
        raise  # NotPermitted is an OSError too
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror}") from None
    finally:
        partial.unlink(missing_ok=True)
    return count


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _records(source: IO[bytes]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(source, start=1):
        try:
            record = json.loads(line, parse_constant=_refuse_constant)
        except ValueError as error:
            raise InvalidInput(f"line {number} is not JSON: {error}") from None
        if not isinstance(record, dict):
            raise InvalidInput(f"line {number} is not a JSON object")
        yield record


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def _chained(first: dict[str, Any], rest: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    if first:
        yield first
    yield from rest


def _counted(records: Iterable[dict[str, Any]], doing: str) -> Iterator[dict[str, Any]]:
    """The same records, with a running count on stderr where that is a terminal."""
    # Here, because every command would wait for it at the top.
    from rich.progress import Progress, SpinnerColumn, TextColumn

    columns = (SpinnerColumn(), TextColumn("{task.description} {task.completed:,.0f} records"))
    screen = console(stderr=True)
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task(doing, total=None)
        for index, record in enumerate(records):
            if index % _STEP == 0:
                bar.update(task, completed=index)
            yield record
