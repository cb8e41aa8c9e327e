"""The assembled command line, and its entry point."""

from __future__ import annotations

from incumbent.cli.root import app


def main() -> None:
    """Run the command line on this process's arguments."""
    app(prog_name="incumbent")


__all__ = ["app", "main"]
