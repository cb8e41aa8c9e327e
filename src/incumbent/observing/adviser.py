"""The adviser: tells a model what was said and what is on record, and has its answer applied."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime

from incumbent.engine.lens import Lens
from incumbent.language.llm import prompting
from incumbent.language.llm.asking import Asker, Trouble
from incumbent.language.llm.config import LLM
from incumbent.language.llm.prompting import Briefing, SentChange, SentTurn, ask_for
from incumbent.language.llm.reading import Proposals, read
from incumbent.model.errors import IncumbentError
from incumbent.model.fact import Fact
from incumbent.model.records import Turn, item_key
from incumbent.model.values import text_of
from incumbent.model.verdict import Outcome, Rule
from incumbent.observing.applying import Applying
from incumbent.observing.hearing import Change
from incumbent.observing.ledger import OrganizationLedger
from incumbent.observing.observer import WINDOW
from incumbent.observing.recalling import Recalling, may_be_sent, sent_facts
from incumbent.observing.situation import Situation
from incumbent.observing.waiting import ERASED, Conversation, Waiting, was_erased
from incumbent.stores.port import Reader, Store
from incumbent.telemetry.port import Telemetry

log = logging.getLogger("incumbent.llm")

Effect = Callable[[], AbstractContextManager[None]]

_TURNS_BEFORE = 4
"""How many earlier turns go along, to understand the others by."""
_READ_OFF = (Rule.EXPLICIT, Rule.IMPLICIT, Rule.RETRACTION)
"""The rules by which the offline reading ends facts; a rank or a date is not for a model to doubt.
"""


@dataclass
class Brief:
    """What is sent for a few turns of one conversation, and what its names stand for."""

    turns: dict[int, Waiting]
    briefing: Briefing
    known: dict[str, Fact] = field(default_factory=dict)
    """Facts in office by the names they are shown under."""
    changes: dict[str, Change] = field(default_factory=dict)
    """What the turns were taken to replace, by the same."""


class Adviser:
    """Has a model give its opinion on turns. Safe to share between threads."""

    def __init__(
        self,
        store: Store,
        llm: LLM,
        asker: Asker,
        now: Callable[[], datetime],
        telemetry: Telemetry | None = None,
    ) -> None:
        self._store = store
        self._llm = llm
        self._asker = asker
        self._now = now
        self._telemetry = telemetry

    def advise(self, turns: Sequence[Waiting], effect: Effect = nullcontext) -> None:
        """Settle the opinions on turns of one conversation; never raises for what is outside.

        No transaction is open while the model is asked. `effect` is around putting the answer into
        effect, and may refuse it.
        """
        if not turns:
            return
        try:
            self._advise(turns, effect)
        except Trouble as trouble:
            _give_up(turns, trouble.kind, str(trouble))
        except IncumbentError as error:
            _give_up(turns, "store", str(error), logged=type(error).__name__)
        except Exception as error:  # a defect of ours must not take the conversation with it
            log.error("a second opinion failed in %s", _place_of(error))
            _give_up(turns, "error", f"it failed with {type(error).__name__}")

    def _advise(self, turns: Sequence[Waiting], effect: Effect) -> None:
        conversation = turns[0].conversation
        brief = self._brief(conversation, turns)
        if brief is None:
            return
        organization = conversation.identity.organization
        ledger = OrganizationLedger(
            self._store,
            organization,
            self._llm,
            self._now,
            turns=len(brief.turns),
            telemetry=self._telemetry,
        )
        ask = ask_for(brief.briefing, self._llm.max_output_tokens)
        proposals = self._asker.ask(ask, ledger, read)
        with effect():
            self._apply(conversation, brief, proposals)

    def _apply(self, conversation: Conversation, brief: Brief, proposals: Proposals) -> None:
        with conversation.deciding() as registrar:
            standing = self._still_there(registrar.transaction, brief.turns.values())
            applying = Applying(registrar, conversation, standing, brief.known, self._evidence())
            applying.hear(proposals, brief.changes)
        for waiting in standing:
            waiting.opinion.give(*applying.account(waiting.turn.turn_index))

    def _evidence(self) -> dict[str, str]:
        """Who proposed it, in which words asked. What was said is for the fact's source to keep."""
        prompt = prompting.prompt()
        return {
            "detector": "llm",
            "model": self._llm.name,
            "prompt": prompt.name,
            "prompt_hash": prompt.digest,
        }

    def _still_there(self, reader: Reader, turns: Iterable[Waiting]) -> list[Waiting]:
        """The turns that nobody wanted forgotten; the opinions on the others are given up."""
        kept = []
        for waiting in turns:
            if was_erased(self._store, reader, waiting):
                waiting.opinion.fail(ERASED, "erased")
            else:
                kept.append(waiting)
        return kept

    # what is sent

    def _brief(self, conversation: Conversation, turns: Sequence[Waiting]) -> Brief | None:
        with conversation.reading() as (reader, lens):
            kept = self._still_there(reader, turns)
            if not kept:
                return None
            situation = Situation(reader, lens, conversation.session_id, WINDOW)
            recalling = Recalling(reader, lens, situation, self._llm.known_facts)
            known = recalling.recalled(kept)
            changes = _changes(reader, lens, kept)
            named = {f"f{number}": fact for number, fact in enumerate(known, 1)}
            shown = sent_facts(reader, lens, named, kept)
        replaced = {f"r{number}": change for number, change in enumerate(changes, 1)}
        briefing = Briefing(
            kept[-1].moment,
            _sent_turns(situation, kept),
            shown,
            tuple(_sent_change(name, change) for name, change in replaced.items()),
        )
        return Brief({one.turn.turn_index: one for one in kept}, briefing, named, replaced)


def _changes(reader: Reader, lens: Lens, turns: Sequence[Waiting]) -> list[Change]:
    """What the offline reading of these turns put out of office by their wording."""
    found = []
    for waiting in turns:
        for verdict_id in waiting.turn.verdict_ids:
            verdict = reader.verdict(verdict_id)
            if verdict is None or verdict.undone_by or verdict.rule not in _READ_OFF:
                continue
            is_retracted = verdict.outcome is Outcome.RETRACTED
            gone = (verdict.fact_id,) if is_retracted else verdict.superseded
            if not is_retracted and verdict.outcome is not Outcome.SUPERSEDED:
                continue
            after = None if is_retracted else lens.glimpse(reader, verdict.fact_id)
            for fact_id in gone:
                fact = lens.glimpse(reader, fact_id)
                if fact is not None and may_be_sent(reader, fact):
                    found.append(Change(waiting.turn.turn_index, fact, verdict, after))
    return found


def _sent_turns(situation: Situation, kept: Sequence[Waiting]) -> tuple[SentTurn, ...]:
    """The turns to read, with those between them and the last before, as far as on the desk."""
    found = {
        one.turn.turn_index: _sent_turn(one.turn, one.heard.text, is_read=True) for one in kept
    }
    first, last = min(found) - _TURNS_BEFORE, max(found)
    for turn in situation.turns:
        item = situation.items.get(item_key(turn))
        if item is not None and first <= turn.turn_index < last:
            around = _sent_turn(turn, text_of(item.value), is_read=False)
            found.setdefault(turn.turn_index, around)
    return tuple(found[index] for index in sorted(found))


def _sent_turn(turn: Turn, text: str, *, is_read: bool) -> SentTurn:
    day = turn.at.date().isoformat()
    return SentTurn(turn.turn_index, turn.speaker, text, is_read, day)


def _sent_change(name: str, change: Change) -> SentChange:
    now = text_of(change.after.value) if change.after is not None else ""
    return SentChange(name, change.turn, text_of(change.fact.value), now)


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
