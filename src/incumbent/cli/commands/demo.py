"""The command that shows the product: demo."""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

import incumbent
from incumbent.cli import week
from incumbent.cli.commands.inspect import DEFAULT_PORT, check_pages, show_pages
from incumbent.cli.demo import tell, tell_on_a_server
from incumbent.cli.root import command
from incumbent.cli.servers import is_address
from incumbent.cli.tables import console
from incumbent.clock import system_clock
from incumbent.model.errors import InvalidInput


def demo(
    *,
    # No environment variable: the story must never be told inside somebody's own file.
    db: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Keep the file here.", show_default="a temporary file"),
    ] = None,
    postgres: Annotated[
        bool, typer.Option("--postgres", help="Tell it on a PostgreSQL server of its own.")
    ] = False,
    inspect: Annotated[
        bool, typer.Option("--inspect", help="Show a week of another story on pages instead.")
    ] = False,
    port: Annotated[
        int, typer.Option(metavar="NUMBER", help="Of the pages; 0 for a free one.")
    ] = DEFAULT_PORT,
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
            tell(Path(folder) / "demo.db", out)
        out.print("\nTo look around afterwards: incumbent demo --db demo.db")
        return
    _check_new(db)
    tell(Path(db), out)
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
        tell_on_a_server(Path(folder), out)
    out.print("\nThe same for yours: incumbent.open('postgresql://user@host/database')")


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    command(app, "demo", demo, ["demo", "demo --inspect", "demo --db demo.db", "demo --postgres"])
