"""Ranking: the order of the facts that were found, by relevance to a query. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from tenure.context.sheets import Sheet, Sheets
from tenure.model.authority import Ladder
from tenure.model.fact import Fact

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
_TRIED = 8
"""So many texts with a word in common are compared; of more, the meanings are."""


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


class Ranked(NamedTuple):
    """A fact with its score and the parts of the score."""

    fact: Fact
    score: float
    parts: Mapping[str, float]
    tokens: int | None
    bears: bool
    """Whether it has to do with the query by a word, or shares its subject with one that has."""
    sheet: Sheet


Alike = Callable[[Sequence[bytes | None], float, Collection[int]], list[tuple[int, int]]]
"""For each vector so similar to an earlier one: the place of the first such vector, and its own.
Only for vectors at these places."""


def base_score(text: float, meaning: float) -> float:
    """The score by words and meaning, before anything about the fact itself is counted."""
    return TEXT * text + MEANING * max(0.0, meaning)


def rank(
    candidates: Sequence[Rankable],
    asked: set[str],
    *,
    now: datetime,
    ladder: Ladder,
    sheets: Sheets,
    alike: Alike,
) -> list[Ranked]:
    """The candidates, best first; equals in the order newest first, then by id.

    `asked` are the terms of the query, `sheets` has what is known of each fact anyway, and `alike`
    finds vectors that are similar.
    """
    judge = _Judge(asked, now, ladder)
    found = [judge.judged(candidate, sheets(candidate.fact)) for candidate in candidates]
    order = sorted(range(len(found)), key=lambda index: _best_first(found[index]))
    repeats = _repeats([(candidates[index].vector, found[index].sheet) for index in order], alike)
    if not repeats:
        return [found[index] for index in order]
    for place in repeats:
        found[order[place]] = _lessened(found[order[place]], "repeated", REPEATED)
    order.sort(key=lambda index: _best_first(found[index]))
    return [found[index] for index in order]


def _best_first(ranked: Ranked) -> tuple[float, tuple[float, str]]:
    return -ranked.score, ranked.sheet.newest


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
    return ranked._replace(score=least, parts=parts)


class _Judge:
    """Scores candidates by one query."""

    def __init__(self, asked: set[str], now: datetime, ladder: Ladder) -> None:
        self._asked = asked
        self._now = now
        steps = max(1, len(ladder.rungs) - 1)
        self._standing = {
            rung: round(AUTHORITY * ladder.rank(rung) / steps, 4) for rung in ladder.rungs
        }
        self._unknown = round(AUTHORITY * ladder.rank("") / steps, 4)

    def judged(self, candidate: Rankable, sheet: Sheet) -> Ranked:
        fact, text, meaning, tokens, _, bears = candidate
        told: dict[str, float] = {}
        bearing = 0.0
        if text:
            bearing += (part := TEXT * text)
            told["text"] = round(part, 4)
        if meaning > 0:
            bearing += (part := MEANING * meaning)
            told["meaning"] = round(part, 4)
        if shared := self._asked.intersection(sheet.named):
            # The share of the key's words that the query uses.
            bearing += (part := KEY * (len(shared) / len(sheet.named)))
            told["key"] = round(part, 4)
        if sheet.about and (part := SUBJECT * _named(sheet.about, self._asked)):
            bearing += part
            told["subject"] = round(part, 4)
        if part := self._standing.get(fact.standing, self._unknown):
            told["authority"] = part
        if fact.time_sensitive:
            told["recency"] = round(RECENCY * _freshness(fact, self._now), 4)
        if fact.is_constraint and bearing:
            told["constraint"] = round(CONSTRAINT * min(1.0, bearing), 4)
        score = round(sum(told.values()), 4)
        return Ranked(fact, score, told, tokens, bears, sheet)


def _named(name: Sequence[str], asked: set[str]) -> float:
    """The share of a subject's words that the query uses; 0 if its numbers differ from the
    query's."""
    shared = asked.intersection(name)
    if not shared or any(term.isdigit() and term not in shared for term in name):
        return 0.0  # patient 18 is not patient 17
    return len(shared) / len(name)


def _freshness(fact: Fact, now: datetime) -> float:
    """1 for a reading of now, half of it a week ago."""
    age = max(0.0, (now - fact.order).total_seconds())
    return float(0.5 ** (age / _HALF_LIFE))


def _repeats(ordered: Sequence[tuple[bytes | None, Sheet]], alike: Alike) -> set[int]:
    """The places of candidates, each a vector and a sheet, that repeat a better one.

    Nearness of meaning alone would take the same statement on two matters for one, so their words
    have to agree too, numbers above all. Words are compared first: that is cheap, and few agree.
    """
    wordings = [sheet.wording for _, sheet in ordered]
    having: dict[object, list[int]] = {}
    suspected: set[int] = set()
    for place, wording in enumerate(wordings):
        for sign in wording.signs:
            before = having.get(sign)
            if before is None:
                having[sign] = [place]
                continue
            if place not in suspected and (
                len(before) > _TRIED or any(wording.repeats(wordings[one]) for one in before)
            ):
                suspected.add(place)
            before.append(place)
    if not suspected:
        return set()
    near = alike([vector for vector, _ in ordered], _ALIKE, suspected)
    return {worse for better, worse in near if wordings[better].repeats(wordings[worse])}


def _lessened(ranked: Ranked, why: str, left: float) -> Ranked:
    """A fact with only so much left of its score."""
    lost = round(ranked.score * (1 - left), 4)
    parts = {**ranked.parts, why: -lost}
    return ranked._replace(score=round(ranked.score - lost, 4), parts=parts)


def in_order_of_time(ranked: Sequence[Ranked]) -> dict[str, int]:
    """The place of each fact by its id: best first, and equals oldest first, as they were said.

    Where there is no room for all, the newest of equals is taken first; that is `rank`'s order.
    """
    ordered = sorted(ranked, key=lambda one: (-one.score, one.sheet.oldest))
    return {one.fact.id: place for place, one in enumerate(ordered)}
