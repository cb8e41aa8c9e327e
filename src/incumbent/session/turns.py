"""Observing: turns of conversation, one or a transcript."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from incumbent.engine.registrar import Registrar
from incumbent.engine.retries import repeated
from incumbent.model.errors import InvalidInput, NotPermitted
from incumbent.model.fact import Fact
from incumbent.model.records import Erasure, ErasureRequest
from incumbent.model.verdict import Verdict
from incumbent.session.base import RETRACTABLE, SessionBase
from incumbent.session.rehearsable import rehearsable
from incumbent.telemetry.traced import traced
from incumbent.turns.observation import Observation

if TYPE_CHECKING:
    from incumbent.turns.receiving import Received
    from incumbent.turns.rereading.waiting import Conversation, Waiting
    from incumbent.turns.situation import FoundBySearch

_READINGS = 6
"""How often a turn is read before others are held up for it."""


@traced()
class SessionTurns(SessionBase):
    """The part of a session that takes in turns."""

    @rehearsable
    def observe(
        self,
        text: str,
        *,
        speaker: str = "user",
        at: datetime | None = None,
        ref: str | None = None,
        authority: str | None = None,
    ) -> Observation:
        """Take in a turn of conversation: `observation.facts`, `.verdicts`, `.statements`.

        What the speaker commits to becomes facts, and values it replaces leave office; what-ifs,
        questions and what others are said to have said do not. `speaker` is "user" for the person
        whose session it is, "assistant" for the model, whose turns are context and nobody's word,
        or the name of somebody else. `at` is when it was said; `ref` is your own id for the turn:
        the same turn with the same ref changes nothing.
        """
        taken = self._take_in(text, speaker=speaker, at=at, ref=ref, authority=authority)
        return self._follow([taken])[0]

    def observe_many(
        self,
        turns: Iterable[Mapping[str, Any]],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[Observation]:
        """Take in a transcript, turn by turn; each is durable when the next one begins.

        A turn is a mapping with `text` (or `content`) and, if you have them, `speaker` (or
        `role`), `at`, `ref` and `authority`. `progress` is called with how many were taken. After
        an interruption, the same call goes on where it stopped, if the turns have refs.
        """
        from incumbent.turns.transcripts import turn_arguments

        self._check_real()
        observations: list[Observation] = []
        taken: list[tuple[Observation, Waiting | None]] = []
        rereader = self.rereader
        together = 1 if rereader is None else rereader.llm.batch_turns
        for index, turn in enumerate(turns):
            try:
                taken.append(self._take_in(**turn_arguments(turn)))
            except (InvalidInput, NotPermitted) as error:
                self._follow(taken)
                raise type(error)(f"turn {index}: {error}") from error
            if len(taken) >= together:
                observations += self._follow(taken)
                taken = []
            if progress is not None:
                progress(index + 1)
        observations += self._follow(taken)
        return observations

    def _check_real(self) -> None:
        """Refuse to rehearse a transcript: no turn of it would know of those before it."""
        if self._rehearses:
            raise InvalidInput(
                "a rehearsal takes one turn at a time, because nothing is left of it for the next; "
                "rehearse it with observe(), or try the whole with `incumbent observe --dry-run`"
            )

    @repeated
    def _take_in(self, text: str, **given: Any) -> tuple[Observation, Waiting | None]:
        """Read a turn, and then file it in one transaction; also what it takes to have a model
        read it again, if there is one."""
        # Language data, which only this needs.
        from incumbent.turns.observer import Overtaken
        from incumbent.turns.receiving import receive

        self._check_open()
        said = {"speaker": "user", "at": None, "ref": None, "authority": None, **given}
        came = receive(text, settings=self._resources.settings, **said)
        for _ in range(_READINGS - 1):
            with suppress(Overtaken):
                return self._read_and_file(came)
        return self._read_and_file(came, inside=True)

    def _read_and_file(
        self, came: Received, *, inside: bool = False
    ) -> tuple[Observation, Waiting | None]:
        """Read a turn before the store is held, and file it. Reading `inside` holds others up: only
        for who was overtaken again and again, and would never come to an end."""
        from incumbent.search.passages import written
        from incumbent.turns.circumstances import Circumstances
        from incumbent.turns.observer import WINDOW, TurnObserver, heard_in
        from incumbent.turns.situation import looked_at

        resources = self._resources
        repeated = self._repeated_turn(came)
        if repeated is not None:
            return repeated, None
        reader = resources.reader
        here = (self.session_id, self.task_id, self._branch)
        around = Circumstances(came.speaker, *here, 0, came.ref, came.at, came.text, self._asks)
        found, now = self._found_near(came.text), self._now()
        with self._reading() as (rows, lens):
            situation = looked_at(rows, lens, self.session_id, WINDOW, found, self._asks)
        reading = reader.read(heard_in(came, situation, now))
        if resources.settings.indexing:
            resources.index.prepare([one.text for one in reading.statements])
        keeps = resources.settings.passages and self._branch is None and not self._asks
        paragraphs = written(came.text, resources.index) if keeps else []
        with self._registrar() as registrar:
            observer = TurnObserver(registrar, reader, around, paragraphs)
            read = None if inside else (situation, reading)
            observation, record = observer.observe(came, read, found)
            if record.wants_all_gone:
                who = self.identity
                asked = ErasureRequest(who.organization, who.user_id, self.may_erase)
                observation = replace(observation, erasure_requested=asked)
            doomed = _glimpsed(registrar, record.doomed)
            erasures = self._erase(registrar, doomed) if self.may_erase else []
            if not self.may_erase:
                taken_back = _take_back(registrar, doomed, came.at)
                observation = replace(observation, verdicts=(*observation.verdicts, *taken_back))
        if self._rehearses:
            rehearsed = tuple(replace(one, id="") for one in erasures)  # proofs of nothing
            return replace(observation, erasures=rehearsed), None
        scrubbed = resources.scrub() if erasures else False
        observation = replace(
            observation, erasures=tuple(replace(one, scrubbed=scrubbed) for one in erasures)
        )
        rereader = self.rereader
        if rereader is None:
            return observation, None
        near = {name: one.score for name, one in found.items()}
        return rereader.taken(self._conversation(), came, observation, record, now, near)

    @property
    def _asks(self) -> bool:
        """Whether what is said here waits until it is approved. A branch keeps nothing real."""
        return bool(self.ask_before_keeping) and self._branch is None

    def _found_near(self, text: str) -> dict[str, FoundBySearch]:
        """What the person has in office that a turn may be about, by its words and its meaning."""
        from incumbent.search.index import Outpaced
        from incumbent.turns.searching import found_by_search

        index = self._resources.index
        found: dict[str, FoundBySearch] = {}
        if index is not None:
            # Where somebody wrote just now, what was said last is at hand all the same.
            with suppress(Outpaced), self._reading() as (rows, lens):
                found = found_by_search(rows, lens, index, text)
        return found

    def _repeated_turn(self, came: Received) -> Observation | None:
        """What came of a turn that was observed before. It is not read again: an agent may give
        its whole conversation with every step."""
        from incumbent.turns.repeating import observed_before, told_again

        if came.ref is None or self._when is not None:
            return None
        with self._reading() as (reader, lens):
            known = observed_before(reader, lens, self.session_id, came)
            return None if known is None else told_again(reader, lens, known)

    def _erase(self, registrar: Registrar, doomed: Iterable[Fact]) -> list[Erasure]:
        """Erase the facts that a turn asks to be forgotten. Only the person's own facts go."""
        who = self.identity.user_id
        return [
            self._resources.erase(registrar.transaction, by=who, fact_id=fact.id) for fact in doomed
        ]

    def _follow(self, taken: list[tuple[Observation, Waiting | None]]) -> list[Observation]:
        """Have a model read observed turns again, if there is one."""
        rereader = self.rereader
        if rereader is None or self._rehearses:
            return [observation for observation, _ in taken]
        return rereader.follow(taken)

    def _conversation(self) -> Conversation:
        """This session for opinions on its turns, which may arrive after it has been closed."""
        from incumbent.turns.rereading.waiting import Conversation

        here = self if self._branch else copy(self)  # what is open now, whatever becomes of self
        who = (self.identity, self.session_id, self.task_id, self._branch)
        return Conversation(*who, here._reading, here._registrar, asks_first=self._asks)


def _glimpsed(registrar: Registrar, fact_ids: Iterable[str]) -> list[Fact]:
    """The facts with these ids that the session can see, each once."""
    found = (
        registrar.lens.glimpse(registrar.transaction, fact_id)
        for fact_id in dict.fromkeys(fact_ids)
    )
    return [fact for fact in found if fact is not None]


def _take_back(registrar: Registrar, facts: Iterable[Fact], at: datetime | None) -> list[Verdict]:
    """Retract facts instead, if the asker may not erase."""
    return [registrar.retract(fact, at=at) for fact in facts if fact.status in RETRACTABLE]
