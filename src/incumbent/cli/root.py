"""The root of the command line: how commands are declared, and how errors and warnings look."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import incumbent
from incumbent.cli.commands import COMMANDS
from incumbent.cli.declaring import CommandGroup, commands_of, grouped
from incumbent.model.errors import (
    IncumbentError,
    InvalidInput,
    NotPermitted,
    StoreError,
    UnknownTitleWarning,
)

_FORM: dict[str, Any] = {
    # Plain help reads the same on a terminal, in a pipe and in docs/cli.md.
    "rich_markup_mode": None,
    "context_settings": {"max_content_width": 100, "help_option_names": ["-h", "--help"]},
}
_ABOUT = """State for AI agents: facts hold office until a better one supersedes them.

\b
Examples:
  incumbent demo
  incumbent observe chat.jsonl
  incumbent write order_status approved
  incumbent write order_status cancelled
  incumbent current order_status
  incumbent explain order_status
  incumbent context 'Can we ship the order?'

Facts are kept in a SQLite file: --db PATH, or INCUMBENT_DB, or incumbent.db in the current folder,
or in a PostgreSQL database: --db postgresql://user@host/database. Who is asking is said with
options of each command, after its name, or with the INCUMBENT_ variables that its help shows. Every
command prints text for people, and one JSON document with --json.

\b
Exit codes:
  0  done
  1  the answer is no: nothing is current, a replay is no longer whole, doctor found something,
     you did not confirm, a webhook takes nothing
  2  the call is wrong or not permitted; nothing was changed, but for the turns that observe had
     taken before it came to a bad one
  3  the store refused: missing, not a database, full, read-only, busy, no answer
"""


def exit_code(error: IncumbentError) -> int:
    """The exit code of the process for one of our errors."""
    if isinstance(error, InvalidInput | NotPermitted):
        return 2
    return 3 if isinstance(error, StoreError) else 1


def complain(message: str, *, kind: str = "error") -> None:
    """One line on stderr, whatever the message holds."""
    typer.echo(f"{kind}: {' '.join(message.split())}", err=True)


def warn(message: str) -> None:
    """A line on stderr about something that may not be as it should."""
    complain(message, kind="warning")


def remark(message: str) -> None:
    """A line on stderr that is good to know."""
    complain(message, kind="note")


class FirstWarnings:
    """Warnings of one kind: the first ones are told one by one, then that there are more."""

    def __init__(self, most: int = 10) -> None:
        self._most = most
        self._count = 0

    def add(self, message: str) -> None:
        self._count += 1
        if self._count <= self._most:
            warn(message)
        elif self._count == self._most + 1:
            warn("there are more; the number is told at the end")


class Root(TyperGroup):
    """Runs a command with our errors and warnings told in one line each, never as a traceback."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        known = COMMANDS.get(cmd_name)
        return None if known is None else _loaded(known.module).get(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands without loading any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.summary) for name, one in COMMANDS.items()])

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        with warnings.catch_warnings():
            warnings.simplefilter("always", UnknownTitleWarning)
            warnings.showwarning = lambda message, *rest: warn(str(message))
            try:
                return super().invoke(ctx)
            except IncumbentError as error:
                complain(str(error))
                raise typer.Exit(exit_code(error)) from None


@cache
def _loaded(module: str) -> dict[str, Any]:
    """The commands of a module, by their names."""
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise
        package = module.partition(".")[0].replace("_", "-")
        raise InvalidInput(
            f"this takes the package {package}; install it with: pip install 'incumbent[eval]'"
        ) from None
    holder = target = typer.Typer(rich_markup_mode=None)
    holder.callback()(lambda: None)  # so that one command alone is one of a group, too
    group: CommandGroup | None = getattr(found, "GROUP", None)
    if group is not None:
        target = typer.Typer(help=group.about, no_args_is_help=True, **_FORM)
        holder.add_typer(target, name=group.name)
    for name in (module, *(group.modules if group else ())):
        import_module(name)
        for function, examples in commands_of(name):
            _add(target, function, examples)
    made: Any = typer.main.get_command(holder)
    return dict(made.commands)


class PanelCommand(TyperCommand):
    """A command whose help lists its options under the headings they carry."""

    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            argument = parameter.param_type_name == "argument"
            panel = getattr(parameter, "rich_help_panel", None)
            panels.setdefault(panel or ("Arguments" if argument else "Options"), []).append(record)
        for panel, records in panels.items():
            if records:
                with formatter.section(panel):
                    formatter.write_dl(records)


app = typer.Typer(
    name="incumbent",
    cls=Root,
    help=_ABOUT,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    **_FORM,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"incumbent {incumbent.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass


def _add(target: typer.Typer, function: Callable[..., None], examples: Sequence[str]) -> None:
    """Add a command: a function, whose parameters that are groups of options become those."""
    first, _, rest = (function.__doc__ or "").strip().partition("\n")
    lines = "\n".join(f"  incumbent {example}" for example in examples)
    paragraphs = [first, f"\b\nExamples:\n{lines}"]
    if rest.strip():
        paragraphs.append("\n".join(line.strip() for line in rest.strip().splitlines()))
    name = function.__name__.rstrip("_")
    target.command(name, help="\n\n".join(paragraphs), short_help=first, cls=PanelCommand)(
        grouped(function)
    )
