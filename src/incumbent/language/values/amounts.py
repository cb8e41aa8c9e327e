"""Amounts: money, percentages, quantities, lengths of time and plain numbers, and ranges of them.

A number is read where it stands; what comes before it (a currency) and after it (a unit, a rate, a
noun) says what it is a number of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from incumbent.language.lexicon import DEFAULT_LANGUAGE
from incumbent.language.values.almanac import RANGE
from incumbent.language.values.kinds import Value, ValueKind
from incumbent.language.values.numbers import Numbers, numbers, plain
from incumbent.language.values.sentence import Sentence, Word
from incumbent.language.values.vocabulary import (
    FIGURE,
    Unit,
    Vocabulary,
    alternatives,
    split,
    vocabulary,
)

# Members of an enum, looked up once: every figure asks for them.
_MONEY, _PERCENT, _QUANTITY = ValueKind.MONEY, ValueKind.PERCENT, ValueKind.QUANTITY
_DURATION, _NUMBER = ValueKind.DURATION, ValueKind.NUMBER
_DAY = 86_400
_END = r"(?![^\W_])"
_DECADE = re.compile(r"(?:1[5-9]|20)[0-9]0['’]?s(?!\w)")
_FURTHER = re.compile(r"[.,:/][0-9]|_")
_DASH = r"\s{0,2}[-–—]\s{0,2}"


class Measure(NamedTuple):
    """What a number is a number of."""

    kind: ValueKind
    unit: str
    """A currency, "%", the symbol of a unit, or the base of a length of time."""
    size: Decimal
    end: int
    rate: str = ""


class Amounts:
    """Reads the amounts of a language."""

    def __init__(self, words: Vocabulary, reader: Numbers) -> None:
        self._words = words
        self._numbers = reader
        self._currencies, prefixes = _currencies_of(words)
        self._prefix = re.compile(
            rf"(?:{alternatives(prefixes)})\s{{0,2}}(?=[0-9.])", re.IGNORECASE
        )
        self._units = _units_of(words)
        self._rates = _rates_of(words)
        self._suffix = re.compile(self._suffix_pattern(), re.IGNORECASE)
        self._rate = re.compile(self._rate_pattern(), re.IGNORECASE)
        said = words.classes["to"]
        self._to = re.compile(rf"{_DASH}|\s+(?P<to>{alternatives(said)})\s+", re.IGNORECASE)
        told = words.told["numbers"]
        self._one, self._half, self._and = told["one"], told["half"], told["and"]
        self._between: str = told["between"]
        self._between_and = re.compile(rf"\s+{self._and}\s+", re.IGNORECASE)
        self._more_span = re.compile(rf"(?:\s*,)?\s*(?:{self._and}\s+)?(?=[\w½¼¾])", re.IGNORECASE)
        article = alternatives(words.articles)
        self._and_a_half = re.compile(rf"\s+{self._and}\s+(?:{article})\s+{self._half}{_END}", re.I)
        self._some = re.compile(rf"(?:{self._half}\s+(?:{article})|{article})\s+(?=\w)", re.I)
        # The signs of currencies are words of their own, whatever letters stand before them.
        signs = {prefix.lower().rstrip("$") or prefix for prefix in prefixes}
        self.first_words = {FIGURE, *reader.first_words, *prefixes, *signs, *"½¼¾"}

    def _suffix_pattern(self) -> str:
        told = self._words.told
        percent = [*told["percent"]["words"].split(), *told["percent"]["phrases"]]
        symbols = [symbol for symbol in told["units"] if symbol not in self._words.classes["span"]]
        words = [word for word in self._units if word not in symbols]
        money = [name for name in self._currencies if name.isalpha()]
        return (
            rf"(?P<percent>\s{{0,2}}(?:%|(?:{alternatives(percent)}){_END}))"
            rf"|[\s-]{{0,2}}(?P<money>(?:{alternatives(money)}){_END}|[€£¥₹])"
            rf"|[\s-]{{0,2}}(?P<span>{alternatives(self._words.classes['span'])}){_END}"
            rf"|[\s-]{{0,2}}(?P<unit>(?-i:{alternatives(symbols)})|{alternatives(words)}){_END}"
        )

    def _rate_pattern(self) -> str:
        told = self._words.told["rates"]
        per, articles, adverbs = told["per"], told["articles"].split(), told["adverbs"].split()
        known = alternatives(self._rates)
        return (
            rf"\s{{0,2}}(?:/\s{{0,2}}|{per}\s+)(?P<of>{known}|[^\W\d_]{{2,20}}){_END}"
            rf"|\s+(?:{alternatives(articles)})\s+(?P<a>{known}){_END}"
            rf"|\s+(?P<adverb>{alternatives(adverbs)}){_END}"
        )

    # one amount

    def at(self, sentence: Sentence, word: Word) -> Iterator[Value]:
        """The amounts that begin with a word: a range, and its first end by itself."""
        text, start = sentence.text, word.start
        if start and (text[start - 1].isalnum() or text[start - 1] == "_"):
            return
        if word.low in self._words.articles or word.low == self._half:
            yield from self._indefinite_span(sentence, word)
        prefix = None if word.low == FIGURE else self._prefix.match(text, start)
        spaced = not start or text[start - 1] == " "
        if prefix is None and not spaced and self._prefix.match(text, start - 1):
            return  # what follows "$" begins before it
        currency = self._currencies[prefix.group().strip().lower()][0] if prefix else None
        number = self._numbers.at(text, prefix.end() if prefix else start, money=bool(prefix))
        if number is None or _continues(text, number.end) or _DECADE.match(text, start):
            return
        low = self._measured(sentence, start, number.amount, number.end, currency)
        if low.kind is _DURATION and self._is_idle(sentence, word, low):
            return
        negative = self._is_negative(text, start)
        amount = -number.amount if negative else number.amount
        yield from self._range(sentence, start - negative, amount, low, currency)
        if low.kind is _DURATION:
            yield self._span(sentence, word, amount, low)
        elif low.kind is not _NUMBER or self._is_number(sentence, word, low.end):
            yield self._made(sentence, start - negative, low, self._spell(low, amount), amount)

    def _is_negative(self, text: str, start: int) -> bool:
        return text[start - 1 : start] == "-" and text[max(0, start - 2) : start - 1] in ("", " ")

    def _measured(
        self, sentence: Sentence, start: int, amount: Decimal, end: int, currency: str | None
    ) -> Measure:
        """What the words after a number make of it."""
        one = Decimal(1)
        if currency is not None:
            rated, rate = self._rated(sentence.text, end)
            return Measure(_MONEY, currency, one, rated, rate)
        found = self._suffix.match(sentence.text, end)
        if found is None:
            return Measure(_NUMBER, "", one, end)
        if found["span"]:
            return self._length(found)
        rated, rate = self._rated(sentence.text, found.end())
        if found["percent"]:
            return Measure(_PERCENT, "%", one, rated, rate)
        if found["money"] and not self._is_weight(sentence, start, found):
            code, size_of_part = self._currencies[found["money"].lower()]
            return Measure(_MONEY, code, size_of_part, rated, rate)
        said = found["unit"] or found["money"]
        unit = self._unit(said)
        return Measure(_QUANTITY, unit.symbol if unit else "lb", one, rated, rate)

    def _length(self, found: re.Match[str]) -> Measure:
        """A length of time, by the word for it."""
        size, base = str(self._words.meaning("span", found["span"])).split()
        return Measure(_DURATION, base, Decimal(size), found.end())

    def _unit(self, said: str) -> Unit | None:
        return self._units.get(said) or self._units.get(" ".join(said.lower().split()))

    def _is_weight(self, sentence: Sentence, start: int, found: re.Match[str]) -> bool:
        """Whether pounds are a weight: pounds of something, or where somebody weighs."""
        if found["money"].lower() not in self._words.words("pounds"):
            return False
        of = sentence.word_after(found.end()) in self._words.words("of")
        return of or sentence.has_before("weighing", start)

    def _rated(self, text: str, end: int) -> tuple[int, str]:
        found = self._rate.match(text, end)
        if found is None:
            return end, ""
        said = (found["of"] or found["a"] or found["adverb"]).lower()
        return found.end(), self._rates.get(said, said)

    # ranges

    def _upper(
        self, sentence: Sentence, start: int, low: Measure, currency: str | None, *, between: bool
    ) -> tuple[Decimal, Measure] | None:
        """The other end of a range."""
        text = sentence.text
        joined = (self._between_and if between else self._to).match(text, low.end)
        if joined is None:
            return None
        if not between and joined["to"] and self._is_change(sentence, start):
            return None
        prefix = self._prefix.match(text, joined.end())
        code = self._currencies[prefix.group().strip().lower()][0] if prefix else currency
        digits = prefix.end() if prefix else joined.end()
        number = self._numbers.at(text, digits, money=code is not None)
        if number is None or _continues(text, number.end):
            return None
        high = self._measured(sentence, digits, number.amount, number.end, code)
        fits = low.kind in (high.kind, _NUMBER) and low.unit in (high.unit, "")
        return (number.amount, high) if fits else None

    def _is_change(self, sentence: Sentence, start: int) -> bool:
        """Whether "to" tells what became of an amount, and not how far it goes."""
        if sentence.word_before(start) in self._words.words("from"):
            return not sentence.has_before("ranging", start)
        return sentence.has_before("changes", start)

    def _range(
        self, sentence: Sentence, start: int, amount: Decimal, low: Measure, currency: str | None
    ) -> Iterator[Value]:
        if low.end == len(sentence.text):
            return
        between = sentence.word_before(start) == self._between
        high = self._upper(sentence, start, low, currency, between=between)
        if high is None:
            return
        last, measure = high
        if between:
            start = sentence.text.lower().rfind(self._between, 0, start)
        normal = f"{self._spell(measure, amount)}{RANGE}{self._spell(measure, last)}"
        yield self._made(sentence, start, measure, normal, last)

    # lengths of time

    def _indefinite_span(self, sentence: Sentence, word: Word) -> Iterator[Value]:
        """As in "half an hour", "an hour and a half", "for a week"; not "what a day"."""
        some = self._some.match(sentence.text, word.start)
        found = self._suffix.match(sentence.text, some.end()) if some else None
        if found is None or not found["span"]:
            return
        half = self._and_a_half.match(sentence.text, found.end())
        if word.low != self._half and not half:
            if found["span"].lower() in self._words.words("idle_spans"):
                return
            led = sentence.word_before(word.start) in self._words.words("span_leads")
            if not led and sentence.word_after(found.end()) not in self._words.words("span_tails"):
                return
        amount = Decimal("0.5") if word.low == self._half else Decimal(1)
        yield self._span(sentence, word, amount, self._length(found))

    def _span(self, sentence: Sentence, word: Word, amount: Decimal, low: Measure) -> Value:
        """A length of time, with all the parts it has: an hour and 30 minutes."""
        text = sentence.text
        totals = {low.unit: amount * low.size}
        end = low.end
        half = self._and_a_half.match(text, end)
        if half:
            totals[low.unit] += low.size / 2
            end = half.end()
        else:
            for part, part_amount in self._smaller_spans(text, low):
                totals[part.unit] = totals.get(part.unit, Decimal(0)) + part_amount * part.size
                end = part.end
        return Value(_DURATION, text[word.start : end], word.start, end, _iso(totals))

    def _smaller_spans(self, text: str, part: Measure) -> Iterator[tuple[Measure, Decimal]]:
        """The parts that follow a part of a length of time, each of a smaller unit."""
        while True:
            more = self._more_span.match(text, part.end)
            number = self._numbers.at(text, more.end()) if more else None
            found = self._suffix.match(text, number.end) if number else None
            if not (found and number and found["span"]):
                return
            smaller = self._length(found)
            if not _is_smaller(smaller, part):
                return
            part = smaller
            yield part, number.amount

    def _is_idle(self, sentence: Sentence, word: Word, low: Measure) -> bool:
        """Whether this is "one day" or "one second", which are hardly ever measured."""
        if word.low != self._one:
            return False
        counted = sentence.text[word.end : low.end].strip(" -").lower()
        led = sentence.word_before(word.start) in self._words.words("span_leads")
        return not led and counted in self._words.words("idle_spans") | self._words.words("one_day")

    # spelling

    def _spell(self, measure: Measure, amount: Decimal) -> str:
        rate = f"/{measure.rate}" if measure.rate else ""
        total = plain(amount * measure.size)
        if measure.kind is _DURATION:
            return _iso({measure.unit: amount * measure.size})
        if measure.kind is _PERCENT:
            return f"{total}%{rate}"
        if measure.kind is _MONEY:
            return f"{measure.unit} {total}".strip() + rate
        return f"{total} {measure.unit}{rate}" if measure.unit else total

    def _made(
        self, sentence: Sentence, start: int, measure: Measure, normal: str, amount: Decimal
    ) -> Value:
        end = measure.end
        unit = ""
        if measure.kind is _NUMBER:
            unit = sentence.counted(end, amount == 1)
        return Value(measure.kind, sentence.text[start:end], start, end, normal, unit)

    def _is_number(self, sentence: Sentence, word: Word, end: int) -> bool:
        """Whether this is a number and not "one of them", "the cheap one" or "one-way"."""
        if sentence.text[end : end + 1].isalpha():
            return False  # 2x
        if word.low in self._words.articles:
            return True
        if sentence.text[word.start : end].lower() != self._one:
            return True
        if sentence.text[end : end + 1] == "-":
            return False
        before, after = sentence.word_before(word.start), sentence.word_after(end)
        if not after:
            return before in self._words.words("before_last_one")
        if after in self._words.words("measures"):
            return True
        led = not before or before in self._words.words("before_one")
        return led and sentence.is_followed_by_noun(end)


def _continues(text: str, end: int) -> bool:
    """Whether what was read as a number goes on as something else: 3.5.1, 5:30."""
    return _FURTHER.match(text, end) is not None


def _is_smaller(part: Measure, than: Measure) -> bool:
    """Whether a unit of time is smaller than another, as it must be in "2 hours 30 minutes"."""
    if "b" in (part.unit, than.unit):
        return False
    return (part.unit == "m", part.size) < (than.unit == "m", than.size)


def _iso(totals: dict[str, Decimal]) -> str:
    """A length of time as ISO 8601 has it, always the same for the same length."""
    spelt = "P"
    months = totals.get("m", Decimal(0))
    if months and months % 12 == 0:
        spelt += f"{plain(months / 12)}Y"
    elif months:
        spelt += f"{plain(months)}M"
    if totals.get("b"):
        spelt += f"{plain(totals['b'])}B"
    days, rest = divmod(totals.get("s", Decimal(0)), _DAY)
    if days:
        spelt += f"{plain(days)}D"
    hours, rest = divmod(rest, 3600)
    minutes, seconds = divmod(rest, 60)
    clock = [(hours, "H"), (minutes, "M"), (seconds, "S")]
    said = "".join(f"{plain(amount)}{letter}" for amount, letter in clock if amount)
    spelt += f"T{said}" if said else ""
    return spelt if spelt != "P" else "PT0S"


def _currencies_of(words: Vocabulary) -> tuple[dict[str, tuple[str, Decimal]], set[str]]:
    """Each name of a currency with its code and how much of it the name means, and the names that
    stand before an amount."""
    names: dict[str, tuple[str, Decimal]] = {}
    prefixes: set[str] = set()
    for code, listed in words.told["currencies"].items():
        for name in listed:
            names[name.lower()] = (code, Decimal(1))
            if not name.isalpha() or name.upper() == code:
                prefixes.add(name)
    for name, meaning in words.told["currency_parts"].items():
        code, size = meaning.split(" ")
        names[name] = (code, Decimal(size))
    return names, prefixes


def _units_of(words: Vocabulary) -> dict[str, Unit]:
    units = dict(words.units)
    for symbol, told in words.told["units"].items():
        for word in split(told["words"]):
            units.setdefault(word, words.units[symbol])
            units.setdefault(word.lower(), words.units[symbol])
    return units


def _rates_of(words: Vocabulary) -> dict[str, str]:
    """Each word for what something is counted by, with one word for all of them."""
    told = words.told["rates"]
    return {
        word: name
        for name, listed in told.items()
        if name not in ("per", "articles", "adverbs")
        for word in listed.split()
    }


@lru_cache(maxsize=8)
def amounts(language: str = DEFAULT_LANGUAGE) -> Amounts:
    return Amounts(vocabulary(language), numbers(language))
