"""Ahead: what filing a turn will ask of the model, asked while everybody else goes on writing.

The model gives the same answer to the same question, and remembers what it was asked last. So a
turn is read here, by what the store holds at the moment, and filing it finds the answers ready.
Where somebody wrote in between, the questions are others, and those are asked when it is filed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from incumbent.engine.lens import Lens
from incumbent.language.frames import frame_of
from incumbent.language.speakers import is_machine
from incumbent.language.statements import Kind
from incumbent.model.fact import Fact
from incumbent.observing.addressing import Addressing
from incumbent.observing.answering import is_short, joined
from incumbent.observing.beside import Beside
from incumbent.observing.circumstances import Address, Circumstances
from incumbent.observing.desk import ForeseenSwaps, Rationed
from incumbent.observing.observer import ECHOING, WINDOW, Foreseen, Heard, in_situation
from incumbent.observing.reach import Reach, is_plain_denial
from incumbent.observing.replacing import Replacing
from incumbent.observing.reporting import is_news
from incumbent.observing.rewriting import JOINT, Swap, in_words_of, renamed, rewritten
from incumbent.observing.situation import STATEMENT, Situation
from incumbent.observing.sorting import REAL
from incumbent.observing.stretches import MOST_ASKED, Stretches
from incumbent.observing.successions import is_far_fetched, is_unsure
from incumbent.observing.touching import (
    Likeness,
    Lines,
    Reads,
    Said,
    Surroundings,
    at_hand,
    nearby,
    open_to,
)
from incumbent.observing.understanding import Understood, typed
from incumbent.observing.wording import all_in_own_words, as_said, in_own_words
from incumbent.observing.worth import TELLING, runs_on
from incumbent.search.analysis import sentence
from incumbent.stores.port import Reader

_STATED = (*REAL, Kind.CONFIRMATION, Kind.RETRACTION)
_TELLING = (Kind.QUESTION, Kind.SMALL_TALK)
"""Kinds of statements that are kept where the model takes them for something that lasts."""


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
    own_words = list(heard.said) if heard.is_context else all_in_own_words(heard.said)
    said = own_words[:MOST_ASKED]
    outlook = _Outlook(detector, situation, around)
    # Each of them is looked at: what one replaces is asked of the model here as well.
    prospects = [one for each in said for one in outlook.prospects(each)]
    foreseen = Foreseen(situation, heard, own_words, outlook.swaps, tuple(_sentences(prospects)))
    if situation.facts:
        frame_of(heard.text[:ECHOING])  # what is put down of the turn is looked for in it
    asked = [one for one in prospects if one.is_asked]
    if not asked:
        return foreseen
    near = nearby(Surroundings(reader, lens, found, situation))
    beside = Beside(
        detector,
        open_to(around.speaker.name, near),
        found,
        situation.last_text,
        Said(around.text, around.speaker.name),
        Lines.of(lens.settings),
        is_cued=any(one.corrects for one in said),
        requested=at_hand(situation, heard.said, around.speaker.name),
    )
    beside.touched({fact.id for one in asked for fact in outlook.could_go(one, beside)})
    return foreseen


class _Prospect(NamedTuple):
    """A statement as it will probably be filed."""

    said: Understood
    key: str
    subject: str | None
    value: str
    is_asked: bool
    """Whether filing it will ask what it puts out of date."""
    swaps: Sequence[Swap] = ()
    """The values that it replaces."""


class _Outlook:
    """Tells of the statements of one turn what filing them will ask."""

    def __init__(self, detector: Reads, situation: Situation, around: Circumstances) -> None:
        self.swaps: list[ForeseenSwaps] = []
        self._addressing = Addressing(situation, around)
        self._situation = situation
        self._stretches = Stretches(detector, situation, around)
        self._rationed = Rationed(detector)
        self._replacing = Replacing(situation, self._rationed, around.text)
        self._reach = Reach(self._replacing, self._stretches, around.speaker.name)
        self._by_machine = is_machine(around.speaker.name)

    def could_go(self, one: _Prospect, beside: Beside) -> list[Fact]:
        """What a statement could put out of date, at the address where it will be filed."""
        return self._reach.of(one.said, one.key, one.subject, beside.facts, beside.requested)

    def prospects(self, said: Understood) -> list[_Prospect]:
        """A statement as it will be filed: a short answer behind what it answers, in the end."""
        if self._by_machine:
            return self._of_machine(said)
        again = None
        if is_short(said, self._situation):
            again = joined(said, self._situation)
            if again is not None and not typed(said.parts):
                return [self._prospect(again)]
        first = self._prospect(said)
        if again is None or first.swaps:
            return [first]
        return [first._replace(value=""), self._prospect(again)]

    def _of_machine(self, said: Understood) -> list[_Prospect]:
        chance = self._stretches.chance(said, "states", 0.0)
        if not is_news(said, self._situation, chance=chance, tells=chance >= TELLING):
            return []
        return [self._plainly(replace(in_own_words(said), attribute=None))]

    def _plainly(self, said: Understood) -> _Prospect:
        """A statement that is filed in its own words and under no name."""
        return _Prospect(said, STATEMENT, None, said.text.strip(), is_asked=True)

    def _prospect(self, said: Understood) -> _Prospect:
        """It is asked what a statement puts out of date where it is stated, but not where that is
        known by then: what sits at the very address of the statement goes, or what has the value
        that it corrects."""
        address = self._addressing.address(said)
        attribute = said.attribute
        filed = _Prospect(said, address.key, address.subject, address.value, is_asked=False)
        if attribute is not None and attribute.is_sure and not said.cues.is_past:
            held = self._situation.holding(address.key, address.subject)
            if said.kind in REAL and (held or not (said.corrects or attribute.is_change)):
                if not held:
                    self._stretches.kinds(said)
                return filed._replace(is_asked=not held)
        swaps = self._looked_up(said, address) if self._may_replace(said) else ()
        if not swaps and JOINT not in said.text:
            # What has replaced a value, or answers a question, is kept whatever it is.
            self._stretches.kinds(said)
        if said.kind in _STATED:
            if not swaps and is_plain_denial(said):
                return self._plainly(replace(said, attribute=None))
            return filed._replace(is_asked=not swaps, swaps=swaps)
        may_tell = said.kind in _TELLING or (said.kind is Kind.HYPOTHETICAL and runs_on(said))
        if may_tell and self._stretches.chance(said, "states", 0.0) >= TELLING:
            told = as_said(said, said.statement.text, Kind.ASSERTION)
            return self._plainly(replace(told, attribute=None))
        return filed._replace(swaps=swaps)

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
            apart = said.cues.is_past or self._addressing.is_scoped(said)
            return not apart and not is_unsure(said) and not said.cues.comes_back
        return said.corrects or said.is_fragment or said.is_request


def _sentences(prospects: Iterable[_Prospect]) -> Iterator[str]:
    """What a turn probably brings, as its meaning is looked up."""
    for one in prospects:
        kept = [swap for swap in one.swaps if not is_far_fetched(one.said, swap)]
        for found in rewritten(kept):
            text = in_words_of(one.said, found).text
            yield sentence(renamed(found), found.fact.subject, text)
        if not kept and one.value and one.said.kind in REAL:
            yield sentence(one.key, one.subject, one.value)
