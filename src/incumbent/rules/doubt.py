"""Doubt: which facts in office a later statement may have replaced.

A doubt is never stored with the fact that it falls on. It is worked out from how both facts stand,
so it comes and goes with the statement that raised it, whatever happened in between.
"""

from __future__ import annotations

from collections.abc import Iterable

from incumbent.model.authority import Ladder
from incumbent.model.fact import Fact
from incumbent.rules.authority import outranks


def may_doubt(doubting: Fact, doubted: Fact, ladder: Ladder) -> bool:
    """Whether a statement is one that could put the other in doubt, wherever it applies.

    Nobody doubts from below. One person's statement casts no doubt on the organization's nor on
    another's, and what a capability learned casts none on what is so. Whoever may see a statement
    may see what it doubts: otherwise it would tell of what is hidden from them.
    """
    return (
        doubting.id != doubted.id
        and doubting.organization == doubted.organization
        and doubting.owner == doubted.owner
        and doubting.capability == doubted.capability
        and doubted.audience in ("", doubting.audience)
        and not outranks(doubted.standing, doubting.standing, ladder)
    )


def is_doubted_by(doubted: Fact, doubting: Fact, ladder: Ladder) -> bool:
    """Whether one fact in office puts another in doubt.

    It no longer does once the other was said again, or a person has found it still right.
    """
    return (
        doubted.id in doubting.doubts
        and doubting.doubt_token not in doubted.acknowledged
        and not _came_later(doubted, doubting)
        and may_doubt(doubting, doubted, ladder)
    )


def _came_later(doubted: Fact, doubting: Fact) -> bool:
    if doubted.confirmed_at is not None:
        return doubted.confirmed_at >= doubting.order
    return doubted.order > doubting.order


def doubters_of(doubted: Fact, statements: Iterable[Fact], ladder: Ladder) -> list[Fact]:
    """The statements in office that put a fact in doubt, newest first."""
    found = [one for one in statements if is_doubted_by(doubted, one, ladder)]
    return sorted(found, key=lambda one: (one.order, one.id), reverse=True)
