"""As-of: the right answers follow from what was done, and ours gives them."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

import pytest

from incumbent_eval import asof
from incumbent_eval.answering import AnswersReport
from incumbent_eval.asof import DatedDeed, DatedQuestion, History
from incumbent_eval.ours import BEGINNING
from incumbent_eval.systems import Ability
from tests.evaluation import broken
from tests.evaluation.broken import Sound

EMPTY = "late to an empty place"
DAY = timedelta(days=1)
KEY = "warehouse city"


def day(number: float) -> datetime:
    return BEGINNING + number * DAY


def asked(
    history: History, as_of: datetime | None = None, known_at: datetime | None = None
) -> str | None:
    return history.answer(DatedQuestion("", KEY, as_of, known_at))


def told(*deeds: DatedDeed) -> History:
    return History(deeds, (), day(30))


def wrote(
    done: float, value: str, begins: float | None = None, ends: float | None = None
) -> DatedDeed:
    starts = day(done if begins is None else begins)
    return DatedDeed("write", KEY, day(done), starts, value, None if ends is None else day(ends))


def run(
    system: type[Sound], *, without: tuple[str, ...] = (EMPTY,), seed: int = 5
) -> AnswersReport:
    return asof.run(system, questions=400, seed=seed, without=without)


class TestAnswers:
    """The answers by hand: what began last of all that was known."""

    def test_the_latest_value_replaces_the_one_before(self) -> None:
        """Each holds from its day to that of the next."""
        history = told(wrote(1, "Lodz"), wrote(5, "Metz"))
        assert [asked(history, day(n)) for n in (0.5, 3, 7)] == [None, "Lodz", "Metz"]
        assert asked(history) == "Metz"

    def test_what_comes_late_holds_from_when_it_was_said(self) -> None:
        """And it was not known before it came in."""
        history = told(wrote(1, "Lodz"), wrote(5, "Metz"), wrote(8, "Nice", begins=3))
        assert asked(history, day(4)) == "Nice"
        assert asked(history, day(4), known_at=day(7)) == "Lodz"
        assert asked(history, day(6)) == "Metz"

    def test_a_term_ends_and_nothing_comes_back(self) -> None:
        """What it replaced stays replaced."""
        history = told(wrote(1, "Lodz"), wrote(3, "Metz", ends=5))
        assert [asked(history, day(n)) for n in (2, 4, 6)] == ["Lodz", "Metz", None]

    def test_a_retraction_ends_a_value_and_an_undo_takes_it_out(self) -> None:
        """The one leaves what was so before, the other what was known before."""
        values = (wrote(1, "Lodz"), wrote(3, "Metz"))
        retracted = told(*values, DatedDeed("retract", KEY, day(6), day(6), aim=1))
        assert [asked(retracted, day(n)) for n in (2, 4, 7)] == ["Lodz", "Metz", None]
        undone = told(*values, DatedDeed("undo", KEY, day(6), day(6), aim=1))
        assert [asked(undone, day(n)) for n in (2, 4, 7)] == ["Lodz", "Lodz", "Lodz"]
        assert asked(undone, day(4), known_at=day(5)) == "Metz"

    def test_histories_have_deeds_of_every_kind(self) -> None:
        """Nothing that could be drawn is left out for long."""
        drawn = {
            deed.kind
            for number in range(30)
            for deed in asof.made(Random(number), tuple(asof._NEEDS), 1).deeds
        }
        assert drawn == set(asof._NEEDS)


def test_ours_is_right_about_the_past() -> None:
    """Every answer, to every sort of question."""
    report = run(Sound)
    assert [mistake.told for mistake in report.mistakes] == []
    assert (report.all.of, len(report.right), report.cannot) == (400, 4, ())


def test_ours_is_right_about_what_comes_late_to_an_empty_place() -> None:
    """What was replaced before its time does not hold because its successor is gone."""
    assert run(Sound, without=()).all.value == 1.0


@pytest.mark.parametrize(
    ("system", "kind"),
    [
        (broken.KnowsOnlyNow, "what was so"),
        (broken.KnowsNoRecordTime, "what was known then"),
        (broken.IgnoresTerms, "now"),
        (broken.UndoesNothing, "what was so"),
        (broken.TakesNothingBack, "now"),
        (broken.ShowsEverything, "now"),
        (broken.Silent, "now"),
    ],
)
def test_what_a_system_does_not_know_of_time_is_found(system: type[Sound], kind: str) -> None:
    """Its answers to that sort of question are worse."""
    share = run(system).right[kind].value
    assert share is not None
    assert share < 0.97


def test_going_by_arrival_is_found() -> None:
    """What came late is taken for what is so."""
    assert run(broken.GoesByArrival).mistakes != ()


class NoPast(Sound):
    """Knows of no time but the present."""

    can = frozenset(Ability) - {Ability.AS_OF, Ability.LATE}


class NoTerms(Sound):
    """Knows of no term and takes nothing back."""

    can = frozenset(Ability) - {Ability.VALIDITY, Ability.RETRACT, Ability.UNDO}


def test_what_a_system_cannot_do_is_named() -> None:
    """Without a past nothing is asked; without terms there are none in the histories."""
    assert (run(NoPast).all.of, run(NoPast).cannot) == (0, ("as of", "late arrival"))
    report = run(NoTerms)
    assert (report.all.value, report.cannot) == (1.0, ("retract", "undo", "validity"))


def test_a_mistake_tells_what_was_done_and_what_was_said() -> None:
    """The record can be read without running it again, and a seed decides all of it."""
    first, again = (run(broken.KnowsOnlyNow).record() for _ in range(2))
    assert first == again
    assert first["right"]["of"] == 400
    assert " as of " in first["mistakes"][0]
    assert "# Identity" in first["mistakes"][0]
