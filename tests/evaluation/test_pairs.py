"""Pairs: how they are read, what the model makes of them, and what the figures count."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from incumbent.cli import app
from incumbent.model.errors import InvalidInput
from incumbent_eval.cases import read_dialogues
from incumbent_eval.pairs import LabelledPair, PairScore, PairsReport, pairs_of, read_pairs, run
from incumbent_eval.targets import of_pairs
from tests.evaluation.dialogues import ROWS, added, case, system, user, written

CHANGED = {
    "id": "own:1",
    "old": "A table for « 4 » at 7 pm, please.",
    "new": "How many of you will come? ¦ Sorry, there will be 6 of us.",
    "y": 1,
    "kind": "change",
    "newv": "6",
}
LEFT = {
    "id": "own:2",
    "old": "I live in « Leeds ».",
    "new": "What a lovely day it is.",
    "y": 0,
    "kind": "talk",
}


def report(*told: tuple[float, bool, str]) -> PairsReport:
    """A report of pairs with these probabilities, truths and kinds."""
    return PairsReport(
        "own",
        [
            PairScore(
                LabelledPair(f"{number}", "I live in Leeds.", 10, 15, "", "Fine.", is_so, kind),
                chance,
                "",
                None,
            )
            for number, (chance, is_so, kind) in enumerate(told)
        ],
    )


def invoked(*arguments: str, code: int = 0) -> Any:
    result = CliRunner().invoke(app, ["eval", "pairs", *arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


class TestReading:
    def test_the_marked_value_is_found_and_the_marks_are_gone(self, tmp_path: Path) -> None:
        """What stands before the bar is the turn before."""
        [pair] = read_pairs(written(tmp_path / "own.jsonl", [CHANGED]))
        assert pair.statement == "A table for 4 at 7 pm, please."
        assert pair.value == "4"
        assert pair.previous == "How many of you will come?"
        assert pair.turn == "Sorry, there will be 6 of us."
        assert pair.replaced
        assert pair.new == ("6",)

    def test_every_value_of_a_dialogue_meets_every_later_turn_of_the_user(
        self, tmp_path: Path
    ) -> None:
        """Two values, the first of them changed once; the new one is held against the last turn."""
        [dialogue] = read_dialogues(written(tmp_path / "own.jsonl", ROWS[:1]))
        found = [(pair.value, pair.turn, pair.kind) for pair in pairs_of(dialogue)]
        assert found == [
            ("9 Mill Lane", "My birthday is May 3.", "addition"),
            ("9 Mill Lane", "I moved to 4 Quay Street.", "change"),
            ("May 3", "I moved to 4 Quay Street.", "other change"),
            ("May 3", "No, that is all.", "nothing told"),
            ("4 Quay Street", "No, that is all.", "nothing told"),
        ]

    def test_the_turn_before_is_the_assistants_last(self, tmp_path: Path) -> None:
        """What the user answers to belongs to the pair."""
        pairs = read_pairs(written(tmp_path / "own.jsonl", ROWS[:1]))
        assert pairs[0].previous == "Thank you, I have 9 Mill Lane."

    def test_a_value_that_a_turn_may_name_in_two_places_is_left_out(self, tmp_path: Path) -> None:
        """Nor is a number found inside another: nobody could say what was marked."""
        told = [
            user(0, "For 5 nights and 5 people.", adds=[added("people", "5")]),
            system(1, "Until when?"),
            user(2, "At 15:45 on day 1.", adds=[added("time", "15:45"), added("day", "1")]),
            system(3, "Good."),
            user(4, "That is all."),
        ]
        rows = [case("people", "5", "6", told)]
        found = read_pairs(written(tmp_path / "own.jsonl", rows))
        assert [(pair.value, pair.start) for pair in found] == [("15:45", 3), ("1", 16)]

    @pytest.mark.parametrize("row", [{"id": "1"}, {**LEFT, "old": "I live in Leeds."}])
    def test_a_file_of_something_else_is_refused(self, row: dict[str, Any], tmp_path: Path) -> None:
        """The error says what a line must have."""
        with pytest.raises(InvalidInput, match=r"is no file of pairs.*between « and »"):
            read_pairs(written(tmp_path / "own.jsonl", [row]))


class TestFigures:
    def test_the_model_tells_a_change_from_small_talk(self, tmp_path: Path) -> None:
        """The model that ships reads both, and points at the new value."""
        found = run(written(tmp_path / "own.jsonl", [CHANGED, LEFT]))
        assert found.even.found.record()["f1"] == 1.0
        assert found.spans.record() == {"share": 1.0, "hits": 1, "of": 1}
        assert found.scores[0].span == "6"

    def test_figures_are_told_at_one_half_and_where_f1_is_best(self) -> None:
        """A higher threshold leaves out what is wrong, at no loss."""
        found = report((0.9, True, "a"), (0.6, False, "b"), (0.1, False, "b"))
        assert (found.even.found.right, found.even.found.wrong) == (1, 1)
        assert found.best.threshold == 0.9
        assert found.best.found.f1 == 1.0
        assert found.average_precision == 1.0

    def test_each_kind_says_how_often_it_is_taken_for_a_change(self) -> None:
        """Half of one kind, none of the other."""
        found = report((0.9, True, "a"), (0.2, True, "a"), (0.1, False, "b"))
        assert {kind: share.value for kind, share in found.kinds.items()} == {"a": 0.5, "b": 0.0}

    def test_errors_come_with_the_surest_first(self) -> None:
        """Wrongly taken for a change, and missed, apart from each other."""
        found = report((0.6, False, ""), (0.9, False, ""), (0.4, True, ""), (0.8, True, ""))
        assert [score.chance for score in found.false] == [0.9, 0.6]
        assert [score.chance for score in found.missed] == [0.4]

    def test_only_the_files_with_a_target_are_held_against_one(self) -> None:
        """The best F1 counts."""
        found = report((0.9, True, ""), (0.1, False, ""))
        assert list(of_pairs(found)) == []
        found.name = "pairs_dev"
        [target] = of_pairs(found)
        assert (target.bound, target.measured, target.met) == (0.88, 1.0, True)


class TestCommand:
    def test_prints_figures_a_table_and_bars(self, tmp_path: Path) -> None:
        """Both thresholds, the kinds, and what came of each probability."""
        path = written(tmp_path / "own.jsonl", [CHANGED, LEFT])
        out = invoked(str(path), "--workers", "1").stdout
        assert "own: 2 pairs, 1 of them replaced" in out
        assert re.search(r"^at one half +0\.50 +100\.0 % +100\.0 % +100\.0 %", out, re.MULTILINE)
        assert re.search(r"^talk +0\.0 % +1$", out, re.MULTILINE)
        assert re.search(r"^0\.\d–\d\.\d +1  █+│█+$", out, re.MULTILINE)
        assert "expected calibration error" in out

    def test_prints_errors_to_read(self, tmp_path: Path) -> None:
        """A pair with the wrong label on it is one that the model gets wrong."""
        path = written(tmp_path / "own.jsonl", [{**CHANGED, "y": 0}, {**LEFT, "y": 1}])
        out = invoked(str(path), "--workers", "1", "--failures", "2").stdout
        assert "## own:1: wrongly taken for a change (change, " in out
        assert "stated: A table for « 4 » at 7 pm, please." in out
        assert "before: How many of you will come?" in out
        assert "## own:2: a change that was missed (talk, " in out

    def test_prints_json_and_keeps_to_a_limit(self, tmp_path: Path) -> None:
        """One document, of the first pair alone."""
        path = written(tmp_path / "own.jsonl", [CHANGED, LEFT])
        made = json.loads(invoked(str(path), "--limit", "1", "--workers", "1", "--json").stdout)
        assert (made["pairs"], made["replaced"], made["even"]["f1"]) == (1, 1, 1.0)
        assert len(made["reliability"]) == 10

    def test_draws_a_plot(self, tmp_path: Path) -> None:
        """A well-formed SVG with a bar for each bin that holds something."""
        path = written(tmp_path / "a&b.jsonl", [CHANGED, LEFT])
        plot = tmp_path / "plot.svg"
        invoked(str(path), "--workers", "1", "--plot", str(plot))
        drawn = ElementTree.parse(plot).getroot()
        bars = [part for part in drawn if part.tag.endswith("circle")]
        assert len(bars) == 2
        assert "a&b" in [part.text for part in drawn]

    def test_wrong_calls_are_refused_before_the_work(self, tmp_path: Path) -> None:
        """No such file; a plot where there is no folder for it."""
        assert "there is no file" in invoked("none.jsonl", code=2).stderr
        path = written(tmp_path / "own.jsonl", [LEFT])
        told = invoked(str(path), "--plot", str(tmp_path / "no" / "plot.svg"), code=2).stderr
        assert "there is no folder" in told

    def test_an_empty_file_has_no_figures(self, tmp_path: Path) -> None:
        """Nothing is divided by nothing."""
        out = invoked(str(written(tmp_path / "own.jsonl", []))).stdout
        assert "own: 0 pairs" in out
        assert "average precision  –" in out
