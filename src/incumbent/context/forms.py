"""Dead values in other forms: the words of forms that identify a lost value, and their weight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from incumbent.model.fact import Part
from incumbent.model.forms import (
    AMOUNT,
    Form,
    Read,
    is_doubtful,
    is_exact,
    lost_as,
    part_forms,
)
from incumbent.model.words import LONGEST_VALUE, Words, said

_CONNECTING = """
about after am an and approximately are around as at be before between by do each every for from go
has he her his if in is it its just me my no not of on only or our over per roughly since so than
the till to under until up us was we with you your
"""
FUNCTION_WORDS = frozenset(_CONNECTING.split())


class Lost(NamedTuple):
    """A lost value as it may be written in another form."""

    word: str
    """The word of that form."""
    text: str
    """The original text of the value."""
    form: Form
    beside: frozenset[str]
    """The other words of the lost value. With such words, this form is only a part of it."""

    @property
    def number(self) -> str:
        """The number, if there is nothing else to compare."""
        return self.form.vague if self.form.kind == AMOUNT else ""

    @property
    def is_doubtful(self) -> bool:
        """Whether this form identifies the value only beside a word for its matter."""
        return bool(self.beside) or is_doubtful(self.word, self.form)

    @property
    def is_exact(self) -> bool:
        """Whether the form is exactly as precise as the value, and is the whole of it."""
        return not self.beside and is_exact(self.word, self.form)

    @property
    def is_counting(self) -> bool:
        """Whether it is a plain count of something. Then the counted thing has to be in the text
        too."""
        return bool(self.beside) and self.form.kind == AMOUNT and not self.form.whole


def lost_in_text(text: str, read: Read) -> Iterator[Lost]:
    """The forms of a lost value, unless it is a sentence: a sentence is about many things."""
    if len(said(text)) > LONGEST_VALUE:
        return
    found = _outermost([form for form in read(text) if not form.within])
    if not found:
        return
    rest = list(text)
    for form in found:
        rest[form.start : form.end] = " " * (form.end - form.start)
    beside = frozenset(said("".join(rest))) - FUNCTION_WORDS
    for form in found:
        for word in lost_as(form):
            yield Lost(word, text[form.start : form.end], form, beside)


def same_in_form(text: str, read: Read) -> Words:
    """The word of a form that stands for the whole text; none if the text says more."""
    exact = {lost.word for lost in lost_in_text(text, read) if lost.is_exact}
    return (exact.pop(),) if len(exact) == 1 else ()


def _outermost(forms: list[Form]) -> list[Form]:
    """The forms that are not part of a longer one. Grouped figures may be one number or several."""
    spans = {(form.start, form.end) for form in forms}
    return [
        form
        for form in forms
        if not any(a <= form.start and form.end <= b for a, b in spans - {(form.start, form.end)})
    ]


def lost_in_part(part: Part, read: Read) -> Iterator[Lost]:
    """The forms of a part of a statement that was lost."""
    for form in part_forms(part, read):
        if not form.within:
            for word in lost_as(form):
                yield Lost(word, part.text, form, frozenset())
