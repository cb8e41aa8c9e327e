"""Scope: which of several facts about the same thing a session goes by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from incumbent.model.authority import Ladder
from incumbent.model.fact import Fact
from incumbent.model.scope import Place
from incumbent.rules.authority import prevails


@dataclass(frozen=True, slots=True)
class View:
    """The facts a session goes by, and those that step aside for them."""

    effective: tuple[Fact, ...]
    shadowed: tuple[tuple[Fact, Fact], ...] = ()
    """Pairs of a fact and the narrower one that stands in front of it here."""
    overruled: tuple[tuple[Fact, Fact], ...] = ()
    """Pairs of a fact and the wider one of higher authority that prevails over it."""


def effective(facts: Iterable[Fact], places: Sequence[Place], ladder: Ladder) -> View:
    """Resolve shadowing among valid, visible facts.

    `places` are the scopes that apply, narrowest first. The narrowest fact wins, and one's own
    before the organization's. But a real fact never hides a binding one of higher authority, nor a
    constraint of the organization of the same authority. A hypothetical may hide anything inside
    its own branch. Values of a multi-valued key accumulate. Facts that a capability learned stand
    beside the others, and hide none of them.
    """
    here = [fact for fact in facts if (fact.scope, fact.scope_id or "") in places]
    if len({(fact.key, fact.subject) for fact in here}) == len(here):
        return View(tuple(here))  # each is on a matter of its own
    groups: dict[tuple[str, str | None, str | None], list[Fact]] = defaultdict(list)
    for fact in here:
        groups[fact.key, fact.subject, fact.capability].append(fact)
    rank = {place: index for index, place in enumerate(places)}
    winners: list[Fact] = []
    shadowed: list[tuple[Fact, Fact]] = []
    overruled: list[tuple[Fact, Fact]] = []
    for group in groups.values():
        if len(group) == 1:
            winners.append(group[0])
            continue
        # Two facts at one address can both have held at a past moment (a late arrival of higher
        # authority beside a lower one), or be for different audiences: the higher standing, what
        # fewer may see, and then the later id goes first.
        group.sort(key=lambda fact: fact.id, reverse=True)
        group.sort(
            key=lambda fact: (
                rank[fact.place],
                fact.owner == "",
                -ladder.rank(fact.standing),
                not fact.audience,
            )
        )
        _resolve(group, ladder, winners, shadowed, overruled)
    return View(tuple(winners), tuple(shadowed), tuple(overruled))


def _resolve(
    group: Sequence[Fact],
    ladder: Ladder,
    winners: list[Fact],
    shadowed: list[tuple[Fact, Fact]],
    overruled: list[tuple[Fact, Fact]],
) -> None:
    several = [fact for fact in group if fact.multi_valued]
    winners.extend(several)
    single = [fact for fact in group if not fact.multi_valued]
    if not single:
        return
    winner = single[0]
    for other in single[1:]:
        if _prevails(other, winner, ladder):
            overruled.append((winner, other))
            winner = other
        elif _coexist(winner, other):
            winners.append(other)
        else:
            shadowed.append((other, winner))
    winners.append(winner)


def _coexist(own: Fact, shared: Fact) -> bool:
    """Whether a personal fact and one of the organization are about different matters."""
    return own.owner != shared.owner and not shared.subject and not shared.is_constraint


def _prevails(wider: Fact, narrower: Fact, ladder: Ladder) -> bool:
    if not narrower.scope.is_real or _coexist(narrower, wider):
        return False
    return prevails(wider, narrower, ladder)
