"""A hearing: what it takes to put one answer of a model before the rules, and the account of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from incumbent.engine.registrar import Registrar
from incumbent.model.errors import IncumbentError, InvalidInput, NotPermitted
from incumbent.model.fact import Fact, Status
from incumbent.model.values import text_of
from incumbent.model.verdict import Verdict
from incumbent.observing.drafting import Drafting
from incumbent.observing.observer import WINDOW
from incumbent.observing.opinions import Proposed
from incumbent.observing.scrutiny import Declined
from incumbent.observing.situation import Situation
from incumbent.observing.waiting import Conversation, Waiting, enter_in_record, stored_turn

__all__ = ["About", "Change", "Hearing"]

NOTHING = ("", None, "")
About = tuple[str, str | None, str]
"""What a proposal is about, for the account of it: key, subject, value."""


class Change(NamedTuple):
    """A fact that the offline reading of a turn put out of office, and by which verdict."""

    turn: int
    fact: Fact
    verdict: Verdict
    after: Fact | None
    """What took its place; None where nothing did."""


class Hearing:
    """What all who see to one answer work with, inside one transaction."""

    def __init__(
        self,
        registrar: Registrar,
        conversation: Conversation,
        turns: Sequence[Waiting],
        known: Mapping[str, Fact],
        evidence: Mapping[str, str],
    ) -> None:
        self.registrar = registrar
        self.conversation = conversation
        self.turns = {waiting.turn.turn_index: waiting for waiting in turns}
        self.known = known
        self.evidence = evidence
        situation = Situation(
            registrar.transaction, registrar.lens, conversation.session_id, WINDOW
        )
        self.drafting = Drafting(registrar, situation, conversation, self.turns, known)
        self.became: dict[str, str] = {}
        """Facts that this very answer replaced, and by which."""
        self.ended: set[str] = set()
        """Facts that this very answer took out of office with nothing in their place."""
        self._accounts: dict[int, list[Proposed]] = {index: [] for index in self.turns}
        self._verdicts: dict[int, list[Verdict]] = {index: [] for index in self.turns}
        self._astray: list[Proposed] = []
        """What was proposed of no turn that was read."""

    # the account

    def attempt(self, turn: int, about: About, act: Callable[[], Iterable[Proposed]]) -> None:
        """Do what a proposal asks for, and note what became of it; or why it was dropped."""
        accounts = self._accounts.get(turn, self._astray)
        try:
            accounts.extend(act())
        except (Declined, InvalidInput, NotPermitted) as error:
            accounts.append(Proposed(turn, *about, "dropped", _line(error)))

    def note_unreadable(self, reason: str) -> None:
        self._astray.append(Proposed(0, *NOTHING, "dropped", reason))

    def decided(self, waiting: Waiting, verdict: Verdict) -> Verdict:
        """Keep a verdict on a turn."""
        self._verdicts[waiting.turn.turn_index].append(verdict)
        for gone in verdict.superseded:
            self.became[gone] = verdict.fact_id
        return verdict

    def close(self) -> None:
        """Enter in the records of the turns what came of them."""
        for index, waiting in self.turns.items():
            enter_in_record(self.registrar.transaction, waiting, self._verdicts[index])

    def account(self, turn_index: int) -> tuple[list[Proposed], list[Verdict]]:
        """What became of the proposals from a turn; those of no turn are told with the last."""
        last = turn_index == max(self.turns)
        return (
            [*self._accounts[turn_index], *(self._astray if last else ())],
            self._verdicts[turn_index],
        )

    # what there is

    def current(self, handle: str) -> Fact | None:
        """A fact that was shown, as it stands now, or what this answer put in its place; None
        where it has left office."""
        fact_id = self.known[handle].id
        while fact_id in self.became:
            fact_id = self.became[fact_id]
        return self.standing(fact_id)

    def standing(self, fact_id: str) -> Fact | None:
        """A fact that is in office, or will be on its day, as the session sees it."""
        reader, lens = self.registrar.transaction, self.registrar.lens
        seen, stored = lens.glimpse(reader, fact_id), reader.fact(fact_id)
        if seen is None or stored is None or stored.status is not Status.OFFICE:
            return None
        is_ahead = stored.valid_from > lens.when
        return seen if seen.is_valid or is_ahead else None

    def brought_by(self, waiting: Waiting) -> list[Fact]:
        """The facts in office that a turn brought, in whichever reading."""
        reader = self.registrar.transaction
        turn = stored_turn(reader, waiting)
        index = waiting.turn.turn_index
        ids = [*(turn.fact_ids if turn is not None else ())]
        ids += [verdict.fact_id for verdict in self._verdicts[index]]
        found = (self.standing(fact_id) for fact_id in dict.fromkeys(ids))
        return [fact for fact in found if fact is not None and fact.source.turn_index == index]


def about_fact(fact: Fact | None) -> About:
    """What a proposal is about that concerns a fact."""
    return NOTHING if fact is None else (fact.key, fact.subject, text_of(fact.value))


def _line(error: IncumbentError | Declined) -> str:
    told = " ".join(str(error).split())
    return told if isinstance(error, Declined) else f"refused by the rules: {told}"
