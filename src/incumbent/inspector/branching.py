"""Branches beside reality: each of their facts next to what holds without it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from incumbent.inspector.differing import WordRun, compared_words
from incumbent.model.fact import Fact
from incumbent.words import shown


@dataclass(frozen=True, slots=True)
class BranchRow:
    """A fact of a branch beside the real ones at the same key and subject."""

    kind: Literal["added", "changed", "same"]
    fact: Fact
    real: tuple[Fact, ...]

    @property
    def words(self) -> tuple[tuple[WordRun, ...], tuple[WordRun, ...]]:
        """Both values, with the words marked that differ."""
        before = shown(self.real[0].value) if self.real else ""
        return compared_words(before, shown(self.fact.value))


def beside(fact: Fact, real: Iterable[Fact]) -> BranchRow:
    """A fact of a branch beside what holds in reality.

    A value of a key with several does not take the place of another: beside it stands the same
    one, or none.
    """
    same = [one for one in real if (one.owner, one.subject) == (fact.owner, fact.subject)]
    if fact.multi_valued:
        same = [one for one in same if one.value == fact.value]
    if not same:
        return BranchRow("added", fact, ())
    kind: Literal["same", "changed"] = "changed"
    if any(one.value == fact.value for one in same):
        kind = "same"
    return BranchRow(kind, fact, tuple(same))
