"""Tells the story: runs each call against a real memory and prints the results."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import singledispatch
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

import incumbent
from incumbent.cli.story import OPENING, STEPS, StoryStep
from incumbent.cli.tables import word
from incumbent.testing.clock import SteppingClock
from incumbent.words import Find, account, cut, left_out, made_of, told, why

_INDENT = " " * 4
_COLUMN = 13
_LONGEST = 60
# A clock that moves only when told to: the story is the same every time.
_MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
_ON_A_SERVER = ("on a real SQLite file", "on a real PostgreSQL server")


def tell(file: Path, out: Console) -> None:
    """Run the story in a new file and print it."""

    def on_disk(text: str) -> bool:
        """Whether any byte of the database, its log included, still holds a text."""
        return _holds(file.parent.glob(f"{file.name}*"), text)

    _tell(file, on_disk, OPENING, out)


def tell_on_a_server(folder: Path, out: Console) -> None:
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
