"""The guard on the roads that a dead value could take into a context."""

from __future__ import annotations

from tests.conftest import QUICK, OpenMemory

_MANY = 450
"""More facts than are all ranked: those that the query is not about are not looked at."""


def test_what_took_the_place_of_a_base_is_guarded_where_it_was_not_found(
    open_memory: OpenMemory,
) -> None:
    """A dead value does not come in by the new value of a base, told beside what rests on it."""
    session = open_memory(settings=QUICK).session(user_id="ann")
    session.write_many(
        {"key": f"plan_note_{number}", "value": f"entry {number} of the season plan"}
        for number in range(_MANY)
    )
    session.write("venue", "Grand Hall Porto")
    session.write("venue", "Town Hotel")
    session.write("levy", "5000")
    session.write("season_plan", "total of the season plan", depends_on=["levy"])
    session.write("levy", "6000 as the Grand Hall Porto wanted")
    context = session.context("What is the total of the season plan?", budget=600)
    assert "- season_plan: not known, recalculate, because levy changed" in context.text
    assert "levy" not in [line.text.partition(":")[0] for line in context.lines]
    assert "Grand Hall" not in context.text
