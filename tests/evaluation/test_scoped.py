"""Scope, structured: a session goes by its own value, else by the real one."""

from __future__ import annotations

import pytest

from incumbent_eval import scoped
from incumbent_eval.answering import AnswersReport
from incumbent_eval.scoped import ScopedDeed, ScopedEpisode
from incumbent_eval.systems import Ability
from tests.evaluation import broken
from tests.evaluation.broken import Sound

KEY = "car colour"


def run(system: type[Sound], seed: int = 5) -> AnswersReport:
    return scoped.run(system, questions=400, seed=seed)


def test_the_answer_is_the_sessions_own_value_or_the_real_one() -> None:
    """Drafts and suppositions are no answer until they are made real."""
    deeds = [
        ScopedDeed("real", KEY, "one", "red"),
        ScopedDeed("draft", KEY, "one", "blue"),
        ScopedDeed("session", KEY, "two", "grey"),
        ScopedDeed("hypothetical", KEY, "one", "pink"),
        ScopedDeed("made real", KEY, "one", "pink"),
        ScopedDeed("taken back", KEY, "two", aim=2),
    ]

    def answers(count: int) -> list[str | None]:
        episode = ScopedEpisode(tuple(deeds[:count]), ())
        return [episode.answer(KEY, session) for session in ("one", "two")]

    assert [answers(count) for count in range(7)] == [
        [None, None],
        ["red", "red"],
        ["red", "red"],
        ["red", "grey"],
        ["red", "grey"],
        ["pink", "grey"],
        ["pink", "pink"],
    ]


def test_ours_goes_by_the_right_value() -> None:
    """In every session, beside every draft."""
    report = run(Sound)
    assert list(report.mistakes) == []
    assert (report.all.of, len(report.right), report.cannot) == (400, 5, ())


@pytest.mark.parametrize(
    ("system", "kind"),
    [
        (broken.DraftsAreReal, "beside drafts"),
        (broken.MixesSessions, "outside the session of a value"),
        (broken.TakesNothingBack, "in the session of a value"),
        (broken.ShowsEverything, "beside drafts"),
        (broken.Silent, "beside drafts"),
    ],
)
def test_a_value_from_elsewhere_is_found(system: type[Sound], kind: str) -> None:
    """What is wrong with a system shows in the questions that turn on it."""
    share = run(system).right[kind].value
    assert share is not None
    assert share < 0.95


class NoDrafts(Sound):
    """Knows of sessions alone."""

    can = frozenset(Ability) - {Ability.DRAFT}


class NoScopes(Sound):
    """Knows of no scope."""

    can = frozenset(Ability) - {Ability.DRAFT, Ability.SESSION}


def test_what_a_system_cannot_do_is_named() -> None:
    """Without drafts there are none in the episodes; without any scope nothing is asked."""
    assert (run(NoDrafts).all.value, run(NoDrafts).cannot) == (1.0, ("draft",))
    assert (run(NoScopes).all.of, run(NoScopes).cannot) == (0, ("draft", "session"))


def test_a_seed_decides_all_of_it() -> None:
    """The same seed gives the same mistakes, each with what was done and what was said."""
    first, again = (run(broken.DraftsAreReal).record() for _ in range(2))
    assert first == again
    assert "hypothetical" in "".join(first["mistakes"])
    assert run(broken.DraftsAreReal, seed=6).record() != first
