"""Quoting: where the quote of a model stands in its turn, and how those words were read there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, zip_longest
from typing import Protocol

from incumbent.language.llm.checking import Span, places_of
from incumbent.language.questions import is_telling
from incumbent.language.speakers import is_machine
from incumbent.language.statements import Kind, statements
from incumbent.language.voice import Manner, Voice
from incumbent.observing.labels import label_end
from incumbent.observing.scrutiny import Declined
from incumbent.observing.understanding import Understood
from incumbent.observing.waiting import Waiting
from incumbent.observing.worth import runs_on

_MEANT = frozenset(
    {
        Kind.ASSERTION,
        Kind.REQUEST,
        Kind.COMMITMENT,
        Kind.RETRACTION,
        Kind.CONFIRMATION,
        Kind.SMALL_TALK,
    }
)
"""Kinds of statements that can end something; of the others, their speakers do not say so."""
_NOT_THEIRS = (Manner.QUOTED, Manner.INTRODUCED, Manner.REPORTED, Manner.DENIED)
"""Whether something is asked or supposed, the kind of its statement tells better than the words
around it: people run on."""
_COUNTERFACTUAL = "counterfactual"


class Resting(Protocol):
    """What rests on a quote."""

    @property
    def turn(self) -> int: ...
    @property
    def quote(self) -> str: ...


@dataclass(frozen=True)
class Quoted:
    """A stretch of a turn, with the statements that it is from."""

    waiting: Waiting
    span: Span
    read: tuple[tuple[Understood, Kind], ...]
    """The statements that it touches, and what each was taken for."""

    @property
    def text(self) -> str:
        return self.waiting.heard.text[slice(*self.span)]

    @property
    def said(self) -> Understood:
        """The statement that it begins in."""
        return self.read[0][0]

    @property
    def is_by_machine(self) -> bool:
        return is_machine(self.waiting.heard.speaker.name)

    @cached_property
    def is_meant(self) -> bool:
        """Whether somebody says it straight out, in their own words.

        One such statement in it is enough: people ask something, and answer it themselves.
        """
        return self._opens_plainly or any(
            kind in _MEANT
            and _COUNTERFACTUAL not in said.statement.cues
            and self._voice.manner(said.statement.start, said.statement.end) not in _NOT_THEIRS
            for said, kind in self.read
        )

    @property
    def _opens_plainly(self) -> bool:
        """Whether it opens a run-on statement and says by itself what is so.

        Of "it's Wednesday now Mags thinks he wanted a cremation" only the end is hearsay. Words
        from further on may hang on what was left out before them.
        """
        place = self.said.statement
        if not runs_on(self.said) or self.span[0] > place.start or self.span[1] > place.end:
            return False
        alone = statements(self.text)
        is_plain = all(
            one.kind in _MEANT and _COUNTERFACTUAL not in one.cues for one in alone
        ) and bool(alone)
        return is_plain and self._voice.is_own(*self.span)

    def meets(self, span: Span | None) -> bool:
        """Whether it has words in common with another stretch of its turn."""
        return span is not None and span[0] < self.span[1] and self.span[0] < span[1]

    def shared_with(self, span: Span | None) -> int:
        """How many characters it has in common with another stretch of its turn."""
        return min(span[1], self.span[1]) - max(span[0], self.span[0]) if span else 0

    def to_be_kept(self) -> list[Quoted]:
        """What of a turn is kept for it; raises Declined where that is nothing.

        Without what is only asked or supposed; and words that are denied or somebody else's only
        with what makes them so: the whole of their statements.
        """
        if self._voice.is_shown(*self.span):
            raise Declined("it only shows what somebody else wrote")
        runs = [
            list(run)
            for is_kept, run in groupby(self.read, key=lambda one: _may_be_kept(*one))
            if is_kept
        ]
        if not runs:
            kind = self.read[0][1].replace("_", " ")
            raise Declined(f"the turn does not say that it is so (read as {kind})")
        return [self._within(run) for run in runs]

    def _within(self, run: Sequence[tuple[Understood, Kind]]) -> Quoted:
        """As much of it as is in these statements."""
        begin, close = run[0][0].statement.start, max(said.statement.end for said, _ in run)
        start, end = self.span
        if run[0] != self.read[0]:
            start = begin
        if run[-1] != self.read[-1]:
            end = close
        if not self._voice.is_own(start, end):
            start, end = min(start, begin), max(end, close)
        return Quoted(self.waiting, (start, end), tuple(run))

    @cached_property
    def _voice(self) -> Voice:
        text = self.waiting.heard.text
        return Voice(text, begin=label_end(text))


def quoted_in(one: Resting, turns: Mapping[int, Waiting]) -> Quoted:
    """Where a quote stands; raises Declined where its turn was not read or does not have it."""
    waiting = turns.get(one.turn)
    if waiting is None:
        raise Declined(f"it is from turn {one.turn}, which was not to be read")
    places = places_of(one.quote, waiting.heard.text)
    if not places:
        raise Declined("the quote is not in the turn")
    found = [Quoted(waiting, place, tuple(_read(waiting, place))) for place in places]
    found = [quoted for quoted in found if quoted.read]
    if not found:
        raise Declined("the quote is from no statement of the turn")
    # The same words can stand in a question and in the answer to it: one that is meant will do.
    return next((quoted for quoted in found if quoted.is_meant), found[0])


def _read(waiting: Waiting, place: Span) -> Iterator[tuple[Understood, Kind]]:
    """The statements of a turn at a place, each with what it was taken for when it was observed."""
    heard = waiting.heard
    # What an assistant says is read statement by statement only where it is news.
    readings = () if heard.is_context else waiting.readings[: len(heard.said)]
    for said, kind in zip_longest(heard.said, readings):
        if said.statement.start < place[1] and place[0] < said.statement.end:
            yield said, kind or said.kind


def _may_be_kept(said: Understood, kind: Kind) -> bool:
    """Whether a statement may tell something: of a what-if or a question, a long one may."""
    if kind is Kind.VERBATIM:
        return False
    if kind is Kind.QUESTION:
        return runs_on(said) or is_telling(said.text)
    is_unreal = kind in (Kind.HYPOTHETICAL, Kind.DRAFT) or _COUNTERFACTUAL in said.statement.cues
    return not is_unreal or runs_on(said)
