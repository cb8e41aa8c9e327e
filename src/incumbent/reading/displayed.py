"""Displayed: whether a turn shows words instead of saying them, by its form and by what it asks.

"Sum this up: ..." with a mail below, a chat that was pasted in, lines of a play: nothing in such a
turn is surely the person's own news. It is kept, gives nothing a name, and changes nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from incumbent.language.lexicon import data

_READ: Final = 4_000
_FEWEST: Final = 6
"""A turn of fewer words has no room for words to be shown."""
_FORMS: Final = re.compile(
    r"^[ \t]*(?:<[\w .-]{1,30}>|\[?\d{1,2}[:.]\d\d(?::\d\d)?\]?[ \t]+[\w .-]{1,30}:|@[\w.-]{1,30}:|"
    r"[\w .-]{1,30} \[?\d{1,2}[:.]\d\d\]?:|[^|\n]{3,60} \| [^|\n]{2,60} \| )|"
    r"^[ \t]*(?:#+|//|--|\*)[ \t]+\S.*\n[ \t]*(?:#+|//|--|\*)[ \t]+\S|"
    r"^[ \t]*\(?[a-h][.)][ \t].*\n[ \t]*\(?[b-h][.)][ \t]|"
    r"^[ \t]*\w[\w .'-]{0,30}:[ \t].*\n(?:.*\n)?[ \t]*\w[\w .'-]{0,30}:[ \t]|"
    r"^[ \t]*(?:from|to|cc|sent|subject|re|fwd?|betreff)\b[ \t]*:|"
    r"(?:^|\s)\*[a-z][^*\n]{4,80}\*(?:\s|$)|^[ \t]*[–—-]{1,3}[ \t]?[A-Z][\w .,&'-]{1,60}$|"
    r"^[ \t]*(?:dear|hi|hello|hey)\b[^.!?\n]{1,40},?[ \t]*$|"
    r"^[ \t]*(?:best|regards|(?:kind|warm|best) (?:regards|wishes)|cheers|sincerely|yours(?: \w+)?|"
    r"warmly|bye|love|thanks),?(?:[ \t]+\w[\w .-]{0,30})?[ \t]*$|\"(?:role|content|type)\"[ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)


@lru_cache(maxsize=2)
def _tasks(language: str = "en") -> re.Pattern[str]:
    told = "".join(data("requests", language)["display"]["tasks"].split("\n"))
    return re.compile(rf"(?<![\w'])(?:{told})(?!\w)", re.IGNORECASE)


def is_displayed(text: str) -> bool:
    """Whether a turn shows words that may be anybody's."""
    text = text[:_READ]
    if len(text.split(maxsplit=_FEWEST)) < _FEWEST:
        return False
    return _FORMS.search(text) is not None or _tasks().search(text) is not None
