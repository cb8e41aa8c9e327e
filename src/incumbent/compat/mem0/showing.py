"""The texts of memories as they are given back: without what no longer holds.

A memory is a fact in office, which is cut only for what nobody says by chance, as in a context:
"I love Berlin techno" stays when somebody moved away from Berlin. What a model worded is cut for
every dead value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from incumbent.compat.mem0.selecting import HeldMemory
from incumbent.compat.mem0.shapes import memory_text
from incumbent.model.fact import Fact
from incumbent.model.values import leaves
from incumbent.session import Session

_NUMBER = re.compile(r"\d{4}")


def shown_texts(session: Session, held: Sequence[HeldMemory]) -> list[str | None]:
    """What is left of each memory; None where nothing is."""
    whole = [memory_text(one.fact) for one in held]
    guarded = session.guard([{"role": "assistant", "content": text} for text in whole])
    told = {one.index: one for one in guarded.account}
    gone = {number for number, one in told.items() if one.outcome == "left out"}
    left = iter(guarded.messages)
    texts: list[str | None] = []
    for number, one in enumerate(held):
        text = None if number in gone else next(left)["content"]
        is_cut = number in told and _is_cut(session, one, told[number].fact_ids)
        texts.append(text if is_cut else whole[number])
    return texts


def _is_cut(session: Session, one: HeldMemory, dead_ids: Sequence[str]) -> bool:
    """Whether a memory is shown without the values of these facts."""
    if one.is_cut is not None:
        return one.is_cut
    own = {fact.id for fact in one.line}  # it may say what it was before, and more
    dead = [fact for fact_id in dead_ids if fact_id not in own and (fact := session.get(fact_id))]
    return any(one.fact.source.by_machine or _tells(fact, one.fact) for fact in dead)


def _tells(dead: Fact, fact: Fact) -> bool:
    """Whether nobody says the value of a dead fact by chance, or both are about one thing."""
    if dead.key == fact.key or any(part.text for part in dead.parts if " " in part.text):
        return True
    values = list(leaves(dead.value))
    return any(" " in value.strip() or _NUMBER.search(value) for value in values)
