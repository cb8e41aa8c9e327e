"""Ahead: what filing a turn will ask of the model, asked while everybody else goes on writing.

The model gives the same answer to the same question, and remembers what it was asked last. So a
turn is read here, by what the store holds at the moment, and filing it finds the answers ready.
Where somebody wrote in between, the questions are others, and those are asked when it is filed.
"""

from __future__ import annotations

from collections.abc import Mapping

from tenure.engine.lens import Lens
from tenure.language.statements import Kind
from tenure.observing.addressing import Addressing
from tenure.observing.circumstances import Address, Circumstances
from tenure.observing.desk import Rationed
from tenure.observing.observer import WINDOW, Foreseen, Heard, in_situation
from tenure.observing.replacing import Replacing
from tenure.observing.reporting import is_news
from tenure.observing.situation import Situation
from tenure.observing.sorting import REAL
from tenure.observing.stretches import MOST_ASKED, Stretches
from tenure.observing.touching import (
    Likeness,
    Lines,
    Reads,
    Said,
    Surroundings,
    at_hand,
    nearby,
    open_to,
    touched,
)
from tenure.observing.understanding import Understood
from tenure.observing.wording import all_in_own_words
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
    said = list(heard.said) if heard.is_context else all_in_own_words(heard.said)
    said = said[:MOST_ASKED]
    stretches = Stretches(detector, situation, around)
    for one in said:
        stretches.kinds(one)
    replacing = Replacing(situation, Rationed(detector), around.text)
    asks = _asked_of_machine if heard.is_context else _asked_of_person
    # Each of them is looked at: what one replaces is asked of the model here as well.
    is_asked = [asks(one, situation, stretches, replacing) for one in said]
    if not any(is_asked):
        return Foreseen(situation, heard, ())
    near = nearby(Surroundings(reader, lens, found, situation))
    facts = open_to(around.speaker.name, near)
    is_cued = any(one.corrects for one in said)
    turn, lines = Said(around.text, around.speaker.name), Lines.of(lens.settings)
    touched(
        detector,
        facts,
        found,
        situation.last_text,
        turn,
        lines,
        is_cued=is_cued,
        requested=at_hand(situation, heard.said, around.speaker.name),
    )
    addressing = Addressing(situation, around)
    stated = (one for one, asked in zip(said, is_asked, strict=True) if asked)
    sentences = (_sentence(addressing.address(one)) for one in stated if _stands_alone(one))
    return Foreseen(situation, heard, tuple(sentences))


def _asked_of_machine(
    said: Understood, situation: Situation, stretches: Stretches, _: Replacing
) -> bool:
    """Whether filing what a machine says will ask what it puts out of date."""
    chance = stretches.chance(said, "states", 0.0)
    return is_news(said, situation, chance=chance, tells=chance >= TELLING)


def _asked_of_person(
    said: Understood, situation: Situation, stretches: Stretches, replacing: Replacing
) -> bool:
    """Whether filing a statement will ask what it puts out of date.

    It does for what is stated, but not where it is known by then: what sits at the very address of
    the statement goes, or what has the value that it corrects.
    """
    swaps = (
        replacing.swaps(said, said.key, said.frame.subject)
        if said.corrects or said.is_fragment or said.is_request
        else ()
    )
    if said.kind not in _STATED:
        tells = stretches.chance(said, "states", 0.0) >= TELLING
        return tells and (
            said.kind in _TELLING or (said.kind is Kind.HYPOTHETICAL and runs_on(said))
        )
    attribute = said.attribute
    if attribute is not None and attribute.is_sure and not said.cues.is_past:
        return not situation.holding(attribute.key, attribute.subject)
    return not swaps


def _stands_alone(said: Understood) -> bool:
    """Whether a statement is kept in its own words. A short one is put behind what it answers."""
    is_said = said.kind in REAL and not said.is_fragment
    return is_said and len(said.text.split()) >= _WHOLE


def _sentence(address: Address) -> str:
    return sentence(address.key, address.subject, address.value)
