"""Attributed: whose word a statement says it is: "per the CFO", "[VP] …", "Legal signed off on …".

Only the title is put down. Whether it is one that the organization knows, and whether whoever
speaks may lend it, is decided where statements are filed. "Manager: Anna" names a manager and
quotes none.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final

from incumbent.language.lexicon import data
from incumbent.reading.form import Statement
from incumbent.reading.things import words_of

_READ: Final = 400
_FEWEST: Final = 3
"""What a label opens has at least so many words: fewer are a value."""
_LABEL = re.compile(r"(?P<by>[A-Za-z][\w .&/-]{0,30}?)(?: \([^()]{1,30}\))?\s*[:>]\s+(?=\S)")
_MARK = re.compile(r"[\[(](?P<by>[A-Za-z][\w .&/-]{0,30})[\])]\s*[:>-]?\s+(?=\S)")


class _Patterns:
    def __init__(self, language: str) -> None:
        told = data("attributed", language)
        nobody, verbs = ("".join(told[name].split("\n")) for name in ("nobody", "verbs"))
        title = rf"(?:the |our |my )?(?P<by>(?!(?:{nobody})\b)[\w&/-]+(?: [\w&/-]+){{0,3}}?)"
        sources = "|".join(told["sources"])
        says = "|".join(told["says"])
        self.verb = re.compile(rf"\b(?:{verbs})\b|['’](?:s|re|m)\b", re.IGNORECASE)
        self.opening = re.compile(rf"(?:{sources}) {title}\s*[,:]\s", re.IGNORECASE)
        self.closing = re.compile(rf"[\s,(](?:{sources}) {title}\s*[.!)]*$", re.IGNORECASE)
        self.says = re.compile(
            rf"{title} (?:(?:has|have|had|just|now|also|already) )*(?:{says})\b", re.IGNORECASE
        )
        self.said = re.compile(rf",\s*(?:says|said) {title}\s*[.!]*$", re.IGNORECASE)


@lru_cache(maxsize=2)
def _patterns(language: str = "en") -> _Patterns:
    return _Patterns(language)


def attributed(said: Statement) -> Statement:
    """A statement with the title whose word it says it is, where it says so."""
    by = _title(said.text[:_READ].lstrip("-*•# \t"))
    if by is None:
        return said
    claim = said.claim
    if claim is not None and claim.attribute.endswith(by.lower().replace(" ", "_")):
        claim = None  # "According to Anna: …" names Anna, and gives nothing a value
    return replace(said, by=by, claim=claim)


def opening(text: str) -> int:
    """Where what is said begins behind the words that say whose word it is: "Per the CFO, …"."""
    found = _patterns().opening.match(text[:_READ])
    return found.end() if found is not None else 0


def _title(text: str) -> str | None:
    patterns = _patterns()
    if text.rstrip().endswith("?"):
        return None
    lead = _LEAD.match(text)
    for pattern in (_MARK, patterns.opening, patterns.says):
        found = pattern.match(text, lead.end() if lead is not None else 0)
        if found is not None:
            return found.group("by").strip()
    label = _LABEL.match(text)
    if label is not None and _is_sentence(text[label.end() :]):
        return label.group("by").strip()
    for pattern in (patterns.closing, patterns.said):
        if (found := pattern.search(text)) is not None:
            return found.group("by").strip()
    return None


_LEAD = re.compile(
    r"(?:(?:update|note|fyi|correction|ok|okay|so|and|but|also|well|now)[,:]? )+", re.IGNORECASE
)


def _is_sentence(text: str) -> bool:
    """Whether a label opens a sentence, and not a value: "CFO: the cap is $5,000"."""
    return len(words_of(text)) >= _FEWEST and _patterns().verb.search(text) is not None
