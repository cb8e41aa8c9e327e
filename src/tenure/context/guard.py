"""The guard: no dead value comes back through the working set."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tenure.model.fact import Fact
from tenure.model.records import WorkingItem
from tenure.model.values import leaves, text_of


def _is_telling(value: str) -> bool:
    """Whether a value can be recognised by itself: "25%" and "blue", but not "3", "no" or "yes"."""
    return len(value) > 3 or (any(map(str.isdigit, value)) and not value.isalnum())


def _spoken(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)


def dead_values(dead: Iterable[Fact], live: Iterable[Fact]) -> dict[str, Fact]:
    """Values that only dead facts hold, as text, each with a fact that held it.

    Of a list or an object, each of the values in it.
    """
    alive = {leaf.casefold() for fact in live for leaf in leaves(fact.value)}
    found: dict[str, Fact] = {}
    for fact in dead:
        for leaf in leaves(fact.value):
            if leaf.casefold() not in alive:
                found.setdefault(leaf, fact)
    return found


def smuggles(item: WorkingItem, dead: dict[str, Fact]) -> Fact | None:
    """The dead fact whose value an item would bring back, or None.

    A short value such as "3" or "no" counts only where the item also names what it was about:
    otherwise it would blot out innocent text.
    """
    text = f"{item.key}: {text_of(item.value)}"
    folded = text.casefold()
    for value, fact in dead.items():
        if value.casefold() not in folded or not _spoken(value).search(text):
            continue
        words = [word for word in re.split(r"[\W_]+", fact.key.casefold()) if len(word) > 1]
        if _is_telling(value) or any(_spoken(word).search(folded) for word in words):
            return fact
    return None
