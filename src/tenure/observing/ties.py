"""Ties: which facts are meant where a statement names what it follows from or waits for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tenure.language.attributes import address_of
from tenure.language.detection import Judged, Relation, are_comparable
from tenure.language.frames import frame_again
from tenure.language.reasoning import value_told
from tenure.model.fact import Fact, Part
from tenure.model.values import text_of
from tenure.observing import resolving
from tenure.observing.filing import whole_part, within
from tenure.observing.replacing import Rewritten, Swap, parts_in, rewritten
from tenure.observing.situation import Situation
from tenure.observing.understanding import is_framing
from tenure.search.analysis import name_terms, terms


def meant(situation: Situation, name: str) -> Fact | None:
    """The fact about a thing that is named, of this conversation or of another."""
    address = address_of(name)
    if address is None:
        found = resolving.named(name, list(situation.facts.values()), [], loosely=True)
        return found[0] if found else None
    key, subject = address
    held = situation.holding(key, subject)
    if held:
        return held[-1]
    for facts in (list(situation.facts.values()), situation.sharing(name_terms(key))):
        found = resolving.named(name, _called(facts, key), [], loosely=True)
        if found:
            return found[0]
    return None


def _called(facts: Iterable[Fact], key: str) -> list[Fact]:
    """Of some facts, those that say what the thing itself is called, and not only whose it is."""
    wanted = set(name_terms(key))
    return [
        fact
        for fact in facts
        if wanted <= {*name_terms(fact.key), *terms(text_of(fact.value)[:400])}
    ]


class Stated(NamedTuple):
    """A value as it is said of a thing."""

    thing: str
    part: Part


def stated(clause: str) -> Stated | None:
    """The thing and the value of a clause that says one of the other."""
    told = value_told(clause)
    if told is None:
        return None
    thing, value = told
    frame = frame_again(clause)
    start = clause.find(value)
    inside = within(frame.parts, start, start + len(value))
    whole = [part for part in inside if (part.start, part.end) == (0, len(value))]
    return Stated(thing, whole[0] if whole else whole_part(value))


def rephrased(fact: Fact, value: Part) -> Rewritten | None:
    """A fact with another value, in the words that it was stated in; None where it has several."""
    parts = parts_in(fact)
    telling = [part for part in parts if not is_framing(part)] or list(parts)
    alike = [part for part in telling if are_comparable(part, value)]
    chosen = alike if len(alike) == 1 else telling
    if len(chosen) != 1:
        return None
    judged = Judged(1.0, "named")
    return rewritten([Swap(fact, chosen[0], value, judged, Relation.SAME_THING)])[0]


def forms_of(value: str) -> tuple[str, ...]:
    """The forms in which a value may be said: as it was, and as it is compared."""
    parts = [part for part in frame_again(value).parts if part.end - part.start == len(value)]
    return tuple(dict.fromkeys((value, *(part.normal for part in parts))))


def says(fact: Fact, value: str) -> bool:
    """Whether a fact says a value now."""
    return bool(_spelled(value)) and f" {_spelled(value)} " in f" {_spelled(text_of(fact.value))} "


def _spelled(text: str) -> str:
    return " ".join(terms(text))


def found(situation: Situation, names: Sequence[str]) -> list[Fact]:
    """The facts that several names mean, each once."""
    facts = (meant(situation, name) for name in names)
    return list({fact.id: fact for fact in facts if fact is not None}.values())
