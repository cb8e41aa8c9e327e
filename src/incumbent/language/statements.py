"""A turn as statements, each with what it is for.

Only what a speaker commits to can become a fact. Everything here is decided by the words of one
turn: who said it and what was said before is weighed elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from incumbent.language.clauses import Piece, clauses
from incumbent.language.moods import Kind, moods
from incumbent.language.phrasebook import Word
from incumbent.language.reading import Block, BlockKind, Sentence, blocks, sentences

__all__ = ["Kind", "Statement", "is_counterfactual", "kind_of", "statements"]

_COMMITTED = frozenset({Kind.ASSERTION, Kind.REQUEST, Kind.COMMITMENT})
_UNREAL = frozenset({Kind.HYPOTHETICAL, Kind.DRAFT})
_OPENINGS = frozenset({Kind.SMALL_TALK, Kind.CONFIRMATION})
_COUNTERFACTUAL = frozenset({"counterfactual", "wish"})
_OPEN_ENDED = frozenset({"conditional", "counterfactual", "supposition"})
# Who speaks, written before what they say: "[Manager] ...", "Dana Roy (VP Sales): ..."
_TAG = re.compile(
    r"(?:\[[^\[\]\n]{1,60}\]:?"
    r"|[\w.'-]{1,30}(?: [A-Z][\w.'-]{0,30}){0,3}(?: \([^()\n]{1,40}\))?:)\s+"
)
_QUESTION_MARKS = "?？؟"
_BETWEEN = " \t\r\n\u00a0,;–—-"
_QUOTED = re.compile(r"[“\"«][^“”\"«»]+[”\"»][.!?]?")
_FEW_WORDS = 3


@dataclass(frozen=True, slots=True)
class Statement:
    """A part of a turn that does one thing."""

    text: str
    start: int
    end: int
    kind: Kind
    cues: tuple[str, ...] = ()
    """What decided, and what else was noticed: "wish", "conditional", "factive" ..."""

    @property
    def is_committed(self) -> bool:
        """Whether its speaker says that it is so, or wants it so."""
        return self.kind in _COMMITTED


def is_counterfactual(statement: Statement) -> bool:
    """Whether a statement tells of what is not so."""
    supposed = statement.kind is Kind.HYPOTHETICAL or statement.cues[:1] == ("factive",)
    return supposed and not _COUNTERFACTUAL.isdisjoint(statement.cues)


def kind_of(sentence: str) -> tuple[Kind, tuple[str, ...]]:
    """The kind and the cues of a sentence: of its first statement that is no mere opening."""
    found = list(_of_block(Block(BlockKind.PROSE, sentence, 0, len(sentence))))
    chosen = next((one for one in found if one.kind not in _OPENINGS), found[0] if found else None)
    return (chosen.kind, chosen.cues) if chosen else (Kind.SMALL_TALK, ())


def statements(text: str) -> list[Statement]:
    """The statements of a turn in order. They do not overlap."""
    return [statement for block in blocks(text) for statement in _of_block(block)]


def _of_block(block: Block) -> Iterator[Statement]:
    if block.kind is not BlockKind.PROSE:
        kind = Kind.REPORT if block.kind is BlockKind.QUOTE else Kind.VERBATIM
        yield Statement(block.text, block.start, block.end, kind, (block.kind.value,))
        return
    before: Statement | None = None
    label: Kind | None = None
    for sentence in sentences(block):
        if before and _are_apart(block, before, sentence):
            before = label = None
        label = moods().label(sentence.text) or label
        for statement in _of_sentence(sentence):
            before = _in_company(statement, before, label)
            yield before


def _in_company(statement: Statement, before: Statement | None, label: Kind | None) -> Statement:
    """A statement as what stands before it makes it read."""
    if label and statement.is_committed:
        return replace(statement, kind=label, cues=("label", *statement.cues))
    if before and _goes_on(before, statement):
        return replace(statement, kind=Kind.HYPOTHETICAL, cues=("continued", *statement.cues))
    return statement


def _are_apart(block: Block, before: Statement, sentence: Sentence) -> bool:
    """Whether a new paragraph begins between a statement and a sentence."""
    between = block.text[before.end - block.start : sentence.start - block.start]
    return between.count("\n") > 1


def _goes_on(before: Statement, statement: Statement) -> bool:
    """Whether a statement tells more of what was only supposed: "The rent would be 5k"."""
    return (
        before.kind is Kind.HYPOTHETICAL
        and not _OPEN_ENDED.isdisjoint(before.cues)
        and statement.kind in (Kind.ASSERTION, Kind.COMMITMENT)
        and "irrealis" in statement.cues
    )


class _Read(NamedTuple):
    """A piece of a sentence with its kind."""

    piece: Piece
    kind: Kind
    cues: tuple[str, ...]


def _of_sentence(sentence: Sentence) -> list[Statement]:
    words = moods().words(sentence.text)
    tag = _TAG.match(sentence.text)
    if tag and not moods().label(sentence.text):
        words = [word for word in words if word.start >= tag.end()]
    if not words:
        return [Statement(sentence.text, sentence.start, sentence.end, Kind.SMALL_TALK)]
    if len(words) > _FEW_WORDS and _QUOTED.fullmatch(sentence.text):
        return [Statement(sentence.text, sentence.start, sentence.end, Kind.REPORT, ("quoted",))]
    merged: list[_Read] = []
    asked = words[-1].said[0] in _QUESTION_MARKS
    for piece in clauses().pieces(words):
        read = _read(words, piece, asked=asked)
        if merged and (together := _together(merged[-1], read, words)):
            merged[-1] = together
        else:
            merged.append(read)
    return list(_placed(sentence, words, merged))


def _read(words: Sequence[Word], piece: Piece, *, asked: bool) -> _Read:
    if piece.kind:
        return _Read(piece, Kind(piece.kind), (piece.cue,))
    spoken = words[piece.core : piece.after]
    return _Read(piece, *moods().kind(spoken, asked=asked, last=piece.after == len(words)))


def _together(before: _Read, read: _Read, words: Sequence[Word]) -> _Read | None:
    """Two pieces as one: of one kind, or one a part of the other, or one in the other's reach."""
    if read.piece.stands and before.kind is read.kind and read.kind in _COMMITTED:
        return None
    if read.cues[:1] == ("tag",):
        kind = read.kind
    elif before.kind is read.kind or _is_empty(read) or _reaches(before, read, words):
        kind = before.kind
    elif _is_empty(before) or (before.piece.is_dependent and not read.piece.breaks):
        return _whole(before, read, words)
    else:
        return None
    piece = before.piece._replace(
        after=read.piece.after, is_dependent=read.piece.is_dependent, kind="", cue=""
    )
    decided, other = (before, read) if kind is before.kind else (read, before)
    return _Read(piece, kind, tuple(dict.fromkeys((*decided.cues, *other.cues))))


def _is_empty(read: _Read) -> bool:
    return read.kind is Kind.SMALL_TALK and not read.cues


def _whole(before: _Read, read: _Read, words: Sequence[Word]) -> _Read:
    """A clause with another that depends on it: a condition makes both hypothetical.

    Asking for something in case it can be had is still asking.
    """
    piece = before.piece._replace(after=read.piece.after, is_dependent=read.piece.is_dependent)
    asks = read.kind is Kind.REQUEST and "proviso" in before.cues
    if asks or before.kind not in _UNREAL:
        return _Read(piece, read.kind, tuple(dict.fromkeys((*read.cues, *before.cues))))
    spoken = words[piece.core : piece.after]
    _, cues = moods().kind(spoken, asked=False, last=True)
    return _Read(piece, before.kind, cues)


def _reaches(before: _Read, read: _Read, words: Sequence[Word]) -> bool:
    """Whether what was supposed or reported goes on in the next clause."""
    if read.piece.breaks or read.kind not in (Kind.ASSERTION, Kind.COMMITMENT):
        return False
    if before.kind is Kind.HYPOTHETICAL:
        return not _OPEN_ENDED.isdisjoint(before.cues)
    return before.kind is Kind.REPORT and not moods().is_personal(words[read.piece.core])


def _placed(
    sentence: Sentence, words: Sequence[Word], merged: Sequence[_Read]
) -> Iterator[Statement]:
    """Statements with their places in the turn; only marks between them are left out."""
    starts = [0, *(words[piece.first].start for piece, _, _ in merged[1:]), len(sentence.text)]
    for (start, end), (_, kind, cues) in zip(pairwise(starts), merged, strict=True):
        text = sentence.text[start:end]
        if start:
            text = text.lstrip(_BETWEEN)
        begin = sentence.start + end - len(text)
        if end < len(sentence.text):
            text = text.rstrip(_BETWEEN)
        if text:
            yield Statement(text, begin, begin + len(text), kind, cues)
