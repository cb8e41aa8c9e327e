"""Pairs to learn from: a value that holds, a later turn, and what the turn does to the value.

    python -m incumbent_eval.conversations.pairs FILE… > pairs.jsonl

A line of JSON has `conversation`, `old` (the statement), `span` (the value in it), `previous` and
`new` (the turn before and the turn), `label`, `speaker`, `said_by`, and `days` between the two. The
label is `leaves`, or what the annotation says: `replaces` (also of a part), `ends`, `confirms`,
`doubts`, `later`. Values that are not in their own line word for word make no pair.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

from incumbent_eval.conversations.endings import StandingValue, StatementCourse
from incumbent_eval.conversations.format import (
    MarkedConversation,
    MarkedTurn,
    RelationKind,
    files_of,
    read_conversations,
)

LEAVES = "leaves"
_TOUCHING = (RelationKind.LATER, RelationKind.DOUBTS, RelationKind.CONFIRMS)
"""What a relation does to a value that goes on holding, the strongest first."""


@dataclass(frozen=True)
class ConversationPair:
    """A value that held when a turn was said, and what the turn does to it."""

    conversation: str
    old: str
    span: tuple[int, int]
    previous: str
    new: str
    label: str
    speaker: str
    said_by: str
    days: int


def pairs_of(conversation: MarkedConversation) -> Iterator[ConversationPair]:
    """Every value with every later turn for as long as it holds."""
    course = StatementCourse(date.min)  # on the day of the turn, what comes later has not come
    previous = ""
    for place, turn in enumerate(conversation.turns):
        held = list(course.standing())
        for line in turn.lines:
            if line.number is not None:
                course.take(line, place)
        standing = {id(one) for one in course.standing()}
        for one in held:
            start = one.line.text.casefold().find(one.triple.value.casefold())
            if start < 0 or one.triple.accepted:
                continue
            said = conversation.turns[one.turn]
            yield ConversationPair(
                conversation.id,
                one.line.text,
                (start, start + len(one.triple.value)),
                previous,
                turn.text,
                _label(one, turn, is_over=id(one) not in standing),
                turn.speaker,
                said.speaker,
                (turn.at.date() - said.at.date()).days,
            )
        previous = turn.text


def _label(one: StandingValue, turn: MarkedTurn, *, is_over: bool) -> str:
    """What a turn does to a value."""
    does = {
        relation.kind
        for line in turn.lines
        for relation in line.relations
        if relation.to == one.line.number
    }
    if is_over:
        ends = RelationKind.ENDS in does and RelationKind.REPLACES not in does
        return RelationKind.ENDS if ends else RelationKind.REPLACES
    return next((kind for kind in _TOUCHING if kind in does), LEAVES)


def main(given: Sequence[str]) -> None:
    """Print the pairs of some files."""
    for path in files_of(map(Path, given)):
        for conversation in read_conversations(path):
            for pair in pairs_of(conversation):
                print(json.dumps(asdict(pair), ensure_ascii=False))


if __name__ == "__main__":
    main(sys.argv[1:])
