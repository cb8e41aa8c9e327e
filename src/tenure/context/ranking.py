"""Ranking: the order of the facts that were found, by relevance to a query. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from tenure.context.score_parts import ScoreParts
from tenure.context.sheets import Sheet, Sheets
from tenure.model.authority import Ladder
from tenure.model.fact import Fact

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

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
_DIGITS = 10_000.0
_MIDDLE = 1e-6
"""How near the middle of two neighbours a number lies that is rounded by itself."""
_TRIED = 8
"""So many texts with a word in common are compared; of more, the meanings are."""


class Matches(NamedTuple):
    """Facts that were found, with their matches by words and by meaning, in columns: thousands of
    small objects would take more time than everything that is done with them."""

    facts: Sequence[Fact]
    texts: Sequence[float]
    meanings: Sequence[float]
    tokens: Sequence[int | None]
    """The tokens of their plain lines, where they are known."""
    vectors: Sequence[bytes | None]
    bears: Sequence[bool]
    """Whether each has to do with the query by a word, or shares its subject with one that has."""


class Ranked(NamedTuple):
    """A fact with its score and what the score is made of."""

    fact: Fact
    score: float
    told: tuple[float | None, ...]
    """The parts of its score by their place in `PARTS`."""
    tokens: int | None
    bears: bool
    """Whether it has to do with the query by a word, or shares its subject with one that has."""
    sheet: Sheet
    adjusted: tuple[tuple[str, float], ...] = ()
    """The parts of its score that came of other facts."""

    @property
    def parts(self) -> ScoreParts:
        """The parts of its score by their names."""
        found = {
            name: part for name, part in zip(PARTS, self.told, strict=True) if part is not None
        }
        found.update(self.adjusted)
        return ScoreParts(found)


PARTS = ("text", "meaning", "key", "subject", "authority", "recency", "constraint")

Alike = Callable[[Sequence[bytes | None], float, Collection[int]], list[tuple[int, int]]]
"""For each vector so similar to an earlier one: the place of the first such vector, and its own.
Only for vectors at these places."""


def base_score(text: float, meaning: float) -> float:
    """The score by words and meaning, before anything about the fact itself is counted."""
    return TEXT * text + MEANING * max(0.0, meaning)


def rank(
    matches: Matches,
    asked: set[str],
    *,
    now: datetime,
    ladder: Ladder,
    sheets: Sheets,
    alike: Alike,
) -> list[Ranked]:
    """The facts that were found, best first; equals in the order newest first, then by id.

    `asked` are the terms of the query, `sheets` has what is known of each fact anyway, and `alike`
    finds vectors that are similar.
    """
    facts, texts, meanings, tokens, vectors, bears = matches
    if not facts:
        return []
    known = sheets.of(facts)
    scores, told = _Judge(asked, now, ladder).judged(known, texts, meanings)
    columns = zip(facts, scores, told, tokens, bears, known, repeat(()))
    found = list(map(Ranked._make, columns))
    order = _best_first(scores, known)
    repeats = _repeats(
        [known[index] for index in order], [vectors[index] for index in order], alike
    )
    if not repeats:
        return [found[index] for index in order]
    for place in repeats:
        lessened = found[order[place]] = _lessened(found[order[place]], "repeated", REPEATED)
        scores[order[place]] = lessened.score
    return [found[index] for index in _best_first(scores, known)]


def _best_first(scores: Sequence[float], sheets: Sequence[Sheet]) -> list[int]:
    keys = [(-score, sheet.newest) for score, sheet in zip(scores, sheets, strict=True)]
    return sorted(range(len(keys)), key=keys.__getitem__)


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
    adjusted = (*ranked.adjusted, ("doubts", round(least - ranked.score, 4)))
    return ranked._replace(score=least, adjusted=adjusted)


class _Judge:
    """Scores facts by one query."""

    def __init__(self, asked: set[str], now: datetime, ladder: Ladder) -> None:
        self._asked = asked
        self._now = now
        steps = max(1, len(ladder.rungs) - 1)
        self._standing = {
            rung: round(AUTHORITY * ladder.rank(rung) / steps, 4) or None for rung in ladder.rungs
        }
        self._unknown = round(AUTHORITY * ladder.rank("") / steps, 4) or None

    def judged(
        self, sheets: Sequence[Sheet], texts: Sequence[float], meanings: Sequence[float]
    ) -> tuple[list[float], list[tuple[float | None, ...]]]:
        """The scores of facts with such matches, and the parts of each."""
        import numpy as np  # here, because others import this module who never rank

        said = rounded(TEXT * np.array(texts, np.float64))
        meant = rounded(MEANING * np.maximum(np.array(meanings, np.float64), 0.0))
        found: list[tuple[float | None, ...]] = []
        others: list[float] = []
        asked, standing, unknown = self._asked, self._standing, self._unknown
        for sheet, text, meaning, by_text, by_meaning in zip(
            sheets, texts, meanings, said.tolist(), meant.tolist(), strict=True
        ):
            key = subject = recency = constraint = None
            if not asked.isdisjoint(sheet.named):
                key = round(_of_key(sheet, asked), 4)
            if sheet.about and not asked.isdisjoint(sheet.about):
                subject = round(SUBJECT * _named(sheet.about, asked), 4) or None
            authority = standing.get(sheet.fact.standing, unknown)
            if sheet.is_special:
                recency, constraint = self._special(sheet, text, meaning)
            found.append(
                (
                    by_text if text else None,
                    by_meaning if meaning > 0 else None,
                    key,
                    subject,
                    authority,
                    recency,
                    constraint,
                )
            )
            rest = (key or 0.0) + (subject or 0.0) + (authority or 0.0)
            others.append(rest + (recency or 0.0) + (constraint or 0.0))
        # A sum of such numbers lies next to one of four digits and far from the middle of two.
        total = np.rint((said + meant + np.array(others)) * _DIGITS) / _DIGITS
        scores: list[float] = total.tolist()
        return scores, found

    def _special(
        self, sheet: Sheet, text: float, meaning: float
    ) -> tuple[float | None, float | None]:
        """What a reading gets for being new, and what a rule gets for having to do with it."""
        fact, asked = sheet.fact, self._asked
        recency = constraint = None
        if fact.time_sensitive:
            recency = round(RECENCY * _freshness(fact, self._now), 4)
        bearing = base_score(text, meaning) + _of_key(sheet, asked)
        if sheet.about:
            bearing += SUBJECT * _named(sheet.about, asked)
        if fact.is_constraint and bearing:
            constraint = round(CONSTRAINT * min(1.0, bearing), 4)
        return recency, constraint


def _of_key(sheet: Sheet, asked: set[str]) -> float:
    """The share of the key's words that the query uses, as a part of a score."""
    shared = asked.intersection(sheet.named)
    return KEY * (len(shared) / len(sheet.named)) if shared else 0.0


def rounded(numbers: Numbers) -> Numbers:
    """These numbers, which are not negative, rounded to four digits as Python rounds them."""
    import numpy as np

    scaled = numbers * _DIGITS
    found = np.rint(scaled) / _DIGITS
    # Next to the middle of two, Python goes by the number's exact value.
    for place in np.flatnonzero(np.abs(scaled - np.floor(scaled) - 0.5) < _MIDDLE).tolist():
        found[place] = round(float(numbers[place]), 4)
    return found


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


def _repeats(sheets: Sequence[Sheet], vectors: Sequence[bytes | None], alike: Alike) -> set[int]:
    """The places of facts, best first, that repeat a better one.

    Nearness of meaning alone would take the same statement on two matters for one, so their words
    have to agree too, numbers above all. Words are compared first: that is cheap, and few agree.
    """
    wordings = [sheet.wording for sheet in sheets]
    having: dict[int, list[int]] = {}
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
    near = alike(vectors, _ALIKE, suspected)
    return {worse for better, worse in near if wordings[better].repeats(wordings[worse])}


def _lessened(ranked: Ranked, why: str, left: float) -> Ranked:
    """A fact with only so much left of its score."""
    lost = round(ranked.score * (1 - left), 4)
    adjusted = (*ranked.adjusted, (why, -lost))
    return ranked._replace(score=round(ranked.score - lost, 4), adjusted=adjusted)


def in_order_of_time(ranked: Sequence[Ranked]) -> dict[str, int]:
    """The place of each fact by its id: best first, and equals oldest first, as they were said.

    Where there is no room for all, the newest of equals is taken first; that is `rank`'s order.
    """
    keys = [(-one.score, one.sheet.oldest) for one in ranked]
    ordered = sorted(range(len(ranked)), key=keys.__getitem__)
    return {ranked[index].fact.id: place for place, index in enumerate(ordered)}
