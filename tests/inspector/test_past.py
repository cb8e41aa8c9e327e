"""The past by pages: the same facts that a session of that moment has."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random

import incumbent
from incumbent.inspector.past import Past, PastFact, PastPage
from incumbent.testing import SteppingClock


def lived(memory: incumbent.Memory, clock: SteppingClock, random: Random) -> list[datetime]:
    """Some weeks of writes, late news, plans, withdrawals and undone verdicts; the moments."""
    alice = memory.session(user_id="alice", organization="acme", authority="manager")
    bob = memory.session(user_id="bob", organization="acme")
    moments = []
    for number in range(160):
        moments.append(clock.now)
        clock.advance(hours=random.randrange(12))
        key = f"key_{random.randrange(70)}"
        shift = random.choice([0, 0, 0, -5, 3])
        since = clock.now + timedelta(days=shift) if shift else None
        verdict = alice.write(key, number, valid_from=since)
        bob.write(key, number)
        if number % 11 == 0:
            alice.undo(verdict)
        elif number % 7 == 0 and alice.is_current(key):
            alice.retract(key)
    return moments


def every(pages: Callable[[str | None], PastPage]) -> PastPage:
    """All pages as one."""
    held: list[PastFact] = []
    added: list[incumbent.Fact] = []
    cursor: str | None = None
    while True:
        page = pages(cursor)
        held += page.held
        added += page.added
        cursor = page.next
        if cursor is None:
            return PastPage(tuple(held), tuple(added))


def test_pages_of_the_past_are_the_past(memory: incumbent.Memory, clock: SteppingClock) -> None:
    """For moments of both times: every fact in office then, once, and what it is now."""
    random = Random(7)
    moments = lived(memory, clock, random)
    alice = memory.session(user_id="alice", organization="acme", authority="manager")
    office = {fact.id for fact in alice.list_facts(limit=1000)}
    for _ in range(5):
        at, known = random.choice(moments), random.choice([None, *moments[::40]])
        then = alice.as_of(at, known_at=known)
        past = Past(alice, then, at, known or memory.now(), known is None, {"text": ""})
        early, late = every(past.known_then), every(past.known_later)
        held = [one.fact.id for one in (*early.held, *late.held)]
        assert sorted(held) == sorted(fact.id for fact in then.list_facts(limit=1000))
        for one in (*early.held, *late.held):
            assert (one.change in ("", "review")) == (one.fact.id in office)
            assert one.end is None or one.end.id in office
        # What is in office now was so then, or took the place of something, or is new.
        new = [fact.id for fact in (*early.added, *every(past.added_since).added)]
        assert set(new) <= office - set(held)
        ends = {one.end.id for one in (*early.held, *late.held) if one.end}
        assert office - set(held) - ends <= set(new)
