"""The detector that goes by the rules and the model together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from incumbent.language.detection import (
    DOUBTED,
    OPPOSED,
    WORTH_ASKING,
    Judged,
    Pair,
    Relation,
    RuleDetector,
    same_part,
)
from incumbent.language.learned.detector import SAME, LearnedDetector
from incumbent.language.learned.encoding import Span
from incumbent.language.learned.model import Model, Opinion
from incumbent.language.learned.weighing import Read

_FITS_WELL: Final = 0.8
_SURE: Final = 0.9
_BEYOND_DOUBT: Final = 0.97
"""How sure the rules are where a value that is denied, or fits well, needs no model."""
_ODDS_IF_IT_FITS: Final = 4.0
_ODDS_IF_IT_FAILED: Final = 10.0
"""How much likelier a change is that the rules see as well; or that follows a failed attempt."""
_MORE_LIKELY: Final = WORTH_ASKING
_FAR_MORE_LIKELY: Final = 0.7
"""How sure the two must be of a change, and of one that little else speaks for."""
_SURELY_NOT: Final = 0.06
_NEVER: Final = 2.0
_NO = Judged(0.0, "")


class CombinedDetector:
    """The rules where they are sure, else the model; where they disagree, the more careful."""

    name: Final = "rules and model"
    reach: Final = Relation.APART

    def __init__(self, rules: RuleDetector | None = None, model: Model | None = None) -> None:
        self._rules = rules or RuleDetector()
        self._learned = LearnedDetector(model)

    def read(
        self, statement: str, marked: Sequence[Span], previous: str, turn: str
    ) -> tuple[Opinion | None, ...]:
        """The model's opinion on each marked stretch of a statement."""
        return self._learned.read(statement, marked, previous, turn)

    def weigh(self, turn: str, reads: Sequence[Read], *, follows: bool) -> Sequence[float]:
        """How likely each of the statements that a turn may be about is out of date."""
        return self._learned.weigh(turn, reads, follows=follows)

    def at_most(
        self, turn: str, reads: Sequence[Read], unread: Sequence[float | None], *, follows: bool
    ) -> Sequence[float]:
        """The most that each can come to beside others that were not read."""
        return self._learned.at_most(turn, reads, unread, follows=follows)

    def kind(self, stretch: str, context: str, role: str) -> Mapping[str, float]:
        """How likely a stretch of a turn is of each kind."""
        return self._learned.kind(stretch, context, role)

    def begins(self, turn: str, words: Sequence[Span]) -> tuple[float, ...]:
        """How likely a statement begins with each of these words."""
        return self._learned.begins(turn, words)

    def may_doubt(self, pairs: Sequence[Pair]) -> bool:
        """Whether judging these could come to a doubt, and to no change.

        Only what the rules take for a change is doubted, and what they are sure of stays one.
        """
        ruled = self._rules.judge(pairs)
        is_open = [_is_open(pair, rule) for pair, rule in zip(pairs, ruled, strict=True)]
        if any(rule.confidence for rule, asked in zip(ruled, is_open, strict=True) if not asked):
            return False
        return any(
            rule.confidence >= WORTH_ASKING
            for rule, asked in zip(ruled, is_open, strict=True)
            if asked
        )

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
        if judged.confidence >= WORTH_ASKING and pair.candidate is not None
    ]
    return [
        rule
        if not judged.confidence
        and rule.confidence >= WORTH_ASKING
        and any(new == pair.candidate and same_part(old, pair.standing.part) for old, new in gone)
        else judged
        for pair, rule, judged in zip(pairs, ruled, found, strict=True)
    ]


def _is_open(pair: Pair, rule: Judged) -> bool:
    """Whether an answer of the model could make a difference."""
    if pair.candidate is None:
        return True
    return not _is_settled(pair, rule) and _asked_of(pair, rule) < _NEVER


def _is_drowned(pair: Pair, rule: Judged, found: Judged) -> bool:
    """Whether the rules see a correction that the model has not seen."""
    least = WORTH_ASKING if pair.is_cued else _FITS_WELL
    if found.confidence or pair.turn == pair.statement or rule.confidence < least:
        return False
    return pair.is_at_hand and (pair.is_cued or pair.has_failed)


def _is_settled(pair: Pair, rule: Judged) -> bool:
    """Whether the words leave no question: a clear cue needs no model."""
    if rule.because == OPPOSED or pair.is_added or pair.relation is Relation.OTHER:
        return True
    if pair.is_same_turn and not pair.is_cued:
        return True  # who goes on talking adds to what was said
    if pair.is_cued and pair.relation in SAME:
        return rule.confidence >= _FITS_WELL
    if pair.is_cued and pair.is_fragment and pair.is_at_hand:
        return rule.confidence >= _BEYOND_DOUBT  # "No, only 40 desks"
    return pair.is_denied and rule.confidence >= _SURE


def combined(pair: Pair, rule: Judged, learned: Judged) -> Judged:
    """One judgement out of two: what the rules see as well is the likelier for it."""
    if pair.candidate is None:
        return learned  # the rules say nothing of what is over
    fits = rule.confidence >= WORTH_ASKING
    chance = learned.confidence
    if fits and pair.is_at_hand:
        chance = _likelier(chance, _odds(pair, rule))
    if chance < _asked_of(pair, rule):
        return Judged(0.0, DOUBTED) if fits and learned.confidence < _SURELY_NOT else _NO
    return Judged(round(chance, 4), f"{rule.because}, learned" if fits else learned.because)


def _odds(pair: Pair, rule: Judged) -> float:
    if pair.has_failed and rule.confidence >= _FITS_WELL:
        return _ODDS_IF_IT_FAILED
    return _ODDS_IF_IT_FITS


def _likelier(chance: float, odds: float) -> float:
    """A probability after evidence that makes it so many times as likely as not."""
    return chance * odds / (chance * odds + 1 - chance)


def _asked_of(pair: Pair, rule: Judged) -> float:
    """How sure the two must be for a pair to count as a change."""
    fits = rule.confidence >= WORTH_ASKING
    if not fits and _are_plain_words(pair) and not _is_asked_for(pair):
        return _NEVER  # put into the place of the other they might make no sense
    if pair.relation <= Relation.NEARBY and not fits and not _are_of_a_kind(pair):
        return _NEVER
    if pair.is_repeated:
        return _FAR_MORE_LIKELY
    if pair.relation >= Relation.SAME_THING:
        return _MORE_LIKELY
    if not pair.is_at_hand:
        return _FAR_MORE_LIKELY if fits else _NEVER
    return _MORE_LIKELY if pair.relation is Relation.NEARBY else _FAR_MORE_LIKELY


def _are_of_a_kind(pair: Pair) -> bool:
    return pair.candidate is None or pair.standing.part.kind == pair.candidate.kind


def _is_asked_for(pair: Pair) -> bool:
    return pair.is_request or pair.relation is Relation.SAME_MATTER


def _are_plain_words(pair: Pair) -> bool:
    return pair.candidate is not None and pair.standing.part.kind == pair.candidate.kind == "term"
