"""What a turn only shows: stretches that stand in it as somebody's words, by how they are written.

Quotation marks, fences and code, lines with a ">", mail that was forwarded or answered, logs, and
what stands under the label of a machine in a transcript that was pasted in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from incumbent.language.lexicon import DEFAULT_LANGUAGE, data, word_set
from incumbent.language.reading import BlockKind, blocks
from incumbent.language.speakers import is_machine

_PAIRS = {
    '"': '"',
    "“": "”",
    "„": "“”‟",
    "‟": "”",
    "«": "»",
    "»": "«",
    "‹": "›",
    "›": "‹",
    "‘": "’",
    "‚": "‘’",
    "'": "'",
    "`": "`",
    "＂": "＂",
    "「": "」",
    "『": "』",
    "〝": "〞〟",
    "❝": "❞",
}
"""What opens a quotation, and what may close it."""
_APOSTROPHES = frozenset("'’‘")
_MARK = re.compile(r"[\"“”„‟«»‹›‘’‚'`＂「」『』〝〞〟❝❞]")
_SPEECH = frozenset("'‘‚")
"""What may also be an apostrophe: unless it is closed, it opens nothing."""
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_SET_OFF = re.compile(r"^[ \t]*(?:>|＞|&gt;|»).*$", re.MULTILINE)
_ELEMENT = re.compile(
    r"<(blockquote|q|cite|code|pre|kbd|samp)\b[^<>]{0,200}>.*?(?:</\1\s*>|\Z)", re.S | re.I
)
_HEADER = re.compile(r"^[ \t*_]*([^\W\d_][\w-]{0,11})[ \t*_]*:.*$", re.MULTILINE)
_LABEL = re.compile(
    r"^[^\w\[(<]{0,8}[\[(<]?(?P<name>[^\W_][^\n:\[\]()<>]{0,39}?)[\])>]?"
    r"(?:[ \t]*\([^()\n]{1,40}\))?[ \t]*[:：][ \t]*",
    re.MULTILINE,
)


class Span(NamedTuple):
    """From where to where."""

    start: int
    end: int


def shown(text: str) -> list[Span]:
    """The stretches of a turn that are shown, in order; they do not overlap."""
    found = [
        *_blocks(text),
        *(Span(*line.span()) for line in _SET_OFF.finditer(text)),
        *(Span(*one.span()) for one in _ELEMENT.finditer(text)),
        *_mail(text),
        *_transcript(text),
        *_quotations(text),
    ]
    return _joined(found)


def _joined(spans: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return joined


def _blocks(text: str) -> Iterator[Span]:
    for block in blocks(text):
        if block.kind is not BlockKind.PROSE:
            yield Span(block.start, block.end)


@lru_cache(maxsize=8)
def _headers(language: str) -> frozenset[str]:
    return word_set(data("voice", language)["mail"]["headers"])


def _mail(text: str, language: str = DEFAULT_LANGUAGE) -> Iterator[Span]:
    """From two headers in a row on, it is somebody's mail."""
    names = _headers(language)
    before = -1
    for line in _HEADER.finditer(text):
        if line.group(1).lower() not in names:
            continue
        if before >= 0 and not text[before : line.start()].strip():
            yield Span(line.start(), len(text))
            return
        before = line.end()


def _transcript(text: str) -> Iterator[Span]:
    """What a machine says in a transcript: from its label to the next."""
    labels = list(_LABEL.finditer(text))
    for index, label in enumerate(labels):
        if is_machine(label.group("name")):
            after = labels[index + 1].start() if index + 1 < len(labels) else len(text)
            yield Span(label.start(), after)


def _quotations(text: str) -> Iterator[Span]:
    start = 0
    for gap in [*_PARAGRAPH.finditer(text), None]:
        end = gap.start() if gap is not None else len(text)
        yield from _quoted(text, start, end)
        start = gap.end() if gap is not None else end


def _quoted(text: str, start: int, end: int) -> Iterator[Span]:
    """The quotations of a paragraph; one that is never closed runs to its end."""
    opened: list[tuple[str, int]] = []
    for mark in _MARK.finditer(text, start, end):
        sign, at = mark.group(), mark.start()
        if opened and sign in _PAIRS[opened[-1][0]] and _may_close(text, at, sign):
            first = opened.pop()[1]
            if not opened:
                yield Span(first, at + 1)
        elif sign in _PAIRS and _may_open(text, at, sign):
            if opened and sign in _SPEECH:
                continue  # within a quotation it is an apostrophe, or makes no difference
            if opened and opened[-1][0] in _SPEECH:
                opened.pop()  # that was an apostrophe
            opened.append((sign, at))
    if opened and opened[0][0] not in _SPEECH:
        yield Span(opened[0][1], end)


def _may_open(text: str, at: int, sign: str) -> bool:
    """Whether a mark that also closes, or is an apostrophe, stands where a quotation begins."""
    before = text[at - 1 : at]
    after = text[at + 1 : at + 2]
    if sign in "“„«「『〝❝":
        return True
    return not (before.isalnum() or (before in _APOSTROPHES and before)) and not after.isspace()


def _may_close(text: str, at: int, sign: str) -> bool:
    return sign not in "'’‘" or not text[at + 1 : at + 2].isalnum()
