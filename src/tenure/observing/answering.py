"""Answering: statements that take up what was said before: "yes", "the second one", "go back"."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from tenure.engine import reviews
from tenure.language.detection import same_part
from tenure.language.statements import Kind
from tenure.model.errors import NotPermitted
from tenure.model.fact import Fact
from tenure.model.scope import EVERYWHERE
from tenure.model.values import text_of
from tenure.model.verdict import Rule
from tenure.observing import offering, resolving, ties
from tenure.observing.desk import Desk, as_said, lost, of_all
from tenure.observing.sorting import REAL
from tenure.observing.understanding import Understood, typed

_STILL_OPEN = 4
"""A proposal is open to "let's do that" for so many turns."""


class Stating(Protocol):
    """Files what is said."""

    def state(self, said: Understood, *, alone: bool = False, is_answer: bool = False) -> None:
        """File a statement; where it stands `alone`, beside what was said before."""
        ...

    def put_in_place(
        self, said: Understood, key: str, subject: str | None, rule: Rule | None = None
    ) -> list[bool]:
        """Replace the values that a statement puts out of office; tells of each if it did."""
        ...


class Answering:
    """Makes real what was proposed, offered, asked for, or held before."""

    def __init__(self, desk: Desk, stating: Stating) -> None:
        self._desk = desk
        self._stating = stating

    def return_to(self, said: Understood) -> bool:
        """Put the earlier value of a thing back that a statement says it has again."""
        told = ties.stated(said.text) if said.returns else None
        fact = ties.meant(self._desk.situation, told.thing) if told is not None else None
        if told is None or fact is None or not self._desk.within_reach(said, [fact]):
            return False
        lens, reader = self._desk.registrar.lens, self._desk.registrar.transaction
        before = [one for one in lens.chain(reader, [fact]).facts if one.id != fact.id]
        earlier = [one for one in before if ties.says(one, told.part.text)]
        if not earlier or ties.says(fact, told.part.text):
            return False
        return self._put_back(fact, earlier[-1])

    def go_back(self, said: Understood, what: str) -> bool:
        """Put an earlier value back, if one is meant."""
        lens, reader = self._desk.registrar.lens, self._desk.registrar.transaction
        found = resolving.earlier(
            what,
            self._desk.within_reach(said, self._desk.situation.facts.values()),
            lambda fact: lens.chain(reader, [fact]).facts,
            anything=said.cues.is_earlier(what),
        )
        if found is None:
            return False
        return self._put_back(*found)

    def _put_back(self, live: Fact, earlier: Fact) -> bool:
        try:
            around = self._desk.around
            verdict = reviews.revert(
                self._desk.registrar, live.id, earlier.id, None, around.branch, at=around.at
            )
        except NotPermitted:
            return False
        self._desk.note(verdict, gone=[live], retired=lost(live, earlier))
        return True

    def settle(self, said: Understood) -> bool:
        """Make real what was proposed a moment ago."""
        at = self._desk.around.at
        # What was proposed later was not settled on then.
        known = self._desk.situation.proposed.values()
        proposed = [fact for fact in known if at is None or at >= fact.order]
        turn = (proposed[-1].source.turn_index or 0) if proposed else 0
        if not proposed or self._desk.around.turn_index - turn > _STILL_OPEN:
            return False
        if self._desk.around.branch is not None:
            return False  # a branch is settled on as a whole, by commit()
        for fact in (one for one in proposed if one.source.turn_index == turn):
            if self._replaces_something(fact, said):
                gone = self._desk.registrar.retract(fact, rule=Rule.COMMIT, at=at)
                self._desk.note(gone, gone=[fact])
            else:
                place = self._desk.around.branch or EVERYWHERE
                verdict = reviews.take_over(self._desk.registrar, fact, place, {}, at=at)
                others = [o for o in self._desk.fetched(verdict.superseded) if o.id != fact.id]
                self._desk.note(verdict, gone=[fact, *others], retired=of_all(others))
        return True

    def _replaces_something(self, proposed: Fact, said: Understood) -> bool:
        """Whether a proposal that is made real puts values out of office; then that is done."""
        again = as_said(said, text_of(proposed.value), Kind.ASSERTION)
        if self._desk.situation.at_key(proposed.key, proposed.subject):
            return False  # it sits where the other does, and takes over there
        before = len(self._desk.record.verdicts)
        self._stating.put_in_place(again, proposed.key, proposed.subject, rule=Rule.COMMIT)
        return len(self._desk.record.verdicts) > before

    def accept(self, said: Understood) -> bool:
        """Take what the assistant has just offered for the speaker's word."""
        if offering.is_indifferent(said.statement.text):
            return True
        held = [part for fact in self._desk.situation.facts.values() for part in typed(fact.parts)]
        for offer in offering.offers(self._desk.situation.previous):
            taken = as_said(said, offer, Kind.REQUEST)
            again = any(same_part(new, old) for new in typed(taken.parts) for old in held)
            if taken.attribute is not None or not again:
                self._stating.state(
                    taken, alone=not offering.is_alternative(self._desk.situation.previous)
                )
        return True

    def answer(self, said: Understood) -> bool:
        """Read a choice or a bare answer in the light of what the assistant has just said."""
        previous = self._desk.situation.previous
        if not previous or not said.frame.is_fragment or said.kind not in REAL:
            return False
        if "rejection" in said.statement.cues:
            return False
        chosen = offering.chosen(said.text, previous)
        if chosen is not None:
            self._stating.state(as_said(said, chosen, Kind.REQUEST), is_answer=True)
            return True
        attribute = offering.asked_for(previous, said.text, said.frame.parts)
        if attribute is None:
            return False
        known = [fact for fact in self._desk.situation.facts.values() if fact.key == attribute.key]
        if not known and (not attribute.is_own or self._desk.situation.matter is not None):
            return False
        self._stating.state(replace(said, attribute=attribute))
        return True
