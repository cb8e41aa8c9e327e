"""Long conversations with questions about them, from LoCoMo and BEAM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from incumbent.model.errors import InvalidInput
from incumbent_eval.running import read_records

LOCOMO, BEAM = "LoCoMo", "BEAM"


class TalkTurn(NamedTuple):
    """One turn of a conversation."""

    id: str
    speaker: str
    text: str


@dataclass(frozen=True)
class TalkQuestion:
    """A question, the turns that answer it, and, for an update, its values."""

    text: str
    kind: str
    evidence: frozenset[str]
    current: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()

    @property
    def tells_values(self) -> bool:
        """Whether it names a current value to find and a stale one to leave out."""
        return bool(self.current and self.stale)


@dataclass(frozen=True)
class Talk:
    """A conversation with questions about it."""

    collection: str
    name: str
    turns: Sequence[TalkTurn]
    questions: Sequence[TalkQuestion]


def talks_of(folder: Path) -> list[Talk]:
    """The conversations that a folder holds, in `locomo` and `beam`."""
    found = [*_locomo(folder / "locomo"), *_beam(folder / "beam")]
    if not found:
        raise InvalidInput(
            f"{folder} has no conversations; give the folder that holds locomo/*_turns.jsonl.gz or "
            f"beam/*_messages.jsonl.gz, each with a file of questions"
        )
    return found


def _locomo(folder: Path) -> Iterator[Talk]:
    for path in sorted(folder.glob("*_turns.jsonl*")):
        turns = [
            TalkTurn(str(row["id"]), row["speaker"], row["text"]) for row in read_records(path)
        ]
        asked = read_records(path.with_name(path.name.replace("_turns", "_questions")))
        yield Talk(LOCOMO, _stem(path), turns, [_question(row, "category") for row in asked])


def _beam(folder: Path) -> Iterator[Talk]:
    for path in sorted(folder.glob("*_messages.jsonl*")):
        turns = [TalkTurn(str(row["id"]), row["role"], row["text"]) for row in read_records(path)]
        asked = read_records(path.with_name(path.name.replace("_messages", "_questions")))
        yield Talk(BEAM, _stem(path), turns, [_question(row, "type") for row in asked])


def _stem(path: Path) -> str:
    return path.name.rpartition("_")[0]


def _question(row: Mapping[str, Any], kind: str) -> TalkQuestion:
    try:
        return TalkQuestion(
            row["query"],
            row[kind],
            frozenset(map(str, row["evidence_ids"])),
            tuple(row.get("must_contain") or ()),
            tuple(row.get("must_not_contain") or ()),
        )
    except KeyError as error:
        raise InvalidInput(
            f"a question has no {error}; it needs query, {kind} and evidence_ids"
        ) from None
