"""The reader: what a stretch is, where statements begin, and how opinions are weighed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import incumbent
from incumbent.language.learned.cutting import cut
from incumbent.language.learned.model import load
from incumbent.language.learned.voices import as_heard
from incumbent.language.learned.weighing import FEATURES, Read, features

RUN_ON = "we moved to harbor road last week mum still lives in leeds"


class At:
    """Sees a statement begin with certain words."""

    def __init__(self, *words: str) -> None:
        self._words = words

    def begins(self, turn: str, words: Sequence[tuple[int, int]]) -> tuple[float, ...]:
        return tuple(float(turn[start:end] in self._words) for start, end in words)


def test_a_run_on_turn_is_cut_where_a_statement_begins() -> None:
    """The space before it becomes a new line, and nothing moves."""
    found = cut(RUN_ON, At("mum"))
    assert found == RUN_ON.replace(" mum", "\nmum")
    assert len(found) == len(RUN_ON)


@pytest.mark.parametrize(
    ("turn", "word"),
    [
        ("we moved to harbor road last week because mum lives in leeds", "because"),
        ("if the boiler fails again this week mum moves in with us", "mum"),
        ("We moved. Mum stayed. All is well. It rained.", "Mum"),
        ('she said "we moved to harbor road last week mum stays here"', "mum"),
        ("config = harbor road last week mum still lives in leeds", "mum"),
        ("we moved to harbor road last week mum", "mum"),
    ],
)
def test_what_belongs_together_is_not_cut(turn: str, word: str) -> None:
    """Reasons, conditions, short sentences, quotations, code, and a last word by itself."""
    assert cut(turn, At(word)) == turn


def test_the_parts_of_a_run_on_turn_are_facts_of_their_own() -> None:
    """What is sure stays beside what is only supposed in the same breath."""
    turn = "derek had beans up to his chin last year slugs took all but three of mine"
    with incumbent.open(":memory:") as memory:
        facts = memory.session(user_id="ana").observe(turn).facts
    assert [fact.value for fact in facts] == [
        "derek had beans up to his chin last year",
        "slugs took all but three of mine",
    ]


@pytest.mark.parametrize(
    ("stretch", "role", "kind"),
    [
        ("my dog is called Rex", "person", "states"),
        ("run the tests again", "person", "orders"),
        ("grandma says it'll rain", "person", "reports"),
        ("we might go to Rome", "person", "supposes"),
        ("Booked: table for four at 19:30, ref 5521.", "machine", "states"),
        ("Happy to help!", "machine", "chats"),
    ],
)
def test_a_stretch_is_told_for_what_it_is(stretch: str, role: str, kind: str) -> None:
    """By its words, by who speaks, and by what was said before."""
    chances = load().kind(stretch, "", role)
    assert max(chances, key=lambda name: chances[name]) == kind
    assert sum(chances.values()) == pytest.approx(1)


def _chances(reads: Sequence[Read], *, follows: bool = False) -> Sequence[float]:
    return load().weigh("the fee is 50", reads, follows=follows)


def test_of_two_statements_the_likelier_one_is_weighed_up() -> None:
    """What the model says of one bears on the other."""
    one, other = Read("the fee is 40", 0.6, 0.6, 0.6), Read("the fee is due in May", 0.5, 0.5, 0.5)
    alone, beside = _chances([other]), _chances([one, other])
    assert beside[0] > beside[1]
    assert beside[1] < alone[0]


@pytest.mark.parametrize("chance", [0.0001, 0.1, 0.5, 0.9999])
@pytest.mark.parametrize("meanings", [(0.2,), (0.9, None), (None,)])
def test_no_statement_comes_to_more_than_was_told_before_the_others_were_read(
    meanings: tuple[float | None, ...], chance: float
) -> None:
    """Whatever the model says of those, and if nothing is to be read of them at all."""
    turn = "the fee is 50"
    read = [Read("the fee is 40", 0.4, 0.3, 0.5, 1), Read("the tram is late", 0.1, 0.1, None, 2)]
    others = [Read("the fee is due in May", chance, chance, meaning) for meaning in meanings]
    most = load().at_most(turn, read, meanings, follows=True)
    for beside in (others, others[:1], []):
        chances = load().weigh(turn, [*read, *beside], follows=True)
        assert all(one <= bound for one, bound in zip(chances, most, strict=False))


def test_what_is_alike_in_meaning_is_the_likelier_one() -> None:
    """Of two of which the model says the same; and one that nobody looked up is as others are."""
    near, far = Read("the fee is 40", 0.3, 0.3, 0.8), Read("the price is 40", 0.3, 0.3, 0.1)
    chances = _chances([near, far])
    assert chances[0] > chances[1]
    unknown = Read("the price is 40", 0.3, 0.3)
    assert chances[1] < _chances([near, unknown])[1] < chances[0]


def test_each_statement_is_weighed_by_as_many_numbers_as_there_are_weights() -> None:
    reads = [Read("the fee is 40", 0.6, 0.6, 0.2, 1), Read("the fee is due in May", 0.5, 0.5)]
    assert all(len(row) == FEATURES for row in features("the fee is 50", reads, follows=True))


def test_others_are_heard_by_their_names() -> None:
    """The person themselves has none; an office is no part of a name."""
    assert as_heard("I'm out", "user") == ("I'm out", 0)
    assert as_heard("I'm out", "Tom (CFO)") == ("Tom: I'm out", 5)


def test_the_lines_are_moved_by_settings() -> None:
    """What would be put in doubt goes, or stays as it is."""
    said = ("The logo is blue.", "Make the logo green.")
    counts = []
    for settings in (
        incumbent.Settings(retire_from=1.0, doubt_from=1.0),
        incumbent.Settings(retire_from=1.0, doubt_from=0.2),
        incumbent.Settings(),
    ):
        with incumbent.open(":memory:", settings=settings) as memory:
            session = memory.session(user_id="ana")
            for turn in said:
                session.observe(turn)
            doubted = [one for one in session.reviews() if one.kind == "doubted"]
            counts.append((len(session.facts()), len(doubted)))
    assert counts == [(2, 0), (2, 1), (1, 0)]


@pytest.mark.parametrize(("retire", "doubt"), [(0.0, 0.2), (0.75, 1.5)])
def test_lines_that_are_no_probabilities_are_refused(retire: float, doubt: float) -> None:
    """With the names of both."""
    with pytest.raises(incumbent.InvalidInput, match="retire_from and doubt_from"):
        incumbent.Settings(retire_from=retire, doubt_from=doubt)
