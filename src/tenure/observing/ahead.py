"""Ahead: what filing a turn will ask of the model, asked while everybody else goes on writing.

The model gives the same answer to the same question, and remembers what it was asked last. So a
turn is read here, by what the store holds at the moment, and filing it finds the answers ready.
Where somebody wrote in between, the questions are others, and those are asked when it is filed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tenure.engine.lens import Lens
from tenure.language.speakers import is_machine
from tenure.language.statements import Kind
from tenure.model.fact import Fact
from tenure.observing.addressing import Addressing
from tenure.observing.beside import Beside
from tenure.observing.circumstances import Address, Circumstances
from tenure.observing.desk import ForeseenSwaps, Rationed
from tenure.observing.observer import WINDOW, Foreseen, Heard, in_situation
from tenure.observing.reach import Reach, is_plain_denial
from tenure.observing.replacing import Replacing
from tenure.observing.reporting import is_news
from tenure.observing.rewriting import Swap
from tenure.observing.situation import STATEMENT, Situation
from tenure.observing.sorting import REAL
from tenure.observing.stretches import MOST_ASKED, Stretches
from tenure.observing.successions import is_unsure
from tenure.observing.touching import (
    Likeness,
    Lines,
    Reads,
    Said,
    Surroundings,
    at_hand,
    nearby,
    open_to,
)
from tenure.observing.understanding import Understood
from tenure.observing.wording import all_in_own_words, as_said, in_own_words
from tenure.observing.worth import TELLING, runs_on
from tenure.search.analysis import sentence
from tenure.stores.port import Reader

_STATED = (*REAL, Kind.CONFIRMATION, Kind.RETRACTION)
_TELLING = (Kind.QUESTION, Kind.SMALL_TALK)
"""Kinds of statements that are kept where the model takes them for something that lasts."""
_WHOLE = 4
"""So many words tell something by themselves."""


def read_ahead(
    detector: Reads,
    reader: Reader,
    lens: Lens,
    heard: Heard,
    found: Mapping[str, Likeness],
    around: Circumstances,
) -> Foreseen:
    """Ask what filing a turn will ask, as far as that can be told beforehand."""
    situation = Situation(reader, lens, around.session_id, WINDOW)
    heard = in_situation(heard, situation, reads=True)
    in_own_words = list(heard.said) if heard.is_context else all_in_own_words(heard.said)
    said = in_own_words[:MOST_ASKED]
    stretches = Stretches(detector, situation, around)
    for one in said:
        stretches.kinds(one)
    outlook = _Outlook(detector, situation, stretches, around)
    asks = outlook.is_asked_of_machine if heard.is_context else outlook.is_asked
    # Each of them is looked at: what one replaces is asked of the model here as well.
    is_asked = [asks(one) for one in said]
    foreseen = Foreseen(situation, heard, in_own_words, outlook.swaps, ())
    if not any(is_asked):
        return foreseen
    near = nearby(Surroundings(reader, lens, found, situation))
    facts = open_to(around.speaker.name, near)
    beside = Beside(
        detector,
        facts,
        found,
        situation.last_text,
        Said(around.text, around.speaker.name),
        Lines.of(lens.settings),
        is_cued=any(one.corrects for one in said),
        requested=at_hand(situation, heard.said, around.speaker.name),
    )
    stated = [one for one, asked in zip(said, is_asked, strict=True) if asked]
    beside.touched({fact.id for one in stated for fact in outlook.could_go(one, beside)})
    sentences = (_sentence(outlook.addressing.address(one)) for one in stated if _stands_alone(one))
    return foreseen._replace(sentences=tuple(sentences))


class _Outlook:
    """Tells of the statements of one turn what filing them will ask."""

    def __init__(
        self, detector: Reads, situation: Situation, stretches: Stretches, around: Circumstances
    ) -> None:
        self.addressing = Addressing(situation, around)
        self.swaps: list[ForeseenSwaps] = []
        self._situation = situation
        self._stretches = stretches
        self._rationed = Rationed(detector)
        self._replacing = Replacing(situation, self._rationed, around.text)
        self._reach = Reach(self._replacing, stretches, around.speaker.name)
        self._by_machine = is_machine(around.speaker.name)

    def could_go(self, said: Understood, beside: Beside) -> list[Fact]:
        """What a statement could put out of date, at the address where it will be filed."""
        key, subject = STATEMENT, None
        if self._by_machine:
            said = replace(in_own_words(said), attribute=None)
        elif said.kind in _STATED and not is_plain_denial(said):
            address = self.addressing.address(said)
            key, subject = address.key, address.subject
        else:
            said = replace(as_said(said, said.statement.text, Kind.ASSERTION), attribute=None)
        return self._reach.of(said, key, subject, beside.facts, beside.requested)

    def is_asked_of_machine(self, said: Understood) -> bool:
        """Whether filing what a machine says will ask what it puts out of date."""
        chance = self._stretches.chance(said, "states", 0.0)
        return is_news(said, self._situation, chance=chance, tells=chance >= TELLING)

    def is_asked(self, said: Understood) -> bool:
        """Whether filing a statement will ask what it puts out of date.

        It does for what is stated, but not where it is known by then: what sits at the very address
        of the statement goes, or what has the value that it corrects.
        """
        address = self.addressing.address(said)
        attribute = said.attribute
        if attribute is not None and attribute.is_sure and not said.cues.is_past:
            held = self._situation.holding(address.key, address.subject)
            if said.kind in REAL and (held or not (said.corrects or attribute.is_change)):
                return not held
        swaps = self._looked_up(said, address) if self._may_replace(said) else ()
        if said.kind in _STATED:
            return not swaps
        may_tell = said.kind in _TELLING or (said.kind is Kind.HYPOTHETICAL and runs_on(said))
        return may_tell and self._stretches.chance(said, "states", 0.0) >= TELLING

    def _looked_up(self, said: Understood, address: Address) -> list[Swap]:
        """The values that a statement replaces."""
        before = self._rationed.spent
        found = self._replacing.swaps(said, address.key, address.subject)
        pairs = self._rationed.spent - before
        if pairs:  # else nothing was asked: there is nothing to ask about, or the ration is spent
            self.swaps.append(ForeseenSwaps(said, address.key, address.subject, found, pairs))
        return found

    def _may_replace(self, said: Understood) -> bool:
        """Whether filing a statement will ask which values it replaces."""
        if said.kind in REAL:
            apart = said.cues.is_past or self.addressing.is_scoped(said)
            return not apart and not is_unsure(said) and not said.cues.comes_back
        return said.corrects or said.is_fragment or said.is_request


def _stands_alone(said: Understood) -> bool:
    """Whether a statement is kept in its own words. A short one is put behind what it answers."""
    is_said = said.kind in REAL and not said.is_fragment
    return is_said and len(said.text.split()) >= _WHOLE


def _sentence(address: Address) -> str:
    return sentence(address.key, address.subject, address.value)
