"""Writes docs/cli.md from the help of the commands.

python -m incumbent.cli.reference > docs/cli.md
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from incumbent.cli.app import app

_WIDTH = 100
_HEAD = """# Command line

The reference of the command `incumbent`, generated from its help by
`python -m incumbent.cli.reference > docs/cli.md`. A test keeps the two the same.

Who is asking is said with the options of each command, after its name, or with environment
variables: set `INCUMBENT_USER`, `INCUMBENT_AUTHORITY` and `INCUMBENT_ORGANIZATION` once and leave
the options out. `incumbent` trusts what it is told about identity: whoever can open the file can
read all of it.

With `--json` a command prints one JSON document. Facts and verdicts in it have the same fields as
in an export. Notes, warnings and errors go to stderr, one line each.
"""


def reference() -> str:
    """The whole page."""
    root: Any = typer.main.get_command(app)
    return "\n".join([_HEAD, *_sections(root)])


def _sections(root: Any) -> Iterator[str]:
    top = root.make_context("incumbent", [], resilient_parsing=True, max_content_width=_WIDTH)
    top.terminal_width = _WIDTH
    yield _section("incumbent", root.get_help(top))
    yield from _under(root, top, "incumbent")


def _under(group: Any, around: Any, title: str) -> Iterator[str]:
    """The commands of a group, each before the commands under it."""
    for name in group.list_commands(around):
        command = group.get_command(around, name)
        context = type(around)(
            command,
            info_name=name,
            parent=around,
            terminal_width=_WIDTH,
            max_content_width=_WIDTH,
            help_option_names=["-h", "--help"],
        )
        yield _section(f"{title} {name}", command.get_help(context))
        if hasattr(command, "list_commands"):
            yield from _under(command, context, f"{title} {name}")


def _section(title: str, text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return f"## {title}\n\n```text\n{lines}\n```\n"


if __name__ == "__main__":
    print(reference(), end="")
