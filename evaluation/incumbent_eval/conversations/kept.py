"""Which lines of a conversation became facts, by what they are: statements, questions, commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from incumbent.model.fact import Fact
from incumbent_eval.conversations.format import MARKS, MarkedConversation, MarkedLine
from incumbent_eval.figures import Share

STATEMENT = "statement"
UNMARKED = "assistant or tool, settles nothing"


@dataclass(frozen=True)
class KeptLine:
    """A line that commits to nothing, and that became a fact."""

    conversation: str
    kind: str
    line: str
    fact: str


def kind_of(line: MarkedLine) -> str:
    """What a line is, in words."""
    return STATEMENT if line.number is not None else MARKS.get(line.mark, UNMARKED)


def kept_lines(
    conversation: MarkedConversation, facts: Sequence[Fact]
) -> tuple[dict[str, Share], list[KeptLine]]:
    """The share of the lines of each kind that one of the facts was taken from.

    A fact was taken from a line where its place in the turn and that of the line share at least
    half of the shorter of the two.
    """
    shares: dict[str, Share] = {}
    kept = []
    for place, turn in enumerate(conversation.turns):
        here = [fact for fact in facts if fact.source.ref == str(place) and fact.source.span]
        for line, start, end in _placed(turn.lines):
            kind = kind_of(line)
            made = next((fact for fact in here if _overlaps(fact, start, end)), None)
            shares[kind] = shares.get(kind, Share()) + Share.one(made is not None)
            if made is not None and line.number is None:
                kept.append(KeptLine(conversation.id, kind, line.text, str(made.value)))
    return shares, kept


def _placed(lines: Sequence[MarkedLine]) -> Iterator[tuple[MarkedLine, int, int]]:
    """Lines with where they begin and end in the text of their turn."""
    start = 0
    for line in lines:
        end = start + len(line.text)
        yield line, start, end
        start = end + 1


def _overlaps(fact: Fact, start: int, end: int) -> bool:
    assert fact.source.span is not None
    begin, stop = fact.source.span
    shared = min(end, stop) - max(start, begin)
    return shared > 0 and 2 * shared >= min(end - start, stop - begin)
