"""From text to the terms it is found by. Pure, and the same for every store."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any
from zlib import crc32

from incumbent.model.fact import Part
from incumbent.model.forms import Read, no_forms, value_forms
from incumbent.model.invisible import is_shown_whole, readings
from incumbent.model.text_cache import also_forget, remembered, remembering
from incumbent.model.values import bare, leaves, telling_parts, text_of
from incumbent.model.words import Words, holdings, plain_words

VERSION = 10
"""Changes with every change of the terms of a text, or of the line of a fact, whose tokens are kept
beside them; indexes of another version are rebuilt."""

_TELLING_DIGITS = 3
_YEAR = re.compile(r"(?:19|20)\d\d")
_LONGEST_TEXT = 40_000
_SHORT = 500  # characters; a longer text is not worth the memory
_REMEMBERED_TEXTS = 8_192
_MOST_PROBES = 512
_MOST_MARKS = 8_192
_REMEMBERED = 100_000

# Words that say how a sentence is built and not what it is about. Other languages need no list:
# what is frequent in a memory weighs next to nothing, and is pruned when it is very frequent.
_FUNCTION_WORDS = """
a about also am an and any are as at be been but by can could d did do does for from had has have he
her here him his how i if in into is it its just ll m me might my of on or our re s shall she should
so some such t than that the their them then there these they this those to us ve very was we were
what when where which who whom whose why will with would you your
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())

_PARTS = re.compile(
    r"\d+(?:[.,]\d+)+"  # 5,000 and 3.14 are one number each
    r"|[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"  # written without spaces
    r"|[^\W_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
_ASCII_PARTS = re.compile(r"[0-9]+(?:[.,][0-9]+)+|[a-z0-9]+")
"""The same of plain text in lower case, found in half the time."""
_ASCII_GAPS = bytes(
    sign if chr(sign).isascii() and chr(sign).isalnum() else 32 for sign in range(256)
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SEPARATED = re.compile(r"[\W_]+")
_NOTHING_AFTER = re.compile(r"\.0+$")
_THOUSANDS = re.compile(r",(?=\d{3}(?:\D|$))")


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer  # loaded on first use, like everything that only contexts need

    return Stemmer.Stemmer("english", 0)  # what it is asked for is kept here, not in it


class _Terms(dict[str, tuple[str, ...]]):
    """The terms of each part of a text, computed once, because most words come up again."""

    def __missing__(self, part: str) -> tuple[str, ...]:
        found = _terms_of(part)
        if len(self) < _REMEMBERED:
            self[part] = found
        return found


def _terms_of(part: str) -> tuple[str, ...]:
    if part in STOP_WORDS:
        return ()
    if part[0].isdigit():
        return (number(part),)
    if part.isascii() and part.isalpha() and len(part) > 3:
        return (_stemmer().stemWord(part),)
    return tuple(_bigrams(part)) if _is_unspaced(part[0]) else (part,)


_KNOWN = _Terms()
also_forget(_KNOWN.clear)


def normalised(text: str) -> str:
    """Text without differences of width, case and compatibility forms."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def terms(text: str) -> list[str]:
    """The terms of a text in order, repeated ones included, without stop words."""
    return [term for part in _parts(normalised(text[:_LONGEST_TEXT])) for term in _KNOWN[part]]


def _parts(text: str) -> list[str]:
    """The parts of a text that was made plain."""
    found: list[str] = (_ASCII_PARTS if text.isascii() else _PARTS).findall(text)
    return found


@remembering(16_384)
def name_terms(name: str) -> tuple[str, ...]:
    """The terms of a key or a subject, each once."""
    return tuple(dict.fromkeys(terms(spoken(name))))


def _is_unspaced(character: str) -> bool:
    return (
        "\u3040" <= character <= "\u30ff"
        or "\u3400" <= character <= "\u9fff"
        or "\uf900" <= character <= "\ufaff"
    )


def _bigrams(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for index in range(len(run) - 1):
        yield run[index : index + 2]


def number(part: str) -> str:
    """A number without thousands separators, in characters that every index takes: 1,250.5 is
    1250p5.

    The parts of an address or a version, which only look like a number, are kept apart in the same
    way.
    """
    if part.isdigit():
        return part
    return _THOUSANDS.sub("", part).replace(".", "p").replace(",", "p")


@remembering(16_384)
def spoken(key: str) -> str:
    """A key as words: order_status, orderStatus and order.status are "order status"."""
    apart = key if key.islower() else _CAMEL.sub(" ", key)
    if apart.isascii():
        return " ".join(apart.encode().translate(_ASCII_GAPS).decode().split())
    return _SEPARATED.sub(" ", apart).strip()


@remembering(16_384)
def _words_of(key: str) -> str:
    """A key as words, without its numbers."""
    return " ".join([word for word in spoken(key).split() if word.isalpha()])


def text_for_terms(key: str, subject: str | None, value: Any) -> str:
    """Every text that a fact can be found by: its key and subject, and its value."""
    about = f"{spoken(key)} {subject}" if subject else spoken(key)
    return f"{about} {text_of(value)}"


def sentence(key: str, subject: str | None, value: Any) -> str:
    """The meaning of a fact as a sentence for an embedder. Numbers in a key tell things apart but
    mean nothing, and are left out."""
    about = f"{subject or ''} {_words_of(key)}".strip()
    said = text_of(value)[:_LONGEST_TEXT]
    return f"{about}: {said}" if about else said


def probes(value: Any, parts: Sequence[Part] = (), read: Read = no_forms) -> list[str]:
    """The terms by which the texts in a value are found, and the marks of what it holds.

    One term for each text: every repetition of the text uses that term too. It is a number of a few
    digits, or else the longest word, because few other texts have it; values that leave office one
    after the other often share their other words. Of the parts of a statement only values count;
    plain words are used by others as well. A day, a time or an amount has the word that all its
    forms have in common. Beside the terms stands a mark for everything that is held, by which
    holders of the same are found.
    """
    if type(value) is str and len(value) <= _SHORT:
        return list(_probes_of_text(value, tuple(parts), read))
    return _probes(value, parts, read)


@remembering(_REMEMBERED_TEXTS)
def _probes_of_text(text: str, parts: tuple[Part, ...], read: Read) -> tuple[str, ...]:
    return tuple(_probes(text, parts, read))


def _probes(value: Any, parts: Sequence[Part], read: Read) -> list[str]:
    found: dict[str, None] = {}
    for leaf in leaves(value):
        for text in (leaf, *telling_parts(leaf)):
            if is_shown_whole(text):
                found[probe(text)] = None
                continue
            for way in readings(text[:_LONGEST_TEXT]):
                found[probe(way.text)] = None
        if len(found) >= _MOST_PROBES:
            break
    for part in parts[:_MOST_PROBES]:
        if part.kind != "term":
            found[probe(part.text)] = None
    found.pop("", None)
    forms = {form.probe for form in islice(value_forms(value, parts, read), _MOST_PROBES)}
    found.update(dict.fromkeys(sorted(forms)))
    marks = {mark(words) for words in holdings(value, parts) if words}
    marks.update(mark((form,)) for form in forms)
    return [*found, *sorted(marks)[:_MOST_MARKS]]


MARK = "="
"""The beginning of a mark, which no term has."""


def mark(words: Words) -> str:
    """A short sign of these words; others seldom have the same."""
    return f"{MARK}{crc32(' '.join(words).encode()):08x}"


MATTER = "~"
"""The beginning of the mark of a matter, which no term has."""


def matter(key: str, subject: str | None) -> str:
    """A short sign of the matter of a fact; others seldom have the same."""
    return f"{MATTER}{matter_mark(key, subject):08x}"


def matter_mark(key: str, subject: str | None) -> int:
    """The same as a number."""
    return crc32(chr(0).join((key, subject or "")).encode())


def probe(text: str) -> str:
    """The term by which a repetition of this text is noticed; "" if it has none."""
    plain = plain_words(text[:_LONGEST_TEXT])
    if plain is not None:
        return max(plain, key=len, default="")  # the first of the longest
    chosen, telling = "", False
    for part in _parts(bare(text[:_LONGEST_TEXT])):
        if part.isalpha() and part.isascii():
            if not telling and len(part) > len(chosen):
                chosen = part
            continue
        # As it is compared, so that 2.0 kg and 2 kg give the same.
        term = part if _is_unspaced(part[0]) else _noticed(part)
        tells = not term.isalpha() and _is_telling_number(term)
        if (tells, len(term)) > (telling, len(chosen)):  # the first such
            chosen, telling = term, tells
    return next(_noticeable(chosen)) if chosen else ""


def _is_telling_number(part: str) -> bool:
    """Whether few texts have this number; a year is in many."""
    return sum(map(str.isdigit, part)) >= _TELLING_DIGITS and not _YEAR.fullmatch(part)


@remembered
def words(text: str) -> frozenset[str]:
    """Every term that `probe` could have chosen for a text that occurs in this one."""
    return frozenset(
        term
        for way in readings(text)
        for part in _PARTS.findall(bare(way.text))
        for term in _noticeable(part)
    )


@lru_cache(maxsize=1)
def _vocabulary() -> frozenset[str]:
    from incumbent.search.embedders.words import common_words

    return common_words()


def is_common(word: str) -> bool:
    """Whether a word is one that people use for many things."""
    return word in _vocabulary()


def _noticeable(part: str) -> Iterator[str]:
    if _is_unspaced(part[0]):
        yield from _bigrams(part)
    else:
        yield _noticed(part)


def _noticed(part: str) -> str:
    """A word or a number as it is compared."""
    return number(_NOTHING_AFTER.sub("", part)) if part[0].isdigit() else part
