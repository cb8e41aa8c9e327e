"""Ranking: the order of the facts that were found, by relevance to a query. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain, compress, repeat
from operator import eq
from typing import TYPE_CHECKING, Any, NamedTuple

from incumbent.context.score_parts import ScoreParts
from incumbent.context.sheets import Sheet, Wording
from incumbent.model.authority import Ladder
from incumbent.model.fact import Fact, Status

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from incumbent.context.roll import InCommon, LastRoll, Roll, Sheets

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
_TOKENS_A_LINE = 12
_TRIED = 8
"""So many texts with a word in common are compared; of more, the meanings are."""


class Matches(NamedTuple):
    """Facts that were found, with their matches by words and by meaning, in columns: thousands of
    small objects would take more time than everything that is done with them."""

    facts: Sequence[Fact]
    texts: Sequence[float] | Numbers
    meanings: Sequence[float] | Numbers
    tokens: Sequence[int | None]
    """The tokens of their plain lines, where they are known."""
    vectors: Sequence[bytes | None]
    bears: Sequence[bool]
    """Whether each has to do with the query by a word, or shares its subject with one that has."""


class Ranked(NamedTuple):
    """A fact with its score and what the score is made of."""

    fact: Fact
    score: float
    told: Sequence[float]
    """The parts of its score by their place in `PARTS`."""
    counted: Sequence[bool]
    """Those of them that there are."""
    tokens: int | None
    bears: bool
    """Whether it has to do with the query by a word, or shares its subject with one that has."""
    sheet: Sheet
    adjusted: tuple[tuple[str, float], ...] = ()
    """The parts of its score that came of other facts."""

    @property
    def parts(self) -> ScoreParts:
        """The parts of its score by their names."""
        told = zip(compress(PARTS, self.counted), compress(self.told, self.counted), strict=True)
        return ScoreParts(chain(told, self.adjusted) if self.adjusted else told)


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
    sheets: Sheets | LastRoll,
    alike: Alike,
) -> list[Ranked]:
    """The facts that were found, best first; equals in the order newest first, then by id.

    `asked` are the terms of the query, `sheets` has what is known of each fact anyway, and `alike`
    finds vectors that are similar.
    """
    facts, texts, meanings, tokens, vectors, bears = matches
    if not facts:
        return []
    roll = sheets.roll(facts)
    scores, told, counted = _Judge(asked, now, ladder).judged(roll, texts, meanings)
    order = _best_first(scores, roll)
    repeats = _repeats(roll, order, vectors, alike)
    found = _ranked(facts, scores.tolist(), told, counted, tokens, bears, roll.sheets)
    for place in repeats:
        lessened = found[place] = _lessened(found[place], "repeated", REPEATED)
        scores[place] = lessened.score
    if repeats:
        order = _best_first(scores, roll)
    return [found[place] for place in order]


def _ranked(*columns: Sequence[Any]) -> list[Ranked]:
    make = partial(tuple.__new__, Ranked)  # as `_make` does, which takes a call of Python for each
    return list(map(make, zip(*columns, repeat(()))))


def _best_first(scores: Numbers, roll: Roll) -> list[int]:
    """The places of facts, best first; equals in the order newest first, then by id."""
    import numpy as np  # here, because others import this module who never rank

    ids = [fact.id for fact in roll.facts]
    by_id = np.array(sorted(range(len(ids)), key=ids.__getitem__))
    order: list[int] = by_id[np.lexsort((-roll.times[by_id], -scores[by_id]))].tolist()
    return order


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
            rung: round(AUTHORITY * ladder.rank(rung) / steps, 4) for rung in ladder.rungs
        }
        self._unknown = round(AUTHORITY * ladder.rank("") / steps, 4)

    def judged(
        self, roll: Roll, texts: Sequence[float] | Numbers, meanings: Sequence[float] | Numbers
    ) -> tuple[Numbers, list[list[float]], list[list[bool]]]:
        """The scores of facts with such matches, the parts of each, and which of these count."""
        import numpy as np

        counts = np.zeros((len(PARTS), len(roll.facts)), np.bool_)
        exact = np.zeros(counts.shape)
        text, meaning, key, subject, authority, recency, constraint = exact
        text[:], meaning[:] = texts, meanings
        counts[0], counts[1] = text != 0, meaning > 0
        text *= TEXT
        np.maximum(meaning, 0.0, out=meaning)
        meaning *= MEANING
        key[:] = self._shares(roll.names, _of_key)
        subject[:] = self._shares(roll.subjects, _of_subject)
        known = {
            number: self._standing.get(name, self._unknown)
            for number, name in roll.standings.spelled.items()
        }
        authority[:] = [known[number] for number in roll.standings.numbers]
        binds, reads = roll.is_constraint, roll.is_reading
        if binds.any():
            # A rule counts more where it has to do with the query.
            bearing = text + meaning + key + subject
            constraint[:] = CONSTRAINT * np.minimum(bearing, 1.0) * binds
            counts[6] = binds & (bearing != 0)
        for place in np.flatnonzero(reads).tolist():
            recency[place] = RECENCY * _freshness(roll.facts[place], self._now)
        parts = rounded(exact)
        counts[2:5], counts[5] = parts[2:5] != 0, reads
        rest = parts[2] + parts[3] + parts[4] + parts[5] + parts[6]
        # A sum of such numbers lies next to one of four digits and far from the middle of two.
        scores: Numbers = np.rint((parts[0] + parts[1] + rest) * _DIGITS) / _DIGITS
        return scores, parts.T.tolist(), counts.T.tolist()

    def _shares(self, named: InCommon, of: Named) -> list[float] | float:
        """What each fact gets for a name. Many have the same, which is judged once."""
        asked = self._asked
        found = {
            number: of(name, asked)
            for number, name in named.spelled.items()
            if not asked.isdisjoint(name)
        }
        return [found.get(number, 0.0) for number in named.numbers] if found else 0.0


Named = Callable[[Sequence[str], set[str]], float]
"""The part of a score that the words of a name get by the terms of a query."""


def _of_key(named: Sequence[str], asked: set[str]) -> float:
    """The share of the key's words that the query uses, as a part of a score."""
    shared = asked.intersection(named)
    return KEY * (len(shared) / len(named)) if shared else 0.0


def _of_subject(about: Sequence[str], asked: set[str]) -> float:
    """The share of a subject's words that the query uses, as a part of a score."""
    return SUBJECT * _named(about, asked)


def rounded(numbers: Numbers) -> Numbers:
    """These numbers, which are not negative, rounded to four digits as Python rounds them."""
    import numpy as np

    scaled = numbers * _DIGITS
    found: Numbers = np.rint(scaled) / _DIGITS
    # Next to the middle of two, Python goes by the number's exact value.
    is_near = np.abs(scaled - np.floor(scaled) - 0.5) < _MIDDLE
    if is_near.any():
        found[is_near] = [round(number, 4) for number in numbers[is_near].tolist()]
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


def _repeats(
    roll: Roll, order: Sequence[int], vectors: Sequence[bytes | None], alike: Alike
) -> list[int]:
    """The places of facts that repeat a better one; `order` has all, best first.

    Nearness of meaning alone would take the same statement on two matters for one, so their words
    have to agree too, numbers above all. Words are compared first: that is cheap, and few agree.
    """
    signs, sheets = roll.signs, roll.sheets
    every = sorted(chain.from_iterable(signs))
    shared = set(compress(every, map(eq, every, every[1:])))
    if not shared:
        return []
    having: dict[int, list[Wording]] = {}
    suspected: set[int] = set()
    for rank, place in enumerate(order):
        if shared.isdisjoint(signs[place]):
            continue
        wording = sheets[place].wording
        for sign in shared.intersection(signs[place]):
            before = having.setdefault(sign, [])
            if rank not in suspected and (
                len(before) > _TRIED or any(wording.repeats(one) for one in before)
            ):
                suspected.add(rank)
            before.append(wording)
    if not suspected:
        return []
    near = alike([vectors[place] for place in order], _ALIKE, suspected)
    pairs = [(order[better], order[worse]) for better, worse in near]
    return [
        worse for better, worse in pairs if sheets[better].wording.repeats(sheets[worse].wording)
    ]


def _lessened(ranked: Ranked, why: str, left: float) -> Ranked:
    """A fact with only so much left of its score."""
    lost = round(ranked.score * (1 - left), 4)
    adjusted = (*ranked.adjusted, (why, -lost))
    return ranked._replace(score=round(ranked.score - lost, 4), adjusted=adjusted)


def first_of(facts: Sequence[Ranked], room: int) -> tuple[list[int], set[int]]:
    """The places of facts in the order in which they are added, and of those that come first.

    Rules come first, up to half the room for facts: the worst omission of a context is a rule that
    is being broken. What a person asked for once and for all follows, up to an eighth.
    """
    first = [*_within(facts, room // 2, _binds), *_within(facts, room // 8, _is_asked_for)]
    known = set(first)
    return [*first, *(place for place in range(len(facts)) if place not in known)], known


def _within(facts: Sequence[Ranked], room: int, belongs: Callable[[Ranked], bool]) -> Iterator[int]:
    """The places of the best facts of a kind that hold by now and fit in so much room."""
    for place, ranked in enumerate(facts):
        if room > 0 and belongs(ranked) and _holds(ranked.fact):
            room -= ranked.tokens or _TOKENS_A_LINE
            yield place


def _binds(ranked: Ranked) -> bool:
    return ranked.fact.is_constraint


def _is_asked_for(ranked: Ranked) -> bool:
    return ranked.sheet.comes_first and not ranked.fact.is_constraint


def _holds(fact: Fact) -> bool:
    return not fact.needs_review and fact.status is not Status.WAITING
