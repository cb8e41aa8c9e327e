"""Stored text as data: it stays on its own line and looks like data, whatever it contains."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from incumbent.context.injection import is_addressed, may_address
from incumbent.model.text_cache import remembered
from incumbent.model.values import text_of
from incumbent.model.words import letters

_STRETCH = 4_096
_SHARED = 256
GONE = "[no longer current]"
"""Stands in the place of a dead value that was cut out of a text."""

Cuts = Sequence[tuple[int, int]]
"""Spans of a value's text that must not be shown, in order."""

# Anything that could end a line, hide text or turn its direction. The joiners that emoji and some
# scripts are written with may stand after a character of such a script, and nowhere else.
_UNRULY = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2028\u2029"
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    "|(?<![^\x00-\u02ff])[\u200c\u200d\ufe0e\ufe0f]"
)
# Delimiters of prompts and chats. They never appear as such: inside quotes they are escaped. Gaps
# are bounded, so that no text makes the search slow.
_TAGS = (
    "system|assistant|user|human|developer|tool|function|context|facts?|memory|instructions?|"
    "documents?|polic(?:y|ies)|constraints?|prompt|think|thinking|invoke|bos|eos|unk|pad|s|"
    "start_of_turn|end_of_turn|im_start|im_end"
)
_GAP = r"[ \t]{0,8}"
_DELIMITER = re.compile(
    rf"<{_GAP}/{_GAP}(?i:{_TAGS})(?![A-Za-z0-9])"  # closing tags, anywhere
    rf"|(?<![\w.])<{_GAP}(?i:{_TAGS})(?![A-Za-z0-9])"  # opening tags that follow no name
    rf"|<{_GAP}(?:{_TAGS}|{_TAGS.upper()})(?![A-Za-z0-9])"  # List<User> is a type, not a tag
    r"|<[|\uff5c](?=\S)|‹[|\uff5c]|`{3,}|~{3,}|<</?\w{1,40}>>"
    r"|(?i:\[/?(?:INST|SYS|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\])"
)
# What could be taken for the frame around the data instead of data: headings, list marks, our own
# markers and sentences. Who speaks, and who is spoken to, is told by `addressing`.
_FRAME = re.compile(
    r"^\s{0,8}(?:#{1,6}\s|[-*+>|]\s|\d{1,3}[.)]\s|={3,}|-{3,}|\*{3,})|(?:^|\s)#{2,}\s"
    r"|\[(?:cut|policy|budget|deadline|capacity|binding|no longer current|erased|contested|id )"
    r"|\bnot known, recalculate\b|\bnever act against\b|\bnot to be relied on\b"
    r"|what was known (?:was taken back|expired)|^nothing on record|^not available right now"
    r"|^(?:Not known|History|To recalculate|Contested|Ahead|Working set|Constraints)\b.{0,3}\("
    r"|^Possibly outdated\b.{0,3}\(|\(in doubt since "
    r"|\(read (?:just now|\d{1,9} \w{1,9} ago)\)|\(\S{1,40} to \S{1,40}, \w{1,20}\)$"
    r"|^(?:from )?\d{4}-\d\d-\d\d(?:, [^:]{1,80}| \(.{1,80})?:\s"
    r"|\((?:said|from) \d{4}-|\(composed\)"
    r'|^".*"$|^«.*»$',
    re.IGNORECASE,
)
# A name, a number, an address of the net: nothing in it that any of the patterns looks for.
_SURELY_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@/-]*\Z")
# Without the signs of what is odd, of delimiters and of frames, only the beginning of a text or one
# of a few words can make it look like a frame.
_UNMARKED = re.compile(r"[A-Za-z0-9\u00c0-\u00ff !$%&',./:;?@\\^_{}+-]+\Z")
_FRAME_WORDS = frozenset(["recalculate", "act", "relied", "known", "nothing", "available"])
# In a name these would end it and begin something else.
_ENDING = re.compile(
    r"[()]|:(?:\s|$)|, |^/"  # tokenizers join a slash to the line before
    r"|^(?:from )?\d{4}-\d\d-\d\d$"  # the label of a statement
)


def inline(value: Any, cuts: Cuts = ()) -> str:
    """A value on one line. Text that could be taken for anything but data is put in quotes.

    Inside the quotes, characters that hide or turn text or close a frame are escaped; the rest
    stays word for word.
    """
    if not cuts and isinstance(value, str):
        return _whole(value)
    text = text_of(value)
    kept = [text]
    for start, end in reversed(cuts):
        kept[0:1] = [kept[0][:start], kept[0][end:]]
    if not isinstance(value, str):
        return _escaped(GONE.join(kept))
    return _quoted(text, kept)


@remembered
def _whole(text: str) -> str:
    if _SURELY_PLAIN.match(text) or _reads_plainly(text):
        return text
    return _quoted(text, [text])


def _reads_plainly(text: str) -> bool:
    """Whether a text is surely shown as it is, as most are. It is not searched for all that others
    could be taken for."""
    if _UNMARKED.match(text) is None or text[0] == " " or text[-1] == " " or len(text) > _STRETCH:
        return False
    said = set(letters(text))
    if not said.isdisjoint(_FRAME_WORDS) or may_address(said):
        return False
    opens_with_a_word = text[0].isalpha() and text[:4].lower() != "from"
    return opens_with_a_word or _FRAME.match(text) is None


def _quoted(text: str, kept: Sequence[str]) -> str:
    """The kept parts of a text, in quotes if they need them."""
    if _is_odd(text):
        said = (json.dumps(part, ensure_ascii=False)[1:-1] for part in kept)
        # As a whole: what is cut out may have stood in the middle of a delimiter.
        return f'"{_escaped(GONE.join(said))}"'
    if _matches(_FRAME, text) or is_addressed(text):
        opened, closed = ("«", "»") if '"' in text else ('"', '"')
        return f"{opened}{GONE.join(kept)}{closed}"
    return GONE.join(kept)


@remembered
def name(text: str) -> str:
    """A key, a subject or a person's name; also in quotes if it could run into the words after
    it."""
    if _SURELY_PLAIN.match(text) and text[0] not in "0123456789":
        return text  # nothing in it ends a name, either
    shown = inline(text)
    if shown == text and _ENDING.search(text):
        return json.dumps(text, ensure_ascii=False)
    return shown


def _is_odd(text: str) -> bool:
    """Whether something in a text must not be shown as it is."""
    return (
        not text
        or text != text.strip()
        or unicodedata.category(text[0]).startswith("M")
        or _finds(_UNRULY, text)
        or _matches(_DELIMITER, text)
        or (("«" in text or "»" in text) and '"' in text)
    )


def _matches(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a text matches a pattern, as it is or with full-width and other forms made plain."""
    if _finds(pattern, text):
        return True
    if text.isascii():
        return False
    plain = unicodedata.normalize("NFKC", text)
    return plain != text and _finds(pattern, plain)


def _finds(pattern: re.Pattern[str], text: str) -> bool:
    """True if a pattern is in a text. The search goes stretch by stretch, because no other thread
    runs during one search.

    A pattern may take the end of a stretch for the end of the text, and so find too much rather
    than too little. Stretches overlap by more than any pattern is wide, except one for a whole
    text.
    """
    if len(text) <= _STRETCH:
        return bool(pattern.search(text))
    if text[0] + text[-1] in ('""', "«»"):  # as one whole, quoted already
        return True
    starts = range(0, len(text), _STRETCH - _SHARED)
    return any(pattern.search(text, start, start + _STRETCH) for start in starts)


def _escaped(text: str) -> str:
    """Text without the characters that hide or turn it, and without delimiters."""
    text = _UNRULY.sub(lambda found: _code(found.group()), text)
    text = _DELIMITER.sub(lambda found: _code(found.group()[0]) + found.group()[1:], text)
    if text and unicodedata.category(text[0]).startswith("M"):
        text = _code(text[0]) + text[1:]  # it would join our own quotation mark
    if not text.isascii() and _matches(_DELIMITER, text):
        text = "".join(_code(c) if _is_disguise(c) else c for c in text)
    return text


def _is_disguise(character: str) -> bool:
    """Whether a character is another form of one that delimiters are made of."""
    plain = unicodedata.normalize("NFKC", character)
    return plain != character and any(sign in "<>|`~[]/" for sign in plain)


def _code(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
