"""Agreeing: whether a model's reading of a turn comes to what the offline reading has filed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from incumbent.model.fact import UNNAMED, Fact
from incumbent.model.values import text_of
from incumbent.model.verdict import Action, Verdict
from incumbent.reading.form import READ, Reading, RelationKind, Statement
from incumbent.stores.port import Reader

_GONE = (RelationKind.REPLACES, RelationKind.ENDS)
_SAYS_NOTHING = (*_GONE, RelationKind.DOUBTS, RelationKind.DEPENDS, RelationKind.ADDS)
Filed = tuple[tuple[int, int], str, str | None, str, frozenset[str], frozenset[str], frozenset[str]]
"""Where it was said, under which name, what it says, what it ends, what it doubts, and what it
rests on."""


def agrees(
    reading: Reading,
    offline: Reading,
    verdicts: Sequence[Verdict],
    reader: Reader,
    turn_index: int,
) -> bool:
    """Whether filing a reading would do what was done. In doubt it would not."""
    if any(one.action is not Action.ASSERT for one in verdicts):
        return False
    if any(one.kind not in _SAYS_NOTHING or one.earlier is not None for one in reading.relations):
        return False
    terms = {(one.start, one.end): one.term for one in offline.statements}
    chosen = [one for one in reading.statements if READ in one.cues]
    if any(one.term != terms.get((one.start, one.end)) for one in chosen):
        return False
    wanted = [_wanted(n, s, reading) for n, s in enumerate(reading.statements) if READ in s.cues]
    facts = {fact.id: fact for fact in reader.facts([one.fact_id for one in verdicts])}
    if any(fact.source.turn_index != turn_index for fact in facts.values()):
        return False  # something that is to return
    there = [
        _filed(fact, one)
        for one in verdicts
        # What is only supposed a model is not asked about.
        if (fact := facts[one.fact_id]).scope.is_real and fact.when_superseded is None
    ]
    return sorted(wanted, key=str) == sorted(there, key=str)


def _wanted(number: int, said: Statement, reading: Reading) -> Filed:
    claim = said.claim
    links = [one for one in reading.relations if one.statement == number]
    name = (claim.attribute, claim.subject) if claim is not None else (UNNAMED, None)
    value = claim.value if claim is not None else said.wording or said.text
    gone = _ids(one.fact_id for one in links if one.kind in _GONE)
    doubted = _ids(one.fact_id for one in links if one.kind is RelationKind.DOUBTS)
    rests = _ids(one.fact_id for one in links if one.kind is RelationKind.DEPENDS)
    return (said.start, said.end), *name, value, gone, doubted, rests


def _filed(fact: Fact, verdict: Verdict) -> Filed:
    span = fact.source.span or (0, 0)
    gone, doubted, rests = map(_ids, (verdict.superseded, fact.doubts, fact.depends_on))
    return span, fact.key, fact.subject, text_of(fact.value), gone, doubted, rests


def _ids(ids: Iterable[str]) -> frozenset[str]:
    return frozenset(ids)
