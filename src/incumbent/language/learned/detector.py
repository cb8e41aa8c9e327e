"""The detector that goes by the model alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from incumbent.language.detection import Judged, Pair, Relation
from incumbent.language.learned.encoding import Span
from incumbent.language.learned.model import Model, Opinion, load
from incumbent.language.learned.weighing import Read

_MOST_STATEMENTS: Final = 7
"""How many statements the model reads for one turn: the closest and latest."""
_NOT_THE_ONE: Final = 0.8
"""What is left of a probability if the model points at other words than the only value there is."""

_OVERLAP: Final = 0.34
"""How much of the words that the model points at, or of the value, the two must share; of values
with a form of their own half of that."""
_OTHER_KIND: Final = 0.97
"""A value of the same kind is the likelier one, where the model points at several."""
SAME: Final = (Relation.SAME_THING, Relation.SAME_WORDS)
_PERHAPS: Final = 0.3
"""From here on it is asked which words the model means, if not these."""
_Statement = tuple[str, str, str]
_NO = Judged(0.0, "")


class LearnedDetector:
    """Goes by what the model makes of a statement and the turn that follows."""

    name: Final = "learned"
    reach: Final = Relation.APART

    def __init__(self, model: Model | None = None) -> None:
        self._model = model or load()

    def read(
        self, statement: str, marked: Sequence[Span], previous: str, turn: str
    ) -> tuple[Opinion | None, ...]:
        """The model's opinion on each marked stretch of a statement."""
        return self._model.read(statement, marked, previous, turn)

    def weigh(self, turn: str, reads: Sequence[Read], *, follows: bool) -> Sequence[float]:
        """How likely each of the statements that a turn may be about is out of date."""
        return self._model.weigh(turn, reads, follows=follows)

    def at_most(
        self, turn: str, reads: Sequence[Read], unread: Sequence[float | None], *, follows: bool
    ) -> Sequence[float]:
        """The most that each can come to beside others that were not read."""
        return self._model.at_most(turn, reads, unread, follows=follows)

    def kind(self, stretch: str, context: str, role: str) -> Mapping[str, float]:
        """How likely a stretch of a turn is of each kind."""
        return self._model.kind(stretch, context, role)

    def begins(self, turn: str, words: Sequence[Span]) -> tuple[float, ...]:
        """How likely a statement begins with each of these words."""
        return self._model.begins(turn, words)

    def judge(self, pairs: Sequence[Pair]) -> list[Judged]:
        opinions = self._opinions(pairs)
        # Where the new value is found in another sentence of the turn, this one is read by itself.
        alone = {
            pair: replace(pair, turn=pair.statement, start=0)
            for pair in pairs
            if _points_elsewhere(opinions.get(_question(pair)), pair)
        }
        opinions.update(self._opinions(list(alone.values())))
        read = [alone.get(pair, pair) for pair in pairs]
        rivals = Counter(map(_question, read))
        return [
            _judged(pair, opinions.get(_question(pair)), rivals[_question(pair)]) for pair in read
        ]

    def _opinions(self, pairs: Sequence[Pair]) -> dict[tuple[_Statement, Span], Opinion]:
        """The model's opinion on each value, one run per statement."""
        marked: dict[_Statement, dict[Span, None]] = {}
        for pair in sorted(pairs, key=lambda pair: (-pair.relation, pair.standing.age)):
            statement = _statement(pair)
            if statement in marked or len(marked) < _MOST_STATEMENTS:
                marked.setdefault(statement, {})[pair.standing.span] = None
        found = {}
        for statement, spans in marked.items():
            text, previous, turn = statement
            ordered = _apart(sorted(spans))
            for span, opinion in zip(
                ordered, self._model.read(text, ordered, previous, turn), strict=True
            ):
                if opinion is not None:
                    found[statement, span] = opinion
        return found


def _statement(pair: Pair) -> _Statement:
    return pair.standing.text, pair.previous, pair.turn


def _question(pair: Pair) -> tuple[_Statement, Span]:
    return _statement(pair), pair.standing.span


def _apart(spans: Sequence[Span]) -> list[Span]:
    """Spans that do not reach into each other; the first of those that do."""
    found: list[Span] = []
    for span in spans:
        if not found or span[0] >= found[-1][1]:
            found.append(span)
    return found


def _judged(pair: Pair, opinion: Opinion | None, rivals: int) -> Judged:
    """What an opinion on a value says of one that may take its place, of so many rivals."""
    if opinion is None:
        return _NO
    if pair.candidate is None:
        return Judged(round(opinion.retracts, 4), "learned")
    chance = opinion.replaces
    if pair.candidate.kind != "term" and pair.relation in SAME:
        chance += opinion.confirms  # it is not the same: the values were compared, and they differ
    if pair.candidate.kind != pair.standing.part.kind:
        chance *= _OTHER_KIND
    if not _points_at(opinion, pair):
        alone = rivals == 1 and _points_here(opinion, pair)
        chance = chance * _NOT_THE_ONE if alone else 0.0
    return Judged(round(chance, 4), "learned")


def _points_at(opinion: Opinion, pair: Pair) -> bool:
    if opinion.span is None or opinion.in_previous != pair.is_in_previous:
        return False
    if pair.candidate is None:
        return False
    start = pair.start + pair.candidate.start
    end = pair.start + pair.candidate.end
    shared = min(end, opinion.span[1]) - max(start, opinion.span[0])
    least = _OVERLAP if pair.candidate.kind == "term" else _OVERLAP / 2
    return shared >= least * max(end - start, opinion.span[1] - opinion.span[0])


def _points_here(opinion: Opinion, pair: Pair) -> bool:
    """Whether the model points into the statement, if not at the value."""
    if opinion.span is None or opinion.in_previous != pair.is_in_previous:
        return False
    return pair.start <= opinion.span[0] < pair.start + len(pair.statement)


def _points_elsewhere(opinion: Opinion | None, pair: Pair) -> bool:
    """Whether the model sees a change that another sentence of the turn makes."""
    if opinion is None or pair.candidate is None or pair.turn == pair.statement:
        return False
    return opinion.replaces >= _PERHAPS and not _points_here(opinion, pair)
