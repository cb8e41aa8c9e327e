"""Reach: how much text one context looks at, however much is stored.

What cannot be shown need not be read, compared or counted. A text is looked at whole or not at
all: of one that is left out nothing is shown, so nothing is ever shown that was not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenure.context.document import Omission
from tenure.context.ranking import Ranked
from tenure.context.rendering import plain_line
from tenure.context.request import Request
from tenure.context.tokens import Count
from tenure.model.fact import Fact
from tenure.model.forms import Form, Read
from tenure.model.records import WorkingItem
from tenure.model.values import text_of

CHARACTERS_A_TOKEN = 8
"""More than this many characters a token, and a text is no language: it is taken to be too long."""
MEASURED = 20_000
"""Of a longer fact the tokens are only guessed when it is stored: no look at it is short."""
_GUESSED = 4
_SHORT = 2_000
"""A text of so many characters may always be looked at."""
_LITTLE = 100_000
_MOST = 1_000_000
_MOST_VALUES = 3_000
"""So many days, times and amounts are read for one context; ordinary ones have a few dozen."""
_SURELY_READ = 500


def longest_line(tokens: int) -> int:
    """How many characters a text may have where there is room for so many tokens."""
    return min(_MOST, max(_SHORT, CHARACTERS_A_TOKEN * tokens))


def is_longer(value: Any, most: int) -> bool:
    """Whether a value, as it is shown, surely has more characters than this; counted no further."""
    if isinstance(value, str):
        return len(value) > most
    length = 0
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            length += len(one) + 2
        elif isinstance(one, list):
            length += len(one) + 1
            waiting.extend(one)
        elif isinstance(one, dict):
            length += 2 * len(one) + 1
            waiting.extend(one.keys())
            waiting.extend(one.values())
        else:
            length += 1  # a number or a word of JSON has one character at least
        if length > most:
            return True
    return False


def measured(fact: Fact, count: Count) -> int:
    """What the line of a fact costs, to be kept with it; of a very long one about what."""
    if is_longer(fact.value, MEASURED):
        return _length(fact.value) // _GUESSED
    return count(f"{plain_line(fact)}\n")


class Allowance:
    """Gives texts out to be looked at, first come, first served, as long as there are some left."""

    def __init__(self, budget: int) -> None:
        self._longest = longest_line(budget)
        self._left = min(_MOST, max(_LITTLE, 2 * CHARACTERS_A_TOKEN * budget))

    def takes(self, name: str, value: Any) -> bool:
        """Whether a text that goes by a name is looked at, which then counts."""
        if is_longer(value, min(self._longest, self._left)):
            return False
        length = len(value) if isinstance(value, str) else _length(value)
        self._left -= min(self._left, length + len(name))
        return True


class ReadOnce:
    """Reads the values of each text once, as long as there have not been very many.

    What is not read any more is still compared word by word.
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
    """The facts that are looked at, rules first, and those that are left out unseen."""
    allowance = Allowance(request.budget)
    tells = request.profile.reviews == "show"
    kept = {
        one.fact.id
        for one in sorted(ranked, key=lambda one: not one.fact.is_constraint)
        # Of what needs review only the name is told, which is short.
        if (one.fact.needs_review and not tells) or allowance.takes(one.fact.key, one.fact.value)
    }
    out = [Omission("over budget", one.fact.id) for one in ranked if one.fact.id not in kept]
    return [one for one in ranked if one.fact.id in kept], out


def items_within(
    budget: int, items: Sequence[WorkingItem], foremost: Sequence[str]
) -> list[WorkingItem]:
    """The notes that are looked at, in the order in which they were put; `foremost` names them,
    what matters most first."""
    allowance = Allowance(budget)
    named = {item.key: item for item in items}
    taken = {key for key in foremost if allowance.takes(key, named[key].value)}
    return [item for item in items if item.key in taken]


def _length(value: Any) -> int:
    """How many characters a value has as it is shown; only for such as are not long."""
    return len(text_of(value))
