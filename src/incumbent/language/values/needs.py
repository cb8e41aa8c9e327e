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
    return tuple(_either(_SIGNS.findall(form), classes, joined=False)[0])


def _either(
    signs: list[str], classes: Mapping[str, frozenset[str]], *, joined: bool
) -> tuple[list[frozenset[str]], bool]:
    """What the alternatives up to a closing bracket need, and whether a letter right after them may
    belong to their last word; `joined` tells the same of what is before. The signs are used up."""
    branches: list[list[frozenset[str]]] = [[]]
    ends, now = False, joined
    while signs and (sign := signs.pop(0)) != ")":
        if sign == "|":
            branches.append([])
            ends, now = ends or now, joined
            continue
        needed: list[frozenset[str]] = []
        before = now
        if sign.startswith("("):
            needed, now = _either(signs, classes, joined=now)
            if sign[:3] not in ("(?:", "(?P"):
                needed, now = [], before  # it only looks ahead
        elif sign[0] == "{" and not sign[1].isdigit():
            needed = [classes.get(sign[1:-1].rstrip("0123456789"), _NONE)]
            now = False
        elif sign.isalpha():
            needed = [frozenset({sign})] if _next(signs) == " " else []
            now = True
        elif sign == " ":
            now = False
        if signs and signs[0].startswith(_OPEN):
            needed, now = [], now or before
        if sign.startswith("(") or not before:
            branches[-1] += [words for words in needed if words]
    ends = ends or now
    if not all(branches):
        return [], ends
    if len(branches) == 1:
        return branches[0], ends
    return [_NONE.union(*(min(branch, key=len) for branch in branches))], ends


def _next(signs: list[str]) -> str:
    """What follows in a form after one of its alternatives; a gap where it ends."""
    depth = 0
    for place, sign in enumerate(signs):
        if sign == "|" and depth == 0:
            depth = 1  # the others are passed over, up to the bracket
        elif depth and sign.startswith("("):
            depth += 1
        elif sign == ")":
            depth = max(depth - 1, 0)
        elif depth == 0:
            return sign if place == 0 or not sign.startswith(_OPEN) else ""
    return " "
