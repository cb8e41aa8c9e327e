"""Ahead: what filing a turn will ask of the model, asked while everybody else goes on writing.

The model gives the same answer to the same question, and remembers what it was asked last. So a
turn is read here, by what the store holds at the moment, and filing it finds the answers ready.
Where somebody wrote in between, the questions are others, and those are asked when it is filed.
"""

from __future__ import annotations

from collections.abc import Mapping

from tenure.engine.lens import Lens
from tenure.observing.circumstances import Circumstances
from tenure.observing.desk import Rationed
from tenure.observing.observer import WINDOW, Heard, in_situation
from tenure.observing.replacing import Replacing
from tenure.observing.situation import Situation
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
from tenure.observing.wording import all_in_own_words
from tenure.stores.port import Reader


def read_ahead(
    detector: Reads,
    reader: Reader,
    lens: Lens,
    heard: Heard,
    found: Mapping[str, Likeness],
    around: Circumstances,
) -> None:
    """Ask what filing a turn will ask, as far as that can be told beforehand."""
    situation = Situation(reader, lens, around.session_id, WINDOW)
    heard = in_situation(heard, situation, reads=True)
    said = list(heard.said) if heard.is_context else all_in_own_words(heard.said)
    said = said[:MOST_ASKED]
    stretches = Stretches(detector, situation, around)
    for one in said:
        stretches.kinds(one)
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
    if not heard.is_context:
        replacing = Replacing(situation, Rationed(detector), around.text)
        for one in said:
            if one.corrects or one.is_fragment or one.is_request:
                replacing.swaps(one, one.key, one.frame.subject)
