"""The command that shows the product: demo."""

from __future__ import annotations

import tempfile
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from tenure.interfaces.cli.demo import tell
from tenure.interfaces.cli.root import command
from tenure.interfaces.cli.tables import console
from tenure.model.errors import InvalidInput


def demo(
    *,
    # No environment variable: the story must never be told inside somebody's own file.
    db: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Keep the file here.", show_default="a temporary file"),
    ] = None,
) -> None:
    """Tell a story of facts taking office and leaving it.

    Runs the real engine on a new SQLite file, with a clock of its own: the same every time.
    """
    out = console()
    if db is None:
        with tempfile.TemporaryDirectory(prefix="tenure-demo-") as folder:
            tell(Path(folder) / "demo.db", out)
        out.print("\nTo look around afterwards: tenure demo --db demo.db")
        return
    if Path(db).exists():
        raise InvalidInput(f"{db} exists, and the demo wants a new file; name another")
    tell(Path(db), out)
    who = f"--db {quote(db)} --user ann --org acme"
    out.print(f"\nLook around: tenure context 'What do we pay?' --explain {who}")
    out.print(f"             tenure explain total {who}")


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    command(app, "demo", demo, ["demo", "demo --db demo.db"])
