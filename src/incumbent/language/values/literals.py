"""Values that are kept letter for letter: quotations, addresses of the net, identifiers, phones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from incumbent.language.values.kinds import Value, ValueKind
from incumbent.language.values.sentence import Sentence
from incumbent.language.values.vocabulary import alternatives, vocabulary
from incumbent.search.analysis import is_common

_LONGEST_QUOTE = 80
_CHUNK = re.compile(r"(?<!\S)\S*[0-9@_/.`#]\S*")
_AROUND = "\"'“”‘’«»()[]{}<>,;:!?*`…|"
_EMAIL = re.compile(r"[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}")
_URL = re.compile(r"(?:https?|ftp|file)://\S+|www\.\S+", re.IGNORECASE)
_PHONE = re.compile(
    r"(?<![\w.+-])(?:"
    r"\+[0-9](?:[ ().-]{0,2}[0-9]){7,14}"
    r"|(?:1[ .-])?\([0-9]{3}\)[ .-]?[0-9]{3}[ .-][0-9]{4}"
    r"|(?:1[ .-])?[0-9]{3}[ .-][0-9]{3}[ .-][0-9]{4}"
    r"|[0-9]{3}-[0-9]{4}"
    r"|0[0-9]{2,4}[ -][0-9]{3,4}[ -]?[0-9]{3,4}"
    r"|0[0-9]{9,10}"
    r")(?![\w-]|[.,][0-9])"
)
_BARE_PHONE = re.compile(r"(?<![\w.+-])[0-9]{10,11}(?![\w-]|[.,][0-9])")
_MANY_DIGITS = re.compile(r"(?:[0-9]\D{0,3}){7}")

_ORDINARY = re.compile(r"[0-9.,]+-?[a-z]*(?:-[a-z]+)*$", re.IGNORECASE)  # 2nd, 20mg, 5-year-old
_MEASURE = re.compile(r"[0-9.,:]+[a-z]{0,2}$", re.IGNORECASE)
_IDENTIFIERS = re.compile(
    r"v[0-9]+(?:\.[0-9]+)*(?:[-+][\w.]+)?$"  # v2, v2.3.1-rc1
    r"|[0-9]+(?:\.[0-9]+){2,}(?:[-+][\w.]+)?$"  # 2.3.1, 192.168.0.1
    r"|#[\w-]*[0-9][\w-]*$"  # #1234
    r"|(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,}$"  # a hash
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$"  # a UUID
    r"|[A-Za-z][\w]*_\w+$"  # snake_case
    r"|(?:\.{0,2}/|~/)[\w.-]+(?:/[\w.-]+)*/?$"  # a path
    r"|0[0-9]{2,}$"  # leading zeros are not counted with
    r"|(?!24/7$)[0-9]{2,4}/[0-9]{2,4}$|[0-9]{1,3}:[0-9]{1,3}$",  # 120/80, 16:9
)
_MIXED = re.compile(r"(?=.*[A-Za-z])(?=.*[0-9])[A-Za-z0-9]+(?:[-_/.:][A-Za-z0-9]+)*$")
_LONGEST_IDENTIFIER = 120
_LONG_FIGURES = re.compile(r"[0-9]{8,}$")


@lru_cache(maxsize=8)
def _quotes(language: str) -> re.Pattern[str]:
    """Quotation marks with something between them. An apostrophe before a clitic opens none."""
    clitics = alternatives(vocabulary(language).told["clitics"].split())
    most = f"{{1,{_LONGEST_QUOTE}}}"
    return re.compile(
        rf"\"(?P<straight>[^\"\n]{most})\""
        rf"|“(?P<curly>[^“”\n]{most})”"
        rf"|«(?P<angled>[^«»\n]{most})»"
        rf"|``(?P<typed>[^`'\n]{most})''"
        rf"|`(?P<code>[^`\n]{most})`"
        rf"|(?<![\w'])'(?!(?:{clitics})\b)(?=\w)(?P<single>[^'\n]{most})'(?!\w)"
        rf"|(?<![\w’])‘(?P<bent>[^‘’\n]{most})’(?!\w)"
    )


def find(sentence: Sentence) -> Iterator[Value]:
    """Everything in a text that is kept letter for letter."""
    text = sentence.text
    if any(mark in text for mark in "\"“«`'‘"):
        yield from _quoted(sentence)
    yield from unquoted(sentence)


def unquoted(sentence: Sentence) -> Iterator[Value]:
    """The same without quotations, in which there may be values of other kinds."""
    yield from _chunks(sentence)
    if _MANY_DIGITS.search(sentence.text):
        yield from _phones(sentence)


def _quoted(sentence: Sentence) -> Iterator[Value]:
    text = sentence.text
    for found in _quotes(sentence.vocabulary.language).finditer(text):
        name = found.lastgroup or ""
        start, end = found.span(name)
        inside = found[name]
        start += len(inside) - len(inside.lstrip())
        end -= len(inside) - len(inside.rstrip())
        if start < end:
            kind = ValueKind.CODE if name == "code" else ValueKind.QUOTED
            said = text[start:end]
            normal = said if name == "code" else " ".join(said.casefold().split())
            yield Value(kind, said, start, end, normal)


def _chunks(sentence: Sentence) -> Iterator[Value]:
    """What stands between spaces and is an e-mail address, a link or an identifier."""
    text = sentence.text
    for found in _CHUNK.finditer(text):
        chunk = found.group()
        kept = chunk.lstrip(_AROUND)
        start = found.start() + len(chunk) - len(kept)
        kept = kept.rstrip(_AROUND + ".")
        if not kept or len(kept) > 2_000:
            continue
        value = _literal(kept, start, sentence)
        if value is not None:
            yield value


def _literal(kept: str, start: int, sentence: Sentence) -> Value | None:
    end = start + len(kept)
    if "@" in kept and _EMAIL.fullmatch(kept):
        return Value(ValueKind.EMAIL, kept, start, end, kept.lower())
    if _URL.match(kept) or _is_site(kept, sentence):
        return Value(ValueKind.URL, kept, start, end, _link(kept))
    if kept.isalpha() or not _is_identifier(kept):
        return None
    return Value(ValueKind.CODE, kept, start, end, kept)


def _is_site(kept: str, sentence: Sentence) -> bool:
    host = kept.split("/", 1)[0]
    name, dot, ending = host.rpartition(".")
    domains = sentence.vocabulary.domains
    return (
        bool(dot) and ending.lower() in domains and bool(re.fullmatch(r"[\w-]+(\.[\w-]+)*", name))
    )


def _link(kept: str) -> str:
    """A link without what makes no difference."""
    bare = re.sub(r"^(?:https?://)?(?:www\.)?", "", kept, flags=re.IGNORECASE).rstrip("/")
    host, slash, path = bare.partition("/")
    return host.lower() + slash + path


def _is_identifier(kept: str) -> bool:
    if not any(map(str.isdigit, kept)) and "_" not in kept and "/" not in kept:
        return False
    if len(kept) > _LONGEST_IDENTIFIER:
        return False
    if _IDENTIFIERS.match(kept):
        return True
    if _LONG_FIGURES.match(kept):
        return not kept.endswith("000")
    if _ORDINARY.match(kept) and not re.match(r"[0-9]+[A-Z]", kept):
        return False
    if not _MIXED.match(kept) or all(map(_MEASURE.match, re.split(r"[-/–]", kept))):
        return False  # 5-7pm, 3pm/4pm
    parts = re.split(r"[-_/.:]", kept)
    # "mid-2026" and "top-10" are words with a number; "gpt-4" and "node-eu-04" name something.
    if len(parts) > 2:
        return True
    return not any(part.isalpha() and is_common(part) and len(part) > 1 for part in parts)


def _phones(sentence: Sentence) -> Iterator[Value]:
    for found in _PHONE.finditer(sentence.text):
        yield _phone(found)
    for found in _BARE_PHONE.finditer(sentence.text):
        if sentence.has_before("calling", found.start()):
            yield _phone(found)


def _phone(found: re.Match[str]) -> Value:
    digits = re.sub(r"[^0-9]", "", found.group())
    plus = "+" if found.group().startswith("+") else ""
    return Value(ValueKind.PHONE, found.group(), *found.span(), plus + digits)
