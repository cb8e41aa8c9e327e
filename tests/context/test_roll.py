"""Facts in columns: what is known of many is the same as what is known of each."""

from __future__ import annotations

from datetime import timedelta
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incumbent
from incumbent.composing.material import MaterialBuilder
from incumbent.composing.sheets import SHEETS
from incumbent.context import roll as kept
from incumbent.context.roll import Sheets
from incumbent.context.sheets import Sheet
from incumbent.model.fact import Fact, Status
from incumbent.model.text_cache import forget_texts
from incumbent.search.analysis import name_terms
from incumbent.search.retrieval import Hits
from incumbent.search.space import SearchSpace
from incumbent.testing.clock import START
from tests.conftest import QUICK, examples


def a_fact(number: int, value: object = "blue", **given: object) -> Fact:
    told = {
        "id": f"fact-{number:05}",
        "organization": "acme",
        "key": f"colour of thing {number}",
        "value": value,
        "timestamp": START,
        "recorded_at": START,
        "valid_from": START,
        "started_at": START,
        "authority": "employee",
        "standing": "employee",
        **given,
    }
    return Fact(**told)  # type: ignore[arg-type]


FACTS = st.builds(
    a_fact,
    st.integers(0, 30),
    st.sampled_from(["blue", "the blue one", 7, None, ["a", "list"], "long " * 2_000]),
    owner=st.sampled_from(["", "ana"]),
    subject=st.sampled_from([None, "Ana Silva", "room 7"]),
    is_constraint=st.booleans(),
    time_sensitive=st.booleans(),
    started_at=st.sampled_from([START, START + timedelta(days=1)]),
)


@settings(max_examples=examples(100, soak=500), deadline=None)
@given(st.lists(st.lists(FACTS, max_size=8, unique_by=lambda fact: fact.id), max_size=4))
def test_a_roll_tells_of_each_fact_what_its_own_sheet_tells(rolls: list[list[Fact]]) -> None:
    """Whatever was looked at before: other facts, or others that had the same id."""
    sheets = Sheets(name_terms)
    for facts in [*rolls, *rolls]:
        roll = sheets.roll(facts)
        each = [Sheet(fact, name_terms) for fact in facts]
        assert [sheet.fact for sheet in roll.sheets] == facts
        assert roll.lengths.tolist() == [sheet.length for sheet in each]
        assert roll.is_constraint.tolist() == [fact.is_constraint for fact in facts]
        assert roll.is_reading.tolist() == [fact.time_sensitive for fact in facts]
        assert roll.signs == [sheet.wording.signs for sheet in each]
        for told, named in (
            (roll.names, [tuple(sheet.named) for sheet in each]),
            (roll.subjects, [tuple(sheet.about) for sheet in each]),
            (roll.standings, [fact.standing for fact in facts]),
        ):
            assert [told.spelled[number] for number in told.numbers] == named


def test_the_samples_of_a_roll_have_each_kind_of_fact_and_the_last_to_take_office() -> None:
    plain = [a_fact(number) for number in range(20)]
    waiting, late = a_fact(20, status=Status.WAITING), a_fact(21, started_at=START + timedelta(1))
    theirs = a_fact(22, requires=("finance",))
    found = Sheets(name_terms).roll([*plain, waiting, late, theirs]).samples()
    assert {waiting.id, late.id, theirs.id} <= {fact.id for fact in found}
    assert len(found) <= 4


def test_more_facts_than_are_kept_are_told_all_the_same() -> None:
    sheets = Sheets(name_terms)
    many = [a_fact(number) for number in range(kept._MOST + 10)]
    assert [sheet.fact for sheet in sheets.roll(many).sheets] == many
    for start in range(0, len(many), 1_000):
        some = many[start : start + 1_000]
        assert [sheet.fact for sheet in sheets.roll(some).sheets] == some


def test_an_erasure_drops_what_is_known() -> None:
    sheets = Sheets(name_terms)
    fact = a_fact(1)
    before = sheets.roll([fact]).sheets[0]
    assert sheets.roll([fact]).sheets[0] is before
    forget_texts()
    assert sheets.roll([fact]).sheets[0] is not before


def test_threads_that_look_at_the_same_facts_are_told_the_same() -> None:
    sheets = Sheets(name_terms)
    wrong: list[int] = []

    def look(first: int) -> None:
        for start in range(first, first + 300, 3):
            some = [a_fact(number) for number in range(start, start + 40)]
            if [sheet.fact for sheet in sheets.roll(some).sheets] != some:
                wrong.append(start)

    threads = [Thread(target=look, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_reader_under_way_during_an_erasure_leaves_nothing_of_what_it_saw(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched = MaterialBuilder._search

    def searched_meanwhile(self: MaterialBuilder, space: SearchSpace) -> Hits:
        forget_texts()
        return searched(self, space)

    with incumbent.open(":memory:", settings=QUICK) as memory:
        session = memory.session(user_id="ann", organization="acme")
        session.write("desk", "the one by the window")
        assert "window" in session.context("Which desk?").text
        assert SHEETS._columns.filled
        monkeypatch.setattr(MaterialBuilder, "_search", searched_meanwhile)
        session.context("Which desk is it?")
    assert not SHEETS._columns.filled
