"""Terms: from when until when a statement holds, where it says so.

"From 1 February the rent is 900 euros.", "This week the desk number is 31.", "I'm on night shift
until Friday." A day on which something merely happens is no term: what has happened stays true, and
so does what is moved or put off ("postponed until Friday"), or open at some hours ("until 5pm").

Every day, time or length of time in a sentence is looked at with the words that lead to it.
"Until", "from", "only" and "for the next" bound what is said; a mere day or a mere "for 3 days"
does so only where the sentence tells how things are then. A day that is named as an end belongs to
the term: "until Friday" ends when Saturday begins. Of a longer period "until" means its beginning
("until next week"), "through" its end ("through Q3").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final, NamedTuple

from incumbent.language.lexicon import data
from incumbent.language.values.almanac import RANGE, begin, days_of, months_on
from incumbent.language.values.finding import find
from incumbent.language.values.kinds import Value, ValueKind
from incumbent.language.values.times import EITHER
from incumbent.language.values.vocabulary import vocabulary
from incumbent.reading.form import Claim, Span, Term

_LONGEST: Final = 400
"""A longer sentence says when in more ways than one."""
_NEAR: Final = 6
"""So many words may stand between how somebody is, or what is put off, and until when."""
_WHO: Final = 3
"""So many words name who has a duty."""
_LOOK_BACK: Final = 36
_KINDS: Final = (ValueKind.DATE, ValueKind.DURATION, ValueKind.TIME)
_BETWEEN = re.compile(r"\bbetween ([^,;.!?]{1,40}?) and ", re.IGNORECASE)
_BY = re.compile(r"\b(?:from|since|by|before|of|after|than|at) (?:the )?$", re.IGNORECASE)
_BESIDE = re.compile(r"\s{0,3},?\s{0,3}(?:(?:at|on|by|in)\s{1,3})?", re.IGNORECASE)
_MARK = re.compile(r"[,;:.!?]")
_OPENS = re.compile(
    r"(?:^|[.,;:!?(\[\"“–—-])[\s(]*(?:(?:but|and|so|ok|okay|also|just so you know|fyi)[, ]+)?$",
    re.IGNORECASE,
)
_ENDS = re.compile(r"\s*(?:$|[.,;!)\]\"”])")
_GOES_ON = re.compile(
    r"\s*(?::|(?:and|but|so|then|please|only|because|since|unless|or)\b)", re.IGNORECASE
)
_COPULA = re.compile(
    r"\b(?:is|are|be|['’]s|was|takes place|runs?)"
    r"(?: (?:now|currently|actually|again|instead|then|still|really))*\s*$",
    re.IGNORECASE,
)
_DURATION = re.compile(
    r"P(?:(?P<years>\d+)Y)?(?:(?P<months>\d+)M)?(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)S)?)?$"
)

Name = tuple[str, str | None]


class Found(NamedTuple):
    """A term and the words that say it."""

    term: Term
    span: Span
    is_bare: bool = False
    """Whether they only name a day or a time: "this week", "on Saturday"."""


class _Moment(NamedTuple):
    """What a value after "until" or "from" names."""

    begins: datetime
    ends: datetime
    end: int
    is_day: bool
    """Whether it is a day or a time, and not a longer period."""
    is_clock: bool = False
    """Whether it is a time of day alone."""


class _Words:
    """The words of a language for when something is so."""

    def __init__(self, language: str) -> None:
        told: dict[str, Any] = data("terms", language)
        leads = r" (?:(?:for|on|the|in|during) ){0,2}"
        self.until, self.since = (_word(told[name], f"{leads}$") for name in ("until", "since"))
        self.now, self.rest = _word(told["now"]), _word(told["rest"], r" (?:(?:the|this) )?(\w+)")
        self.ahead, self.coming = _word(told["ahead"], "$"), _word(told["coming"])
        self.sure, self.excludes = _word(told["sure"]), _word(told["excludes"])
        self.onwards = re.compile(told["onwards"], re.IGNORECASE)
        self.put_off, self.changes = _word(told["put_off"]), vocabulary(language).words("changes")
        self.weekdays = vocabulary(language).words("weekday")
        self.bare, self.only = _word(told["bare"], "$"), _word(told["only"])
        self.duration = _word(told["duration"], "$")
        self.past, self.present = _word(told["past"]), _word(told["present"])
        self.passing = re.compile(told["passing"], re.IGNORECASE)
        self.turning, self.duty = _word(told["turning"]), _word(told["duty"])
        self.subordinate = re.compile(told["subordinate"], re.IGNORECASE)
        self.staying = re.compile(rf"(?:{told['staying']})\b")
        self.allowed = re.compile(told["allowed"], re.IGNORECASE)
        self.lasting = re.compile(rf"(?:{told['lasting']})\b", re.IGNORECASE)


def _word(pattern: str, behind: str = r"(?!\w)") -> re.Pattern[str]:
    spaced = rf"(?<![\w'’])(?:{pattern}){behind}".replace(" ", r"\s+")
    return re.compile(spaced, re.IGNORECASE)


@lru_cache(maxsize=2)
def _words(language: str = "en") -> _Words:
    return _Words(language)


def claim_and_term(
    text: str,
    at: datetime,
    known: Collection[Name],
    name: Callable[[Span | None], Claim | None],
) -> tuple[Claim | None, Term | None]:
    """The name that a statement gives and the term it sets. `known` are the names that have a value
    already: of those a mere day is the term of another value. `name` finds the name in what is left
    of the text beside a term."""
    found = term_in(text, at)
    if found is not None:
        claim = name(found.span)
        if not found.is_bare or (claim and (claim.attribute, claim.subject) in known):
            return claim, found.term
    return name(None), None


def names_of(known: Iterator[tuple[str, str | None]]) -> frozenset[Name]:
    """The names that have a value already."""
    return frozenset(one for one in known if one[0])


def term_in(text: str, at: datetime) -> Found | None:
    """When a sentence that was said at a moment says that it holds, if it does."""
    if len(text) > _LONGEST or "?" in text:
        return None
    try:
        return _Sentence(text, at).found()
    except OverflowError:  # past the end of the calendar
        return None


class _Sentence:
    """Looks for the bounds that one sentence sets."""

    def __init__(self, text: str, at: datetime) -> None:
        self._text = _BETWEEN.sub(_from_to, text)
        self._at = at
        self._values = {one.start: one for one in find(self._text, at) if one.kind in _KINDS}

    def found(self) -> Found | None:
        bounds = [*self._phrases(), *filter(None, map(self._bound, self._values.values()))]
        if bounds:
            return _together(bounds)
        looked = (self._by_itself(value) for value in self._values.values())
        return next(filter(None, looked), None)

    # words that bound whatever is said

    def _phrases(self) -> Iterator[Found]:
        """As in "from now on", "for the rest of the week"."""
        words = _words()
        now, rest = words.now.search(self._text), words.rest.search(self._text)
        if now is not None:
            yield Found(Term(self._at, None), now.span())
        if rest is not None:
            named = "today" if rest[1].lower() == "day" else f"this {rest[1]}"
            days = next((days_of(one.normal) for one in find(named, self._at)), None)
            if days is not None:
                yield Found(Term(self._at, begin(days[1], self._at)), rest.span())

    def _bound(self, value: Value) -> Found | None:
        before = self._text[: value.start]
        return self._ahead(value, before) or self._after(value, before) or self._only(value, before)

    def _ahead(self, value: Value, before: str) -> Found | None:
        """As in "for the next two days", "for the next week"."""
        lead = _words().ahead.search(before)
        if lead is None or _words().coming.search(self._text, lead.start(), value.end) is None:
            return None
        days = days_of(value.normal) if value.kind is ValueKind.DATE else None
        until = self._at + (days[1] - days[0]) if days else _later(self._at, value)
        span = (lead.start(), value.end)
        return Found(Term(self._at, until), span) if until is not None else None

    def _after(self, value: Value, before: str) -> Found | None:
        """As in "valid until Friday", "starting Monday", "from 1 May to 15 June"."""
        words = _words()
        ending, starting = words.until.search(before), words.since.search(before)
        lead, moment = ending or starting, self._moment(value)
        if lead is None or moment is None:
            return None
        onwards = words.onwards.match(self._text, moment.end)
        end = onwards.end() if onwards is not None and not ending else moment.end
        if end == moment.end and not self._counts(lead, moment):
            return None
        if not ending:
            until = moment.ends if RANGE in value.normal else None
            return Found(Term(moment.begins, until), (lead.start(), end))
        if words.put_off.search(" ".join(before[: lead.start()].split()[-_NEAR:])) is not None:
            return None
        excludes = moment.begins > self._at and words.excludes.search(lead.group()) is not None
        until = moment.begins if excludes and not moment.is_day else moment.ends
        return Found(Term(None, until), (lead.start(), end))

    def _counts(self, lead: re.Match[str], moment: _Moment) -> bool:
        """Whether "until" or "from" bounds the statement as a whole."""
        if _words().sure.search(lead.group()) is not None:
            return True
        before = self._text[: lead.start()]
        opens = _OPENS.search(before[-_LOOK_BACK:]) is not None
        closes = any(one.match(self._text, moment.end) for one in (_ENDS, _GOES_ON))
        if moment.is_clock or not (opens or closes):
            return False
        led = re.findall(r"\w+", before[-2 * _LOOK_BACK :].lower())
        return _words().changes.isdisjoint(led) or _lasts(before)

    def _only(self, value: Value, before: str) -> Found | None:
        """As in "this week only", "just for today". "Only Tuesday" is every one, "just for Tuesday"
        the next."""
        words = _words()
        days = days_of(value.normal) if value.kind is ValueKind.DATE else None
        if days is None:
            return None
        lead = words.bare.search(before)
        start, told = (lead.start(), lead.group()) if lead is not None else (value.start, "")
        behind = re.match(r"\s*(\w+)", self._text[value.end :])
        is_behind = behind is not None and words.only.fullmatch(behind[1]) is not None
        is_one = value.text.lower() not in words.weekdays or "for" in told.lower().split()
        if not is_behind and not (is_one and words.only.search(told) is not None):
            return None
        end = value.end + behind.end() if is_behind and behind is not None else value.end
        return Found(Term(begin(days[0], self._at), begin(days[1], self._at)), (start, end))

    # days and lengths of time by themselves

    def _by_itself(self, value: Value) -> Found | None:
        if value.kind is ValueKind.DURATION:
            return self._for_a_while(value)
        days = days_of(value.normal) if value.kind is ValueKind.DATE else None
        if days is None:
            return None
        return self._on_days(value, begin(days[0], self._at), begin(days[1], self._at))

    def _for_a_while(self, value: Value) -> Found | None:
        """As in "for 3 days", of how things are from now on."""
        words, text = _words(), self._text
        lead = words.duration.search(text[: value.start])
        until = _later(self._at, value)
        if lead is None or until is None or until - self._at < timedelta(hours=12):
            return None
        if words.past.search(text) is not None:
            return None
        if _OPENS.match(text[: lead.start()]) is not None:
            is_so = words.present.search(text, value.end) is not None
        else:
            is_so = _ENDS.match(text, value.end) is not None and _lasts(text[: lead.start()])
        return Found(Term(self._at, until), (lead.start(), value.end)) if is_so else None

    def _on_days(self, value: Value, first: datetime, last: datetime) -> Found | None:
        """As in "this week", "on Saturday", "while she is away from 10 to 14 February"."""
        words, text, before = _words(), self._text, self._text[: value.start]
        if RANGE in value.normal and words.subordinate.match(text) is not None:
            return Found(Term(first, last), (0, value.end))
        if any(one.search(before) for one in (_BY, words.until)):
            return None
        lead = words.bare.search(before)
        start = lead.start() if lead is not None else value.start
        opens, closes = _OPENS.match(before[:start]), _ENDS.match(text, value.end)
        if last <= self._at or words.past.search(text) or not (opens or closes):
            return None
        if _is_passing(value) and self._tells_of_a_state(start, value.end):
            return Found(Term(None, last), (start, value.end))
        if _COPULA.search(text[:start]) is not None:
            return None  # it is itself what is said: "the fair is on Saturday"
        if words.turning.search(text) is not None:
            return Found(Term(first, None), (start, value.end))  # and it stays so
        return Found(Term(first, last), (start, value.end), is_bare=True)

    def _tells_of_a_state(self, start: int, end: int) -> bool:
        """Whether a sentence that ends with a time tells how somebody is then, or one that opens
        with it who has which duty then."""
        if _ENDS.match(self._text, end) is not None and _is_state(self._text[:start]):
            return True
        duty = _words().duty.search(self._text, end) if _OPENS.match(self._text[:start]) else None
        return duty is not None and len(self._text[end : duty.start()].split()) <= _WHO

    # what a value names

    def _moment(self, value: Value) -> _Moment | None:
        if value.kind is ValueKind.TIME:
            return self._clock(value, self._beside(value, ValueKind.DATE))
        days = days_of(value.normal) if value.kind is ValueKind.DATE else None
        if days is None:
            return None
        is_day = (days[1] - days[0]).days == 1
        clock = self._beside(value, ValueKind.TIME) if is_day else None
        at_time = self._clock(clock, value) if clock is not None else None
        whole = (begin(days[0], self._at), begin(days[1], self._at))
        return at_time or _Moment(*whole, value.end, is_day)

    def _beside(self, value: Value, kind: ValueKind) -> Value | None:
        """A value of a kind that follows another with at most "at" or "on" between them."""
        found = _BESIDE.match(self._text, value.end)
        near = self._values.get(found.end()) if found is not None else None
        return near if near is not None and near.kind is kind else None

    def _clock(self, clock: Value, day: Value | None) -> _Moment | None:
        """A time of day, on a day that stands beside it or on that of the statement."""
        found = re.match(r"(\d\d):(\d\d)$", clock.normal.split(" ")[0])
        if found is None or EITHER in clock.normal:
            return None
        days = days_of(day.normal) if day else None
        base = begin(days[0] if days else self._at.date(), self._at)
        moment = base + timedelta(hours=int(found[1]), minutes=int(found[2]))
        end = max(clock.end, day.end if day else 0)
        return _Moment(moment, moment, end, True, is_clock=day is None)


def _from_to(found: re.Match[str]) -> str:
    """ "Between 3 and 7 May" as "from 3 to 7 May", as long as it was; what lies between two days is
    said of it: "the fair is between 3 and 7 May"."""
    is_dated = any(map(str.isdigit, found.string[found.start() :]))  # else it is so every year
    if not is_dated or _COPULA.search(found.string[: found.start()]) is not None:
        return found.group()
    return f"from    {found[1]}  to "


def _together(bounds: Collection[Found]) -> Found:
    """One term of all that bounds a statement: "effective Monday, valid until Friday"."""
    begins = next((one.term.begins for one in bounds if one.term.begins is not None), None)
    ends = next((one.term.ends for one in bounds if one.term.ends is not None), None)
    span = (min(one.span[0] for one in bounds), max(one.span[1] for one in bounds))
    return Found(Term(begins, ends), span)


def _is_passing(value: Value) -> bool:
    """Whether days are these and no others: "this week", "3 to 7 May", but not "Monday"."""
    is_range = RANGE in value.normal and any(letter.isdigit() for letter in value.text)
    return is_range or _words().passing.match(value.text) is not None


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


def _later(at: datetime, value: Value) -> datetime | None:
    """A moment some length of time later; None for a length that is not certain."""
    found = _DURATION.match(value.normal) if value.kind is ValueKind.DURATION else None
    if found is None:
        return None
    length = {name: int(number or 0) for name, number in found.groupdict().items()}
    months = length.pop("years") * 12 + length.pop("months")
    try:
        day = months_on(at.date(), months) if months else at.date()
        return datetime.combine(day, at.timetz()) + timedelta(**length)
    except (ValueError, OverflowError):
        return None
