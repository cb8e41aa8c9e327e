"""Authority: a ladder of rungs, and the titles people really carry mapped onto it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field

from incumbent.model.errors import InvalidInput, UnknownTitleWarning

DEFAULT_RUNGS = ("guest", "employee", "manager", "executive", "policy")

DEFAULT_TITLES: Mapping[str, str] = {
    "anonymous": "guest",
    "visitor": "guest",
    "external": "guest",
    "customer": "guest",
    "intern": "guest",
    "trainee": "guest",
    "contractor": "guest",
    "vendor": "guest",
    "user": "employee",
    "staff": "employee",
    "member": "employee",
    "agent": "employee",
    "assistant": "employee",
    "engineer": "employee",
    "analyst": "employee",
    "specialist": "employee",
    "lead": "manager",
    "team lead": "manager",
    "supervisor": "manager",
    "head": "manager",
    "director": "manager",
    "admin": "manager",
    "administrator": "manager",
    "owner": "manager",
    "vp": "executive",
    "vice president": "executive",
    "svp": "executive",
    "evp": "executive",
    "ceo": "executive",
    "cfo": "executive",
    "cto": "executive",
    "coo": "executive",
    "cio": "executive",
    "ciso": "executive",
    "cmo": "executive",
    "president": "executive",
    "founder": "executive",
    "partner": "executive",
    "general counsel": "executive",
    "board": "policy",
    "board of directors": "policy",
    "legal": "policy",
    "compliance": "policy",
    "regulator": "policy",
    "law": "policy",
    "system of record": "policy",
}


@dataclass(frozen=True, slots=True)
class Authority:
    """One rung of a ladder, and the title that led to it.

    Invariant: `rank` is the position of `rung` in its ladder, 0 the lowest.
    """

    rung: str
    rank: int
    title: str


@dataclass(frozen=True)
class Ladder:
    """The order of authority, lowest first, with titles mapped onto the rungs.

    Invariants: rungs are distinct and at least one; every title maps to a rung.
    """

    rungs: tuple[str, ...] = DEFAULT_RUNGS
    titles: Mapping[str, str] = field(default_factory=lambda: DEFAULT_TITLES)

    def __post_init__(self) -> None:
        rungs = tuple(_plain(rung) for rung in self.rungs)
        if not rungs or len(set(rungs)) != len(rungs):
            raise InvalidInput(f"a ladder needs distinct rungs, lowest first; got {self.rungs!r}")
        object.__setattr__(self, "rungs", rungs)
        known: dict[str, Authority] = {}
        for title, rung in self.titles.items():
            if _plain(rung) in rungs:
                known[_plain(title)] = Authority(
                    _plain(rung), rungs.index(_plain(rung)), _plain(title)
                )
            elif self.titles is not DEFAULT_TITLES:
                # Only a mapping somebody wrote is wrong; the default one meets shorter ladders.
                raise InvalidInput(
                    f"title {title!r} maps to {rung!r}, which is not a rung: {rungs}"
                )
        for rank, rung in enumerate(rungs):
            known[rung] = Authority(rung, rank, rung)
        object.__setattr__(self, "_known", known)
        object.__setattr__(self, "_ranks", {rung: rank for rank, rung in enumerate(rungs)})

    def resolve(self, title: str) -> Authority:
        """The rung a title stands on. An unknown title is the lowest rung, with a warning."""
        if not isinstance(title, str) or not title.strip():
            raise InvalidInput(
                f"authority must be a rung or a title, for example {self.rungs[-1]!r}"
            )
        known: dict[str, Authority] = self._known  # type: ignore[attr-defined]
        found = known.get(title) or known.get(_plain(title))
        if found is None:
            warnings.warn(
                f"unknown title {title!r} is taken for {self.rungs[0]!r}, the lowest rung; "
                f"add it to Settings.ladder titles to place it",
                UnknownTitleWarning,
                stacklevel=3,
            )
            return Authority(self.rungs[0], 0, _plain(title))
        return found

    def known(self, title: str) -> Authority | None:
        """The rung a title stands on, or None for words that are no title."""
        known: dict[str, Authority] = self._known  # type: ignore[attr-defined]
        return known.get(_plain(title))

    def rank(self, rung: str) -> int:
        """The position of a stored rung; one that the ladder does not know counts as the highest.

        It was written under another ladder, where it may have been above everything. If it counted
        as the lowest, anybody could supersede a fact that only the top may.
        """
        ranks: dict[str, int] = self._ranks  # type: ignore[attr-defined]
        return ranks.get(rung, len(self.rungs) - 1)

    def outranks(self, left: str | Authority, right: str | Authority) -> bool:
        """Whether one stands above the other. Ranks are compared here and nowhere else."""
        return self._rank_of(left) > self._rank_of(right)

    def _rank_of(self, one: str | Authority) -> int:
        return one.rank if isinstance(one, Authority) else self.rank(one)

    @property
    def middle(self) -> str:
        """The rung in the middle: "manager", on the ladder that ships."""
        return self.rungs[len(self.rungs) // 2]

    def lowest(self, *rungs: str) -> str:
        """The lowest of several rungs: the most that a fact derived from them may carry.

        If one of them is not on the ladder, the fact carries the lowest rung of all.
        """
        ranks: dict[str, int] = self._ranks  # type: ignore[attr-defined]
        if any(rung not in ranks for rung in rungs):
            return self.rungs[0]
        return min(rungs, key=self.rank)

    def highest(self, *rungs: str) -> str:
        return max(rungs, key=self.rank)


def _plain(title: str) -> str:
    return " ".join(title.replace("_", " ").replace("-", " ").lower().split())
