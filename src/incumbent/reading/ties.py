"""Ties: what a statement says it rests on.

"The wine is Merlot because of the menu." rests on what is known of the menu; "So the budget is
5,000." rests on what was said right before. A statement that gives a reason and names the thing of
another one rests on that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from incumbent.language.cues import Cues
from incumbent.language.lexicon import data, word_set
from incumbent.language.tokens import stem
from incumbent.reading.comparing import fillers, tokens
from incumbent.reading.form import Known, Relation, RelationKind, Statement, StatementKind

_LONGEST: Final = 4
"""The name of a thing has no more words that tell something."""
_READ: Final = 400


class _Words(NamedTuple):
    resting: frozenset[str]
    concluding: re.Pattern[str]
    taking_up: re.Pattern[str]
    linking: frozenset[str]


@lru_cache(maxsize=2)
def _words(language: str = "en") -> _Words:
    told = data("ties", language)
    concluding = "".join(told["concluding"].split("\n"))
    return _Words(
        frozenset(map(stem, told["resting"].split())),
        re.compile(rf"(?:and |ok |okay |well,? )?(?:{concluding})\b(?! that you)", re.IGNORECASE),
        re.compile(rf"(?:and |ok |okay |well,? )?(?:{told['taking_up']})\b", re.IGNORECASE),
        word_set(told["linking"]),
    )


def topic(text: str) -> frozenset[str]:
    """The words for the thing that a sentence is about; none where it names no single thing."""
    words = _words()
    found: list[str] = []
    for token in tokens(text[:_READ]):
        low = token.text.lower()
        if low in words.linking or (low.endswith(("'s", "’s")) and found):
            break
        if low not in fillers() and stem(low) not in words.resting:
            found.append(token.stem)
        if len(found) > _LONGEST:
            return frozenset()
    return frozenset(found)


def ties(statements: Sequence[Statement], known: Sequence[Known]) -> Iterator[Relation]:
    """What the statements of a turn rest on: what is known, or what the turn said before them."""
    words = _words()
    for number, said in enumerate(statements):
        if said.kind is StatementKind.SUPPOSES:
            yield from _waits(number, said, known)
        if said.kind is not StatementKind.STATES:
            continue
        own = {token.stem for token in tokens(said.text[:_READ])}
        concluding = words.concluding.match(said.text) is not None
        if number and said.parts and words.taking_up.match(said.text):
            yield from _right_before(number, statements, ())
            continue
        if not concluding and own.isdisjoint(words.resting):
            continue
        found = list(_named(number, said, own, statements, known))
        if not found and concluding:
            found = list(_right_before(number, statements, known))
        yield from found


def _waits(number: int, said: Statement, known: Sequence[Known]) -> Iterator[Relation]:
    """What something is to be once another thing changes: "If James leaves, report to Ada."."""
    found = Cues(said.text).contingency
    if found is None:
        return
    asked = {stem(word) for word in found.base.lower().split()}
    for fact in known:
        own = {token.stem for token in tokens(f"{fact.key.replace('_', ' ')} {fact.text}"[:_READ])}
        if asked <= own:
            yield _rests(number, said, fact_id=fact.id)
            return


def _named(
    number: int,
    said: Statement,
    own: set[str],
    statements: Sequence[Statement],
    known: Sequence[Known],
) -> Iterator[Relation]:
    """What has the thing that a statement names as its reason."""
    about = topic(said.text)
    for earlier, one in enumerate(statements[:number]):
        thing = topic(one.text)
        if thing and thing <= own and thing != about:
            yield _rests(number, said, earlier=earlier)
            return
    for fact in known:
        name = f"{fact.subject or ''} {fact.key.replace('_', ' ')}" if fact.key else ""
        thing = frozenset(map(stem, name.lower().split())) if name else topic(fact.text)
        if thing and thing <= own and thing != about:
            yield _rests(number, said, fact_id=fact.id)


def _right_before(
    number: int, statements: Sequence[Statement], known: Sequence[Known]
) -> Iterator[Relation]:
    for earlier in range(number - 1, -1, -1):
        if statements[earlier].kind is StatementKind.STATES:
            yield _rests(number, statements[number], earlier=earlier)
            return
    last = [one for one in known if one.is_here and one.age == 0]
    for one in last[:1]:
        yield _rests(number, statements[number], fact_id=one.id)


def _rests(
    number: int, said: Statement, *, fact_id: str = "", earlier: int | None = None
) -> Relation:
    return Relation(
        RelationKind.DEPENDS, fact_id, number, 1.0, said.text[:80], is_told=True, earlier=earlier
    )
