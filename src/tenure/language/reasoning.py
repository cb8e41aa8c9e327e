"""Reasoning: which clause of a sentence follows from which, and what waits for what.

"The office is in Lisbon, so the rent is $900" says two things, and that one follows from the
other. "If the office moves to Porto, the rent becomes $700" says neither, but what to do about it.
Only clauses that say a value of a thing that is named are taken apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tenure.language.attributes import THING, trailing_pattern, without_lead_in
from tenure.language.lexicon import data

_FLAGS = re.IGNORECASE | re.DOTALL
_LONGEST = 600
_MOST_WORDS = 8
_END = " \t\n.!;,:"
_MARK = r"\s*[,;:.–—-]+\s*"


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


class _Patterns:
    def __init__(self, language: str) -> None:
        told = data("reasons", language)
        thing = re.sub(r"\?P<\w+>", "?:", THING)
        self.thing = re.compile(rf"{thing}$", _FLAGS)
        self.tells = re.compile(
            rf"(?P<thing>{thing})(?: (?:{told['adverbs']}))* (?:{told['telling']})\s+\S", _FLAGS
        )
        self.points = re.compile(
            rf"(?:(?:{told['adverbs']}|so|and|right now|at the moment|today|for now|so far)[\s,]+)*"
            rf"(?:it|they)(?P<says>(?: (?:{told['adverbs']}))* (?:{told['telling']})|['’]s)\s+\S",
            _FLAGS,
        )
        because = rf"(?:{told['because']})"
        during = rf"(?:{told['while']})"
        self.during = re.compile(rf"{during}\s", _FLAGS)
        either = rf"(?:{during}|{because})"
        self.reason_first = re.compile(rf"{either}\s+(?P<reason>.+)$", _FLAGS)
        self.reason_last = re.compile(
            rf"[,;]?\s+(?:but |and )?(?:only )?(?P<word>{either})\s+", _FLAGS
        )
        self.concluding = re.compile(
            rf"(?:[,;:.–—-]+\s*|\s)(?:and\s+|so\s+)?(?:{told['concluding']})\b,?\s+", _FLAGS
        )
        self.basis_first = re.compile(rf"(?:{told['basis']})\s+(?P<bases>.+)$", _FLAGS)
        joined = rf"(?:(?:{told['joining']})\s+)*(?:(?:{told['pointing']})\s+)?"
        adverbs = r"(?:(?:really|also|currently|directly|entirely|mostly|only|all|just)\s+)*"
        relating = rf"{adverbs}(?:{told['relating']})"
        self.basis_last = re.compile(
            rf"(?:[,;:.–—-]+\s*|\s){joined}(?:{told['basis']}|(?<=\s){relating})\s+", _FLAGS
        )
        self.relates = re.compile(rf"(?P<thing>{thing})\s+{relating}\s+(?P<bases>.+)$", _FLAGS)
        self.points_back = re.compile(
            rf"(?:(?:{told['joining']})\s+)*(?:{told['pointing']})\s+{relating}\s+(?P<bases>.+)$",
            _FLAGS,
        )
        self.goes_along = re.compile(
            rf"(?:{told['once']})\s+(?P<bases>{thing})\s+(?:{told['moving']}),\s+"
            rf"(?:{told['going_along']})$",
            _FLAGS,
        )
        self.moving = re.compile(rf"\s+(?:{told['moving']})$", _FLAGS)
        self.working_out = re.compile(
            rf"{told['working_out']}\s+(?P<bases>.+?){_MARK}(?=(?:so |and )?(?:it|they)\b)", _FLAGS
        )
        self.unchanged = re.compile(rf"(?P<thing>{thing}) (?:{told['unchanged']})$", _FLAGS)
        self.bases = re.compile(
            rf"(?:both\s+)?(?P<first>{thing})(?P<rest>(?:(?:,|,?\s+and)(?:\s+(?:on|from|of))?"
            rf"\s+{thing})*)$",
            _FLAGS,
        )
        self.another = re.compile(
            r"(?:,|,?\s+and)(?:\s+(?:on|from|of))?\s+(?=(?:the|our|my|your|[A-Z]))"
        )
        self.once = re.compile(
            rf"(?:{told['once']})\s+(?:(?:{told['supposing']})\s+)*(?P<case>.+)$", _FLAGS
        )
        self.once_last = re.compile(
            rf",?\s+(?:only )?(?:{told['once']})\s+(?:(?:{told['supposing']})\s+)*", _FLAGS
        )
        self.becomes = re.compile(
            rf"(?P<thing>{thing})(?: (?:{told['adverbs']}|ever|really|finally))* "
            rf"(?P<verb>{told['getting']})\s+(?P<value>\S.*)$",
            _FLAGS,
        )
        self.makes = re.compile(
            rf"(?:{told['making']})\s+(?P<thing>{thing})\s+(?:over\s+|back\s+)?"
            rf"(?:from\s.+?\s)?to\s+(?P<value>\S.*)$",
            _FLAGS,
        )
        self.keeps = re.compile(
            rf"(?:{told['keeping']})\s+(?P<value>\S.*?)\s+(?:for|as)\s+(?P<thing>{thing})$", _FLAGS
        )
        self.aside = re.compile(rf"(?P<thing>{thing}), (?:{told['aside']}),(?=\s)", _FLAGS)
        self.plainly = re.compile(rf"(?:{told['plainly']})\b", _FLAGS)
        self.returns = re.compile(
            rf"(?P<thing>{thing})(?: (?:{told['adverbs']}))* (?P<verb>{told['returning']})\s+"
            rf"(?P<value>\S.*)$",
            _FLAGS,
        )
        self.fills = re.compile(
            rf"(?P<value>\S.{{0,60}}?) (?:{told['filling']})\s*(?<=\s)(?P<thing>{thing})$", _FLAGS
        )
        self.taken_back = re.compile(rf"{told['taken_back']}$", _FLAGS)
        self.changed = re.compile(rf"(?P<thing>{thing}) (?:{told['changed']})$", _FLAGS)
        self.reminding = re.compile(told["reminding"], _FLAGS)
        self.trailing = trailing_pattern(language)
        self.denied = re.compile(r"(?:not|never|no longer|no|still)\b", _FLAGS)
        self.then = re.compile(r"then,?\s+", _FLAGS)


@lru_cache(maxsize=8)
def _patterns(language: str = "en") -> _Patterns:
    return _Patterns(language)


def _begin(sentence: str) -> int:
    """Where a sentence begins once what opens it is passed."""
    begin = without_lead_in(sentence)
    found = _patterns().reminding.match(sentence, begin)
    return found.end() if found is not None else begin


def tells(clause: str) -> bool:
    """Whether a clause says a value of a thing that it names."""
    return _patterns().tells.match(clause) is not None


def opens_with_thing(clause: str) -> bool:
    """Whether a clause begins with a thing that is named, and says something of it."""
    patterns = _patterns()
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


def value_told(clause: str) -> Told | None:
    """The thing that a clause names, and what it says that it is or becomes."""
    patterns = _patterns()
    begin = _begin(clause)
    clause = patterns.trailing.sub("", clause.rstrip(_END)).rstrip(_END)
    told = _told(patterns, clause, begin)
    if told is None or len(told.value.split()) > _MOST_WORDS or patterns.denied.match(told.value):
        return None
    return told


def _told(patterns: _Patterns, clause: str, begin: int) -> Told | None:
    if patterns.unchanged.match(clause, begin):
        return None
    if found := patterns.returns.match(clause, begin):
        return Told(*_valued(found), "", is_change=True)
    found = patterns.becomes.match(clause, begin)
    if found is not None:
        verb = found.group("verb")
        verb = "" if patterns.plainly.match(verb) else verb.lower().split()[0].rstrip("s")
        return Told(*_valued(found), verb)
    found = patterns.makes.match(clause, begin) or patterns.keeps.match(clause, begin)
    return Told(*_valued(found), "", is_change=True) if found is not None else None


def _valued(found: re.Match[str]) -> tuple[str, str, int]:
    return found.group("thing"), found.group("value"), found.start("value")


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
    return _pointed(sentence, begin, antecedent)


def relation(sentence: str) -> Relation | None:
    """What a sentence says that something follows from, where it says no value."""
    text = sentence[_begin(sentence) :].rstrip(_END)
    patterns = _patterns()
    for pattern in (patterns.relates, patterns.points_back, patterns.goes_along):
        found = pattern.match(text) if len(text) <= _LONGEST else None
        bases = _bases(found.group("bases")) if found is not None else ()
        if found is not None and bases:
            return Relation(found.groupdict().get("thing") or "", bases)
    return None


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
    found = _patterns().working_out.match(sentence, begin)
    if found is None or _patterns().thing.match(found.group("what")) is None:
        return []
    bases = _bases(found.group("bases"))
    told = _named(sentence, found.end(), found.group("what"))
    return [_replaced(sentence, found.end(), told, bases)] if bases and told else []


def _reason_first(sentence: str, begin: int) -> list[Strand]:
    """Since the office is in Turin, the rent is 5."""
    found = _patterns().reason_first.match(sentence, begin)
    if found is None:
        return []
    first = found.start("reason")
    for comma in re.finditer(r",\s+", sentence[first:]):
        reason_end, then = first + comma.start(), first + comma.end()
        reason = sentence[first:reason_end]
        if not tells(sentence[then:]):
            continue
        if named := _patterns().unchanged.match(reason):
            return [_strand(sentence, then, len(sentence), bases=(named.group("thing"),))]
        if tells(reason):
            presumed = _patterns().during.match(sentence, begin) is not None
            return [
                _strand(sentence, first, reason_end, is_presumed=presumed),
                _strand(sentence, then, len(sentence), follows=True),
            ]
    return []


def _reason_last(sentence: str, begin: int) -> list[Strand]:
    """The rent is 5 because the office is in Turin."""
    if not tells(sentence[begin:]):
        return []
    for word in _patterns().reason_last.finditer(sentence, begin + 1):
        reason = sentence[word.end() :].rstrip(_END)
        if not tells(sentence[begin : word.start()]):
            continue
        if named := _patterns().unchanged.match(reason):
            return [_strand(sentence, begin, word.start(), bases=(named.group("thing"),))]
        if tells(reason):
            presumed = _patterns().during.match(f"{word.group('word')} ") is not None
            return [
                _strand(sentence, word.end(), len(sentence), is_presumed=presumed),
                _strand(sentence, begin, word.start(), follows=True),
            ]
    return []


def _concluded(sentence: str, begin: int) -> list[Strand]:
    """The office is in Turin, so the rent is 5. The rent hangs on the office, so it is 5."""
    for joint in _patterns().concluding.finditer(sentence, begin + 1):
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
    found = _patterns().basis_first.match(sentence, begin)
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
    for joint in _patterns().basis_last.finditer(sentence, begin + 1):
        bases = _bases(sentence[joint.end() :].rstrip(_END))
        if bases and tells(sentence[begin : joint.start()]):
            return [_strand(sentence, begin, joint.start(), bases=bases)]
    return []


def _pointed(sentence: str, begin: int, antecedent: str) -> list[Strand]:
    """Right now it is 5. The rent has changed: it is 5 now."""
    aside = _patterns().aside.match(sentence, begin)
    if aside is not None and tells(aside.group("thing") + sentence[aside.end() :]):
        told = aside.group("thing") + sentence[aside.end() :].rstrip(_END)
        return [_replaced(sentence, begin, told, ())]
    if antecedent and (told := _named(sentence, begin, antecedent)):
        return [_replaced(sentence, begin, told, ())]
    for mark in re.finditer(_MARK, sentence[begin:]):
        before, after = sentence[begin : begin + mark.start()], begin + mark.end()
        found = _patterns().changed.match(before) or _patterns().taken_back.match(before)
        if found is not None and (told := _named(sentence, after, found.group("thing"))):
            return [_replaced(sentence, begin, told, ())]
    return []


def _named(sentence: str, start: int, thing: str) -> str:
    """What a clause says of "it", with the thing named instead; empty where it says none."""
    found = _patterns().points.match(sentence, start)
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
    patterns = _patterns()
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
    return next(iter((*_case_first(sentence, begin), *_case_last(sentence, begin))), None)


def _case_first(sentence: str, begin: int) -> Iterator[Waiting]:
    found = _patterns().once.match(sentence, begin)
    if found is None:
        return
    first = found.start("case")
    for comma in re.finditer(r"[,:–—]\s+|\s+(?=then\s)", sentence[first:]):
        case = _case(sentence[first : first + comma.start()])
        start = first + comma.end()
        start += len(m.group()) if (m := _patterns().then.match(sentence, start)) else 0
        if case is not None and _says_what(sentence[start:]):
            yield Waiting(*case, sentence[start:].rstrip(_END), start)


def _case_last(sentence: str, begin: int) -> Iterator[Waiting]:
    if not _says_what(sentence[begin:]):
        return
    for word in _patterns().once_last.finditer(sentence, begin + 1):
        case = _case(sentence[word.end() :].rstrip(_END))
        then = sentence[begin : word.start()]
        if case is not None and _says_what(then):
            yield Waiting(*case, then.rstrip(_END), begin)


def _says_what(clause: str) -> bool:
    """Whether a clause says of a thing what it is or becomes, or what to make of it."""
    return tells(clause) or value_told(clause) is not None


def _case(text: str) -> tuple[str, str] | None:
    """A thing and what it becomes."""
    patterns = _patterns()
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
    return None
