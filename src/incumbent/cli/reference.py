"""Writes docs/cli.md from the help of the commands.

python -m incumbent.cli.reference > docs/cli.md
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import typer

from incumbent.cli.app import app

_WIDTH = 100
_SHARED = 3  # an option that so many commands have, in the same words, is explained once
ELSEWHERE = "incumbent eval "
"""The commands of a package of their own, which docs/evaluation.md explains."""
_BOTH = "Who is asking; Store and output"
USUAL = "the usual"
_OPTION = re.compile(r"^  -.*\n(?:   .*\n)*", re.MULTILINE)
_HEAD = """# Command line

The reference of the command `incumbent`, generated from its help by
`python -m incumbent.cli.reference > docs/cli.md`. A test keeps the two the same.

Every command has `--help`, with examples. What a command takes by position comes first. Options
that several commands have are explained once, under [shared options](#shared-options); a command
names them at its end, where *the usual* are "Who is asking" and "Store and output". In square
brackets stand the environment variable that says the same, and the default.

Set `INCUMBENT_USER`, `INCUMBENT_AUTHORITY` and `INCUMBENT_ORGANIZATION` once and leave the options
out. `incumbent` trusts what it is told about identity: whoever can open the file can read it.

The commands under `incumbent eval` are a package of their own: see [evaluation](evaluation.md).

With `--json` a command prints one JSON document. Notes and errors go to stderr, one line each.
"""


class _Option(NamedTuple):
    """An option in the help of a command: its panel, and its words with single blanks."""

    panel: str
    words: str
    shown: str

    @property
    def label(self) -> str:
        """What stands on the left: the names, and what the option takes."""
        return re.split(r"  +", self.shown.strip())[0].partition("\n")[0]

    @property
    def key(self) -> tuple[str, str]:
        return self.panel, self.words


def reference() -> str:
    """The whole page."""
    root: Any = typer.main.get_command(app)
    top = root.make_context("incumbent", [], resilient_parsing=True, max_content_width=_WIDTH)
    top.terminal_width = _WIDTH
    helps = dict(_under(root, top, "incumbent"))
    helps = {title: text for title, text in helps.items() if not title.startswith(ELSEWHERE)}
    shared = _shared_by(helps.values())
    codes = re.findall(r"^  Exit codes:\n(?:   .*\n)*", root.get_help(top), re.MULTILINE)
    parts = [_section("incumbent", "\n".join(["--version, --help", *codes])), _explained(shared)]
    parts += [_section(title, _shortened(text, shared)) for title, text in helps.items()]
    return "\n".join([_HEAD, *parts])


def _options(text: str) -> Iterator[_Option]:
    """The options of a help text, in order."""
    for paragraph in text.split("\n\n"):
        title, _, rest = paragraph.partition("\n")
        if title.endswith(":") and rest.startswith("  -"):
            for shown in _OPTION.findall(f"{rest}\n"):
                yield _Option(title.removesuffix(":"), " ".join(shown.split()), shown)


def _shared_by(texts: Iterable[str]) -> list[_Option]:
    """The options that many commands have. Their labels tell them apart."""
    every = [option for text in texts for option in _options(text)]
    count = Counter(option.key for option in every)
    often = {option.key: option for option in every if count[option.key] >= _SHARED}
    labels = Counter((option.panel, option.label) for option in often.values())
    return [option for option in often.values() if labels[option.panel, option.label] == 1]


def _explained(shared: list[_Option]) -> str:
    """The section of the shared options, by panel."""
    panels: dict[str, list[str]] = {}
    for option in shared:
        panels.setdefault(option.panel, []).append(_told(option))
    parts = [f"{panel}:\n" + "\n".join(lines) for panel, lines in panels.items()]
    return _section("Shared options", "\n\n".join(parts))


def _told(option: _Option) -> str:
    """An option on a line or two: its names, and what it does."""
    meant = option.words.removeprefix(option.label).strip()
    meant = meant.replace("[env var: ", "[").replace("; default: ", "; ").replace("[default: ", "[")
    meant = re.sub(r"(?<=\w)- (?=\w)", "-", meant)  # where a line of the help ended
    return _line(option.label, meant.replace("; (none)]", "]").removesuffix("[(none)]").strip())


def _line(name: str, meant: str) -> str:
    told = f"  {name:<21}  {meant}"
    return textwrap.fill(told, _WIDTH, subsequent_indent=" " * 25, break_on_hyphens=False)


def _shortened(text: str, shared: list[_Option]) -> str:
    """Of a help text: what the command does, and what it takes, first by position. What is
    explained once is named at the end."""
    _, what, *rest = text.strip().split("\n\n")
    parts = [" ".join(what.split()), *_arguments(rest)]
    known = {option.key for option in shared}
    every = [option for option in _options(text) if "--help" not in option.label]
    parts += [_told(option) for option in every if option.key not in known]
    whole = Counter(option.panel for option in shared)
    count = Counter(option.panel for option in every if option.key in known)
    names = [
        option.panel if count[option.panel] == whole[option.panel] else option.label
        for option in every
        if option.key in known
    ]
    if names:
        named = f"Shared options: {'; '.join(dict.fromkeys(names))}".replace(_BOTH, USUAL)
        parts.append(textwrap.fill(named, _WIDTH, subsequent_indent="  ", break_on_hyphens=False))
    return "\n".join(part for part in parts if part)


def _arguments(rest: list[str]) -> Iterator[str]:
    """The lines of what a command takes by position."""
    told = next((part for part in rest if part.startswith("Arguments:")), "")
    for line in re.findall(r"^  \S.*(?:\n   .*)*", told, re.MULTILINE):
        name, _, meant = " ".join(line.replace("[required]", "").split()).partition("> ")
        yield _line(name.partition(" <")[0], meant)


def _under(group: Any, around: Any, title: str) -> Iterator[tuple[str, str]]:
    """The commands of a group with their help, each before the commands under it."""
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
        yield f"{title} {name}", command.get_help(context)
        if hasattr(command, "list_commands"):
            yield from _under(command, context, f"{title} {name}")


def _section(title: str, text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return f"## {title}\n\n```text\n{lines}\n```\n"


if __name__ == "__main__":
    print(reference(), end="")
