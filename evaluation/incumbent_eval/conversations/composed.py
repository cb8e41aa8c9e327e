"""Lines of contexts that are no stretch of any turn: sentences that nobody said, to be judged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import incumbent
from incumbent.context.document import Context, Line
from incumbent.context.rendering import heading_line
from incumbent.model.values import text_of
from incumbent_eval.conversations.sections import OURS
from incumbent_eval.spoken import SpokenText, tokens

_MARKS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
"""What we put beside what was said: dates, speakers, times resolved, kinds of constraints."""
_JOINTS = re.compile(r"…|\.\.\.|\s→\s")
"""Where a value was cut, and where what replaced it follows."""
_LABEL = ": "
_COMPOSED = "(composed)"
"""How a line ends that says itself that its wording is ours."""
_MOST_LABELS = 3


@dataclass(frozen=True)
class ComposedLine:
    """A line whose text nobody said."""

    conversation: str
    line: str
    sources: tuple[str, ...]
    """The turns that it was made from."""

    @property
    def is_marked(self) -> bool:
        """Whether the line says itself that its wording is composed."""
        return self.line.endswith(_COMPOSED)


class SaidText:
    """The turns of a conversation, which can be asked whether somebody said a text."""

    def __init__(self, turns: Sequence[str]) -> None:
        self._turns = [SpokenText(way) for text in turns for way in (text, _bare(text))]

    def has(self, text: str) -> bool:
        """Whether each stretch of a text, between its cuts and joints, is one of a turn."""
        return any(self._has(way) for way in (text, _bare(text)))

    def _has(self, text: str) -> bool:
        pieces = [piece for piece in _JOINTS.split(text) if tokens(piece)]
        return all(any(turn.says(piece) for turn in self._turns) for piece in pieces)


def _bare(text: str) -> str:
    """A text without what stands in brackets, the innermost first."""
    rest = _MARKS.sub(" ", text)
    return rest if rest == text else _bare(rest)


def composed_lines(
    session: incumbent.Session, conversation: str, turns: Sequence[str], contexts: Iterable[Context]
) -> tuple[list[ComposedLine], int]:
    """The lines of some contexts that nobody said, each once, and how many lines there are."""
    said = SaidText(turns)
    lines = {
        line.text: line
        for context in contexts
        for line in context.lines
        if line.fact_id is not None and not heading_line(line.section).startswith(OURS)
    }
    found = [
        ComposedLine(conversation, text, tuple(_sources(line, turns)))
        for text, line in lines.items()
        if not any(said.has(way) for way in _unlabelled(text)) and not _quotes(session, line, said)
    ]
    return found, len(lines)


def _unlabelled(text: str) -> Iterator[str]:
    """A line without the labels that stand before a colon."""
    rest = text.strip().removeprefix("- ")
    for _ in range(_MOST_LABELS + 1):
        yield rest
        _, colon, rest = rest.partition(_LABEL)
        if not colon:
            return


def _quotes(session: incumbent.Session, line: Line, said: SaidText) -> bool:
    """Whether a line in other words of ours tells a fact whole that somebody said so."""
    fact = session.get(line.fact_id) if line.fact_id is not None else None
    if fact is None:
        return False
    value = text_of(fact.value)
    return said.has(value) and SpokenText(line.text).says(value)


def _sources(line: Line, turns: Sequence[str]) -> Iterator[str]:
    for source in line.sources:
        for ref in (source.ref, *(one.ref for one in source.earlier)):
            if ref is not None and ref.isdecimal() and int(ref) < len(turns):
                yield turns[int(ref)]
