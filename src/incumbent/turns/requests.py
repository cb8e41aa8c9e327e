"""Requests: what comes of a request to the memory itself: to forget, to take back, to go back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from incumbent.engine import reviews
from incumbent.engine.registrar import Registrar
from incumbent.model.errors import NotPermitted, UnknownTarget
from incumbent.model.fact import Fact
from incumbent.model.values import text_of
from incumbent.model.verdict import Verdict
from incumbent.reading.acts import hinted, needs_name
from incumbent.reading.form import Act, ActKind, Reading, Statement
from incumbent.turns.circumstances import Circumstances
from incumbent.turns.finding import meant
from incumbent.turns.observation import Record
from incumbent.turns.proposals import Proposals
from incumbent.turns.returning import planned_for, put_back
from incumbent.turns.situation import Situation

_SHORT: Final = 2
"""So few words name a thing only where they are all of its name: "the marker"."""


class Requests:
    """Does what one turn asks of the memory, inside one transaction."""

    def __init__(
        self,
        registrar: Registrar,
        situation: Situation,
        around: Circumstances,
        proposals: Proposals,
        record: Record,
        note: Callable[[Verdict, Iterable[Fact]], None],
        retract: Callable[[Fact, Act], None],
    ) -> None:
        self._registrar = registrar
        self._situation = situation
        self._around = around
        self._proposals = proposals
        self._record = record
        self._note = note
        self._retract = retract

    def do(self, act: Act, reading: Reading) -> bool:
        """Do it; False where there is nothing to go back to, or nothing to take back, and so it
        tells something new."""
        said = next(one for one in reading.statements if one.start == act.start)
        if act.kind is ActKind.ERASE_ALL:
            self._record.wants_all_gone |= self._is_for_real()
        elif act.kind is ActKind.ERASE:
            self._erase(act)
        elif act.kind is ActKind.UNDO:
            self._undo(act, said)
        elif act.kind is ActKind.RETRACT:
            by_name = needs_name(said.text) or len(act.what.split()) <= _SHORT
            found = meant(act.what, self._situation.facts.values(), by_name=by_name)
            for fact in self._proposals.may_act_on(said, found)[:1]:
                self._retract(fact, act)
            return bool(found)
        elif act.kind is ActKind.REVERT:
            return self._revert(act, said)
        return True

    def in_question(self, act: Act, reading: Reading) -> list[Fact]:
        """What a request names that may not be meant: nothing is done but to ask about it."""
        if act.kind not in (ActKind.ERASE, ActKind.RETRACT) or not self._is_for_real():
            return []
        said = next(one for one in reading.statements if one.start == act.start)
        known = self._situation.facts.values()
        found = meant(act.what, known, by_name=True)
        if not found and hinted(said.text) is not None:
            found = meant(act.what, known)
        return self._proposals.may_act_on(said, found)

    def _undo(self, act: Act, said: Statement) -> None:
        """Take back what was said last, so that what it had replaced counts again."""
        for fact in self._proposals.may_act_on(said, self._situation.last()):
            if not self.go_back(fact):
                self._retract(fact, act)

    def _is_for_real(self) -> bool:
        return self._around.speaker.is_self and self._around.branch is None

    def _erase(self, act: Act) -> None:
        """Mark for erasure what somebody wants gone, with all that it was before."""
        if not self._is_for_real():
            return
        lens, reader = self._registrar.lens, self._registrar.transaction
        own = self._registrar.identity
        for fact in meant(act.what, self._situation.facts.values()):
            waits = (fact,) if fact.is_unapproved else ()
            for one in (*lens.chain(reader, [fact]).facts, *waits):
                above = self._registrar.ladder.rank(one.standing) > own.authority.rank
                if one.owner == own.user_id and not above:
                    self._record.doomed.append(one.id)
            for one in planned_for(self._registrar, fact):
                if one.owner == own.user_id:
                    self._record.doomed.append(one.id)

    def _revert(self, act: Act, said: Statement) -> bool:
        """Put the value back that was in office before, if there was one."""
        lens, reader = self._registrar.lens, self._registrar.transaction
        facts = self._proposals.may_act_on(said, self._situation.facts.values())
        found = meant(act.what, facts) or self._changed_from(act.what, facts)
        for live in found:
            chain = [one for one in lens.chain(reader, [live]).facts if one.id != live.id]
            if not chain:
                continue
            named = [one for one in chain if _says(one, act.what)]
            return self._put_back(live, (named or chain)[-1])
        for live in found:
            # It took no place, but put an earlier statement in doubt, which now counts again.
            if any(one in self._situation.facts for one in live.doubts):
                self._retract(live, act)
                return True
        return False

    def go_back(self, live: Fact) -> bool:
        """Let what a fact replaced count again; False where it replaced nothing."""
        lens, reader = self._registrar.lens, self._registrar.transaction
        before = [one for one in lens.chain(reader, [live]).facts if one.id != live.id]
        return bool(before) and self._put_back(live, before[-1])

    def _put_back(self, live: Fact, earlier: Fact) -> bool:
        """Put an earlier value in the place of one that holds."""
        registrar, around = self._registrar, self._around
        try:
            verdict = reviews.revert(
                registrar,
                live.id,
                earlier.id,
                None,
                around.branch,
                at=around.at,
                asks_first=around.asks_first,
            )
        except NotPermitted:
            return False
        except UnknownTarget:  # it holds for a time, and what comes after it is planned
            for verdict in put_back(registrar, live, earlier, around.at, around.asks_first):
                self._note(verdict, [live])
            return True
        self._note(verdict, [live])
        return True

    def _changed_from(self, what: str, facts: Sequence[Fact]) -> list[Fact]:
        """The facts in office that were once what is named."""
        lens, reader = self._registrar.lens, self._registrar.transaction
        return [
            fact
            for fact in facts
            if fact.supersedes
            and any(_says(one, what) for one in lens.chain(reader, [fact]).facts if one != fact)
        ]


def _says(fact: Fact, what: str) -> bool:
    told, asked = text_of(fact.value).lower(), what.lower().strip(" .!")
    return bool(asked) and (asked in told or told in asked)
