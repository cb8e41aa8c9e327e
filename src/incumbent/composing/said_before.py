"""What was said before and is near to a query: passages by words and meaning."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from incumbent.language.speakers import is_machine
from incumbent.language.values.finding import find
from incumbent.model.records import KeptPassage, Passage
from incumbent.search import analysis
from incumbent.search.retrieval import cosines
from incumbent.stores.port import PassageReader

if TYPE_CHECKING:
    from incumbent.search.collection import Vector

_MOST_TERMS: Final = 64
_MOST_POSTED: Final = 1_000
"""A word that more passages have tells little; the latest of them count."""
_LOOKED_AT: Final = 200
"""The passages, best by words, whose meaning is compared."""
_K1, _B = 1.2, 0.75
_USUAL: Final = 40
"""The number of terms of a usual paragraph."""
_MEANING: Final = 0.5
"""The share of a score that meaning has."""
_OF_MACHINE: Final = 0.7
"""What the words of a machine count for beside those of people: there are many more of them."""
_ANSWERED: Final = 8
"""So many of the best come with what was answered to them."""
_SHORT_ANSWER: Final = 300
"""Characters."""
_FLOOR: Final = 0.4
"""The share of the best score below which a passage has too little to do with the query."""


class FoundPassage(NamedTuple):
    """A passage with its score: up to 1, and none is 0."""

    kept: KeptPassage
    score: float


def said_before(
    reader: PassageReader, user_id: str, query: str, meaning: Callable[[str], Vector | None]
) -> list[FoundPassage]:
    """The passages of a person that have to do with a query, the best first.

    Each shares a word with it; among those, words and meaning decide.
    """
    asked = list(dict.fromkeys(analysis.terms(query)))[:_MOST_TERMS]
    total = reader.passage_count(user_id) if asked else 0
    if not total:
        return []
    posted = reader.passages_under(user_id, asked, _MOST_POSTED)
    weights = {
        term: math.log(1 + (total - len(there) + 0.5) / (len(there) + 0.5))
        for term, there in zip(asked, posted, strict=True)
        if there
    }
    shares: dict[int, float] = {}
    for term, there in zip(asked, posted, strict=True):
        for number in there:
            shares[number] = shares.get(number, 0.0) + weights[term]
    near = sorted(shares, key=lambda number: (-shares[number], -number))[:_LOOKED_AT]
    kept = reader.passages_numbered(near)
    told = [_text_score(one.passage.terms.split(), weights) for one in kept]
    meant = cosines([one.passage.vector for one in kept], meaning(query)).tolist()
    best = max(told, default=0.0) or 1.0
    found = []
    for one, words, mean in zip(kept, told, meant, strict=True):
        score = (1 - _MEANING) * words / best + _MEANING * max(mean, 0.0)
        by_machine = is_machine(one.passage.speaker)
        found.append(FoundPassage(one, score * _OF_MACHINE if by_machine else score))
    found.sort(key=lambda one: (-one.score, -one.kept.number))
    near_enough = [one for one in found if one.score >= _FLOOR * found[0].score]
    return _with_answers(reader, user_id, near_enough)


def _with_answers(
    reader: PassageReader, user_id: str, found: list[FoundPassage]
) -> list[FoundPassage]:
    """These, the best each with what somebody else answered to it, in words of its own: "Checkout
    is at 11, right?" "For you it's 13:00." """
    known = {one.kept.number for one in found}
    told = []
    for place, one in enumerate(found):
        told.append(one)
        answer = _answer_to(reader, user_id, one.kept.passage) if place < _ANSWERED else None
        if answer is not None and answer.number not in known:
            told.append(FoundPassage(answer, one.score))
            known.add(answer.number)
    return told


def _answer_to(reader: PassageReader, user_id: str, asked: Passage) -> KeptPassage | None:
    """The next turn, if somebody else says in it, in short, a value that was not said to them."""
    session_id, after = asked.session_id, asked.turn_index + 1
    there = reader.passages(user_id, 0, 2, session_id=session_id, turn_index=after)
    if len(there) != 1 or there[0].passage.speaker == asked.speaker:
        return None
    text = there[0].passage.text
    if len(text) > _SHORT_ANSWER or all(one.text in asked.text for one in find(text)):
        return None
    return there[0]


def _text_score(terms: list[str], weights: dict[str, float]) -> float:
    """The score of a passage by BM25, against a paragraph of the usual length."""
    often = Counter(term for term in terms if term in weights)
    ballast = _K1 * (1 - _B + _B * len(terms) / _USUAL)
    return sum(weights[term] * n * (_K1 + 1) / (n + ballast) for term, n in often.items())
