"""Shares, detection and joint figures, and the targets they are held against."""

from __future__ import annotations

import pytest

from incumbent_eval.cases import CasesReport
from incumbent_eval.figures import Detection, Joint, Share, percent
from incumbent_eval.scope import ScopeReport
from incumbent_eval.statebench import SuiteReport
from incumbent_eval.targets import FigureTarget, of_cases, of_scope, of_suite


def test_a_share_of_nothing_is_no_figure() -> None:
    """Where nothing was tried there is no number, neither 0 nor 1."""
    assert Share().value is None
    assert percent(Share().value) == "–"
    assert percent((Share.one(True) + Share.one(False)).value) == "50.0 %"


def test_precision_recall_and_f1() -> None:
    """Three found rightly, one wrongly, two missed."""
    found = Detection(3, 1, 2)
    assert found.precision == 3 / 4
    assert found.recall == 3 / 5
    assert found.f1 == pytest.approx(2 * (3 / 4) * (3 / 5) / (3 / 4 + 3 / 5))


def test_decisions_add_up() -> None:
    """A yes that is right, a yes that is wrong, a no that is wrong; a right no adds nothing."""
    pairs = [(True, True), (True, False), (False, True), (False, False)]
    total = sum((Detection.one(predicted=p, gold=g) for p, g in pairs), Detection())
    assert total == Detection(1, 1, 1)


def test_the_joint_figure_is_not_the_product_of_its_halves() -> None:
    """A context counts jointly only where it has what it must and nothing that it must not."""
    total = sum(
        (Joint.one(present=p, clean=c) for p, c in [(True, False), (False, True), (True, True)]),
        Joint(),
    )
    assert (total.present, total.clean, total.both, total.of) == (2, 2, 1, 3)
    assert total.record() == {"joint": 0.3333, "present": 0.6667, "clean": 0.6667, "of": 3}


def test_a_target_is_met_missed_or_left_out() -> None:
    """Floors and ceilings are judged each their own way; without a figure there is no verdict."""
    assert FigureTarget("a", 0.3, 0.3).word == "met"
    assert FigureTarget("a", 0.3, 0.29).word == "missed"
    assert FigureTarget("a", 0.02, 0.02, at_least=False).word == "met"
    assert FigureTarget("a", 0.02, 0.03, at_least=False).word == "missed"
    assert FigureTarget("a", 0.02, None).word == "left out"
    assert FigureTarget("a", None, 0.5).met is None


def test_dialogues_are_held_against_the_targets_of_their_collection() -> None:
    """The name of the file tells which floor counts; wrong retirement has one ceiling for all."""
    report = CasesReport("cases_dev", joint=Joint(80, 90, 71, 100), retired=Share(3, 200))
    assert [(t.bound, t.measured, t.met) for t in of_cases(report)] == [
        (0.70, 0.71, True),
        (0.01, 0.015, False),
    ]
    assert [t.bound for t in of_cases(CasesReport("my_own"))] == [0.01]


def test_rules_alone_have_lower_targets() -> None:
    """Less is asked of them, and more wrong retirement is borne."""
    report = CasesReport("cases_dev", joint=Joint(40, 90, 36, 100), retired=Share(3, 200))
    assert [(t.bound, t.met) for t in of_cases(report, is_learned=False)] == [
        (0.35, True),
        (0.02, True),
    ]


def test_scope_is_held_against_three_targets() -> None:
    """What nobody meant is counted over both kinds of it together."""
    report = ScopeReport(
        Detection(8, 2, 2),
        {
            "committed_true": Share(7, 10),
            "uncommitted": Share(1, 10),
            "committed_false": Share(3, 10),
        },
    )
    assert [(t.measured, t.met) for t in of_scope(report)] == [
        (0.8, True),
        (0.2, False),
        (0.7, True),
    ]
    assert list(of_scope(ScopeReport())) == []


def test_a_suite_is_held_against_memgine_in_the_same_run() -> None:
    """As high is enough; without the rival there is no verdict."""
    tracks = {"memgine": {"a": Joint(5, 5, 4, 10)}, "incumbent": {"a": Joint(5, 5, 4, 10)}}
    [target] = of_suite(SuiteReport("v1.0 train", tracks))
    assert (target.bound, target.measured, target.met) == (0.4, 0.4, True)
    [alone] = of_suite(SuiteReport("v1.0 train", {"incumbent": {"a": Joint(5, 5, 4, 10)}}))
    assert alone.met is None


def test_a_suite_has_bounds_of_its_own_and_tracks_that_must_be_silent() -> None:
    """A joint figure to reach, and in some tracks nothing mentioned that must not be."""
    tracks = {"incumbent": {"dependency_chain": Joint(0, 10, 0, 10), "other": Joint(10, 5, 5, 10)}}
    joint, _, silent = of_suite(SuiteReport("v2.0.0", tracks))
    assert (joint.bound, joint.measured, joint.met) == (0.95, 0.25, False)
    assert silent.measure == "StateBench v2.0.0, dependency_chain: must-not-mention absent"
    assert (silent.bound, silent.measured, silent.met) == (0.95, 1.0, True)
