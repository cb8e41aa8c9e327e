"""Statements that claim nothing: counterfactuals, and words that a speaker does not commit to.

Counterfactuals: a sentence counts as one if any statement that `observe` finds in it is one.
Commitment: a claim is stored as real if the turn brought a fact in office, of a real scope, with
most of the content words that the claim and the sentence share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import incumbent
from incumbent.language.statements import is_counterfactual, statements
from incumbent.model.errors import InvalidInput
from incumbent.model.fact import Fact
from incumbent.model.scope import Scope
from incumbent.search.analysis import terms, text_for_terms
from incumbent_eval.cases import BASE
from incumbent_eval.figures import Detection, Share, records
from incumbent_eval.running import HeldClock, each, read_records
from incumbent_eval.systems import Progress

COVERED = 0.8
"""The share of a claim's content words that a fact must have to say it."""
LABELS = ("committed_true", "uncommitted", "committed_false")
_REAL = (Scope.GLOBAL, Scope.TASK, Scope.SESSION)
_COUNTERFACTUAL = "counterfactual_*.jsonl*"
_COMMITMENT = "commitment_*.jsonl*"


@dataclass(frozen=True)
class SentenceScore:
    """The result of one sentence, for people to read if it went wrong."""

    id: str
    text: str
    label: str
    kinds: tuple[str, ...]
    facts: tuple[str, ...]
    predicted: bool
    claim: str = ""


@dataclass
class ScopeReport:
    """The figures of a folder of sentences."""

    counterfactual: Detection = Detection()
    stored: dict[str, Share] = field(default_factory=dict)
    """For every label, the share of its claims that were stored as real."""
    failures: list[SentenceScore] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        return {
            "counterfactual": self.counterfactual.record(),
            "stored_as_real": records(self.stored),
        }


def covers(fact: Fact, claim: str, sentence: str) -> bool:
    """True if a fact has enough of the content words of a claim to say it.

    A claim names the person whom a sentence calls "she"; only words of the sentence itself are
    looked for.
    """
    wanted = set(terms(claim)).intersection(terms(sentence)) or set(terms(claim))
    said = set(terms(text_for_terms(fact.key, fact.subject, fact.value)))
    return bool(wanted) and len(wanted & said) >= COVERED * len(wanted)


def is_stored(facts: tuple[Fact, ...], claim: str, sentence: str) -> bool:
    """Whether a claim that a sentence makes is among facts that are real and in office."""
    real = [fact for fact in facts if fact.is_valid and fact.scope in _REAL]
    return any(covers(fact, claim, sentence) for fact in real)


def judge(row: Mapping[str, Any], settings: incumbent.Settings | None = None) -> SentenceScore:
    """Let a new person say a sentence, and record the result."""
    clock = HeldClock(BASE)
    with incumbent.open(":memory:", clock=clock, settings=settings) as memory:
        session = memory.session(user_id="person", session_id="sentence")
        observation = session.observe(row["text"], at=BASE)
    claim = row.get("claim") or ""
    return SentenceScore(
        id=str(row["id"]),
        text=row["text"],
        label=row["label"],
        kinds=tuple(str(statement.kind) for statement in observation.statements),
        facts=tuple(f"{fact} in {fact.scope}" for fact in observation.facts),
        predicted=(
            is_stored(tuple(observation.facts), claim, row["text"])
            if claim
            else any(map(is_counterfactual, statements(row["text"])))
        ),
        claim=claim,
    )


def run(
    folder: Path,
    *,
    settings: incumbent.Settings | None = None,
    limit: int | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> ScopeReport:
    """Run the sentences of a folder, or of its folder `scope`, and give the figures."""
    inside = folder / "scope" if (folder / "scope").is_dir() else folder
    sentences = _rows(inside, _COUNTERFACTUAL, limit)
    claims = _rows(inside, _COMMITMENT, limit)
    if not sentences and not claims:
        raise InvalidInput(
            f"{folder} has neither {_COUNTERFACTUAL} nor {_COMMITMENT}; "
            f"give the folder that holds scope/counterfactual_train.jsonl.gz"
        )
    report = ScopeReport()
    score = partial(judge, settings=settings)
    options: dict[str, Any] = {"workers": workers, "progress": progress}
    for one in each(score, sentences, what="counterfactuals", **options):
        gold = one.label == "counterfactual"
        report.counterfactual += Detection.one(predicted=one.predicted, gold=gold)
        if one.predicted != gold:
            report.failures.append(one)
    for one in each(score, claims, what="commitment", **options):
        stored = report.stored.get(one.label, Share())
        report.stored[one.label] = stored + Share.one(one.predicted)
        if one.predicted != (one.label == "committed_true"):
            report.failures.append(one)
    return report


def _rows(folder: Path, pattern: str, limit: int | None) -> list[dict[str, Any]]:
    rows = [row for path in sorted(folder.glob(pattern)) for row in read_records(path)]
    for row in rows:
        if not {"id", "text", "label"} <= row.keys():
            raise InvalidInput(f"{folder / pattern} has a line without id, text or label")
    return rows[:limit]
