"""A stateful test of terms: facts that begin later, end by themselves, or tell of the past."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
)

import incumbent
from incumbent import Status, Verdict
from incumbent.testing import SteppingClock
from tests.behaviour.people import FOR_ALL
from tests.conftest import QUICK, SOAK, examples
from tests.properties.world import (
    ORGANIZATION,
    all_facts,
    check_links,
    differences,
    rank,
    tenures,
)
from tests.servers import SERVER, needs_server

PEOPLE = {"gus": "guest", "eve": "employee", "mia": "manager", "exa": "executive"}
WHO = st.sampled_from(sorted(PEOPLE))
KEYS = st.sampled_from(("rate", "lead"))
DAYS = st.none() | st.integers(-4, 9)
LATER = (0, 1, 2, 4, 6, 8, 11)


class Terms(RuleBasedStateMachine):
    """Four people plan ahead, look back, retract and undo at two shared addresses."""

    verdicts = Bundle("verdicts")

    @initialize()
    def begin(self) -> None:
        self.clock = SteppingClock(step=timedelta(seconds=1))
        self.memory = incumbent.open(self.where(), clock=self.clock, settings=QUICK)
        self.people = {
            name: self.memory.session(
                user_id=name, authority=rung, organization=ORGANIZATION, permissions=FOR_ALL
            )
            for name, rung in PEOPLE.items()
        }

    def where(self) -> str:
        return ":memory:"

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            self.memory.close()

    @rule(
        target=verdicts,
        who=WHO,
        key=KEYS,
        value=st.integers(1, 4),
        start=DAYS,
        lasts=st.none() | st.integers(1, 6),
        waits=st.booleans(),
    )
    def says(
        self, who: str, key: str, value: int, start: int | None, lasts: int | None, waits: bool
    ) -> Any:
        now = self.clock.now
        begins = None if start is None else now + timedelta(days=start)
        ends = None if lasts is None else (begins or now) + timedelta(days=lasts)
        terms: dict[str, Any] = {"valid_from": begins, "valid_until": ends}
        if waits:
            other = "lead" if key == "rate" else "rate"
            if not self.people[who].is_current(other):
                return multiple()
            terms = {"when_superseded": other}
        before = all_facts(self.memory)
        verdict = self.people[who].write(key, value, memory_type="organizational", **terms)
        self.check_nobody_above_lost_time(before, rank(PEOPLE[who]))
        return verdict

    @rule(target=verdicts, who=WHO, key=KEYS)
    def retracts(self, who: str, key: str) -> Any:
        try:
            return self.people[who].retract(key)
        except (incumbent.NotPermitted, incumbent.UnknownFact):
            return multiple()

    @rule(verdict=verdicts)
    def undoes_and_redoes(self, verdict: Verdict) -> None:
        before = tenures(all_facts(self.memory).values())
        try:
            undoing = self.people["exa"].undo(verdict)
        except incumbent.NothingToUndo:
            return
        self.people["exa"].undo(undoing)
        assert not differences(before, tenures(all_facts(self.memory).values()))

    @rule(days=st.integers(1, 5))
    def time_passes(self, days: int) -> None:
        self.clock.advance(days=days)

    def check_nobody_above_lost_time(self, before: dict[str, Any], actor: int) -> None:
        """Invariant 6: whoever lost part of a term lost it to somebody who may take it."""
        for fact_id, now in all_facts(self.memory).items():
            then = before.get(fact_id)
            if then is None or then.until == now.until or not then.may_hold_after(self.clock.now):
                continue
            successor = all_facts(self.memory).get(now.superseded_by or "")
            above = max(actor, rank(successor.standing) if successor else 0)
            assert rank(then.standing) <= above

    @invariant()
    def one_holder_at_any_time(self) -> None:
        if not hasattr(self, "memory"):
            return
        facts = all_facts(self.memory)
        check_links(facts)
        for days in LATER:
            moment = self.clock.now + timedelta(days=days)
            for key in ("rate", "lead"):
                held = [f for f in facts.values() if f.key == key and f.held_at(moment)]
                assert len(held) <= 1, f"{len(held)} facts hold {key!r} in {days} days"

    @invariant()
    def what_is_current_is_held(self) -> None:
        if not hasattr(self, "memory"):
            return
        facts = all_facts(self.memory)
        for key in ("rate", "lead"):
            now = self.clock.now
            value = self.people["gus"].current(key)
            held = [f.value for f in facts.values() if f.key == key and f.held_at(now)]
            assert [value] == held or (value is None and not held)
            assert all(f.status is not Status.OVERRULED for f in facts.values() if f.held_at(now))


class TermsOnPostgres(Terms):
    """The same on a PostgreSQL server."""

    def where(self) -> str:
        return SERVER.databases().emptied()


THOROUGH = settings(
    max_examples=examples(100, soak=500),
    stateful_step_count=30 if SOAK else 18,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestTerms = Terms.TestCase
TestTerms.settings = THOROUGH
TestTermsOnPostgres = needs_server(TermsOnPostgres.TestCase)
TestTermsOnPostgres.settings = settings(THOROUGH, max_examples=examples(6, soak=60))
