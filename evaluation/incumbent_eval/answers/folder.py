"""The folder in which questions lie for whoever answers them, and in which answers come back.

`questions.jsonl` has a context and a question to each id, in an order that tells nothing of the
system that made the context. `key.json` tells it, and stays closed. Answers come back as
`answers.jsonl`. Where a rubric decides, `grading.jsonl` has what is to be graded, just as blind,
and `grades.jsonl` brings the grades.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from incumbent.model.errors import InvalidInput
from incumbent_eval.answers.asked import AskedQuestion
from incumbent_eval.figures import Share
from incumbent_eval.running import read_records
from incumbent_eval.spoken import SpokenText

QUESTIONS, KEY, ANSWERS = "questions.jsonl", "key.json", "answers.jsonl"
GRADING, GRADES = "grading.jsonl", "grades.jsonl"
HOW = """\
Answer each line of questions.jsonl by its context alone: say what holds, briefly, and nothing that
no longer does; where the context does not tell, say so. Do not open key.json. Write the answers to
answers.jsonl, a line for each: {"id": "...", "answer": "..."}

If grading.jsonl is there, write to grades.jsonl how many points of its rubric each answer meets
(half points are allowed): {"id": "...", "met": 2}
"""


@dataclass(frozen=True)
class KeptQuestion:
    """A question as the key has it."""

    system: str
    talk: str
    question: AskedQuestion

    @property
    def id(self) -> str:
        told = json.dumps([self.system, self.talk, self.question.text, self.question.kind])
        return hashlib.sha256(told.encode()).hexdigest()[:12]


def write(folder: Path, asked: Iterable[tuple[KeptQuestion, str]]) -> int:
    """Write questions with their contexts, and the key; returns how many."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {one.id: (one, context) for one, context in asked}
    if not found:
        raise InvalidInput("no questions were found; name files of conversations, or --beam FOLDER")
    rows = [
        {"id": name, "context": found[name][1], "question": found[name][0].question.text}
        for name in sorted(found)
    ]
    (folder / "HOW.txt").write_text(HOW, encoding="utf-8")
    _write_lines(folder / QUESTIONS, rows)
    key = {name: asdict(one) for name, (one, _) in found.items()}
    (folder / KEY).write_text(json.dumps(key, indent=1), encoding="utf-8")
    return len(rows)


@dataclass
class BlindReport:
    """How many answers were right, by system and kind of question."""

    right: dict[tuple[str, str], Share] = field(default_factory=dict)
    points: dict[tuple[str, str], Share] = field(default_factory=dict)
    """Points of rubrics that were met."""
    missing: int = 0
    """Questions without an answer, or answers without a grade."""

    def record(self) -> dict[str, Any]:
        return {
            "right": {"/".join(name): share.record() for name, share in self.right.items()},
            "points": {"/".join(name): share.record() for name, share in self.points.items()},
            "missing": self.missing,
        }


def score(folder: Path) -> BlindReport:
    """Score the answers in a folder; write what somebody has to grade."""
    key = _key_of(folder)
    answers = _by_id(folder / ANSWERS, "answer")
    grades = _by_id(folder / GRADES, "met")
    unknown = sorted({*answers, *grades} - key.keys())
    if unknown:
        raise InvalidInput(f"{folder} has answers to no question of its key: {unknown[0]}")
    report, to_grade = BlindReport(), []
    for name, one in sorted(key.items()):
        place = (one.system, one.question.kind)
        answer = answers.get(name)
        if answer is None or (one.question.rubric and name not in grades):
            report.missing += 1
        if answer is None:
            continue
        if one.question.rubric:
            told = {"question": one.question.text, "rubric": one.question.rubric}
            to_grade.append({"id": name, **told, "answer": answer})
            if name in grades:
                _add(report.points, place, _points(grades[name], one, name))
        else:
            _add(report.right, place, Share.one(_is_right(one.question, str(answer))))
    if to_grade:
        _write_lines(folder / GRADING, to_grade)
    return report


def _points(met: Any, one: KeptQuestion, name: str) -> Share:
    most = len(one.question.rubric)
    if isinstance(met, bool) or not isinstance(met, int | float) or not 0 <= met <= most:
        raise InvalidInput(f"{GRADES}: {name} meets {met!r} of {most} points; give a number")
    return Share(round(2 * met), 2 * most)  # half points count


def _is_right(question: AskedQuestion, answer: str) -> bool:
    said = SpokenText(answer)
    return all(said.says_any(ways) for ways in question.must) and not any(
        said.says(value) for value in question.dead
    )


def _add(figures: dict[tuple[str, str], Share], place: tuple[str, str], share: Share) -> None:
    for name in (place, (place[0], "all")):
        figures[name] = figures.get(name, Share()) + share


def _key_of(folder: Path) -> dict[str, KeptQuestion]:
    try:
        told = json.loads((folder / KEY).read_text(encoding="utf-8"))
        return {name: _kept(row) for name, row in told.items()}
    except FileNotFoundError:
        raise InvalidInput(
            f"{folder} has no questions yet; write them with: incumbent eval answers {folder} FILE"
        ) from None
    except (ValueError, TypeError, KeyError) as error:
        raise InvalidInput(f"{folder / KEY} is no key of questions: {error}") from None


def _kept(row: Mapping[str, Any]) -> KeptQuestion:
    told = {name: _frozen(value) for name, value in row["question"].items()}
    return KeptQuestion(row["system"], row["talk"], AskedQuestion(**told))


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _by_id(path: Path, what: str) -> dict[str, Any]:
    if not path.exists():
        return {}
    found = {}
    for row in read_records(path):
        if not isinstance(row.get("id"), str) or what not in row:
            raise InvalidInput(f"{path} has a line without id or {what}: {row}")
        found[row["id"]] = row[what]
    return found


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    told = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    path.write_text(told, encoding="utf-8")
