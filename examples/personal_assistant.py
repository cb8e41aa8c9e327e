"""A personal assistant: one person, one memory, a chat each day.

docs/recipes.md tells what it shows.
"""

from datetime import UTC, datetime

import incumbent
from incumbent.testing import SteppingClock

clock = SteppingClock(datetime(2026, 3, 2, 9, tzinfo=UTC))
memory = incumbent.open(":memory:", clock=clock)  # yours: a file, and no clock
memory.declare("allergy", multi_valued=True)


def mia(day: str) -> incumbent.Session:
    """The person, in the chat of a day."""
    return memory.session(user_id="mia", user_name="Mia", session_id=day)


# Monday. What must never be missing is written, by a tool of the assistant, as a constraint.
chat = mia("monday")
chat.write("allergy", "peanuts", is_constraint=True)
chat.observe("I live in Lyon. Please keep answers short. My door code is 4711.")
chat.observe("I'd like a table for 4 people at 7pm on Friday at Chez Paul.")
chat.observe("Booked: Chez Paul, Friday, 7pm, 4 people. The reference is K7.", speaker="assistant")

# Wednesday: another chat. Some of it corrects, some only wonders, some ends by itself.
clock.advance(days=2)
chat = mia("wednesday")
chat.write("allergy", "shellfish", is_constraint=True)
for text in (
    "We moved to Lille.",
    "No, only 3 people on Friday.",
    "What if we went on Saturday?",
    "I'm in Paris until Thursday.",
    "Forget my door code.",
):
    print(text, "->", *chat.observe(text).verdicts)
print(chat.context("What do I eat on Friday, and where?", budget=1000))

# Friday: Paris is over. The reference was never a fact, and is found in what was said.
clock.advance(days=2)
print(mia("friday").context("What is the reference of our table?", budget=1000))
