"""Cues: what a statement says of itself."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from tenure.language.lexicon import data, either

_FLAGS = re.IGNORECASE
_EDGE = 400
"""Cues stand near the beginning or the end; a statement is searched no further than this."""


class _Patterns:
    def __init__(self, language: str) -> None:
        told = data("cues", language)
        self.correction = either(told["correction"])
        self.refusal = re.compile(told["refusal"], _FLAGS)
        self.reversion = re.compile(rf"(?:^|[,;.!-] )(?:{told['reversion']})", _FLAGS)
        self.earlier = re.compile(rf"(?:{told['earlier']})\b", _FLAGS)
        self.settling = either(told["settling"])
        self.erasure = either(told["erasure"])
        self.everything = re.compile(rf"\s*(?:{told['everything']})\b", _FLAGS)
        self.narrowing = re.compile(told["narrowing"], _FLAGS)
        self.session = either(told["session"])
        self.task = either(told["task"])
        self.attribution = either(told["attribution"])
        self.tag = re.compile(told["tag"])
        self.derivation = re.compile(told["derivation"], _FLAGS)
        self.basis = either(told["basis"])
        self.contingency = re.compile(told["contingency"], _FLAGS | re.DOTALL)
        self.follows = either(told["follows"])
        self.deadline = re.compile(rf"\b{told['deadline']}\s+(?:the |end of )*$", _FLAGS)
        self.needing = either(told["needing"])


@lru_cache(maxsize=8)
def _patterns(language: str) -> _Patterns:
    return _Patterns(language)


class Contingency(NamedTuple):
    """Something that is to be so once something else changes."""

    base: str
    then: str
    start: int
    """Where what is to be so stands."""
    follows: bool
    """Whether it only says that this will change too, and not to what."""


class Erasure(NamedTuple):
    """What somebody wants gone from memory."""

    what: str


class Cues:
    """The cues of one statement, each looked for when it is asked for."""

    def __init__(self, text: str, language: str = "en") -> None:
        self._text = text if len(text) <= 2 * _EDGE else text[:_EDGE] + text[-_EDGE:]
        self._patterns = _patterns(language)

    @property
    def corrects(self) -> bool:
        """Whether it says that it replaces something."""
        return bool(
            self._patterns.refusal.match(self._text) or self._patterns.correction.search(self._text)
        )

    @property
    def refuses(self) -> bool:
        return self._patterns.refusal.match(self._text) is not None

    @property
    def goes_back_to(self) -> str | None:
        """What it goes back to, in its own words."""
        found = self._patterns.reversion.search(self._text)
        return found.group("what").strip(" .!?,") if found is not None else None

    def is_earlier(self, what: str) -> bool:
        """Whether words such as "the original one" stand for whatever was so before."""
        return self._patterns.earlier.match(what) is not None

    @property
    def settles(self) -> bool:
        """Whether it settles on what was proposed."""
        return self._patterns.settling.search(self._text) is not None

    @property
    def erasure(self) -> Erasure | None:
        found = self._patterns.erasure.search(self._text)
        if found is None:
            return None
        return Erasure((found.group("what") or found.group("own") or "").strip(" .,!?"))

    @property
    def narrowed_to(self) -> tuple[str, int] | None:
        """The thing it is limited to, and where the rest begins."""
        found = self._patterns.narrowing.match(self._text)
        return (found.group("thing"), found.end()) if found is not None else None

    @property
    def is_for_session(self) -> bool:
        return self._patterns.session.search(self._text) is not None

    @property
    def is_for_task(self) -> bool:
        return self._patterns.task.search(self._text) is not None

    @property
    def attributed_to(self) -> list[str]:
        """The titles or names that it may be attributed to, the most telling first."""
        found = []
        tag = self._patterns.tag.match(self._text)
        if tag is not None:
            found.append(tag.group("tag") or tag.group("mark"))
        for match in self._patterns.attribution.finditer(self._text):
            found.append(match.group("by") or match.group("who"))
        return [name.strip() for name in found if name]

    @property
    def tag_end(self) -> int:
        """Where the text begins after a speaker tag."""
        tag = self._patterns.tag.match(self._text)
        return tag.end() if tag is not None else 0

    @property
    def derives(self) -> bool:
        """Whether it draws a conclusion from what was said before."""
        return self._patterns.derivation.match(self._text) is not None

    @property
    def bases(self) -> list[str]:
        """The things that it says it rests on."""
        return [m.group("base").strip() for m in self._patterns.basis.finditer(self._text)]

    @property
    def contingency(self) -> Contingency | None:
        found = self._patterns.contingency.search(self._text)
        if found is None:
            return None
        then = found.group("then").strip(" .!")
        follows = self._patterns.follows.match(then) is not None
        return Contingency(found.group("base"), then, found.start("then"), follows)

    def is_deadline(self, start: int) -> bool:
        """Whether the date at that place is one by which something must be done."""
        return (
            self._patterns.deadline.search(self._text[:start]) is not None
            and self._patterns.needing.search(self._text) is not None
        )
