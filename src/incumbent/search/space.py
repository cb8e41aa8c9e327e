"""The space: everything that one context may search, with its known properties."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import TYPE_CHECKING

from incumbent.model.fact import Fact
from incumbent.model.scope import Place

if TYPE_CHECKING:
    from incumbent.search.collection import Collection as Entries
    from incumbent.search.marks import Heard
    from incumbent.search.moment import PastMoment
    from incumbent.search.shelf_index import ShelfIndex
    from incumbent.stores.port import Found


@dataclass
class SearchSpace:
    """A collection to search, with its surroundings."""

    collection: Entries
    size: int
    """The number of facts that can be found."""
    total: int
    """The number of facts, with those out of office."""
    facts: Sequence[Fact] | None = None
    """All of them, if they are in memory anyway."""
    then: PastMoment | None = None
    """The moment that they are of, if it is one of the past and is searched through the index."""
    hidden: Container[int] = ()
    """Entries of the stacks that do not count here."""
    expired: list[int] = field(default_factory=list)
    """Entries whose term is over."""
    ahead: list[int] = field(default_factory=list)
    """Entries whose term begins later, the soonest first."""
    stacks: Sequence[ShelfIndex] = ()
    filled: Mapping[tuple[str, Place], Sequence[ShelfIndex]] = field(default_factory=dict)
    """The owners and places that have facts here. With one, no two facts can be on the same
    matter."""

    @staticmethod
    def ad_hoc(given: tuple[list[Fact], list[tuple[Found, bool]], int]) -> SearchSpace:
        """A space for facts that are in memory already."""
        from incumbent.search.collection import AdHoc

        facts, rows, dimensions = given
        return SearchSpace(AdHoc(rows, dimensions), len(facts), len(facts), facts)

    @property
    def has_suspects(self) -> bool:
        if self.facts is not None or self.then is not None:
            return True
        return any(stack.suspects for stack in self.stacks)

    def suspects(self, words: set[str], is_of_interest: Callable[[Heard], bool]) -> set[int]:
        """Entries whose value may be dead and may be repeated by a text with these words.

        Of entries with known sayings, only those of interest.
        """
        return {e for stack in self.stacks for e in stack.suspected(words, is_of_interest)}

    def doubled(self) -> set[int]:
        """Entries on a matter on which another owner or place has an entry too."""
        shared: dict[ShelfIndex, set[int]] = defaultdict(set)
        for one, other in combinations(self.filled.values(), 2):
            for left, right in product(one, other):
                matters = left.matters_with(right)
                shared[left] |= matters
                shared[right] |= matters
        return {
            entry
            for stack, matters in shared.items()
            for entry in stack.on_matters(matters)
            if entry not in self.hidden
        }

    def over(self, matters: set[int], terms: Collection[str]) -> set[int]:
        """Entries out of office on one of these matters, or with one of these terms."""
        found = set(self.expired)
        for stack in self.stacks:
            found |= stack.over_with(matters, terms, self.collection.rows)
        return found

    def hear(self, told: Mapping[int, Heard]) -> None:
        """Keep the sayings of entries for the next time."""
        for stack in self.stacks:
            for entry, heard in told.items():
                if stack.position(entry) is not None:
                    stack.hear(entry, heard)
