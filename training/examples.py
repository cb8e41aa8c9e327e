"""Examples: a statement with marked values, a turn that follows, and what it does to the values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

RelationLabel = Literal["replace", "confirm", "retract", "leave", "not_replaced"]
"""`not_replaced` is for data that only tells whether a value was replaced."""
Kind = Literal["states", "chats", "asks", "supposes", "reports", "recalls", "orders"]
"""What a stretch of a turn is."""
Cut = Literal["goes_on", "begins"]
"""Whether a word goes on with a statement, or begins one."""
Label = RelationLabel | Kind | Cut
CUT: Final = "cut"
"""The form of an example that asks where statements begin."""
TURN: Final = "turn"
"""The form of one that asks what the statements of a turn are, at their first words."""


@dataclass(frozen=True)
class Mark:
    """A value in a statement, and what becomes of it. One of no length stands for the whole."""

    start: int
    end: int
    label: Label
    new: tuple[int, int] | None = None
    """Where the new value is in `previous ¦ turn`."""


@dataclass(frozen=True)
class Example:
    """A statement, a turn that follows, and what that does to the values of the statement."""

    statement: str
    previous: str
    turn: str
    marks: tuple[Mark, ...]
    form: str
    """The way in which it is said: implicit, cued, maybe, other subject."""
    source: str
    group: str = ""
    """The dialogue that it comes from, for those who hold some of them back."""

    @property
    def reply(self) -> str:
        """What the model reads of the conversation."""
        return joined(self.previous, self.turn)


def joined(previous: str, turn: str) -> str:
    """The turn before and the turn, as one text."""
    return f"{previous} ¦ {turn}" if previous else turn
