"""Answering: statements that take up what was said before: "yes", "the second one", "go back"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Protocol

from incumbent.engine import reviews
from incumbent.language.cues import Cues
from incumbent.language.detection import same_part
from incumbent.language.lexicon import lexicon
from incumbent.language.reading import blocks, sentences
from incumbent.language.statements import Kind
from incumbent.model.errors import NotPermitted
from incumbent.model.fact import Fact
from incumbent.model.scope import EVERYWHERE
from incumbent.model.values import text_of
from incumbent.model.verdict import Rule
from incumbent.observing import offering, resolving, ties
from incumbent.observing.desk import Desk, lost, of_all
from incumbent.observing.rewriting import JOINT
from incumbent.observing.situation import Situation
from incumbent.observing.sorting import REAL
from incumbent.observing.successions import Successions
from incumbent.observing.understanding import Understood, typed
from incumbent.observing.wording import as_said

_STILL_OPEN = 4
"""A proposal is open to "let's do that" for so many turns."""


_LONGEST_QUESTION = 240
_SHORT = 5
_SHORT_LEAD = 6


def question_in(previous: str) -> str:
    """What an answer is to: the last question of what was said before, or its last words."""
    found = [one for block in blocks(previous) for one in sentences(block)]
    asked = [one for one in found if one.text.rstrip().endswith("?")]
    last = (asked or found)[-1:]
    text = last[0].text.strip() if last else ""
    if asked and len(found) > 1 and len(text) < _LONGEST_QUESTION // 3:
        before = found[max(0, found.index(last[0]) - 1)]
        begin = before.start if before.end <= last[0].start else last[0].start
        text = previous[begin : last[0].end].strip()
    return text[-_LONGEST_QUESTION:]


def _opens_a_sentence(text: str) -> bool:
    """Whether a statement begins with whom or what it is about: "we", "it", "the bus"."""
    first = re.match(r"\W*(\w+)", text)
    known = lexicon()
    opening = known.pronouns | known.speaker | known.determiners
    return first is not None and first.group(1).lower() in opening


def is_short(said: Understood, situation: Situation) -> bool:
    """Whether a statement is short, and says something only as an answer."""
    if not situation.previous or said.attribute is not None:
        return False
    if offering.asks_nothing(situation.previous):
        return False
    if situation.proposed and Cues(said.text).settles:
        return False
    if "rejection" in said.statement.cues or offering.declines(said.text):
        return False
    if offering.chosen(said.text, situation.previous) is not None:
        return False
    if said.kind is Kind.CONFIRMATION and _is_offered_a_value(said, situation):
        return False
    is_first = said.statement.start <= _SHORT_LEAD
    # Only a question is answered by what would say nothing by itself.
    says_nothing = said.is_fragment or not _opens_a_sentence(said.text)
    answers = says_nothing and "?" in situation.previous
    is_answer = said.kind in REAL and (answers or offering.points_at_one(said.text))
    is_open = said.kind is Kind.CONFIRMATION or is_answer
    return is_first and is_open and len(said.text.split()) <= _SHORT


def _is_offered_a_value(said: Understood, situation: Situation) -> bool:
    """Whether the assistant has just offered to set something that goes by a name."""
    return any(
        (attribute := as_said(said, offer, Kind.REQUEST).attribute) and attribute.is_sure
        for offer in offering.offers(situation.previous)
    )


def joined(said: Understood, situation: Situation) -> Understood | None:
    """A short answer with what it answers, as it is kept; None where it is all the same to them."""
    if offering.is_indifferent(said.statement.text):
        return None
    asked = question_in(situation.previous)
    text = f"{asked}{JOINT}{said.statement.text}" if asked else said.statement.text
    return replace(as_said(said, text, Kind.ASSERTION), attribute=None)


class Stating(Protocol):
    """Files what is said."""

    def state(self, said: Understood, *, alone: bool = False, is_answer: bool = False) -> None:
        """File a statement; where it stands `alone`, beside what was said before."""
        ...


class Answering:
    """Makes real what was proposed, offered, asked for, or held before."""

    def __init__(self, desk: Desk, stating: Stating, successions: Successions) -> None:
        self._desk = desk
        self._successions = successions
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
        self._successions.put_in_place(again, proposed.key, proposed.subject, rule=Rule.COMMIT)
        return len(self._desk.record.verdicts) > before

    def keep(self, said: Understood) -> None:
        """Keep a short answer with what it answers."""
        if (again := joined(said, self._desk.situation)) is not None:
            self._stating.state(again, is_answer=True)

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
