"""Dead values in other forms: which words of forms a lost value is known by, and how telling each
of them is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tenure.model.fact import Part
from tenure.model.forms import (
    AMOUNT,
    Form,
    Read,
    is_doubtful,
    is_exact,
    lost_as,
    part_forms,
)
from tenure.model.words import LONGEST_VALUE, Words, said

_CONNECTING = """
about after am an and approximately are around as at be before between by do each every for from go
has he her his if in is it its just me my no not of on only or our over per roughly since so than
the till to under until up us was we with you your
"""
FUNCTION_WORDS = frozenset(_CONNECTING.split())


class Lost(NamedTuple):
    """A value that was lost, as it may be said in another form."""

    word: str
    """The word of that form."""
    text: str
    """How it was put."""
    form: Form
    beside: frozenset[str]
    """What else was said with it: it is only part of what was lost."""

    @property
    def number(self) -> str:
        """The number, where that is all there is to compare."""
        return self.form.vague if self.form.kind == AMOUNT else ""

    @property
    def is_doubtful(self) -> bool:
        """Whether only a word for its matter tells that this is meant."""
        return bool(self.beside) or is_doubtful(self.word, self.form)

    @property
    def is_exact(self) -> bool:
        """Whether the one leaves open what the other does, and nothing else was said with it."""
        return not self.beside and is_exact(self.word, self.form)

    @property
    def is_counting(self) -> bool:
        """Whether it is a plain number of something: then what it counts has to be there."""
        return bool(self.beside) and self.form.kind == AMOUNT and not self.form.whole


def lost_in_text(text: str, read: Read) -> Iterator[Lost]:
    """The forms of a value that was lost, unless it is a sentence, which speaks of many things."""
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
    """The word of a form by which all of a text is said as well; none where more is said."""
    exact = {lost.word for lost in lost_in_text(text, read) if lost.is_exact}
    return (exact.pop(),) if len(exact) == 1 else ()


def _outermost(forms: list[Form]) -> list[Form]:
    """The forms that are not part of a longer one: figures in groups may be one number or more."""
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
