"""Sparing: what is kept after all, though it was to be cancelled: "actually keep them"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from incumbent.language.lexicon import data
from incumbent.reading import thresholds
from incumbent.reading.beside import in_common
from incumbent.reading.form import Known, Relation, RelationKind, Statement, StatementKind

_LONGEST: Final = 9
"""A longer sentence says more than that."""
_LATE: Final = 3
"""So many statements may have been kept since, if they are of nothing else by its name."""
_ACTING: Final = (StatementKind.STATES, StatementKind.ORDERS, StatementKind.AGREES)


class _Words(NamedTuple):
    cancelling: re.Pattern[str]
    sparing: re.Pattern[str]
    pointing: re.Pattern[str]


@lru_cache(maxsize=2)
def _words(language: str = "en") -> _Words:
    told = data("alternatives", language)["spared"]
    return _Words(*(re.compile(told[name], re.IGNORECASE) for name in _Words._fields))


def spared(statements: Sequence[Statement], known: Sequence[Known]) -> Iterator[Relation]:
    """What takes back a cancellation: what it had ended counts again, and it ends itself."""
    words = _words()
    ended = [one for one in known if words.cancelling.match(one.text) and not one.by_machine]
    for number, said in enumerate(statements):
        found = words.sparing.match(said.text)
        if found is None or said.kind not in _ACTING or len(said.text.split()) > _LONGEST:
            continue
        if any(part.kind != "term" for part in said.parts):
            continue  # it says more than that
        points = words.pointing.match(said.text, found.end()) is not None
        meant = [one for one in ended if _is_meant(one, said, points=points)]
        if meant:
            last = min(meant, key=lambda one: (not one.is_here, one.age))
            for kind in (RelationKind.REVERTS, RelationKind.REPLACES):
                yield Relation(kind, last.id, number, thresholds.TOLD, said.text[:80], is_told=True)


def _is_meant(one: Known, said: Statement, *, points: bool) -> bool:
    """Whether it is the cancellation that a statement takes back: by its words, or as the last."""
    if in_common(one.text, said.text) > 0 and not points:
        return True
    return points and one.is_here and one.age < _LATE
