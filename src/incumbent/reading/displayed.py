"""Displayed: whether a turn shows words instead of saying them, by its form and by what it asks.

"Sum this up: ..." with a mail below, a chat that was pasted in, lines of a play: nothing in such a
turn is surely the person's own news. It is kept, gives nothing a name, and changes nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from incumbent.language.lexicon import data
from incumbent.language.moods import Kind
from incumbent.language.statements import statements
from incumbent.reading.form import Span

_READ: Final = 4_000
_FEWEST: Final = 6
"""A turn of fewer words has no room for words to be shown."""
_FORMS: Final = re.compile(
    r"^[ \t]*(?:<[\w .-]{1,30}>|\[?\d{1,2}[:.]\d\d(?::\d\d)?\]?[ \t]+[\w .-]{1,30}:|@[\w.-]{1,30}:|"
    r"[\w .-]{1,30} \[?\d{1,2}[:.]\d\d\]?:|[^|\n]{3,60} \| [^|\n]{2,60} \| )|"
    r"^[ \t]*(?:#+|//)[ \t]+\S.*\n[ \t]*(?:#+|//)[ \t]+\S|"
    r"^[ \t]*\(?[a-h][.)][ \t].*\n[ \t]*\(?[b-h][.)][ \t]|"
    r"^[ \t]*(?P<who>\w[\w .'-]{0,30}):[ \t].*\n(?:.*\n){0,4}?[ \t]*(?P=who):[ \t]|"
    r"^[ \t]*(?:from|to|cc|sent|subject|re|fwd?|betreff)\b[ \t]*:|"
    r"(?:^|\s)\*[a-z][^*\n]{4,80}\*(?:\s|$)|\n[ \t]*[–—][ \t]?[A-Z][\w .,&'-]{1,60}$|"
    r"^[ \t]*(?:dear(?: [\w.'-]+){1,4},|(?:hi|hello)(?: [\w.'-]+){1,4},[ \t]*\n)|"
    r"\n[ \t]*(?:best|regards|(?:kind|warm|best) (?:regards|wishes)|sincerely|yours(?: \w+)?|"
    r"warmly),?(?:[ \t]+\w[\w .-]{0,30})?[ \t]*$|\"(?:role|content|type)\"[ \t]*:|"
    r"\n--[ \t]*\n",
    re.IGNORECASE | re.MULTILINE,
)
_ROOM: Final = re.compile(r":\s|\n|[\"“”„«»*]")
"""What sets off the words that are shown from those that ask for something to be done with them."""
_HERALD: Final = re.compile(r"\w?[a-z'’]*(?: [a-z'’]+){1,5}: (?=\w)")
_PARAGRAPH: Final = re.compile(r"[ \t]*\n[ \t]*\n\s*|(?<=[:?])[ \t]*\n\s*")
_QUOTED: Final = re.compile(r"\"[^\"\n]{40,}\"|“[^”]{40,}”|„[^“”]{40,}[“”]|«[^»]{40,}»")
"""Words quoted at length: what stands around them mostly speaks of them."""


@lru_cache(maxsize=2)
def _tasks(language: str = "en") -> re.Pattern[str]:
    told = "".join(data("requests", language)["display"]["tasks"].split("\n"))
    return re.compile(rf"(?<![\w'])(?:{told})(?!\w)", re.IGNORECASE)


def is_displayed(text: str) -> bool:
    """Whether a turn shows words that may be anybody's."""
    text = text[:_READ]
    if len(text.split(maxsplit=_FEWEST)) < _FEWEST:
        return False
    if _FORMS.search(text) is not None:
        return True
    return _ROOM.search(text) is not None and _tasks().search(text) is not None


def may_be_shown(text: str) -> list[Span]:
    """The stretches of a turn that may be somebody else's words: the whole turn where it quotes at
    length, otherwise the paragraphs beside one that asks for something. What stands
    in one paragraph with the question is the person's own."""
    if _QUOTED.search(text[:_READ]) is not None:
        return [(0, len(text))]
    if "\n" not in text.strip():
        return []
    begins = [0, *(found.end() for found in _PARAGRAPH.finditer(text))]
    ends = [*(found.start() for found in _PARAGRAPH.finditer(text)), len(text)]
    spans = [(a, b) for a, b in zip(begins, ends, strict=True) if a < b]
    for kind in (Kind.QUESTION, Kind.REQUEST):
        asking = [
            span
            for span in spans
            if any(one.kind is kind for one in statements(text[span[0] : min(span[1], _READ)]))
        ]
        if asking:
            # A letter is full of requests: where something is asked, they are part of it.
            return [span for span in spans if span not in asking]
    return []


def announces(text: str) -> bool:
    """Whether a statement opens by saying what kind of news comes: "Change of plan: …". A name or a
    single word there may be whose words these are, or what is to be done with them."""
    found = _HERALD.match(text[:_READ])
    return found is not None and _tasks().search(found.group()) is None
