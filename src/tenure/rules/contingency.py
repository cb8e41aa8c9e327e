"""Contingency: when a fact that waits for another takes office."""

from __future__ import annotations

import re

from tenure.model.fact import Fact
from tenure.model.values import same_value, text_of

_WORDS = re.compile(r"\w+(?:[.,:'’]\w+)*")


def is_due(waiting: Fact, base: Fact, successor: Fact) -> bool:
    """Whether what became of a base is what a fact has waited for.

    A renewal that says the same is no change. Where the fact says what the base must become, its
    successor must say that, as a value or among its words.
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
