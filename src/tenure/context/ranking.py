"""Ranking: the order of the facts that were found, by relevance to a query. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import NamedTuple

from tenure.model.authority import Ladder
from tenure.model.fact import Fact
from tenure.model.values import text_of

# What each part weighs. Words and meaning decide; the rest settles what they leave open.
TEXT = 0.3
MEANING = 0.6
KEY = 0.15
SUBJECT = 0.04
AUTHORITY = 0.03
RECENCY = 0.05
CONSTRAINT = 0.1
REPEATED = 0.5
"""What is left of the score of a fact that says what a better one says already."""
DOUBTED = 0.5
"""What is left of the score of a fact that is in doubt: what holds comes before it."""

_HALF_LIFE = 7 * 86_400
_ALIKE = 0.94
_SAME = 0.8
_COMPARED = 4_000
"""Characters of two texts that are compared."""


class Rankable(NamedTuple):
    """A fact that was found, with its match by words and by meaning."""

    fact: Fact
    text: float
    meaning: float
    tokens: int | None = None
    """The tokens of its plain line, if they are known."""
    vector: bytes | None = None
    bears: bool = False
    """Whether it has to do with the query by a word, or shares its subject with one that has."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A fact with its score and the parts of the score."""

    fact: Fact
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    tokens: int | None = None
    bears: bool = False
    """Whether it has to do with the query by a word, or shares its subject with one that has."""


Terms = Callable[[str], Sequence[str]]
Alike = Callable[[Sequence[bytes | None], float], list[tuple[int, int]]]
"""For each vector so similar to an earlier one: the place of the first such vector, and its own."""


def base_score(text: float, meaning: float) -> float:
    """The score by words and meaning, before anything about the fact itself is counted."""
    return TEXT * text + MEANING * max(0.0, meaning)


def rank(
    candidates: Sequence[Rankable],
    asked: set[str],
    *,
    now: datetime,
    ladder: Ladder,
    terms: Terms,
    alike: Alike,
) -> list[Ranked]:
    """The candidates, best first; equals in the order newest first, then by id.

    `asked` are the terms of the query, `terms` gives those of a name, and `alike` finds vectors
    that are similar.
    """
    judge = _Judge(asked, now, ladder, terms)
    found = [judge.judged(candidate) for candidate in candidates]
    newest = [(-one.fact.order.timestamp(), one.fact.id) for one in found]
    order = sorted(range(len(found)), key=lambda index: (-found[index].score, newest[index]))
    repeats = _repeats([candidates[index] for index in order], terms, alike)
    if not repeats:
        return [found[index] for index in order]
    for place in repeats:
        found[order[place]] = _lessened(found[order[place]], "repeated", REPEATED)
    order.sort(key=lambda index: (-found[index].score, newest[index]))
    return [found[index] for index in order]


def weighed(ranked: Sequence[Ranked], doubted: Mapping[str, Sequence[Fact]]) -> list[Ranked]:
    """The facts in order, where what is in doubt counts less, but for a rule, which binds.

    The statement against it is as relevant as it was: whoever is shown that something may be
    outdated needs what may have replaced it.
    """
    if not doubted:
        return list(ranked)
    most: dict[str, float] = {}
    for one in ranked:
        for statement in doubted.get(one.fact.id, ())[:1]:
            most[statement.id] = max(one.score, most.get(statement.id, 0.0))
    found = []
    for one in ranked:
        one = _raised(one, most.get(one.fact.id, 0.0))
        is_less = one.fact.id in doubted and not one.fact.is_constraint
        found.append(_lessened(one, "doubted", DOUBTED) if is_less else one)
    return sorted(found, key=lambda one: -one.score)


def _raised(ranked: Ranked, least: float) -> Ranked:
    if ranked.score >= least:
        return ranked
    parts = {**ranked.parts, "doubts": round(least - ranked.score, 4)}
    return replace(ranked, score=least, parts=parts)


class _Judge:
    """Scores candidates by one query. Each key and subject is looked at once."""

    def __init__(self, asked: set[str], now: datetime, ladder: Ladder, terms: Terms) -> None:
        self._now = now
        self._rank = ladder.rank
        self._steps = max(1, len(ladder.rungs) - 1)
        self._key = cache(lambda key: KEY * _share(terms(key), asked))
        self._subject = cache(lambda subject: SUBJECT * _named(terms(subject), asked))

    def judged(self, candidate: Rankable) -> Ranked:
        fact = candidate.fact
        told: dict[str, float] = {}
        bearing = 0.0
        if candidate.text:
            bearing += (part := TEXT * candidate.text)
            told["text"] = round(part, 4)
        if candidate.meaning > 0:
            bearing += (part := MEANING * candidate.meaning)
            told["meaning"] = round(part, 4)
        if part := self._key(fact.key):
            bearing += part
            told["key"] = round(part, 4)
        if fact.subject and (part := self._subject(fact.subject)):
            bearing += part
            told["subject"] = round(part, 4)
        if rank := self._rank(fact.standing):
            told["authority"] = round(AUTHORITY * rank / self._steps, 4)
        if fact.time_sensitive:
            told["recency"] = round(RECENCY * _freshness(fact, self._now), 4)
        if fact.is_constraint and bearing:
            told["constraint"] = round(CONSTRAINT * min(1.0, bearing), 4)
        score = round(sum(told.values()), 4)
        return Ranked(fact, score, told, candidate.tokens, candidate.bears)


def _share(named: Sequence[str], asked: set[str]) -> float:
    """The share of a name's words that the query uses."""
    told = [term for term in named if not term.isdigit()]
    return sum(term in asked for term in told) / len(told) if told else 0.0


def _named(name: Sequence[str], asked: set[str]) -> float:
    """The share of a subject's words that the query uses; 0 if its numbers differ from the
    query's."""
    if any(term.isdigit() and term not in asked for term in name):
        return 0.0  # patient 18 is not patient 17
    return sum(term in asked for term in name) / len(name) if name else 0.0


def _freshness(fact: Fact, now: datetime) -> float:
    """1 for a reading of now, half of it a week ago."""
    age = max(0.0, (now - fact.order).total_seconds())
    return float(0.5 ** (age / _HALF_LIFE))


def _repeats(ordered: Sequence[Rankable], terms: Terms, alike: Alike) -> set[int]:
    """The places of candidates that repeat a better one.

    Nearness of meaning alone would take the same statement on two matters for one, so their words
    have to agree too, numbers above all.
    """
    found: set[int] = set()
    for better, worse in alike([candidate.vector for candidate in ordered], _ALIKE):
        texts = (text_of(ordered[i].fact.value)[:_COMPARED] for i in (better, worse))
        one, other = (set(terms(text)) for text in texts)
        if (
            one
            and len(one & other) >= _SAME * len(one | other)
            and _numbers(one) == _numbers(other)
        ):
            found.add(worse)
    return found


def _numbers(found: set[str]) -> set[str]:
    return {term for term in found if any(map(str.isdigit, term))}


def _lessened(ranked: Ranked, why: str, left: float) -> Ranked:
    """A fact with only so much left of its score."""
    lost = round(ranked.score * (1 - left), 4)
    parts = {**ranked.parts, why: -lost}
    return replace(ranked, score=round(ranked.score - lost, 4), parts=parts)


def in_order_of_time(ranked: Sequence[Ranked]) -> dict[str, int]:
    """The place of each fact by its id: best first, and equals oldest first, as they were said.

    Where there is no room for all, the newest of equals is taken first; that is `rank`'s order.
    """
    ordered = sorted(ranked, key=lambda one: (-one.score, one.fact.order, one.fact.id))
    return {one.fact.id: place for place, one in enumerate(ordered)}
