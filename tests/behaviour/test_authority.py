"""Who may supersede whom, and who may write what."""

from __future__ import annotations

import pytest

import incumbent
from incumbent import Ladder, Memory, Outcome, Rule, Session, Settings, Status
from tests.behaviour.people import FOR_ALL, fact, someone
from tests.conftest import OpenMemory

RUNGS = ("guest", "employee", "manager", "executive", "policy")


@pytest.mark.parametrize("second", RUNGS)
@pytest.mark.parametrize("first", RUNGS)
def test_higher_or_equal_supersedes_and_lower_does_not(
    memory: Memory, first: str, second: str
) -> None:
    """On one shared address, a candidate takes office exactly when it does not rank below."""
    one = someone(memory, "one", first, permissions=FOR_ALL)
    one.write("x", "1", subject="s", memory_type="organizational")
    two = someone(memory, "two", second, permissions=FOR_ALL)
    verdict = two.write("x", "2", subject="s", memory_type="organizational")
    wins = RUNGS.index(second) >= RUNGS.index(first)
    assert verdict.took_office is wins
    assert verdict.outcome is (Outcome.SUPERSEDED if wins else Outcome.OVERRULED)
    assert two.current("x", "s") == ("2" if wins else "1")


def test_an_overruled_statement_is_kept_and_stays_out(memory: Memory) -> None:
    """It is on record, names what overruled it, and is in no plain read."""
    ruling = someone(memory, "board", "policy").write("travel_policy", "economy")
    eve = someone(memory, "eve")
    said = eve.write("travel_policy", "business class")
    assert (said.outcome, said.rule) == (Outcome.OVERRULED, Rule.AUTHORITY)
    assert said.evidence["overruled_by"] == ruling.fact_id
    assert fact(eve, said).status is Status.OVERRULED
    assert [found.value for found in eve.facts()] == ["economy"]
    assert eve.history("travel_policy").overruled[0].id == said.fact_id
    assert "business" not in eve.context("?").text


def test_naming_a_higher_target_is_no_way_around(memory: Memory) -> None:
    """An explicit target that outranks the candidate overrules it."""
    ruling = someone(memory, "board", "policy").write("travel_policy", "economy")
    eve = someone(memory, "eve")
    said = eve.write("my_rule", "business", supersedes=ruling.fact_id)
    assert said.outcome is Outcome.OVERRULED
    assert fact(eve, ruling).is_valid


def test_a_narrower_scope_is_no_way_around(memory: Memory) -> None:
    """A task fact of lower authority does not hide a wider one that binds."""
    someone(memory, "board", "policy").write("travel_policy", "economy")
    eve = someone(memory, "eve", task_id="trip")
    assert eve.write("travel_policy", "first", scope="task").outcome is Outcome.OVERRULED
    assert eve.current("travel_policy") == "economy"


def test_a_later_ruling_prevails_over_a_narrower_fact(memory: Memory) -> None:
    """What was written in a task before the ruling steps aside for it."""
    eve = someone(memory, "eve", task_id="trip")
    eve.write("travel_policy", "first", scope="task")
    someone(memory, "board", "policy").write("travel_policy", "economy")
    assert eve.current("travel_policy") == "economy"
    assert [found.value for found in eve.facts("travel_policy")] == ["economy"]


def test_writing_above_ones_own_rung_needs_the_permission(memory: Memory) -> None:
    """Without the permission it is refused and nothing is written; with it, it is bound so."""
    eve = someone(memory, "eve")
    with pytest.raises(incumbent.NotPermitted, match="executive"):
        eve.write("x", 1, authority="executive")
    assert eve.facts() == []
    clerk = someone(memory, "clerk", permissions=["authority:executive"])
    written = clerk.write("x", 1, authority="CFO")
    assert written.fact is not None
    assert written.fact.authority == "executive"
    assert written.fact.source.authority == "cfo"


def test_a_permission_for_a_rung_covers_those_below_and_not_those_above(memory: Memory) -> None:
    """Speaking for executives includes managers, and no policy."""
    clerk = someone(memory, "clerk", "guest", permissions=["authority:executive"])
    assert clerk.write("x", 1, authority="manager").took_office
    with pytest.raises(incumbent.NotPermitted):
        clerk.write("x", 2, authority="policy")


def test_one_may_speak_with_less_authority_than_one_has(memory: Memory) -> None:
    """A rumour passed on by a manager stays a rumour."""
    mia = someone(memory, "mia", "manager")
    mia.write("forecast", "good")
    assert mia.write("forecast", "bad", authority="guest").outcome is Outcome.OVERRULED


def test_a_derived_fact_carries_the_lowest_authority(memory: Memory) -> None:
    """Summarising cannot launder a guess into policy."""
    board = someone(memory, "board", "policy")
    board.write("guess", "maybe", authority="guest", memory_type="organizational")
    board.write("rule", "must", memory_type="organizational")
    summary = board.write("summary", "so", depends_on=["guess", "rule"])
    assert summary.fact is not None
    assert summary.fact.authority == "guest"
    onward = board.write("onward", "so", depends_on=["summary"])
    assert onward.fact is not None
    assert onward.fact.authority == "guest"


def test_a_derived_fact_does_not_move_what_its_bases_could_not(memory: Memory) -> None:
    """A lower authority never invalidates a higher one through anything derived."""
    board = someone(memory, "board", "policy")
    rumour = board.write("rumour", "x", authority="guest", memory_type="organizational")
    ruling = board.write("cap", "15%", subject="sales")
    said = board.write("cap", "40%", subject="sales", depends_on=[rumour.fact_id])
    assert said.outcome is Outcome.OVERRULED
    assert fact(board, ruling).is_valid


def test_a_reserved_key_takes_no_write_from_below(memory: Memory) -> None:
    """A declaration says from which rung on a key, or a pattern of keys, may be written."""
    memory.declare("limit.*", write_authority="manager")
    eve, mia = someone(memory, "eve"), someone(memory, "mia", "manager")
    with pytest.raises(incumbent.NotPermitted, match=r"limit\.spend"):
        eve.write("limit.spend", 100)
    assert mia.write("limit.spend", 100).took_office
    assert eve.write("limits", 100).took_office


def test_a_reserved_key_is_closed_inside_a_branch_too(memory: Memory) -> None:
    """A branch does not lend authority."""
    memory.declare("limit", write_authority="manager")
    branch = someone(memory, "eve").hypothetical()
    with pytest.raises(incumbent.NotPermitted):
        branch.write("limit", 100)


def test_retracting_takes_the_standing_of_the_fact(memory: Memory) -> None:
    """What a ruling stands for cannot be taken back from below."""
    board, eve = someone(memory, "board", "policy"), someone(memory, "eve")
    board.write("travel_policy", "economy")
    with pytest.raises(incumbent.NotPermitted):
        eve.retract("travel_policy")
    assert eve.current("travel_policy") == "economy"


def test_undoing_takes_the_authority_of_the_verdict(memory: Memory) -> None:
    """A decision is not undone by someone below whoever made it."""
    board, eve = someone(memory, "board", "policy"), someone(memory, "eve")
    ruling = board.write("travel_policy", "economy")
    with pytest.raises(incumbent.NotPermitted):
        eve.undo(ruling)
    assert eve.current("travel_policy") == "economy"


def test_titles_are_mapped_and_unknown_ones_are_the_lowest(memory: Memory) -> None:
    """A known title stands on its rung; one nobody knows is a guest, with a warning."""
    assert someone(memory, "v", "Vice President").identity.authority.rung == "executive"
    with pytest.warns(incumbent.UnknownTitleWarning, match="wizard"):
        wizard = someone(memory, "w", "wizard")
    assert (wizard.identity.authority.rung, wizard.identity.authority.title) == ("guest", "wizard")


def test_the_ladder_is_a_setting(open_memory: OpenMemory) -> None:
    """A ward has its own order, and facts are judged by it."""
    ladder = Ladder(rungs=("visitor", "nurse", "doctor"), titles={"chief": "doctor"})
    ward = open_memory(settings=Settings(ladder=ladder, durability="process"))
    someone(ward, "grey", "chief").write("dose", 5, subject="p1", memory_type="organizational")
    nurse = someone(ward, "joy", "nurse")
    said = nurse.write("dose", 9, subject="p1", memory_type="organizational")
    assert said.outcome is Outcome.OVERRULED


def test_an_equal_settles_a_shared_matter_for_all_on_purpose(memory: Memory) -> None:
    """Who names the shared fact, or the organization's memory, speaks for all; else for oneself."""
    first = someone(memory, "mia", "manager").write(
        "head_count", 40, subject="berlin", memory_type="organizational"
    )
    eve, boss = someone(memory, "eve"), someone(memory, "max", "manager")
    said = boss.write("head_count", 41, subject="berlin")
    assert said.outcome is Outcome.SHADOWED
    assert (boss.current("head_count", "berlin"), eve.current("head_count", "berlin")) == (41, 40)
    said = boss.write("head_count", 42, subject="berlin", supersedes=first.fact_id)
    assert said.fact is not None
    assert said.fact.memory_type == "organizational"
    assert eve.current("head_count", "berlin") == 42


def test_a_shared_fact_about_nobody_in_particular_does_not_bind(memory: Memory) -> None:
    """The organization's own address overrules nobody's."""
    board = someone(memory, "board", "policy")
    board.write("address", "1 Plaza", memory_type="organizational")
    eve: Session = someone(memory, "eve")
    assert eve.write("address", "9 Elm Rd").outcome is Outcome.ESTABLISHED
    assert eve.current("address") == "9 Elm Rd"
