"""The clerk: takes the statements of a turn one by one, and has the registrar decide on each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from tenure.engine import reviewing
from tenure.engine.proposal import Proposal
from tenure.engine.registrar import Registrar
from tenure.language.detection import Detector
from tenure.language.frames import Frame
from tenure.language.statements import Kind
from tenure.model.authority import Authority
from tenure.model.errors import NotPermitted
from tenure.model.fact import Fact, Part, Said, Source
from tenure.model.scope import EVERYWHERE, Place, Scope
from tenure.model.values import text_of
from tenure.model.verdict import Outcome, Rule, Verdict
from tenure.observing import resolving
from tenure.observing.replacing import Replacing, Rewritten, rewritten
from tenure.observing.situation import Situation
from tenure.observing.understanding import Understood, typed, understood
from tenure.rules.authority import may_write_as

_LONGEST_QUOTE = 500
_SURE = 0.95
_DONE = (Outcome.SUPERSEDED, Outcome.PROMOTED, Outcome.REVERTED)


@dataclass(frozen=True)
class Speaker:
    """Who is speaking, and for whom."""

    name: str
    is_self: bool
    """Whether it is the person whose session it is."""
    authority: str | None = None


@dataclass
class Record:
    """What the statements of a turn have led to so far."""

    facts: list[Fact] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    retired: list[Part] = field(default_factory=list)
    doomed: list[str] = field(default_factory=list)
    """Ids of facts that are to be erased."""


class Clerk:
    """Files what one turn says, inside one transaction."""

    def __init__(
        self,
        registrar: Registrar,
        situation: Situation,
        detector: Detector,
        speaker: Speaker,
        *,
        session_id: str,
        task_id: str | None,
        branch: Place | None,
        turn_index: int,
        ref: str | None,
        at: datetime | None,
    ) -> None:
        self._registrar = registrar
        self._situation = situation
        self._replacing = Replacing(situation, detector)
        self._detector = detector
        self._speaker = speaker
        self._session_id = session_id
        self._task_id = task_id
        self._branch = branch
        self._turn_index = turn_index
        self._ref = ref
        self._at = at
        self.record = Record()

    def take(self, said: Understood) -> None:
        """File one statement, as what it is."""
        if self._acts(said):
            return
        if said.kind in (Kind.ASSERTION, Kind.REQUEST, Kind.COMMITMENT):
            self._assert(said)
        elif said.kind in (Kind.HYPOTHETICAL, Kind.DRAFT):
            self._propose(said)
        elif said.kind is Kind.VERBATIM:
            self._keep(said)

    # what acts on facts that are there

    def _acts(self, said: Understood) -> bool:
        """Whether the statement was about what is there, and has been seen to."""
        if said.kind is Kind.QUESTION:
            return False
        if (erasure := said.cues.erasure) is not None:
            self._erase(erasure.what)
            return True
        if (contingency := said.cues.contingency) is not None:
            return self._await(said, contingency.base, contingency.start, contingency.follows)
        if said.kind is Kind.RETRACTION:
            return self._retract(said)
        what = said.cues.goes_back_to
        if what is not None and said.kind is not Kind.HYPOTHETICAL and self._go_back(said, what):
            return True
        if said.kind is Kind.CONFIRMATION or said.cues.settles:
            return self._settle(said)
        return False

    def _erase(self, what: str) -> None:
        facts = list(self._situation.facts.values())
        for fact in resolving.named(what, facts, self._last(), all_of=True):
            if fact.owner == self._registrar.identity.user_id:
                self.record.doomed.append(fact.id)

    def _retract(self, said: Understood) -> bool:
        facts = list(self._situation.facts.values())
        found = resolving.named(said.text, facts, self._last())
        for fact in found:
            try:
                verdict = self._registrar.retract(fact, reason=said.text[:_LONGEST_QUOTE])
            except NotPermitted:
                continue
            self._note(verdict, gone=[fact])
        return bool(found)

    def _go_back(self, said: Understood, what: str) -> bool:
        """Put an earlier value back, if one is meant."""
        lens, reader = self._registrar.lens, self._registrar.transaction
        found = resolving.earlier(
            what,
            list(self._situation.facts.values()),
            lambda fact: lens.chain(reader, [fact]).facts,
            anything=said.cues.is_earlier(what),
        )
        if found is None:
            return False
        live, earlier = found
        verdict = reviewing.revert(self._registrar, live.id, earlier.id, None, self._branch)
        self._note(verdict, gone=[live])
        return True

    def _settle(self, said: Understood) -> bool:
        """Make real what was proposed a moment ago."""
        if not self._situation.proposed:
            return False
        latest = list(self._situation.proposed.values())[-1]
        place = self._branch or EVERYWHERE
        for fact in [f for f in self._situation.proposed.values() if _same_turn(f, latest)]:
            if self._replaces_something(fact, said):
                gone = self._registrar.retract(fact, rule=Rule.COMMIT)
                self._note(gone, gone=[fact])
            else:
                verdict = reviewing.take_over(self._registrar, fact, place, {})
                self._note(verdict, gone=[fact])
        return True

    def _replaces_something(self, proposed: Fact, said: Understood) -> bool:
        """Whether a proposal that is made real puts values out of office; then that was done."""
        if not proposed.multi_valued:
            return False
        again = understood(replace(said.statement, text=text_of(proposed.value)), said.at)
        again = replace(again, statement=replace(again.statement, kind=Kind.COMMITMENT))
        before = len(self.record.verdicts)
        self._replace(again, proposed.key, proposed.subject, rule=Rule.COMMIT)
        return len(self.record.verdicts) > before

    def _await(self, said: Understood, base: str, start: int, follows: bool) -> bool:
        """File what is to be so once something else changes."""
        facts = list(self._situation.facts.values())
        found = resolving.named(base, facts, [], loosely=True)
        if not found:
            found = [fact for fact in self._situation.at_key(resolving.key_for(base), None)]
        if not found:
            return False
        if follows:
            # "If the lead changes, this changes too": the last statement rests on the lead.
            return True
        then = understood(
            replace(
                said.statement,
                text=said.text[start:].rstrip(" .!"),
                start=said.statement.start + start,
                kind=Kind.ASSERTION,
            ),
            said.at,
        )
        proposal = self._proposal(then)
        swaps = self._replacing.swaps(then, proposal.key, proposal.subject)
        if swaps:
            # It takes over where the statement sits that it would replace.
            rival = swaps[0].fact
            proposal = replace(proposal, key=rival.key, subject=rival.subject)
        proposal = replace(proposal, when_superseded=found[0].id, multi_valued=False)
        self._note(self._registrar.propose(proposal))
        return True

    # what says something

    def _assert(self, said: Understood) -> None:
        proposal = self._proposal(said)
        attribute = said.attribute
        if attribute is not None and (attribute.is_sure or attribute.is_change):
            if not attribute.is_change or self._situation.at_key(proposal.key, proposal.subject):
                self._file(said, proposal)
                return
        swaps = self._replace(said, proposal.key, proposal.subject)
        if swaps and said.frame.is_fragment:
            return
        if not self._says_something(said, proposal):
            return
        self._file(said, proposal)

    def _says_something(self, said: Understood, proposal: Proposal) -> bool:
        """Whether a statement is worth a fact of its own."""
        return bool(said.frame.parts or said.frame.order)

    def _file(self, said: Understood, proposal: Proposal, rule: Rule | None = None) -> None:
        before = {fact.id: fact for fact in self._situation.facts.values()}
        verdict = self._registrar.propose(proposal, rule=rule)
        gone = [before[i] for i in verdict.superseded if i in before]
        gone += self._fetched(i for i in verdict.superseded if i not in before)
        self._note(verdict, gone=gone, retired=[p for fact in gone for p in _whole(fact)])

    def _replace(
        self, said: Understood, key: str, subject: str | None, rule: Rule | None = None
    ) -> list[Rewritten]:
        """Replace the values that the statement puts out of office; returns what was rewritten."""
        swaps = self._replacing.swaps(said, key, subject)
        done = []
        for found in rewritten(swaps):
            if self._at is not None and self._at < found.fact.order:
                continue  # it was said before the statement that it would correct
            proposal = Proposal(
                key=found.fact.key,
                value=found.text,
                subject=found.fact.subject,
                supersedes=found.fact.id,
                scope=found.fact.scope if self._branch is None else self._branch[0],
                scope_id=found.fact.scope_id if self._branch is None else self._branch[1],
                depends_on=(),
                source=self._source(said, found.parts, earlier=_history(found.fact)),
                authority=self._authority(said),
                memory_type=found.fact.memory_type,
                at=self._at,
                confidence=found.confidence,
                multi_valued=found.fact.multi_valued,
            )
            spoken = rule or (Rule.EXPLICIT if said.corrects else Rule.IMPLICIT)
            verdict = self._registrar.propose(
                proposal,
                rule=spoken,
                evidence={"detector": self._detector.name, "kinds": list(found.because)},
            )
            took = verdict.outcome in _DONE
            gone = [found.fact] if took else []
            self._note(verdict, gone=gone, retired=found.retired if took else ())
            done.append(found)
        return done

    def _propose(self, said: Understood) -> None:
        """File a draft or a what-if in a scope of its own, where it has something to say."""
        if not said.frame.parts or "counterfactual" in said.statement.cues:
            return
        scope = Scope.DRAFT if said.kind is Kind.DRAFT else Scope.HYPOTHETICAL
        proposal = self._proposal(said)
        if self._branch is None:
            proposal = replace(proposal, scope=scope, scope_id=self._session_id)
        self._note(self._registrar.propose(proposal))

    def _keep(self, said: Understood) -> None:
        """Keep what was given word for word."""
        if said.text.strip():
            proposal = replace(self._proposal(said), key="verbatim", value=said.text)
            self._note(self._registrar.propose(proposal))

    # making proposals

    def _proposal(self, said: Understood) -> Proposal:
        attribute = said.attribute
        key, subject, value, parts, multi = self._addressed(said)
        bases = self._bases(said)
        validity = said.validity
        scope, scope_id = self._place(said)
        inferred = ["depends_on"] if bases else []
        constraint = self._constraint(said)
        if constraint is not None:
            inferred.append("constraint_type")
        if validity is not None:
            inferred.append("valid_until")
        return Proposal(
            key=key,
            value=value,
            subject=subject,
            scope=scope,
            scope_id=scope_id,
            depends_on=bases,
            source=self._source(said, parts, inferred=inferred),
            authority=self._authority(said),
            constraint_type=constraint,
            valid_from=validity.valid_from if validity is not None else None,
            valid_until=validity.valid_until if validity is not None else None,
            at=self._at,
            confidence=1.0 if attribute is not None and attribute.is_sure else _SURE,
            multi_valued=multi,
        )

    def _addressed(self, said: Understood) -> tuple[str, str | None, str, tuple[Part, ...], bool]:
        """Where a statement sits and what is stored of it."""
        attribute = said.attribute
        if attribute is not None and attribute.is_sure:
            subject = attribute.subject
            if subject is None and attribute.is_own and not self._speaker.is_self:
                subject = self._speaker.name.lower()
            inside = _within(said.frame.parts, attribute.start, attribute.end)
            parts = inside or (
                Part(
                    "term", attribute.value, attribute.value.lower(), "is|", 0, len(attribute.value)
                ),
            )
            return attribute.key, self._narrowed(said, subject), attribute.value, parts, False
        begin = said.cues.tag_end
        text = said.text[begin:].strip()
        begin = said.text.index(text) if text else 0
        parts = _within(said.frame.parts, begin, len(said.text))
        if said.kind is Kind.REQUEST or (said.frame.is_fragment and self._situation.matter):
            return self._matter(said), self._narrowed(said, None), text, parts, True
        subject = self._narrowed(said, said.frame.subject)
        return said.key, subject, text, parts, self._is_taken(said, subject)

    def _is_taken(self, said: Understood, subject: str | None) -> bool:
        """Whether something else sits where the statement would, and is to stay."""
        situation = self._situation
        there = [f for f in situation.facts.values() if (f.key, f.subject) == (said.key, subject)]
        return bool(there or situation.at_key(said.key, subject))

    def _matter(self, said: Understood) -> str:
        """The key of the request that a statement opens or belongs to."""
        frame: Frame = said.frame
        situation = self._situation
        if frame.asks_for is not None:
            known = resolving.stem_of(frame.asks_for) in situation.mentioned
            if situation.matter is None or not known:
                return frame.asks_for
            held = {resolving.stem_of(f.key): f.key for f in situation.facts.values()}
            return held.get(resolving.stem_of(frame.asks_for), situation.matter)
        if situation.matter is not None:
            return situation.matter
        return frame.thing or said.key

    def _narrowed(self, said: Understood, subject: str | None) -> str | None:
        narrowed = said.cues.narrowed_to
        if subject is not None or narrowed is None:
            return subject
        words = narrowed[0].lower().split()[1:]
        return " ".join(words) or None

    def _place(self, said: Understood) -> tuple[Scope, str | None]:
        if self._branch is not None:
            return self._branch[0], self._branch[1] or None
        if said.cues.is_for_session:
            return Scope.SESSION, self._session_id
        if self._task_id is not None and (
            said.cues.is_for_task or resolving.is_task(said.cues.narrowed_to, self._task_id)
        ):
            return Scope.TASK, self._task_id
        return Scope.GLOBAL, None

    def _source(
        self,
        said: Understood,
        parts: tuple[Part, ...],
        *,
        earlier: tuple[Said, ...] = (),
        inferred: Iterable[str] = (),
    ) -> Source:
        return Source(
            type="conversation",
            name=None,
            turn_index=self._turn_index,
            speaker=self._speaker.name,
            ref=self._ref,
            span=(said.statement.start, said.statement.end),
            quote=said.text[:_LONGEST_QUOTE],
            parts=parts,
            earlier=earlier,
            inferred=tuple(inferred),
        )

    def _authority(self, said: Understood) -> str | None:
        """The authority that a statement speaks with: that of whom it quotes, where one may."""
        ladder = self._registrar.ladder
        own = self._speaker.authority
        for name in said.cues.attributed_to:
            known: Authority | None = ladder.known(name)
            if known is not None and may_write_as(self._registrar.identity, known.rung, ladder):
                return known.title
        return own

    def _bases(self, said: Understood) -> tuple[str, ...]:
        """The facts that a statement says it was worked out from."""
        facts = list(self._situation.facts.values())
        found = [
            fact.id
            for name in said.cues.bases
            for fact in resolving.named(name, facts, [], loosely=True)[:1]
        ]
        if not found and said.cues.derives:
            found = [fact.id for fact in self._last()]
        return tuple(dict.fromkeys(found))

    def _constraint(self, said: Understood) -> str | None:
        if self._registrar.identity.authority.rank == 0:
            return None  # whoever walks in binds nobody by their choice of words
        dates = [part for part in said.frame.parts if part.kind == "date"]
        return "deadline" if any(said.cues.is_deadline(part.start) for part in dates) else None

    # keeping the record

    def _last(self) -> list[Fact]:
        """The facts that were stated last."""
        here = [
            fact for fact in self.record.facts if fact.is_valid and fact.id in self._situation.facts
        ]
        if here:
            return here[-1:]
        last = self._situation.last_said
        return [fact for fact in self._situation.facts.values() if fact.id in last]

    def _fetched(self, fact_ids: Iterable[str]) -> list[Fact]:
        return self._registrar.transaction.facts(fact_ids)

    def _note(
        self, verdict: Verdict, gone: Sequence[Fact] = (), retired: Iterable[Part] = ()
    ) -> None:
        self.record.verdicts.append(verdict)
        self.record.retired.extend(retired)
        brought = []
        if verdict.fact is not None and verdict.outcome is not Outcome.RETRACTED:
            brought = [verdict.fact]
            self.record.facts.extend(brought)
        self._situation.add(brought, [fact.id for fact in gone])


def _same_turn(fact: Fact, other: Fact) -> bool:
    return fact.source.turn_index == other.source.turn_index


def _within(parts: Iterable[Part], start: int, end: int) -> tuple[Part, ...]:
    """The parts of a stretch of text, placed by where it begins."""
    return tuple(
        part._replace(start=part.start - start, end=part.end - start)
        for part in parts
        if part.start >= start and part.end <= end
    )


def _whole(fact: Fact) -> tuple[Part, ...]:
    """What went out of office with a fact."""
    return typed(fact.parts) or fact.parts


def _history(fact: Fact) -> tuple[Said, ...]:
    """The turns whose words a fact keeps, its own last."""
    source = fact.source
    if source.turn_index is None:
        return source.earlier
    start, end = source.span or (0, 0)
    said = Said(source.turn_index, source.speaker or "", source.ref, start, end)
    return (*source.earlier, said)
