"""Checks: a law, the capabilities it needs to be tried, and a function that tries it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from incumbent_eval.spoken import SpokenText
from incumbent_eval.systems import Ability, Entry, Refused, System, Who

ADA = Who(user="ada", authority="employee")
BOB = Who(user="bob", authority="employee")
MONA = Who(user="mona", authority="manager")
PAUL = Who(user="paul", authority="policy")
GUS = Who(user="gus", authority="guest")

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
"""A Monday morning, on which every check begins."""
ROOMY = 4000
"""A budget with room for everything that a check writes, where the budget is not the point."""

_UNKNOWN = (
    *("recalculat", "re-calculat", "recomput", "not known", "unknown", "no longer known"),
    *("needs review", "need review", "outdated", "out of date", "must be checked", "stale"),
)
"""Ways to say that a value has to be worked out again, in lower case."""


class Unmet(Exception):
    """A system did something else than the law asks; with its text, if it gave any."""

    def __init__(self, why: str, context: str | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.context = context


class Trial:
    """A fresh system at work. Every write and turn comes a minute after the one before."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.now = START
        system.move_to(self.now)

    def wait(self, **time: float) -> datetime:
        """Let time pass; return the time then."""
        self.now += timedelta(**time)
        self.system.move_to(self.now)
        return self.now

    def write(self, key: str, value: str, who: Who = ADA, **terms: Any) -> str:
        """Write a value, on the terms of an entry."""
        self.wait(minutes=1)
        return self.system.write(who, Entry(key, value, **terms))

    def observe(self, text: str, who: Who = ADA, speaker: str = "user") -> None:
        """Let somebody say something."""
        self.wait(minutes=1)
        self.system.observe(who, text, speaker)

    def retract(self, written: str, who: Who = ADA) -> None:
        """Take a value back."""
        self.wait(minutes=1)
        self.system.retract(who, written)

    def undo(self, written: str, who: Who = ADA) -> None:
        """Undo a write."""
        self.wait(minutes=1)
        self.system.undo(who, written)

    def attempt(self, act: Callable[[], object]) -> None:
        """Try something that a system may refuse, and need not: the state afterwards counts."""
        try:
            act()
        except Refused:
            return

    def ask(
        self,
        query: str,
        who: Who = ADA,
        budget: int = ROOMY,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> str:
        """The context for a question."""
        if as_of is None and known_at is None:  # so that a system need not know these words
            return self.system.context(who, query, budget)
        return self.system.context(who, query, budget, as_of=as_of, known_at=known_at)

    def expect(
        self,
        query: str,
        *,
        says: Iterable[str] = (),
        lacks: Iterable[str] = (),
        who: Who = ADA,
        budget: int = ROOMY,
        **when: datetime,
    ) -> str:
        """Ask, and hold the context against the texts it must have and must not have."""
        text = self.ask(query, who, budget, **when)
        said = SpokenText(text)
        for value in says:
            if not said.says(value):
                raise Unmet(f"it does not say {value!r}", text)
        for value in lacks:
            if said.says(value):
                raise Unmet(f"it says {value!r}", text)
        return text

    def expect_unknown(self, query: str, key: str, stale: str, who: Who = ADA) -> None:
        """A value that needs review: named, not shown, and said to be worked out again."""
        text = self.expect(query, says=[key], lacks=[stale], who=who)
        why = f"it does not say that {key!r} has to be worked out again"
        self.expect_word(text, _UNKNOWN, why)

    def expect_word(self, text: str, words: Iterable[str], why: str) -> None:
        """A text says something in one of these words."""
        if not any(word in text.lower() for word in words):
            raise Unmet(why, text)

    def expect_within(self, query: str, budget: int, who: Who = ADA) -> str:
        """Ask with a budget, and count."""
        text = self.ask(query, who, budget)
        used = self.system.tokens(text)
        if used > budget:
            raise Unmet(f"it has {used:,} tokens at a budget of {budget:,}", f"{text[:500]} …")
        return text


Try = Callable[[Trial], None]


@dataclass(frozen=True)
class Check:
    """A law with a name. `attempt` raises `Unmet` on a fresh system that does not keep it."""

    name: str
    law: str
    group: str
    needs: frozenset[Ability]
    attempt: Try

    def missing(self, can: Iterable[Ability]) -> tuple[Ability, ...]:
        """The capabilities that a system lacks for it to be tried."""
        return tuple(sorted(self.needs - frozenset(can)))


CHECKS: list[Check] = []
"""Every check that was entered."""


def check(group: str, *needs: Ability) -> Callable[[Try], Try]:
    """Enter a function among the checks: its name is the name, its docstring the law."""

    def enter(function: Try) -> Try:
        name = function.__name__.replace("_", " ")
        law = " ".join((function.__doc__ or "").split())
        CHECKS.append(Check(name, law, group, frozenset(needs), function))
        return function

    return enter
