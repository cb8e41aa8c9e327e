"""Taking over: whether a new value under a name takes the place of the one that is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from incumbent.model.fact import Fact
from incumbent.model.values import text_of
from incumbent.reading.form import NAMED, Relation, RelationKind, Statement
from incumbent.reading.things import is_of_a_plan, is_one_at_a_time, tells_of_change
from incumbent.turns.placing import is_other

_TAKES: Final = (
    RelationKind.REPLACES,
    RelationKind.ENDS,
    RelationKind.PART,
    RelationKind.CONFIRMS,
)


def takes_over(said: Statement, held: Sequence[Fact], relations: Sequence[Relation]) -> bool:
    """Whether a name is taken over by a new value. A reader who is sure that both stand is
    believed; where it says nothing, the name decides. A value of another kind takes nothing over,
    nor does one more of what there can be several of."""
    claim = said.claim
    if claim is None or any(is_other(claim, said, fact) for fact in held):
        return False
    if NAMED in said.cues:
        taken = {one.fact_id for one in relations if one.kind in _TAKES}
        return all(fact.id in taken for fact in held)
    is_one = is_one_at_a_time(claim.attribute) and not is_of_a_plan(claim.value)
    if not is_one and not tells_of_change(said.text):
        return all(text_of(fact.value) == claim.value for fact in held)
    told = {one.fact_id: one for one in relations}
    return all(fact.id not in told or told[fact.id].kind is not RelationKind.ADDS for fact in held)
