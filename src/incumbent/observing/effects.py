"""Effects: what the statements of a turn put out of date, and how surely."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from incumbent.engine.proposal import Proposal
from incumbent.language.detection import Relation
from incumbent.language.speakers import is_machine
from incumbent.language.stances import only_adds, opposition
from incumbent.language.things import tells_alike
from incumbent.language.tokens import stem
from incumbent.model.fact import Fact
from incumbent.model.values import text_of
from incumbent.observing import limiting, ties
from incumbent.observing.beside import Beside
from incumbent.observing.desk import Desk
from incumbent.observing.reach import (
    Reach,
    are_of_other_kinds,
    is_named,
    is_opposed,
    may_end_a_name,
)
from incumbent.observing.relating import is_restated, parts_in, sentence_of
from incumbent.observing.rewriting import JOINT, meet
from incumbent.observing.situation import STATEMENT, frame_in_office
from incumbent.observing.touching import (
    Likeness,
    Lines,
    Reads,
    Said,
    Surroundings,
    Touched,
    at_hand,
    either,
    is_reading,
    nearby,
    open_to,
    opposed,
)
from incumbent.observing.understanding import Understood, typed

_ANOTHER_KIND = 0.6
"""How likely a statement must be out of date where both say values, and none of one kind."""
_LATEST = 48
"""A statement is compared word by word with so many of those before it."""
_SURE_OF_A_NAME = 0.75
"""How sure one must be that what goes by a name is over, though the name is not said."""


class Effect(NamedTuple):
    """What a statement puts out of date."""

    whole: tuple[Touched, ...] = ()
    """Facts that go, with all that they say."""
    partly: tuple[Touched, ...] = ()
    """Facts of which some values go."""
    doubtful: tuple[Touched, ...] = ()
    """Facts that probably go, and are put in doubt."""

    def __bool__(self) -> bool:
        return bool(self.whole or self.partly or self.doubtful)


NOTHING = Effect()


class Effects:
    """Asks the model once for a turn, before any of it is filed."""

    def __init__(self, desk: Desk, found: Mapping[str, Likeness]) -> None:
        self._desk = desk
        self._found = found
        self._lines = Lines.of(desk.registrar.settings)
        self._near: list[Fact] | None = None
        self._reach = Reach(desk.replacing, desk.stretches, desk.around.speaker.name)
        self._beside: Beside | None = None
        self._opposed: list[Touched] = []
        self._heard: Sequence[Understood] = ()
        self._seen_to: list[tuple[int, int]] = []
        """Where the statements are that were asked about."""

    def begin(self, heard: Sequence[Understood]) -> None:
        """Take up a turn. The model is asked when the first of its statements needs it."""
        self._heard = heard
        self._beside, self._opposed, self._seen_to = None, [], []

    def sets(self, said: Understood) -> bool:
        """Whether a statement that asks says what something is to be: "can it go to Porto"."""
        beside = self._taken_up()
        if beside is None:
            return False
        touched = either(beside.touched([fact.id for fact in beside.facts]), self._opposed)
        span = (said.statement.start, said.statement.end)
        left = [one for one in touched if not _is_said_in(one, self._seen_to)]
        return any(one.place is not None and _is_said_in(one, [span]) for one in left)

    def of(
        self,
        said: Understood,
        proposal: Proposal,
        held: Sequence[Fact],
        spared: Container[str] = (),
    ) -> Effect:
        """What a statement puts out of date, but for what it says again or rests on."""
        # Requests stand beside each other at one address, and can end each other there.
        stays = () if proposal.key != STATEMENT and proposal.multi_valued else held
        others = [
            one
            for one in self._mine(said, proposal)
            if one.fact not in stays and one.fact.id not in spared
        ]
        about = [one for one in others if self._is_about(said, one, proposal)]
        sure = [one for one in about if self._lines.goes(one.chance, is_cued=said.corrects)]
        whole = tuple(one for one in sure if not one.parts)
        partly = tuple(
            over
            for one in about
            if self._may_amend(one.fact) and (over := _but_for_said(said, one)).parts
        )
        amended = {one.fact.id for one in partly}
        rest = [
            one
            for one in others
            if one not in whole and one.fact.id not in amended and not self.is_above(said, one.fact)
        ]
        doubtful = (one for one in rest if self._may_be_doubted(said, one, proposal))
        return Effect(whole, partly, tuple(doubtful))

    def held(self, proposal: Proposal) -> list[Fact]:
        """Who holds the address of a proposal; of mere statements, those that say the same."""
        if proposal.key != STATEMENT:
            return self._desk.situation.holding(proposal.key, proposal.subject)
        # All that was ever said shares this address. What is said again is among what is near.
        here = self._desk.situation.here(STATEMENT, None)[-_LATEST:]
        found = {fact.id: fact for fact in (*self.near(), *here)}
        return [
            fact
            for fact in found.values()
            if fact.key == STATEMENT and self.stands(fact.id) and is_restated(proposal, fact)
        ]

    def renewed(self, said: Understood, proposal: Proposal) -> Effect:
        """What a statement puts out of date that says anew what a thing is, by its name."""
        reads = is_reading(self._desk.detector)
        fact = self._named_anew(said, proposal) if reads else None
        if fact is None or not self._desk.within_reach(said, [fact]):
            return NOTHING
        before = ties.stated_by(fact)
        others = [p for p in typed(fact.parts) if before is None or not meet(p, before.part)]
        parts = (before.part,) if before is not None and others else ()
        one = Touched(fact, 1.0, parts, None, is_ended=False)
        return Effect(partly=(one,)) if parts else Effect(whole=(one,))

    def _named_anew(self, said: Understood, proposal: Proposal) -> Fact | None:
        situation = self._desk.situation
        if said.renews:
            return ties.meant(situation, said.renews)
        if proposal.key == STATEMENT:
            return ties.said_anew(situation, said)
        new = typed(proposal.source.parts)
        if proposal.multi_valued or len(new) != 1:
            return None
        fact = ties.at(situation, (proposal.key, proposal.subject))
        # What sits there under its name is decided there.
        is_unnamed = fact is not None and fact.key == STATEMENT
        return fact if fact is not None and is_unnamed and ties.told_alike(fact, new[0]) else None

    def _may_amend(self, fact: Fact) -> bool:
        """Whether a fact may be said on in the words of who speaks: a machine's only by one."""
        return not fact.source.by_machine or is_machine(self._desk.around.speaker.name)

    def against(self, said: Understood) -> Fact | None:
        """The word of a higher authority that a statement contradicts, if it does."""
        if is_machine(self._desk.around.speaker.name):
            return None  # what it reports as done is told as its word, whatever was asked for
        for fact in self.near():
            if not self.is_above(said, fact) or not self.stands(fact.id):
                continue
            sentence = sentence_of(fact, text_of(fact.value))[0]
            told = tells_alike(said.text, sentence) or opposition(said.text, sentence)
            if told or limiting.goes_beyond(said, fact):
                return fact
        return None

    def is_above(self, said: Understood, fact: Fact) -> bool:
        """Whether a fact has a higher authority than a statement."""
        ladder = self._desk.registrar.ladder
        return ladder.outranks(fact.standing, self._desk.filing.rung(said))

    def _taken_up(self) -> Beside | None:
        """The turn beside what it may be about, as that was when the first statement asked."""
        if self._beside is None and is_reading(self._desk.detector):
            self._beside = self._looked_up(self._desk.detector)
        return self._beside

    def _looked_up(self, detector: Reads) -> Beside:
        desk, heard = self._desk, self._heard
        speaker, facts = desk.around.speaker.name, list[Fact]()
        introduced = any(_introduces(said) for said in heard)
        # "Do not do this: …" names what follows only to forbid it.
        if heard and (not introduced or all(desk.is_meant(said) for said in heard)):
            facts = open_to(speaker, self.near())
            self._opposed = [] if is_machine(speaker) else opposed(facts, heard)
        return Beside(
            detector,
            facts,
            self._found,
            desk.situation.last_text,
            Said(desk.around.text, speaker),
            self._lines,
            is_cued=any(said.corrects for said in heard),
            requested=at_hand(desk.situation, heard, speaker),
        )

    def near(self) -> list[Fact]:
        """What the person has in office that the turn may be about, before any of it is filed."""
        if self._near is None:
            desk = self._desk
            around = Surroundings(
                desk.registrar.transaction, desk.registrar.lens, self._found, desk.situation
            )
            self._near = nearby(around)
        return self._near

    def _mine(self, said: Understood, proposal: Proposal) -> list[Touched]:
        """What the turn puts out of date by saying this, and is still there."""
        start, end = said.statement.start, max(said.statement.end, said.statement.start + 1)
        before, self._seen_to = self._seen_to, [*self._seen_to, (start, end)]
        beside = self._taken_up()
        if beside is None:
            return []
        facts = {fact.id: fact for fact in (*beside.facts, *(one.fact for one in self._opposed))}
        address, requested = (proposal.key, proposal.subject), beside.requested
        could_go = {f.id for f in self._reach.of(said, *address, facts.values(), requested)}
        mine = [
            one
            for one in either(beside.touched(could_go), self._opposed)
            if one.fact.id in could_go
            and _is_said_in(one, [(start, end)])
            and not _is_said_in(one, before)
        ]
        if mine and self._reach.only_speaks_of_it(said):
            # Who asks for something else may put it as a wish: "I would pick it up in Portland".
            asks = not only_adds(said.statement.text)
            mine = [one for one in mine if (asks and one.at_hand) or is_opposed(said, one.fact)]
        seen = {fact.id for fact in self._desk.within_reach(said, [one.fact for one in mine])}
        return [one for one in mine if one.fact.id in seen and self.stands(one.fact.id)]

    def stands(self, fact_id: str) -> bool:
        fact = self._desk.registrar.transaction.fact(fact_id)
        return fact is not None and fact.is_valid

    def _may_be_doubted(self, said: Understood, one: Touched, proposal: Proposal) -> bool:
        """Whether a statement may put a fact in doubt: what goes by a name, only by that name."""
        fact = one.fact
        is_apart = are_of_other_kinds(said, fact) and not _share_a_value(said, fact)
        if is_apart and one.chance < _ANOTHER_KIND:
            return False  # where the choir meets, and when
        if fact.multi_valued:
            return True
        relation = self._desk.replacing.relation(said, fact, proposal.key, proposal.subject)
        return relation is not Relation.OTHER and is_named(said, fact)

    def _is_about(self, said: Understood, one: Touched, proposal: Proposal) -> bool:
        """Whether nothing in the words of a statement tells that it is about another thing.

        What was written under a name is ended under that name; and who says that one thing is over
        does not end another.
        """
        fact = one.fact
        if one.at_hand and fact.multi_valued:
            return not are_of_other_kinds(said, fact)
        relation = self._desk.replacing.relation(said, fact, proposal.key, proposal.subject)
        if relation is Relation.OTHER:
            return False
        if not fact.multi_valued and not _ends_a_name(said, one):
            return False
        if are_of_other_kinds(said, fact):
            return False
        theirs = frame_in_office(fact).words | {stem(word) for word in fact.key.split("_")}
        return not one.is_ended or not said.frame.words or not said.frame.words.isdisjoint(theirs)


def _but_for_said(said: Understood, one: Touched) -> Touched:
    """What goes of a fact, without the values that the statement says again."""
    if one.at_hand or JOINT in said.text:
        return one  # what an answer is to names what is asked about, and says it of nothing
    again = {part.normal for part in typed(said.parts)}
    return one._replace(parts=tuple(part for part in one.parts if part.normal not in again))


def _introduces(said: Understood) -> bool:
    return said.statement.text.rstrip().endswith(":")


def _share_a_value(said: Understood, fact: Fact) -> bool:
    ours = {part.normal for part in typed(said.parts)}
    return any(part.normal in ours for part in typed(parts_in(fact)))


def _is_said_in(one: Touched, spans: Iterable[tuple[int, int]]) -> bool:
    """Whether what takes the place of a fact is said in one of these stretches, or nowhere."""
    return any(one.place is None or start <= one.place < end for start, end in spans)


def _ends_a_name(said: Understood, one: Touched) -> bool:
    return may_end_a_name(said, one.fact) and one.chance >= _SURE_OF_A_NAME
