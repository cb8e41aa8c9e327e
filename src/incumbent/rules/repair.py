"""Repair: the derived facts that can no longer be relied on, and why.

Review marks are never edited step by step. They are recomputed from the state of the bases, so
marking and lifting are exact inverses whatever happened in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from incumbent.model.fact import Cause, Fact
from incumbent.model.values import same_value


def broken_leg(base: Fact, end: Fact) -> Cause | None:
    """The cause that one leg gives, or None while it bears.

    A leg bears while the end of the base's chain is in office with the base's value: a renewal or a
    reversion to the same value brings it back.
    """
    if not end.is_valid:
        return Cause(base.id, None, (base.id,))
    if end.id != base.id and not same_value(base.value, end.value):
        return Cause(base.id, end.id, (base.id,))
    return None


def causes_of(fact: Fact, bases: Mapping[str, Fact], ends: Mapping[str, Fact]) -> tuple[Cause, ...]:
    """Every unacknowledged reason to review a fact, through any depth, with the shortest path.

    `bases` and `ends` are keyed by the base's id; an end carries its own causes already.
    """
    found: dict[str, Cause] = {}
    for base_id in fact.depends_on:
        broken = broken_leg(bases[base_id], ends[base_id])
        inherited: Iterable[Cause]
        if broken is not None and broken.token not in fact.acknowledged:
            inherited = (broken,)
        elif ends[base_id].is_valid:
            inherited = ends[base_id].causes
        else:
            inherited = ()
        for cause in inherited:
            reaching = Cause(cause.base, cause.now, (*cause.path, fact.id))
            known = found.get(cause.token)
            if cause.token not in fact.acknowledged and (
                known is None or (len(reaching.path), reaching.path) < (len(known.path), known.path)
            ):
                found[cause.token] = reaching
    return tuple(found[token] for token in sorted(found))
