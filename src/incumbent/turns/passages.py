"""Passages of a turn: its paragraphs, with where each says what the turn stated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from incumbent.model.records import Passage, Spot, Turn, WorkingItem
from incumbent.search.passages import Paragraph, paragraphs
from incumbent.stores.port import Transaction

_MOST = 10_000
"""Paragraphs of a turn."""


def passages_of(turn: Turn, item: WorkingItem, written: Iterable[Paragraph]) -> list[Passage]:
    """The passages of a turn as it stands on the desk."""
    who = (turn.speaker, turn.at)
    return [
        Passage(
            *(turn.session_id, turn.turn_index, place, *who, item.value[start:end]),
            *_stated(item, start, end),
            terms=terms,
            vector=vector,
        )
        for place, (start, end, terms, vector) in enumerate(written)
    ]


def follow_desk(
    transaction: Transaction, user_id: str, session_id: str, turn_index: int, item: WorkingItem
) -> None:
    """Let the passages of a turn state what its text on the desk states by now."""
    kept = transaction.passages(user_id, 0, _MOST, session_id=session_id, turn_index=turn_index)
    starts = {item.value[start:end]: start for start, end in reversed(paragraphs(item.value))}
    changed = []
    for _, _, one in kept:
        start = starts.get(one.text, 0)
        states, spots = _stated(item, start, start + len(one.text))
        changed.append(replace(one, states=states, spots=spots))
    transaction.put_passages(user_id, changed)


def _stated(item: WorkingItem, start: int, end: int) -> tuple[tuple[str, ...], tuple[Spot, ...]]:
    """What a stretch of a turn states, as far as that may be in it, and where, from its start.

    What it only proposes or supposes is cut from the desk, where it could pass for what is so. Much
    later, under its day, it reads as what it is, and is often what is looked for.
    """
    spots = tuple(
        spot._replace(start=max(spot.start, start) - start, end=min(spot.end, end) - start)
        for spot in item.spots
        if spot.fact_id and spot.start < end and start < spot.end
    )
    here, anywhere = ({spot.fact_id for spot in those} for those in (spots, item.spots))
    return tuple(one for one in item.states if one in here or one not in anywhere), spots
