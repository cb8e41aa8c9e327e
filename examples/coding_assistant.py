"""A coding assistant: what a developer says, what tools find out, and what holds for the team.

docs/recipes.md tells what it shows.
"""

from datetime import UTC, datetime

import incumbent
from incumbent.testing import SteppingClock

clock = SteppingClock(datetime(2026, 3, 2, 9, tzinfo=UTC))
memory = incumbent.open(":memory:", clock=clock)  # yours: a file or a database, and no clock


def person(name: str, authority: str, chat: str, task: str | None = None) -> incumbent.Session:
    """Somebody of the team, in a chat, on a task or on none."""
    return memory.session(
        user_id=name,
        authority=authority,
        organization="shop-api",
        session_id=f"{name}, {chat}",
        task_id=task,
        permissions=["capability:tests"],
    )


# The lead says what binds. A tool writes what the files say.
lead = person("lena", "lead", "monday")
lead.write("dependency_policy", "No new dependency without a review", source="policy")
python = lead.write("python", "3.11", source="pyproject.toml", memory_type="organizational")

# Monday: the developer talks. The assistant writes what it concludes, and from what.
ann = person("ann", "engineer", "monday")
ann.observe("Always answer with a diff. We deploy with Fabric. The tests are in tests/unit.")
ann.observe("Please don't touch the migrations folder.")
ann.observe("I ran the tests: 212 passed.", speaker="assistant")
ann.write("base_image", "python:3.11-slim", depends_on=[python.fact_id])
ann.write("flaky_test", "test_cart fails when it runs alone", source="observation")

# Tuesday: another chat. The world has changed, and one task has a rule of its own.
clock.advance(days=1)
lead.write("python", "3.13", source="pyproject.toml", memory_type="organizational")
ann = person("ann", "engineer", "tuesday")
print(ann.observe("We moved from Fabric to Kubernetes last week."))
pull = person("ann", "engineer", "tuesday", task="PR 12")
print(pull.write("test_command", "pytest -k cart", scope="task"))

# What the model reads on the task, and what somebody else's model reads.
asked = "Test the change, and deploy it."
print(pull.context(asked, budget=1000))

print(person("bob", "engineer", "tuesday").context(asked, budget=1000))

# Where it has that from.
for fact in ann.history("python"):
    print(fact.timestamp.date(), fact.value, fact.source.name)
