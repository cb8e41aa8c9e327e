"""The clerk: takes the statements of a turn one by one, and has the registrar decide on each."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from tenure.engine import reviewing
from tenure.engine.proposal import Proposal
from tenure.engine.registrar import Registrar
from tenure.language.cues import Contingency, Cues
from tenure.language.detection import Detector, RuleDetector, same_part
from tenure.language.loosely import removed
from tenure.language.reasoning import Waiting
from tenure.language.statements import Kind
from tenure.model.errors import DependencyCycle, NotPermitted
from tenure.model.fact import Fact, Part
from tenure.model.scope import EVERYWHERE, Scope
from tenure.model.values import text_of
from tenure.model.verdict import Outcome, Rule, Verdict
from tenure.observing import offering, overtaking, resolving, ties
from tenure.observing.filing import Circumstances, Filing, history_of
from tenure.observing.replacing import Replacing, Rewritten, renamed, rewritten
from tenure.observing.situation import VERBATIM, Situation
from tenure.observing.sorting import REAL, Sorting
from tenure.observing.understanding import Understood, is_framing, typed, understood

_LONGEST_REASON = 500
_FEW_WORDS = 4
_JUST_REWRITTEN = 12
_DOUBTED = 0.5
"""How sure of a statement one is that seems not to be said in earnest: it has to be asked about."""
_STILL_OPEN = 4
"""A proposal is open to "let's do that" for so many turns."""
_PRIVATE = ("phone", "email", "address", "code", "url")
"""Kinds of values that are the same wherever they are said."""
_TOOK_OVER = (Outcome.SUPERSEDED, Outcome.PROMOTED, Outcome.REVERTED)


@dataclass
class Record:
    """What the statements of a turn have led to so far."""

    facts: list[Fact] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    retired: list[Part] = field(default_factory=list)
    doomed: list[str] = field(default_factory=list)
    """Ids of facts that are to be erased."""
    outdated: list[tuple[int, int]] = field(default_factory=list)
    """Where the turn says what had been replaced by the time it came."""
    readings: list[Kind] = field(default_factory=list)
    """What each statement was taken for, in order."""


class Clerk:
    """Files what one turn says, inside one transaction."""

    def __init__(
        self,
        registrar: Registrar,
        situation: Situation,
        detector: Detector,
        circumstances: Circumstances,
    ) -> None:
        self._registrar = registrar
        self._situation = situation
        self._detector = detector
        self._around = circumstances
        self._replacing = Replacing(situation, detector, circumstances.text)
        self._filing = Filing(registrar, situation, circumstances)
        # What a statement is does not hang on which detector is in use.
        self._by_rules = Replacing(situation, RuleDetector(), circumstances.text)
        self._sorting = Sorting(situation, self._filing, self._by_rules)
        self.record = Record()
        self._overtaken: list[Fact] = []
        self._granted: list[Fact] = []
        """Facts that a clause took for granted, which the next one follows from."""

    def take_turn(self, heard: Sequence[Understood]) -> None:
        """File the statements of a turn, one after the other."""
        if Cues(self._around.text).announces:
            earlier = self._within_reach(heard[0], self._situation.facts.values()) if heard else []
            self._overtaken = overtaking.overtaken((said.frame for said in heard), earlier)
        opened = False
        for index, said in enumerate(heard):
            said = replace(said, is_change=True) if opened else said
            opened = self._only_opens(said, heard[index + 1 :])
            if not opened:
                self.take(said)
        for fact in self._left_behind():
            self._take_back(fact, self._around.text)

    def _only_opens(self, said: Understood, after: Sequence[Understood]) -> bool:
        """Whether "scratch that" only opens what says, in the same breath, what is so instead."""
        if said.kind is not Kind.RETRACTION or not after or after[0].kind not in REAL:
            return False
        told = ties.stated(after[0].text)
        if told is None:
            return False
        if typed(said.frame.parts):
            # "Not Lisbon any more, the office is in Porto": what goes is what the office was.
            fact = ties.meant(self._situation, told.thing)
            gone = [part.text for part in typed(said.frame.parts)]
            return fact is not None and any(ties.says(fact, text) for text in gone)
        # Where it names what is to go, that goes.
        return not resolving.named(said.cues.meant(), list(self._situation.facts.values()), [])

    def take(self, said: Understood) -> None:
        """File one statement, as what it is."""
        if self._acts(said):
            self.record.readings.append(said.kind)
            return
        kind = self._sorting.kind_of(said)
        self.record.readings.append(kind)
        if kind is not said.kind and kind is Kind.REQUEST:
            said = replace(said, statement=replace(said.statement, kind=kind))
        if kind in REAL or (kind is Kind.RETRACTION and typed(said.parts)):
            self._assert(said)
        elif kind in (Kind.HYPOTHETICAL, Kind.DRAFT):
            self._propose(said, kind)
        elif kind is Kind.VERBATIM:
            self._keep(said)

    # what acts on facts that are there

    def _acts(self, said: Understood) -> bool:
        """Whether the statement was about what is there, and has been seen to."""
        if self._ties_together(said):
            return True
        contingency = said.cues.contingency
        if contingency is not None and self._await(said, contingency):
            return True
        if (erasure := said.cues.erasure) is not None:
            self._erase(erasure.what)
            return True
        if self._remove(said):
            return True
        if said.kind is Kind.QUESTION or said.statement.text.rstrip().endswith("?"):
            return False
        if said.denied and typed(said.parts):
            return False  # it says what is not so, and what is so instead
        what = said.cues.goes_back_to
        if (
            what is not None
            and said.kind is not Kind.HYPOTHETICAL
            and (self._go_back(said, what) or said.cues.is_earlier(what))
        ):
            return True
        if said.kind is Kind.RETRACTION or "retraction" in said.statement.cues or said.cues.ends:
            self._retract(said)
            if said.cues.what_is_over is not None and said.kind is not Kind.RETRACTION:
                return False  # that it is over is worth knowing
            return said.kind is not Kind.ASSERTION or "retraction" in said.statement.cues
        settles = Cues(said.text).settles
        if said.kind is Kind.CONFIRMATION or settles:
            asked = "?" in self._situation.previous
            if (settles or asked) and self._settle(said):
                return True
            # "Approved the $900 budget", out of the blue, tells of something by itself.
            by_itself = said.kind in REAL and typed(said.parts) and not self._situation.previous
            return False if by_itself else self._accept(said)
        return self._answer(said)

    def _within_reach(self, said: Understood, facts: Iterable[Fact]) -> list[Fact]:
        """Of these facts, those that whoever speaks may act on, here and at this time."""
        ladder, around = self._registrar.ladder, self._around
        rank = ladder.rank(self._filing.rung(said))
        return [
            fact
            for fact in facts
            if rank >= ladder.rank(fact.standing)
            and (around.branch is None or fact.place == around.branch)
            and (around.at is None or around.at >= fact.order)
        ]

    def _erase(self, what: str) -> None:
        """Mark for erasure what somebody wants gone, with all that it was before."""
        if not self._around.speaker.is_self or self._around.branch is not None:
            return  # only one's own, and only for real
        lens, reader = self._registrar.lens, self._registrar.transaction
        facts = list(self._situation.known.values())
        named = ties.about(what, resolving.named(what, facts, self._last(), all_of=True))
        named = named or self._named_in(what)
        private = [part for fact in named for part in fact.parts if part.kind in _PRIVATE]
        again = [f for f in facts if any(same_part(p, q) for p in f.parts for q in private)]
        for fact in (*named, *again):
            for one in lens.chain(reader, [fact]).facts:
                if one.owner == self._registrar.identity.user_id:
                    self.record.doomed.append(one.id)

    def _remove(self, said: Understood) -> bool:
        """Take back what somebody wants removed, if it is something that is known."""
        if said.kind not in (*REAL, Kind.RETRACTION):
            return False
        what = said.cues.removes or removed(said.statement.text)
        fact = ties.meant(self._situation, what) if what is not None else None
        found = [] if fact is None or fact.multi_valued else self._within_reach(said, [fact])
        for one in found:
            self._take_back(one, said.statement.text)
        return bool(found)

    def _retract(self, said: Understood) -> None:
        # What tells that something is over is not what is called off once more.
        standing = [f for f in self._situation.facts.values() if not _tells_of_an_end(f)]
        facts = self._within_reach(said, standing)
        last = [f for f in self._within_reach(said, self._last()) if not _tells_of_an_end(f)]
        if said.kind is not Kind.RETRACTION and not said.points_back:
            last = []
        is_over = said.cues.what_is_over is not None
        words = said.cues.meant()
        found = ties.about(words, resolving.named(words, facts, last, every=is_over))
        if not self._names_what_it_ends(words, found):
            found = self._within_reach(said, self._named_in(words)) or found
        along = [one for fact in found for one in overtaking.leaning(fact, facts) if is_over]
        for fact in {one.id: one for one in (*found, *along)}.values():
            self._take_back(fact, said.statement.text)

    def _named_in(self, words: str) -> list[Fact]:
        """The fact about the thing that words name, however long ago it was said."""
        name = ties.thing_in(words)
        return ties.found(self._situation, [name]) if name is not None else []

    def _names_what_it_ends(self, words: str, found: Sequence[Fact]) -> bool:
        named = {fact.id for fact in self._named_in(words)}
        return not named or any(fact.id in named for fact in found)

    def _take_back(self, fact: Fact, reason: str) -> None:
        try:
            verdict = self._registrar.retract(fact, reason=reason[:_LONGEST_REASON])
        except NotPermitted:
            return
        self._note(verdict, gone=[fact], retired=_said_by(fact))

    def _left_behind(self) -> list[Fact]:
        """What an announced update has overtaken, and is still there."""
        return [fact for fact in self._overtaken if fact.id in self._situation.facts]

    def _go_back(self, said: Understood, what: str) -> bool:
        """Put an earlier value back, if one is meant."""
        lens, reader = self._registrar.lens, self._registrar.transaction
        found = resolving.earlier(
            what,
            self._within_reach(said, self._situation.facts.values()),
            lambda fact: lens.chain(reader, [fact]).facts,
            anything=said.cues.is_earlier(what),
        )
        if found is None:
            return False
        live, earlier = found
        try:
            verdict = reviewing.revert(
                self._registrar, live.id, earlier.id, None, self._around.branch
            )
        except NotPermitted:
            return False
        self._note(verdict, gone=[live], retired=_lost(live, earlier))
        return True

    def _settle(self, said: Understood) -> bool:
        """Make real what was proposed a moment ago."""
        proposed = list(self._situation.proposed.values())
        turn = (proposed[-1].source.turn_index or 0) if proposed else 0
        if not proposed or self._around.turn_index - turn > _STILL_OPEN:
            return False
        if self._around.branch is not None:
            return False  # a branch is settled on as a whole, by commit()
        for fact in (one for one in proposed if one.source.turn_index == turn):
            if self._replaces_something(fact, said):
                self._note(self._registrar.retract(fact, rule=Rule.COMMIT), gone=[fact])
            else:
                place = self._around.branch or EVERYWHERE
                verdict = reviewing.take_over(self._registrar, fact, place, {})
                gone = [one for one in self._fetched(verdict.superseded) if one.id != fact.id]
                self._note(verdict, gone=[fact, *gone], retired=_of_all(gone))
        return True

    def _replaces_something(self, proposed: Fact, said: Understood) -> bool:
        """Whether a proposal that is made real puts values out of office; then that is done."""
        again = self._as_said(said, text_of(proposed.value), Kind.ASSERTION)
        if self._situation.at_key(proposed.key, proposed.subject):
            return False  # it sits where the other does, and takes over there
        before = len(self.record.verdicts)
        self._replace(again, proposed.key, proposed.subject, rule=Rule.COMMIT)
        return len(self.record.verdicts) > before

    def _accept(self, said: Understood) -> bool:
        """Take what the assistant has just offered for the speaker's word."""
        if offering.is_indifferent(said.statement.text):
            return True
        held = [part for fact in self._situation.facts.values() for part in typed(fact.parts)]
        for offer in offering.offers(self._situation.previous):
            taken = self._as_said(said, offer, Kind.REQUEST)
            again = any(same_part(new, old) for new in typed(taken.parts) for old in held)
            if taken.attribute is not None or not again:
                self._assert(taken, alone=not offering.is_alternative(self._situation.previous))
        return True

    def _answer(self, said: Understood) -> bool:
        """Read a choice or a bare answer in the light of what the assistant has just said."""
        previous = self._situation.previous
        if not previous or not said.frame.is_fragment or said.kind not in REAL:
            return False
        if "rejection" in said.statement.cues:
            return False
        chosen = offering.chosen(said.text, previous)
        if chosen is not None:
            self._assert(self._as_said(said, chosen, Kind.REQUEST), is_answer=True)
            return True
        attribute = offering.asked_for(previous, said.text, said.frame.parts)
        if attribute is None:
            return False
        known = [fact for fact in self._situation.facts.values() if fact.key == attribute.key]
        if not known and (not attribute.is_own or self._situation.matter is not None):
            return False
        self._assert(replace(said, attribute=attribute))
        return True

    def _as_said(self, said: Understood, text: str, kind: Kind) -> Understood:
        """Other words as if they had been said in this statement."""
        statement = replace(said.statement, text=text, kind=kind, cues=())
        again = understood(statement, said.at, lambda _: False)
        return replace(again, statement=replace(said.statement, kind=kind), lead="")

    def _await(self, said: Understood, contingency: Contingency) -> bool:
        """File what is to be so once something else changes."""
        facts = list(self._situation.facts.values())
        found = resolving.named(contingency.base, facts, [], loosely=True)
        found = found or self._situation.at_key(resolving.key_for(contingency.base), None)
        if not found:
            return False
        if contingency.follows:
            self._rest(said, found[:1], self._last())
            return True
        text = said.statement.text[contingency.start :].rstrip(" .!")
        then = self._as_said(said, text, Kind.ASSERTION)
        proposal = self._filing.proposal(then)
        swaps = self._replacing.swaps(then, proposal.key, proposal.subject)
        if swaps:
            # It takes over where the statement sits that it would replace.
            rival = swaps[0].fact
            proposal = replace(proposal, key=rival.key, subject=rival.subject)
        proposal = replace(
            proposal, when_superseded=found[0].id, supersedes=None, multi_valued=False
        )
        self._note(self._registrar.propose(proposal))
        return True

    def _ties_together(self, said: Understood) -> bool:
        """See to what only says what follows from what, or what waits for what."""
        if said.waiting is not None:
            return self._await_value(said, said.waiting)
        if said.relation is not None:
            bases = ties.found(self._situation, said.relation.bases)
            thing = said.relation.thing
            named = ties.found(self._situation, [thing]) if thing else self._last()
            self._rest(said, bases, named)
            return bool(bases)
        if said.is_presumed:
            told = ties.stated(said.text)
            self._granted = ties.found(self._situation, [told.thing]) if told else []
            return bool(self._granted)
        return False

    def _await_value(self, said: Understood, waiting: Waiting) -> bool:
        """File what is to be so once a thing that is known becomes this; if it is so, it holds."""
        base = ties.meant(self._situation, waiting.base)
        if base is None:
            return False
        then = self._as_said(said, waiting.then, Kind.ASSERTION)
        if ties.says(base, waiting.becomes):
            self._granted = [base]
            self._assert(replace(then, derives=True))
            return True
        proposal = self._filing.proposal(then)
        told = ties.stated(waiting.then)
        rival = ties.meant(self._situation, told.thing) if told else None
        if told is not None and rival is not None and rival.id != base.id:
            again = ties.rephrased(rival, told.part)
            value, parts = (again.text, again.parts) if again else (told.part.text, (told.part,))
            source = replace(proposal.source, parts=parts)
            proposal = replace(
                proposal, key=rival.key, subject=rival.subject, value=value, source=source
            )
        forms = ties.forms_of(waiting.becomes)
        proposal = replace(
            proposal,
            when_superseded=base.id,
            source=replace(proposal.source, becomes=forms),
            supersedes=None,
            multi_valued=False,
            valid_from=None,
            valid_until=None,
        )
        self._note(self._registrar.propose(proposal))
        return True

    def _rest(self, said: Understood, bases: Sequence[Fact], facts: Sequence[Fact]) -> None:
        """Let facts rest on others: "if the lead changes, so does this"."""
        for fact in self._within_reach(said, facts):
            more = [b.id for b in bases if b.id != fact.id and b.id not in fact.depends_on]
            if not more:
                continue
            inferred = tuple(dict.fromkeys((*fact.source.inferred, "depends_on")))
            again = reviewing.again(
                fact,
                depends_on=(*fact.depends_on, *more),
                supersedes=fact.id,
                source=replace(fact.source, inferred=inferred),
                authority=self._filing.authority(said),
                at=self._around.at,
            )
            try:
                verdict = self._registrar.propose(again, rule=Rule.EXPLICIT)
            except DependencyCycle:
                continue  # it is the other one that rests on this
            self._note(verdict, gone=[fact])

    # what says something

    def _assert(self, said: Understood, *, alone: bool = False, is_answer: bool = False) -> None:
        """File what is said; where it stands `alone`, beside what was said before."""
        if self._only_denies(said):
            return
        grounds, self._granted = self._granted or self._last(), []
        named = ties.found(self._situation, said.bases)
        proposal = self._filing.proposal(said, grounds, named)
        attribute = said.attribute
        held = self._situation.holding(proposal.key, proposal.subject)
        if not held and attribute is not None and (said.corrects or attribute.is_change):
            held = self._situation.called_alike(proposal.key, proposal.subject)
            proposal = replace(proposal, key=held[0].key) if held else proposal
        apart = alone or said.cues.is_past or self._filing.is_scoped(said)
        by_name = None if apart else ties.changed(self._situation, said)
        if by_name is not None:
            self._rewrite(said, by_name, None)
            return
        decides = attribute is not None and attribute.is_sure and not said.cues.is_past
        if decides and (held or not (said.corrects or (attribute and attribute.is_change))):
            self._file(said, proposal, held)
            if held and (said.corrects or (attribute and attribute.is_change)):
                self._replace_elsewhere(said, proposal, held)
            return
        spared = {fact.id for fact in (*named, *(grounds if said.derives else ()))}
        done = [] if apart else self._replace(said, proposal.key, proposal.subject, spared=spared)
        if done and (self._is_said(said) or not all(done)):
            return  # what it says has been said, or was not believed
        if not done and not apart and said.kind is Kind.ASSERTION:
            self._end(said)
        if said.denied:
            said = self._as_said(said, said.affirmed, said.kind)
            proposal = self._filing.proposal(said, grounds, named)
        if is_answer or self._is_worth_filing(said):
            self._file(said, proposal, held)

    def _end(self, said: Understood) -> None:
        """Take back what a statement ends without a word about that: "we broke up"."""
        for fact, judged in self._replacing.ended(said):
            if self._within_reach(said, [fact]):
                verdict = self._registrar.retract(
                    fact,
                    reason=said.statement.text[:_LONGEST_REASON],
                    evidence={
                        "detector": self._detector.name,
                        "confidence": judged.confidence,
                    },
                )
                self._note(verdict, gone=[fact], retired=_said_by(fact))

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
        if words == 1 and not self._situation.previous.rstrip().endswith("?"):
            return False
        return bool(said.frame.order) or words > _FEW_WORDS

    def _is_said(self, said: Understood) -> bool:
        """Whether all that a short statement says is in what was rewritten because of it."""
        if not said.is_fragment and said.attribute is None:
            return False
        now = [part for fact in self.record.facts[-_JUST_REWRITTEN:] for part in fact.parts]
        telling = [part for part in said.parts if not is_framing(part)]
        return all(any(same_part(part, held) for held in now) for part in telling)

    def _file(self, said: Understood, proposal: Proposal, held: Sequence[Fact]) -> None:
        for fact in held:
            if says_the_same(proposal.source.parts, fact):
                # The same in other words: the fact is confirmed, and keeps its own.
                proposal = replace(proposal, value=fact.value, source=fact.source)
        confidence = self._filing.confidence(said, held, proposal.confidence)
        if held and (self._is_unsure(said) or self._replacing.is_doubted(said, held)):
            confidence = min(confidence, _DOUBTED)
        # Who may read of a thing is not for a turn of conversation to change.
        limits = [fact.min_authority for fact in held if fact.min_authority is not None]
        proposal = replace(
            proposal,
            confidence=confidence,
            requires=tuple(sorted({name for fact in held for name in fact.requires})),
            min_authority=self._registrar.ladder.highest(*limits) if limits else None,
        )
        rule = self._rule(said, held)
        if not held and proposal.supersedes is None:
            behind = [f for f in self._left_behind() if overtaking.shares(said.frame, f)]
            if behind:
                proposal, rule = replace(proposal, supersedes=behind[0].id), Rule.EXPLICIT
        try:
            verdict = self._registrar.propose(proposal, rule=rule)
        except DependencyCycle:
            # What was read off the wording is no reason to refuse the turn.
            verdict = self._registrar.propose(replace(proposal, depends_on=()), rule=rule)
        gone = self._fetched(verdict.superseded)
        self._note(verdict, gone=gone, retired=_of_all(gone))

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
        ladder = self._registrar.ladder
        own = ladder.rank(self._filing.rung(said))
        equal = all(ladder.rank(fact.standing) == own for fact in held)
        return Rule.EXPLICIT if said.corrects and equal else None

    def _replace(
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
        replacing = self._by_rules if plainly else self._replacing
        whole = set() if said.is_fragment else {fact.id for fact in self._left_behind()}
        swaps = replacing.swaps(said, key, subject)
        kept = [swap for swap in swaps if swap.fact.id not in whole and swap.fact.id not in spared]
        return [self._rewrite(said, found, rule) for found in rewritten(kept)]

    def _replace_elsewhere(
        self, said: Understood, proposal: Proposal, held: Sequence[Fact]
    ) -> None:
        """Replace what these facts said also where statements of the conversation say it."""
        new = typed(proposal.source.parts)
        if len(new) == 1 and all(fact.id not in self._situation.facts for fact in held):
            for found in rewritten(self._replacing.elsewhere(held, new[0])):
                self._rewrite(said, found, None)

    def _rewrite(self, said: Understood, found: Rewritten, rule: Rule | None) -> bool:
        """Put a statement in the place of one with another value; tells whether it took over."""
        at, branch = self._around.at, self._around.branch
        # Whoever walks in binds nobody, not even where they speak to what binds.
        binds = self._registrar.identity.authority.rank > 0
        fact = found.fact
        if at is not None and at < fact.order:
            # It was said before the statement that it would correct.
            self.record.outdated.append((said.statement.start, said.statement.end))
            return False
        place = branch or fact.place
        proposal = Proposal(
            key=renamed(found),
            value=found.text,
            subject=fact.subject,
            supersedes=fact.id,
            scope=place[0],
            scope_id=place[1] or None,
            source=self._filing.source(said, found.parts, earlier=history_of(fact)),
            authority=self._filing.authority(said),
            memory_type=fact.memory_type,
            is_constraint=(binds and fact.is_constraint) or None,
            constraint_type=fact.constraint_type if binds else None,
            requires=fact.requires,
            min_authority=fact.min_authority,
            valid_until=fact.valid_until if _is_ahead(fact, at) else None,
            at=at,
            confidence=_DOUBTED
            if self._is_unsure(said)
            else self._filing.confidence(said, [fact], found.confidence),
            multi_valued=fact.multi_valued,
        )
        verdict = self._registrar.propose(
            proposal,
            rule=rule or (Rule.EXPLICIT if said.corrects else Rule.IMPLICIT),
            evidence={"detector": self._detector.name, "kinds": list(found.because)},
        )
        took = verdict.outcome in _TOOK_OVER
        self._note(verdict, [fact] if took else (), found.retired if took else ())
        return took

    def _propose(self, said: Understood, kind: Kind) -> None:
        """File a draft or a what-if in a scope of its own, where it has something to say."""
        if not said.frame.parts or "counterfactual" in said.statement.cues:
            return
        scope = Scope.DRAFT if kind is Kind.DRAFT else Scope.HYPOTHETICAL
        proposal = replace(self._filing.proposal(said), supersedes=None)
        if self._around.branch is None:
            proposal = replace(proposal, scope=scope, scope_id=self._around.session_id)
        self._note(self._registrar.propose(proposal))

    def _keep(self, said: Understood) -> None:
        """Keep what was given word for word."""
        if said.text.strip():
            proposal = self._filing.proposal(said)
            proposal = replace(proposal, key=VERBATIM, value=said.text, multi_valued=True)
            self._note(self._registrar.propose(proposal))

    # keeping the record

    def _last(self) -> list[Fact]:
        """The facts that were stated last."""
        here = [fact for fact in self.record.facts if fact.id in self._situation.facts]
        if here:
            return here[-1:]
        last = self._situation.last_said
        return [fact for fact in self._situation.facts.values() if fact.id in last]

    def _fetched(self, fact_ids: Sequence[str]) -> list[Fact]:
        return self._registrar.transaction.facts(fact_ids) if fact_ids else []

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


def _is_ahead(fact: Fact, at: datetime | None) -> bool:
    """Whether the term of a fact still has an end to come."""
    return fact.valid_until is not None and (at is None or fact.valid_until > at)


def says_the_same(parts: Sequence[Part], fact: Fact) -> bool:
    """Whether a fact says just these values, however it puts them."""
    theirs = typed(fact.parts)
    ours = typed(tuple(parts))
    return (
        bool(ours)
        and len(ours) == len(theirs)
        and all(same_part(new, old) for new, old in zip(ours, theirs, strict=True))
    )


def _tells_of_an_end(fact: Fact) -> bool:
    return Cues(text_of(fact.value)).what_is_over is not None


def _said_by(fact: Fact) -> tuple[Part, ...]:
    """What goes out of office with a fact."""
    return typed(fact.parts) or fact.parts


def _of_all(facts: Iterable[Fact]) -> list[Part]:
    return [part for fact in facts for part in _said_by(fact)]


def _lost(live: Fact, earlier: Fact) -> list[Part]:
    return [p for p in _said_by(live) if not any(same_part(p, old) for old in earlier.parts)]
