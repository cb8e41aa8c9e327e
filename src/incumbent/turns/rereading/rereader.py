"""The rereader: has a user's model read turns that were observed, now or in the background."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime
from time import perf_counter
from typing import Final, Protocol, runtime_checkable

from incumbent.language.speakers import is_machine
from incumbent.model.errors import IncumbentError
from incumbent.model.identity import Identity
from incumbent.model.verdict import Outcome
from incumbent.reading.asked import answer, prompting
from incumbent.reading.asked.answer import Answered
from incumbent.reading.asked.asking import Completion, Trouble, asked
from incumbent.reading.asked.client import completion_for
from incumbent.reading.asked.config import LLM
from incumbent.reading.form import ActKind
from incumbent.stores.port import Reader, Store
from incumbent.telemetry.port import Telemetry
from incumbent.turns.observation import Observation, Record
from incumbent.turns.opinions import Opinion
from incumbent.turns.receiving import Received
from incumbent.turns.rereading.background import Background, Name
from incumbent.turns.rereading.fitness import Fitness
from incumbent.turns.rereading.ledger import OrganizationLedger
from incumbent.turns.rereading.revision import Revision
from incumbent.turns.rereading.sitting import Sitting, sitting_of
from incumbent.turns.rereading.waiting import ERASED, Conversation, Standing, Waiting, standing
from incumbent.turns.worth import is_tool

log = logging.getLogger("incumbent.llm")

Effect = Callable[[], AbstractContextManager[None]]
Taken = tuple[Observation, Waiting | None]
"""A turn that was observed, and what it takes to have it read again; None where it is not."""


@runtime_checkable
class Telling(Protocol):
    """Who has said how a sitting reads, so that nobody is asked."""

    def read_sitting(self, sitting: Sitting) -> Answered: ...


UNFIT: Final = "the model was set aside, since most of its answers were of no use"


class Rereader:
    """A user's model for one memory. Safe to share between threads."""

    asks: Completion | None = None
    """Who is asked instead of the model, where a session has somebody of its own."""

    def __init__(
        self,
        llm: LLM,
        store: Store,
        now: Callable[[], datetime],
        telemetry: Telemetry | None = None,
    ) -> None:
        self.llm = llm
        self._store = store
        self._now = now
        self._telemetry = telemetry
        self._completion = completion_for(llm)
        self._background = Background(self.reread, llm)
        self._fitness = Fitness()

    # taking turns in

    def taken(
        self,
        conversation: Conversation,
        came: Received,
        observation: Observation,
        record: Record,
        observed_at: datetime,
        found: Mapping[str, float],
    ) -> Taken:
        """A turn with its opinion to come.

        A turn that is known or says nothing has none. Neither has one that asks something of the
        memory itself: what is to be forgotten is not to be passed on.
        """
        reading, turn = record.reading, record.turn
        if turn is None or not reading.statements or _has_acted(record):
            return observation, None
        conversation = replace(conversation, asks=self.asks)
        organization, name = conversation.identity.organization, self._asked_for(conversation).name
        opinion = Opinion(name, self._teller(organization, name))
        decided = [verdict.recorded_at for verdict in observation.verdicts]
        moment = came.at or max((observation.at, *decided))
        waiting = Waiting(conversation, came, turn, reading, moment, observed_at, opinion, found)
        return replace(observation, opinion=opinion), waiting

    def _teller(self, organization: str, name: str) -> Callable[[str], None] | None:
        """What an opinion tells, once it is settled, to those who want to know."""
        telemetry, began = self._telemetry, perf_counter()
        if telemetry is None:
            return None
        return lambda kind: telemetry.opined(name, organization, kind, perf_counter() - began)

    def follow(self, taken: Sequence[Taken]) -> list[Observation]:
        """Have turns of one conversation read again: now, or in the background.

        What an assistant said is read together with what people said, and never by itself.
        """
        size = self.llm.batch_turns
        waiting = [one for _, one in taken if one is not None]
        batches = [waiting[start : start + size] for start in range(0, len(waiting), size)]
        batches = [batch for batch in batches if any(map(_is_telling, batch))]
        asked = {id(one) for batch in batches for one in batch}
        for batch in batches:
            if self.llm.mode == "background":
                self._background.add(batch)
            else:
                self.reread(batch)
        told = [
            observation if id(one) in asked else replace(observation, opinion=None)
            for observation, one in taken
        ]
        return told if self.llm.mode == "background" else [_as_reread(one) for one in told]

    def flush(self, timeout: float | None) -> bool:
        return self._background.flush(timeout)

    def end(self, conversation: Name) -> None:
        """Have what waits of a conversation read now."""
        self._background.end(conversation)

    def wait_for(self, identity: Identity) -> None:
        """Wait a little for readings of a person's turns, as the settings say."""
        if self.llm.context_wait:
            person = identity.organization, identity.user_id
            self._background.wait_for(person, self.llm.context_wait)

    def close(self) -> int:
        return self._background.close(self.llm.close_timeout)

    # reading again

    def reread(self, turns: Sequence[Waiting], effect: Effect = nullcontext) -> None:
        """Settle the opinions on turns of one conversation; never raises for what is outside.

        No transaction is open while the model is asked. `effect` is around putting the answer into
        effect, and may refuse it.
        """
        try:
            self._reread(turns, effect)
        except Trouble as trouble:
            if trouble.kind in ("malformed", "unfit"):
                self._judge(turns[-1].conversation, is_of_use=False)
            _give_up(turns, trouble.kind, str(trouble))
        except IncumbentError as error:
            _give_up(turns, "store", str(error), logged=type(error).__name__)
        except Exception as error:  # a defect of ours must not take the conversation with it
            log.error("reading again failed in %s", _place_of(error))
            _give_up(turns, "error", f"it failed with {type(error).__name__}")

    def _reread(self, turns: Sequence[Waiting], effect: Effect) -> None:
        conversation = turns[-1].conversation
        organization = conversation.identity.organization
        completion = self._asked_for(conversation)
        if self._fitness.is_unfit(organization, completion.name):
            raise Trouble("dropped", UNFIT)
        with conversation.reading() as (reader, lens):
            kept = self._still_there(reader, turns)
            if not kept:
                return
            sitting = sitting_of(reader, lens, kept, self.llm.known_facts)
        if isinstance(completion, Telling):
            answered = completion.read_sitting(sitting)
        else:
            payer = (organization, self.llm, self._now, completion.name, len(kept))
            ledger = OrganizationLedger(self._store, *payer, self._telemetry)
            ask = sitting.ask(self.llm.max_output_tokens)
            answered = asked(completion, self.llm, ask, ledger, answer.read)
        with effect():
            self._put_into_effect(conversation, sitting, answered)

    def _put_into_effect(
        self, conversation: Conversation, sitting: Sitting, answered: Answered
    ) -> None:
        with conversation.deciding() as registrar:
            kept = self._still_there(registrar.transaction, sitting.turns.values())
            if not kept:
                return
            evidence = self._evidence(conversation)
            revision = Revision(registrar, conversation, sitting, kept, evidence)
            revision.apply(answered)
        self._judge(conversation, is_of_use=revision.is_of_use)
        for one in revision.turns.values():
            one.waiting.opinion.give(one.proposals, one.verdicts)

    def _asked_for(self, conversation: Conversation) -> Completion:
        """Who reads a conversation."""
        return conversation.asks or self._completion

    def _judge(self, conversation: Conversation, *, is_of_use: bool) -> None:
        name = self._asked_for(conversation).name
        self._fitness.judge(conversation.identity.organization, name, is_of_use=is_of_use)

    def _evidence(self, conversation: Conversation) -> dict[str, str]:
        """Who read it, in which words asked. What was said is for the fact's source to keep."""
        reader = self._asked_for(conversation)
        asked = {} if isinstance(reader, Telling) else {"prompt": prompting.prompt().name}
        return {"reader": reader.name, **asked}

    def _still_there(self, reader: Reader, turns: Iterable[Waiting]) -> list[Standing]:
        """The turns that nobody wanted forgotten since; the others are given up."""
        kept = []
        for waiting in turns:
            if (one := standing(self._store, reader, waiting)) is None:
                waiting.opinion.fail(ERASED)
            else:
                kept.append(one)
        return kept


def _has_acted(record: Record) -> bool:
    """Whether a turn asked something of the memory, other than to go back where there was nothing
    to go back to, so that it was filed as something new."""
    acts = {act.kind for act in record.reading.acts}
    new = all(one.outcome is Outcome.ESTABLISHED for one in record.verdicts)
    return bool(acts) and not (acts == {ActKind.REVERT} and record.verdicts and new)


def _is_telling(waiting: Waiting) -> bool:
    """Whether a turn is worth a request of its own: a person's, or the output of a tool."""
    name = waiting.came.speaker.name
    return not is_machine(name) or is_tool(name)


def _as_reread(observation: Observation) -> Observation:
    """An observation with the facts and verdicts of the second reading."""
    opinion = observation.opinion
    if opinion is None or not opinion.verdicts:
        return observation
    verdicts = (*observation.verdicts, *opinion.verdicts)
    undone = {one.evidence.get("undoes") for one in opinion.verdicts}
    gone = {one.fact_id for one in observation.verdicts if one.id in undone}
    facts = {fact.id: fact for fact in observation.facts if fact.id not in gone}
    facts |= {
        one.fact.id: one.fact
        for one in opinion.verdicts
        if one.fact is not None and one.fact.is_valid and "undoes" not in one.evidence
    }
    return replace(observation, facts=tuple(facts.values()), verdicts=verdicts)


def _place_of(error: Exception) -> str:
    """Where an error came from, down to its innermost call; its text may quote what was said."""
    calls = traceback.extract_tb(error.__traceback__)
    return " < ".join(f"{call.name} ({call.filename}:{call.lineno})" for call in reversed(calls))


def _give_up(
    turns: Iterable[Waiting], kind: str, reason: str, *, logged: str | None = None
) -> None:
    """Let the offline reading stand, and say so: on each observation, and once in the log.

    `logged` is what the log has instead of a reason that may quote what was said.
    """
    pending = [waiting for waiting in turns if waiting.opinion.status == "pending"]
    for waiting in pending:
        waiting.opinion.fail(reason, kind)
    if pending:
        log.warning(
            "no second opinion on %d turn(s), the offline reading stands: %s (%s)",
            len(pending),
            logged or reason,
            kind,
        )
