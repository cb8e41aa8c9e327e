"""What is asked: talks of every kind in one form, with what makes an answer right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from incumbent_eval.conversations.format import MarkedConversation, read_conversations
from incumbent_eval.conversations.play import asked_at
from incumbent_eval.running import read_records
from incumbent_eval.talks import BEAM, talks_of

_DAY = "%B-%d-%Y"
_BEGINNING = datetime(2024, 1, 1, 9, tzinfo=UTC)
_MINUTE = timedelta(minutes=1)
_NEXT_DAY = timedelta(days=1)


@dataclass(frozen=True)
class SaidTurn:
    """A turn and its moment."""

    at: datetime
    speaker: str
    text: str

    @property
    def line(self) -> str:
        return f"{self.at:%Y-%m-%d} {self.speaker}: {self.text}"


@dataclass(frozen=True)
class AskedQuestion:
    """A question, and what makes an answer right: words, or a rubric that somebody goes by."""

    text: str
    kind: str
    must: tuple[tuple[str, ...], ...] = ()
    """Of each of these, one wording has to be said."""
    dead: tuple[str, ...] = ()
    """None of these may be said."""
    rubric: tuple[str, ...] = ()


@dataclass(frozen=True)
class AskedTalk:
    """A talk, and what is asked about it after it."""

    name: str
    turns: Sequence[SaidTurn]
    questions: Sequence[AskedQuestion]
    at: datetime


def of_conversations(files: Sequence[Path], every: int) -> Iterator[AskedTalk]:
    """Annotated conversations; every so manieth of each file."""
    for path in files:
        for one in read_conversations(path)[::every]:
            yield AskedTalk(
                f"{path.stem}/{one.id}",
                [SaidTurn(turn.at, turn.speaker, turn.text) for turn in one.turns],
                list(_marked(one)),
                asked_at(one),
            )


def _marked(conversation: MarkedConversation) -> Iterator[AskedQuestion]:
    for one in conversation.questions:
        kind = "something changed" if one.is_about_change else "nothing changed"
        yield AskedQuestion(one.text, kind, tuple(tuple(ways) for ways in one.must), one.dead)


def of_beam(folder: Path, limit: int | None = None) -> Iterator[AskedTalk]:
    """Long chats of BEAM, whose answers somebody grades by a rubric."""
    talks = [talk for talk in talks_of(folder) if talk.collection == BEAM]
    for talk in talks[:limit]:
        path = next((folder / "beam").glob(f"{talk.name}_messages.jsonl*"))
        turns, at = [], _BEGINNING
        for row in read_records(path):
            at = (
                datetime.strptime(row["time"], _DAY).replace(hour=9, tzinfo=UTC)
                if (row.get("time"))
                else at + _MINUTE
            )
            turns.append(SaidTurn(at, row["role"], row["text"]))
        asked = read_records(path.with_name(path.name.replace("_messages", "_questions")))
        questions = [
            AskedQuestion(row["query"], row["type"], rubric=tuple(row["rubric"])) for row in asked
        ]
        yield AskedTalk(f"beam/{talk.name}", turns, questions, turns[-1].at + _NEXT_DAY)
