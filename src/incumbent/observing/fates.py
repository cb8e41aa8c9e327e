"""Fates: what becomes of earlier statements because of a turn, as a model reads both.

A model names a fact that it was shown and quotes the words that speak against it. Whether whoever
said them may end the fact is decided here and by the registrar, as for everything that is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time
from functools import partial
from itertools import groupby

from incumbent.engine.proposal import Proposal
from incumbent.engine.reviews import again
from incumbent.engine.undo import undo
from incumbent.language.frames import frame_of
from incumbent.language.llm.checking import days_in, places_of
from incumbent.language.llm.reading import Becomes, Fate
from incumbent.model.fact import Fact, MemoryType, Part
from incumbent.model.values import same_value, text_of
from incumbent.model.verdict import Action, Rule, Verdict
from incumbent.observing.circumstances import history_of
from incumbent.observing.drafting import LONGEST_QUOTE, SUREST, WIDTH
from incumbent.observing.hearing import Hearing, about_fact
from incumbent.observing.keeping import Keeping
from incumbent.observing.opinions import Proposed
from incumbent.observing.quoting import Quoted, quoted_in
from incumbent.observing.relating import parts_in
from incumbent.observing.rewriting import JOINT, amended
from incumbent.observing.scrutiny import Declined, is_out_of_reach
from incumbent.observing.situation import VERBATIM
from incumbent.observing.waiting import Waiting, stored_turn
from incumbent.rules.doubt import may_doubt

_UNSHOWN = "it names a fact that the model was not shown"
_GONE = "the fact has left office in the meantime"
_ONLY_DOUBT = "only put in doubt: the turn does not say so straight out"
_ENDING = (Becomes.REPLACED, Becomes.ENDED, Becomes.DOUBTFUL)
_LITTLE_MORE = 2
_LEAST_LEFT = 1
"""A statement of which so few words are left says nothing any more."""


@dataclass(frozen=True)
class _Case:
    """A fate that has grounds: the fact as it stands, and what is to become of it."""

    fate: Fate
    quoted: Quoted
    fact: Fact
    becomes: Becomes
    reason: str = ""
    since: datetime | None = None
    """From when on, where that is still to come."""

    def told(self, verdict: Verdict) -> Proposed:
        return Proposed(self.fate.turn, *about_fact(self.fact), "accepted", self.reason, verdict)


class Fates:
    """Puts the fates of earlier statements before the rules."""

    def __init__(self, hearing: Hearing, keeping: Keeping) -> None:
        self._hearing = hearing
        self._keeping = keeping

    def strike(self, fates: Iterable[Fate]) -> None:
        """Take back what should not have been kept; what of it should is then free to be kept."""
        for fate in sorted(fates, key=lambda fate: fate.turn):
            if fate.becomes is Becomes.NO_FACT:
                self._attempt(fate, self._strike)

    def take(self, fates: Iterable[Fate]) -> None:
        """See to what becomes of facts, turn by turn."""
        ordered = sorted(fates, key=lambda fate: fate.turn)
        for fate in ordered:
            if fate.becomes is Becomes.PART:
                self._attempt(fate, self._cut)
        self._end([fate for fate in ordered if fate.becomes in _ENDING])

    def _attempt(self, fate: Fate, act: Callable[[Fate], list[Proposed]]) -> None:
        about = about_fact(self._hearing.known.get(fate.handle))
        self._hearing.attempt(fate.turn, about, lambda: act(fate))

    # whether it has grounds

    def _case(self, fate: Fate) -> _Case | None:
        """What is to be done about a fate; None where this answer has done it already."""
        hearing = self._hearing
        quoted = quoted_in(fate, hearing.turns)
        if fate.handle not in hearing.known:
            raise Declined(_UNSHOWN)
        shown, fact = hearing.known[fate.handle], hearing.current(fate.handle)
        if shown.id in hearing.ended:
            return None
        if fact is None:
            raise Declined(_GONE)
        if shown.id in hearing.became and fate.becomes is not Becomes.PART:
            if text_of(shown.value) not in text_of(fact.value):
                return None
            if not same_value(shown.value, fact.value):
                # It follows another statement by now, and of that one the rest may stand.
                fate = replace(fate, becomes=Becomes.PART, old=text_of(shown.value))
        self._check_reach(quoted, fact)
        if self._says_itself(quoted, fact) and not _is_amended(fact):
            raise Declined("the quote is what the fact itself says")
        if fate.becomes is Becomes.DOUBTFUL or quoted.is_meant or quoted.is_by_machine:
            return _Case(fate, quoted, fact, fate.becomes, since=_since(fate, quoted))
        return _Case(fate, quoted, fact, Becomes.DOUBTFUL, _ONLY_DOUBT)

    def _check_reach(self, quoted: Quoted, fact: Fact) -> None:
        """Raise Declined where whoever speaks may not end a fact."""
        hearing, waiting = self._hearing, quoted.waiting
        if is_out_of_reach(fact) or fact.key == VERBATIM:
            raise Declined("the fact binds others or was given word for word; use write()")
        if fact.order > waiting.moment:
            raise Declined("the fact was said later")
        if quoted.is_by_machine and not fact.source.by_machine:
            raise Declined("what an assistant says ends nothing that a person said")
        filing = hearing.drafting.filing(waiting)
        if hearing.registrar.ladder.outranks(fact.standing, filing.rung(quoted.said)):
            raise Declined("the fact stands on a higher authority")
        if not fact.owner and filing.speaks_to(quoted.said, fact) is MemoryType.USER:
            raise Declined("the fact is the organization's, and the turn speaks for one person")
        if hearing.conversation.branch not in (None, fact.place):
            raise Declined("a branch ends nothing real")
        hearing.registrar.check_may_settle(fact)

    def _says_itself(self, quoted: Quoted, fact: Fact) -> bool:
        """Whether a fact was read off the very words that are quoted."""
        brought = {one.id for one in self._hearing.brought_by(quoted.waiting)}
        return fact.id in brought and quoted.meets(fact.source.span)

    # ending

    def _end(self, fates: Sequence[Fate]) -> None:
        """Have facts replaced, ended or doubted; those that one statement speaks against at once.

        A fate is looked into when its turn comes, since what went before may have changed it.
        """
        for _, those in groupby(fates, key=lambda fate: fate.turn):
            cases: list[_Case] = []
            for fate in those:
                self._attempt(fate, partial(self._admit, cases))
            groups: dict[str, list[_Case]] = {}
            for case in cases:
                successor = self._successor(case)
                name = successor.id if successor is not None else case.fact.id
                groups.setdefault(name, []).append(case)
            for group in groups.values():
                self._settle(group)

    def _admit(self, cases: list[_Case], fate: Fate) -> list[Proposed]:
        """Put a fate with those that have grounds, each fact once."""
        case = self._case(fate)
        if case is None or any(one.fact.id == case.fact.id for one in cases):
            return [self._agreed(fate)]
        if case.becomes is Becomes.PART:
            return self._cut(case.fate)
        cases.append(case)
        return []

    def _agreed(self, fate: Fate) -> Proposed:
        about = about_fact(self._hearing.known[fate.handle])
        return Proposed(fate.turn, *about, "agreed", "this answer has seen to it")

    def _settle(self, cases: Sequence[_Case]) -> None:
        """See to what the same words of a turn speak against."""
        first = cases[0]
        successor = self._successor(first)
        if successor is None:
            for case in cases:
                self._attempt(case.fate, partial(self._alone, case))
        else:
            self._attempt(first.fate, lambda _: self._renew(successor, cases))

    def _successor(self, case: _Case) -> Fact | None:
        """The fact that the turn brought by these words, where it can take the other's place."""
        found = [
            fact
            for fact in self._hearing.brought_by(case.quoted.waiting)
            if fact.id != case.fact.id
            and case.quoted.meets(fact.source.span)
            and fact.owner == case.fact.owner
            and fact.key != VERBATIM
            and WIDTH[fact.scope] >= WIDTH[case.fact.scope]
        ]
        shared = case.quoted.shared_with
        return max(found, key=lambda fact: shared(fact.source.span), default=None)

    def _renew(self, successor: Fact, cases: Sequence[_Case]) -> list[Proposed]:
        """Let a statement be made again, with what it puts out of office or in doubt.

        What it was before is in its chain, and an undo brings it back with all the others.
        """
        hearing, ladder = self._hearing, self._hearing.registrar.ladder
        gone = [case.fact for case in cases if case.becomes is not Becomes.DOUBTFUL]
        doubted = [case.fact for case in cases if case.becomes is Becomes.DOUBTFUL]
        if any(not may_doubt(successor, fact, ladder) for fact in doubted):
            raise Declined("the turn has no standing to put the fact in doubt")
        quoted = cases[0].quoted
        proposal = replace(
            again(successor),
            authority=hearing.drafting.filing(quoted.waiting).authority(quoted.said),
            doubts=tuple(dict.fromkeys((*successor.doubts, *(fact.id for fact in doubted)))),
            at=successor.timestamp,
            valid_from=max([case.since for case in cases if case.since], default=None)
            or successor.valid_from,
            valid_until=successor.valid_until,
            confidence=SUREST,
            spoken=True,
        )
        verdict = hearing.registrar.propose(
            proposal,
            rule=Rule.EXPLICIT if quoted.said.corrects else Rule.IMPLICIT,
            takes=(successor, *gone),
            evidence=hearing.evidence,
        )
        hearing.decided(quoted.waiting, verdict)
        return [case.told(verdict) for case in cases]

    def _alone(self, case: _Case, _: Fate) -> list[Proposed]:
        """End a fact by words that brought no fact; or keep them, to put it in doubt."""
        if case.becomes is Becomes.DOUBTFUL:
            kept = case.quoted.to_be_kept()[0]
            return [case.told(self._keeping.file(kept, doubts=[case.fact.id]))]
        if case.since is not None or self._says_itself(case.quoted, case.fact):
            # What ends a fact on a later day has to be known until then; and what was put behind
            # the very fact that it ends stands by itself from now on.
            kept = case.quoted.to_be_kept()[0]
            verdict = self._keeping.file(kept, takes=[case.fact], since=case.since)
            return [case.told(verdict)]
        return [case.told(self._retract(case.quoted, case.fact))]

    def _retract(self, quoted: Quoted, fact: Fact) -> Verdict:
        hearing = self._hearing
        verdict = hearing.registrar.retract(
            fact,
            at=quoted.waiting.moment,
            reason=quoted.text[:LONGEST_QUOTE],
            evidence=hearing.evidence,
        )
        hearing.ended.add(fact.id)
        return hearing.decided(quoted.waiting, verdict)

    # in part

    def _cut(self, fate: Fate) -> list[Proposed]:
        """Cut the words that no longer hold, and let what was said instead follow."""
        case = self._case(fate)
        if case is None:
            return [self._agreed(fate)]
        whole = text_of(case.fact.value)
        places = places_of(fate.old, whole)
        if not places and self._hearing.known[fate.handle].id in self._hearing.became:
            return [self._agreed(fate)]
        if not places:
            raise Declined("the fact does not have the words that no longer hold")
        left = whole[: places[0][0]] + whole[places[0][1] :]
        if case.becomes is Becomes.DOUBTFUL or len(re.findall(r"\w+", left)) <= _LEAST_LEFT:
            is_all = case.becomes is Becomes.PART
            self._settle([replace(case, becomes=Becomes.REPLACED) if is_all else case])
            return []
        words = whole[slice(*places[0])]
        old = Part("term", words, " ".join(words.lower().split()), "is|", *places[0])
        return [self._amend(case, old)]

    def _amend(self, case: _Case, old: Part) -> Proposed:
        hearing, fact, quoted = self._hearing, case.fact, case.quoted
        filing = hearing.drafting.filing(quoted.waiting)
        successor = self._successor(case)
        if successor is not None and not _says_only(successor, quoted):
            successor = None  # it stands by itself
        told = quoted.text if successor is None else text_of(successor.value)
        told = "" if told.strip() in text_of(fact.value) else told.strip()
        apart = [part for part in parts_in(fact) if part.end <= old.start or old.end <= part.start]
        view = fact.evolve(source=replace(fact.source, parts=(*apart, old)))
        new = amended(view, [old], told, frame_of(told, quoted.waiting.moment).parts, SUREST)
        place = hearing.conversation.branch or fact.place
        source = replace(
            filing.source(quoted.said, new.parts, earlier=history_of(fact)),
            span=quoted.span if successor is None else successor.source.span,
            quote=quoted.text[:LONGEST_QUOTE],
        )
        proposal = Proposal(
            key=fact.key,
            value=new.text,
            subject=fact.subject,
            scope=place[0],
            scope_id=place[1] or None,
            source=source,
            authority=filing.authority(quoted.said),
            memory_type=filing.speaks_to(quoted.said, fact),
            is_constraint=fact.is_constraint or None,
            constraint_type=fact.constraint_type,
            requires=fact.requires,
            min_authority=fact.min_authority,
            valid_from=case.since,
            valid_until=fact.valid_until,
            at=quoted.waiting.moment,
            confidence=SUREST,
            multi_valued=fact.multi_valued,
            spoken=True,
        )
        # What was kept of the turn follows the arrow now, and goes with the statement from here on.
        takes = (fact,) if successor is None else (fact, successor)
        verdict = hearing.registrar.propose(
            proposal,
            rule=Rule.EXPLICIT if quoted.said.corrects else Rule.IMPLICIT,
            takes=takes,
            evidence=hearing.evidence,
        )
        hearing.decided(quoted.waiting, verdict)
        return case.told(verdict)

    # what should not have been kept

    def _strike(self, fate: Fate) -> list[Proposed]:
        """Take back a fact that one of the turns brought, as if it had not been kept."""
        hearing = self._hearing
        quoted = quoted_in(fate, hearing.turns)
        if fate.handle not in hearing.known:
            raise Declined(_UNSHOWN)
        fact = hearing.current(fate.handle)
        if fact is None:
            raise Declined(_GONE)
        if all(one.id != fact.id for one in hearing.brought_by(quoted.waiting)):
            raise Declined("the turn did not bring it")
        if not quoted.meets(fact.source.span):
            raise Declined("the quote is not what the fact was read off")
        if is_out_of_reach(fact) or fact.key == VERBATIM:
            raise Declined("the fact binds others or was given word for word; use write()")
        if hearing.conversation.branch not in (None, fact.place):
            raise Declined("a branch ends nothing real")
        entry = self._entry(quoted.waiting, fact)
        if entry is None or not entry.superseded:
            verdict = self._retract(quoted, fact)
        else:
            # What it replaced holds again.
            verdict = undo(
                hearing.registrar,
                entry.id,
                reason=quoted.text[:LONGEST_QUOTE],
                evidence=hearing.evidence,
            )
            hearing.decided(quoted.waiting, verdict)
            hearing.ended.add(fact.id)
        return [Proposed(fate.turn, *about_fact(fact), "accepted", "it is no fact", verdict)]

    def _entry(self, waiting: Waiting, fact: Fact) -> Verdict | None:
        """The verdict by which a turn brought a fact."""
        reader = self._hearing.registrar.transaction
        turn = stored_turn(reader, waiting)
        for verdict_id in turn.verdict_ids if turn is not None else ():
            entry = reader.verdict(verdict_id)
            is_of_it = entry is not None and entry.fact_id == fact.id
            if is_of_it and entry is not None and entry.action is Action.ASSERT:
                return entry if entry.undone_by is None else None
        return None


def _since(fate: Fate, quoted: Quoted) -> datetime | None:
    """From when on a fate holds, where that is still to come; raises Declined where the quote does
    not say so."""
    moment = quoted.waiting.moment
    if fate.since is None or fate.since <= moment.date():
        return None
    if fate.since not in days_in(quoted.text, moment):
        raise Declined("the quote does not say from which day")
    return datetime.combine(fate.since, time(), moment.tzinfo)


def _is_amended(fact: Fact) -> bool:
    """Whether what was said in a turn follows what is left of an older statement."""
    return bool(fact.source.earlier) and JOINT in text_of(fact.value)


def _says_only(fact: Fact, quoted: Quoted) -> bool:
    """Whether a fact is a statement as it was said that says the quote, and hardly anything else.

    What has a name of its own, follows on another statement or tells more stays as it is.
    """
    text = text_of(fact.value)
    rest = text.replace(quoted.text.strip(), " ") if len(text) > len(quoted.text) else ""
    is_plain = fact.multi_valued and JOINT not in text
    return is_plain and len(re.findall(r"\w+", rest)) <= _LITTLE_MORE
