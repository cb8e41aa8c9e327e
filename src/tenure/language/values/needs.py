"""What a form of values needs: words without one of which no text has it.

Most texts have none of them, and are not compared with the form at all. The words are read off the
form itself, so that they cannot be others than it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

Needs = tuple[frozenset[str], ...]
"""Of each of these sets, a text must have a word, or a sign."""

_SIGNS = re.compile(
    r"\(\?P<\w+>|\(\?:|\(\?<?[=!]|[()|]|\{[a-z_]+\d?\}|\{[\d,]+\}|\[[^\]]*\]|\\.|[a-z]+|."
)
_OPEN = ("?", "*", "{0,")
_LETTERS = re.compile(r"[a-z]+")


def heads(words: Iterable[str]) -> frozenset[str]:
    """The letters with which words begin, up to the first that is none; nothing if one of them
    begins otherwise."""
    begun = [_LETTERS.match(word.lower()) for word in words]
    return frozenset(found.group() if found else "" for found in begun) if all(begun) else _NONE


_NONE: frozenset[str] = frozenset()


def needs_of(form: str, classes: Mapping[str, frozenset[str]]) -> Needs:
    """What a form of the data file needs, with the heads of each class of words."""
    signs = _SIGNS.findall(form)
    return tuple(_either(signs, classes, is_shown=True))


def _either(
    signs: list[str], classes: Mapping[str, frozenset[str]], *, is_shown: bool
) -> list[frozenset[str]]:
    """What the alternatives up to a closing bracket need; the signs are used up."""
    branches: list[list[frozenset[str]]] = [[]]
    before = " "
    while signs and (sign := signs.pop(0)) != ")":
        if sign == "|":
            branches.append([])
            before = " "
            continue
        if sign.startswith("("):
            needed = _either(signs, classes, is_shown=sign in ("(?:", "(") or sign[:3] == "(?P")
        elif sign[0] == "{" and not sign[1].isdigit():
            needed = [classes.get(sign[1:-1].rstrip("0123456789"), _NONE)]
        else:
            after = signs[0] if signs else " "
            alone = before in " ~" and after in (" ", "~", ")", "|")
            needed = [frozenset({sign})] if sign.isalpha() and alone else []
        if not (signs and signs[0].startswith(_OPEN)):
            branches[-1] += [words for words in needed if words]
        before = sign
    if not is_shown or not all(branches):
        return []
    if len(branches) == 1:
        return branches[0]
    return [_NONE.union(*(min(branch, key=len) for branch in branches))]
