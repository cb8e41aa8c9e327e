"""The command that shows the product, demo: it runs each call of a story against a real memory."""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import singledispatch
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

import incumbent
from incumbent.cli import week
from incumbent.cli.commands.inspect import DEFAULT_PORT, check_pages, show_pages
from incumbent.cli.declaring import command, flag, option
from incumbent.cli.servers import is_address
from incumbent.cli.story import OPENING, STEPS, StoryStep
from incumbent.cli.tables import console, word
from incumbent.clock import system_clock
from incumbent.model.errors import InvalidInput
from incumbent.testing.clock import SteppingClock
from incumbent.words import Find, account, cut, left_out, made_of, told, why

_INDENT = " " * 4
_COLUMN = 13
_LONGEST = 60
# A clock that moves only when told to: the story is the same every time.
_MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
_ON_A_SERVER = ("on a real SQLite file", "on a real PostgreSQL server")


@command("demo", "demo --inspect", "demo --db demo.db", "demo --postgres")
def demo(
    *,
    # No environment variable: the story must never be told inside somebody's own file.
    db: str | None = option("PATH", "Keep the file here.", shown="a temporary file"),
    postgres: bool = flag("Tell it on a PostgreSQL server of its own."),
    inspect: bool = flag("Show a week of another story on pages instead."),
    port: int = option("NUMBER", "Of the pages; 0 for a free one.", default=DEFAULT_PORT),
) -> None:
    """Tell a story of facts taking office and leaving it.

    Runs the real engine on a new SQLite file, with a clock of its own: the same every time. With
    --postgres it runs on a server that is started for it and goes away with it; pip install
    'incumbent[postgres-local]' brings one. With --inspect a week at a company is filled in, with
    its corrections, policies, a what-if, a repair and an erasure, and shown on pages of this
    machine.
    """
    out = console()
    if inspect:
        _on_pages(db, postgres, port)
        return
    if postgres:
        _on_a_server(db)
        return
    if db is None:
        with tempfile.TemporaryDirectory(prefix="incumbent-demo-") as folder:
            _tell_in(Path(folder) / "demo.db", out)
        out.print("\nTo look around afterwards: incumbent demo --db demo.db")
        return
    _check_new(db)
    _tell_in(Path(db), out)
    who = f"--db {quote(db)} --user ann --org acme"
    out.print(f"\nLook around: incumbent context 'What do we pay?' --explain {who}")
    out.print(f"             incumbent explain total {who}")


def _on_pages(db: str | None, postgres: bool, port: int) -> None:
    if postgres:
        raise InvalidInput("--inspect shows a file; leave --postgres out")
    _check_new(db)
    check_pages()
    with tempfile.TemporaryDirectory(prefix="incumbent-demo-") as folder:
        file = db or str(Path(folder) / "week.db")
        week.fill(file, system_clock(), lambda day: typer.echo(f"{day} ...", err=True))
        with incumbent.open(file, settings=week.SETTINGS) as memory:
            looks_as = {"user_id": week.PERSON, "organization": week.ORGANIZATION}
            show_pages(memory, port=port, looks_as=looks_as)


def _check_new(db: str | None) -> None:
    """Refuse a place that is not free: a story must never be told inside somebody's own file."""
    if db is None:
        return
    if is_address(db):
        raise InvalidInput(
            "the demo is told in a file of its own; name a path that is free, or say --postgres"
        )
    if Path(db).exists():
        raise InvalidInput(f"{db} exists, and the demo wants a new file; name another")


def _on_a_server(db: str | None) -> None:
    if db is not None:
        raise InvalidInput("--postgres starts a server for the demo alone; leave --db out")
    if find_spec("psycopg") is None:
        raise InvalidInput(
            "a local PostgreSQL server needs packages of its own; install them with: "
            "pip install 'incumbent[postgres-local]'"
        )
    out = console()
    with tempfile.TemporaryDirectory(prefix="incumbent-demo-") as folder:
        _tell_on_server(Path(folder), out)
    out.print("\nThe same for yours: incumbent.open('postgresql://user@host/database')")


# telling


def _tell_in(file: Path, out: Console) -> None:
    """Run the story in a new file and print it."""

    def on_disk(text: str) -> bool:
        """Whether any byte of the database, its log included, still holds a text."""
        return _holds(file.parent.glob(f"{file.name}*"), text)

    _tell(file, on_disk, OPENING, out)


def _tell_on_server(folder: Path, out: Console) -> None:
    """Run the story on a PostgreSQL server of its own and print it."""
    from incumbent.stores.postgres.local import LocalServer
    from incumbent.stores.postgres.upkeep import vacuum

    with LocalServer(folder, options={"fsync": "off"}) as server:
        url = server.url()

        def on_disk(text: str) -> bool:
            """Whether any byte of the tables still holds a text, once the server has tidied up."""
            vacuum(url, full=True)
            server.ask("CHECKPOINT")
            return _holds((folder / "data" / "base").rglob("*"), text)

        _tell(url, on_disk, (*OPENING[:-1], OPENING[-1].replace(*_ON_A_SERVER)), out)


def _holds(files: Iterable[Path], text: str) -> bool:
    return any(text.encode() in part.read_bytes() for part in files if part.is_file())


def _tell(
    file: Path | str, on_disk: Callable[[str], bool], opening: tuple[str, ...], out: Console
) -> None:
    clock = SteppingClock(_MONDAY)
    names: dict[str, Any] = {
        "incumbent": incumbent,
        "file": file,
        "clock": clock,
        "on_disk": on_disk,
        "datetime": datetime,
        "UTC": UTC,
    }
    out.print("\n".join(opening))
    try:
        for number, step in enumerate(STEPS, start=1):
            clock.advance(hours=step.wait)
            _tell_step(number, step, names, clock, out)
    finally:
        if "memory" in names:
            names["memory"].close()


def _tell_step(
    number: int, step: StoryStep, names: dict[str, Any], clock: SteppingClock, out: Console
) -> None:
    heading = f"\n{number:>2}  {clock():%a %H:%M}  {step.title}"
    out.print(Text(heading, style="bold"))
    for call in step.calls:
        out.print(Text.assemble((f"{_INDENT}>>> ", "dim"), call))
        result = _run(call, names)
        for line in _shown(result, _finder(names)):
            out.print(Text.assemble(_INDENT, line) if line else "")
        clock.advance(minutes=1)


def _finder(names: dict[str, Any]) -> Find:
    def find(fact_id: str) -> incumbent.Fact | None:
        found: incumbent.Fact | None = names["ann"].get(fact_id)
        return found

    return find


def _run(call: str, names: dict[str, Any]) -> object:
    """Run one line; return the value of an expression, or the value that was assigned."""
    statement = ast.parse(call).body[0]
    if isinstance(statement, ast.Expr):
        return eval(call, names)
    exec(call, names)
    assert isinstance(statement, ast.Assign)
    assigned = names[ast.unparse(statement.targets[0])]
    shown = incumbent.Verdict | incumbent.Observation | incumbent.Context
    return assigned if isinstance(assigned, shown) else None


@singledispatch
def _shown(result: object, find: Find) -> Iterator[str | Text]:
    if result is not None:
        yield repr(result)


@_shown.register
def _(result: incumbent.Verdict, find: Find) -> Iterator[str | Text]:
    outcome = word(result.outcome.value)
    outcome.pad_right(_COLUMN - len(outcome))
    about = told(result.fact) if result.fact is not None else ""
    yield Text.assemble(outcome, f"{about}: {why(result)}")
    for label, text in account(result, find):
        yield Text.assemble(" " * _COLUMN, (f"{label} ", "dim"), text)


@_shown.register
def _(result: incumbent.Observation, find: Find) -> Iterator[str | Text]:
    for verdict in result.verdicts:
        yield from _shown(verdict, find)
    if not result.verdicts:
        kinds = {statement.kind.value: None for statement in result.statements}
        yield f"{'nothing':<{_COLUMN}}to remember: {', '.join(kinds) or 'context'}"


@_shown.register(list)
def _(result: list[Any], find: Find) -> Iterator[str | Text]:
    for member in result:
        yield from _shown(member, find)


@_shown.register
def _(result: incumbent.Erasure, find: Find) -> Iterator[str | Text]:
    counts = ", ".join(f"{kind} {count}" for kind, count in sorted(result.removed.items()) if count)
    yield f"{'erased':<{_COLUMN}}{len(result.fact_ids)} fact; removed: {counts.replace('_', ' ')}"
    yield f"{'proof':<{_COLUMN}}ids, counts and a digest of {len(result.digest)} digits; no content"


@_shown.register
def _(result: incumbent.Context, find: Find) -> Iterator[str | Text]:
    for line in result.text.splitlines():
        yield f"  {line}" if line else ""
    yield Text(f"({result.tokens} of {result.budget} tokens)", style="dim")
    yield Text(f"(left out: {left_out(result.omissions)})", style="dim")


@_shown.register
def _(result: incumbent.Line, find: Find) -> Iterator[str | Text]:
    score = f"{result.score:.2f}" if result.score is not None else ""
    told_line = f"{score:<{_COLUMN}}{cut(result.text, _LONGEST)}"
    largest = sorted(result.parts, key=lambda part: -result.parts[part])[:4]
    parts = {name: value for name, value in result.parts.items() if name in largest}
    yield Text(told_line).append(f"  ({made_of(parts)})", style="dim")


@_shown.register
def _(result: incumbent.ReceiptChange, find: Find) -> Iterator[str | Text]:
    texts = [cut(text, _LONGEST) for text in (result.before, result.after) if text is not None]
    if len(set(texts)) == len(texts):  # what differs further along would tell nobody anything
        yield f"{result.kind:<{_COLUMN}}{' -> '.join(texts)}: {result.why}"


@_shown.register
def _(result: incumbent.WorkingItem, find: Find) -> Iterator[str | Text]:
    return iter(())
