"""Turns that wait for a user's model to read them, and the conversations they belong to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from incumbent.engine.lens import Lens
from incumbent.engine.registrar import Registrar
from incumbent.model.fact import Status
from incumbent.model.identity import Identity
from incumbent.model.records import Turn, item_key
from incumbent.model.scope import Place
from incumbent.model.verdict import Action, Verdict
from incumbent.reading.asked.asking import Completion
from incumbent.reading.form import Reading
from incumbent.stores.port import Reader, Store
from incumbent.turns.opinions import Opinion
from incumbent.turns.receiving import Received
from incumbent.turns.repeating import mark_of

_SKEW: Final = timedelta(minutes=1)
"""How far the clocks of two processes may be apart."""
ERASED: Final = "what the turn said was forgotten in the meantime"


@dataclass(frozen=True)
class Conversation:
    """A session, as far as rereading its turns needs it."""

    identity: Identity
    session_id: str
    task_id: str | None
    branch: Place | None
    reading: Callable[[], AbstractContextManager[tuple[Reader, Lens]]]
    """Opens a view of what the session may see."""
    deciding: Callable[[], AbstractContextManager[Registrar]]
    """Opens a transaction that decides for the session."""
    asks: Completion | None = field(default=None, repr=False)
    """Who is asked, if not the model of the memory. It may know a key of the caller's."""
    asks_first: bool = False
    """Whether what is said in it is kept only once its author approves it."""

    @property
    def name(self) -> tuple[Identity, str, str | None, Place | None]:
        """What turns have in common that may go into one request."""
        return self.identity, self.session_id, self.task_id, self.branch


@dataclass(frozen=True, eq=False)
class Waiting:
    """A turn that was observed and waits to be read again."""

    conversation: Conversation
    came: Received
    turn: Turn
    reading: Reading
    """What the offline reader made of it."""
    moment: datetime
    """When it was said, or else when the last that came of it was decided."""
    observed_at: datetime
    """What the clock said when it was observed."""
    opinion: Opinion
    found: Mapping[str, float] = field(default_factory=dict)
    """The facts that it may be about, by how near they are."""


@dataclass
class Standing:
    """A turn that waited and still stands, as it is by now."""

    waiting: Waiting
    stored: Turn
    """Its record."""
    offline: Sequence[Verdict]
    """What the offline reading of it led to."""

    @property
    def brought(self) -> set[str]:
        """The facts that the offline reading of it brought."""
        return {one.fact_id for one in self.offline if one.action is Action.ASSERT}


def standing(store: Store, reader: Reader, waiting: Waiting) -> Standing | None:
    """A turn as it is by now; None if somebody wanted forgotten what it said, as far as that can be
    told.

    Its record is gone; or a fact that it brought was erased; or there was an erasure since, and
    the turn is no longer on the desk as it was said. A turn that left the desk for another reason
    is then given up too: better one that is not read again.
    """
    turn = _stored(reader, waiting)
    if turn is None:
        return None
    if any(fact.status is Status.ERASED for fact in reader.facts(turn.fact_ids)):
        return None
    identity = waiting.conversation.identity
    since = waiting.observed_at - _SKEW
    if any(erasure.at >= since for erasure in store.erasures(identity.organization)):
        items = reader.working_items(identity.user_id, turn.session_id)
        as_said = (item_key(turn), waiting.came.text)
        if not any((item.key, item.value) == as_said for item in items):
            return None
    return Standing(waiting, turn, reader.verdicts_by_id(turn.verdict_ids))


def _stored(reader: Reader, waiting: Waiting) -> Turn | None:
    """The record of a turn as it stands now, if it is still there."""
    user_id, turn = waiting.conversation.identity.user_id, waiting.turn
    last = reader.turns(user_id, turn.session_id, 1)
    back = last[0].turn_index - turn.turn_index + 1 if last else 0
    found = reader.turns(user_id, turn.session_id, back) if back > 0 else []
    # Another one may have its place by now.
    same = bool(found) and found[0].turn_index == turn.turn_index
    return found[0] if same and mark_of(found[0].digest) == mark_of(turn.digest) else None
