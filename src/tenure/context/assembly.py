"""Assembly: which lines go into a context, in what order, within the budget.

Identity, environment, facts up to a share of what remains, then the working set in the rest. The
ceiling holds for the rendered text, headings and separators included, for every budget from 0 up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tenure.context.guard import dead_values, smuggles
from tenure.context.rendering import (
    environment_lines,
    fact_line,
    identity_lines,
    item_line,
    review_line,
)
from tenure.context.tokens import Count
from tenure.model.errors import InvalidInput
from tenure.model.fact import Fact
from tenure.model.identity import Identity
from tenure.model.records import Environment, WorkingItem

_CUT = " [cut]"
_HIGHEST_BUDGET = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Profile:
    """A trade between density and the risk of misleading."""

    name: str
    share: float | None
    """Share of the remaining budget for facts; None takes Settings.fact_share."""
    reviews: str
    """What becomes of facts that need review: "omit", "name" or "show"."""


PROFILES = {
    "high-stakes": Profile("high-stakes", 0.5, "omit"),
    "balanced": Profile("balanced", None, "name"),
    "comprehensive": Profile("comprehensive", 0.85, "show"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a context, and the fact it came from."""

    section: str
    text: str
    fact_id: str | None = None


@dataclass(frozen=True, slots=True)
class Omission:
    """A fact or working item left out, and why."""

    reason: str
    fact_id: str | None = None
    item: str | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """What a model reads, with its provenance and an account of what was left out."""

    text: str
    tokens: int
    budget: int
    query: str
    profile: str
    at: datetime
    lines: tuple[Line, ...] = ()
    omissions: tuple[Omission, ...] = ()

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Material:
    """Everything a context is made of: already visible, valid and in scope."""

    identity: Identity
    environment: Environment
    facts: Sequence[Fact]
    working_set: Sequence[WorkingItem] = ()
    bases: Mapping[str, Fact] = field(default_factory=dict)
    dead: Sequence[Fact] = ()
    omissions: Sequence[Omission] = ()


def check_request(query: object, budget: object, profile: object) -> Profile:
    """Refuse a query, budget or profile that cannot be served."""
    if not isinstance(query, str):
        raise InvalidInput(f"query must be a string, not {type(query).__name__}")
    if isinstance(budget, bool) or not isinstance(budget, int):
        raise InvalidInput(f"budget must be a whole number of tokens, not {budget!r}")
    if not 0 <= budget <= _HIGHEST_BUDGET:
        # Python refuses to print a number of thousands of digits.
        told = budget if abs(budget) < 10**12 else "one so far off"
        raise InvalidInput(f"budget must be from 0 to {_HIGHEST_BUDGET:,} tokens, not {told}")
    if not isinstance(profile, str) or profile not in PROFILES:
        raise InvalidInput(f"profile {profile!r} is not one of {', '.join(PROFILES)}")
    return PROFILES[profile]


def assemble(
    material: Material,
    query: str,
    *,
    budget: int,
    profile: Profile,
    share: float,
    at: datetime,
    count: Count,
) -> Context:
    """Build a context. Pure: the same material gives the same bytes."""
    page = _Page(budget, count)
    page.omissions.extend(material.omissions)
    page.add_cut("Identity", list(identity_lines(material.identity)))
    held = [fact for fact in material.facts if profile.reviews == "show" or not fact.needs_review]
    dead = dead_values(material.dead, held)
    for text in environment_lines(material.environment):
        name, _, value = text.partition(": ")
        smuggled = smuggles(WorkingItem(name, value, at), dead)
        if smuggled is not None and name not in ("Current date", "Current time"):
            page.omissions.append(Omission("quotes a dead value", smuggled.id, name))
        elif not page.add("Environment", text):
            page.omissions.append(Omission("over budget", item=name))
    ceiling = page.used + int((budget - page.used) * share)
    facts = sorted(material.facts, key=lambda fact: (fact.order, fact.id), reverse=True)
    constraints = [fact for fact in facts if fact.is_constraint]
    others = [fact for fact in facts if not fact.is_constraint]
    for section, members in (("Constraints", constraints), ("Facts", others)):
        for fact in members:
            _add_fact(page, section, fact, material, profile, ceiling)
    for item in material.working_set:
        smuggled = smuggles(item, dead)
        if smuggled is not None:
            page.omissions.append(Omission("quotes a dead value", smuggled.id, item.key))
        elif not page.add("Working set", item_line(item)):
            page.omissions.append(Omission("over budget", item=item.key))
    return page.finish(query, profile.name, at)


def _add_fact(
    page: _Page, section: str, fact: Fact, material: Material, profile: Profile, ceiling: int
) -> None:
    if fact.needs_review:
        if profile.reviews == "omit":
            page.omissions.append(Omission("needs review", fact.id))
            return
        text = review_line(fact, material.bases, with_value=profile.reviews == "show")
    else:
        text = fact_line(fact)
    if not page.add(section, text, fact.id, ceiling=ceiling):
        page.omissions.append(Omission("over budget", fact.id))


class _Page:
    """Lines under headings, with a running count that is checked on the real text at the end."""

    def __init__(self, budget: int, count: Count) -> None:
        self.budget = budget
        self.count = count
        self.used = 0
        self.lines: list[Line] = []
        self.omissions: list[Omission] = []

    def add(
        self, section: str, text: str, fact_id: str | None = None, *, ceiling: int | None = None
    ) -> bool:
        """Add a line if it fits; a line that does not is passed over, not a wall."""
        cost = self.count(f"{text}\n")
        if not self.lines or self.lines[-1].section != section:
            cost += self.count(f"\n# {section}\n")
        if self.used + cost > (self.budget if ceiling is None else ceiling):
            return False
        self.used += cost
        self.lines.append(Line(section, text, fact_id))
        return True

    def add_cut(self, section: str, texts: list[str]) -> None:
        """Add lines that must be there; where the budget is too small, cut visibly."""
        if all(self.add(section, text) for text in texts):
            return
        whole = "\n".join(texts)
        low, high = 0, len(whole)
        while low < high:
            middle = (low + high + 1) // 2
            if self.count(f"# {section}\n{whole[:middle]}{_CUT}") <= self.budget:
                low = middle
            else:
                high = middle - 1
        cut = f"{whole[:low]}{_CUT}"
        self.lines = [Line(section, text) for text in cut.split("\n")]
        self.used = self.count(self._text())
        if self.used > self.budget:
            self.lines, self.used = [], 0

    def finish(self, query: str, profile: str, at: datetime) -> Context:
        # Tokens of joined lines can differ by a little from the sum of their counts.
        while self.count(self._text()) > self.budget:
            line = self.lines.pop()
            item = None if line.fact_id else line.text.partition(":")[0].removeprefix("- ")
            self.omissions.append(Omission("over budget", line.fact_id, item))
        text = self._text()
        return Context(
            text=text,
            tokens=self.count(text),
            budget=self.budget,
            query=query,
            profile=profile,
            at=at,
            lines=tuple(self.lines),
            omissions=tuple(self.omissions),
        )

    def _text(self) -> str:
        parts: list[str] = []
        section = None
        for line in self.lines:
            if line.section != section:
                parts.append(f"\n# {line.section}" if parts else f"# {line.section}")
                section = line.section
            parts.append(line.text)
        return "\n".join(parts)
