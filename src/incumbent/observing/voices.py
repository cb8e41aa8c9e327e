"""Voices: who says what in a talk of several, and what goes when one of them was wrong.

Talks of several people come in as turns that open with a name: "[Ann (Support)]: ..."
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from incumbent.language.cues import Cues
from incumbent.model.fact import Fact
from incumbent.model.records import item_key
from incumbent.model.values import text_of
from incumbent.observing.labels import Voice, voice_of, without_label
from incumbent.observing.situation import Situation
from incumbent.search.analysis import terms

_LEAST_WORDS = 3
"""A note of fewer words may say the same as a turn by chance."""


def was_wrong(text: str, situation: Situation) -> list[Fact]:
    """What goes when a statement says that somebody who spoke before was wrong.

    All that they said last, and the notes that were taken of it, unless it says what they were
    wrong about. That others were wrong, which they may have said too, it is not about.
    """
    mistake = Cues(without_label(text)).mistake
    if mistake is None:
        return []
    for turn in reversed(situation.turns):
        item = situation.items.get(item_key(turn))
        voice = voice_of(text_of(item.value)) if item is not None else None
        if item is not None and voice is not None and _is_meant(mistake.who, voice):
            said = text_of(item.value)[voice.end :]
            facts = [situation.facts[i] for i in turn.fact_ids if i in situation.facts]
            found = [*filter(_claims, facts), *_notes(said, situation)]
            return [fact for fact in found if _is_about(fact, mistake.what)]
    return []


def _is_meant(who: str, voice: Voice) -> bool:
    """Whether whoever is called like this spoke: "Ann", "Ann's guess", "support"."""
    called, name = _words(who), _words(voice.name)
    return bool(called) and (called[0] == name[0] or called == _words(voice.role))


def _claims(fact: Fact) -> bool:
    return Cues(without_label(text_of(fact.value))).mistake is None


def _is_about(fact: Fact, what: str | None) -> bool:
    told = f"{fact.key.replace('_', ' ')} {text_of(fact.value)} {fact.source.quote or ''}"
    return what is None or not set(terms(what)).isdisjoint(terms(told))


def _notes(said: str, situation: Situation) -> Sequence[Fact]:
    """Facts that were written down beside a turn in its own words."""
    turn = f" {' '.join(_words(said))} "
    written = [fact for fact in situation.facts.values() if fact.source.turn_index is None]
    told = ((fact, _words(text_of(fact.value))) for fact in written)
    return [f for f, note in told if len(note) >= _LEAST_WORDS and f" {' '.join(note)} " in turn]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
