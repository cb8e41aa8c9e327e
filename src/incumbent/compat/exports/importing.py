"""Bringing what other memories exported into Incumbent: facts are written, turns are observed.

Each fact keeps the id that it had, and each turn the id as its ref. So a second run changes
nothing, and a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from incumbent.compat.exports.things import ForeignFact, ForeignTurn, NotTaken, Thing
from incumbent.compat.mem0.chains import chain_of, root_of
from incumbent.compat.mem0.details import DetailKeeper
from incumbent.memory import Memory
from incumbent.model.errors import InvalidInput, NotPermitted
from incumbent.model.fact import Fact
from incumbent.session import Session

_TOGETHER = 50
"""So many facts are written in one transaction."""
_MOST_WAITING = 1_000
"""So many owners have facts that wait, at most."""
Bad = Callable[[str, Exception], None]
"""Told of a thing that cannot be taken: its place, and why. May raise, which ends the import."""


@dataclass
class ImportTally:
    """What came of an import."""

    facts: int = 0
    """Facts that were written, of which some may be past already."""
    updated: int = 0
    """Facts of an earlier import that have a new value now."""
    ended: int = 0
    """Facts of an earlier import that no longer hold there."""
    turns: int = 0
    from_turns: int = 0
    """Facts that took office because of a turn."""
    before: int = 0
    """Facts and turns that were there already."""
    skipped: int = 0
    not_taken: Counter[str] = field(default_factory=Counter)
    users: set[str] = field(default_factory=set)

    @property
    def done(self) -> int:
        return self.facts + self.updated + self.ended + self.turns + self.before


class Importer:
    """Takes things out of exports into one organization of a memory."""

    def __init__(
        self,
        memory: Memory,
        *,
        organization: str,
        bad: Bad,
        user: str | None = None,
        renamed: Mapping[str, str] | None = None,
        authority: str = "employee",
    ) -> None:
        """`user` is whose it is where an export does not say; `renamed` gives users of an export
        other names here."""
        self.tally = ImportTally()
        self._memory = memory
        self._organization = organization
        self._authority = authority
        self._bad = bad
        self._user = user
        self._renamed = dict(renamed or {})
        self._keeper = DetailKeeper(memory, organization)
        self._waiting: dict[str, dict[str, ForeignFact]] = {}
        """Facts that are written next, by their owners and ids."""

    def owner_of(self, thing: ForeignFact | ForeignTurn) -> str:
        """The user here whose a thing is."""
        if thing.user is not None:
            return self._renamed.get(thing.user, thing.user)
        if self._user is None:
            raise InvalidInput("it names no user; say whose it is with a user for all such")
        return self._user

    def take(self, things: Iterable[Thing]) -> None:
        """Take these things. Call `finish` after the last."""
        for thing in things:
            if isinstance(thing, NotTaken):
                self.tally.not_taken[thing.what] += 1
                continue
            try:
                owner = self.owner_of(thing)
                self.tally.users.add(owner)
                if isinstance(thing, ForeignTurn):
                    self._flush(owner)
                    self._observe(owner, thing)
                else:
                    self._line_up(owner, thing)
            except (InvalidInput, NotPermitted) as error:
                self._refuse(thing.place, error)

    def finish(self) -> None:
        """Write what is still waiting."""
        for owner in list(self._waiting):
            self._flush(owner)

    def _flush(self, owner: str) -> None:
        waiting = list(self._waiting.pop(owner, {}).values())
        if not waiting:
            return
        session = self._session(owner)
        try:
            session.write_many([_arguments(fact) for fact in waiting])
        except (InvalidInput, NotPermitted):
            # One by one, to tell which of them it is.
            waiting = [fact for fact in waiting if self._is_written(session, fact)]
        self.tally.facts += len(waiting)
        self._keeper.keep(owner, {fact.id: fact.details for fact in waiting})

    def _is_written(self, session: Session, fact: ForeignFact) -> bool:
        try:
            session.write(**_arguments(fact))
        except (InvalidInput, NotPermitted) as error:
            self._refuse(fact.place, error)
            return False
        return True

    def _refuse(self, place: str, error: Exception) -> None:
        self._bad(place, error)
        self.tally.skipped += 1

    def _session(self, owner: str, session_id: str = "import") -> Session:
        return self._memory.session(
            user_id=owner,
            organization=self._organization,
            authority=self._authority,
            session_id=session_id,
        )

    def _observe(self, owner: str, turn: ForeignTurn) -> None:
        session = self._session(owner, turn.session_id)
        made = session.observe(turn.text, speaker=turn.speaker, at=turn.at, ref=turn.ref)
        if made.repeated:
            self.tally.before += 1
            return
        self.tally.turns += 1
        self.tally.from_turns += sum(verdict.took_office for verdict in made.verdicts)

    def _line_up(self, owner: str, fact: ForeignFact) -> None:
        if len(self._waiting) >= _MOST_WAITING:
            self.finish()
        waiting = self._waiting.setdefault(owner, {})
        if fact.id in waiting or len(waiting) >= _TOGETHER:
            self._flush(owner)
            waiting = self._waiting.setdefault(owner, {})
        session = self._session(owner)
        known = session.get(fact.id)
        if known is None:
            waiting[fact.id] = fact
        else:
            self._bring_up_to_date(session, chain_of(session, root_of(session, known)), fact)

    def _bring_up_to_date(self, session: Session, chain: list[Fact], fact: ForeignFact) -> None:
        """Let a fact of an earlier import follow what became of it there since."""
        live = chain[-1]
        is_known = any(one.value == fact.value for one in chain)
        if is_known and live.is_valid and _has_ended(live, fact):
            ended = fact.valid_until
            at = ended if ended is not None and ended > live.order else None
            session.retract(live.id, "it no longer holds where it came from", at=at)
            self.tally.ended += 1
        elif is_known or not live.is_valid or (fact.at is not None and fact.at <= live.order):
            self.tally.before += 1
        else:
            later = {**_arguments(fact), "id": None, "key": live.key, "supersedes": live.id}
            session.write(**later)
            self.tally.updated += 1


def _has_ended(live: Fact, fact: ForeignFact) -> bool:
    return live.valid_until is None and fact.valid_until is not None and live.value == fact.value


def _arguments(fact: ForeignFact) -> dict[str, Any]:
    """The arguments of `write` for a fact."""
    return {
        "key": fact.key,
        "value": fact.value,
        "subject": fact.subject,
        "source": fact.source,
        "at": fact.at,
        "valid_from": fact.valid_from,
        "valid_until": fact.valid_until,
        "id": fact.id,
    }
