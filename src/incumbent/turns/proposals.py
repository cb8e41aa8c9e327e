"""Proposals: from a statement to what is put to the rules: where it sits, with whose authority."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final

from incumbent.engine.proposal import Proposal
from incumbent.engine.registrar import Registrar
from incumbent.language.audience import is_for_all, is_of_oneself, is_ruling
from incumbent.language.cues import Cues
from incumbent.language.speakers import is_machine
from incumbent.model.authority import Authority, Ladder
from incumbent.model.fact import UNNAMED, Fact, MemoryType, Part, Said, Source
from incumbent.model.scope import Place, Scope
from incumbent.model.standing import is_instruction
from incumbent.reading.form import READ, Claim, Reading, Statement, StatementKind
from incumbent.reading.sorting import is_rule
from incumbent.rules.authority import may_speak, may_write_as, outranks
from incumbent.rules.classification import classify_constraint
from incumbent.turns.circumstances import Circumstances, Speaker
from incumbent.turns.worth import is_worth_keeping

_LONGEST_QUOTE: Final = 500
_MOMENT: Final = timedelta(seconds=1)
_PLAIN: Final = Source(type="conversation")
_RULINGS: Final = ("policy", "capacity")
"""The constraints that nobody has for themselves alone, as they have budgets and deadlines."""
_STATED: Final = 0.95


class Proposals:
    """Makes the proposals of one turn."""

    def __init__(self, registrar: Registrar, around: Circumstances) -> None:
        self._registrar = registrar
        self._around = around

    def of(self, said: Statement, claim: Claim | None) -> Proposal:
        """What a statement puts forward: under its name, or as it was said."""
        scope, scope_id = self.place(said)
        binds = self._constraint(said, claim)
        term = said.term
        begins = self._begins(said)
        return Proposal(
            key=claim.attribute if claim is not None else UNNAMED,
            value=claim.value if claim is not None else said.wording or said.text,
            subject=_subject(claim, self._around.speaker),
            scope=scope,
            scope_id=scope_id,
            source=self.source(said, claim),
            authority=self.authority(said),
            is_constraint=True if binds is not None else None,
            constraint_type=binds,
            valid_from=begins,
            valid_until=term.ends if term is not None else None,
            at=self._around.at,
            memory_type=self.memory_type(said, claim),
            confidence=_STATED,
            multi_valued=claim is None,
            spoken=True,
            asks_first=self._around.asks_first and scope.is_real,
        )

    def place(self, said: Statement) -> Place | tuple[Scope, str | None]:
        """The scope that a statement is limited to, by its words or by the branch it is said in."""
        around, cues = self._around, Cues(said.text)
        if around.branch is not None:
            return around.branch[0], around.branch[1] or None
        if cues.is_for_session:
            return Scope.SESSION, around.session_id
        if around.task_id is not None and cues.is_for_task:
            return Scope.TASK, around.task_id
        return Scope.GLOBAL, None

    # whose word it is

    def authority(self, said: Statement) -> str | None:
        """The authority that a statement speaks with: that of whom it quotes, where one may."""
        quoted = self._may_quote(said)
        return quoted.title if quoted is not None else self._around.speaker.authority

    def rung(self, said: Statement) -> str:
        """The rung that a statement is spoken from."""
        title = self.authority(said)
        identity = self._registrar.identity.authority
        return self._registrar.ladder.resolve(title).rung if title else identity.rung

    def _may_quote(self, said: Statement) -> Authority | None:
        ladder = self._registrar.ladder
        known = title_in(said.by, ladder)
        own = self._around.speaker.authority
        if known is not None and own is not None:
            # Whoever speaks with an authority of their own does not borrow the session's.
            return known if not outranks(known.rung, ladder.resolve(own).rung, ladder) else None
        if known is not None and may_write_as(self._registrar.identity, known.rung, ladder):
            return known
        return None

    def is_hearsay_above(self, said: Statement, facts: Iterable[Fact]) -> bool:
        """Whether somebody told what one above them had said, and this is not that one's word."""
        ladder, quoted = self._registrar.ladder, (said.by or "").lower()
        own = self._registrar.identity.authority.rung
        named = ((fact.source.name, title_in(fact.source.name, ladder)) for fact in facts)
        return any(
            title is not None and name != quoted and ladder.outranks(title.rung, own)
            for name, title in named
        )

    def memory_type(self, said: Statement, claim: Claim | None = None) -> MemoryType:
        """Whose memory a statement is: the speaker's own, unless they speak for all on purpose."""
        if not self._around.speaker.is_self or not self._may_speak(said) or _is_a_guess(said):
            return MemoryType.USER
        ruling = self._is_ruling(said, claim) and not is_of_oneself(said.text)
        return MemoryType.ORGANIZATIONAL if is_for_all(said.text) or ruling else MemoryType.USER

    def _is_ruling(self, said: Statement, claim: Claim | None) -> bool:
        """Whether the highest rung states a limit or a policy."""
        ladder = self._registrar.ladder
        top = len(ladder.rungs) - 1
        if top == 0 or ladder.rank(self.rung(said)) < top:
            return False
        name = claim.attribute if claim is not None else said.text[:80]
        limits = classify_constraint(name, None, _PLAIN) in _RULINGS
        return limits or is_rule(said.text) or is_ruling(said.text)

    def _may_speak(self, said: Statement) -> bool:
        """Whether a statement may be the organization's."""
        is_named = title_in(said.by, self._registrar.ladder) and not is_for_all(f"{said.by}:")
        if is_named and self._may_quote(said) is None:
            return False  # "Company policy: …" names no one who would have to be asked
        registrar = self._registrar
        title, ladder = self.authority(said), registrar.ladder
        authority = ladder.resolve(title) if title else registrar.identity.authority
        if authority.rank < registrar.identity.authority.rank:
            return False  # somebody else's words, passed on
        return may_speak(registrar.identity, authority, registrar.settings.speaking_rung, ladder)

    def may_act_on(self, said: Statement, facts: Iterable[Fact]) -> list[Fact]:
        """Of these facts, those that whoever speaks may end, here and at this time."""
        ladder, around = self._registrar.ladder, self._around
        rank = ladder.rank(self.rung(said))
        speaks_for_all = self.memory_type(said) is MemoryType.ORGANIZATIONAL
        by_machine = is_machine(around.speaker.name)
        return [
            fact
            for fact in facts
            if rank >= ladder.rank(fact.standing)
            and (fact.owner or speaks_for_all)
            and (around.branch is None or fact.place == around.branch)
            and (around.at is None or around.at >= fact.order)
            and (not by_machine or fact.source.by_machine)
        ]

    # where it comes from

    def source(
        self, said: Statement, claim: Claim | None, *, earlier: tuple[Said, ...] = ()
    ) -> Source:
        around = self._around
        return Source(
            type="conversation",
            name=said.by.lower() if said.by and title_in(said.by, self._registrar.ladder) else None,
            turn_index=around.turn_index,
            speaker=around.speaker.name,
            ref=around.ref,
            span=(said.start, said.end),
            quote=said.text[:_LONGEST_QUOTE],
            parts=_parts(said, claim),
            earlier=earlier,
            inferred=self._inferred(said),
            by_machine=is_machine(around.speaker.name),
        )

    def _inferred(self, said: Statement) -> tuple[str, ...]:
        scope, _ = self.place(said)
        term = said.term
        found = {
            "valid_from": term is not None and term.begins is not None,
            "valid_until": term is not None and term.ends is not None,
            "scope": scope is not Scope.GLOBAL and self._around.branch is None,
            "authority": title_in(said.by, self._registrar.ladder) is not None,
        }
        return tuple(name for name, so in found.items() if so)

    def _begins(self, said: Statement) -> datetime | None:
        """When a statement begins to be true; what was over when it was said began before that."""
        term = said.term
        if term is None:
            return None
        begins = term.begins or self._around.at or self._registrar.now
        if term.ends is not None and term.ends <= begins:
            return term.ends - _MOMENT
        return term.begins

    def _constraint(self, said: Statement, claim: Claim | None) -> str | None:
        """Which kind of rule a statement is, if it binds."""
        if self._registrar.ladder.rank(self.rung(said)) == 0 or said.kind is StatementKind.SUPPOSES:
            return None  # whoever walks in binds nobody by their choice of words
        if _is_a_guess(said):
            return None
        if claim is not None:
            return classify_constraint(claim.attribute, claim.value, _PLAIN)
        if (is_rule(said.text) or is_ruling(said.text)) and self._binds(said):
            return "policy"
        cues = Cues(said.text)
        dates = [part for part in said.parts if part.kind == "date"]
        return "deadline" if any(cues.is_deadline(part.start) for part in dates) else None

    def _binds(self, said: Statement) -> bool:
        """Whether a rule binds others than the assistant that is asked to go by it."""
        if self.memory_type(said) is MemoryType.ORGANIZATIONAL:
            return True
        one_s_own = is_of_oneself(said.text) or is_instruction(said.text)
        return is_rule(said.text) and not one_s_own


def likely_facts(
    reading: Reading, speaker: Speaker
) -> Iterator[tuple[str, str | None, str, tuple[Part, ...]]]:
    """What will likely be filed of a turn, as it was said and under its name: key, subject, value
    and parts."""
    for said in reading.statements:
        yield UNNAMED, None, said.wording or said.text, _parts(said, None)
        if (claim := said.claim) is not None:
            yield claim.attribute, _subject(claim, speaker), claim.value, _parts(said, claim)


def _subject(claim: Claim | None, speaker: Speaker) -> str | None:
    if claim is None:
        return None
    if claim.subject is None and claim.is_own and not speaker.is_self:
        return speaker.name.lower()
    return claim.subject


def _is_a_guess(said: Statement) -> bool:
    """Whether only a user's model thinks that a statement is one. It binds nobody then."""
    return READ in said.cues and not is_worth_keeping(said)


def _parts(said: Statement, claim: Claim | None) -> tuple[Part, ...]:
    if claim is None:
        return said.parts
    if said.wording:  # its values are placed in other words
        return (_whole(claim.value),)
    start, end = claim.start - said.start, claim.end - said.start
    within = tuple(
        part._replace(start=part.start - start, end=part.end - start)
        for part in said.parts
        if part.start >= start and part.end <= end
    )
    return within or (_whole(claim.value),)


def _whole(value: str) -> Part:
    return Part("term", value, " ".join(value.lower().split()), "is|", 0, len(value))


def title_in(name: str | None, ladder: Ladder) -> Authority | None:
    """The rung of a title, also of one with more before it: the "policy" of "HR policy"."""
    if not name:
        return None
    return ladder.known(name) or ladder.known(name.split()[-1])
