"""The values of a text in the form in which the guard compares them, wherever they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from incumbent.language.lexicon import DEFAULT_LANGUAGE
from incumbent.language.values.finding import measures
from incumbent.language.values.kinds import Value, ValueKind
from incumbent.language.values.vocabulary import alternatives, vocabulary
from incumbent.model.forms import Form, forms_of, in_words
from incumbent.model.invisible import readings
from incumbent.model.text_cache import remembered
from incumbent.model.words import letters

_MOST_READ = 20_000
"""Characters of a text; the rest is compared word by word alone, as all of it is."""
_MOST_VALUES = 1_000
"""Of a text; what has more of them is a table of figures, of which the first are read."""
_PIECE = 2_000
_OVERLAP = 80
"""A value that begins in one piece ends within so many characters of the next."""
# Thousands set apart by a gap or an apostrophe, or in the way in which the comma is the point.
_GROUPED = re.compile(
    r"(?<![\w.,+])[0-9]{1,3}(?:(?:[ \u00a0\u2009\u202f'’][0-9]{3})+"
    r"|(?:\.[0-9]{3})+(?:,[0-9]{1,2})?)(?![\w,])"
)
_AS_POINTS = str.maketrans(" \u00a0\u2009\u202f'’.,", ",,,,,,,.")
_BEFORE = re.compile(r"([^\W\d_]+)\.?[\s#]{0,3}$")
_LETTERS = re.compile(r"[a-z]+")
_LOOK_BACK = 24
_FIGURE = re.compile(r"[0-9½¼¾]")


@remembered
def forms(text: str) -> tuple[Form, ...]:
    """The days, times and amounts of a text, each in the one form of whoever says the same.

    Characters that show nothing are read as nothing, and as a gap; figures in groups as one number,
    and as several.
    """
    found: dict[Form, None] = {}
    for way in readings(text[:_MOST_READ]):
        for begin, piece in _pieces(way.text):
            for form in _read(piece):
                start, end = way.span(begin + form.start, begin + form.end)
                if (start, end) != (form.start, form.end):
                    form = form._replace(start=start, end=end)
                found[form] = None
            if len(found) > _MOST_VALUES:
                break
    return tuple(map(in_words, sorted(found, key=lambda form: (form.start, -form.end))))


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    for begin in range(0, max(len(text), 1), _PIECE):
        first = max(0, begin - _OVERLAP)
        piece = text[first : begin + _PIECE]
        if _may_say(piece):
            yield first, piece


def _may_say(text: str) -> bool:
    """Whether a text has a figure, or a word without which none of these values is put in words."""
    if _FIGURE.search(text):
        return True
    begun, in_any_case, in_lower_case = _words_of_values(DEFAULT_LANGUAGE)
    if text.isascii():  # comparing in either case takes twice as long
        return (
            not begun.isdisjoint(letters(text)) and in_lower_case.search(text.lower()) is not None
        )
    return in_any_case.search(text) is not None


@lru_cache(maxsize=8)
def _words_of_values(
    language: str,
) -> tuple[frozenset[str], re.Pattern[str], re.Pattern[str]]:
    """The letters with which these words begin, and patterns of them in any and in lower case."""
    words = vocabulary(language)
    one = words.told["numbers"]["one"]  # too common, and seldom a value by itself
    said = {*words.number_words, *words.classes["month"], *words.classes["day_time"]} - {one}
    lower = alternatives({word.lower() for word in said})
    in_any_case = re.compile(rf"\b(?:{alternatives(said)})\b", re.IGNORECASE)
    begun = frozenset(found.group() for word in said if (found := _LETTERS.match(word.lower())))
    return begun, in_any_case, re.compile(rf"\b(?:{lower})\b")


def _read(text: str) -> Iterator[Form]:
    grouped = _GROUPED.sub(lambda found: found.group().translate(_AS_POINTS), text)
    for way in dict.fromkeys((text, grouped)):
        for value in measures(way):
            if not _is_name(value, text):
                yield from _forms(value)


def _forms(value: Value) -> Iterator[Form]:
    found = forms_of(value.kind.value, value.normal, value.start, value.end)
    if value.kind is ValueKind.TIME and value.text.isalnum() and not _says_when(value.text):
        yield from (form._replace(doubtful=True) for form in found)
    else:
        yield from found


def _says_when(text: str) -> bool:
    """Whether an hour without a sign is one all the same: "5pm", "noon"."""
    words = vocabulary()
    return text.lower() in words.classes["day_time"] or bool(re.match(r"[0-9]+[a-z]", text.lower()))


def _is_name(value: Value, text: str) -> bool:
    """Whether a number names something instead of counting it: room 1200, page 12."""
    if value.kind is not ValueKind.NUMBER:
        return False
    before = _BEFORE.search(text[max(0, value.start - _LOOK_BACK) : value.start])
    return before is not None and before[1].lower() in _namers(DEFAULT_LANGUAGE)


@lru_cache(maxsize=8)
def _namers(language: str) -> frozenset[str]:
    """Words after which a number is part of a name."""
    told = vocabulary(language).told
    listed = (told["numbered"]["words"], told["names"]["designators"], told["address"]["within"])
    return frozenset(word for words in listed for word in words.split())
