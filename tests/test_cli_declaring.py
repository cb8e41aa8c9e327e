"""How options are declared: once, as fields of groups that any command may take."""

from __future__ import annotations

import inspect

from incumbent.cli.declaring import flag, grouped, option, options


@options("Above")
class Above:
    """Options of one kind."""

    name: str | None = option("NAME", "A name.")
    count: int = option("N", "A number.", default=3, panel="Its own")


@options("Below")
class Below(Above):
    """The same, and one more."""

    loud: bool = flag("Shout.")


def greet(who: Below) -> None:
    """Greet somebody."""


def test_a_group_made_by_hand_has_plain_values() -> None:
    """They are what would stand there if nothing were given."""
    made = Below(name="Ann")
    assert (made.name, made.count, made.loud) == ("Ann", 3, False)


def test_a_command_has_the_fields_of_its_groups() -> None:
    """Under the heading of the group that it names, but for an option with its own; what is true
    or false has one name, that of its field."""
    found = inspect.signature(grouped(greet)).parameters
    headings = {name: one.default.rich_help_panel for name, one in found.items()}
    assert headings == {"name": "Below", "count": "Its own", "loud": "Below"}
    assert found["loud"].default.param_decls == ("--loud",)
