"""Contingency: when a fact that waits for another takes office."""

from __future__ import annotations

import re

from incumbent.model.fact import Fact
from incumbent.model.values import same_value, text_of

_WORDS = re.compile(r"\w+(?:[.,:'’]\w+)*")


def is_due(waiting: Fact, base: Fact, successor: Fact) -> bool:
    """True if the change of a base is the one that a fact has waited for.

    A renewal with the same value is no change. If the fact names the value that the base must
    become, the successor must have it, as its value or among its words.
    """
    if same_value(successor.value, base.value):
        return False
    forms = waiting.source.becomes
    if not forms:
        return True
    folded = {form.casefold() for form in forms}
    if any(part.normal.casefold() in folded for part in successor.parts):
        return True
    said = f" {_spelled(text_of(successor.value))} "
    return any(f" {_spelled(form)} " in said for form in forms if _spelled(form))


def _spelled(text: str) -> str:
    return " ".join(_WORDS.findall(text.casefold()))
