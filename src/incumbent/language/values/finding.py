"""Finding the values of a text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from incumbent.language.lexicon import DEFAULT_LANGUAGE
from incumbent.language.values import dates, literals, relative, times
from incumbent.language.values.almanac import RANGE, begin, days_of
from incumbent.language.values.amounts import amounts
from incumbent.language.values.kinds import Value, ValueKind
from incumbent.language.values.names import addresses, names
from incumbent.language.values.numbers import numbers
from incumbent.language.values.sentence import Sentence, Word
from incumbent.language.values.vocabulary import (
    FIGURE,
    Vocabulary,
    alternatives,
    first_word,
    vocabulary,
)

_LONGEST_TEXT = 8_000
"""Values are looked for in sentences; of a text longer than this only the beginning is read."""

_RANK = {kind: rank for rank, kind in enumerate(ValueKind)}
_DATE = ValueKind.DATE  # looked up once: every value is asked for it

_LONE_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")

Reader = Callable[[re.Match[str], Sentence], str | None]


# What the data file can name as the reader of a form: the functions of these modules.
_READERS: dict[ValueKind, dict[str, Reader]] = {
    ValueKind.DATE: {**vars(dates), **vars(relative)},
    ValueKind.TIME: vars(times),
}


class Form(NamedTuple):
    """One way to write a date or a time."""

    kind: ValueKind
    pattern: re.Pattern[str]
    read: Reader

    def at(self, sentence: Sentence, start: int) -> Value | None:
        """The value that this form has at a position."""
        found = self.pattern.match(sentence.text, start)
        if found is None:
            return None
        try:
            normal = self.read(found, sentence)
        except (ValueError, OverflowError):  # no such day, or past the end of the calendar
            return None
        if normal is None:
            return None
        begin, end = found.span("said" if "said" in self.pattern.groupindex else 0)
        kind = self.kind
        if kind is _DATE and "T" in normal:
            kind = ValueKind.TIME
        return Value(kind, sentence.text[begin:end], begin, end, normal)


def _parts(words: Vocabulary) -> dict[str, str]:
    """What the placeholders of forms stand for that are no classes of words."""
    ordinals = alternatives(words.classes["ordinal"]).replace(r"\-", r"[\s-]")
    endings = alternatives(words.told["ordinal_endings"].split())
    figures = r"(?:[12][0-9]|3[01]|0?[1-9])"
    count = numbers(words.language).pattern
    told = words.told["numbers"]
    hours, minutes = alternatives(told["hours"].split()), alternatives(told["minutes"].split())
    article = alternatives(words.articles)
    half = alternatives(words.classes["half"])
    return {
        "day": rf"{figures}(?:\s?(?:{endings}))?(?![^\W_])(?!:[0-9]|[.,][0-9]{{1,3}}(?![0-9])|%)"
        rf"|(?:{ordinals})(?![^\W_])",
        "day_th": rf"{figures}\s?(?:{endings})(?![^\W_])",
        "ordinal": rf"(?:{ordinals})(?![^\W_])",
        "year": r"(?:19|20)[0-9]{2}(?![0-9])",
        "digit": r"[1-4]",
        "dash": r"[-–—]",
        "clock": r"(?:[01]?[0-9]|2[0-4]):[0-5][0-9](?::[0-5][0-9])?(?![0-9:])",
        "hour": rf"(?:[01]?[0-9]|2[0-4])(?![0-9])|(?:{hours})(?![^\W_])",
        "hour_of_two": r"[01][0-9]|2[0-3]",
        "minute": r"[0-5][0-9](?![0-9])",
        "minutes": rf"(?:5|10|20|25)(?![0-9])|(?:{minutes})(?![^\W_])",
        "count": rf"(?:(?:{half})\s+)?(?:{article})(?![^\W_])|{count}",
    }


class Forms:
    """The forms of dates and times, by the word they start with."""

    def __init__(self, words: Vocabulary) -> None:
        parts = _parts(words)
        starts = {
            "number": words.number_words,
            "count": [*words.number_words, *words.articles, *words.classes["half"]],
            "day_th": [FIGURE],
        }
        listed: dict[str, list[Form]] = defaultdict(list)
        numeral = {FIGURE, *words.number_words, *words.articles}
        known = numeral.union(words.told["ordinal_endings"].split())
        for kind, readers in _READERS.items():
            for told in words.told["forms"][kind.value]:
                pattern = words.pattern(told["form"], parts)
                form = Form(kind, pattern, readers[told["read"]])
                known.update(re.findall(r"[a-z]+", told["form"]))
                for first in words.first_words(told["starts"], starts):
                    listed[first].append(form)
        for listing in words.classes.values():
            known.update(map(first_word, listing))
        self._listed = dict(listed)
        self._known = known
        self._leads = (words.function_words | numeral) - words.words("month")

    def starting(self, sentence: Sentence, index: int) -> Sequence[Form]:
        """The forms that can start with a word.

        A word like "the" or "in" or a plain number starts a form only if a word of some form
        follows, which spares most attempts.
        """
        word = sentence.words[index]
        low = word.low.removesuffix("'s") if "'" in word.low else word.low  # Monday's meeting
        forms = self._listed.get(low, ())
        if forms and low in self._leads and word.text.isalnum():
            following = sentence.words[index + 1 : index + 2]
            if not following or following[0].low not in self._known:
                return ()
        return forms


@lru_cache(maxsize=8)
def _forms(language: str) -> Forms:
    return Forms(vocabulary(language))


def find(text: str, at: datetime | None = None, language: str = DEFAULT_LANGUAGE) -> list[Value]:
    """The values of a sentence in order, none overlapping another; the longest reading wins.

    Relative dates are worked out from `at`, the moment at which the sentence was said; without it
    they stay what they are.
    """
    sentence = Sentence(text[:_LONGEST_TEXT], at, vocabulary(language))
    found = list(literals.find(sentence))
    found.extend(_measured(sentence))
    found.extend(names(language).find(sentence))
    return _joined(sentence, _apart(found))


def measures(text: str, language: str = DEFAULT_LANGUAGE) -> list[Value]:
    """The values of a text that people put in many ways: days, times, amounts, telephone numbers.

    What is quoted is read as well. What is no such value, though it has figures (a link, a house in
    a street), is only there to keep its figures from being read.
    """
    if _LONE_DAY.match(text) and days_of(text) is not None:
        return [Value(_DATE, text, 0, len(text), text)]  # as it comes from forms and databases
    sentence = Sentence(text, None, vocabulary(language))
    found = [*literals.unquoted(sentence), *_measured(sentence)]
    return _joined(sentence, _apart(found))


def _measured(sentence: Sentence) -> Iterator[Value]:
    """Everything that begins with a figure or a word for a number, a day or a time."""
    language = sentence.vocabulary.language
    forms, reader = _forms(language), amounts(language)
    for index, word in enumerate(sentence.words):
        for form in forms.starting(sentence, index):
            value = form.at(sentence, word.start)
            if value is not None:
                yield value
        if word.low == FIGURE:
            yield from _figures(sentence, word)
        if word.low in reader.first_words:
            yield from reader.at(sentence, word)


def _figures(sentence: Sentence, word: Word) -> Iterator[Value]:
    """What begins with figures and has no words: a date in figures, a postal address."""
    date = dates.numeric(sentence, word.start)
    if date is not None and not sentence.text[max(0, word.start - 1) : word.start].isalnum():
        end, normal = date
        yield Value(ValueKind.DATE, sentence.text[word.start : end], word.start, end, normal)
    address = addresses(sentence.vocabulary.language).at(sentence, word)
    if address is not None:
        yield address


def _apart(found: list[Value]) -> list[Value]:
    """The longest of readings that overlap, in order."""
    kept: list[Value] = []
    taken: set[int] = set()
    for value in sorted(found, key=lambda v: (v.start - v.end, _RANK[v.kind], v.start)):
        places = range(value.start, value.end)
        if taken.isdisjoint(places):
            taken.update(places)
            kept.append(value)
    kept.sort(key=lambda v: v.start)
    return kept


def _joined(sentence: Sentence, values: list[Value]) -> list[Value]:
    """Two dates with "to" or a dash between them are one range."""
    joined: list[Value] = []
    for value in values:
        before = joined[-1] if joined else None
        if before is not None and _is_range(sentence, before, value):
            joined[-1] = _range(sentence, before, value)
        else:
            joined.append(value)
    return joined


def _range(sentence: Sentence, first: Value, last: Value) -> Value:
    start = first.start
    if sentence.word_before(start) == sentence.vocabulary.between:
        start = sentence.text.lower().rfind(sentence.vocabulary.between, 0, start)
    ends = last.normal
    days, later = days_of(first.normal), days_of(ends)
    if sentence.at is not None and days and later and later[0] < days[0]:
        # "From 20 December to 5 January": the end is seen from the beginning.
        again = find(last.text, begin(days[0], sentence.at), sentence.vocabulary.language)
        ends = again[0].normal if len(again) == 1 else ends
    said = sentence.text[start : last.end]
    return Value(ValueKind.DATE, said, start, last.end, f"{first.normal}{RANGE}{ends}")


def _is_range(sentence: Sentence, before: Value, value: Value) -> bool:
    if before.kind is not _DATE or value.kind is not _DATE:
        return False
    if RANGE in before.normal or RANGE in value.normal:
        return False
    between = sentence.text[before.end : value.start].strip().lower()
    if between in ("-", "–", "—"):
        return True
    led = sentence.word_before(before.start) == sentence.vocabulary.between
    if led and between == sentence.vocabulary.told["numbers"]["and"]:
        return True
    joins = between.removesuffix(" the") in sentence.vocabulary.words("to")
    return joins and not sentence.has_before("changes", before.start)
