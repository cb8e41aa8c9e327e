"""Applying: a model's answer before the rules. The model proposes; nothing here believes it.

Each proposal is held against the words of its turn and against what the offline reading took them
for; what is left goes to the registrar like everything else, with the authority of whoever spoke.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from incumbent.engine.registrar import Registrar
from incumbent.language.llm.reading import Becomes, Proposals
from incumbent.model.fact import Fact
from incumbent.model.verdict import Verdict
from incumbent.observing.candidacies import Candidacies
from incumbent.observing.fates import Fates
from incumbent.observing.hearing import Change, Hearing
from incumbent.observing.keeping import Keeping
from incumbent.observing.objecting import Objecting
from incumbent.observing.opinions import Proposed
from incumbent.observing.waiting import Conversation, Waiting


class Applying:
    """Puts one answer of a model before the rules, inside one transaction."""

    def __init__(
        self,
        registrar: Registrar,
        conversation: Conversation,
        turns: Sequence[Waiting],
        known: Mapping[str, Fact],
        evidence: Mapping[str, str],
    ) -> None:
        self._hearing = Hearing(registrar, conversation, turns, known, evidence)

    def hear(self, proposals: Proposals, changes: Mapping[str, Change]) -> None:
        """Take everything that was proposed, in the order of the turns.

        First what holds after all and what is no fact, then what is new, and last what that puts
        out of office: so that a statement which ends another is there to take its place.
        """
        candidacies, keeping = Candidacies(self._hearing), Keeping(self._hearing)
        objecting = Objecting(self._hearing, candidacies, changes)
        fates = Fates(self._hearing, keeping)
        for objection in sorted(proposals.objections, key=lambda one: one.turn):
            objecting.take(objection)
        for fate in sorted(proposals.fates, key=lambda one: one.turn):
            if fate.becomes is Becomes.HOLDS:
                objecting.uphold(fate)
        for candidate in sorted(proposals.candidates, key=lambda one: one.turn):
            candidacies.take(candidate)
        objecting.file_again()
        fates.strike(proposals.fates)
        for keep in sorted(proposals.keeps, key=lambda one: one.turn):
            keeping.take(keep)
        fates.take(proposals.fates)
        for reason in proposals.unreadable:
            self._hearing.note_unreadable(reason)
        self._hearing.close()

    def account(self, turn_index: int) -> tuple[list[Proposed], list[Verdict]]:
        """What became of the proposals from a turn; those of no turn are told with the last."""
        return self._hearing.account(turn_index)
