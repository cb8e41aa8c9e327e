"""Random conversations in which people are asked first: what waits, and what comes of decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incumbent import Memory, Review, Status
from incumbent.model.fact import Fact
from incumbent.model.values import text_of
from tests.conftest import STORES, examples
from tests.properties.contexts import says
from tests.properties.test_observing import Talk, Turn, a_talk, lasting, telling_values
from tests.properties.world import ORGANIZATION, all_facts, check_links, check_marks
from tests.stores.invariants import findings

FEW = settings(max_examples=examples(40, soak=400), deadline=None)
FEWER = settings(max_examples=examples(15, soak=200), deadline=None)
seeds = st.integers(0, 2**32)


@contextmanager
def asked(turns: Sequence[Turn], store: str = "memory") -> Iterator[Talk]:
    """A conversation with somebody who is asked before anything is kept."""
    with a_talk(store) as talk:
        talk.session.ask_before_keeping = True
        for turn in turns:
            talk.say(turn)
        yield talk


def waiting(talk: Talk) -> list[Review]:
    return [one for one in talk.session.reviews() if one.kind == "unapproved"]


def tenures(memory: Memory) -> dict[str, Any]:
    """How every fact stands."""
    return {fact.id: _tenure(fact) for fact in all_facts(memory).values()}


def _tenure(fact: Fact) -> Any:
    return (
        *(fact.status, fact.superseded_by, sorted(fact.predecessors), fact.started_at),
        *(fact.ended_at, fact.standing, fact.confirmed_at, fact.awaits, sorted(fact.causes)),
    )


@pytest.mark.parametrize("store", STORES)
@FEWER
@given(turns=lasting)
def test_what_waits_holds_nothing_and_is_not_shown(store: str, turns: list[Turn]) -> None:
    """Nothing is in office, and no context has a word of it."""
    with asked(turns, store) as talk:
        real = [fact for fact in all_facts(talk.memory).values() if fact.scope.is_real]
        assert not [fact for fact in real if fact.is_valid]
        assert talk.session.facts() == []
        context = talk.session.context("What is the budget, and which city?", history=True)
        for number, turn in enumerate(turns):
            for value in telling_values(turn, number):
                kept = [fact for fact in real if says(text_of(fact.value), value)]
                assert not (kept and says(context.text, value))
        assert findings(talk.memory, ORGANIZATION) == []


@pytest.mark.parametrize("store", STORES)
@FEWER
@given(turns=lasting, seed=seeds)
def test_decisions_in_any_order_leave_a_sound_store(
    store: str, turns: list[Turn], seed: int
) -> None:
    """Whatever is kept and whatever is dropped: chains, marks and log are as they must be, nothing
    is in office twice, and nothing is left to ask."""
    choose = Random(seed)
    with asked(turns, store) as talk:
        while open_ones := waiting(talk):
            chosen = choose.choice(open_ones).fact.id
            keeps = choose.random() < 0.7
            talk.session.resolve(chosen, still_right=keeps, retract=not keeps)
        facts = all_facts(talk.memory)
        check_marks(facts)
        check_links(facts)
        assert findings(talk.memory, ORGANIZATION) == []
        seats = Counter((one.address, text_of(one.value)) for one in facts.values() if one.is_valid)
        assert all(count == 1 for count in seats.values()), "the same is in office twice"
        assert not [one for one in facts.values() if one.is_unapproved]


@FEW
@given(turns=lasting, seed=seeds)
def test_a_decision_can_be_undone(turns: list[Turn], seed: int) -> None:
    """Undone, last first, everything stands as it did, and waits again."""
    choose = Random(seed)
    with asked(turns) as talk:
        for _ in range(3):
            if not (open_ones := waiting(talk)):
                return
            before = tenures(talk.memory)
            seq = last_of(talk.memory)
            chosen = choose.choice(open_ones).fact.id
            keeps = choose.random() < 0.8
            talk.session.resolve(chosen, still_right=keeps, retract=not keeps)
            with talk.memory.store.read(ORGANIZATION) as reader:
                made = [entry.id for entry in reader.log(seq, 100)]
            for verdict in reversed(made):
                talk.session.undo(verdict)
            after = tenures(talk.memory)
            assert {name: after[name] for name in before} == before
            assert {after[name][0] for name in after.keys() - before.keys()} <= {Status.WITHDRAWN}
            talk.session.resolve(chosen, still_right=keeps, retract=not keeps)


def last_of(memory: Memory) -> int:
    with memory.store.read(ORGANIZATION) as reader:
        return int(reader.head()[0])
