"""Long conversations: what is found of them within a budget, on small ones of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import incumbent
from incumbent.cli import app
from incumbent.model.errors import InvalidInput
from incumbent_eval import retrieval
from incumbent_eval.adapters import plain
from incumbent_eval.talks import BEAM, LOCOMO, talks_of
from tests.evaluation.dialogues import written

PLAIN = incumbent.Settings(embedder=None)
FILLER = "The weather was mild and nothing much happened in the orchard that afternoon. " * 18


def talk(folder: Path) -> Path:
    """A conversation of two people with two questions, and a chat with an update."""
    turns = [
        {"id": "D1:1", "speaker": "Ines", "text": "My boat is called Halcyon."},
        *({"id": f"D1:{n}", "speaker": "Olaf", "text": f"{n}: {FILLER}"} for n in range(2, 20)),
        {"id": "D1:20", "speaker": "Olaf", "text": "I paint lighthouses."},
    ]
    questions = [
        {
            "query": "What is the boat of Ines called?",
            "category": "single",
            "evidence_ids": ["D1:1"],
        },
        {
            "query": "What does Olaf paint, and how is the boat called?",
            "category": "multi",
            "evidence_ids": ["D1:1", "D1:20"],
        },
        {"query": "What colour is the moon?", "category": "none", "evidence_ids": []},
    ]
    written(folder / "locomo/own_turns.jsonl", turns)
    written(folder / "locomo/own_questions.jsonl", questions)
    messages = [
        {"id": 0, "role": "user", "text": "My budget for the trip is 900 euros."},
        {"id": 1, "role": "assistant", "text": "Noted."},
        {"id": 2, "role": "user", "text": "My budget for the trip is now 1200 euros."},
    ]
    update = {
        "query": "What is my budget for the trip?",
        "type": "knowledge_update",
        "evidence_ids": [0, 2],
        "must_contain": ["1200 euros"],
        "must_not_contain": ["900 euros"],
    }
    written(folder / "beam/own_messages.jsonl", messages)
    written(folder / "beam/own_questions.jsonl", [update, {**update, "must_not_contain": []}])
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return talk(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def report(folder: Path) -> retrieval.RetrievalReport:
    return retrieval.run(folder, ["incumbent", "bm25", "transcript"], settings=PLAIN)


class TestEvidence:
    def test_what_answers_is_found_within_the_budget(
        self, report: retrieval.RetrievalReport
    ) -> None:
        """Among turns that fill the budget many times over."""
        for name in ("incumbent", "bm25"):
            assert report.systems[name].evidence[f"{LOCOMO} @1000"] == [1.0, 1.0]

    def test_a_share_of_the_evidence_counts_as_a_share(
        self, report: retrieval.RetrievalReport
    ) -> None:
        """A transcript that is cut to the newest has one of the two turns, and not the other."""
        assert report.systems["transcript"].evidence[f"{LOCOMO} @1000"] == [0.0, 0.5]

    def test_questions_without_evidence_are_left_out(
        self, report: retrieval.RetrievalReport
    ) -> None:
        assert report.questions == {LOCOMO: 2, BEAM: 2}

    def test_budgets_are_counted(self, report: retrieval.RetrievalReport) -> None:
        """Every context of every question and budget, and none of these is too large."""
        told = report.systems["incumbent"]
        assert len(told.tokens) == 4 * len(retrieval.BUDGETS) + 1
        assert told.over == 0

    def test_a_context_over_its_budget_counts_as_far_as_the_budget_goes(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Who shows everything has found nothing for it."""

        class Spills(plain.Transcript):
            def _context(self, who: Any, query: str, budget: int) -> str:
                return super()._context(who, query, 10**9)

        monkeypatch.setattr(plain, "Transcript", Spills)
        told = retrieval.run(folder, ["transcript"], updates=False).systems["transcript"]
        assert told.over == 6
        assert told.evidence[f"{LOCOMO} @1000"] == [1.0, 0.5]

    def test_text_that_was_quoted_is_known_again(self) -> None:
        """Line breaks and signs that a context escapes are the same text."""
        assert retrieval.unescaped('"one\\ntwo \\u0060x\\u0060 \\"y\\""') == '"one\ntwo `x` "y""'


class TestUpdates:
    def test_the_new_value_is_found_and_the_old_one_absent(
        self, report: retrieval.RetrievalReport
    ) -> None:
        """Ours has replaced the value; a transcript has both. Without both values none counts."""
        ours, transcript = (report.systems[name].updates for name in ("incumbent", "transcript"))
        assert (ours.present, ours.clean, ours.of) == (1, 1, 1)
        assert (transcript.present, transcript.clean, transcript.of) == (1, 0, 1)


class TestRanking:
    def test_is_given_for_ours_and_bm25(self, report: retrieval.RetrievalReport) -> None:
        """At five turns, at ten, at twenty, and by kind of question at ten."""
        assert set(report.ranking) == {"incumbent", "bm25"}
        assert report.ranking["incumbent"][f"{LOCOMO} @5"] == [1.0, 1.0]
        assert report.ranking["incumbent"][f"{LOCOMO} @10, multi"] == [1.0]


class TestBadInput:
    def test_a_folder_without_conversations_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match="has no conversations"):
            retrieval.run(tmp_path)

    def test_a_system_that_is_not_known_is_refused(self, folder: Path) -> None:
        with pytest.raises(InvalidInput, match="no system 'magic'"):
            retrieval.run(folder, ["magic"])

    def test_a_question_that_lacks_a_field_is_refused(self, folder: Path, tmp_path: Path) -> None:
        talk(tmp_path)
        written(tmp_path / "locomo/own_questions.jsonl", [{"query": "What?"}])
        with pytest.raises(InvalidInput, match="a question has no 'category'"):
            talks_of(tmp_path)


class TestCommand:
    def test_prints_systems_side_by_side(self, folder: Path) -> None:
        """Evidence by collection, updates, and budgets held."""
        wanted = ["--data", str(folder), "--system", "bm25", "--workers", "1", "--embedder", "none"]
        result = CliRunner().invoke(app, ["eval", "retrieval", *wanted])
        assert result.exit_code == 0, result.output
        assert "LoCoMo: evidence found" in result.stdout
        assert "bm25" in result.stdout
        told = CliRunner().invoke(app, ["eval", "retrieval", *wanted, "--json"]).stdout
        assert json.loads(told)["retrieval"]["systems"]["incumbent"]["updates"]["joint"] == 1.0

    def test_without_data_it_says_where_to_put_them(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("INCUMBENT_BENCH_DATA", raising=False)
        result = CliRunner().invoke(app, ["eval", "retrieval"])
        assert result.exit_code == 2
        assert "--data FOLDER" in result.stderr
