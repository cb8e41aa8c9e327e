"""The assembled command line, and its entry point."""

from __future__ import annotations

from tenure.interfaces.cli.commands import (
    auditing,
    carrying,
    chatting,
    completing,
    contexts,
    copying,
    database,
    doctor,
    evaluating,
    forgetting,
    indexing,
    keys,
    modelling,
    observing,
    reading,
    receipts,
    reviewing,
    serving,
    usage,
    writing,
)
from tenure.interfaces.cli.commands import demo as demo_command
from tenure.interfaces.cli.root import app

# The order of `tenure --help`: what one does daily first.
_MODULES = (
    observing,
    writing,
    reading,
    contexts,
    receipts,
    reviewing,
    forgetting,
    carrying,
    copying,
    indexing,
    usage,
    auditing,
    doctor,
    keys,
    database,
    serving,
    modelling,
    evaluating,
    chatting,
    demo_command,
    completing,
)
for _module in _MODULES:
    _module.register(app)


def main() -> None:
    """Run the command line on this process's arguments."""
    app(prog_name="tenure")


__all__ = ["app", "main"]
