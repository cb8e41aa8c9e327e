"""Scope: which of several facts about the same thing a session goes by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from tenure.model.authority import Ladder
from tenure.model.scope import Place, Scope


class Seat(Protocol):
    """What shadowing needs to know of a fact."""

    @property
    def id(self) -> str: ...
    @property
    def owner(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def subject(self) -> str | None: ...
    @property
    def scope(self) -> Scope: ...
    @property
    def place(self) -> Place: ...
    @property
    def standing(self) -> str: ...
    @property
    def multi_valued(self) -> bool: ...
    @property
    def is_constraint(self) -> bool: ...


S = TypeVar("S", bound=Seat)


@dataclass(frozen=True, slots=True)
class View(Generic[S]):
    """The facts a session goes by, and those that step aside for them."""

    effective: tuple[S, ...]
    shadowed: tuple[tuple[S, S], ...] = ()
    """Pairs of a fact and the narrower one that stands in front of it here."""
    overruled: tuple[tuple[S, S], ...] = ()
    """Pairs of a fact and the wider one of higher authority that prevails over it."""


def effective(facts: Iterable[S], places: Sequence[Place], ladder: Ladder) -> View[S]:
    """Resolve shadowing among valid, visible facts.

    `places` are the scopes that apply, narrowest first. The narrowest fact wins, and one's own
    before the organization's, except that a real fact never hides a binding one of higher
    authority. A hypothetical may hide anything inside its own branch. Values of a multi-valued
    key accumulate.
    """
    rank = {place: index for index, place in enumerate(places)}
    groups: dict[tuple[str, str | None], list[S]] = defaultdict(list)
    for fact in facts:
        if fact.place in rank:
            groups[fact.key, fact.subject].append(fact)
    winners: list[S] = []
    shadowed: list[tuple[S, S]] = []
    overruled: list[tuple[S, S]] = []
    for group in groups.values():
        if len(group) == 1:
            winners.append(group[0])
            continue
        # Two facts at one address can both have held at a past moment (a late arrival of higher
        # authority beside a lower one): the higher standing and then the later id goes first.
        group.sort(key=lambda fact: fact.id, reverse=True)
        group.sort(
            key=lambda fact: (rank[fact.place], fact.owner == "", -ladder.rank(fact.standing))
        )
        _resolve(group, ladder, winners, shadowed, overruled)
    return View(tuple(winners), tuple(shadowed), tuple(overruled))


def _resolve(
    group: Sequence[S],
    ladder: Ladder,
    winners: list[S],
    shadowed: list[tuple[S, S]],
    overruled: list[tuple[S, S]],
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


def _coexist(own: S, shared: S) -> bool:
    """Whether a personal fact and one of the organization are about different matters."""
    return own.owner != shared.owner and not shared.subject and not shared.is_constraint


def _prevails(wider: S, narrower: S, ladder: Ladder) -> bool:
    if not narrower.scope.is_real or _coexist(narrower, wider):
        return False
    return ladder.rank(wider.standing) > ladder.rank(narrower.standing)
