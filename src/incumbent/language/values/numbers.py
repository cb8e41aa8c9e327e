"""Numbers in figures and in words."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from incumbent.language.lexicon import DEFAULT_LANGUAGE
from incumbent.language.values.vocabulary import Vocabulary, alternatives, vocabulary
from incumbent.model.text_cache import remembering

_SIGNS = {"½": Decimal("0.5"), "¼": Decimal("0.25"), "¾": Decimal("0.75")}
_MOST_FIGURES = 15
_FIGURES = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,15})(?:\.[0-9]{1,9})?(?![0-9])"
_FRACTION = r"[1-9]/(?:2|3|4|5|8|10|16)(?![0-9/])"
_MIXED = rf"[0-9]{{1,4}}(?:\s{_FRACTION}|\s?[½¼¾])|{_FRACTION}|[½¼¾]"
_IN_FIGURES = re.compile(rf"(?:({_MIXED})|({_FIGURES}))\s*(.*)$")
_PLACES = Decimal("0.000001")
_LONG = Decimal(10) ** 20


class Number(NamedTuple):
    """How much, and where the number ends."""

    amount: Decimal
    end: int


def plain(amount: Decimal) -> str:
    """A number without exponent, without zeros that say nothing."""
    if amount == amount.to_integral_value():
        return str(int(amount)) if abs(amount) < _LONG else format(amount, "f")
    return format(amount.quantize(_PLACES).normalize(), "f")


class Numbers:
    """Reads the numbers of a language."""

    def __init__(self, words: Vocabulary) -> None:
        told = words.told["numbers"]
        self._language = words.language
        self._spelt_words = frozenset(words.number_words)
        self._read = remembering(4_096)(self._read_anew)
        self._scales = {word: Decimal(size) for word, size in told["scales"].items()}
        self._groups = {group: Decimal(size) for group, size in told["groups"].items()}
        self._signs = {sign: Decimal(size) for sign, size in told["signs"].items()}
        self._and, self._point = told["and"], told["point"]
        self._half, self._one = told["half"], told["one"]
        self._articles = frozenset(words.articles)
        listed = {*words.number_words, *self._scales}
        self.first_words = {*listed, *self._articles, self._half}
        word = rf"(?:{alternatives(listed)})(?![^\W_])"
        article = alternatives(self._articles)
        scale = rf"(?:{alternatives(self._scales)})(?![^\W_])"
        signs = alternatives({*self._signs, *map(str.upper, self._signs)})
        half = rf"\s+{self._and}\s+(?:{article})\s+{self._half}(?![^\W_])"
        point = rf"(?:\s+{self._point}(?:\s+(?:{word})){{1,6}})?"
        self.words_pattern = (
            rf"(?:{alternatives(self._groups)})(?![^\W_])"
            rf"|(?:(?:{self._half}\s+)?(?:{article})\s+(?={scale}))?{word}(?:[\s-]{{1,2}}(?:{self._and}\s+)?{word}){{0,12}}{point}(?:{half})?(?:\s+{scale})?"
        )
        figures = rf"(?:{_MIXED}|{_FIGURES}(?:{half})?)"
        self.pattern = rf"(?:{figures}(?:\s+{scale})?|{self.words_pattern})"
        self._at = re.compile(
            rf"{figures}(?:\s{{0,2}}(?P<sign>k)(?![^\W_])|(?-i:(?P<capital>M|B|bn|BN))(?![^\W_])"
            rf"|\s+{scale})?",
            re.IGNORECASE,
        )
        self._money_at = re.compile(
            rf"{figures}(?:\s?(?P<sign>(?:{signs}))(?![^\W_])|\s+{scale})?", re.IGNORECASE
        )
        self._words_at = re.compile(self.words_pattern, re.IGNORECASE)

    def at(self, text: str, position: int, *, money: bool = False) -> Number | None:
        """The number that stands at a position."""
        found = (self._money_at if money else self._at).match(text, position)
        if found is None:
            found = self._words_at.match(text, position)
            return self._longest_of_words(found) if found else None
        amount = self.read(found.group())
        return Number(amount, found.end()) if amount is not None else None

    def _longest_of_words(self, found: re.Match[str]) -> Number | None:
        """The longest beginning of a run of number words that is one number."""
        said = found.group()
        while said:
            amount = self.read(said)
            if amount is not None:
                return Number(amount, found.start() + len(said))
            shorter = re.split(r"[\s-]+\w+$", said)[0]
            said = shorter if len(shorter) < len(said) else ""
        return None

    def read(self, said: str) -> Decimal | None:
        """How much a number says; None for words that make none."""
        if said.isascii() and said.isdigit() and len(said) <= _MOST_FIGURES:
            return Decimal(said)
        return self._read(" ".join(said.lower().split()))

    def _read_anew(self, said: str) -> Decimal | None:
        if said in self._groups:
            return self._groups[said]
        whole, half, rest = said.partition(f" {self._and} a {self._half}")
        if half:
            first, scale = self._read(whole), self._scales.get(rest.strip(), Decimal(1))
            return None if first is None else (first + Decimal("0.5")) * scale
        if said[0].isdigit() or said[0] in _SIGNS:
            return self._figures(said)
        return self._in_words(said.replace("-", " ").split())

    def _figures(self, said: str) -> Decimal | None:
        found = _IN_FIGURES.match(said)
        if found is None:
            return None
        mixed, figures, sign = found.groups()
        amount = _fraction(mixed) if mixed else Decimal(figures.replace(",", ""))
        if not sign:
            return amount
        size = self._signs.get(sign) or self._scales.get(sign)
        return None if size is None else amount * size

    def _in_words(self, words: list[str]) -> Decimal | None:
        if words[0] == self._half and len(words) > 2:
            rest = self._in_words([self._one, *words[2:]])
            return None if rest is None else rest / 2
        if words[0] in self._articles:
            words = [self._one, *words[1:]]
        if self._point in words:
            return self._with_point(words)
        if len(words) > 1 and words[-1] in self._scales.keys() - self._spelt_words:
            first = self._in_words(words[:-1])
            return None if first is None else first * self._scales[words[-1]]
        return self._spelt(" ".join(words))

    def _spelt(self, words: str) -> Decimal | None:
        """What number words say, by the package that knows them."""
        from text_to_num import text2num  # loaded at the first number word

        try:
            return Decimal(text2num(words, self._language))
        except ValueError:
            return None

    def _with_point(self, words: list[str]) -> Decimal | None:
        index = words.index(self._point)
        decimals, scale = words[index + 1 :], Decimal(1)
        if decimals and decimals[-1] in self._scales:
            scale = self._scales[decimals.pop()]
        whole = self._spelt(" ".join(words[:index]))
        digits = [self._spelt(word) for word in decimals]
        if whole is None or not digits or any(d is None or d > 9 for d in digits):
            return None
        return Decimal(f"{whole}.{''.join(map(str, digits))}") * scale


def _fraction(mixed: str) -> Decimal:
    total = Decimal(0)
    for part in re.findall(r"[0-9]+/[0-9]+|[0-9]+|[½¼¾]", mixed):
        if "/" in part:
            over, under = part.split("/")
            total += Decimal(over) / Decimal(under)
        else:
            total += _SIGNS.get(part) or Decimal(part)
    return total


@lru_cache(maxsize=8)
def numbers(language: str = DEFAULT_LANGUAGE) -> Numbers:
    return Numbers(vocabulary(language))
