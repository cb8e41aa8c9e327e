"""Conformance: ours keeps every law, and each law can be seen to be broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from incumbent_eval import conformance
from incumbent_eval.conformance import CHECKS, CheckOutcome
from incumbent_eval.ours import IncumbentSystem
from incumbent_eval.systems import Ability, CannotDo, Entry, Who
from tests.evaluation import broken
from tests.evaluation.broken import BROKEN, Silent, Sound

DOCS = Path(__file__).parents[2] / "docs" / "evaluation.md"
LARGE = "the budget holds with thousands of facts"
SMALL_CHECKS = [check for check in CHECKS if check.name != LARGE]

# What each system that is wrong in one way must fail: these checks, and no other.
EXACTLY = {
    broken.IgnoresAuthority: {
        "a lower authority is overruled and kept out",
        "every rung stands above those below",
        "naming the target does not help from below",
        "saying it often does not help from below",
        "taking back does not help from below",
        "undoing does not help from below",
        "what follows from a guess is no ruling",
        "authority is that of the statement",
        "conversation does not change who is speaking",
        "not everybody sets every fact",
        "a policy in conversation prevails over an employee",
        "a policy ends what was said before it",
        "a guest binds nobody",
    },
    broken.IgnoresBudget: {
        "the budget holds whatever it is",
        "the budget holds with one very long value",
        "a budget that is far too small is held",
        "the budget holds for what was said",
        "a text that was cut says so",
    },
    broken.MixesOrganizations: {
        "another organization sees nothing",
        "the same key is another one elsewhere",
        "naming what belongs to another organization does nothing",
        "what belongs to another organization cannot be taken back",
        "what is said stays in its organization",
    },
    broken.MixesPersons: {
        "the context names who is asking",
        "what is private is seen by nobody else",
        "two people have each their own",
        "what is private cannot be taken back by another",
        "what one person says of themselves is theirs",
        "nothing private is drawn out by what is there",
    },
    broken.MixesSessions: {
        "what is of a session stays in it",
        "a narrower value stands in front of a wider one",
    },
    broken.DraftsAreReal: {
        "a draft stays out",
        "a supposition stays out",
        "drafts and suppositions replace nothing real",
        "a draft that names its target replaces nothing real",
        "a supposition puts nothing real into doubt",
        "what is of a session stays in it",
        "a narrower value stands in front of a wider one",
    },
    broken.IgnoresTerms: {
        "a base whose term is over carries nothing",
        "a term ends by itself",
        "a term begins by itself",
        "a planned change comes on its day",
        "nothing comes back when a term ends",
        "what was known then can be asked for",
    },
    broken.GoesByArrival: {
        "an old statement that comes late does not win",
        "statements in any order of arrival come to the same",
        "a late arrival takes its place in the past",
    },
    broken.IgnoresDependencies: {
        "what follows from a guess is no ruling",
        "what follows from a changed value is not shown",
        "it goes to any depth",
        "what does not follow from it stays",
        "one changed base of two is enough",
        "a base that was taken back carries nothing",
        "a base that comes back lifts the doubt",
        "a doubt with another cause remains",
        "a base whose term is over carries nothing",
    },
    broken.TakesNothingBack: {
        "taking back does not help from below",
        "a retraction leaves nothing",
        "no earlier value comes back by a retraction",
        "a base that was taken back carries nothing",
        "what was taken back did hold before",
        "a policy ends what was said before it",
    },
    broken.UndoesNothing: {
        "undoing does not help from below",
        "an undo brings back what was replaced",
        "undoing the first value leaves none",
        "two undos go back two steps",
        "a base that comes back lifts the doubt",
        "undoing the departure undoes the succession",
    },
    broken.KnowsOnlyNow: {
        "the past can be asked for",
        "what was known then can be asked for",
        "a late arrival takes its place in the past",
        "what was taken back did hold before",
    },
    broken.KnowsNoRecordTime: {"what was known then can be asked for"},
    broken.CutsSilently: {"a text that was cut says so"},
    broken.BelievesEverything: {"a weak statement is shown as a dispute"},
    broken.Paraphrases: {"what was stated word for word stays so"},
    broken.TellsNoTime: {
        "the context names who is asking",
        "the context tells the date afresh",
        "conversation does not change the environment",
        "asking changes nothing",
        "a text that was cut says so",
    },
}

# What does not turn on whether a value that was written is still shown.
SHOWING_EVERYTHING_PASSES = {
    "nothing private is drawn out by what is there",
    "the budget holds whatever it is",
    "the budget holds with one very long value",
    "a budget that is far too small is held",
    "the budget holds for what was said",
    "the context names who is asking",
    "the context tells the date afresh",
    "conversation does not change the environment",
    "asking changes nothing",
    "what was stated word for word stays so",
    "a supposition in conversation replaces nothing",
    "an intern does not move the policy of a cfo",
    "a cancellation that a person speaks replaces the approval",
    "three spoken approvals do not outweigh one spoken cancellation",
    "a spoken suggestion does not move a spoken policy",
    "a spoken policy reaches who has suggested otherwise",
    "what was asked for is not pushed out by what came later",
    *(check.name for check in CHECKS if check.group in ("detection", "isolation")),
}


def failed_by(system: type[Sound]) -> frozenset[str]:
    """The names of the checks that a system fails, but for the largest."""
    if system not in _KNOWN:
        report = conformance.run(system, checks=SMALL_CHECKS)
        _KNOWN[system] = frozenset(result.check.name for result in report.failures)
    return _KNOWN[system]


_KNOWN: dict[type[Sound], frozenset[str]] = {}


def test_ours_passes_all() -> None:
    """With the settings that ship, every check passes; none is passed over."""
    report = conformance.run(IncumbentSystem, checks=SMALL_CHECKS)
    assert [(r.check.name, r.why, r.context) for r in report.failures] == []
    assert report.counted() == {CheckOutcome.PASSED: len(SMALL_CHECKS)}


def test_ours_keeps_the_budget_with_thousands_of_facts() -> None:
    """The largest check, which takes a while with the embedder that ships."""
    large = [check for check in CHECKS if check.name == LARGE]
    assert conformance.run(Sound, checks=large).counted() == {CheckOutcome.PASSED: 1}
    [result] = conformance.run(broken.IgnoresBudget, checks=large).results
    assert result.outcome is CheckOutcome.FAILED
    assert "tokens at a budget of 200" in result.why


def test_a_system_that_says_nothing_passes_nothing() -> None:
    """No check is content with the absence of what is wrong."""
    assert failed_by(Silent) == {check.name for check in SMALL_CHECKS}


@pytest.mark.parametrize("system", EXACTLY, ids=lambda system: system.__name__)
def test_a_system_fails_the_checks_of_what_is_wrong_with_it(system: type[Sound]) -> None:
    """All of them, and no other."""
    assert failed_by(system) - failed_by(Sound) == EXACTLY[system]


def test_showing_everything_fails_wherever_something_must_not_be_shown() -> None:
    """Of all that was ever written, the context holds too much."""
    passed = {check.name for check in SMALL_CHECKS} - failed_by(broken.ShowsEverything)
    assert passed | failed_by(Sound) == SHOWING_EVERYTHING_PASSES


def test_every_check_is_failed_by_some_broken_system() -> None:
    """A check that nothing fails would say nothing."""
    seen = frozenset[str]().union(*map(failed_by, BROKEN))
    assert {check.name for check in SMALL_CHECKS} - seen == set()


def test_names_are_unique_and_laws_are_sentences() -> None:
    """Each check can be told from the others, and says what it holds to."""
    assert len({check.name for check in CHECKS}) == len(CHECKS)
    assert all(check.law.endswith(".") for check in CHECKS)
    assert f"| {len(CHECKS)} checks of the specification" in DOCS.read_text(encoding="utf-8")


class NoUndo(Sound):
    """Says that it cannot undo, and finds out about late arrivals when it comes to them."""

    name = "no undo"
    can = frozenset(Ability) - {Ability.UNDO}

    def write(self, who: Who, entry: Entry) -> str:
        if entry.said_at is not None:
            raise CannotDo(Ability.LATE)
        return super().write(who, entry)


def test_what_a_system_cannot_do_is_said_and_not_scored() -> None:
    """The ability that is lacking is named, whether it was declared or found out."""
    report = conformance.run(NoUndo, checks=SMALL_CHECKS)
    cannot = {r.check.name: r.why for r in report.results if r.outcome is CheckOutcome.CANNOT}
    assert cannot["two undos go back two steps"] == "it has no undo"
    assert cannot["an old statement that comes late does not win"] == "it has no late arrival"
    wanting = [c for c in SMALL_CHECKS if c.needs & {Ability.UNDO, Ability.LATE}]
    assert len(cannot) == len(wanting)
    assert report.counted("undo") == {CheckOutcome.CANNOT: 3}


class Crashes(Sound):
    """Falls over whenever something is written."""

    def write(self, who: Who, entry: Entry) -> str:
        raise RuntimeError("out of paper")


def test_a_system_that_breaks_fails_and_the_others_go_on() -> None:
    """The error is told, and the next check is tried."""
    report = conformance.run(Crashes, checks=SMALL_CHECKS)
    broke = next(r for r in report.results if r.check.group == "test vectors")
    assert (broke.outcome, broke.why) == (
        CheckOutcome.FAILED,
        "it broke: RuntimeError: out of paper",
    )
    assert any(r.outcome is CheckOutcome.PASSED for r in report.results)


def test_a_failure_tells_what_the_context_said() -> None:
    """The record has the law, what is wrong, and the context."""
    vector = [check for check in CHECKS if check.group == "test vectors"][:1]
    record = conformance.run(broken.ShowsEverything, checks=vector).record()
    assert (record["passed"], record["failed"], record["cannot"]) == (0, 1, 0)
    [told] = record["checks"]
    assert told["why"] == "it says 'approved'"
    assert "- status_v1: approved" in told["context"]
    assert told["law"].startswith("Vector 1")
