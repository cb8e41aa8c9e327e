"""The account of a context: what its budget went to, and why a fact is in it or not."""

from __future__ import annotations

from itertools import pairwise

import pytest

import incumbent
from incumbent.context.tokens import counter
from incumbent.inspector import accounting

QUERY = "Where should we ship the order?"


@pytest.fixture
def asked(alice: incumbent.Session) -> incumbent.Session:
    """Somebody with facts that are in it, out of office, and repeated by a note."""
    alice.write("address", "123 Main St")
    alice.write("address", "456 Oak Ave")
    alice.write("shipping_cost", "12 EUR", depends_on=("address",))
    alice.write("tea", "green")
    alice.note("plan", "we ship everything to 123 Main St as we did before")
    return alice


@pytest.mark.parametrize("budget", [0, 20, 60, 200, 2000])
def test_the_sections_take_what_the_context_takes(asked: incumbent.Session, budget: int) -> None:
    """Token by token, and their bars follow one another within the budget."""
    context = asked.context(QUERY, budget=budget)
    found = accounting.shares(context, counter(context.tokenizer))
    assert sum(one.tokens for one in found) == context.tokens
    assert sum(one.lines for one in found) == len(context.lines)
    assert sum(one.width for one in found) <= 1000.5
    for one, following in pairwise(found):
        assert one.start + one.width == pytest.approx(following.start, abs=0.05)


def test_a_fact_that_is_in_it_is_told_with_its_score(asked: incumbent.Session) -> None:
    """And where it stands."""
    context = asked.context(QUERY, explain=True)
    answer = accounting.answer_on(asked.facts("address")[0], context)
    assert answer.found == "shown"
    assert "Its score is" in answer.said
    assert answer.line is not None
    assert "456 Oak Ave" in answer.line.text


def test_a_fact_that_is_not_in_it_is_told_with_the_reason(asked: incumbent.Session) -> None:
    """Out of office, or without room; then with its score."""
    old = asked.history("address").facts[0]
    context = asked.context(QUERY, explain=True)
    answer = accounting.answer_on(old, context)
    assert answer.found == "left out"
    assert answer.said == "Left out as superseded: a newer value has taken its place."
    small = asked.context(QUERY, budget=45, explain=True)
    wide = asked.context(QUERY, budget=100_000, profile="comprehensive")
    left = accounting.answer_on(asked.facts("tea")[0], small, wide)
    assert left.found == "left out"
    assert "no room" in left.said
    assert "Its score is" in left.said


def test_what_the_guard_cut_is_marked(asked: incumbent.Session) -> None:
    """In the line that repeats it, and among the omissions, first and once."""
    context = asked.context(QUERY)
    note = next(line.text for line in context.lines if line.section == "Working set")
    assert ("[no longer current]", True) in accounting.pieces(note)
    assert "".join(text for text, _ in accounting.pieces(note)) == note
    first = accounting.by_reason(context.omissions)[0]
    assert first.reason == "quotes a dead value"
    assert len(set(first.named)) == len(first.named)


def test_every_reason_has_a_sentence(asked: incumbent.Session) -> None:
    """A reader is told more than a word."""
    groups = accounting.by_reason(asked.context(QUERY, budget=45, explain=True).omissions)
    assert groups
    assert all(group.why for group in groups)
