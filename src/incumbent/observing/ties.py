"""Ties: which facts are meant where a statement names what it follows from or waits for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from incumbent.language import loosely
from incumbent.language.attributes import address_of
from incumbent.language.detection import are_comparable, same_part
from incumbent.language.frames import frame_again
from incumbent.language.gist import told_of_one
from incumbent.language.lexicon import agreeing
from incumbent.language.reasoning import value_told
from incumbent.language.skeleton import names_a_thing
from incumbent.language.statements import Kind
from incumbent.model.fact import Fact, Part
from incumbent.model.text_cache import remembered
from incumbent.model.values import text_of
from incumbent.observing import resolving
from incumbent.observing.circumstances import whole_part
from incumbent.observing.relating import parts_in
from incumbent.observing.rewriting import JOINT, Rewritten
from incumbent.observing.situation import Situation, is_request
from incumbent.observing.understanding import Understood, typed
from incumbent.search.analysis import name_terms, terms

_LONGEST = 800
_TOLD = (Kind.ASSERTION, Kind.COMMITMENT, Kind.REQUEST)
_SPAN = re.compile(r"(?:from )?(?P<old>.+?) to (?P<new>.+)", re.IGNORECASE)
_PLACED = re.compile(r"\b(?:in|at|on|with|by|from|to|near|under)\s+$", re.IGNORECASE)
"""What stands before a value that tells where or with whom something is."""
_NAMING = re.compile(r"\b(?:(?i:the|our|my|your) |[A-Z][\w-]*['’]s )")


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
    if (fact := called(situation, name)) is not None:
        return fact
    for facts in (list(situation.facts.values()), situation.sharing(name_terms(key))):
        found = resolving.named(name, _called(facts, key), [], loosely=True)
        if found:
            return found[0]
    return None


def called(situation: Situation, name: str) -> Fact | None:
    """The fact about the very thing that is named, by just this name."""
    address = address_of(name)
    return at(situation, address) if address is not None else None


def at(situation: Situation, address: tuple[str, str | None]) -> Fact | None:
    """The fact at an address, or the one that says in words of its own what would sit there."""
    held = situation.holding(*address)
    found = held or [
        fact
        for fact in (*situation.facts.values(), *situation.sharing(name_terms(address[0])))
        if (told := stated_by(fact)) is not None and address_of(told.thing) == address
    ]
    single = [fact for fact in found if not is_request(fact)]
    return single[-1] if single else None


def told_alike(fact: Fact, part: Part) -> bool:
    """Whether a statement says one value of one thing, and of the kind of another."""
    before = stated_by(fact)
    if before is None or len(typed(fact.parts)) > 1:
        return False
    old = typed(frame_again(before.part.text).parts)
    return bool(old) and part.kind != "term" and are_comparable(old[0], part)


def thing_in(words: str) -> str | None:
    """The thing that words name and end with, if they do: "about our fee" names our fee."""
    for found in _NAMING.finditer(words):
        name = words[found.start() :].strip(" .,!?;:")
        if address_of(name) is not None:
            return name
    return None


def about(words: str, facts: Sequence[Fact]) -> list[Fact]:
    """Of facts that share words with what was said, those about the very thing that it names."""
    name = thing_in(words)
    address = address_of(name) if name is not None else None
    return (_called(facts, address[0]) if address is not None else []) or list(facts)


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
    """Placed in the clause that says it."""
    verb: str
    is_change: bool


def stated_by(fact: Fact) -> Stated | None:
    """The thing and the value of a fact; of one that was amended, as it was last put."""
    text = text_of(fact.value)[:_LONGEST]
    begin = text.rfind(JOINT) + len(JOINT) if JOINT in text else 0
    told = stated(text[begin:])
    if told is None:
        return stated(text) if begin else None
    moved = told.part._replace(start=told.part.start + begin, end=told.part.end + begin)
    return told._replace(part=moved)


@remembered
def stated(clause: str) -> Stated | None:
    """The thing and the value of a clause that says one of the other."""
    told = value_told(clause)
    if told is None or not told.value:
        return _stated_within(clause)
    if not names_a_thing(told.thing):
        return _stated_freely(clause)
    end = told.start + len(told.value)
    whole = [p for p in frame_again(clause).parts if (p.start, p.end) == (told.start, end)]
    part = whole[0] if whole else whole_part(told.value)._replace(start=told.start, end=end)
    return Stated(told.thing, part, told.verb, told.is_change)


def _stated_within(text: str) -> Stated | None:
    """The same where the clause is a part of what is said, and the only one of its sort."""
    found = loosely.clauses(text)
    if len(found) != 1 or not names_a_thing(found[0].thing.name):
        return _stated_freely(text)
    told = value_told(found[0].text)
    if told is None:
        return None
    start = text.find(told.value, found[0].start)
    end = start + len(told.value)
    whole = [p for p in frame_again(text).parts if (p.start, p.end) == (start, end)]
    part = whole[0] if whole else whole_part(told.value)._replace(start=start, end=end)
    return Stated(told.thing, part, told.verb, told.is_change)


def _stated_freely(text: str) -> Stated | None:
    """The same where the value is said of the thing in other words: "$5 for the fee"."""
    pair = told_of_one(text)
    if pair is None:
        return None
    start, end = pair.value.start, pair.value.end
    whole = [p for p in frame_again(text).parts if (p.start, p.end) == (start, end)]
    part = whole[0] if whole else whole_part(pair.value.text)._replace(start=start, end=end)
    return Stated(pair.thing.text, part, "", False)


def _swapped(situation: Situation, said: Understood) -> Rewritten | None:
    """What is so now, where a thing is named with what it was and with one other value."""
    named = loosely.things(said.text)
    fact = meant(situation, named[-1].name) if len(named) == 1 else None
    if fact is None or is_request(fact):
        return None
    first, last = named[0].start, named[0].end
    parts = [p for p in frame_again(said.text).parts if p.kind != "term"]
    outside = [part for part in parts if part.end <= first or part.start >= last]
    if len(outside) == 1 and (span := _SPAN.fullmatch(outside[0].text)):
        # "From 9 to 10 o'clock" may be a span of time; of what was at nine, it is a change.
        ends = [whole_part(span.group(end)) for end in ("old", "new")]
        return rephrased(fact, ends[1]) if says(fact, ends[0].text) else None
    new = [part for part in outside if not says(fact, part.text)]
    return rephrased(fact, new[0]) if len(new) == 1 and len(outside) > 1 else None


def said_anew(situation: Situation, said: Understood) -> Fact | None:
    """The fact whose thing and value a statement names, with one other that is so instead."""
    if said.kind not in _TOLD or not (said.corrects or said.cues.is_past):
        return None
    values = typed(said.frame.parts)
    for thing in loosely.things(said.text):
        fact = called(situation, thing.name)
        told = stated_by(fact) if fact is not None else None
        old = typed(frame_again(told.part.text).parts) if told is not None else ()
        if len(old) != 1:
            continue
        rest = [part for part in values if not same_part(part, old[0])]
        new = [part for part in rest if are_comparable(old[0], part) and part not in said.denied]
        if len(new) == 1 and len(rest) < len(values):
            return fact
    return None


def changed(situation: Situation, said: Understood) -> Rewritten | None:
    """What is so now, where a statement says of a thing that is known by name what it became."""
    told = stated(said.text)
    if told is None:
        return _swapped(situation, said) if said.kind in _TOLD else None
    if not (told.is_change or said.corrects):
        return None
    fact = meant(situation, told.thing)
    if fact is None:
        return None
    before = stated_by(fact)
    address = address_of(told.thing)
    if before is None and said.attribute is None and (fact.key, fact.subject) == address:
        value = told.part._replace(start=0, end=len(told.part.text))
        return Rewritten(fact, value.text, (value,), parts_in(fact), 1.0, ("named",))
    if before is None or address_of(before.thing) != address:
        return None  # what sits at an address of its own is decided there
    is_placed = _PLACED.search(text_of(fact.value)[: before.part.start]) is not None
    formed = before.part.kind == told.part.kind != "term"
    alike = not before.verb and (formed or (said.is_change and not is_placed))
    if before.verb != told.verb and told.verb and not alike:
        return None  # it is something else about the same thing
    if _are_other_forms(before.part, told.part):
        return None  # where the choir meets, and when
    again = rephrased(fact, told.part)
    return again if again is not None and not says(fact, told.part.text) else None


def _are_other_forms(old: Part, new: Part) -> bool:
    """Whether both are values with a form of their own, and none could take the other's place."""
    ours, theirs = typed(frame_again(new.text).parts), typed(frame_again(old.text).parts)
    alike = any(are_comparable(one, other) for one in theirs for other in ours)
    return bool(ours) and bool(theirs) and not alike


def rephrased(fact: Fact, value: Part) -> Rewritten | None:
    """A fact with another value, in the words that it was stated in; None where it has several."""
    whole, parts = text_of(fact.value), parts_in(fact)
    before = stated_by(fact)
    if before is None and len(parts) != 1:
        return None
    old = before.part if before is not None else parts[0]
    lead = agreeing(whole[: old.start], value.text)
    new = value._replace(start=len(lead), end=len(lead) + len(value.text))
    moved = new.end - old.end
    before_it = [part for part in parts if part.end <= old.start]
    after_it = [
        part._replace(start=part.start + moved, end=part.end + moved)
        for part in parts
        if part.start >= old.end
    ]
    text = lead + value.text + whole[old.end :]
    gone = tuple(p for p in parts if p.start < old.end and p.end > old.start) or (old,)
    return Rewritten(fact, text, (*before_it, new, *after_it), gone, 1.0, ("named",), ((old, new),))


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
