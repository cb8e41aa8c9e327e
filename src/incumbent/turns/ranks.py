"""Ranks: what people of different rungs say of the same thing in the same words.

"Visitors sign in at the north gate", says Security, and somebody below: "... at the loading dock".
Whoever stands lower is not believed, whoever stands higher is, and in both cases the rules decide:
here it is only found that the two speak of one thing. What people say of themselves is of two.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from incumbent.language.speakers import is_machine
from incumbent.model.authority import Ladder
from incumbent.model.fact import Fact
from incumbent.model.values import text_of
from incumbent.reading import thresholds
from incumbent.reading.comparing import Comparison, compared, says_several
from incumbent.reading.form import (
    RETOLD,
    Reading,
    Relation,
    RelationKind,
    Statement,
    StatementKind,
)
from incumbent.turns.situation import Situation

_OF_ONESELF: Final = re.compile(r"\b(?:i|my|mine|myself)\b", re.IGNORECASE)
_MOST_MORE: Final = 1
"""A statement with more words that the other has no place for says something else."""
_LONGEST: Final = 300


def across_ranks(
    reading: Reading,
    situation: Situation,
    speaker: str,
    ladder: Ladder,
    rung_of: Callable[[Statement], str],
) -> Reading:
    """A reading with what its statements say otherwise than somebody of another rung has said.
    `rung_of` tells from which rung a statement is spoken."""
    if is_machine(speaker):
        return reading
    found: dict[str, Relation] = {}
    for number, said in enumerate(reading.statements):
        if said.kind is not StatementKind.STATES or RETOLD in said.cues or said.claim is not None:
            continue
        for fact in situation.facts.values():
            if not fact.is_unnamed or fact.source.speaker in (None, speaker):
                continue
            ranks = ladder.rank(fact.standing), ladder.rank(rung_of(said))
            if ranks[0] != ranks[1] and _says_otherwise(fact, said):
                chance, words = thresholds.TOLD, said.text[:80]
                found[fact.id] = Relation(RelationKind.REPLACES, fact.id, number, chance, words)
    kept = (one for one in reading.relations if one.fact_id not in found)
    return replace(reading, relations=(*kept, *found.values()))


def _says_otherwise(fact: Fact, said: Statement) -> bool:
    old, new = text_of(fact.value)[:_LONGEST], said.text[:_LONGEST]
    if _OF_ONESELF.search(old) is not None or _OF_ONESELF.search(new) is not None:
        return False
    how = compared(old, new)
    slot = how.one_slot
    if slot is None or slot.is_first or says_several(old, new):
        return False
    return how.share >= thresholds.ALIKE and _more(how) <= _MOST_MORE


def _more(how: Comparison) -> int:
    """How many words of the later one the earlier one has no place for."""
    return how.of_new - how.shared - sum(len(slot.new.split()) for slot in how.slots)
