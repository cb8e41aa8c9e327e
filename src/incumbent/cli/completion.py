"""Completion: the commands and options as a script for a shell.

The words are in the script itself, so that a press of the tab key starts no process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from incumbent.model.errors import InvalidInput

PROGRAM = "incumbent"
_HELP = "--help"


@dataclass(frozen=True)
class Option:
    """An option of a command."""

    names: tuple[str, ...]
    takes_value: bool
    about: str


@dataclass(frozen=True)
class Place:
    """A command, or the program itself, with the words that can follow it."""

    path: tuple[str, ...]
    about: str
    commands: tuple[str, ...]
    options: tuple[Option, ...]
    choices: tuple[str, ...]
    """The values of its argument, if there are only a few."""

    @property
    def words(self) -> tuple[str, ...]:
        """All the words that can be typed there, except values."""
        named = tuple(name for option in self.options for name in option.names)
        return (*self.commands, *self.choices, *named)

    @property
    def valued(self) -> tuple[str, ...]:
        """The options after which a value comes."""
        return tuple(name for one in self.options if one.takes_value for name in one.names)


def places(root: Any) -> Iterator[Place]:
    """Every place in the tree of commands, the program first."""
    yield from _places(root, root.make_context(PROGRAM, [], resilient_parsing=True), ())


def _commands(group: Any, context: Any) -> Iterator[tuple[str, Any]]:
    """The commands of a group, but for those whose package is not installed."""
    for name in group.list_commands(context):
        with suppress(InvalidInput):
            yield name, group.get_command(context, name)


def _places(command: Any, context: Any, path: tuple[str, ...]) -> Iterator[Place]:
    inner = dict(_commands(command, context)) if hasattr(command, "list_commands") else {}
    shown = [one for one in command.params if not getattr(one, "hidden", False)]
    options = [one for one in shown if one.param_type_name == "option"]
    yield Place(
        path,
        command.get_short_help_str(200),
        tuple(name for name, one in inner.items() if not one.hidden),
        (*map(_option, options), Option((_HELP,), False, "Show this message and exit.")),
        tuple(SCRIPTS) if path == ("completion",) else (),
    )
    for name, one in inner.items():
        within = type(context)(one, info_name=name, parent=context)
        yield from _places(one, within, (*path, name))


def _option(option: Any) -> Option:
    names = tuple(name for name in (*option.opts, *option.secondary_opts) if name != _HELP)
    takes_value = not option.is_flag and not option.count
    return Option(names, takes_value, (option.help or "").partition(". ")[0].rstrip("."))


# scripts


def _walk(found: list[Place], first: int, end: str) -> Iterator[str]:
    """Go along the words so far, to the place in the tree where the cursor is."""
    known = "|".join("/" + "/".join(place.path) for place in found if place.path)
    yield f"  for ((i = {first}; i < {end}; i++)); do"
    yield '    case "$at/${words[i]}" in'
    yield f"      {known}) at=$at/${{words[i]}} ;;"
    yield "    esac"
    yield "  done"


def _cases(found: list[Place]) -> Iterator[str]:
    yield '  case "$at" in'
    for place in found:
        at = "/" + "/".join(place.path) if place.path else ""
        names = "true" if place.commands or place.choices else "false"
        yield (
            f'    "{at}") offered="{" ".join(place.words)}"; valued=" {" ".join(place.valued)} "; '
            f"named={names} ;;"
        )
    yield "  esac"


def bash(found: list[Place]) -> str:
    """The script for bash. An unknown word is completed as a file, as bash does."""
    lines = [
        f"_{PROGRAM}_complete() {{",
        '  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} at="" i',
        '  local words=("${COMP_WORDS[@]}") offered valued named',
        *_walk(found, 1, "COMP_CWORD"),
        *_cases(found),
        "  COMPREPLY=()",
        '  if [[ $valued == *" $before "* ]]; then return; fi',
        "  if [[ $named == true || $current == -* ]]; then",
        '    COMPREPLY=($(compgen -W "$offered" -- "$current"))',
        "  fi",
        "}",
        f"complete -o default -F _{PROGRAM}_complete {PROGRAM}",
    ]
    return "\n".join(lines)


def zsh(found: list[Place]) -> str:
    """The script for zsh, after compinit."""
    lines = [
        f"#compdef {PROGRAM}",
        f"_{PROGRAM}_complete() {{",
        '  local current=${words[CURRENT]} before=${words[CURRENT-1]} at="" i',
        "  local offered valued named",
        *_walk(found, 2, "CURRENT"),
        *_cases(found),
        '  if [[ $valued == *" $before "* ]]; then _files; return; fi',
        "  if [[ $named == true || $current == -* ]]; then",
        "    compadd -- ${=offered}",
        "  else",
        "    _files",
        "  fi",
        "}",
        # As a file of its own it is run on the first press of the key, under the file's name.
        f'if [[ "${{funcstack[1]}}" == _{PROGRAM} ]]; then',
        f'  _{PROGRAM}_complete "$@"',
        "else",
        f"  compdef _{PROGRAM}_complete {PROGRAM}",
        "fi",
    ]
    return "\n".join(lines)


def fish(found: list[Place]) -> str:
    """The script for fish."""
    lines = []
    by_path = {place.path: place for place in found}
    for place in found:
        seen = [f"__fish_seen_subcommand_from {step}" for step in place.path]
        here = "; and ".join(seen) or "__fish_use_subcommand"
        among = f"; and not __fish_seen_subcommand_from {' '.join(place.commands)}"
        for name in place.commands:
            about = by_path[(*place.path, name)].about
            when = here + among if place.path else here
            lines.append(_fish(when, f"-f -a {name}", about))
        lines += [_fish(here, f"-f -a {choice}", "") for choice in place.choices]
        for option in place.options:
            flags = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                for name in option.names
            )
            value = " -r" if option.takes_value else ""
            lines.append(_fish(here, f"{flags}{value}", option.about))
    return "\n".join(lines)


def _fish(when: str, what: str, about: str) -> str:
    told = about.replace("\\", "\\\\").replace("'", "\\'")
    return f"complete -c {PROGRAM} -n '{when}' {what}" + (f" -d '{told}'" if told else "")


SCRIPTS: Mapping[str, Callable[[list[Place]], str]] = MappingProxyType(
    {"bash": bash, "zsh": zsh, "fish": fish}
)
