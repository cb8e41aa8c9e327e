"""Texts that may cost more than their length: what is repeated, numbered and nested in them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

REPEATED = [
    *("? ", ". ", "! ", "; ", ", ", "- a\n", "> ", "> a\n", "# a\n", "\n", "\t", "—", "`", "'"),
    *("x=1;", "w: 1\n", "My w is p. ", "No, the w is 5. ", "user: hi\n", "Ann: b\n", "a, "),
    *("1 ", "1.", "1,", "$5 ", "5 March ", "2024-01-01 ", "at 5 pm ", "12:30 ", "100% ", "+49 "),
    *("@a ", "a@b.c ", "http://a.b/ ", "**a** ", '{"a":1}', "<b>", "```\n", 'I said "no". '),
    *("Alice Smith ", "my a's b's ", "a-b-", "the the ", "instead of ", "On Monday Al wrote:\n> "),
    *("a", "é", "的", "\u200b", "e\u0301", "\U0001f600", "I ", "if ", "not ", "and ", "[x]("),
    *("A B ", "a. b ", "…", "a\n\n"),
]
NUMBERED = [
    *("#\n\n", "w#: #\n", "x#=1;", "a#. b ", "My w# is #. ", "My w is #. ", "The w is #\n"),
    *("No, the w is #. ", "I like #s. ", "- ab# c\n", "Ann# said no. ", '"a#" ', "(#) ", "w#, "),
]
"""With a number in the place of "#": no two statements are the same."""
NESTED = ["()", "[]", "{}", '""', "“”", "<>", "**", "``"]


def repeated(unit: str) -> Callable[[int], str]:
    """A text of any length of one unit over and over."""
    return lambda length: (unit * length)[:length]


def numbered(unit: str) -> Callable[[int], str]:
    """The same with another number each time."""

    def made(length: int) -> str:
        found, size = [], 0
        for number in count():
            found.append(unit.replace("#", str(number)))
            size += len(found[-1])
            if size >= length:
                return "".join(found)[:length]
        raise AssertionError

    return made
