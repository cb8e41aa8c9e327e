"""The command line: parses arguments, calls the library, prints what came back."""

from incumbent.cli.app import app, main

__all__ = ["app", "main"]
