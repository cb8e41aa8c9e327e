"""The request for a context, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from incumbent.context.ranking import Ranked
from incumbent.model.errors import InvalidInput
from incumbent.model.values import check_text

Style = Literal["plain", "annotated"]
STYLES: tuple[Style, ...] = ("plain", "annotated")
_HIGHEST_BUDGET = 1_000_000_000
LONGEST_QUERY = 20_000
"""The characters of a longer query that are read."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A trade between density and the risk of misleading."""

    name: str
    share: float | None
    """Share of the remaining budget for facts; None takes Settings.fact_share."""
    reviews: str
    """What becomes of facts that need review: "omit", "name" or "show". Facts in doubt are left
    out where those are."""
    floor: float
    """The share of the best score below which a fact is left out as irrelevant."""
    always: int
    """The number of best facts that are kept whatever their score."""
    spare: float = 0.0
    """The share of the room that is left for facts which others may take: those that are not
    relevant enough, but hold all the same."""

    def keeping(self, ranked: Sequence[Ranked]) -> list[bool]:
        """Whether each fact, best first, is relevant enough."""
        least = self.floor * max([one.score for one in ranked], default=0.0)
        return [
            place < self.always or one.bears or one.score >= least or one.sheet.comes_first
            for place, one in enumerate(ranked)
        ]


PROFILES = {
    "high-stakes": Profile("high-stakes", 0.5, "omit", floor=0.5, always=5),
    "balanced": Profile("balanced", None, "name", floor=0.3, always=40, spare=0.25),
    "comprehensive": Profile("comprehensive", 0.85, "show", floor=0.0, always=0),
}


@dataclass(frozen=True, slots=True)
class Request:
    """A query with everything that shapes its context."""

    query: str
    budget: int
    profile: Profile
    style: Style = "plain"
    history: bool = False
    explain: bool = False
    conversation: bool = True
    """Whether the last turns of the conversation are shown; who sends them anyway needs them not
    twice."""


def check_request(
    query: object,
    budget: object,
    profile: object,
    style: object = "plain",
    history: object = False,
    explain: object = False,
    conversation: object = True,
) -> Request:
    """Refuse a query, budget, profile or style that cannot be served."""
    if not isinstance(query, str):
        raise InvalidInput(f"query must be a string, not {type(query).__name__}")
    check_text(query, "query")
    if isinstance(budget, bool) or not isinstance(budget, int):
        raise InvalidInput(f"budget must be a whole number of tokens, not {budget!r}")
    if not 0 <= budget <= _HIGHEST_BUDGET:
        # Python refuses to print a number of thousands of digits.
        told = budget if abs(budget) < 10**12 else "one so far off"
        raise InvalidInput(f"budget must be from 0 to {_HIGHEST_BUDGET:,} tokens, not {told}")
    if not isinstance(profile, str) or profile not in PROFILES:
        raise InvalidInput(f"profile {profile!r} is not one of {', '.join(PROFILES)}")
    for known in STYLES:
        if style == known:
            return Request(
                query,
                budget,
                PROFILES[profile],
                known,
                bool(history),
                bool(explain),
                bool(conversation),
            )
    raise InvalidInput(f"style {style!r} is not one of {', '.join(STYLES)}")
