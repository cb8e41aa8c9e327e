"""The observer: one turn of conversation, from its text to what is stored of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from incumbent.engine.registrar import Registrar
from incumbent.model.records import Turn, WorkingItem, item_key
from incumbent.reading.form import Heard, Reading, TurnReader
from incumbent.search.passages import Paragraph
from incumbent.turns.circumstances import Circumstances
from incumbent.turns.filing import Filing
from incumbent.turns.observation import Observation, Record
from incumbent.turns.passages import follow_desk, passages_of
from incumbent.turns.receiving import Received
from incumbent.turns.repeating import digest_of, observed_before, told_again
from incumbent.turns.situation import FoundBySearch, Situation, known_to, looked_at
from incumbent.turns.spots import retraced, spots_in

WINDOW: Final = 40
"""How many turns of a session stay at hand."""


def heard_in(came: Received, situation: Situation, now: datetime) -> Heard:
    """A turn with what a reader needs to understand it."""
    return Heard(
        came.text,
        came.speaker.name,
        came.at or now,
        situation.previous[-2_000:],
        situation.previous_by_machine,
        known_to(situation),
    )


class Overtaken(Exception):
    """A turn was read against what has changed since."""


class TurnObserver:
    """Files one turn that has been read, inside one transaction."""

    def __init__(
        self,
        registrar: Registrar,
        reader: TurnReader,
        around: Circumstances,
        written: Sequence[Paragraph] = (),
    ) -> None:
        """`written` are the paragraphs to keep of the turn."""
        self._registrar = registrar
        self._reader = reader
        self._around = around
        self._written = written

    def observe(
        self,
        came: Received,
        read: tuple[Situation, Reading] | None,
        found: Mapping[str, FoundBySearch],
    ) -> tuple[Observation, Record]:
        """File a turn, unless it was filed before. It is `Overtaken` if what it was read against
        has changed since; without a reading it is read here."""
        registrar, around = self._registrar, self._around
        reader, lens = registrar.transaction, registrar.lens
        known = observed_before(reader, lens, around.session_id, came)
        if known is not None:
            return told_again(reader, lens, known), Record()
        situation = looked_at(reader, lens, around.session_id, WINDOW, found, around.asks_first)
        if read is None:
            reading = self._reader.read(heard_in(came, situation, registrar.now))
        elif situation.is_as(read[0]):
            reading = read[1]
        else:
            raise Overtaken
        around = replace(around, turn_index=situation.next_index)
        filing = Filing(registrar, situation, around, self._reader.name)
        record = filing.file(reading)
        record.reading = reading
        turn = Turn(
            around.session_id,
            situation.next_index,
            came.speaker.name,
            came.at or registrar.now,
            digest_of(came.speaker.name, came.text, came.ref),
            came.ref,
            tuple(dict.fromkeys(fact.id for fact in record.facts)),
            tuple(verdict.id for verdict in record.verdicts),
        )
        record.turn = turn
        self._put_down(turn, came, reading, situation, record)
        return self._observation(turn, reading, record), record

    def _observation(self, turn: Turn, reading: Reading, record: Record) -> Observation:
        return Observation(
            turn_index=turn.turn_index,
            speaker=turn.speaker,
            at=turn.at,
            ref=turn.ref,
            statements=reading.statements,
            facts=tuple({fact.id: fact for fact in record.facts}.values()),
            verdicts=tuple(record.verdicts),
            retired=tuple(dict.fromkeys(record.retired)),
        )

    def _put_down(
        self, turn: Turn, came: Received, reading: Reading, situation: Situation, record: Record
    ) -> None:
        """Keep the turn in the working set, with where it says what."""
        transaction, now = self._registrar.transaction, self._registrar.now
        user_id = self._registrar.identity.user_id
        transaction.put_turn(user_id, turn)
        if not came.text.strip():
            return
        lifetime = self._registrar.settings.working_set_ttl
        expires = None if lifetime is None else now + lifetime
        known = situation.facts.values()
        spots = spots_in(came.text, turn.turn_index, reading, record.facts, known)
        self._retrace(situation, record)
        item = WorkingItem(item_key(turn), came.text, now, expires, turn.fact_ids, spots)
        transaction.put_item(user_id, turn.session_id, item)
        transaction.put_passages(user_id, passages_of(turn, item, self._written))
        if len(situation.turns) >= WINDOW:
            oldest = item_key(situation.turns[0])
            transaction.drop_items(user_id=user_id, session_id=turn.session_id, key=oldest)
        transaction.drop_items(expired_at=now)

    def _retrace(self, situation: Situation, record: Record) -> None:
        """Note in the last turn where it had already said what was stated just now."""
        before = situation.items.get(item_key(situation.turns[-1])) if situation.turns else None
        if before is None or not record.facts:
            return
        again = retraced(before, record.facts)
        if again is not before:
            user_id, session_id = self._registrar.identity.user_id, self._around.session_id
            transaction, index = self._registrar.transaction, situation.turns[-1].turn_index
            transaction.put_item(user_id, session_id, again)
            follow_desk(transaction, user_id, session_id, index, again)
