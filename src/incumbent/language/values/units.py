"""The names of currencies, units and rates, as the data file lists them."""

from __future__ import annotations

from decimal import Decimal

from incumbent.language.values.vocabulary import Unit, Vocabulary, split


def currencies_of(words: Vocabulary) -> tuple[dict[str, tuple[str, Decimal]], set[str]]:
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


def units_of(words: Vocabulary) -> dict[str, Unit]:
    units = dict(words.units)
    for symbol, told in words.told["units"].items():
        for word in split(told["words"]):
            units.setdefault(word, words.units[symbol])
            units.setdefault(word.lower(), words.units[symbol])
    return units


def rates_of(words: Vocabulary) -> dict[str, str]:
    """Each word for what something is counted by, with one word for all of them."""
    told = words.told["rates"]
    return {
        word: name
        for name, listed in told.items()
        if name not in ("per", "articles", "adverbs")
        for word in listed.split()
    }
