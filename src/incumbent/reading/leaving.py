"""Leaving: words by which somebody seems to be done with a thing that is known by its name.

"Lose the headcount, please." and "The headcount is history." may be meant for the memory or for the
world. Neither erases anything: what is known is shown in doubt, with the words that put it there,
until the person says so plainly or keeps it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from incumbent.language.lexicon import data
from incumbent.reading import thresholds
from incumbent.reading.form import Known, Relation, RelationKind, Statement, StatementKind
from incumbent.reading.things import name_of, things

_LONGEST: Final = 160
_SAID: Final = (StatementKind.STATES, StatementKind.ORDERS, StatementKind.ASKS)
_VALUES: Final = frozenset({"money", "date", "time", "number", "quantity", "percent", "code"})


class _Patterns:
    def __init__(self, language: str) -> None:
        told = data("leaving", language)
        verbs, kept = ("|".join(told[name].split()) for name in ("removing", "keeping"))
        asked = rf"(?:^|[,;.:!–-] ?|\b(?:{told['asking']}) )"
        self.removes = _compiled(rf"{asked}(?:{verbs})\b")
        self.denies = _compiled(rf"\b(?:{told['denying']})\b(?: \w+){{0,4}}? (?:{kept})\b")
        is_so = r"(?:\bis|\bare|['’]s|\bhas|\bcan|\bbe)"
        self.over = _compiled(rf"{is_so} (?:\w+ )?(?:{told['over']})\b")


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@lru_cache(maxsize=2)
def _patterns(language: str = "en") -> _Patterns:
    return _Patterns(language)


def left_behind(statements: Sequence[Statement], known: Sequence[Known]) -> Iterator[Relation]:
    """What somebody seems to be done with, in doubt until they say so plainly."""
    for number, said in enumerate(statements):
        if said.kind not in _SAID or len(said.text) > _LONGEST or not _leaves(said):
            continue
        named = [name_of(one.key, one.subject) for one in things(said.text, said.parts)]
        meant = [
            fact
            for fact in known
            if fact.key and any(name_of(fact.key, fact.subject) <= name for name in named)
        ]
        for fact in meant[:1]:
            yield Relation(RelationKind.DOUBTS, fact.id, number, thresholds.UNSURE, said.text[:80])


def _leaves(said: Statement) -> bool:
    if any(part.kind in _VALUES for part in said.parts):
        return False
    patterns, text = _patterns(), said.text
    return any(
        one.search(text) is not None for one in (patterns.removes, patterns.denies, patterns.over)
    )
