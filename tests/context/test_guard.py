"""The guard on the roads that a dead value could take into a context."""

from __future__ import annotations

import pytest

from incumbent.stores.sql import rows
from incumbent.testing import SteppingClock
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


def test_a_value_within_a_statement_is_dead_once_the_statement_is(open_memory: OpenMemory) -> None:
    """Who repeats one value of a statement that was overtaken need not use its longest word."""
    memory = open_memory(settings=QUICK)
    session = memory.session(user_id="ann")
    session.observe("The kickoff venue is the town hall in Leeds.")
    session.observe("Correction: the kickoff venue is the library in York.")
    other = memory.session(user_id="ann", session_id="other")
    other.note("jotted", "Booked a hotel in Leeds for the team.")
    text = other.context("What is there to do?", budget=2_000).text
    assert "Leeds" not in text
    assert "- jotted: Booked a hotel in [no longer current] for the team." in text


def test_what_a_fact_holds_that_rests_on_others_is_dead_once_those_change(
    open_memory: OpenMemory,
) -> None:
    """A value that one fact lost stands while a derived fact holds it, and no longer."""
    session = open_memory(settings=QUICK).session(user_id="ann")
    session.write_many(
        {"key": f"plan_note_{number}", "value": f"entry {number} of the season plan"}
        for number in range(_MANY)
    )
    session.write("caterer", "Lindqvist")
    session.write("caterer", "Moreau")
    session.write("region", "north")
    session.write("supplier", "Lindqvist", depends_on=["region"])
    session.note("jotted", "Ask Lindqvist for the menu of the season plan.")
    query = "What is entry 7 of the season plan?"
    assert "Ask Lindqvist for the menu" in session.context(query, budget=600).text
    session.write("region", "south")
    assert "Lindqvist" not in session.context(query, budget=600).text


def test_a_value_stands_that_one_of_very_many_alike_still_holds(open_memory: OpenMemory) -> None:
    """However often its longest word was said since, and however deep in a list it is held."""
    session = open_memory(settings=QUICK).session(user_id="ann")
    session.write("depot", "Oak Riverside")
    session.write("stops", [*(f"stop {number}" for number in range(600)), "Elm Harbour"])
    for gone in ("Oak Riverside", "Elm Harbour", "Lisbon"):
        session.write("office", gone)
    session.write_many(
        {"key": f"plan_note_{number}", "value": f"entry {number} of the season plan"}
        for number in range(_MANY)
    )
    session.write_many(
        {"key": "state", "value": f"Riverside {number:b} Harbour"} for number in range(2_100)
    )
    session.write("office", "Porto")
    session.note("jotted", "From Oak Riverside to Elm Harbour, not by Lisbon.")
    text = session.context("What is entry 7 of the season plan?", budget=600).text
    assert "- jotted: From Oak Riverside to Elm Harbour, not by [no longer current]." in text


@pytest.mark.parametrize("past", [False, True], ids=["now", "as of"])
@pytest.mark.parametrize("shadowing", ["task", "policy"])
def test_what_steps_aside_here_is_not_repeated_though_the_query_is_on_other_matters(
    open_memory: OpenMemory, clock: SteppingClock, shadowing: str, past: bool
) -> None:
    """However large the memory: a value goes by which another stands in its place here."""
    memory = open_memory(settings=QUICK)
    boss = memory.session(user_id="boss", organization="acme", authority="policy")
    ann = memory.session(user_id="ann", organization="acme", task_id="flyers")
    boss.write_many(
        {"key": f"plan_note_{number}", "value": f"entry {number} of the season plan"}
        for number in range(_MANY)
    )
    if shadowing == "task":
        ann.write("print_shop", "Delacroix")
        ann.write("print_shop", "Ferreira", scope="task")
    else:
        ann.write("print_shop", "Delacroix", subject="flyers", scope="task")
        boss.write("print_shop", "Ferreira", subject="flyers", memory_type="organizational")
    ann.note("jotted", "Send the drafts to Delacroix, with a copy to Ferreira.")
    ann.write("plan_note_7_more", "entry 7 of the season plan: Delacroix prints, or Ferreira")
    query = "What is entry 7 of the season plan?"
    at = clock()
    shown = ann.as_of(at).context(query, budget=600) if past else ann.context(query, budget=600)
    assert "Delacroix" not in shown.text
    assert "entry 7 of the season plan: [no longer current] prints, or Ferreira" in shown.text
    assert past or "- jotted: Send the drafts to [no longer current], with a copy" in shown.text
    other = memory.session(user_id="ann", organization="acme", session_id="other")
    if shadowing == "task":
        assert "Delacroix prints" in other.context(query, budget=600).text


def test_nothing_of_what_was_erased_is_kept_in_memory(open_memory: OpenMemory) -> None:
    """What a process keeps of texts, to be quicker the next time, goes with the fact."""
    memory = open_memory(settings=QUICK)
    session = memory.session(user_id="ann", organization="acme")
    session.write_many({"key": f"note_{n}", "value": f"entry {n} of it"} for n in range(_MANY))
    secret = session.write("town", "Xanadu Secretville").fact
    session.write("town", "Bern")
    session.note("jotted", "To Xanadu Secretville, or not.")
    session.context("Where is the town, and entry 7?", budget=600)
    assert secret is not None
    memory.forget(organization="acme", fact_id=secret.id)
    session.context("Where is the town, and entry 7?", budget=600)
    kept = [vars(memory.index), *map(vars, memory.index._stacks.values()), vars(rows)]
    assert "secretville" not in repr([sorted(map(repr, one.values())) for one in kept]).lower()
