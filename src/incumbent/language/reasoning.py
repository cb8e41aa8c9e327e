"""Reasoning: which clause of a sentence follows from which, and what waits for what.

"The office is in Lisbon, so the rent is $900" says two things, and that one follows from the
other. "If the office moves to Porto, the rent becomes $700" says neither, but what to do about it.
Only clauses that say a value of a thing that is named are taken apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from incumbent.language import loosely
from incumbent.language.attributes import without_lead_in
from incumbent.language.loosely import Clause
from incumbent.language.reasons import MARK, Patterns, patterns_of
from incumbent.model.text_cache import remembered

_LONGEST = 600
_MOST_WORDS = 8
_END = " \t\n.!;,:"


@dataclass(frozen=True, slots=True)
class Strand:
    """A clause that says something by itself, and what it follows from."""

    text: str
    """What it says, with the name of the thing where the sentence only points at it."""
    start: int
    end: int
    """Where in the sentence it stands."""
    follows: bool = False
    """Whether it follows from the strand before it."""
    bases: tuple[str, ...] = ()
    """The things that it follows from, where they are named."""
    is_presumed: bool = False
    """Whether it is taken for granted rather than told."""
    is_change: bool = False
    """Whether the sentence says that the thing was something else before."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A thing that follows from others, without a word about what it is."""

    thing: str
    """Empty where the sentence only points back at what was said."""
    bases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Waiting:
    """What is to be so once something else becomes this."""

    base: str
    becomes: str
    then: str
    start: int
    """Where in the sentence it stands what is to be so."""


def _begin(sentence: str) -> int:
    """Where a sentence begins once what opens it is passed."""
    begin = without_lead_in(sentence)
    found = patterns_of().reminding.match(sentence, begin)
    return found.end() if found is not None else begin


def tells(clause: str) -> bool:
    """Whether a clause says a value of a thing that it names."""
    return patterns_of().tells.match(clause) is not None


def opens_with_thing(clause: str) -> bool:
    """Whether a clause begins with a thing that is named, and says something of it."""
    patterns = patterns_of()
    return bool(patterns.tells.match(clause) or patterns.changed.match(clause.rstrip(_END)))


@dataclass(frozen=True, slots=True)
class Told:
    """A value that a clause says of a thing."""

    thing: str
    value: str
    start: int
    """Where in the clause the value stands."""
    verb: str
    """What the value is to the thing; empty where it is simply what the thing is or becomes."""
    is_change: bool = False
    """Whether it says that the thing was, or is to be, changed to it."""


@remembered
def value_told(clause: str) -> Told | None:
    """The thing that a clause names, and what it says that it is or becomes."""
    patterns = patterns_of()
    begin = _begin(clause)
    clause = patterns.trailing.sub("", clause.rstrip(_END)).rstrip(_END)
    told = _told(patterns, clause, begin)
    if told is None or len(told.value.split()) > _MOST_WORDS or patterns.denied.match(told.value):
        return None
    return told


def _told(patterns: Patterns, clause: str, begin: int) -> Told | None:
    if patterns.unchanged.match(clause, begin):
        return None
    if found := patterns.returns.match(clause, begin):
        return Told(*_valued(found), "", is_change=True)
    found = patterns.becomes.match(clause, begin)
    if found is not None:
        verb = found.group("verb")
        is_change = patterns.changing.match(verb) is not None
        plain = is_change or patterns.plainly.match(verb) is not None
        verb = "" if plain else verb.lower().split()[0].rstrip("s")
        return Told(*_valued(found), verb, is_change)
    found = patterns.makes.match(clause, begin) or patterns.keeps.match(clause, begin)
    return Told(*_valued(found), "", is_change=True) if found is not None else None


def _valued(found: re.Match[str]) -> tuple[str, str, int]:
    return found.group("thing"), found.group("value"), found.start("value")


def without_check(sentence: str) -> str | None:
    """A sentence that only asks whether it was understood, without that; None for any other."""
    found = patterns_of().checking.search(sentence)
    told = sentence[: found.start()] if found is not None else ""
    return told if told and tells(told[_begin(told) :]) else None


# clauses that follow from others


def strands(sentence: str, antecedent: str = "") -> list[Strand]:
    """The clauses of a sentence that hang together as reason and consequence, the reason first.

    Empty where the sentence is not of that sort. `antecedent` is the thing that "it" stands for.
    """
    if len(sentence) > _LONGEST or sentence.rstrip().endswith("?"):
        return []
    begin = _begin(sentence)
    for way in (_worked_out, _reason_first, _concluded, _reason_last, _based_first, _based_last):
        found = way(sentence, begin)
        if found:
            return found
    return _pointed(sentence, begin, antecedent) or _loosely(sentence)


def _loosely(sentence: str) -> list[Strand]:
    """The same for sentences that are put more freely."""
    told = loosely.clauses(sentence)
    if len(told) == 2 and told[0].thing.name.lower() != told[1].thing.name.lower():
        reason = loosely.reason_of(sentence, *told)
        if reason is None:
            return []
        other = told[1] if reason is told[0] else told[0]
        return [_of_clause(reason), _of_clause(other, follows=True)]
    if len(told) == 1:
        return _one_clause(sentence, told[0])
    return (_of_it(sentence) or _of_value(sentence)) if not told else []


def _of_value(sentence: str) -> list[Strand]:
    """Because of the office we settled on 5 for the rent."""
    named = loosely.things(sentence)
    bases = [thing for thing in named if loosely.follows_dependency(sentence, thing)]
    others = [thing for thing in named if thing not in bases]
    values = loosely.values(sentence)
    if len(others) != 1 or len(values) != 1 or not bases or bases[0].start > others[0].start:
        return []
    told = f"{others[0].name} is {values[0][0]}"
    return [Strand(told, 0, len(sentence), bases=tuple(thing.name for thing in bases))]


def _of_clause(clause: Clause, *, follows: bool = False, bases: tuple[str, ...] = ()) -> Strand:
    return Strand(clause.text, clause.start, clause.end, follows, bases)


def _one_clause(sentence: str, clause: Clause) -> list[Strand]:
    """The rent is 5, and that is all down to the office. As things stand, the rent is 5."""
    named = loosely.things(sentence)
    own = clause.thing.name.lower()
    apart = [t for t in named if t.end <= clause.start or t.start >= clause.end]
    others = [thing for thing in apart if thing.name.lower() != own]
    around = f"{sentence[: clause.start]} {sentence[clause.end :]}"
    if others and loosely.gives_reason(sentence, clause):
        return []
    if others:
        bases = tuple(dict.fromkeys(thing.name for thing in others))
        return [_of_clause(clause, bases=bases)] if loosely.depends(around) else []
    opening = sentence[: clause.start]
    if not opening or sentence[clause.end :].strip(_END):
        return []
    if loosely.denies(opening):
        return [replace(_of_clause(clause), is_change=True)]
    return [_of_clause(clause)] if loosely.only_opens(opening) else []


def _of_it(sentence: str) -> list[Strand]:
    """I was wrong about the rent, it is 5. The rent varies with the office; now it is 5."""
    said = loosely.said_of_it(sentence)
    if said is None:
        return []
    told, start, end = said
    begin = _begin(sentence)
    named = [thing for thing in loosely.things(sentence) if thing.end <= start]
    bases = [thing for thing in named if loosely.follows_dependency(sentence, thing)]
    meant = [thing for thing in named if thing not in bases]
    meant = [thing for thing in meant if thing.start == begin] or meant
    if len({thing.name.lower() for thing in meant}) != 1:
        return []
    names = tuple(dict.fromkeys(thing.name for thing in bases))
    return [Strand(meant[0].name + told, start, end, bases=names, is_change=not names)]


def relation(sentence: str) -> Relation | None:
    """What a sentence says that something follows from, where it says no value."""
    text = sentence[_begin(sentence) :].rstrip(_END)
    patterns = patterns_of()
    for pattern in (patterns.relates, patterns.points_back, patterns.goes_along):
        found = pattern.match(text) if len(text) <= _LONGEST else None
        bases = _bases(found.group("bases")) if found is not None else ()
        if found is not None and bases:
            return Relation(found.groupdict().get("thing") or "", bases)
    back = loosely.relation_in(text)
    return Relation("", back) if back else None


def _strand(
    sentence: str,
    start: int,
    end: int,
    *,
    follows: bool = False,
    bases: tuple[str, ...] = (),
    is_presumed: bool = False,
) -> Strand:
    text = sentence[start:end].rstrip(_END)
    return Strand(text, start, start + len(text), follows, bases, is_presumed)


def _worked_out(sentence: str, begin: int) -> list[Strand]:
    """We worked out the fee from the rent: it is 5."""
    found = patterns_of().working_out.match(sentence, begin)
    if found is None or patterns_of().thing.match(found.group("what")) is None:
        return []
    bases = _bases(found.group("bases"))
    told = _named(sentence, found.end(), found.group("what"))
    return [_replaced(sentence, found.end(), told, bases)] if bases and told else []


def _reason_first(sentence: str, begin: int) -> list[Strand]:
    """Since the office is in Turin, the rent is 5."""
    found = patterns_of().reason_first.match(sentence, begin)
    if found is None:
        return []
    first = found.start("reason")
    for comma in re.finditer(r",\s+", sentence[first:]):
        reason_end, then = first + comma.start(), first + comma.end()
        reason = sentence[first:reason_end]
        if not tells(sentence[then:]):
            continue
        if named := patterns_of().unchanged.match(reason):
            return [_strand(sentence, then, len(sentence), bases=(named.group("thing"),))]
        if tells(reason):
            presumed = patterns_of().during.match(sentence, begin) is not None
            return [
                _strand(sentence, first, reason_end, is_presumed=presumed),
                _strand(sentence, then, len(sentence), follows=True),
            ]
    return []


def _reason_last(sentence: str, begin: int) -> list[Strand]:
    """The rent is 5 because the office is in Turin."""
    if not tells(sentence[begin:]):
        return []
    for word in patterns_of().reason_last.finditer(sentence, begin + 1):
        reason = sentence[word.end() :].rstrip(_END)
        if not tells(sentence[begin : word.start()]):
            continue
        if named := patterns_of().unchanged.match(reason):
            return [_strand(sentence, begin, word.start(), bases=(named.group("thing"),))]
        if tells(reason):
            presumed = patterns_of().during.match(f"{word.group('word')} ") is not None
            return [
                _strand(sentence, word.end(), len(sentence), is_presumed=presumed),
                _strand(sentence, begin, word.start(), follows=True),
            ]
    return []


def _concluded(sentence: str, begin: int) -> list[Strand]:
    """The office is in Turin, so the rent is 5. The rent hangs on the office, so it is 5."""
    for joint in patterns_of().concluding.finditer(sentence, begin + 1):
        before = sentence[begin : joint.start()]
        linked = relation(before)
        if linked is not None and linked.thing:
            told = _named(sentence, joint.end(), linked.thing)
            if told:
                return [_replaced(sentence, joint.end(), told, linked.bases)]
        if tells(before) and tells(sentence[joint.end() :]):
            return [
                _strand(sentence, begin, joint.start()),
                _strand(sentence, joint.end(), len(sentence), follows=True),
            ]
    return []


def _based_first(sentence: str, begin: int) -> list[Strand]:
    """Based on the office, the rent is 5."""
    found = patterns_of().basis_first.match(sentence, begin)
    if found is None:
        return []
    first = found.start("bases")
    for comma in re.finditer(r",\s+", sentence[first:]):
        bases = _bases(sentence[first : first + comma.start()])
        if bases and tells(sentence[first + comma.end() :]):
            return [_strand(sentence, first + comma.end(), len(sentence), bases=bases)]
    return []


def _based_last(sentence: str, begin: int) -> list[Strand]:
    """The rent is 5, based on the office. The rent is 5, but that depends on the office."""
    if not tells(sentence[begin:]):
        return []
    for joint in patterns_of().basis_last.finditer(sentence, begin + 1):
        bases = _bases(sentence[joint.end() :].rstrip(_END))
        if bases and tells(sentence[begin : joint.start()]):
            return [_strand(sentence, begin, joint.start(), bases=bases)]
    return []


def _pointed(sentence: str, begin: int, antecedent: str) -> list[Strand]:
    """Right now it is 5. The rent has changed: it is 5 now."""
    aside = patterns_of().aside.match(sentence, begin)
    if aside is not None and tells(aside.group("thing") + sentence[aside.end() :]):
        told = aside.group("thing") + sentence[aside.end() :].rstrip(_END)
        return [_replaced(sentence, begin, told, ())]
    if antecedent and (told := _named(sentence, begin, antecedent)):
        return [_replaced(sentence, begin, told, ())]
    for mark in re.finditer(MARK, sentence[begin:]):
        before, after = sentence[begin : begin + mark.start()], begin + mark.end()
        found = patterns_of().changed.match(before) or patterns_of().taken_back.match(before)
        if found is not None and (told := _named(sentence, after, found.group("thing"))):
            return [_replaced(sentence, begin, told, ())]
    return []


def _named(sentence: str, start: int, thing: str) -> str:
    """What a clause says of "it", with the thing named instead; empty where it says none."""
    found = patterns_of().points.match(sentence, start)
    if found is None:
        return ""
    says = found.group("says")
    rest = sentence[found.end("says") :].rstrip(_END)
    return f"{thing}{' is' if says in ('’s', chr(39) + 's') else says}{rest}"


def _replaced(sentence: str, start: int, told: str, bases: tuple[str, ...]) -> Strand:
    end = len(sentence.rstrip(_END))
    return Strand(told, start, end, bases=bases)


def _bases(text: str) -> tuple[str, ...]:
    """The things that are named one after the other, and nothing else; else none."""
    patterns = patterns_of()
    text = patterns.moving.sub("", text.strip().rstrip(_END))
    if patterns.bases.match(text) is None:
        return ()
    text = re.sub(r"^both\s+", "", text, flags=re.IGNORECASE)
    return tuple(part.strip() for part in patterns.another.split(text) if part.strip())


# clauses that wait


def waiting(sentence: str) -> Waiting | None:
    """What is to be so once something else becomes this, if a sentence says such a thing."""
    if len(sentence) > _LONGEST or sentence.rstrip().endswith("?"):
        return None
    begin = _begin(sentence)
    if patterns_of().past_case.search(sentence):
        return None
    label = patterns_of().label.match(sentence)
    for start in dict.fromkeys((begin, label.end() if label is not None else begin)):
        for way in (_case_first, _case_with, _case_last):
            for found in way(sentence, start):
                return found
    return None


def _case_with(sentence: str, begin: int) -> Iterator[Waiting]:
    """With Graz as the venue, the fee would be 5."""
    found = patterns_of().with_as.match(sentence, begin)
    then = _what(found.group("then")) if found is not None else None
    if found is not None and then is not None and patterns_of().would.search(then):
        yield Waiting(found.group("thing"), found.group("value"), then, found.start("then"))


def _case_first(sentence: str, begin: int) -> Iterator[Waiting]:
    found = patterns_of().once.match(sentence, begin)
    if found is None:
        return
    first = found.start("case")
    for comma in re.finditer(r"[,:–—]\s+|\s+(?=then\s)", sentence[first:]):
        case = _case(sentence[first : first + comma.start()])
        start = first + comma.end()
        start += len(m.group()) if (m := patterns_of().then.match(sentence, start)) else 0
        then = _what(sentence[start:])
        if case is not None and then is not None:
            yield Waiting(*case, then, start)


def _case_last(sentence: str, begin: int) -> Iterator[Waiting]:
    if not tells(sentence[begin:]) and value_told(sentence[begin:]) is None:
        return
    for word in patterns_of().once_last.finditer(sentence, begin + 1):
        case = _case(sentence[word.end() :].rstrip(_END))
        then = sentence[begin : word.start()]
        if case is not None and _what(then) is not None:
            yield Waiting(*case, then.rstrip(_END), begin)


def _what(clause: str) -> str | None:
    """A clause that says of a thing what it is, or what to make of it; or that, said plainly."""
    if tells(clause) or value_told(clause) is not None:
        return clause.rstrip(_END)
    pair = loosely.pair_in(clause)
    return f"{pair[0]} is {pair[1]}" if pair is not None else None


def _case(text: str) -> tuple[str, str] | None:
    """A thing and what it becomes."""
    patterns = patterns_of()
    for pattern in (
        patterns.returns,
        patterns.becomes,
        patterns.makes,
        patterns.keeps,
        patterns.fills,
    ):
        found = pattern.match(text)
        if found is not None and patterns.thing.match(found.group("thing")):
            value = patterns.trailing.sub("", found.group("value").rstrip(_END))
            return None if patterns.denied.match(value) else (found.group("thing"), value)
    return None if patterns.denying.search(text) else loosely.pair_in(text)
