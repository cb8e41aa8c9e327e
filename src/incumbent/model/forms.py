"""Values that can be written in many ways: days, times, amounts. One word stands for all of them.

"March 3rd" and "2026-03-03" share no word, so comparing words does not find the one by the other.
The reader of values in text (`language`) spells them in one way; here that spelling becomes words,
to be looked up like any other. A detail that a text leaves open (a year, a half of the day, a
currency) does not tell two values apart. A detail that both give, and give differently, does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from incumbent.model.fact import Part
from incumbent.model.values import leaves, telling_parts
from incumbent.model.words import LONGEST_VALUE, Words, said

DATE, TIME, AMOUNT = "date", "time", "amount"
_NEVER_OPEN = frozenset({"percent", "quantity", "duration"})
_RANGE = ".."
_EITHER = "|"
_DAY = re.compile(r"(?:([0-9]{4})|XXXX)-([0-9]{2}-[0-9]{2})(?:T([0-9]{2}:[0-9]{2}))?(?: \w+)?")
_IN_SOME_ORDER = re.compile(r"([0-9]{1,2})/([0-9]{1,2})(?:/([0-9]{4}))?")
_CLOCK = re.compile(r"([0-9]{2}):([0-9]{2})(\|[0-9]{2}:[0-9]{2})?(?: \w+)?")
_MONEY = re.compile(r"(?:([A-Z]{3}) )?(-?[0-9.]+)(?:/.*)?")
_TELLING_DIGITS = 7
"""The last digits by which a telephone number is known, whatever is dialled before them."""


class Form(NamedTuple):
    """A value of a text, in a form that is the same however it was written."""

    kind: str
    vague: str
    """The part that every mention of it has: month and day, the hand of the clock, the number."""
    whole: str = ""
    """The same with the year, the half of the day or the currency; empty if that is open."""
    start: int = 0
    end: int = 0
    within: bool = False
    """Whether it is one end of a range, and was not said by itself."""
    doubtful: bool = False
    """Whether it may be something else altogether: the 5 of "at 5"."""
    words: tuple[str, ...] = ()
    """The words that stand for it in its text."""

    @property
    def probe(self) -> str:
        """The word that all ways to write it have in common."""
        return f"{self.kind}:{self.vague}"


Read = Callable[[str], Sequence[Form]]
"""Reads the values of a text."""


def no_forms(text: str) -> Sequence[Form]:
    """Reads nothing: then only words are compared."""
    return ()


# The first character says what a word leaves open. No word of a text begins like this.
_EXACT, _OPEN, _ANY, _EVERY, _DOUBTFUL = "=", "~", "*", "?", "^"


def in_words(form: Form) -> Form:
    """A value with the words that stand for it in a text."""
    return Form(*form[:-1], _said_as(form))


def _said_as(form: Form) -> tuple[str, ...]:
    if form.doubtful:
        return (f"{_DOUBTFUL}{form.probe}",)
    if form.whole:
        return (_exact(form), f"{_ANY}{form.probe}")
    return (f"{_OPEN}{form.probe}",)


def lost_as(form: Form) -> tuple[str, ...]:
    """The words by which a text mentions a value that was lost."""
    if form.kind in _NEVER_OPEN:
        return (_exact(form),)
    doubtful = (f"{_DOUBTFUL}{form.probe}",) if form.kind == TIME else ()
    sure = _exact(form) if form.whole else f"{_ANY}{form.probe}"
    return (sure, f"{_OPEN}{form.probe}", *doubtful)


def held_as(form: Form) -> tuple[str, ...]:
    """The words that are right as long as a fact in office has a value."""
    rest = tuple(f"{sign}{form.probe}" for sign in (_OPEN, _ANY, _DOUBTFUL))
    return (_exact(form) if form.whole else f"{_EVERY}{form.probe}", *rest)


def _exact(form: Form) -> str:
    return f"{_EXACT}{form.probe}|{form.whole}"


def held_by(words: Words) -> tuple[Words, ...]:
    """The words of which a fact in office must hold some for these to be right. A fact without a
    year holds the day of every year."""
    if is_form(words) and words[0][0] == _EXACT:
        return (words, (f"{_EVERY}{common(words)[0]}",))
    return (words,)


def is_form(words: Words) -> bool:
    """Whether this is the word of a form rather than a word of a text."""
    return len(words) == 1 and not words[0][:1].isalnum() and ":" in words[0]


def common(words: Words) -> Words:
    """The word that all ways to write the same value have in common; plain words stay as they
    are."""
    return (words[0][1:].partition("|")[0],) if is_form(words) else words


def is_exact(word: str, form: Form) -> bool:
    """Whether this word leaves open exactly the same details as the value itself."""
    return word[0] == (_EXACT if form.whole else _OPEN)


def is_doubtful(word: str, form: Form) -> bool:
    """Whether this may well be something else: an hour without a sign of a clock, or a plain number
    where the value is money."""
    return word[0] == _DOUBTFUL or (form.kind == AMOUNT and not is_exact(word, form))


# from one spelling to forms


def forms_of(kind: str, normal: str, start: int = 0, end: int = 0) -> Iterator[Form]:
    """The forms of a value by its one spelling; for a range, the range first and then its ends."""
    ends = normal.split(_RANGE)
    if len(ends) == 1:
        yield from (Form(*form[:3], start, end) for form in _single(kind, normal))
        return
    found = [list(_single(kind, one)) for one in ends]
    if all(len(forms) == 1 for forms in found):
        flat = [forms[0] for forms in found]
        whole = _RANGE.join(form.whole for form in flat) if all(f.whole for f in flat) else ""
        vague = _RANGE.join(form.vague for form in flat)
        yield Form(flat[0].kind, vague, whole, start, end)
    for forms in found:
        yield from (Form(*form[:3], start, end, within=True) for form in forms)


def _single(kind: str, normal: str) -> Iterator[Form]:
    if kind == "date":
        yield from _day(normal)
    elif kind == "time":
        yield from _clock(normal)
    elif kind in ("money", "number"):
        found = _MONEY.fullmatch(normal)
        if found is not None:
            yield Form(AMOUNT, found[2], f"{found[1]}{found[2]}" if found[1] else "")
    elif kind == "percent":
        amount = normal.partition("%")[0]
        yield Form(kind, amount, amount)
    elif kind in ("quantity", "duration"):
        spelt = "_".join(normal.split())
        yield Form(kind, spelt, spelt)
    elif kind == "phone":
        digits = "".join(filter(str.isdigit, normal))
        if len(digits) >= _TELLING_DIGITS:
            yield Form(kind, digits[-_TELLING_DIGITS:])


def _day(normal: str) -> Iterator[Form]:
    found = _DAY.fullmatch(normal)
    if found is not None:
        year, day, clock = found.groups()
        yield Form(DATE, day, f"{year}-{day}" if year else "")
        if clock:
            yield from _clock(clock)
        return
    either = _IN_SOME_ORDER.fullmatch(normal)
    if either is not None:
        one, other, year = int(either[1]), int(either[2]), either[3]
        for day in (f"{one:02}-{other:02}", f"{other:02}-{one:02}"):
            yield Form(DATE, day, f"{year}-{day}" if year else "")


def _clock(normal: str) -> Iterator[Form]:
    found = _CLOCK.fullmatch(normal.rpartition("T")[2])
    if found is not None:
        hour, minute, either = found.groups()
        vague = f"{int(hour) % 12:02}:{minute}"
        yield Form(TIME, vague, "" if either else f"{hour}:{minute}")
    if "T" in normal:
        yield from _day(normal.partition("T")[0])


# of values


def value_forms(value: Any, parts: Iterable[Part], read: Read) -> Iterator[Form]:
    """The forms of everything in a value, with those of its parts."""
    for leaf in leaves(value):
        if len(said(leaf)) <= LONGEST_VALUE:  # a sentence only speaks of what it mentions
            for text in (leaf, *telling_parts(leaf)):
                yield from read(text)
    for part in parts:
        yield from part_forms(part, read)


def part_forms(part: Part, read: Read) -> Iterator[Form]:
    """The forms of a part: by its one spelling, which knows on which day "tomorrow" was said, and
    by its text."""
    yield from forms_of(part.kind, part.normal)
    yield from read(part.text)


def held_words(value: Any, parts: Iterable[Part], read: Read) -> set[Words]:
    """The words for the values of a fact in office, in any form."""
    forms = value_forms(value, parts, read)
    return {(word,) for form in forms for word in held_as(form)}
