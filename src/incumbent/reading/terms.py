"""Terms: from when until when a statement holds, where it says so.

"From 1 February the rent is 900 euros.", "This week the desk number is 31.", "I'm on night shift
until Friday." A day on which something merely happens is no term: what has happened stays true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final, NamedTuple

from incumbent.language.lexicon import data
from incumbent.language.validity import find_validity, later
from incumbent.language.values.almanac import begin, days_of
from incumbent.language.values.finding import find
from incumbent.language.values.kinds import Value, ValueKind
from incumbent.reading.form import Claim, Span, Term

_LONGEST: Final = 400
"""A longer sentence says when in more ways than one."""
_BETWEEN = re.compile(r"\bbetween (?=[^,;.!?]{1,40} and )", re.IGNORECASE)
_BY = re.compile(r"\b(?:from|since|by|before|of|after|than|at) (?:the )?$", re.IGNORECASE)
_AND = re.compile(r" and ", re.IGNORECASE)
_MARK = re.compile(r"[,;:.!?]")
_NEAR: Final = 6
"""So many words may stand between how somebody is and until when."""
_WHO: Final = 3
"""So many words name who has a duty."""
_END = re.compile(r"\s*(?:$|[.,;!)])")
_START = re.compile(r"[\s(]*(?:(?:but|and|so|ok|okay|also|just so you know|fyi)[, ]+)?$", re.I)

Name = tuple[str, str | None]


class _Words(NamedTuple):
    staying: re.Pattern[str]
    allowed: re.Pattern[str]
    past: re.Pattern[str]
    present: re.Pattern[str]
    subordinate: re.Pattern[str]
    bare: re.Pattern[str]
    onwards: re.Pattern[str]
    duration: re.Pattern[str]
    until: re.Pattern[str]
    put_off: re.Pattern[str]
    passing: re.Pattern[str]
    turning: re.Pattern[str]
    lasting: re.Pattern[str]
    duty: re.Pattern[str]


def _word(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)


def _before(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern})$", re.IGNORECASE)


@lru_cache(maxsize=2)
def _words(language: str = "en") -> _Words:
    told = data("terms", language)
    return _Words(
        re.compile(rf"(?:{told['staying']})\b"),
        re.compile(told["allowed"], re.IGNORECASE),
        _word(told["past"]),
        _word(told["present"]),
        re.compile(told["subordinate"], re.IGNORECASE),
        _before(told["bare"]),
        re.compile(told["onwards"], re.IGNORECASE),
        _before(told["duration"]),
        _before(rf"{told['until']} (?:the )?"),
        _word(told["put_off"]),
        re.compile(told["passing"], re.IGNORECASE),
        _word(told["turning"]),
        re.compile(rf"(?:{told['lasting']})\b", re.IGNORECASE),
        _word(told["duty"]),
    )


class Found(NamedTuple):
    """A term and the words that say it."""

    term: Term
    span: Span
    is_bare: bool = False
    """Whether they only name a day or a time: "this week", "on Saturday"."""


def claim_and_term(
    text: str,
    at: datetime,
    known: Collection[Name],
    name: Callable[[Span | None], Claim | None],
) -> tuple[Claim | None, Term | None]:
    """The name that a statement gives and the term it sets. `known` are the names that have a value
    already: of those a mere day is the term of another value. `name` finds the name in what is left
    of the text beside a term."""
    found = _found(text, at)
    if found is not None:
        claim = name(found.span)
        if not found.is_bare or (claim and (claim.attribute, claim.subject) in known):
            return claim, found.term
    return name(None), None


def _found(text: str, at: datetime) -> Found | None:
    try:
        validity = find_validity(text, at)
        if validity is not None:
            term = Term(validity.valid_from, validity.valid_until)
            return Found(term, (validity.start, validity.end))
        if len(text) > _LONGEST or "?" in text:
            return None
        return _by_sentence(text, at)
    except OverflowError:  # past the end of the calendar
        return None


def _by_sentence(text: str, at: datetime) -> Found | None:
    words = _words()
    values = [
        value for value in find(text, at) if value.kind in (ValueKind.DATE, ValueKind.DURATION)
    ]
    if not values:
        return None
    between = _between(text, at)
    if between is not None:
        return between
    for value in values:
        if value.kind is ValueKind.DURATION:
            found = _for_a_while(text, at, value)
        else:
            found = _on_days(text, at, value)
        if found is not None:
            return found
    if words.subordinate.match(text):
        return _beside_another(text, at, values)
    return None


def _between(text: str, at: datetime) -> Found | None:
    """As in "between 3 and 7 May"."""
    found = _BETWEEN.search(text)
    if found is None or _follows_copula(text, found.start()):
        return None
    if not any(letter.isdigit() for letter in text[found.start() :]):
        return None  # "between June and August" can be so every year
    told = f"from {_AND.sub(' to ', text[found.end() :], count=1)}"
    value = next(iter(find(told, at)), None)
    if value is None or value.kind is not ValueKind.DATE or ".." not in value.normal:
        return None
    days = days_of(value.normal)
    end = found.end() + value.end - len("from ") + len(" and ") - len(" to ")
    if days is None or not _stands_apart(text, found.start(), end):
        return None
    return Found(Term(begin(days[0], at), begin(days[1], at)), (found.start(), end))


def _for_a_while(text: str, at: datetime, value: Value) -> Found | None:
    """As in "for 3 days", of how things are from now on."""
    words = _words()
    lead = words.duration.search(text[: value.start])
    if lead is None or words.past.search(text) is not None:
        return None
    until = later(at, value.normal)
    if until is None or until - at < timedelta(hours=12):
        return None
    opens = _START.fullmatch(text[: lead.start()]) is not None
    holds = words.present if opens else None
    if opens and holds is not None and holds.search(text, value.end) is None:
        return None
    if not opens and (_END.match(text, value.end) is None or not _lasts(text[: lead.start()])):
        return None
    return Found(Term(at, until), (lead.start(), value.end))


def _on_days(text: str, at: datetime, value: Value) -> Found | None:
    """As in "this week", "on Saturday", "until Friday", "from March on"."""
    words = _words()
    days = days_of(value.normal)
    if days is None:
        return None
    first, last = begin(days[0], at), begin(days[1], at)
    before = text[: value.start]
    ends_here = _END.match(text, value.end) is not None
    until = words.until.search(before)
    if until is not None:
        is_so = ends_here and _lasts(text[: until.start()]) and words.put_off.search(before) is None
        return Found(Term(None, last), (until.start(), value.end)) if is_so else None
    onwards = words.onwards.match(text, value.end)
    if onwards is not None and (lead := re.search(r"\bfrom (?:the )?$", before, re.I)):
        return Found(Term(first, None), (lead.start(), onwards.end()))
    if _BY.search(before) is not None:
        return None
    lead = words.bare.search(before)
    start = lead.start() if lead is not None else value.start
    if (
        last <= at
        or words.past.search(text) is not None
        or not _stands_apart(text, start, value.end)
    ):
        return None
    if _is_passing(value) and (
        (ends_here and _is_state(text[:start])) or _begins_state(text, start, value.end)
    ):
        return Found(Term(None, last), (start, value.end))
    if _follows_copula(text, start):
        return None
    if words.turning.search(text) is not None:
        return Found(Term(first, None), (start, value.end))  # and it stays so
    return Found(Term(first, last), (start, value.end), is_bare=True)


def _is_passing(value: Value) -> bool:
    """Whether days are these and no others: "this week", "3 to 7 May", but not "Monday"."""
    if _words().passing.match(value.text) is not None:
        return True
    return ".." in value.normal and any(letter.isdigit() for letter in value.text)


def _beside_another(text: str, at: datetime, values: Sequence[Value]) -> Found | None:
    """As in "While she is away from 10 to 14 February the lead is Tom."."""
    for value in values:
        days = days_of(value.normal) if value.kind is ValueKind.DATE else None
        if days is not None and ".." in value.normal:
            return Found(Term(begin(days[0], at), begin(days[1], at)), (0, value.end))
    return None


def _begins_state(text: str, start: int, end: int) -> bool:
    """Whether a sentence opens with a time, and tells who has which duty then."""
    if _START.fullmatch(text[:start]) is None:
        return False
    duty = _words().duty.search(text, end)
    return duty is not None and len(text[end : duty.start()].split()) <= _WHO


def _lasts(text: str) -> bool:
    """Whether words that lead to "until" or "for" tell what goes on for so long."""
    return _is_state(text, _words().lasting)


def _is_state(text: str, *more: re.Pattern[str]) -> bool:
    """Whether words that lead to a time tell how somebody or something is until then."""
    words = _words()
    for pattern in (words.staying, words.allowed, *more):
        for found in pattern.finditer(text):
            between = text[found.end() :]
            if len(between.split()) <= _NEAR and _MARK.search(between) is None:
                return True
    return False


def _stands_apart(text: str, start: int, end: int) -> bool:
    """Whether a stretch opens or closes a sentence."""
    return _START.fullmatch(text[:start]) is not None or _END.match(text, end) is not None


def _follows_copula(text: str, start: int) -> bool:
    """Whether a time is itself what is said of something: "the fair is between 3 and 7 May"."""
    return _COPULA.search(text[:start]) is not None


_COPULA = re.compile(
    r"\b(?:is|are|be|['’]s|was|takes place|runs?)"
    r"(?: (?:now|currently|actually|again|instead|then|still|really))*\s*$",
    re.IGNORECASE,
)


def names_of(known: Iterator[tuple[str, str | None]]) -> frozenset[Name]:
    """The names that have a value already."""
    return frozenset(one for one in known if one[0])
