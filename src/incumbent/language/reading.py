"""What in a turn is the speaker's own prose, and where its sentences begin and end.

People paste code, logs and other people's mail into what they say. None of that is said by them,
so a turn is cut into blocks first, and only prose into sentences. Every piece knows its place in
the turn: `turn[start:end]` is its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from incumbent.language.lexicon import data, word_set
from incumbent.language.lines import MARKER, TextLine, lines_of, stretches

LONGEST_SENTENCE = 2_000
"""Whatever runs on for longer is cut, so that nothing that looks at a sentence can take long."""


class BlockKind(StrEnum):
    """Whose words a block holds."""

    PROSE = "prose"
    CODE = "code"
    LOG = "log"
    QUOTE = "quote"


@dataclass(frozen=True, slots=True)
class Block:
    """A run of whole lines of one kind."""

    kind: BlockKind
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, an item of a list, a row of a table, or a line that stands by itself."""

    text: str
    start: int
    end: int


class _Conventions:
    """How a language writes mail and shortens words."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.never_final = word_set(told["never_final"])
        self.before_numbers = word_set(told["before_numbers"])
        self.may_be_final = word_set(told["may_be_final"])
        self.starters = word_set(told["starters"])
        self.reply = re.compile("|".join(told["reply"]), re.IGNORECASE)
        self.sign_off = re.compile("|".join(told["sign_off"]), re.IGNORECASE)


@lru_cache(maxsize=8)
def _conventions(language: str = "en") -> _Conventions:
    return _Conventions(data("statements", language)["reading"])


_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_RAW = re.compile(r"<(pre|script|style)\b", re.IGNORECASE)
_QUOTED = re.compile(r"\s{0,3}>(?:$|[\s>]|[^\W\d])")
_INDENTED = re.compile(r"(?: {4}|\t)\s*\S")
_LOOKS_LIKE_CODE = re.compile(
    r"[;{}\\]\s*$|[\w\])]\(.*\)|\w\s*(?:=|:=|\+=|=>|->|::)\s*\S|^\s*(?:#!|//|/\*|<\w|\$ |>>> |@\w)"
    r"|^\s*(?:def|class|import|from|return|const|let|var|func|function|SELECT|sudo|pip|git|npm)\s"
)
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE)"
_DAY = r"\d{4}[-/]\d\d[-/]\d\d[T ]"
_ZONE = r"(?:Z|[+-]\d\d:?\d\d)?[\])]?"
_MOMENT = rf"[\[(]?(?:{_DAY})?\d\d:\d\d(?::\d\d)?[.,\d]*{_ZONE}"
_CLOCK = r"\d\d:\d\d:\d\d"
_SECOND = rf"[\[(]?(?:(?:{_DAY})?{_CLOCK}[.,\d]*{_ZONE}|[A-Z][a-z]{{2}} [ \d]\d {_CLOCK})"
_STAMPED = re.compile(rf"\s*{_SECOND}(?:\s|$)")
_LOG = re.compile(
    rf"\s*{_MOMENT}.{{0,60}}?\b{_LEVEL}\b"
    rf"|\s*{_SECOND}\s+(?:[\w.-]+\s+)?[a-z][\w./-]*(?:\[\d+\])?:\s"
    rf"|\s*\[?{_LEVEL}(?:\]|:|\s+\[|\s+\d)"
    r"|\s*Traceback \(most recent call last\)"
    r"|\s+at [\w.$<>/]+ ?\("
    r"|\s+File \"[^\"]+\", line \d+"
    r"|\s*(?:Caused by: )?[\w.]+(?:Error|Exception)(?::|$)"
)
_TRACE = re.compile(r"\s*Traceback \(most recent call last\)")
_SIGNATURE = re.compile(r"-- ?$")
_SIGNATURE_LINES = 12
_LOOKED_AT = 20


def blocks(text: str) -> list[Block]:
    """The blocks of a turn in order. What is blank belongs to none."""
    lines = lines_of(text)
    found: list[Block] = []
    prose_from = index = 0
    while index < len(lines):
        region = _region(lines, index)
        if region is None:
            index += 1
            continue
        kind, after = region
        found.extend(_block(text, lines, BlockKind.PROSE, prose_from, index))
        found.extend(_block(text, lines, kind, index, after))
        prose_from = index = after
    found.extend(_block(text, lines, BlockKind.PROSE, prose_from, len(lines)))
    return found


def _block(
    text: str, lines: list[TextLine], kind: BlockKind, first: int, after: int
) -> Iterator[Block]:
    """The block that some lines make, without the blank lines around it."""
    while first < after and not lines[first].text.strip():
        first += 1
    while first < after and not lines[after - 1].text.strip():
        after -= 1
    if first < after:
        start = lines[first].start
        end = lines[after - 1].start + len(lines[after - 1].text.rstrip())
        yield Block(kind, text[start:end], start, end)


def _region(lines: list[TextLine], index: int) -> tuple[BlockKind, int] | None:
    """What is not prose from a line on, and the line after its end."""
    line = lines[index].text
    if not line or line.isspace():
        return None
    if fence := _FENCE.match(line):
        return BlockKind.CODE, _closing(lines, index + 1, fence[1])
    if "<" in line and (raw := _RAW.search(line)):
        return BlockKind.CODE, _closing(lines, index, f"</{raw[1]}")
    if _is_code(lines, index):
        return BlockKind.CODE, _run(lines, index, _INDENTED)
    if _QUOTED.match(line):
        return BlockKind.QUOTE, _run(lines, index, _QUOTED)
    if after := _log(lines, index):
        return BlockKind.LOG, after
    if after := _mail(lines, index):
        return BlockKind.QUOTE, after
    return None


def _closing(lines: list[TextLine], index: int, mark: str) -> int:
    """The line after the one that closes what was opened; what is never closed runs to the end."""
    lowered = mark.lower()
    for at in range(index, len(lines)):
        line = lines[at].text.lower()
        if line.strip().startswith(lowered) or (lowered[0] == "<" and lowered in line):
            return at + 1
    return len(lines)


def _run(
    lines: list[TextLine], index: int, pattern: re.Pattern[str], most: int | None = None
) -> int:
    """The line after a run of lines of one form; blank lines may stand between them."""
    after = at = index + 1
    end = len(lines) if most is None else min(len(lines), index + most)
    while at < end:
        if pattern.match(lines[at].text):
            after = at + 1
        elif lines[at].text.strip():
            break
        at += 1
    return after


def _is_code(lines: list[TextLine], index: int) -> bool:
    """Whether indented lines after a blank one are code, and not just set in."""
    line = lines[index].text
    if not _INDENTED.match(line) or MARKER.match(line):
        return False
    if index and lines[index - 1].text.strip():
        return False
    after = _run(lines, index, _INDENTED, _LOOKED_AT)
    return any(_LOOKS_LIKE_CODE.search(lines[at].text[:500]) for at in range(index, after))


def _log(lines: list[TextLine], index: int) -> int:
    """The line after a run of log lines, or 0."""
    at = index
    while at < len(lines):
        line = lines[at].text[:500]
        if _TRACE.match(line):
            at = _after_trace(lines, at)
        elif _LOG.match(line):
            at += 1
        elif _STAMPED.match(line) and (at > index or _is_stamped(lines, at + 1)):
            at += 1  # one line that begins with a time may be prose
        else:
            break
    return at if at > index else 0


def _is_stamped(lines: list[TextLine], index: int) -> bool:
    return index < len(lines) and bool(_STAMPED.match(lines[index].text))


def _after_trace(lines: list[TextLine], index: int) -> int:
    """The line after a stack trace: its indented frames, and the error that it ends with."""
    at = index + 1
    while at < len(lines) and lines[at].text[:1] in (" ", "\t"):
        at += 1
    return min(at + 1, len(lines))


def _mail(lines: list[TextLine], index: int) -> int:
    """The line after what a mail program added: an earlier mail, a signature; or 0."""
    line = lines[index].text
    if _SIGNATURE.match(line) and index and len(lines) - index <= _SIGNATURE_LINES:
        return len(lines)
    if len(line) > 300:
        return 0
    conventions = _conventions()
    if conventions.sign_off.match(line):
        return index + 1
    following = lines[index + 1].text if index + 1 < len(lines) else ""
    if not conventions.reply.match(line):
        wrapped = following.rstrip().endswith(":") and len(following) <= 300
        if not wrapped or not conventions.reply.match(f"{line} {following}"):
            return 0
        index += 1
    at = index + 1
    while at < len(lines) and not lines[at].text.strip():
        at += 1
    if at < len(lines) and _QUOTED.match(lines[at].text):
        return _run(lines, at, _QUOTED)
    return len(lines)


_TAG = re.compile(
    r"</?(?:p|div|br|hr|li|ul|ol|table|thead|tbody|tr|h[1-6]|section|article|blockquote|body|html"
    r"|head|title|dl|dt|dd|form|header|footer|nav|main)(?:\s[^<>]*)?/?>|<!--[^<>]*-->|<!doctype[^<>]*>",
    re.IGNORECASE,
)
_STOP = re.compile(
    r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s|$|<)"
    r"|(?<![。！？｡؟।])[。！？｡؟।]++[」』”’）)]*+"
    r"|(?<=[a-z]{2})[.!?](?=[A-Z][a-z]|I\b)"
)
_INITIALS = re.compile(r"[A-Z]|[^\W\d_]{1,2}(?:\.[^\W\d_]{1,2})+")
_WORD_BEFORE = re.compile(r"[\w.]+$")
_WORD_AFTER = re.compile(r"\s*[\"'“‘(\[]*([\w'’]+)")


def sentences(block: Block) -> list[Sentence]:
    """The sentences of a block of prose; a block of anything else is one piece."""
    if block.kind is not BlockKind.PROSE:
        return [Sentence(block.text, block.start, block.end)]
    text = block.text
    return [
        Sentence(text[start:end], block.start + start, block.start + end)
        for first, last in stretches(text)
        for after, before in _between_tags(text, first, last)
        for piece in _ended(text, after, before)
        for start, end in _trimmed(text, *piece)
    ]


def _between_tags(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The stretches between the tags that begin something new on a page."""
    if text.find("<", start, end) >= 0:
        for tag in _TAG.finditer(text, start, end):
            yield start, tag.start()
            start = tag.end()
    yield start, end


def _ended(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A stretch cut after each mark that ends a sentence."""
    for stop in _STOP.finditer(text, start, end):
        if _is_end(text, stop.group(), stop.start(), text[stop.end() : min(end, stop.end() + 40)]):
            yield start, stop.end()
            start = stop.end()
    yield start, end


def _is_end(text: str, mark: str, at: int, rest: str) -> bool:
    """Whether a stop ends a sentence, by the words on both sides."""
    following = _WORD_AFTER.match(rest)
    after = following[1] if following else ""
    if not after:
        return True
    # What was hesitated over comes after the dots: "the code is... 4471".
    goes_on = after[0].islower() or after[0].isdigit()
    if mark[0] != ".":
        return mark[-1] in "!?。！？｡؟।" or not goes_on
    if mark.startswith(".."):
        return not goes_on
    if at and text[at - 1].isspace():
        return True
    return _ends_after(_WORD_BEFORE.search(text, max(0, at - 16), at), after)


def _ends_after(word: re.Match[str] | None, after: str) -> bool:
    """Whether a single full stop after a word ends a sentence, or only shortens the word."""
    if word is None:
        return True
    said = word.group()
    folded = said.lower()
    conventions = _conventions()
    if folded in conventions.never_final:
        return False
    if folded in conventions.before_numbers:
        return not after[0].isdigit()
    if folded not in conventions.may_be_final and not _INITIALS.fullmatch(said):
        return True
    return after == "i" or (after[0].isupper() and after.lower() in conventions.starters)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A stretch without the space around it, in pieces that are not too long."""
    while end - start > LONGEST_SENTENCE:
        space = text.rfind(" ", start + LONGEST_SENTENCE // 2, start + LONGEST_SENTENCE)
        cut = space if space > 0 else start + LONGEST_SENTENCE
        yield from _trimmed(text, start, cut)
        start = cut
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    end -= len(piece) - len(piece.rstrip())
    if start < end:
        yield start, end
