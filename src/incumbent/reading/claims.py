"""Claims: a subject, an attribute and a value, where a sentence has all three in plain sight.

"My phone number is 555-0100." says that and nothing else, and so does "oh and my phone number is
555-0100 btw": what leads in and what rounds off says nothing. A sentence that says more than that,
or says it of a thing that is not named, is kept as it was said: fewer names, and no wrong ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from incumbent.language.attributes import (
    LABEL,
    THING,
    address_in,
    is_attribute_noun,
    is_persons,
)
from incumbent.language.lexicon import data, word_sets
from incumbent.model.fact import Part
from incumbent.reading.amending import is_set_aside
from incumbent.reading.attributed import opening
from incumbent.reading.form import Claim, Span
from incumbent.reading.plainly import Names, values_beside, whole_value
from incumbent.reading.telling import speaks_against
from incumbent.reading.things import (
    is_one_at_a_time,
    left_over,
    lows,
    name_of,
    tells_of_change,
    things,
)
from incumbent.reading.ties import resting_words, rests

_LONGEST: Final = 400
_MOST_VALUE: Final = 8
"""A value of more words tells a story."""
_MOST_PLAIN: Final = 4
"""A value in plain words has no more than this."""
_MOST_KEY: Final = 4
_MOST_LEFT: Final = 3
"""So many words may be left that say something, where a change of what is known is told."""
_REST = re.compile(r"[\s.!?,;:—–-]*")
_OPENING = re.compile(r"[A-Z][\w &/-]{1,40}: (?=[A-Za-z])")
_ARTICLE = re.compile(r"(?:(?:an?|the) )?", re.IGNORECASE)
_MARK = re.compile(r"[,:;.!?] |^")
_LAST_MARK = re.compile(r".*[,:;.!?–—]", re.DOTALL)
_CLAUSE = re.compile(
    r"\b(?:because|since|but|and|so|which|who|that|while|when|if|unless|although|though|until|"
    r"she|he|they|it|we|you|i|not|"
    r"is|are|was|were|will|would|has|have|had|can|could|should|must|may|might|does|did)\b",
    re.IGNORECASE,
)


class _Patterns:
    """The ways in which one language gives a thing its value."""

    def __init__(self, language: str) -> None:
        told = data("attributes", language)
        flags = re.IGNORECASE
        copula = rf"(?: ?(?:['’]s(?: (?:called|named))?|=)| (?:{told['copulas']})) (?P<value>\S.*)$"
        self.says = re.compile(rf"{THING}{copula}", flags)
        self.label = re.compile(rf"{LABEL} ?[:=] (?P<value>\S.*)$", flags)
        self.verbs = [
            (re.compile(rf"(?:i|we) ?(?:{verb['says']}) (?P<value>\S.*)$", flags), verb["key"])
            for verb in told["verbs"]
        ]
        self.beginning = re.compile(
            rf"\b(?:(?:{told['beginning']})\b|(?-i:[A-Z])[\w-]*['’])", flags
        )
        self.trailing = re.compile(rf"(?:[\s,]+(?:{told['trailing']}))+$", flags)
        self.no_value = re.compile(rf"(?:{told['no_value']})\b", flags)
        self.placing = re.compile(rf"(?:{told['placing']}) ", flags)


@lru_cache(maxsize=8)
def _patterns(language: str = "en") -> _Patterns:
    return _Patterns(language)


def claim_of(text: str, parts: Sequence[Part], term: Span | None = None) -> Claim | None:
    """The name that a statement gives, where it gives one and says nothing else.

    `term` is where it says from when until when it holds, which is no part of the value.
    """
    if len(text) > _LONGEST or "?" in text:
        return None
    if term is not None and not text[: term[0]].strip():
        begin = term[1] + len(text[term[1] :]) - len(text[term[1] :].lstrip(" ,"))
        claim = claim_of(text[begin:], _moved(parts, begin))
        return claim and claim._replace(start=claim.start + begin, end=claim.end + begin)
    if term is not None and _REST.fullmatch(text, term[1]) is not None:
        text = text[: term[0]].rstrip(" ,")
        parts = [part for part in parts if part.end <= len(text)]
    patterns, quoted = _patterns(), opening(text)
    if quoted:
        claim = claim_of(text[quoted:], _moved(parts, quoted))
        return claim and claim._replace(start=claim.start + quoted, end=claim.end + quoted)
    for begin in _beginnings(text):
        if (found := patterns.says.match(text, begin)) is not None:
            return _claim(found, parts)
        for pattern, key in patterns.verbs:
            if (found := pattern.match(text, begin)) is not None:
                return _by_verb(found, key, parts)
    for mark in _MARK.finditer(text):
        if _says_something(text[: mark.end()]):
            break
        if (found := patterns.label.match(text, mark.end())) is not None:
            return _claim(found, parts, is_label=True)
    return None


def claim_of_known(text: str, parts: Sequence[Part], known: Names) -> Claim | None:
    """The value that a statement gives to the one thing that it names and that has its name
    already, in whatever words: "For my budget it used to be $960, now it's $1,850."."""
    named = things(text, parts) if len(text) <= _LONGEST and "?" not in text else []
    if len({one[2:4] for one in named}) != 1 or name_of(*named[0][2:4]) not in known:
        return None
    spans = [(one.start, one.end) for one in named]
    values = values_beside(text, parts, spans, None)
    gone = [one for one in values if len(values) > 1 and is_set_aside(text, one)]
    fresh = [one for one in values if one not in gone]
    if len({one.normal for one in fresh}) != 1 or any(one.kind != fresh[0].kind for one in gone):
        return None
    start, end = whole_value(text, fresh[-1])
    spans += [(one.start, one.end) for one in gone]
    left = left_over(text, [*spans, (start, end)], changing=True)
    if len(left) > (_MOST_LEFT if gone or tells_of_change(text) else 0):
        return None
    about = named[0]
    return Claim(about.subject, about.key, text[start:end], start, end, about.is_own)


def _beginnings(text: str) -> Iterator[int]:
    """Where a thing may be named: behind a label, and where nothing before it says anything."""
    label = _OPENING.match(text)
    begin = label.end() if label is not None else 0
    for found in _patterns().beginning.finditer(text):
        if found.start() == begin or not _says_something(text[: found.start()]):
            yield found.start()


def _says_something(lead: str) -> bool:
    """Whether words before a thing say more than that something is said of it: "I doubt that the
    fee is $90", "we meet at the club"."""
    classes = word_sets("telling")
    said = lows(_LAST_MARK.sub("", lead))
    if said and said[-1] in classes.narrowing - classes.joined:
        return True
    return bool(_left(lead)) or speaks_against(" ".join(said))


def _left(text: str) -> list[str]:
    """The words around a thing and its value that say something. What these rest on may be named:
    "Based on the body weight, …"."""
    leading = word_sets("naming").leading
    if not rests(text):
        return left_over(text, [], also=leading)
    spans = [(one.start, one.end) for one in things(text)]
    return left_over(text, spans, also=leading | resting_words())


def _moved(parts: Sequence[Part], begin: int) -> list[Part]:
    return [
        part._replace(start=part.start - begin, end=part.end - begin)
        for part in parts
        if part.start >= begin
    ]


def _claim(found: re.Match[str], parts: Sequence[Part], *, is_label: bool = False) -> Claim | None:
    text, (start, end) = found.string, _trimmed(found)
    typed = [one for one in parts if one.kind != "term" and start <= one.start and one.end <= end]
    value = text[start:end]
    is_number = not any(map(str.isalpha, value)) or any(one.kind == "phone" for one in typed)
    address = address_in(found, is_number=is_number)
    if address is None:
        return None
    key, subject = address
    placing = _patterns().placing.match(value)
    if placing is not None:
        start += placing.end()
        if is_persons(key) or not any(one.start == start for one in typed):
            return None
        value = text[start:end]
    if len(key.split("_")) > _MOST_KEY or not is_one_at_a_time(key):
        return None
    is_noun = is_attribute_noun(key.split("_")[-1])
    if is_label and not is_noun:
        return None
    opens = [one for one in typed if _ARTICLE.fullmatch(text, start, one.start)]
    first = whole_value(text, opens[0])[1] if opens else end
    ends = (end,) if _left(text[first:end]) else (end, first)
    for stop in ends:
        if _is_certain(text[start:stop], [one for one in typed if one.end <= stop], start, is_noun):
            own = (found.groupdict().get("own") or "").lower()
            return Claim(subject, key, text[start:stop], start, stop, own in ("my", "your"))
    return None


def _is_certain(value: str, typed: Sequence[Part], begin: int, is_noun: bool) -> bool:
    """Whether words are a value: one with a form of its own, or a few plain words for what has one
    of it at a time."""
    spans = [(one.start - begin, one.end - begin) for one in typed]
    if not _is_value(value, spans):
        return False
    if len({one.kind for one in typed}) > 1 and any(one.kind == "name" for one in typed):
        return False  # "Wednesdays at 4 with Mrs Okafor" says more than when
    if spans and _ARTICLE.fullmatch(value, 0, spans[0][0]) and not left_over(value, spans):
        return True
    return is_noun and len(value.split()) <= _MOST_PLAIN and "," not in value


def _by_verb(found: re.Match[str], key: str, parts: Sequence[Part]) -> Claim | None:
    """What somebody does tells where: "I live in Porto."."""
    start, end = _trimmed(found)
    part = next((one for one in parts if (one.start, one.end) == (start, end)), None)
    if part is None or part.kind not in ("name", "address"):
        return None
    key = "address" if part.kind == "address" else key
    return Claim(None, key, found.string[start:end], start, end, True)


def _trimmed(found: re.Match[str]) -> Span:
    """Where the value stands, without what only rounds off the sentence."""
    start = found.start("value")
    value = found.group("value").rstrip(" \t\n.!?;,")
    trailing = _patterns().trailing.search(value)
    if trailing is not None and trailing.start() > 0:
        value = value[: trailing.start()].rstrip(" ,")
    return start, start + len(value)


def _is_value(value: str, typed: Sequence[Span]) -> bool:
    """Whether words can be a value: a few of them, and no clause of their own beside what has a
    form of its own: May is a month."""
    beside = value
    for start, end in typed:
        beside = f"{beside[:start]}{' ' * (end - start)}{beside[end:]}"
    return (
        bool(value)
        and len(value.split()) <= _MOST_VALUE
        and "\n" not in value
        and _patterns().no_value.match(value) is None
        and _CLAUSE.search(beside) is None
    )
