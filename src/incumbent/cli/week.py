"""The week that `incumbent demo --inspect` is filled with: an order, from Monday to Friday.

Everything goes through the same calls as anybody's program, at a clock that moves through the week.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import incumbent
from incumbent.testing.clock import SteppingClock

ORGANIZATION = "harbour"
PERSON = "mara"
QUESTION = "What do we deliver to Lakeside Clinic, when, and what does it cost?"
_FOR_ALL: dict[str, Any] = {"memory_type": "organizational"}
_DAYS = 5
_MORNING = 9


class _Week:
    """A memory, and a clock that goes from one thing said to the next."""

    def __init__(self, memory: incumbent.Memory, clock: SteppingClock) -> None:
        self.memory = memory
        self.clock = clock

    def as_(self, user_id: str, session_id: str, **given: Any) -> incumbent.Session:
        return self.memory.session(
            user_id=user_id,
            user_name=user_id.capitalize(),
            organization=ORGANIZATION,
            session_id=session_id,
            **given,
        )

    def say(self, session: incumbent.Session, *turns: str) -> None:
        """Have turns said, a few minutes apart. Those that begin with "> " are the assistant's."""
        for turn in turns:
            self.clock.advance(minutes=4)
            if turn.startswith("> "):
                session.observe(turn[2:], speaker="assistant")
            else:
                session.observe(turn)


def first_moment(now: datetime) -> datetime:
    """Monday morning of a week that has just ended."""
    return (now - timedelta(days=_DAYS)).replace(hour=_MORNING, minute=0, second=0, microsecond=0)


SETTINGS = incumbent.Settings(working_set_ttl=timedelta(days=30))
"""The words of the week stay on the desk, so that a page can show what was made of each."""


def fill(where: str, now: datetime, told: Callable[[str], None]) -> None:
    """Let the week happen in a new store, with its last day before `now`."""
    clock = SteppingClock(first_moment(now), step=timedelta(milliseconds=1))
    with incumbent.open(where, clock=clock, settings=SETTINGS) as memory:
        week = _Week(memory, clock)
        for name, part in _PARTS:
            told(name)
            part(week)
            clock.move_to(_next_morning(clock.now))


def _next_morning(now: datetime) -> datetime:
    return (now + timedelta(days=1)).replace(hour=_MORNING, minute=0, second=0, microsecond=0)


def _monday(week: _Week) -> None:
    """An order comes in, and the CFO says what may be promised."""
    week.memory.declare("stock.*", time_sensitive=True)
    carla = week.as_("carla", "policies", authority="executive", permissions=["finance"])
    carla.write(
        "max_discount",
        "12%",
        source="policy",
        constraint_type="policy",
        memory_type="organizational",
    )
    carla.write(
        "supplier_prices",
        "Never share supplier prices with a customer.",
        source="policy",
        constraint_type="policy",
        memory_type="organizational",
    )
    carla.write("supplier_price", "61 EUR", requires=["finance"], **_FOR_ALL)
    mara = week.as_(PERSON, "monday")
    week.say(
        mara,
        "Lakeside Clinic wants 120 chairs by 14 December.",
        "> Noted. Where should they go?",
        "Ship them to 18 Pier Road. Our contact there is Ines Duarte.",
    )
    mara.write("unit_price", 89, subject="Lakeside Clinic")
    mara.write("chairs", 120, subject="Lakeside Clinic")
    mara.write(
        "order_total",
        10_680,
        subject="Lakeside Clinic",
        depends_on=[_id(mara, "unit_price"), _id(mara, "chairs")],
    )
    mara.write(
        "invoice_plan",
        "half now, half on delivery: 5,340 each",
        subject="Lakeside Clinic",
        depends_on=[_id(mara, "order_total")],
    )


def _tuesday(week: _Week) -> None:
    """The number changes, the total is set right, and a promise is too high."""
    mara = week.as_(PERSON, "tuesday")
    week.say(mara, "No, the clinic wants 140 chairs, not 120.")
    mara.write("chairs", 140, subject="Lakeside Clinic")
    mara.resolve(_id(mara, "order_total"), 12_460, reason="140 chairs at 89")
    week.clock.advance(hours=2)
    mara.write("max_discount", "20%")
    tom = week.as_("tom", "stock", authority="manager")
    for count in (210, 185):
        week.clock.advance(hours=1)
        tom.write("stock.chairs", count, subject="warehouse", **_FOR_ALL)


def _wednesday(week: _Week) -> None:
    """The contact changes, and a what-if is tried."""
    mara = week.as_(PERSON, "wednesday")
    week.say(
        mara,
        "Ines Duarte no longer works there. From now on our contact is Paul Reyes.",
        "> Thank you, I will write to Paul.",
        "I prefer short emails without attachments.",
    )
    tried = mara.hypothetical("air-freight")
    tried.write("delivery", "by air, 9 December", subject="Lakeside Clinic")
    tried.write("freight", "1,140 EUR", subject="Lakeside Clinic")
    drafted = mara.draft("second-quote")
    drafted.write("unit_price", 84, subject="Lakeside Clinic")


def _thursday(week: _Week) -> None:
    """A slip is undone, and a price changes under what rests on it."""
    mara = week.as_(PERSON, "thursday")
    slip = mara.write("delivery_address", "18 Pear Road", subject="Lakeside Clinic")
    week.clock.advance(minutes=6)
    mara.undo(slip, reason="a slip of the keyboard")
    week.say(
        mara,
        "The delivery moved to 16 December.",
        "If the lift is not repaired by then, we deliver to the back entrance.",
    )
    mara.write("unit_price", 86, subject="Lakeside Clinic")
    mara.context(QUESTION, budget=600, record=True)


def _friday(week: _Week) -> None:
    """What was private goes, and something is left to decide."""
    mara = week.as_(PERSON, "friday")
    private = mara.write("private_phone", "+44 20 7946 0018", subject="Ines Duarte")
    week.clock.advance(hours=1)
    week.memory.forget(organization=ORGANIZATION, fact_id=private.fact_id)
    week.say(
        mara,
        "The clinic may want armrests on all chairs.",
        "> Shall I add armrests to the order?",
        "Not yet, they decide on Monday.",
    )
    mara.context(QUESTION, budget=600, record=True)


def _id(session: incumbent.Session, key: str) -> str:
    """The id of the fact in office at a key of the order."""
    return session.facts(key, subject="Lakeside Clinic")[0].id


_PARTS = (
    ("Monday: an order comes in", _monday),
    ("Tuesday: the number changes", _tuesday),
    ("Wednesday: another contact, and a what-if", _wednesday),
    ("Thursday: a slip is undone, a price changes", _thursday),
    ("Friday: what was private is erased", _friday),
)
