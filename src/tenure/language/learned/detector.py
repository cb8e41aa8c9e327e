"""Detectors that use the model: alone, and together with the rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tenure.language.detection import (
    OPPOSED,
    WORDS,
    Judged,
    Pair,
    Relation,
    RuleDetector,
    same_part,
)
from tenure.language.learned.encoding import Span
from tenure.language.learned.model import Model, Opinion, load

_MOST_STATEMENTS: Final = 12
"""How many statements the model reads for one turn: the closest and latest."""
_NOT_THE_ONE: Final = 0.8
"""What is left of a probability if the model points at other words than the only value there is."""

_Statement = tuple[str, str, str]
_NO = Judged(0.0, "")


class LearnedDetector:
    """Goes by what the model makes of a statement and the turn that follows."""

    name: Final = "learned"
    reach: Final = Relation.APART

    def __init__(self, model: Model | None = None) -> None:
        self._model = model or load()

    def judge(self, pairs: Sequence[Pair]) -> list[Judged]:
        opinions = self._opinions([pair for pair in pairs if _is_comparable(pair)])
        rivals = _rivals(pairs)
        return [
            _judged(pair, opinions.get((_statement(pair), pair.standing.span)), rivals)
            if _is_comparable(pair)
            else _NO
            for pair in pairs
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


def _apart(spans: Sequence[Span]) -> list[Span]:
    """Spans that do not reach into each other; the first of those that do."""
    found: list[Span] = []
    for span in spans:
        if not found or span[0] >= found[-1][1]:
            found.append(span)
    return found


def _is_comparable(pair: Pair) -> bool:
    """Whether one value could take the place of the other at all: they are of a kind, and differ."""
    old, new = pair.standing.part, pair.candidate
    alike = old.kind == new.kind or (old.kind in WORDS and new.kind in WORDS)
    return alike and not same_part(old, new)


def _rivals(pairs: Sequence[Pair]) -> dict[tuple[_Statement, Span], int]:
    """How many values could take the place of each."""
    found: dict[tuple[_Statement, Span], int] = {}
    for pair in pairs:
        if _is_comparable(pair):
            key = _statement(pair), pair.standing.span
            found[key] = found.get(key, 0) + 1
    return found


def _judged(
    pair: Pair, opinion: Opinion | None, rivals: dict[tuple[_Statement, Span], int]
) -> Judged:
    if opinion is None:
        return _NO
    chance = opinion.replaces
    if not _points_at(opinion, pair):
        alone = rivals[_statement(pair), pair.standing.span] == 1
        chance = chance * _NOT_THE_ONE if alone and _points_here(opinion, pair) else 0.0
    return Judged(round(chance, 4), "learned")


def _points_at(opinion: Opinion, pair: Pair) -> bool:
    if opinion.span is None or opinion.in_previous != pair.is_in_previous:
        return False
    start = pair.start + pair.candidate.start
    end = pair.start + pair.candidate.end
    return opinion.span[0] < end and start < opinion.span[1]


def _points_here(opinion: Opinion, pair: Pair) -> bool:
    """Whether the model points into the statement, if not at the value."""
    if opinion.span is None or opinion.in_previous != pair.is_in_previous:
        return False
    return pair.start <= opinion.span[0] < pair.start + len(pair.statement)


class CombinedDetector:
    """The rules where they are sure, else the model; where they disagree, the more careful."""

    name: Final = "rules and model"
    reach: Final = Relation.APART

    def __init__(self, rules: RuleDetector | None = None, model: Model | None = None) -> None:
        self._rules = rules or RuleDetector()
        self._learned = LearnedDetector(model)

    def judge(self, pairs: Sequence[Pair]) -> list[Judged]:
        ruled = self._rules.judge(pairs)
        open_ = [
            pair for pair, rule in zip(pairs, ruled, strict=True) if not _is_settled(pair, rule)
        ]
        learned = iter(self._learned.judge(open_))
        return [
            rule if _is_settled(pair, rule) else combined(pair, rule, next(learned))
            for pair, rule in zip(pairs, ruled, strict=True)
        ]


def _is_settled(pair: Pair, rule: Judged) -> bool:
    """Whether the words leave no question: a clear cue needs no model."""
    if rule.because == OPPOSED or pair.is_added or pair.relation is Relation.OTHER:
        return True
    if rule.confidence < _SURE:
        return False
    return pair.is_denied or (pair.is_cued and pair.relation in _SAME)


_SAME = (Relation.SAME_THING, Relation.SAME_WORDS)


_SURE = 0.9
_NEVER = 2.0


def combined(pair: Pair, rule: Judged, learned: Judged) -> Judged:
    """One judgement out of two: the better the rules know the place, the less proof it takes."""
    chance = learned.confidence
    if chance < _asked_of(pair, rule):
        return _NO
    if rule.confidence < WORTH:
        return learned
    return Judged(round(max(chance, min(rule.confidence, 0.95)), 4), f"{rule.because}, learned")


WORTH: Final = 0.5


def _asked_of(pair: Pair, rule: Judged) -> float:
    """How sure the model must be for a pair to count as a change."""
    if pair.relation >= Relation.SAME_THING:
        if rule.confidence >= 0.85:
            return 0.15
        return 0.4 if rule.confidence >= WORTH else 0.75
    if not pair.is_at_hand:
        return 0.97 if rule.confidence >= WORTH else _NEVER
    if pair.relation is Relation.NEARBY:
        return 0.7
    return 0.97
