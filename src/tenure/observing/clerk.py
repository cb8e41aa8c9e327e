"""The clerk: takes the statements of a turn one by one, and has the registrar decide on each."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from datetime import datetime

from tenure.engine.proposal import Proposal
from tenure.language.cues import Cues
from tenure.language.detection import same_part
from tenure.language.statements import Kind
from tenure.model.errors import DependencyCycle
from tenure.model.fact import Fact
from tenure.model.scope import Scope
from tenure.model.verdict import Outcome, Rule
from tenure.observing import overtaking, resolving, ties
from tenure.observing.answering import Answering
from tenure.observing.desk import Desk, Record, as_said, of_all
from tenure.observing.ending import Ending
from tenure.observing.filing import history_of
from tenure.observing.relating import restated
from tenure.observing.rewriting import Rewritten, renamed, rewritten
from tenure.observing.situation import VERBATIM
from tenure.observing.sorting import REAL, Sorting
from tenure.observing.tying import Tying
from tenure.observing.understanding import Understood, is_framing, typed

_FEW_WORDS = 4
_JUST_REWRITTEN = 12
_DOUBTED = 0.5
"""How sure of a statement one is that seems not to be said in earnest: it has to be asked about."""
_TOOK_OVER = (Outcome.SUPERSEDED, Outcome.PROMOTED, Outcome.REVERTED)


class Clerk:
    """Files what one turn says, inside one transaction."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._sorting = Sorting(desk.situation, desk.filing, desk.by_rules)
        self._ending = Ending(desk)
        self._tying = Tying(desk, self.state)
        self._answering = Answering(desk, self)
        self._overtaken: list[Fact] = []
        self._took_off = False

    @property
    def record(self) -> Record:
        return self._desk.record

    def take_turn(self, heard: Sequence[Understood]) -> None:
        """File the statements of a turn, one after the other."""
        if Cues(self._desk.around.text).announces:
            known = self._desk.situation.facts.values() if heard else ()
            earlier = self._desk.within_reach(heard[0], known) if known else []
            self._overtaken = overtaking.overtaken((said.frame for said in heard), earlier)
        opened, self._took_off = False, False
        for index, said in enumerate(heard):
            if self._took_off and said.points_back and not typed(said.frame.parts):
                # "Delete the fee. It is over" says of one thing twice that it goes.
                self._desk.record.readings.append(said.kind)
                continue
            said = replace(said, is_change=True) if opened else said
            opened = self._only_opens(said, heard[index + 1 :])
            if not opened:
                self._ending.drop_mistakes(said)
                self.take(said)
        for fact in self._left_behind():
            self._desk.take_back(fact, self._desk.around.text)

    def _only_opens(self, said: Understood, after: Sequence[Understood]) -> bool:
        """Whether "scratch that" only opens what says, in the same breath, what is so instead."""
        if said.kind is not Kind.RETRACTION or not after or after[0].kind not in REAL:
            return False
        told = ties.stated(after[0].text)
        if told is None:
            return False
        if typed(said.frame.parts):
            # "Not Lisbon any more, the office is in Porto": what goes is what the office was.
            fact = ties.meant(self._desk.situation, told.thing)
            gone = [part.text for part in typed(said.frame.parts)]
            return fact is not None and any(ties.says(fact, text) for text in gone)
        # Where it names what is to go, that goes.
        return not resolving.named(said.cues.meant(), list(self._desk.situation.facts.values()), [])

    def take(self, said: Understood) -> None:
        """File one statement, as what it is."""
        if said.kind is not Kind.VERBATIM and self._desk.is_retold(said):
            self._desk.record.readings.append(Kind.REPORT)
            return
        self._desk.record.outdated.extend(said.outdated)
        if self._acts(said):
            self._desk.record.readings.append(said.kind)
            return
        kind = self._sorting.kind_of(said)
        self._desk.record.readings.append(kind)
        if kind is not said.kind and kind is Kind.REQUEST:
            said = replace(said, statement=replace(said.statement, kind=kind))
        if kind in REAL or (kind is Kind.RETRACTION and typed(said.parts)):
            self.state(said)
            self._ending.rule_out(said)
        elif kind in (Kind.HYPOTHETICAL, Kind.DRAFT):
            self._propose(said, kind)
        elif kind is Kind.VERBATIM:
            self._keep(said)

    def _acts(self, said: Understood) -> bool:
        """Whether the statement was about what is there, and has been seen to."""
        if self._ending.is_in_vain(said) or self._ending.asks_for_everything(said):
            return True
        if self._tying.tie(said):
            return True
        if said.is_anchored:
            return bool(said.removes) and (self._ending.remove(said) or True)
        contingency = said.cues.contingency
        if contingency is not None and self._tying.wait(said, contingency):
            return True
        if (erasure := said.cues.erasure) is not None:
            self._ending.erase(said, erasure.what)
            self._took_off = True
            return True
        if self._ending.remove(said):
            self._took_off = True
            return True
        if said.kind is Kind.QUESTION or said.statement.text.rstrip().endswith("?"):
            return False
        if said.denied and typed(said.parts):
            return False  # it says what is not so, and what is so instead
        what = said.cues.goes_back_to
        if (
            what is not None
            and said.kind is not Kind.HYPOTHETICAL
            and self._desk.is_meant(said)
            and (self._answering.go_back(said, what) or said.cues.is_earlier(what))
        ):
            return True
        if said.kind is Kind.RETRACTION or "retraction" in said.statement.cues or said.cues.ends:
            if not self._desk.is_meant(said):
                return True  # that it is over is nothing that is said here
            self._ending.retract(said)
            if said.cues.what_is_over is not None and said.kind is not Kind.RETRACTION:
                return False  # that it is over is worth knowing
            return said.kind is not Kind.ASSERTION or "retraction" in said.statement.cues
        settles = Cues(said.text).settles
        if said.kind is Kind.CONFIRMATION or settles:
            asked = "?" in self._desk.situation.previous
            if (settles or asked) and self._answering.settle(said):
                return True
            return False if self._tells_by_itself(said) else self._answering.accept(said)
        return self._answering.answer(said)

    def _tells_by_itself(self, said: Understood) -> bool:
        """Whether what could settle on something tells of something instead, out of the blue:
        "Approved the $900 budget", "The order is approved" with nothing proposed."""
        if said.kind not in REAL or self._desk.situation.previous:
            return False
        return bool(typed(said.parts)) or (said.kind is Kind.ASSERTION and not said.points_back)

    def _left_behind(self) -> list[Fact]:
        """What an announced update has overtaken, and is still there."""
        return [fact for fact in self._overtaken if fact.id in self._desk.situation.facts]

    # what says something

    def state(self, said: Understood, *, alone: bool = False, is_answer: bool = False) -> None:
        """File what is said; where it stands `alone`, beside what was said before."""
        if self._only_denies(said):
            return
        grounds, self._desk.granted = self._desk.granted or self._desk.last(), []
        named = ties.found(self._desk.situation, said.bases)
        proposal = self._desk.filing.proposal(said, grounds, named)
        attribute = said.attribute
        held = self._desk.situation.holding(proposal.key, proposal.subject)
        if not held and attribute is not None and (said.corrects or attribute.is_change):
            held = self._desk.situation.called_alike(proposal.key, proposal.subject)
            proposal = replace(proposal, key=held[0].key) if held else proposal
        apart = alone or said.cues.is_past or self._desk.filing.is_scoped(said)
        if not apart and self._answering.return_to(said):
            return
        by_name = None if apart else ties.changed(self._desk.situation, said)
        if by_name is not None:
            notes = self._desk.replacing.noted(said, by_name)
            for found in (by_name, *rewritten(notes)):
                self._rewrite(said, found, None)
            return
        decides = attribute is not None and attribute.is_sure and not said.cues.is_past
        if decides and (held or not (said.corrects or (attribute and attribute.is_change))):
            self._file(said, proposal, held)
            if held and (said.corrects or (attribute and attribute.is_change)):
                self._replace_elsewhere(said, proposal, held)
            return
        spared = {fact.id for fact in (*named, *(grounds if said.derives else ()))}
        done = (
            [] if apart else self.put_in_place(said, proposal.key, proposal.subject, spared=spared)
        )
        if done and (self._is_said(said) or not all(done)):
            return  # what it says has been said, or was not believed
        if not done and not apart and said.kind is Kind.ASSERTION:
            self._ending.end(said)
        if said.denied:
            said = as_said(said, said.affirmed, said.kind)
            proposal = self._desk.filing.proposal(said, grounds, named)
        if is_answer or self._is_worth_filing(said):
            self._file(said, proposal, held)

    @staticmethod
    def _only_denies(said: Understood) -> bool:
        """Whether a statement says what is not so, and nothing else."""
        if said.denied and not said.parts and said.cues.opens_denied:
            return True
        if typed(said.parts) or said.attribute is not None or not said.is_fragment:
            return False
        return bool(said.denied) or "rejection" in said.statement.cues

    def _is_worth_filing(self, said: Understood) -> bool:
        """Whether a statement says anything by itself: "Terrific." does not."""
        if said.attribute is not None or any(not is_framing(part) for part in said.frame.parts):
            return True
        if said.cues.is_in_earnest:
            return False  # it only says that what follows is meant
        words = len(said.text.split())
        if words == 1 and not self._desk.situation.previous.rstrip().endswith("?"):
            return False
        return bool(said.frame.order) or words > _FEW_WORDS

    def _is_said(self, said: Understood) -> bool:
        """Whether all that a short statement says is in what was rewritten because of it."""
        if not said.is_fragment and said.attribute is None:
            return False
        now = [part for fact in self._desk.record.facts[-_JUST_REWRITTEN:] for part in fact.parts]
        telling = [part for part in said.parts if not is_framing(part)]
        return all(any(same_part(part, held) for held in now) for part in telling)

    def _file(self, said: Understood, proposal: Proposal, held: Sequence[Fact]) -> None:
        for fact in held:
            proposal = restated(proposal, fact)
        confidence = self._desk.filing.confidence(said, held, proposal.confidence)
        if held and self._is_doubted(said, held):
            confidence = min(confidence, _DOUBTED)
        # Who may read of a thing is not for a turn of conversation to change.
        limits = [fact.min_authority for fact in held if fact.min_authority is not None]
        proposal = replace(
            proposal,
            confidence=confidence,
            requires=tuple(sorted({name for fact in held for name in fact.requires})),
            min_authority=self._desk.registrar.ladder.highest(*limits) if limits else None,
        )
        rule = self._rule(said, held)
        if not held and proposal.supersedes is None:
            behind = self._behind(said)
            if behind is not None:
                proposal, rule = replace(proposal, supersedes=behind.id), Rule.EXPLICIT
        try:
            verdict = self._desk.registrar.propose(proposal, rule=rule)
        except DependencyCycle:
            # What was read off the wording is no reason to refuse the turn.
            verdict = self._desk.registrar.propose(replace(proposal, depends_on=()), rule=rule)
        gone = self._desk.fetched(verdict.superseded)
        self._desk.note(verdict, gone=gone, retired=of_all(gone))

    def _behind(self, said: Understood) -> Fact | None:
        """What a statement leaves behind that sits elsewhere, under another name."""
        shared = [f for f in self._left_behind() if overtaking.shares(said.frame, f)]
        if shared:
            return shared[0]
        settled = overtaking.settled(said, self._desk.situation.facts.values())
        within = self._desk.within_reach(said, [settled]) if settled is not None else []
        return within[0] if within else None

    def _is_doubted(self, said: Understood, held: Sequence[Fact]) -> bool:
        """Whether it has to be asked about before it takes over from these.

        What is to be worked out again is said again without a word about that.
        """
        if not self._is_unsure(said) and not self._desk.replacing.is_doubted(said, held):
            return False
        lens, reader = self._desk.registrar.lens, self._desk.registrar.transaction
        seen = [lens.by_id(reader, fact.id) for fact in held]
        return not all(fact is not None and fact.needs_review for fact in seen)

    @staticmethod
    def _is_unsure(said: Understood) -> bool:
        """Whether it is said with so little conviction that who said otherwise should be asked."""
        return said.cues.is_unsure and not said.is_request and not said.corrects

    def _rule(self, said: Understood, held: Sequence[Fact]) -> Rule | None:
        """The rule by which a statement takes over from these, where its words tell."""
        if not held:
            return None
        if said.by is not None:
            return Rule.AUTHORITY
        ladder = self._desk.registrar.ladder
        own = ladder.rank(self._desk.filing.rung(said))
        equal = all(ladder.rank(fact.standing) == own for fact in held)
        return Rule.EXPLICIT if said.corrects and equal else None

    def put_in_place(
        self,
        said: Understood,
        key: str,
        subject: str | None,
        rule: Rule | None = None,
        spared: Container[str] = (),
    ) -> list[bool]:
        """Replace the values that the statement puts out of office; tells of each if it did.

        What it follows from is `spared`.
        """
        # Of what is said with little conviction it is enough to know what it would be against, and
        # what was only proposed in its own words has been settled on in others.
        # Who comes back from an aside names what they come back to.
        plainly = self._is_unsure(said) or rule is Rule.COMMIT or said.cues.comes_back
        replacing = self._desk.by_rules if plainly else self._desk.replacing
        whole = set() if said.is_fragment else {fact.id for fact in self._left_behind()}
        swaps = replacing.swaps(said, key, subject)
        kept = [swap for swap in swaps if swap.fact.id not in whole and swap.fact.id not in spared]
        return [self._rewrite(said, found, rule) for found in rewritten(kept)]

    def _replace_elsewhere(
        self, said: Understood, proposal: Proposal, held: Sequence[Fact]
    ) -> None:
        """Replace what these facts said also where statements of the conversation say it."""
        new = typed(proposal.source.parts)
        if len(new) == 1 and all(fact.id not in self._desk.situation.facts for fact in held):
            for found in rewritten(self._desk.replacing.elsewhere(held, new[0])):
                self._rewrite(said, found, None)

    def _rewrite(self, said: Understood, found: Rewritten, rule: Rule | None) -> bool:
        """Put a statement in the place of one with another value; tells whether it took over."""
        at, branch = self._desk.around.at, self._desk.around.branch
        # Whoever walks in binds nobody, not even where they speak to what binds.
        binds = self._desk.registrar.identity.authority.rank > 0
        fact = found.fact
        if at is not None and at < fact.order:
            # It was said before the statement that it would correct.
            self._desk.record.outdated.append((said.statement.start, said.statement.end))
            return False
        place = branch or fact.place
        proposal = Proposal(
            key=renamed(found),
            value=found.text,
            subject=fact.subject,
            supersedes=fact.id,
            scope=place[0],
            scope_id=place[1] or None,
            source=self._desk.filing.source(
                said, found.parts, earlier=history_of(fact), wording=found.text
            ),
            authority=self._desk.filing.authority(said),
            memory_type=self._desk.filing.speaks_to(said, fact),
            is_constraint=(binds and fact.is_constraint) or None,
            constraint_type=fact.constraint_type if binds else None,
            requires=fact.requires,
            min_authority=fact.min_authority,
            valid_until=fact.valid_until if _is_ahead(fact, at) else None,
            at=at,
            confidence=_DOUBTED
            if self._is_unsure(said)
            else self._desk.filing.confidence(said, [fact], found.confidence),
            multi_valued=fact.multi_valued,
            spoken=True,
        )
        verdict = self._desk.registrar.propose(
            proposal,
            rule=rule or (Rule.EXPLICIT if said.corrects else Rule.IMPLICIT),
            evidence={"detector": self._desk.detector.name, "kinds": list(found.because)},
        )
        took = verdict.outcome in _TOOK_OVER
        self._desk.note(verdict, [fact] if took else (), found.retired if took else ())
        return took

    def _propose(self, said: Understood, kind: Kind) -> None:
        """File a draft or a what-if in a scope of its own, where it has something to say."""
        if not said.frame.parts or "counterfactual" in said.statement.cues:
            return
        scope = Scope.DRAFT if kind is Kind.DRAFT else Scope.HYPOTHETICAL
        proposal = replace(self._desk.filing.proposal(said), supersedes=None)
        if self._desk.around.branch is None:
            proposal = replace(proposal, scope=scope, scope_id=self._desk.around.session_id)
        self._desk.note(self._desk.registrar.propose(proposal))

    def _keep(self, said: Understood) -> None:
        """Keep what was given word for word."""
        if said.text.strip():
            proposal = self._desk.filing.proposal(said)
            proposal = replace(proposal, key=VERBATIM, value=said.text, multi_valued=True)
            self._desk.note(self._desk.registrar.propose(proposal))


def _is_ahead(fact: Fact, at: datetime | None) -> bool:
    """Whether the term of a fact still has an end to come."""
    return fact.valid_until is not None and (at is None or fact.valid_until > at)
