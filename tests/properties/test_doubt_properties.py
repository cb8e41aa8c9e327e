"""Doubts come and go with the statements that raise them, whatever happens in between."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import incumbent
from incumbent import Session, Verdict
from incumbent.model.errors import IncumbentError
from incumbent.testing import SteppingClock
from tests.conftest import QUICK

KEYS = ("street", "keys", "bus", "van")
VALUES = ("elm", "oak", "pine")
RUNGS = ("guest", "employee", "manager")

Doubts = dict[str, tuple[str, ...]]

writes = st.tuples(
    st.just("write"),
    st.sampled_from(RUNGS),
    st.sampled_from(KEYS),
    st.sampled_from(VALUES),
    st.lists(st.integers(0, 30), max_size=3),
)
others = st.tuples(
    st.sampled_from(["retract", "still right", "undo"]),
    st.sampled_from(RUNGS),
    st.integers(0, 30),
)
steps = st.lists(st.one_of(writes, writes, others), max_size=14)


class Story:
    """One person on several rungs, who writes, takes back, settles and undoes."""

    def __init__(self) -> None:
        self.memory = incumbent.open(":memory:", clock=SteppingClock(), settings=QUICK)
        self.sessions = {
            rung: self.memory.session(user_id="ann", authority=rung, organization="acme")
            for rung in RUNGS
        }
        self.verdicts: list[Verdict] = []

    @property
    def highest(self) -> Session:
        return self.sessions[RUNGS[-1]]

    def doubts(self) -> Doubts:
        """Every fact in doubt with the statements that put it there."""
        reviews = [r for r in self.highest.reviews() if r.kind == "doubted"]
        return {
            r.fact.id: tuple(d.id for d in self.highest.explain(r.fact.id).doubted_by)
            for r in reviews
        }

    def play(self, step: tuple[Any, ...]) -> Verdict | None:
        """Take a step, if it can be taken."""
        session = self.sessions[step[1]]
        try:
            verdict = self._play(session, step)
        except IncumbentError:
            return None
        if verdict is not None:
            self.verdicts.append(verdict)
        return verdict

    def _play(self, session: Session, step: tuple[Any, ...]) -> Verdict | None:
        known = [verdict.fact_id for verdict in self.verdicts]
        if step[0] == "write":
            _, _, key, value, named = step
            doubts = [known[number % len(known)] for number in named] if known else []
            return session.write(key, value, doubts=doubts)
        if not known:
            return None
        chosen = self.verdicts[step[2] % len(known)]
        if step[0] == "retract":
            return session.retract(chosen.fact_id)
        if step[0] == "still right":
            return session.resolve(chosen.fact_id, still_right=True)
        return session.undo(chosen)


@given(steps)
def test_undoing_a_step_brings_back_exactly_the_doubts_before_it(
    story: list[tuple[Any, ...]],
) -> None:
    """And undoing that brings back exactly those after it."""
    world = Story()
    with world.memory:
        for step in story:
            before = world.doubts()
            verdict = world.play(step)
            if verdict is None:
                assert world.doubts() == before
                continue
            after = world.doubts()
            undone = world.highest.undo(verdict)
            assert world.doubts() == before
            world.highest.undo(undone)
            assert world.doubts() == after


@given(steps)
def test_only_a_statement_in_office_that_is_not_outranked_puts_a_fact_in_doubt(
    story: list[tuple[Any, ...]],
) -> None:
    """It names the fact, came later, and nobody has settled it."""
    world = Story()
    with world.memory:
        ladder = world.memory.settings.ladder
        for step in story:
            world.play(step)
            for fact_id, statements in world.doubts().items():
                fact = world.highest.get(fact_id)
                assert fact is not None
                assert fact.is_valid
                assert statements
                for statement_id in statements:
                    statement = world.highest.get(statement_id)
                    assert statement is not None
                    assert statement.is_valid
                    assert fact_id in statement.doubts
                    assert statement.order >= fact.order
                    assert statement.doubt_token not in fact.acknowledged
                    assert not ladder.outranks(fact.standing, statement.standing)
