"""Tying: statements that only say what follows from what, or what waits for what."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from incumbent.engine import reviews
from incumbent.engine.proposal import Proposal
from incumbent.language.cues import Contingency
from incumbent.language.reasoning import Waiting
from incumbent.language.statements import Kind
from incumbent.model.errors import DependencyCycle
from incumbent.model.fact import Fact
from incumbent.model.verdict import Rule
from incumbent.observing import resolving, ties
from incumbent.observing.circumstances import whole_part
from incumbent.observing.desk import Desk
from incumbent.observing.situation import STATEMENT
from incumbent.observing.understanding import Understood
from incumbent.observing.wording import as_said


class Tying:
    """Lets facts rest on others, and wait for them; what holds already is handed to `state`."""

    def __init__(self, desk: Desk, state: Callable[[Understood], None]) -> None:
        self._desk = desk
        self._state = state

    def tie(self, said: Understood) -> bool:
        """See to what only says what follows from what, or what waits for what."""
        if said.waiting is not None:
            return self._await_value(said, said.waiting)
        if said.relation is not None:
            bases = ties.found(self._desk.situation, said.relation.bases)
            thing = said.relation.thing
            named = ties.found(self._desk.situation, [thing]) if thing else self._desk.last()
            self._rest(said, bases, named)
            return bool(bases)
        if said.is_presumed:
            told = ties.stated(said.text)
            self._desk.granted = ties.found(self._desk.situation, [told.thing]) if told else []
            return bool(self._desk.granted)
        return False

    def wait(self, said: Understood, contingency: Contingency) -> bool:
        """File what is to be so once something else changes."""
        facts = list(self._desk.situation.facts.values())
        found = resolving.named(contingency.base, facts, [], loosely=True)
        found = found or self._desk.situation.at_key(resolving.key_for(contingency.base), None)
        if not found:
            return False
        if contingency.follows:
            self._rest(said, found[:1], self._desk.last())
            return True
        text = said.statement.text[contingency.start :].rstrip(" .!")
        then = as_said(said, text, Kind.ASSERTION)
        proposal = self._desk.filing.proposal(then)
        swaps = self._desk.replacing.swaps(then, proposal.key, proposal.subject)
        if swaps:
            # It takes over where the statement sits that it would replace.
            proposal = self._seated(said, proposal, swaps[0].fact, then.thing_key)
        proposal = replace(
            proposal,
            when_superseded=found[0].id,
            supersedes=None,
            multi_valued=proposal.key == STATEMENT,
        )
        self._desk.note(self._desk.registrar.propose(proposal))
        return True

    def _await_value(self, said: Understood, waiting: Waiting) -> bool:
        """File what is to be so once a thing that is known becomes this; if it is so, it holds."""
        base = ties.meant(self._desk.situation, waiting.base)
        if base is None:
            return False
        then = as_said(said, waiting.then, Kind.ASSERTION)
        if ties.says(base, waiting.becomes):
            self._desk.granted = [base]
            self._state(replace(then, derives=True))
            return True
        proposal = self._desk.filing.proposal(then)
        told = ties.stated(waiting.then)
        rival = ties.meant(self._desk.situation, told.thing) if told else None
        if told is not None and rival is not None and rival.id != base.id:
            again = ties.rephrased(rival, told.part)
            value, parts = (again.text, again.parts) if again else (told.part.text, (told.part,))
            source = replace(proposal.source, parts=parts)
            proposal = replace(proposal, value=value, source=source)
            proposal = self._seated(said, proposal, rival, resolving.key_for(told.thing))
        forms = ties.forms_of(waiting.becomes)
        proposal = replace(
            proposal,
            when_superseded=base.id,
            source=replace(proposal.source, becomes=forms),
            supersedes=None,
            multi_valued=proposal.key == STATEMENT,
            valid_from=None,
            valid_until=None,
        )
        self._desk.note(self._desk.registrar.propose(proposal))
        return True

    def grant(self, said: Understood) -> None:
        """File what a basis is said to be in brackets: "going by the menu (lamb), ..."."""
        for base in said.bases:
            told = re.search(rf"{re.escape(base)} \(([^()\n]{{1,60}})\)", said.statement.text)
            key = resolving.key_for(base)
            if told is None or not key or ties.meant(self._desk.situation, base) is not None:
                continue
            value = told.group(1)
            proposal = self._desk.filing.proposal(as_said(said, value, Kind.ASSERTION))
            source = replace(proposal.source, parts=(whole_part(value),))
            proposal = replace(
                proposal, key=key, subject=None, value=value, source=source, multi_valued=False
            )
            self._desk.note(self._desk.registrar.propose(proposal))

    def _seated(self, said: Understood, proposal: Proposal, rival: Fact, name: str) -> Proposal:
        """A proposal that is to sit where another fact does, once its time has come.

        Mere statements share a key and hold no seat: what is to be replaced is given one first.
        """
        if rival.key != STATEMENT or not self._desk.within_reach(said, [rival]) or not name:
            return replace(proposal, key=rival.key, subject=rival.subject)
        if self._desk.situation.holding(name, None):
            return proposal
        again = reviews.again(
            rival,
            key=name,
            multi_valued=False,
            supersedes=rival.id,
            authority=self._desk.filing.authority(said),
            at=self._desk.around.at,
        )
        self._desk.note(self._desk.registrar.propose(again, rule=Rule.EXPLICIT), gone=[rival])
        return replace(proposal, key=name, subject=None)

    def _rest(self, said: Understood, bases: Sequence[Fact], facts: Sequence[Fact]) -> None:
        """Let facts rest on others: "if the lead changes, so does this"."""
        for fact in self._desk.within_reach(said, facts):
            more = [b.id for b in bases if b.id != fact.id and b.id not in fact.depends_on]
            if not more:
                continue
            inferred = tuple(dict.fromkeys((*fact.source.inferred, "depends_on")))
            again = reviews.again(
                fact,
                depends_on=(*fact.depends_on, *more),
                supersedes=fact.id,
                source=replace(fact.source, inferred=inferred),
                authority=self._desk.filing.authority(said),
                at=self._desk.around.at,
            )
            try:
                verdict = self._desk.registrar.propose(again, rule=Rule.EXPLICIT)
            except DependencyCycle:
                continue  # it is the other one that rests on this
            self._desk.note(verdict, gone=[fact])
