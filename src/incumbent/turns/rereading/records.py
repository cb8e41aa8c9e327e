"""Records: what is stored of a turn that was read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from incumbent.engine.registrar import Registrar
from incumbent.model.records import Turn, item_key
from incumbent.model.verdict import Verdict
from incumbent.turns.passages import follow_desk
from incumbent.turns.records import Record
from incumbent.turns.rereading.waiting import Waiting
from incumbent.turns.spots import own_spots


def replace_record(
    registrar: Registrar,
    waiting: Waiting,
    turn: Turn,
    record: Record,
    verdicts: Sequence[Verdict],
) -> None:
    """Enter in the record of a turn, and on the desk, what it brings by now. The verdicts of the
    first reading stay in it, before those that took it back."""
    transaction, user_id = registrar.transaction, registrar.identity.user_id
    fact_ids = tuple(dict.fromkeys(fact.id for fact in record.facts))
    decided = (*turn.verdict_ids, *(one.id for one in verdicts))
    transaction.put_turn(user_id, replace(turn, fact_ids=fact_ids, verdict_ids=decided))
    text = waiting.came.text
    items = transaction.working_items(user_id, turn.session_id)
    for place, item in enumerate(items):
        if (item.key, item.value) == (item_key(turn), text):
            unreal = tuple(spot for spot in item.spots if not spot.fact_id)
            spots = (*own_spots(text, turn.turn_index, record.facts), *unreal)
            marked = replace(item, states=fact_ids, spots=spots)
            # What is put goes to the end of the desk; the turns after it have to stay after it.
            for one in (marked, *items[place + 1 :]):
                transaction.put_item(user_id, turn.session_id, one)
            follow_desk(transaction, user_id, turn.session_id, turn.turn_index, marked)
