"""The clerk: takes the statements of a turn one by one, and has the registrar decide on each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from incumbent.engine.proposal import Proposal
from incumbent.language.cues import Cues
from incumbent.language.detection import same_part
from incumbent.language.questions import is_asking_for, is_telling
from incumbent.language.statements import Kind
from incumbent.language.things import tells_of_another
from incumbent.model.errors import DependencyCycle
from incumbent.model.fact import Fact
from incumbent.model.scope import Scope
from incumbent.model.values import text_of
from incumbent.model.verdict import Rule
from incumbent.observing import asides, overtaking, reporting, ties
from incumbent.observing.answering import Answering, is_short
from incumbent.observing.desk import Desk, Record, of_all
from incumbent.observing.effects import NOTHING, Effect, Effects
from incumbent.observing.ending import Ending, only_opens
from incumbent.observing.reach import is_plain_denial
from incumbent.observing.relating import restated
from incumbent.observing.rewriting import JOINT, amended, rewritten
from incumbent.observing.situation import STATEMENT
from incumbent.observing.sorting import REAL, Sorting
from incumbent.observing.successions import DOUBTED, Successions, is_doubted, rule_for
from incumbent.observing.touching import Likeness, is_reading
from incumbent.observing.tying import Tying
from incumbent.observing.understanding import Understood, is_framing, typed
from incumbent.observing.wording import all_in_own_words, as_said, in_own_words, without_gone
from incumbent.observing.worth import Worth, only_denies, runs_on

_FEW_WORDS = 4
_JUST_REWRITTEN = 12
_TOLD, _ASKED_FOR = 0.25, 0.7
"""How likely a question must tell something to be kept, and to ask for something to be so."""


class Clerk:
    """Files what one turn says, inside one transaction."""

    def __init__(self, desk: Desk, found: Mapping[str, Likeness]) -> None:
        self._desk = desk
        self._reads = is_reading(desk.detector)
        self._effects = Effects(desk, found)
        self._successions = Successions(desk)
        self._worth = Worth(desk)
        self._sorting = Sorting(desk.situation, desk.filing, desk.by_rules)
        self._ending = Ending(desk)
        self._tying = Tying(desk, self.state)
        self._answering = Answering(desk, self, self._successions)
        self._overtaken: list[Fact] = []
        self._took_off = False

    @property
    def record(self) -> Record:
        return self._desk.record

    def take_turn(
        self, heard: Sequence[Understood], own_words: Sequence[Understood] | None = None
    ) -> None:
        """File the statements of a turn, one after the other; `own_words` are the same as they were
        said, if that was worked out before."""
        if Cues(self._desk.around.text).announces:
            known = self._desk.situation.facts.values() if heard else ()
            earlier = self._desk.within_reach(heard[0], known) if known else []
            found = overtaking.overtaken((said.frame for said in heard), earlier)
            self._overtaken = [f for f in found if not self._is_of_another(heard[0], f)]
        if self._reads:
            heard = all_in_own_words(heard) if own_words is None else own_words
        self._effects.begin(heard)
        self._worth = Worth(self._desk)
        opened, self._took_off = False, False
        for index, said in enumerate(heard):
            if self._took_off and said.points_back and not typed(said.frame.parts):
                # "Delete the fee. It is over" says of one thing twice that it goes.
                self._desk.record.readings.append(said.kind)
                continue
            said = replace(said, is_change=True) if opened else said
            opened = only_opens(self._desk, said, heard[index + 1 :])
            if opened:
                self._desk.record.readings.append(said.kind)
            else:
                self._ending.drop_mistakes(said)
                self._see_to(said)
        for fact in self._left_behind():
            self._desk.take_back(fact, self._desk.around.text)

    def take_report(self, heard: Sequence[Understood]) -> None:
        """Keep what a machine reports as done, issued or found, as its own word."""
        self._effects.begin(heard)
        for said in heard:
            chance, tells = (
                self._desk.stretches.chance(said, "states", 0.0),
                self._worth.tells(said),
            )
            if reporting.is_news(said, self._desk.situation, chance=chance, tells=tells):
                self._state_plainly(replace(in_own_words(said), attribute=None))
                self._desk.record.readings.append(said.kind)

    def _see_to(self, said: Understood) -> None:
        """File one statement; what the rules make nothing of, as said, where it tells something."""
        before = len(self._desk.record.verdicts)
        if said.kind is Kind.HYPOTHETICAL and runs_on(said) and self._worth.tells(said):
            self._desk.record.readings.append(Kind.ASSERTION)
        else:
            self.take(said)
        is_left = len(self._desk.record.verdicts) == before and self._worth.may_be_kept(said)
        if is_left and self._worth.tells(said):
            told = replace(as_said(said, said.statement.text, Kind.ASSERTION), attribute=None)
            if self._desk.is_meant(said):
                self._state_plainly(told)
            else:
                self._hear(told)

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
            asides.propose(self._desk, said, kind)
        elif kind is Kind.VERBATIM:
            asides.keep(self._desk, said)
        elif kind is Kind.REPORT:
            self._hear(said)
        elif self._tells(said, kind):
            self.state(said)

    def _hear(self, said: Understood) -> None:
        """Keep hearsay as hearsay: in its own words, with no effect on anything else."""
        start, end = said.statement.start, said.statement.end
        is_shown = self._desk.voice.is_shown(start, end)
        if self._reads and not is_shown and self._worth.is_worth_filing(said):
            plain = replace(said, attribute=None)
            proposal = replace(self._desk.filing.proposal(plain), key=STATEMENT, subject=None)
            self._file(plain, proposal, ())

    def _tells(self, said: Understood, kind: Kind) -> bool:
        """Whether a statement that is no plain assertion tells something worth keeping."""
        if not self._reads:
            return False
        if kind is Kind.RETRACTION:
            return said.cues.removes is None and len(said.text.split()) >= _FEW_WORDS
        if kind is Kind.QUESTION:
            likely = self._desk.stretches.chance(said, "states", 1.0)
            asks = is_asking_for(said.text) and likely >= _ASKED_FOR
            return likely >= _TOLD and (
                is_telling(said.text) or (asks and self._effects.sets(said))
            )
        return False

    def _acts(self, said: Understood) -> bool:
        """Whether the statement was about what is there, and has been seen to."""
        if self._ending.is_in_vain(said) or self._ending.asks_for_everything(said):
            return True
        if "forgetting" in said.statement.cues and said.cues.erasure is None:
            self._ending.retract(said)
            return True
        if self._tying.tie(said):
            return True
        if said.is_anchored and said.removes:
            if self._ending.remove(said):
                self._keep_end(said)
            else:
                self._hear(as_said(said, said.statement.text, Kind.ASSERTION))
            return True
        if said.is_anchored:
            return False
        contingency = said.cues.contingency
        if contingency is not None and self._tying.wait(said, contingency):
            return True
        if (erasure := said.cues.erasure) is not None:
            self._ending.erase(said, erasure.what)
            self._took_off = True
            return True
        if self._ending.remove(said):
            self._took_off = True
            self._keep_end(said)
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
            if self._ends_in_words(said):
                return False
            if said.cues.what_is_over is not None and said.kind is not Kind.RETRACTION:
                return False  # that it is over is worth knowing
            return said.kind is not Kind.ASSERTION or "retraction" in said.statement.cues
        if self._reads and not typed(said.parts) and is_short(said, self._desk.situation):
            self._answering.keep(said)
            return True
        settles = Cues(said.text).settles
        if said.kind is Kind.CONFIRMATION or settles:
            asked = "?" in self._desk.situation.previous
            if (settles or asked) and self._answering.settle(said):
                return True
            return False if self._tells_by_itself(said) else self._answering.accept(said)
        return self._answering.answer(said)

    def _keep_end(self, said: Understood) -> None:
        """Keep in its own words what tells that something is over, and what else is in doubt."""
        told = said.statement.text
        is_told = said.kind is Kind.ASSERTION and Cues(told).what_is_over is not None
        if is_told and self._reads:
            self._state_plainly(replace(as_said(said, told, Kind.ASSERTION), attribute=None))

    def _state_plainly(self, said: Understood) -> None:
        """File a statement in its own words and under no name."""
        proposal = replace(self._desk.filing.proposal(said), key=STATEMENT, subject=None)
        held = self._effects.held(proposal)
        self._state_beside(said, proposal, held, self._effects.of(said, proposal, held))

    def _ends_in_words(self, said: Understood) -> bool:
        """Whether a statement says itself what is over, so that it is worth keeping."""
        return self._reads and len(said.text.split()) >= _FEW_WORDS and not typed(said.parts)

    def _tells_by_itself(self, said: Understood) -> bool:
        """Whether what could settle on something tells of something instead, out of the blue:
        "Approved the $900 budget", "The order is approved" with nothing proposed."""
        if said.kind not in REAL or self._desk.situation.previous:
            return False
        return bool(typed(said.parts) or (said.kind is Kind.ASSERTION and not said.points_back))

    def _left_behind(self) -> list[Fact]:
        """What an announced update has overtaken, and is still there."""
        return [fact for fact in self._overtaken if fact.id in self._desk.situation.facts]

    def _put_in_place(self, said: Understood, proposal: Proposal, spared: set[str]) -> list[bool]:
        whole = set() if said.is_fragment else {fact.id for fact in self._left_behind()}
        key, subject = proposal.key, proposal.subject
        return self._successions.put_in_place(said, key, subject, spared=spared | whole)

    # what says something

    def state(self, said: Understood, *, alone: bool = False, is_answer: bool = False) -> None:
        """File what is said; where it stands `alone`, beside what was said before."""
        if only_denies(said):
            return
        if self._reads and is_plain_denial(said):
            self._state_plainly(replace(said, attribute=None))
            return
        grounds, self._desk.granted = self._desk.granted or self._desk.last(), []
        self._tying.grant(said)
        named = ties.found(self._desk.situation, said.bases)
        proposal = self._desk.filing.proposal(said, grounds, named)
        attribute = said.attribute
        held = self._effects.held(proposal)
        if not held and attribute is not None and (said.corrects or attribute.is_change):
            held = self._desk.situation.called_alike(proposal.key, proposal.subject)
            proposal = replace(proposal, key=held[0].key) if held else proposal
        apart = alone or said.cues.is_past or self._desk.filing.is_scoped(said)
        if not apart and self._answering.return_to(said):
            return
        if not alone and (renewed := self._effects.renewed(said, proposal)):
            self._state_beside(said, proposal, (), renewed)
            return
        is_named = not apart and not (is_answer and JOINT in said.text)
        by_name = ties.changed(self._desk.situation, said) if is_named else None
        if by_name is not None and by_name.fact in named:
            by_name = None  # what a statement rests on is not what it changes
        if by_name is not None and not self._is_of_another(said, by_name.fact):
            notes = self._desk.replacing.noted(said, by_name)
            for found in (by_name, *rewritten(notes)):
                self._successions.rewrite(said, found, None)
            return
        above = self._effects.against(said) if self._reads and not apart and not held else None
        if above is not None:
            self._file(replace(said, attribute=None), replace(proposal, supersedes=above.id), ())
            return
        decides = attribute is not None and attribute.is_sure and not said.cues.is_past
        is_cued = said.corrects or (attribute is not None and attribute.is_change)
        if decides and (held or not is_cued):
            effect = self._effects.of(said, proposal, held) if not held else NOTHING
            self._state_beside(said, proposal, held, effect)
            if held and is_cued:
                self._successions.replace_elsewhere(said, proposal, held)
            return
        spared = {fact.id for fact in (*named, *(grounds if said.derives else ()))}
        done = [] if apart else self._put_in_place(said, proposal, spared)
        if done and (self._is_said(said) or not all(done)):
            return  # what it says has been said, or was not believed
        if not done and self._reads:
            effect = NOTHING if apart else self._effects.of(said, proposal, held, spared)
            if is_answer or effect or held or self._worth.is_worth_filing(said):
                short = not is_answer and bool(typed(said.parts)) and not effect.partly
                if short and is_short(said, self._desk.situation):
                    self._answering.keep(said)
                else:
                    self._state_beside(said, proposal, held, effect)
            return
        if not done and not apart and said.kind is Kind.ASSERTION:
            self._ending.end(said)
        if said.denied:
            said = as_said(said, said.affirmed, said.kind)
            proposal = self._desk.filing.proposal(said, grounds, named)
        if is_answer or self._worth.is_worth_filing(said):
            self._file(said, proposal, held)

    @staticmethod
    def _is_of_another(said: Understood, fact: Fact) -> bool:
        """Whether a statement is about another thing of the kind of what was said before."""
        return fact.multi_valued and tells_of_another(said.text, text_of(fact.value))

    def _state_beside(
        self, said: Understood, proposal: Proposal, held: Sequence[Fact], found: Effect
    ) -> None:
        """File a statement in its own words, and see to what it puts out of date."""
        for place, one in enumerate(reversed(found.partly)):
            told, parts = said.told if not place and not found.whole else ("", ())
            self._successions.rewrite(
                said, amended(one.fact, one.parts, told, parts, one.chance), None
            )
        if found.partly and not found.whole and not found.doubtful:
            return
        proposal = without_gone(said, proposal, [one.fact for one in found.whole])
        first = found.whole[0].fact.id if found.whole else None
        doubts = tuple(one.fact.id for one in found.doubtful)
        proposal = replace(proposal, supersedes=first or proposal.supersedes, doubts=doubts)
        self._file(said, proposal, held)
        for one in found.whole[1:]:
            self._desk.take_back(one.fact, said.statement.text)

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
        if held and is_doubted(self._desk, said, held):
            confidence = min(confidence, DOUBTED)
        # Who may read of a thing is not for a turn of conversation to change.
        limits = [fact.min_authority for fact in held if fact.min_authority is not None]
        proposal = replace(
            proposal,
            confidence=confidence,
            requires=tuple(sorted({name for fact in held for name in fact.requires})),
            min_authority=self._desk.registrar.ladder.highest(*limits) if limits else None,
        )
        is_global = proposal.scope is Scope.GLOBAL and proposal.multi_valued
        is_global = is_global and proposal.supersedes is None and not proposal.doubts
        if not held and is_global and self._worth.is_for_now(said):
            session_id = self._desk.around.session_id
            proposal = replace(proposal, scope=Scope.SESSION, scope_id=session_id)
        rule = rule_for(self._desk, said, held)
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
