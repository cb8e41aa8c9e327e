"""Drafting: from a model's candidate to a proposal in the terms of its turn, for the rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from incumbent.engine.proposal import Proposal
from incumbent.engine.registrar import Registrar
from incumbent.language.frames import frame_of
from incumbent.language.llm.checking import key_of
from incumbent.language.llm.reading import Candidate, Commitment
from incumbent.language.speakers import is_machine
from incumbent.model.fact import Fact, MemoryType, Part
from incumbent.model.records import item_key
from incumbent.model.scope import Place, Scope
from incumbent.model.values import check_text, text_of
from incumbent.observing.circumstances import Circumstances, whole_part
from incumbent.observing.filing import Filing
from incumbent.observing.scrutiny import Grounds, subject_of
from incumbent.observing.situation import Situation
from incumbent.observing.waiting import Conversation, Waiting

LONGEST_QUOTE = 500
SUREST = 0.9
"""A model's word counts for no more than this, however sure it says it is."""
WIDTH = {
    Scope.HYPOTHETICAL: 0,
    Scope.DRAFT: 0,
    Scope.SESSION: 1,
    Scope.TASK: 2,
    Scope.GLOBAL: 3,
}
"""How far a scope reaches."""
_NARROWER = {Commitment.CONSIDERING: Scope.DRAFT, Commitment.HYPOTHETICAL: Scope.HYPOTHETICAL}


class Drafting:
    """Drafts proposals for the turns of one conversation."""

    def __init__(
        self,
        registrar: Registrar,
        situation: Situation,
        conversation: Conversation,
        turns: Mapping[int, Waiting],
        known: Mapping[str, Fact],
    ) -> None:
        self._registrar = registrar
        self._situation = situation
        self._conversation = conversation
        self._turns = turns
        self._known = known

    def filing(self, waiting: Waiting) -> Filing:
        """What files the statements of a turn: the offline reading's own."""
        heard, conversation = waiting.heard, self._conversation
        around = Circumstances(
            heard.speaker,
            conversation.session_id,
            conversation.task_id,
            conversation.branch,
            waiting.turn.turn_index,
            heard.ref,
            waiting.moment,
            heard.text,
        )
        return Filing(self._registrar, self._situation, around)

    def text_before(self, waiting: Waiting) -> str:
        """What was said just before a turn by an assistant, if it is still on the desk."""
        for turn in self._situation.turns:
            if turn.turn_index == waiting.turn.turn_index - 1 and is_machine(turn.speaker):
                item = self._situation.items.get(item_key(turn))
                return text_of(item.value) if item is not None else ""
        return ""

    def subject(self, candidate: Candidate, grounds: Grounds) -> str | None:
        return subject_of(candidate, grounds, self._known.values(), self._turns.values())

    def scope(self, candidate: Candidate, grounds: Grounds, filing: Filing) -> Scope:
        """The narrower of what the model says and what the offline reading allows."""
        allowed = grounds.widest or filing.proposal(grounds.said).scope
        wanted = _NARROWER.get(candidate.commitment, candidate.scope)
        if wanted is Scope.TASK and self._conversation.task_id is None:
            wanted = Scope.SESSION
        return min(allowed, wanted, key=lambda scope: WIDTH[scope])

    def place(self, scope: Scope) -> Place:
        """Where a scope is in this conversation; in a branch, everything is in the branch."""
        conversation = self._conversation
        if conversation.branch is not None:
            return conversation.branch
        if scope is Scope.GLOBAL:
            return scope, ""
        if scope is Scope.TASK:
            return scope, conversation.task_id or ""
        return scope, conversation.session_id

    def proposal(
        self, candidate: Candidate, grounds: Grounds, filing: Filing, scope: Scope
    ) -> Proposal:
        """What the offline reading would put forward, with the model's key and value in it.

        Authority, validity and place are those of the statement. It binds nobody, and is the
        speaker's own memory: who may say more than that is for the rules, and for `write`.
        """
        place = self.place(scope)
        base = filing.proposal(grounds.said)
        parts = _parts(candidate.value, grounds)
        return replace(
            base,
            key=key_of(candidate.attribute),
            value=check_text(candidate.value, "value"),
            subject=self.subject(candidate, grounds),
            supersedes=None,
            scope=place[0],
            scope_id=place[1] or None,
            depends_on=(),
            source=replace(
                filing.source(grounds.said, parts, inferred=("key", "value")),
                quote=grounds.quote[:LONGEST_QUOTE],
            ),
            constraint_type=None,
            is_constraint=False,
            memory_type=MemoryType.USER,
            confidence=min(candidate.confidence, SUREST),
            multi_valued=False,
        )


def _parts(value: str, grounds: Grounds) -> tuple[Part, ...]:
    """The values within a value; all of it where none has a form of its own."""
    found = frame_of(value, grounds.waiting.moment).parts
    return tuple(part for part in found if part.kind != "term") or (whole_part(value),)
