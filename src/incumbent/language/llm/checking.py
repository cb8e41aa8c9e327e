"""Checking: whether a turn says what a model says that it says. By words, and nothing else."""

from __future__ import annotations

import re
from datetime import date, datetime

from incumbent.language.tokens import stem, tokens
from incumbent.language.values.comparing import is_said_by
from incumbent.language.values.finding import find
from incumbent.language.values.kinds import Value, ValueKind

_LONGEST_KEY = 80
_DAY, _MONTH = re.compile(r"\d{4}-\d\d-\d\d"), re.compile(r"\d{4}-\d\d")
Span = tuple[int, int]


def places_of(quote: str, text: str) -> list[Span]:
    """Where a turn has a quote, to the letter but for how it is spaced."""
    words = quote.split()
    if not words:
        return []
    pattern = r"\s+".join(map(re.escape, words))
    # A quote of whole words: "is 4" is not what "is 45" says.
    return [
        found.span()
        for found in re.finditer(pattern, text)
        if not (_cuts(text, found.start()) or _cuts(text, found.end()))
    ]


def _cuts(text: str, at: int) -> bool:
    """Whether a word goes on over the edge of a quote."""
    return 0 < at < len(text) and _is_word(text[at - 1]) and _is_word(text[at])


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def is_supported(value: str, quote: str, at: datetime) -> bool:
    """Whether a quote says a value.

    It does if each word of the value is a word of the quote, in whatever case or inflection. A
    date, time, amount, number, address or name may also be put in another form, as long as both
    come to the same: "2026-01-16" is what "next Friday" says.
    """
    theirs = find(quote, at)
    found = [one for one in find(value, at) if any(is_said_by(one, other) for other in theirs)]
    words = [token for token in tokens(value) if token.is_word]
    said = {stem(token.low) for token in tokens(quote) if token.is_word}
    rest = [token for token in words if not any(_holds(v, token.start, token.end) for v in found)]
    return bool(words) and all(stem(token.low) in said for token in rest)


def days_in(text: str, at: datetime) -> list[date]:
    """The days that a text names as it was said at that time; of a month, the first."""
    named = [one.normal for one in find(text, at) if one.kind is ValueKind.DATE]
    whole = (f"{normal}-01" if _MONTH.fullmatch(normal) else normal for normal in named)
    return [date.fromisoformat(normal) for normal in whole if _DAY.fullmatch(normal)]


def _holds(value: Value, start: int, end: int) -> bool:
    return value.start <= start and end <= value.end


def place_in(value: str, text: str, span: Span) -> Span:
    """Where in a stretch of text a value stands; the whole stretch where that cannot be told."""
    words = [re.escape(token.text) for token in tokens(value) if token.is_word]
    if not words:
        return span
    inner = r"[\W_]+".join(words)
    pattern = rf"(?<!\w){inner}(?!\w)"
    found = re.search(pattern, text[slice(*span)], re.IGNORECASE)
    if found is None:
        return span
    return span[0] + found.start(), span[0] + found.end()


def key_of(attribute: str) -> str:
    """An attribute as a key: lower case, words joined by underscores."""
    words = re.findall(r"[^\W_]+", attribute.lower())
    return "_".join(words)[:_LONGEST_KEY].strip("_")


def names(about: str, text: str) -> bool:
    """Whether a text names what something is about, in whatever case or inflection."""
    said = {stem(token.low) for token in tokens(text) if token.is_word}
    wanted = [stem(token.low) for token in tokens(about) if token.is_word]
    return bool(wanted) and all(word in said for word in wanted)
