"""Cues: what a statement says of itself."""

from __future__ import annotations

import re
from functools import lru_cache

from incumbent.language.lexicon import data, either, word_set

_FLAGS = re.IGNORECASE
_EDGE = 400
"""Cues stand near the beginning or the end; a statement is searched no further than this."""


class _Patterns:
    def __init__(self, language: str) -> None:
        told = data("cues", language)
        self.correction = either(told["correction"])
        self.refusal = re.compile(told["refusal"], _FLAGS)
        self.reversion = either(told["reversion"])
        self.after_all = re.compile(rf"[\s,]+(?:{told['after_all']})$", _FLAGS)
        self.settling = either(told["settling"])
        self.unsettled = re.compile(rf"(?:{told['unsettled']})\b", _FLAGS)
        self.announcing = re.compile(told["announcing"], _FLAGS)
        self.provisional = re.compile(rf"\((?:[^()]* )?(?:{told['provisional']})\)\W*$", _FLAGS)
        self.definite = word_set(told["definite"])
        self.turning_aside = re.compile(told["turning_aside"], _FLAGS)
        self.coming_back = re.compile(told["coming_back"], _FLAGS)
        self.ended = either(told["ended"])
        self.unless = re.compile(told["unless"], _FLAGS)
        self.session = either(told["session"])
        self.task = either(told["task"])
        self.attribution = re.compile(told["attribution"], _FLAGS)
        self.tag = re.compile(told["tag"])
        self.contingency = re.compile(rf"(?:^|[,;.] ){told['contingency']}", _FLAGS | re.DOTALL)
        self.deadline = re.compile(rf"\b{told['deadline']}\s+(?:the |end of )*$", _FLAGS)
        self.needing = either(told["needing"])


@lru_cache(maxsize=8)
def _patterns(language: str) -> _Patterns:
    return _Patterns(language)


class Cues:
    """The cues of one statement, each looked for when it is asked for."""

    def __init__(self, text: str, language: str = "en") -> None:
        self._text = text if len(text) <= 2 * _EDGE else text[:_EDGE] + text[-_EDGE:]
        self._patterns = _patterns(language)

    @property
    def corrects(self) -> bool:
        """Whether it says that it replaces something."""
        return self.refuses or bool(self._patterns.correction.search(self._text))

    @property
    def refuses(self) -> bool:
        """Whether it begins with a no."""
        return bool(self._patterns.refusal.match(self._text))

    @property
    def goes_back_to(self) -> str | None:
        """What it goes back to, in its own words."""
        found = self._patterns.reversion.search(self._text)
        if found is None or is_undone(self._text, found.start()):
            return None
        return self._patterns.after_all.sub("", found.group("what").strip(" .!?,"))

    @property
    def settles(self) -> bool:
        """Whether it settles on what was proposed."""
        return (
            self._patterns.settling.search(self._text) is not None
            and self._patterns.unsettled.search(self._text) is None
        )

    @property
    def announces(self) -> bool:
        """Whether it opens as an update does: how things stand now with what it names."""
        return self._patterns.announcing.match(self._text) is not None

    @property
    def is_provisional(self) -> bool:
        """Whether it ends with a remark that it is not decided yet."""
        return self._patterns.provisional.search(self._text) is not None

    @property
    def is_definite(self) -> bool:
        """Whether it names something as what was decided: the official plan, the final price."""
        words = re.findall(r"[a-z]+", self._text.lower())
        return not self._patterns.definite.isdisjoint(words)

    @property
    def turns_aside(self) -> bool:
        """Whether it turns to something else for a while."""
        return self._patterns.turning_aside.match(self._text) is not None

    @property
    def comes_back(self) -> bool:
        """Whether it comes back to what was talked about before that."""
        return self._patterns.coming_back.match(self._text) is not None

    @property
    def what_is_over(self) -> str | None:
        """The thing of which it tells that it is over, and nothing takes its place; None where it
        asks for that, or does not."""
        found = self._patterns.ended.search(self._text)
        if found is None or is_undone(self._text, found.start()) or found.group("asked"):
            return None
        return self._text[: found.start()].strip(" ,-–—") or None

    @property
    def is_for_session(self) -> bool:
        return self._patterns.session.search(self._text) is not None

    @property
    def is_for_task(self) -> bool:
        return self._patterns.task.search(self._text) is not None

    @property
    def attribution(self) -> str | None:
        """The title or name that it opens with as whose word it is."""
        for pattern in (self._patterns.tag, self._patterns.attribution):
            if (found := pattern.match(self._text)) is not None:
                return next((name for name in found.groups() if name), "").strip()
        return None

    @property
    def contingency(self) -> str | None:
        """What has to change for something to be so."""
        found = self._patterns.contingency.search(self._text)
        return found.group("base") if found is not None else None

    def is_deadline(self, start: int) -> bool:
        """Whether the date at that place is one by which something must be done."""
        return (
            self._patterns.deadline.search(self._text[:start]) is not None
            and self._patterns.needing.search(self._text) is not None
        )


def is_undone(text: str, start: int, language: str = "en") -> bool:
    """Whether what stands before a place in a text denies what is there, or only supposes it."""
    return _patterns(language).unless.search(text[max(0, start - 40) : start]) is not None
