"""A perturbed copy of a suite of timelines: the same stories with other names, values and words.

A system that scores well on a suite by knowing it scores worse on this. Names, numbers and some
nouns are exchanged, in the same way in the whole timeline and in its queries. Writes of one moment
change their order, and between the turns people talk of other things.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from incumbent_eval.timelines import Record

_KEPT: Final = frozenset(
    {
        "version",
        "track",
        "type",
        "layer",
        "ts",
        "now",
        "scope",
        "authority",
        "domain",
        "difficulty",
        "detection_mode",
        "speaker",
    }
)
"""Fields that are no part of the story, or that hold it together."""
_WORDS: Final = {
    "vendor": "supplier",
    "customer": "client",
    "client": "customer",
    "meeting": "gathering",
    "contract": "agreement",
    "package": "parcel",
    "team": "crew",
    "office": "bureau",
    "document": "paper",
    "feature": "function",
    "server": "host",
    "laptop": "notebook",
    "salary": "pay",
    "candidate": "applicant",
    "invoice": "bill",
}
_FIRST_NAMES: Final = """
Aaron Alan Alex Alice Amanda Amy Andrea Andrew Angela Anna Ann Anthony Ashley Barbara Ben
Brian Carl Carlos Carol Caroline Casey Catherine Charles Chris Christine Claire Daniel David
Deborah Diana Diane Donna Dylan Edward Elena Elizabeth Emily Emma Eric Erin Eva Frank Gary
George Grace Greg Hannah Helen Henry Ian Irene Jack Jackie Jacob James Jamie Jane Janet Jason
Jeff Jennifer Jessica Joan Joe John Jordan Joseph Julia Karen Kate Kathy Keith Kelly Kevin Kim
Laura Lauren Lena Leo Linda Lisa Lucas Lucy Luis Lynn Maria Mark Martha Martin Mary Matt Max
Megan Michael Michelle Mike Monica Morgan Nancy Natalie Nathan Nick Nicole Nina Oliver Olivia
Patricia Patrick Paul Paula Peter Philip Priya Rachel Raj Rebecca Richard Riley Rob Robert
Roger Rosa Ryan Sam Samantha Sandra Sara Sarah Scott Sean Sophia Stephen Steve Steven Susan
Taylor Teresa Thomas Tim Tina Tom Tony Tyler Vanessa Vera Victor Victoria Walter Wendy William
"""
_OTHERS: Final = """
Ottilie Bram Saskia Anselm Jorun Tamsin Ilario Wenche Caspian Marisol Edwige Fintan Zdenka
Ruben Halina Torben Ysolde Emre Noor Pascal Senna Ivo Liesel Dario Maren Oisin Petra Quentin
Runa Silvan Thea Ulrich Vesna Wiebke Xenia Yannick Zoltan Alwine Benoit Cosima
"""
_SYLLABLES: Final = (
    "bra",
    "den",
    "fol",
    "gar",
    "hel",
    "kor",
    "lin",
    "mor",
    "nar",
    "pel",
    "rud",
    "sol",
)
_FILLERS: Final = (
    "The coffee machine on our floor works again, by the way.",
    "It has been raining since the morning over here.",
    "I have a dentist's appointment to look forward to, sadly.",
    "Somebody left a green umbrella by the lift.",
    "The canteen has lentil soup today.",
    "My neighbour's dog barked half the night.",
)
_NAME: Final = re.compile(rf"\b(?:{'|'.join(_FIRST_NAMES.split())})\b|\b[A-Z][a-z]+[A-Z]\w*\b")
_NUMBER: Final = re.compile(
    r"(?<![\w.#-])(\$?)(\d{1,3}(?:,\d{3})+|\d{2,})(?!\.\d|[\w:]|,\d|-\d|(?:st|nd|rd|th)\b)"
)
_NOUN: Final = re.compile(
    rf"(?<![A-Za-z])({'|'.join(sorted(_WORDS, key=len, reverse=True))})(s?)(?![A-Za-z])", re.I
)
_CLOSE: Final = timedelta(seconds=30)


def perturbed(timeline: Record, seed: int) -> dict[str, Any]:
    """A copy of a timeline in other words. The same timeline and seed give the same copy."""
    rng = random.Random(f"{seed} {timeline['id']}")
    rewrite = _Rewriting(rng).text
    copy = _mapped(timeline, rewrite)
    state = copy["initial_state"]
    rng.shuffle(state.get("persistent_facts") or [])
    copy["events"] = _with_small_talk(_reordered(copy["events"], rng), rng)
    return dict(copy)


def _mapped(value: Any, rewrite: Callable[[str], str]) -> Any:
    """A record with all its texts rewritten; the fields that hold it together stay."""
    if isinstance(value, str):
        return rewrite(value)
    if isinstance(value, Mapping):
        return {k: v if k in _KEPT else _mapped(v, rewrite) for k, v in value.items()}
    return [_mapped(one, rewrite) for one in value] if isinstance(value, list) else value


class _Rewriting:
    """Exchanges names, numbers and nouns, each always for the same."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._people = rng.sample(_OTHERS.split(), len(_OTHERS.split()))
        self._names: dict[str, str] = {}
        self._numbers: dict[int, int] = {}

    def text(self, text: str) -> str:
        if text.startswith("regex:"):
            return text
        text = _NAME.sub(lambda found: self._name(found[0]), text)
        text = _NUMBER.sub(lambda found: f"{found[1]}{self._number(found[2])}", text)
        return _NOUN.sub(lambda found: _like(found[1], _WORDS[found[1].lower()]) + found[2], text)

    def _name(self, name: str) -> str:
        if name not in self._names:
            if name in _FIRST_NAMES.split() and self._people:
                self._names[name] = self._people.pop()
            else:
                self._names[name] = "".join(self._rng.sample(_SYLLABLES, 3)).capitalize()
        return self._names[name]

    def _number(self, digits: str) -> str:
        """Another number of the same length. The changes are small, so that the count stays
        likely."""
        value = int(digits.replace(",", ""))
        if value not in self._numbers:
            step = 10 ** max(0, len(str(value)) - 2)
            wanted = value + step * self._rng.choice((1, 2, 3))
            while wanted in self._numbers.values() or len(str(wanted)) != len(str(value)):
                wanted = wanted + step if len(str(wanted)) == len(str(value)) else 10 * step + step
            self._numbers[value] = wanted
        changed = self._numbers[value]
        return f"{changed:,}" if "," in digits else str(changed)


def _like(pattern: str, word: str) -> str:
    """A word in the case of another."""
    if pattern.isupper():
        return word.upper()
    return word.capitalize() if pattern[0].isupper() else word


def _reordered(events: list[dict[str, Any]], rng: random.Random) -> list[dict[str, Any]]:
    """The writes of one event in another order; the order of events stays."""
    for event in events:
        writes = event.get("writes")
        if writes and not any(write.get("supersedes") for write in writes):
            rng.shuffle(writes)
    return events


def _with_small_talk(events: list[dict[str, Any]], rng: random.Random) -> list[dict[str, Any]]:
    """The events, with small talk now and then, right after a turn."""
    found = []
    for event in events:
        found.append(event)
        if event["type"] == "conversation_turn" and rng.random() < 1 / 4:
            at = datetime.fromisoformat(event["ts"]) + _CLOSE
            text = rng.choice(_FILLERS)
            found.append({**event, "ts": at.isoformat(), "speaker": "user", "text": text})
    return found
