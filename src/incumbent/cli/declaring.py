"""How the options of commands are declared, each in a line or two, and come to be those of typer.

    @options("Who is asking")
    class Asker:
        user: str | None = option("ID", "Your user id.", env="INCUMBENT_USER")

    @command("greet Ann", "greet Ann --loud")
    def greet(name: str = argument("NAME", "Whom."), *, loud: bool = flag("Shout."), who: Asker):

A parameter that is such a class stands for all of its fields. Each option therefore has one
definition, one help text and one environment variable, however many commands have it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, NamedTuple, TypeVar, dataclass_transform, get_type_hints

import typer
from typer.models import OptionInfo

T = TypeVar("T")
Function = TypeVar("Function", bound=Callable[..., None])
_OPTIONS: dict[type, tuple[str | None, dict[str, Any]]] = {}
"""The heading of each class of options, and its own options by the names of its fields."""
_COMMANDS: dict[str, list[tuple[Callable[..., None], tuple[str, ...]]]] = {}
"""The functions of each module that are commands, with their examples."""


class CommandGroup(NamedTuple):
    """What a module names `GROUP` if its commands come after a word of their own."""

    name: str
    about: str
    modules: tuple[str, ...] = ()
    """Other modules whose commands belong to it."""


def command(*examples: str) -> Callable[[Function], Function]:
    """Make a function a command of its name. The help is its docstring, with the examples after the
    first line."""

    def declare(function: Function) -> Function:
        _COMMANDS.setdefault(function.__module__, []).append((function, examples))
        return function

    return declare


def commands_of(module: str) -> list[tuple[Callable[..., None], tuple[str, ...]]]:
    """The functions of a loaded module that are commands, with their examples."""
    return _COMMANDS.get(module, [])


def option(
    takes: str | None,
    told: str,
    *names: str,
    default: Any = None,
    env: str | None = None,
    shown: bool | str = True,
    panel: str | None = None,
    **more: Any,
) -> Any:
    """An option with a value: what it takes, and what its help says.

    `env` is the variable that it is read from if it is not given, `shown` what the help says stands
    there otherwise, `panel` the heading that the help lists it under; `more` is as typer has it.
    """
    return typer.Option(
        default,
        *names,
        metavar=takes,
        help=told,
        envvar=env,
        show_default=shown,
        rich_help_panel=panel,
        **more,
    )


def flag(told: str, *names: str, default: bool | None = False, **more: Any) -> Any:
    """An option that is given or not, under the name of its parameter unless other `names` are
    given; `more` is as for `option`."""
    return option(None, told, *names, default=default, **more)


def argument(takes: str, told: str, *, default: Any = ..., **more: Any) -> Any:
    """An argument: what it is called, and what its help says; `...` means that it must be given."""
    return typer.Argument(default, metavar=takes, help=told, **more)


@dataclass_transform(frozen_default=True)
def options(panel: str | None = None) -> Callable[[type[T]], type[T]]:
    """Make a class a group of options, which the help lists under one heading."""

    def declare(group: type[T]) -> type[T]:
        declared = {name: one for name, one in vars(group).items() if isinstance(one, OptionInfo)}
        for name, one in declared.items():
            setattr(group, name, one.default)  # an instance of its own has the plain value
        _OPTIONS[group] = panel, declared
        return dataclass(frozen=True)(group)

    return declare


def grouped(function: Callable[..., None]) -> Callable[..., None]:
    """The same command, with each group of options among its parameters spread into its fields."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name in groups:
            parameters.extend(_fields_of(groups[name]))
        else:
            parameters.append(_parameter(name, parameter.default, hints[name]))

    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        function(**given)

    run.__name__, run.__doc__ = function.__name__, function.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


@cache
def _fields_of(group: Any) -> tuple[inspect.Parameter, ...]:
    hints = get_type_hints(group, include_extras=True)
    panel: str | None = None
    declared: dict[str, Any] = {}
    for one in reversed(group.__mro__):
        panel, own = _OPTIONS.get(one, (panel, {}))
        declared |= own
    return tuple(
        _parameter(field.name, declared.get(field.name, field.default), hints[field.name], panel)
        for field in fields(group)
    )


def _parameter(name: str, default: Any, hint: Any, panel: str | None = None) -> inspect.Parameter:
    """A parameter as typer takes it. What is true or false and has no name of its own has one
    only: typer alone would make up a second that denies it."""
    if isinstance(default, OptionInfo):
        default = copy(default)
        default.rich_help_panel = default.rich_help_panel or panel
        if hint is bool and not default.param_decls:
            default.param_decls = (f"--{name.replace('_', '-')}",)
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=hint)
