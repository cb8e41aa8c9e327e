"""What is found: evidence recall on LoCoMo and BEAM, against BM25 alone in the same run.

Every turn of a conversation is stored as one fact, and every question asked with
`session.context`. A question's recall at k is the share of the turns that answer it among the k
facts with the highest scores. The data are public and not ours to ship: give their folder with
`--data`, or in TENURE_BENCH_DATA. Without it this part is left out.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

import tenure

AT = (5, 10, 20)
K1, B = 1.2, 0.75


class Turn(NamedTuple):
    """One turn of a conversation."""

    id: str
    speaker: str
    text: str


class Question(NamedTuple):
    """A question, and the turns that answer it."""

    text: str
    kind: str
    evidence: frozenset[str]


class Talk(NamedTuple):
    """A conversation with questions about it."""

    collection: str
    turns: list[Turn]
    questions: list[Question]


def folder_of(given: Path | None) -> Path | None:
    """Where the data are, or None."""
    named = given or (Path(found) if (found := os.environ.get("TENURE_BENCH_DATA")) else None)
    return named if named is not None and named.is_dir() else None


def run(console: Console, data: Path | None = None) -> dict[str, Any]:
    """Measure, print, and give the figures back."""
    folder = folder_of(data)
    if folder is None:
        console.print(
            "retrieval: left out; give the folder with locomo/ and beam/ as --data FOLDER"
        )
        return {}
    talks = [*locomo(folder / "locomo"), *beam(folder / "beam")]
    rows: dict[str, dict[str, list[float]]] = {}
    for name, embedder in (("Tenure", "minilm"), ("with static", "static"), ("text only", None)):
        rows[name] = defaultdict(list)
        for talk in talks:
            with open_with(embedder) as memory:
                measure(rows[name], talk, asked(memory, talk))
    rows["BM25 alone"] = defaultdict(list)
    for talk in talks:
        measure(rows["BM25 alone"], talk, bm25(talk))
    figures = {
        name: {what: round(100 * statistics.mean(found), 1) for what, found in sorted(kept.items())}
        for name, kept in rows.items()
    }
    show(console, figures, {what: len(found) for what, found in rows["Tenure"].items()})
    return figures


def open_with(embedder: str | None) -> tenure.Memory:
    return tenure.open(":memory:", settings=tenure.Settings(embedder=embedder))


def read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def locomo(folder: Path) -> Iterator[Talk]:
    for path in sorted(folder.glob("*_turns.jsonl.gz")):
        turns = [Turn(row["id"], row["speaker"], row["text"]) for row in read(path)]
        asked = read(path.with_name(path.name.replace("_turns", "_questions")))
        yield Talk("LoCoMo", turns, [question(row, "category") for row in asked])


def beam(folder: Path) -> Iterator[Talk]:
    for path in sorted(folder.glob("*_messages.jsonl.gz")):
        turns = [Turn(str(row["id"]), row["role"], row["text"]) for row in read(path)]
        asked = read(path.with_name(path.name.replace("_messages", "_questions")))
        yield Talk("BEAM", turns, [question(row, "type") for row in asked])


def question(row: dict[str, Any], kind: str) -> Question:
    return Question(row["query"], row[kind], frozenset(map(str, row["evidence_ids"])))


def asked(memory: tenure.Memory, talk: Talk) -> Iterator[list[str]]:
    """For each question the turns of its context, the highest score first."""
    session = memory.session(user_id="reader")
    session.write_many(
        {"key": f"turn_{turn.id}", "value": turn.text, "subject": turn.speaker, "id": turn.id}
        for turn in talk.turns
    )
    for one in talk.questions:
        lines = session.context(one.text, budget=200_000, profile="comprehensive").lines
        scored = [line for line in lines if line.fact_id and line.score is not None]
        scored.sort(key=lambda line: -(line.score or 0))
        yield [line.fact_id or "" for line in scored[: max(AT)]]


def bm25(talk: Talk) -> Iterator[list[str]]:
    """The same by textbook BM25 over lower-case words, speakers included."""
    texts = [Counter(words(f"{turn.speaker}: {turn.text}")) for turn in talk.turns]
    seen = Counter(word for text in texts for word in text)
    usual = sum(text.total() for text in texts) / len(texts)
    for one in talk.questions:
        scores = [score(text, words(one.text), seen, len(texts), usual) for text in texts]
        order = sorted(range(len(texts)), key=lambda index: -scores[index])
        yield [talk.turns[index].id for index in order[: max(AT)]]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def score(
    text: Counter[str], query: Sequence[str], seen: Counter[str], count: int, usual: float
) -> float:
    ballast = K1 * (1 - B + B * text.total() / usual)
    return sum(
        math.log(1 + (count - seen[word] + 0.5) / (seen[word] + 0.5))
        * text[word]
        * (K1 + 1)
        / (text[word] + ballast)
        for word in set(query)
        if text[word]
    )


def measure(kept: dict[str, list[float]], talk: Talk, found: Iterator[list[str]]) -> None:
    for one, ranked in zip(talk.questions, found, strict=True):
        if not one.evidence:
            continue
        for k in AT:
            recall = len(one.evidence.intersection(ranked[:k])) / len(one.evidence)
            kept[f"{talk.collection} @{k}"].append(recall)
        recall = len(one.evidence.intersection(ranked[:10])) / len(one.evidence)
        kept[f"{talk.collection} @10, {one.kind}"].append(recall)


def show(console: Console, figures: dict[str, dict[str, float]], counts: dict[str, int]) -> None:
    table = Table(title="Evidence recall, %")
    for heading in ("questions", "of", *figures):
        table.add_column(heading, justify="left" if heading == "questions" else "right")
    for what in figures["Tenure"]:
        cells = (f"{kept[what]:.1f}" for kept in figures.values())
        table.add_row(what, str(counts[what]), *cells)
    console.print(table)
    ahead = figures["Tenure"].get("LoCoMo @10", 0) - figures["BM25 alone"].get("LoCoMo @10", 0)
    met = "met" if ahead >= 15 else "MISSED"
    console.print(f"LoCoMo @10: {ahead:+.1f} points over BM25 alone (target: +15) {met}")
