"""Reach: a limit on the text that one context looks at, however much is stored.

Text that cannot be shown need not be read, compared or counted. A text is looked at whole or not at
all. Nothing is shown of a text that is left out, so every shown text was looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incumbent.context.document import Omission
from incumbent.context.ranking import Ranked
from incumbent.context.rendering import plain_line
from incumbent.context.request import Request
from incumbent.context.tokens import Count
from incumbent.model.fact import Fact
from incumbent.model.forms import Form, Read
from incumbent.model.records import WorkingItem
from incumbent.model.values import is_longer, text_of

CHARACTERS_A_TOKEN = 8
"""The most characters a token. A text with more is no language, and counts as too long."""
MEASURED = 20_000
"""The longest fact whose tokens are counted when it is stored; those of a longer one are
guessed."""
_GUESSED = 4
_SHORT = 2_000
"""A text of at most so many characters may always be looked at."""
_LITTLE = 100_000
_MOST = 1_000_000
_MOST_VALUES = 3_000
"""The most days, times and amounts that are read for one context; ordinary ones have a few
dozen."""
_SURELY_READ = 500


def longest_line(tokens: int) -> int:
    """The most characters of a text in a room of so many tokens."""
    return min(_MOST, max(_SHORT, CHARACTERS_A_TOKEN * tokens))


def measured(fact: Fact, count: Count) -> int:
    """The token count of a fact's line, to be kept with it; an estimate for a very long one."""
    if is_longer(fact.value, MEASURED):
        return _length(fact.value) // _GUESSED
    return count(f"{plain_line(fact)}\n")


class Allowance:
    """Gives out texts to be looked at, first come, first served, up to a limit."""

    def __init__(self, budget: int) -> None:
        self._longest = longest_line(budget)
        self._left = min(_MOST, max(_LITTLE, 2 * CHARACTERS_A_TOKEN * budget))

    def takes(self, name: str, value: Any) -> bool:
        """Whether a text with this name is looked at. If so, it is counted."""
        if is_longer(value, min(self._longest, self._left)):
            return False
        length = len(value) if isinstance(value, str) else _length(value)
        self._left -= min(self._left, length + len(name))
        return True

    def takes_all(self, lengths: Sequence[int]) -> bool:
        """Whether plainly everything is looked at, in any order: nothing but short texts."""
        return not lengths or (max(lengths) <= self._longest and sum(lengths) <= self._left)


class ReadOnce:
    """Reads the values of each text once, up to a number of values.

    Texts beyond that are still compared word by word.
    """

    def __init__(self, read: Read) -> None:
        self._read = read
        self._known: dict[str, Sequence[Form]] = {}
        self._left = _MOST_VALUES

    def __call__(self, text: str) -> Sequence[Form]:
        known = self._known.get(text)
        if known is None:
            is_read = self._left > 0 or len(text) <= _SURELY_READ
            known = self._known[text] = self._read(text) if is_read else ()
            self._left -= len(known)
        return known


def facts_within(request: Request, ranked: Sequence[Ranked]) -> tuple[list[Ranked], list[Omission]]:
    """The facts that are looked at, constraints first, and those that are left out unread."""
    allowance = Allowance(request.budget)
    if allowance.takes_all([one.sheet.length for one in ranked]):
        return list(ranked), []
    tells = request.profile.reviews == "show"
    kept = {
        one.fact.id
        for one in sorted(ranked, key=_comes_first)
        # Of what needs review only the name is told, which is short.
        if (one.fact.needs_review and not tells) or allowance.takes(one.fact.key, one.fact.value)
    }
    out = [Omission("over budget", one.fact.id) for one in ranked if one.fact.id not in kept]
    return [one for one in ranked if one.fact.id in kept], out


def _comes_first(one: Ranked) -> tuple[bool, bool]:
    """Rules before what is asked for once and for all, and that before the rest."""
    return not one.fact.is_constraint, not one.sheet.comes_first


def items_within(
    budget: int, items: Sequence[WorkingItem], foremost: Sequence[str]
) -> list[WorkingItem]:
    """The notes that are looked at, in the order in which they were put; `foremost` has their keys,
    the most important first."""
    allowance = Allowance(budget)
    named = {item.key: item for item in items}
    taken = {key for key in foremost if allowance.takes(key, named[key].value)}
    return [item for item in items if item.key in taken]


def _length(value: Any) -> int:
    """The number of characters of a value as it is shown; only for values that are not long."""
    return len(text_of(value))
