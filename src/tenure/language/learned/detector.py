"""Detectors that use the model: alone, and together with the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tenure.language.detection import (
    DOUBTED,
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

_MOST_STATEMENTS: Final = 8
"""How many statements the model reads for one turn: the closest and latest."""
_NOT_THE_ONE: Final = 0.8
"""What is left of a probability if the model points at other words than the only value there is."""

_OVERLAP: Final = 0.34
"""How much of the words that the model points at, or of the value, the two must share; of values
with a form of their own half of that."""
_OTHER_KIND: Final = 0.97
"""A value of the same kind is the likelier one, where the model points at several."""
_SAME: Final = (Relation.SAME_THING, Relation.SAME_WORDS)
WORTH: Final = 0.5
"""From here on a confidence means anything."""
_Statement = tuple[str, str, str]
_NO = Judged(0.0, "")


class LearnedDetector:
    """Goes by what the model makes of a statement and the turn that follows."""

    name: Final = "learned"
    reach: Final = Relation.APART

    def __init__(self, model: Model | None = None) -> None:
        self._model = model or load()

    def judge(self, pairs: Sequence[Pair]) -> list[Judged]:
        asked = [pair for pair in pairs if _is_comparable(pair)]
        opinions = self._opinions(asked)
        # Where the new value is found in another sentence of the turn, this one is read by itself.
        alone = {
            pair: replace(pair, turn=pair.statement, start=0)
            for pair in asked
            if _points_elsewhere(opinions.get(_question(pair)), pair)
        }
        opinions.update(self._opinions(list(alone.values())))
        read = [alone.get(pair, pair) for pair in pairs]
        rivals = Counter(_question(pair) for pair in read if _is_comparable(pair))
        return [
            _judged(pair, opinions.get(_question(pair)), rivals[_question(pair)])
            if _is_comparable(pair)
            else _NO
            for pair in read
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


def _is_comparable(pair: Pair) -> bool:
    """Whether one value could take the place of the other: they are of a kind, and differ."""
    old, new = pair.standing.part, pair.candidate
    if new is None:
        return True
    alike = old.kind == new.kind or (old.kind in WORDS and new.kind in WORDS)
    return alike and not same_part(old, new)


def _judged(pair: Pair, opinion: Opinion | None, rivals: int) -> Judged:
    """What an opinion on a value says of one that may take its place, of so many rivals."""
    if opinion is None:
        return _NO
    if pair.candidate is None:
        return Judged(round(opinion.retracts, 4), "learned")
    chance = opinion.replaces
    if pair.candidate.kind != "term" and pair.relation in _SAME:
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
    return opinion.replaces >= WORTH and not _points_here(opinion, pair)


class CombinedDetector:
    """The rules where they are sure, else the model; where they disagree, the more careful."""

    name: Final = "rules and model"
    reach: Final = Relation.APART

    def __init__(self, rules: RuleDetector | None = None, model: Model | None = None) -> None:
        self._rules = rules or RuleDetector()
        self._learned = LearnedDetector(model)

    def judge(self, pairs: Sequence[Pair]) -> list[Judged]:
        ruled = self._rules.judge(pairs)
        found = list(ruled)
        asked = [n for n, pair in enumerate(pairs) if _is_open(pair, ruled[n])]
        learned = self._learned.judge([pairs[n] for n in asked])
        for number, judged in zip(asked, learned, strict=True):
            found[number] = combined(pairs[number], ruled[number], judged)
        # Other sentences of a turn can drown a correction: where the rules see one, it is read by
        # itself.
        again = [n for n in asked if _is_drowned(pairs[n], ruled[n], found[n])]
        alone = [replace(pairs[n], turn=pairs[n].statement, start=0) for n in again]
        for number, judged in zip(again, self._learned.judge(alone), strict=True):
            found[number] = combined(pairs[number], ruled[number], judged)
        return _wherever_said(pairs, ruled, found)


def _wherever_said(
    pairs: Sequence[Pair], ruled: Sequence[Judged], found: Sequence[Judged]
) -> list[Judged]:
    """The same, where a value that is replaced is also replaced wherever else the rules see it."""
    gone = [
        (pair.standing.part, pair.candidate)
        for pair, judged in zip(pairs, found, strict=True)
        if judged.confidence >= WORTH and pair.candidate is not None
    ]
    return [
        rule
        if not judged.confidence
        and rule.confidence >= WORTH
        and any(new == pair.candidate and same_part(old, pair.standing.part) for old, new in gone)
        else judged
        for pair, rule, judged in zip(pairs, ruled, found, strict=True)
    ]


def _is_open(pair: Pair, rule: Judged) -> bool:
    """Whether an answer of the model could make a difference."""
    return not _is_settled(pair, rule) and _asked_of(pair, rule) < _NEVER


def _is_drowned(pair: Pair, rule: Judged, found: Judged) -> bool:
    """Whether the rules are as good as sure of a correction that the model has not seen."""
    if found.confidence or pair.turn == pair.statement or rule.confidence < _FITS_WELL:
        return False
    return pair.is_at_hand and (pair.is_cued or pair.has_failed)


def _is_settled(pair: Pair, rule: Judged) -> bool:
    """Whether the words leave no question: a clear cue needs no model."""
    if rule.because == OPPOSED or pair.is_added or pair.relation is Relation.OTHER:
        return True
    if pair.is_cued and pair.relation in _SAME:
        return rule.confidence >= _FITS_WELL
    return pair.is_denied and rule.confidence >= _SURE


_SURE = 0.9
_NEVER = 2.0


def combined(pair: Pair, rule: Judged, learned: Judged) -> Judged:
    """One judgement out of two: the better the rules know the place, the less proof it takes."""
    chance = learned.confidence
    if chance < _asked_of(pair, rule):
        return Judged(0.0, DOUBTED) if chance < _SURELY_NOT and rule.confidence >= WORTH else _NO
    if rule.confidence < WORTH:
        return learned
    return Judged(round(max(chance, min(rule.confidence, 0.95)), 4), f"{rule.because}, learned")


_FITS_WELL: Final = 0.8
_SURELY_NOT: Final = 0.02
_ENDED: Final = 0.97
"""How sure the model must be that something is over with nothing in its place."""


def _is_asked_for(pair: Pair) -> bool:
    return pair.is_request or pair.relation is Relation.SAME_MATTER


def _are_plain_words(pair: Pair) -> bool:
    return pair.candidate is not None and pair.standing.part.kind == pair.candidate.kind == "term"


def _asked_of(pair: Pair, rule: Judged) -> float:
    """How sure the model must be for a pair to count as a change."""
    if pair.candidate is None:
        return _ENDED
    if _are_plain_words(pair) and not _is_asked_for(pair) and rule.confidence < WORTH:
        return _NEVER  # put into the place of the other they might make no sense
    if pair.is_repeated:
        return 0.97
    fits = rule.confidence >= WORTH
    if pair.relation >= Relation.SAME_THING:
        if not pair.is_at_hand or not fits:
            return 0.75 if pair.is_at_hand and pair.has_failed else 0.85
        if rule.confidence < _FITS_WELL:
            return 0.4
        return 0.05 if pair.has_failed else 0.3
    if not pair.is_at_hand:
        return 0.97 if fits else _NEVER
    if pair.relation is Relation.NEARBY:
        return 0.7
    return 0.97
