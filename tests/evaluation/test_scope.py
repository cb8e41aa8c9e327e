"""What is said without being claimed, counted."""

from __future__ import annotations

from pathlib import Path

import pytest

import incumbent
from incumbent.model.errors import InvalidInput
from incumbent_eval import scope
from incumbent_eval.figures import Detection, Share
from tests.evaluation.dialogues import written

PLAIN = incumbent.Settings(embedder=None)


def test_a_claim_is_covered_by_most_of_its_content_words() -> None:
    """Four of five are enough, three of five are not; small words and endings do not count."""
    with incumbent.open(":memory:", settings=PLAIN) as memory:
        session = memory.session(user_id="person")
        fact = session.write("note", "The brown horse jumped over a wall").fact
    assert fact is not None
    assert scope.covers(fact, "a brown horse is jumping over the tall wall", "")
    assert not scope.covers(fact, "a white horse is jumping over the tall wall", "")
    assert not scope.covers(fact, "it is so", "")


def test_only_a_real_fact_in_office_stores_a_claim() -> None:
    """Neither a draft nor something that was superseded counts as stored."""
    with incumbent.open(":memory:", settings=PLAIN) as memory:
        session = memory.session(user_id="person")
        real = session.write("door", "the door is green")
        draft = session.write("gate", "the gate is green", scope="draft")
        session.write("door", "the door is blue")
        gone = session.get(real.fact_id)
    assert real.fact is not None
    assert draft.fact is not None
    assert gone is not None
    assert scope.is_stored((real.fact,), "the door is green", "")
    assert not scope.is_stored((draft.fact,), "the gate is green", "")
    assert not scope.is_stored((gone,), "the door is green", "")
    assert not scope.is_stored((), "the door is green", "")


def test_sentences_and_claims_are_counted(tmp_path: Path) -> None:
    """One counterfactual of two is labelled wrongly on purpose, and so is one claim."""
    written(
        tmp_path / "scope" / "counterfactual_own.jsonl",
        [
            {"id": "1", "text": "I wish the soup had been warm.", "label": "counterfactual"},
            {"id": "2", "text": "The soup was warm.", "label": "asserted"},
            {"id": "3", "text": "The soup was cold.", "label": "counterfactual"},
        ],
    )
    written(
        tmp_path / "scope" / "commitment_own.jsonl",
        [
            {
                "id": "4",
                "text": "My dentist is Doctor Marlow.",
                "claim": "my dentist is Doctor Marlow",
                "label": "committed_true",
            },
            {
                "id": "5",
                "text": "What if my dentist were Doctor Quill?",
                "claim": "my dentist is Doctor Quill",
                "label": "uncommitted",
            },
            {
                "id": "6",
                "text": "My baker is Mister Rowan.",
                "claim": "my baker is Mister Rowan",
                "label": "committed_false",
            },
        ],
    )
    report = scope.run(tmp_path, settings=PLAIN)
    assert report.counterfactual == Detection(1, 0, 1)
    assert report.stored == {
        "committed_true": Share(1, 1),
        "uncommitted": Share(0, 1),
        "committed_false": Share(1, 1),
    }
    assert [score.id for score in report.failures] == ["3", "6"]
    assert report.record()["stored_as_real"]["committed_false"] == {
        "share": 1.0,
        "hits": 1,
        "of": 1,
    }


def test_a_folder_without_sentences_is_refused(tmp_path: Path) -> None:
    """The message names the files that are looked for."""
    with pytest.raises(InvalidInput, match="commitment_"):
        scope.run(tmp_path)
    written(tmp_path / "commitment_x.jsonl", [{"id": "1", "text": "x"}])
    with pytest.raises(InvalidInput, match="without id, text or label"):
        scope.run(tmp_path)
