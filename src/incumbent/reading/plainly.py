"""Plain talk: a sentence that names one thing and one value, and says nothing else.

"oh and my shopping bill comes to $3,790 btw" gives the shopping bill its name, wherever thing and
value stand. A word that says more than that, and there is no name. Of a thing that has its name
already, old and new may both be said: "For Chloe's ticket it used to be $960, now it's $1,850."
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from incumbent.language.attributes import is_attribute_noun, is_persons
from incumbent.model.fact import Part
from incumbent.reading.amending import is_set_aside
from incumbent.reading.form import Claim, Span
from incumbent.reading.things import (
    DOES,
    Thing,
    is_one_at_a_time,
    is_said_of,
    left_over,
    name_of,
    tells_of_change,
    things,
    words_of,
)
from incumbent.reading.ties import opening, resting_words, rests

Names = frozenset[frozenset[str]]
"""The things that have a name already."""
_LONGEST: Final = 300
_MOST_LEFT: Final = 3
"""So many words may be left that say something, where the old value is named beside the new."""
_UNIT = re.compile(r" [a-z]+(?=$|[\s.,;:!?)])")
_ARTICLE = re.compile(r"\b[Tt]he $")
_SAYS = re.compile(
    r"(?: ?\([^()\n]{1,60}\))?(?: (?:now|currently|still))? ?(?:=|:|is|are|will be|is now|are now|"
    r"runs on|would be|should be|becomes|changes to)(?: (?:now|currently|still))? (?=[A-Za-z])"
)
_PLAIN = re.compile(r"[A-Za-z][a-z-]*(?: [a-z][a-z-]*){0,2}(?=$|[.,;:!?–-]| \()")
_RUNS = re.compile(r"(?:runs on|=|:|changes to)\s*$")
_POINTED = re.compile(
    r"(?:it|that|this)(?: one)?(?:['’]s| is| would be| will be| is now)(?: now)? (?=[A-Za-z])",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\bif (?:you (?:want|need|like|care|wonder)(?: to know)?(?: where that comes from)?|"
    r"i (?:read|remember|recall|heard|understood|got)|i(?:['’]m| am) not mistaken)\b|"
    r"\([^()\d]{1,60}\)",
    re.IGNORECASE,
)
_CHOSEN = re.compile(
    r"\b(?:chose|chosen|picked|took|got|gone with|went with|going with|settled on|have) "
    r"([a-z][a-z-]*(?: [a-z][a-z-]*)?) for $"
)
_MARK = re.compile(r"[.,;:!?–—]| - ")
_POINTS = re.compile(r"(?:it|that|that one|this|this one|they|those)\b", re.IGNORECASE)


def plain_claim(
    text: str, parts: Sequence[Part], known: Names, term: Span | None, before: str = ""
) -> Claim | None:
    """The name that a sentence gives in plain talk. `before` is the sentence right before it, for
    one that points back."""
    if len(text) > _LONGEST or "?" in text:
        return None
    named = things(text, parts)
    if not named and before and _POINTS.match(text):
        return _pointing(text, parts, known, term, before)
    also = [(one.start, one.end) for one in named]
    values = values_beside(text, parts, also, term)
    about = _about(text, named, known, values)
    if about is None:
        return None
    opens = opening(text)
    beside = [*also, (0, opens)] if opens else list(also)
    beside += [one.span() for one in _ASIDE.finditer(text)]
    bases = resting_words() if len({(one.key, one.subject) for one in named}) > 1 else frozenset()
    return _valued(text, values, beside, about, known, term, bases)


def _pointing(
    text: str, parts: Sequence[Part], known: Names, term: Span | None, before: str
) -> Claim | None:
    """A sentence that points back at a thing that the one before it only names."""
    named = things(before)
    if len(named) != 1 or len(before) > _LONGEST:
        return None
    (about,) = named
    is_known = name_of(about.key, about.subject) in known
    if left_over(before, [(about.start, about.end)], changing=is_known):
        return None
    return _valued(text, values_beside(text, parts, (), term), [], about, known, term, frozenset())


def _about(text: str, named: Sequence[Thing], known: Names, values: Sequence[Part]) -> Thing | None:
    """The thing that a sentence gives a value; what else it names is what that rests on."""
    if len({(one.key, one.subject) for one in named}) == 1:
        return named[0]
    if not named or not (rests(text)):
        return None
    fresh = [one for one in named if name_of(one.key, one.subject) not in known]
    if len({(one.key, one.subject) for one in fresh}) == 1:
        return fresh[0]
    beside = [one for one in named if any(_is_beside(text, one, value) for value in values)]
    beside = beside or [one for one in named if _SAYS.match(text, one.end)]
    return beside[0] if len({(one.key, one.subject) for one in beside}) == 1 else None


def _is_beside(text: str, thing: Thing, value: Part) -> bool:
    """Whether nothing stands between a thing and a value but words that join the two."""
    if value.start >= thing.end:
        between = text[thing.end : value.start]
        return _MARK.search(between) is None and not left_over(between, [])
    between = text[value.end : thing.start]
    return between.endswith(" for ") and not left_over(between, [])


def _valued(
    text: str,
    values: Sequence[Part],
    spans: Sequence[Span],
    about: Thing,
    known: Names,
    term: Span | None,
    also: frozenset[str],
) -> Claim | None:
    is_known = name_of(about.key, about.subject) in known
    gone = [one for one in values if is_set_aside(text, one)] if len(values) > 1 else []
    fresh = [one for one in values if one not in gone]
    beside = [*spans, *((one.start, one.end) for one in gone), *([term] if term else [])]
    if not values:
        return _in_words(text, spans, about, is_known, beside, also)
    if len({one.normal for one in fresh}) != 1 or any(one.kind != fresh[0].kind for one in gone):
        return None
    start, end = whole_value(text, fresh[-1])
    is_sure = is_known or bool(also) or not spans
    if not is_sure and not is_said_of(text, about, (start, end)):
        return None
    verb = DOES.search(text[:start])
    start = verb.start(1) if verb is not None else start
    changing = is_known or bool(gone) or bool(also)
    rest = left_over(text, [*beside, (start, end)], changing=changing, also=also)
    if len(rest) > (_MOST_LEFT if gone or (is_known and tells_of_change(text)) else 0):
        return None
    return _claim(text, about, start, end)


def _claim(text: str, about: Thing, start: int, end: int) -> Claim:
    return Claim(about.subject, about.key, text[start:end], start, end, about.is_own)


def values_beside(
    text: str, parts: Sequence[Part], spans: Sequence[Span], term: Span | None
) -> list[Part]:
    """The values of a sentence that are no part of a name, one for words that belong together."""
    apart = [*spans, *([term] if term else [])]
    found: list[Part] = []
    for part in sorted(parts, key=lambda one: one.start):
        if part.kind == "term" or any(a < part.end and part.start < b for a, b in apart):
            continue
        if part.kind in ("date", "name") and not left_over(part.text, []):
            continue
        if part.kind == "number" and not any(map(str.isdigit, part.text)):
            continue
        last = found[-1] if found else None
        if last is not None and text[last.end : part.start] in (" ", ""):
            whole = text[last.start : part.end]
            found[-1] = last._replace(text=whole, normal=whole.lower(), end=part.end)
            continue
        found.append(part)
    return found


def whole_value(text: str, value: Part) -> Span:
    """A value with its article and with what it counts: "the Zephyr 12", "32 people"."""
    start, end = value.start, value.end
    if value.kind == "name" and (article := _ARTICLE.search(text[:start])) is not None:
        start = article.start()
    unit = _UNIT.match(text, end) if value.kind == "number" else None
    if unit is not None and left_over(unit.group(), [], changing=True):
        end = unit.end()
    return start, end


def _in_words(
    text: str,
    spans: Sequence[Span],
    about: Thing,
    is_known: bool,
    beside: Sequence[Span],
    also: frozenset[str],
) -> Claim | None:
    """A value in plain words right behind the thing: "the wall colour is lavender"."""
    found = _pointed(text) if not spans else _right_behind(text, about) or _chosen(text, about)
    if found is None:
        return None
    said, (start, end) = found
    is_one = is_attribute_noun(about.key.split("_")[-1]) or _RUNS.search(text[slice(*said)])
    if not is_known and spans and not is_said_of(text, about, (start, end)) and not also:
        return None
    if not is_known and not (is_one and is_one_at_a_time(about.key) and not is_persons(about.key)):
        return None
    words = [word.group().lower() for word in words_of(text[start:end])]
    if len(left_over(text[start:end], [])) != len(words):
        return None
    rest = left_over(
        text,
        [*beside, said, (start, end)],
        changing=is_known and tells_of_change(text),
        also=also,
    )
    return _claim(text, about, start, end) if not rest else None


def _right_behind(text: str, about: Thing) -> tuple[Span, Span] | None:
    says = _SAYS.match(text, about.end)
    value = _PLAIN.match(text, says.end()) if says is not None else None
    return (says.span(), value.span()) if says is not None and value is not None else None


def _pointed(text: str) -> tuple[Span, Span] | None:
    says = _POINTED.match(text)
    value = _PLAIN.match(text, says.end()) if says is not None else None
    return (says.span(), value.span()) if says is not None and value is not None else None


def _chosen(text: str, about: Thing) -> tuple[Span, Span] | None:
    """What is said to be taken for a thing: "we chose lavender for the kitchen colour"."""
    chosen = _CHOSEN.search(text[: about.start])
    return (chosen.span(), chosen.span(1)) if chosen is not None else None
