"""Filing: what comes of a reading. What a relation does is decided here, for every reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, Final

from incumbent.engine.proposal import Proposal
from incumbent.engine.registrar import Registrar
from incumbent.language.speakers import is_machine
from incumbent.model.errors import DependencyCycle, NotPermitted, UnknownTarget
from incumbent.model.fact import Fact
from incumbent.model.scope import Scope
from incumbent.model.verdict import Outcome, Rule, Verdict
from incumbent.reading.form import (
    GOING_BACK,
    PARTLY,
    READ,
    RETOLD,
    Act,
    Reading,
    Relation,
    RelationKind,
    Statement,
    StatementKind,
)
from incumbent.reading.things import left_over, words_of
from incumbent.turns.amendments import Amendments, in_question
from incumbent.turns.approving import TAKES_BACK, already_waiting
from incumbent.turns.checks import across_ranks, checked
from incumbent.turns.circumstances import Circumstances
from incumbent.turns.observation import Record
from incumbent.turns.placing import (
    ASKED,
    again_said,
    gone_parts,
    in_order,
    rests_on_question,
    says_more,
    says_the_same,
    takes_over,
)
from incumbent.turns.proposals import Proposals, title_in
from incumbent.turns.requests import Requests
from incumbent.turns.returning import set_right
from incumbent.turns.situation import Situation
from incumbent.turns.taking_up import TakingUp
from incumbent.turns.worth import is_done, is_for_now, is_worth_keeping

LONGEST_REASON: Final = 500
_FEW: Final = 4
_SHORT_REQUEST: Final = 8
_DOUBTFUL: Final = 0.5
"""How sure somebody is who contradicts what they said that one above them had said."""
_GONE: Final = (RelationKind.REPLACES, RelationKind.ENDS)
_QUIET: Final = (RelationKind.CONFIRMS, RelationKind.DEPENDS)
"""What a statement does that is no reason by itself to keep it."""
_UNREAL: Final = {
    StatementKind.SUPPOSES: Scope.HYPOTHETICAL,
    StatementKind.PROPOSES: Scope.DRAFT,
}


class Filing:
    """Files one reading, inside one transaction."""

    def __init__(
        self,
        registrar: Registrar,
        situation: Situation,
        around: Circumstances,
        reader: str,
        evidence: Mapping[str, Any] | None = None,
    ) -> None:
        self._registrar = registrar
        self._situation = situation
        self._around = around
        self._reader = reader
        self._evidence = evidence or {}
        """What every verdict names beside its own."""
        self._proposals = Proposals(registrar, around)
        self._taking_up = TakingUp(registrar, situation, around)
        self._gone: set[str] = set()
        self._to_end: list[Fact] = []
        """What a request takes back, where that has to be approved first."""
        self._facts: dict[str, Fact] = dict(situation.facts)
        """What is known, with what this turn has brought."""
        self._filed: dict[int, str] = {}
        """The facts that the statements of this turn became, by their numbers."""
        self._amendments = Amendments(registrar, self._proposals, around, self._facts)
        self.record = Record()
        told = (self._proposals, self.record, self._note, self._take_back)
        self._requests = Requests(registrar, situation, around, *told)

    def file(self, reading: Reading) -> Record:
        """Do what a turn asks for, and keep what it states."""
        reading = checked(reading, self._situation)
        ladder, name = self._registrar.ladder, self._around.speaker.name
        reading = across_ranks(reading, self._situation, name, ladder, self._proposals.rung)
        acted = set()
        for act in reading.acts:
            done = act.is_sure and self._requests.do(act, reading)
            asked = () if done else self._requests.in_question(act, reading)
            if done or ((asked or not act.is_sure) and self._question(act, reading, asked)):
                acted.add((act.start, act.end))
            self._ask_to_end(act, reading)
        relations: dict[int | None, list[Relation]] = {}
        for one in reading.relations:
            relations.setdefault(one.statement, []).append(one)
        for number in in_order(reading):
            said = reading.statements[number]
            if (said.start, said.end) not in acted:
                self._state(number, said, relations.get(number, []))
        return self.record

    # statements

    def _state(self, number: int, said: Statement, relations: Sequence[Relation]) -> None:
        by_machine = is_machine(self._around.speaker.name)
        relations = [self._resolved(one) for one in relations]
        if RETOLD in said.cues and title_in(said.by, self._registrar.ladder) is None:
            said = replace(said, claim=None)  # nobody's word that would give a name its value
        if number == 0 and not by_machine:
            said = self._taking_up.named(said)
            relations = self._with_bases(said, relations)
        if said.kind in _UNREAL and not by_machine:
            self._suppose(said, self._bases(relations))
            return
        changes = any(one.kind not in _QUIET for one in relations)
        keeps = (
            is_done(said, self._around.speaker.name, self._around.text)
            if by_machine
            else changes or is_worth_keeping(said) or rests_on_question(relations)
        )
        keeps = keeps or READ in said.cues
        if not keeps or (by_machine and self._is_echo(said)):
            return
        before = len(self.record.facts)
        if not self._goes_back(said, relations):
            self._confirm_or_propose(said, relations)
        for fact in self.record.facts[before:]:
            self._filed[number] = fact.id
            self._facts[fact.id] = fact

    def _question(self, act: Act, reading: Reading, facts: Sequence[Fact]) -> bool:
        """Keep a request that may not be meant, as what puts in doubt what it names: the person
        confirms it by saying so plainly, or by settling the review. False where it is none, and
        tells something: "so bedtime is back to the half, doctor's orders"."""
        said = next(one for one in reading.statements if one.start == act.start)
        if facts:
            doubts = tuple(fact.id for fact in facts)
            self._propose(said, replace(self._proposals.of(said, None), doubts=doubts), ())
        is_short = len(said.text.split()) <= _SHORT_REQUEST
        return bool(facts) or (is_short and act.kind not in GOING_BACK)

    def _ask_to_end(self, act: Act, reading: Reading) -> None:
        """Keep a request until it is approved, with the facts that go then."""
        if not self._to_end:
            return
        said = next(one for one in reading.statements if one.start == act.start)
        asked = {TAKES_BACK: [fact.id for fact in self._to_end]}
        self._to_end = []
        self._propose(said, self._proposals.of(said, None), (), asked=asked)

    def _with_bases(self, said: Statement, relations: list[Relation]) -> list[Relation]:
        """The relations of the first statement of a turn, with what it rests on of what was said
        right before it: the draft that it settles on, or the question that it answers."""
        if any(one.kind not in (*_QUIET, RelationKind.DOUBTS) for one in relations):
            return relations  # it changes something: "No, only 40."
        brought = self._taking_up.settled(said)
        if not brought and (question := self._taking_up.asked(said)) is not None:
            brought = [question]
        if brought:  # "no" after another question is another "no"
            relations = [one for one in relations if one.kind is RelationKind.DEPENDS]
        for verdict in brought:
            self._note(verdict)
            if (fact := verdict.fact) is not None:
                self._facts[fact.id] = fact
                relations.append(Relation(RelationKind.DEPENDS, fact.id, 0, rests_on=ASKED))
        return relations

    def _is_echo(self, said: Statement) -> bool:
        """Whether a machine only says again what a person has just said."""
        before = self._situation.previous
        if self._situation.previous_by_machine or not before:
            return False
        again = frozenset(word.group().lower().replace("’", "'") for word in words_of(before))
        return not left_over(said.text, [], also=again)

    def _goes_back(self, said: Statement, relations: Sequence[Relation]) -> bool:
        """Let what was so before count again, where a statement says so and there was something."""
        facts = [
            self._facts[one.fact_id]
            for one in relations
            if one.kind is RelationKind.REVERTS and one.fact_id in self._facts
        ]
        done = [self._requests.go_back(f) for f in self._proposals.may_act_on(said, facts)]
        return any(done)

    def _amend(self, said: Statement, one: Relation, over: Set[str]) -> bool:
        """Change one stretch of a fact, in editorial brackets."""
        proposal = self._amendments.proposed(said, one, self._gone | over)
        if proposal is None:
            return False
        before = len(self.record.facts)
        self._propose(said, proposal, [one])
        self._amendments.note(one, self.record.facts[before:])
        return True

    def _confirm_or_propose(self, said: Statement, relations: Sequence[Relation]) -> None:
        facts = self._facts
        parts = [
            one
            for one in relations
            if one.kind is RelationKind.PART and not self._is_at(said, one.fact_id)
        ]
        over = {one.fact_id for one in relations if one.kind in _GONE}
        done = [one for one in parts if self._amend(said, one, over)]
        if done and not says_more(said, done):
            return
        claim = said.claim
        held = self._held(said)
        known = [fact for fact in held if claim is not None and says_the_same(claim, said, fact)]
        if held and claim is not None and not known and not takes_over(said, held, relations):
            claim = None  # both are shown rather than one of them lost
        gone = [one for one in relations if one.kind in _GONE and one.fact_id in facts]
        allowed = {
            fact.id
            for fact in self._proposals.may_act_on(said, [facts[one.fact_id] for one in gone])
        }
        above = [one for one in gone if one.fact_id not in allowed and self._is_above(said, one)]
        same_as = {fact.id for fact in known}
        gone = [
            one
            for one in gone
            if one.fact_id in allowed - same_as and one.fact_id not in self._gone
        ]
        doubts = tuple(
            one.fact_id
            for one in relations
            if one.fact_id in facts
            and one not in above
            and (
                one.kind is RelationKind.DOUBTS
                or (
                    one in parts
                    and one not in done
                    and self._amendments.puts_in_doubt(facts[one.fact_id])
                )
            )
        )
        same = next((one for one in relations if one.kind is RelationKind.CONFIRMS), None)
        bases = self._bases(relations)
        proposal = replace(self._proposals.of(said, claim), doubts=doubts, depends_on=bases)
        if same is not None and same.fact_id in facts and not gone:
            proposal = again_said(proposal, facts[same.fact_id])
        elif known and not gone:
            proposal = again_said(proposal, known[0])
        elif self._proposals.is_hearsay_above(said, (*held, *(facts[one.fact_id] for one in gone))):
            proposal = replace(proposal, confidence=_DOUBTFUL)
        if gone or above:
            first = (gone or above)[0]
            sure = min(first.chance, proposal.confidence)
            proposal = replace(proposal, supersedes=first.fact_id, confidence=sure)
        if not (gone or above or parts) and self._is_for_now(said):
            proposal = replace(proposal, scope=Scope.SESSION, scope_id=self._around.session_id)
        others, asked = gone[1:], in_question(relations, doubts)
        if proposal.asks_first:
            takes = [facts[one.fact_id] for one in others]
            self._propose(said, proposal, (gone or above)[:1], takes=takes, asked=asked)
            return
        self._propose(said, proposal, (gone or above)[:1], asked=asked)
        for one in others:
            self._take_back(facts[one.fact_id], said, one)

    def _is_for_now(self, said: Statement) -> bool:
        """Whether a statement matters only in this session. What answers a question settles more
        than that."""
        is_answer = "?" in self._situation.previous
        return self._around.branch is None and not is_answer and is_for_now(said)

    def _is_at(self, said: Statement, fact_id: str) -> bool:
        """Whether a fact has the very name that a statement gives: the name then decides."""
        fact, claim = self._facts.get(fact_id), said.claim
        if fact is None or claim is None:
            return False
        return (fact.key, fact.subject) == (claim.attribute, claim.subject)

    def _resolved(self, one: Relation) -> Relation:
        """A relation to an earlier statement of the turn, as one to the fact that came of it."""
        if one.earlier is None:
            return one
        return replace(one, fact_id=self._filed.get(one.earlier, ""), earlier=None)

    def _bases(self, relations: Sequence[Relation]) -> tuple[str, ...]:
        """The facts that a statement rests on, those of this very turn among them."""
        found = (one.fact_id for one in relations if one.kind is RelationKind.DEPENDS)
        return tuple(dict.fromkeys(one for one in found if one and one not in self._gone))

    def _held(self, said: Statement) -> list[Fact]:
        """Who holds the address that a statement names."""
        if said.claim is None:
            return []
        lens, reader = self._registrar.lens, self._registrar.transaction
        return list(lens.held(reader, said.claim.attribute, said.claim.subject or "", marks=False))

    def _is_above(self, said: Statement, one: Relation) -> bool:
        ladder = self._registrar.ladder
        fact = self._facts[one.fact_id]
        return ladder.outranks(fact.standing, self._proposals.rung(said))

    def _suppose(self, said: Statement, bases: Sequence[str]) -> None:
        """Keep what is only supposed in a scope of its own; what waits for something, to wait."""
        proposal = self._proposals.of(said, said.claim if bases and said.awaits else None)
        if bases:
            source = replace(proposal.source, becomes=said.becomes)
            self._propose(said, replace(proposal, source=source, when_superseded=bases[0]), ())
            return
        is_partly = PARTLY in said.cues and len(said.text.split()) > _FEW
        if not said.parts and not is_partly and not is_worth_keeping(said):
            return
        if self._around.branch is None and not is_partly:
            unreal = _UNREAL[said.kind]  # nothing shows it, so nobody is asked
            proposal = replace(proposal, scope=unreal, scope_id=None, asks_first=False)
        self._propose(said, proposal, ())

    def _propose(
        self,
        said: Statement,
        proposal: Proposal,
        because: Sequence[Relation],
        *,
        takes: Sequence[Fact] = (),
        asked: Mapping[str, Any] | None = None,
    ) -> None:
        if (waiting := already_waiting(proposal, self._facts.values())) is not None:
            self.record.facts.append(waiting)
            return
        rule: Rule | None = None
        reason: str | None = None
        evidence = {**self._evidence, **(asked or {})}
        if because:
            first = because[0]
            rule = Rule.EXPLICIT if first.is_told else Rule.IMPLICIT
            evidence |= self._found(first)
            reason = self._if_said(first.rests_on) if first.is_told else None
        elif proposal.key and self._held(said):
            evidence |= {"reader": self._reader, "chance": round(said.chance, 3)}
            if "correction" in said.cues:
                rule, reason = Rule.EXPLICIT, self._if_said(said.text)
        try:
            verdict = self._registrar.propose(
                proposal, rule=rule, takes=takes, evidence=evidence, reason=reason
            )
        except (DependencyCycle, UnknownTarget):  # or it ends by itself, on a day to come
            proposal = replace(proposal, depends_on=(), supersedes=None)
            verdict = self._registrar.propose(proposal, rule=rule, evidence=evidence, reason=reason)
        gone = self._registrar.transaction.facts(verdict.superseded) if verdict.superseded else []
        self._note(verdict, gone)
        for later in set_right(self._registrar, proposal, gone, self._around.at):
            self.record.verdicts.append(later)

    def _found(self, relation: Relation) -> Mapping[str, Any]:
        """Who found a relation. Evidence holds no words: an erasure does not look into it."""
        return {"reader": self._reader, "chance": round(relation.chance, 3)}

    def _if_said(self, words: str) -> str | None:
        """The words that say that it is a change, if there are any."""
        words = words[:LONGEST_REASON]
        return words if words and words in self._around.text else None

    def _note(self, verdict: Verdict, gone: Iterable[Fact] = ()) -> None:
        self.record.verdicts.append(verdict)
        if verdict.rule is Rule.APPROVAL:
            gone = ()  # until somebody says so
        for fact in gone:
            self._gone.add(fact.id)
            self.record.retired.extend(gone_parts(fact, verdict.fact))
        if verdict.fact is not None and verdict.outcome is not Outcome.RETRACTED:
            self.record.facts.append(verdict.fact)

    def _take_back(
        self, fact: Fact, said: Statement | Act, relation: Relation | None = None
    ) -> None:
        if self._around.asks_first and not fact.is_unapproved:
            self._to_end.append(fact)
            return
        evidence = dict(self._evidence)
        if relation is not None:
            evidence |= self._found(relation)
        rule = Rule.DISCARD if fact.is_unapproved else Rule.RETRACTION
        reason = self._around.text[said.start : said.end][:LONGEST_REASON]
        try:
            verdict = self._registrar.retract(
                fact, rule=rule, at=self._around.at, reason=reason, evidence=evidence
            )
        except NotPermitted:
            return
        self._note(verdict, [fact])
