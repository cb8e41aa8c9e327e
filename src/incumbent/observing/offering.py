"""Offering: what a short answer says, given what the assistant had just said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from incumbent.language.attributes import Attribute, is_attribute_noun, key_of
from incumbent.language.frames import frame_again
from incumbent.language.lexicon import data
from incumbent.language.statements import Kind, statements
from incumbent.model.fact import Part

_MOST_WORDS = 25
_AROUND = 8
"""An answer is a value with at most so many characters around it: "in Lisbon"."""
_LONGEST = 4_000
_ITEM = re.compile(r"^[ \t]*(?:\(?(\d{1,2}|[A-Za-z])[.):]|[-*•])[ \t]+(.+)$", re.MULTILINE)


class _Patterns:
    def __init__(self, language: str) -> None:
        told = data("answers", language)
        flags = re.IGNORECASE
        self.opening = re.compile(rf"(?:(?:{told['opening']})[\s,]+)+", flags)
        self.closing = re.compile(rf"[\s,]*(?:{told['closing']})?[\s?.!]*$", flags)
        self.offer = re.compile(told["offer"], flags)
        self.alternative = re.compile(told["alternative"], flags)
        self.indifferent = re.compile(told["indifferent"], flags)
        self.declining = re.compile(rf"(?:{told['declining']})\b", flags)
        self.empty = re.compile(told["empty"], flags)
        self.asking = re.compile(told["asking"], flags)
        self.choice = re.compile(
            rf"(?:{told['choosing']} )*(?:the |option |number |no\. ?|#)*"
            rf"(?P<which>{'|'.join(told['ordinals'])}|\d{{1,2}}|[a-h])"
            rf"(?: (?:one|option|choice))?[\s,.!]*(?:please|thanks|thank you)?[\s.!]*$",
            flags,
        )
        self.ordinals: dict[str, int] = told["ordinals"]
        self.pointing = re.compile(told["pointing"], flags)
        self.named = re.compile(told["named"], flags)
        self.alternatives = re.compile(told["alternatives"], flags)


@lru_cache(maxsize=8)
def _patterns(language: str = "en") -> _Patterns:
    return _Patterns(language)


def declines(text: str) -> bool:
    """Whether an answer turns down what was offered."""
    return _patterns().declining.match(text) is not None


def asks_nothing(text: str) -> bool:
    """Whether the assistant only took note, or asked whether there is anything else."""
    return _patterns().empty.match(text) is not None


def is_offer(text: str) -> bool:
    """Whether a sentence of the assistant offers something."""
    return _patterns().offer.search(text) is not None


def offers(previous: str) -> list[str]:
    """What the assistant offered or asked to confirm, as the one who accepts it would say it."""
    patterns = _patterns()
    found = []
    for statement in statements(previous[:_LONGEST]):
        text = statement.text
        if not text.rstrip().endswith("?") and not patterns.offer.search(text):
            continue
        if patterns.asking.match(text) or statement.kind is Kind.SMALL_TALK:
            continue
        opening = patterns.opening.match(text)
        begin = opening.end() if opening is not None else 0
        closing = patterns.closing.search(text)
        core = text[begin : closing.start() if closing is not None else len(text)].strip()
        if core and len(core.split()) <= _MOST_WORDS and frame_again(core).parts:
            found.append(core)
    return found[-1:]


def is_alternative(previous: str) -> bool:
    """Whether what the assistant offered is another than was asked for."""
    return _patterns().alternative.search(previous) is not None


def points_at_one(text: str) -> bool:
    """Whether a few words take one of several things: "the last one", "I'll have A"."""
    return _patterns().pointing.search(text) is not None


def is_indifferent(text: str) -> bool:
    """Whether an answer takes none of the things that were named."""
    return _patterns().indifferent.search(text) is not None


def chosen(text: str, previous: str) -> str | None:
    """The one of the things the assistant named that a short answer picks, or None."""
    patterns = _patterns()
    found = patterns.choice.match(text.strip())
    if found is None:
        return None
    which = found.group("which").lower()
    named = _named(previous[:_LONGEST])
    if which in named:
        return named[which]
    things = _things(previous[:_LONGEST])
    place = patterns.ordinals.get(which, int(which) if which.isdigit() else 0)
    if not place or len(things) < abs(place) or len(things) < 2:
        return None
    return things[place - 1 if place > 0 else place]


def _named(previous: str) -> dict[str, str]:
    """Things that go by a number or a letter."""
    listed = {label.lower(): item.strip() for label, item in _ITEM.findall(previous) if label}
    spoken = {
        m.group("label").lower(): m.group("item").strip()
        for m in _patterns().named.finditer(previous)
    }
    return {**listed, **spoken}


def _things(previous: str) -> list[str]:
    """The things that were named as alternatives, in order."""
    listed = [item.strip() for _, item in _ITEM.findall(previous)]
    if len(listed) > 1:
        return listed
    names = [part.text for part in frame_again(previous).parts if part.kind in ("name", "quoted")]
    if len(names) > 1:
        return names
    found = _patterns().alternatives.search(previous)
    return [found.group(1).strip(), found.group(2).strip()] if found is not None else names


_QUESTION = re.compile(r"(?P<own>\byour )?(?:new |current )?(?P<noun>[\w-]+)\b", re.IGNORECASE)


def asked_for(previous: str, text: str, parts: Sequence[Part]) -> Attribute | None:
    """The attribute that the assistant's last question asks for, with the answer as its value."""
    asked = [one for one in statements(previous[:_LONGEST]) if one.text.rstrip().endswith("?")]
    if not asked:
        return None
    value = text.strip(" .!,")
    if len(parts) != 1 or len(value) > len(parts[0].text) + _AROUND:
        return None
    value = parts[0].text
    for found in _QUESTION.finditer(asked[-1].text):
        if is_attribute_noun(found.group("noun")):
            start = text.index(value)
            own = found.group("own") is not None
            key = key_of(found.group("noun"))
            return Attribute(key, None, value, start, start + len(value), True, is_own=own)
    return None


def quotes_a_statement(parts: Sequence[Part]) -> bool:
    """Whether a statement holds another in quotation marks: then that is somebody else's."""
    return any(
        part.kind == "quoted" and len(part.text.split()) > 3 and _is_clause(part.text)
        for part in parts
    )


def _is_clause(text: str) -> bool:
    return re.search(data("answers")["verb"], text, re.IGNORECASE) is not None
