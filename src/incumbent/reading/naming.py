"""Naming: a statement with the name that it gives, if it gives one, and its term."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest
from typing import Final

from incumbent.language.cues import Cues
from incumbent.language.reading import BlockKind
from incumbent.model.fact import Part
from incumbent.reading.causes import edges
from incumbent.reading.claims import claim_of, claim_of_known
from incumbent.reading.form import Claim, Known, Span, Statement, StatementKind
from incumbent.reading.plainly import Names
from incumbent.reading.segments import Segment
from incumbent.reading.telling import told_in
from incumbent.reading.terms import claim_and_term
from incumbent.reading.things import left_over, name_of
from incumbent.reading.waiting import waits

_WAITING: Final = (StatementKind.STATES, StatementKind.ORDERS, StatementKind.SUPPOSES)
_HARDLY: Final = 0.3
"""A statement that hardly tells what is so gives no name: "Last year the rent was $1,780."."""
_NARROWED: Final = re.compile(
    r"\W*(?:(?:but|and|also|only) )*(?:for|in|at|with|when|during|before)\b(?! (?:now|fact|short|"
    r"general|total|addition|this|the moment|the record|the meantime)\b)[^,]{2,60},",
    re.IGNORECASE,
)
_PAST: Final = re.compile(
    r"\b(?:previous|former|formerly|originally|old|earlier|back in|(?:years?|months?|weeks?) ago|"
    r"last (?:year|month|week|time)|when i was)\b",
    re.IGNORECASE,
)
_WAS: Final = re.compile(r"\b(?:was|were|used to be|had been)\b", re.IGNORECASE)
_UNSURE = re.compile(r"\b(?:[Mm]aybe|[Pp]erhaps|[Pp]ossibly|might|may|could)\b")
"""What makes a sentence no more than a thought; "May" is a month."""
_RECALLED = re.compile(
    r"\b(?:said|told you|wrote|had|mentioned|gave you)\b[^.!?]{1,80}"
    r"\b(?:earlier|before|previously|first|last time|once|yesterday)\b",
    re.IGNORECASE,
)


def named_things(known: Sequence[Known]) -> Names:
    """The names of what is known, as they are compared."""
    return frozenset(name_of(one.key, one.subject) for one in known if one.key)


def named(
    said: Statement,
    at: datetime,
    known: Names,
    held: Collection[tuple[str, str | None]],
    *,
    names: bool,
) -> Statement:
    """A statement with the name that it gives, if it gives one, and its term. `held` are the names
    that have a value, and `names` is whether its speaker gives names."""
    if names and said.kind in _WAITING and (waiting := waits(said, known)) is not None:
        return waiting

    def name(term: Span | None) -> Claim | None:
        if not names or said.kind is not StatementKind.STATES or said.chance < _HARDLY:
            return None
        if narrows(said) or is_of_the_past(said.text):
            return None  # it leaves what holds for all, and now
        if _UNSURE.search(said.text) is not None:
            return None  # nobody stands by it
        claim = claim_of(said.text, said.parts, term)
        claim = claim or claim_of_known(said.text, said.parts, known)
        return _as_held(claim, held) if claim is not None else None

    claim, term = claim_and_term(said.text, at, held, name)
    if claim is not None:
        said = _without_cue_in_value(said, claim)
        claim = claim._replace(start=claim.start + said.start, end=claim.end + said.start)
    return replace(said, claim=claim, term=term, by=Cues(said.text).attribution)


def _as_held(claim: Claim, held: Collection[tuple[str, str | None]]) -> Claim:
    """A claim under the name that a thing has already, where it is named in the same words: "the
    garage code", and "the code for the garage"."""
    own = (claim.attribute, claim.subject)
    same = [one for one in held if name_of(*one) == name_of(*own)]
    if own in held or len(same) != 1:
        return claim
    return claim._replace(attribute=same[0][0], subject=same[0][1])


def _without_cue_in_value(said: Statement, claim: Claim) -> Statement:
    """A statement that is no correction by a word of its value alone: "ann@new.example"."""
    if "correction" not in said.cues:
        return said
    around = f"{said.text[: claim.start]}-{said.text[claim.end :]}"
    if Cues(around).corrects:
        return said
    return replace(said, cues=tuple(one for one in said.cues if one != "correction"))


def narrows(said: Statement) -> bool:
    """Whether a statement says first for whom or where it holds: "For customers in Norway, …". Days
    are a term of it, and narrow nothing."""
    found = _NARROWED.match(said.text)
    if found is None or Cues(said.text).is_for_task:
        return False
    return not any(one.kind == "date" and one.start <= found.end() for one in said.parts)


def is_of_the_past(text: str) -> bool:
    """Whether a statement tells how something was before: "My old number was …"."""
    return _PAST.search(text) is not None and _WAS.search(text) is not None


def taken_apart(
    found: Sequence[Segment], parts_of: Callable[[str], tuple[Part, ...]]
) -> Iterator[Segment]:
    """The stretches of a turn, a reason apart from what follows from it where each gives a thing a
    value: "My rent is $900, so my budget is $50"."""
    for one in found:
        if one.block is not BlockKind.PROSE:
            yield one
            continue
        for start, end in stretches(one.text, parts_of(one.text)):
            text = one.text[start:end]
            yield replace(one, text=text, start=one.start + start, end=one.start + end)


def stretches(text: str, parts: tuple[Part, ...]) -> list[Span]:
    """A sentence, or the reason in it and what follows from that: "The rent is $900 because the
    flat is new" is one, "My rent is $900, so my budget is $50" is two."""
    told = told_in(text, parts)
    edge = edges(text, told) if len(told) > 1 else None
    return [(0, edge[0]), (edge[1], len(text))] if edge is not None else [(0, len(text))]


def without_recalled(statements: Sequence[Statement]) -> Iterator[Statement]:
    """The statements, those for chat that only recall what the next one puts right: "I know I said
    $900 earlier."."""
    for said, after in zip_longest(statements, statements[1:]):
        if after is not None and after.claim is not None and _only_recalls(said):
            yield replace(said, kind=StatementKind.CHATS)
        else:
            yield said


def _only_recalls(said: Statement) -> bool:
    spans = [(part.start, part.end) for part in said.parts]
    return (
        bool(spans)
        and said.claim is None
        and _RECALLED.search(said.text) is not None
        and not left_over(said.text, spans, changing=True)
    )
