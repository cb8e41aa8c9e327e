"""What is kept as it was said: it has no key, is listed and found, and can be corrected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import incumbent
from incumbent import InvalidInput, Memory, Session
from incumbent.inspector.remedies import CORRECTIONS, Remedy
from incumbent.testing import SteppingClock

CUP, HOTEL = "My cup is red.", "I want a hotel in the north."


@pytest.fixture
def ann(memory: Memory) -> Session:
    session = memory.session(user_id="ann")
    session.observe(CUP)
    session.observe(HOTEL)
    session.write("city", "Bern")
    return session


def values(facts: Any) -> list[Any]:
    return [fact.value for fact in facts]


@pytest.mark.on_every_store
class TestLooking:
    def test_it_has_no_key_and_is_what_an_empty_one_asks_for(self, ann: Session) -> None:
        """As what one goes by, and in a list by pages."""
        assert values(ann.facts("")) == [HOTEL, CUP]
        assert values(ann.list_facts(key="")) == [HOTEL, CUP]
        assert all(fact.is_unnamed and fact.key == "" for fact in ann.facts(""))
        assert [fact.is_unnamed for fact in ann.facts("city")] == [False]
        assert str(ann.facts("")[0]) == f"{HOTEL} [office]"

    def test_keys_count_it_under_none(
        self, ann: Session, memory: Memory, clock: SteppingClock
    ) -> None:
        """Now, at a past moment and for everybody; subjects do not."""
        expected = [("", 2), ("city", 1)]
        for listed in (
            ann.list_keys(),
            ann.as_of(clock()).list_keys(),
            memory.list_keys("default"),
        ):
            assert [(line.key, line.facts) for line in listed] == expected
        page = ann.list_keys(limit=1)
        assert [line.key for line in ann.list_keys(limit=1, cursor=page.next)] == ["city"]
        assert ann.list_subjects().items == ()

    def test_an_erased_fact_is_none_of_them(self, ann: Session, memory: Memory) -> None:
        """It has no key either, and is gone."""
        memory.forget(organization="default", fact_id=ann.facts("")[0].id)
        assert values(ann.facts("")) == [CUP]
        assert values(ann.list_facts(key="", states=())) == [CUP]
        assert [(line.key, line.facts) for line in ann.list_keys()] == [("", 1), ("city", 1)]

    def test_no_word_finds_it_that_is_not_in_it(self, ann: Session) -> None:
        """The word that once stood for its name is one like any other, as a key too."""
        ann.write("statement", "of account, in May")
        named, cup = ann.facts("statement")[0], ann.facts("")[1]
        assert ann.current("statement") == "of account, in May"
        parts = {line.fact_id: line.parts for line in ann.context("Which statement?").lines}
        assert parts[named.id]["text"] > 0
        assert not parts.get(cup.id, {}).get("text")


@pytest.mark.parametrize(
    "asked",
    [
        lambda s: s.current(""),
        lambda s: s.is_current(""),
        lambda s: s.history(""),
        lambda s: s.explain(""),
        lambda s: s.get(""),
        lambda s: s.retract(""),
        lambda s: s.revert(""),
    ],
    ids=["current", "is_current", "history", "explain", "get", "retract", "revert"],
)
def test_where_one_name_is_asked_for_the_empty_one_is_refused(
    ann: Session, asked: Callable[[Session], Any]
) -> None:
    """The message says how to find the ids."""
    with pytest.raises(InvalidInput, match=r'facts\(""\) lists what is kept under no name'):
        asked(ann)


class TestWriting:
    @pytest.mark.parametrize(
        "write",
        [
            lambda m, s: s.write("", "x"),
            lambda m, s: s.write_many([{"key": "", "value": "x"}]),
            lambda m, s: s.note("", "x"),
            lambda m, s: m.declare("", multi_valued=True),
        ],
        ids=["write", "write_many", "note", "declare"],
    )
    def test_nothing_is_written_under_no_name(
        self, memory: Memory, ann: Session, write: Callable[[Memory, Session], Any]
    ) -> None:
        """Only a reading of what was said leaves a name out."""
        with pytest.raises(InvalidInput, match="key is empty"):
            write(memory, ann)

    def test_a_correction_of_it_has_none_either(self, ann: Session) -> None:
        """Each takes the place of its own, and stands beside the others."""
        hotel, cup = ann.facts("")
        ann.write("", "My cup is blue.", supersedes=cup.id)
        ann.write("", "I want a hotel in the south.", supersedes=hotel.id)
        assert values(ann.facts("")) == ["I want a hotel in the south.", "My cup is blue."]
        assert all(fact.is_unnamed for fact in ann.facts(""))
        text = ann.context("Which cup?").text
        assert "- 2026-01-05: My cup is blue." in text.splitlines()
        assert ann.get(cup.id).status == "superseded"  # type: ignore[union-attr]

    def test_what_has_a_name_is_not_corrected_under_none(self, ann: Session) -> None:
        """The message names it."""
        with pytest.raises(InvalidInput, match="what it supersedes has one; name 'city'"):
            ann.write("", "Basel", supersedes="city")
        assert ann.current("city") == "Bern"

    def test_the_inspector_corrects_it(self, ann: Session) -> None:
        """As it does any other."""
        remedy = Remedy("correct", ann.facts("")[1].id, value="My cup is blue.")
        verdict = CORRECTIONS["correct"].carried_out(ann, remedy)
        assert verdict.outcome is incumbent.Outcome.SUPERSEDED
        assert values(ann.facts("")) == ["My cup is blue.", HOTEL]

    def test_errors_do_not_repeat_it(self, ann: Session) -> None:
        """They say what it is, and its id."""
        cup = ann.facts("")[1]
        ann.retract(cup.id)
        with pytest.raises(InvalidInput, match=rf"what was said \({cup.id}\) is retracted already"):
            ann.retract(cup.id)
