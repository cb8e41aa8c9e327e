"""Advice: what a memory with a model does with the turns it observed, in either mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from time import perf_counter

from incumbent.language.llm.asking import Asker
from incumbent.language.llm.client import completion_for
from incumbent.language.llm.config import LLM
from incumbent.model.records import Turn
from incumbent.observing.adviser import Adviser
from incumbent.observing.background import Background
from incumbent.observing.desk import Record
from incumbent.observing.observation import Observation
from incumbent.observing.observer import Heard
from incumbent.observing.opinions import Opinion
from incumbent.observing.touching import Likeness
from incumbent.observing.waiting import Conversation, Waiting
from incumbent.stores.port import Store
from incumbent.telemetry.port import Telemetry

Taken = tuple[Observation, Waiting | None]
"""A turn that was observed, and what it takes to ask about it; None where nobody is asked."""


class Advice:
    """Second opinions for one memory."""

    def __init__(
        self,
        llm: LLM,
        store: Store,
        now: Callable[[], datetime],
        telemetry: Telemetry | None = None,
    ) -> None:
        self.llm = llm
        self._telemetry = telemetry
        asker = Asker(completion_for(llm), llm)
        self._adviser = Adviser(store, llm, asker, now, telemetry)
        self._background = Background(
            self._adviser.advise, batch=llm.batch_turns, size=llm.queue_size
        )

    @property
    def batch(self) -> int:
        """How many turns are best handed over together."""
        return self.llm.batch_turns

    def taken(
        self,
        conversation: Conversation,
        heard: Heard,
        observation: Observation,
        record: Record,
        observed_at: datetime,
        found: Mapping[str, Likeness],
    ) -> Taken:
        """A turn with its opinion to come; `found` are the facts that it may be about.

        A turn that is known or says nothing has none, and neither has one that asks to forget:
        that is not to be passed on.
        """
        asks_to_forget = any(said.cues.erasure is not None for said in heard.said)
        if observation.repeated or asks_to_forget or not heard.said:
            return observation, None
        # What was read in its situation is what an opinion is held against.
        heard = replace(heard, said=tuple(record.said))
        opinion = Opinion(self.llm.name, self._teller(conversation.identity.organization))
        decided = [verdict.recorded_at for verdict in observation.verdicts]
        waiting = Waiting(
            conversation,
            heard,
            Turn(
                conversation.session_id,
                observation.turn_index,
                observation.speaker,
                observation.at,
                heard.digest,
                heard.ref,
                tuple(fact.id for fact in observation.facts),
                tuple(verdict.id for verdict in observation.verdicts),
            ),
            tuple(record.readings),
            heard.at or max((observation.at, *decided)),
            observed_at,
            opinion,
            found,
        )
        return replace(observation, opinion=opinion), waiting

    def _teller(self, organization: str) -> Callable[[str], None] | None:
        """What an opinion tells, once it is settled, to those who want to know."""
        telemetry, began = self._telemetry, perf_counter()
        if telemetry is None:
            return None
        name = self.llm.name
        return lambda kind: telemetry.opined(name, organization, kind, perf_counter() - began)

    def follow(self, taken: Sequence[Taken]) -> list[Observation]:
        """Have turns of one conversation looked at again: now, or in the background.

        What an assistant said is read together with what people said, and never by itself.
        """
        size = self.llm.batch_turns
        waiting = [one for _, one in taken if one is not None]
        batches = [waiting[start : start + size] for start in range(0, len(waiting), size)]
        batches = [batch for batch in batches if any(not one.heard.is_context for one in batch)]
        asked = {id(one) for batch in batches for one in batch}
        for batch in batches:
            if self.llm.mode == "background":
                self._background.add(batch)
            else:
                self._adviser.advise(batch)
        told = [
            observation if id(one) in asked else replace(observation, opinion=None)
            for observation, one in taken
        ]
        return told if self.llm.mode == "background" else [_with_opinion(one) for one in told]

    def flush(self, timeout: float | None) -> bool:
        return self._background.flush(timeout)

    def close(self) -> int:
        return self._background.close(self.llm.close_timeout)


def _with_opinion(observation: Observation) -> Observation:
    """An observation with the facts and verdicts of the opinion on it."""
    opinion = observation.opinion
    if opinion is None or not opinion.verdicts:
        return observation
    verdicts = opinion.verdicts
    brought = [one.fact for one in verdicts if one.fact is not None and one.fact.is_valid]
    return replace(
        observation,
        facts=tuple({fact.id: fact for fact in (*observation.facts, *brought)}.values()),
        verdicts=(*observation.verdicts, *verdicts),
    )
