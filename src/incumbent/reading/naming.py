"""Naming: a subject, an attribute and a value, where a statement has all three in plain sight.

"My phone number is 555-0100." says nothing else. What says more than that, or says it of a thing
that is not named, is kept as it was said: fewer names, and no wrong ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest
from typing import Final

from incumbent.language.attributes import Attribute, attribute_of, is_attribute_noun
from incumbent.language.cues import Cues
from incumbent.language.reading import BlockKind
from incumbent.model.fact import Part
from incumbent.reading.causes import edges
from incumbent.reading.form import Claim, Known, Span, Statement, StatementKind
from incumbent.reading.plainly import Names, plain_claim
from incumbent.reading.segments import Segment
from incumbent.reading.telling import told_in
from incumbent.reading.terms import claim_and_term
from incumbent.reading.things import (
    begins_verb,
    is_one_at_a_time,
    left_over,
    name_of,
    things,
)
from incumbent.reading.ties import is_reason, opening, reasoned
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
    before: str,
    held: Collection[tuple[str, str | None]],
    *,
    names: bool,
) -> Statement:
    """A statement with the name that it gives, if it gives one, and its term. `before` is the
    sentence right before it, `held` are the names that have a value, and `names` is whether its
    speaker gives names."""
    if names and said.kind in _WAITING and (waiting := waits(said, known)) is not None:
        return waiting

    def name(term: Span | None) -> Claim | None:
        if not names or said.kind is not StatementKind.STATES or said.chance < _HARDLY:
            return None
        if narrows(said) or is_of_the_past(said.text):
            return None  # it leaves what holds for all, and now
        if _UNSURE.search(said.text) is not None:
            return None  # nobody stands by it
        claim = name_in(said.text, said.parts, term, known, before)
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
    found: Sequence[Segment],
    known: Sequence[Known],
    parts_of: Callable[[str], Sequence[Part]],
) -> Iterator[Segment]:
    """The stretches of a turn, a reason apart from what follows from it where each has a name."""
    names = named_things(known)
    for one in found:
        if one.block is not BlockKind.PROSE:
            yield one
            continue
        for start, end in stretches(one.text, parts_of(one.text), names):
            text = one.text[start:end]
            yield replace(one, text=text, start=one.start + start, end=one.start + end)


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


_MOST_VALUE: Final = 8
"""A value of more words tells a story."""
_MOST_PLAIN: Final = 4
"""A value in plain words has no more than this."""
_MOST_KEY: Final = 4
_REST = re.compile(r"[\s.!?,;:—–-]*")
_LABEL = re.compile(r"[A-Z][\w &/-]{1,40}: (?=[A-Za-z])")
_CALLED = re.compile(r"(?:called|named) ")
_OPEN = re.compile(r"\b(?:of|as) $", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:because|since|but|and|so|which|who|that|while|when|if|unless|although|though|until|"
    r"she|he|they|it|we|you|i|not|"
    r"is|are|was|were|will|would|has|have|had|can|could|should|must|may|might|does|did)\b",
    re.IGNORECASE,
)


def name_in(
    text: str,
    parts: Sequence[Part],
    term: Span | None = None,
    known: Names = frozenset(),
    before: str = "",
) -> Claim | None:
    """The name that a statement gives, in plain sight or in plain talk. `known` are the things that
    have a name, and `before` is the sentence right before it."""
    plain = plain_claim(text, parts, known, term, before)
    if plain is not None and name_of(plain.attribute, plain.subject) in known:
        return plain
    return claim_of(text, parts, term) or plain


def stretches(text: str, parts: Sequence[Part], known: Names = frozenset()) -> list[Span]:
    """A sentence, or the reason in it and what follows from that, where each gives a name: "The
    rent is $900 because the flat is new" is one, "My rent is $900, so my budget is $50" is two."""
    for left, right in reasoned(text):
        sides = [name_in(text[a:b], _within(parts, a, b), None, known) for a, b in (left, right)]
        names = {one.attribute for one in sides if one is not None}
        if len(names) == 2 or (len(names) == 1 and _is_told(text, parts, (left, right), sides)):
            return [left, right]
    told = told_in(text, tuple(parts))
    edge = edges(text, told) if len(told) > 1 else None
    return [(0, edge[0]), (edge[1], len(text))] if edge is not None else [(0, len(text))]


def _is_told(
    text: str, parts: Sequence[Part], sides: Sequence[Span], named: Sequence[Claim | None]
) -> bool:
    """Whether what has no name is what follows from the rest, and tells something of a thing."""
    place = 0 if named[0] is None else 1
    begin, end = sides[place]
    told, other = text[begin:end], text[slice(*sides[1 - place])]
    if is_reason(told) or (place == 0 and not is_reason(other)):
        return False
    found = things(told, _within(parts, begin, end))
    return bool(found) and found[0].start == opening(told) and begins_verb(told[found[0].end :])


def _within(parts: Sequence[Part], begin: int, end: int) -> list[Part]:
    return [one for one in _moved(parts, begin) if one.end <= end - begin]


def claim_of(text: str, parts: Sequence[Part], term: tuple[int, int] | None = None) -> Claim | None:
    """The name that a statement gives, where it gives one and says nothing else.

    `term` is where it says from when until when it holds, which is no part of the value.
    """
    begin = 0
    if term is not None and not text[: term[0]].strip():
        begin = term[1] + len(text[term[1] :]) - len(text[term[1] :].lstrip(" ,"))
        claim = claim_of(text[begin:], _moved(parts, begin))
        return claim and claim._replace(start=claim.start + begin, end=claim.end + begin)
    if term is not None and _REST.fullmatch(text, term[1]) is not None:
        kept = text[: term[0]].rstrip(" ,")
        return claim_of(kept, [part for part in parts if part.end <= len(kept)])
    label = _LABEL.match(text)
    if label is not None and attribute_of(text[label.end() :], _moved(parts, label.end())):
        begin = label.end()
    found = attribute_of(text[begin:], _moved(parts, begin))
    if found is None or found.is_change or not _is_certain(found, parts, begin):
        return None
    start, end = found.start + begin, found.end + begin
    if (called := _CALLED.match(text, start)) is not None:
        start = called.end()
    if _OPEN.search(text[begin:start]) is not None:
        return None  # "a citizen of": the thing that it is said of is not named
    if _REST.fullmatch(text, _after(text, end)) is None:
        return None
    return Claim(found.subject, found.key, text[start:end], start, end, found.is_own)


def _moved(parts: Sequence[Part], begin: int) -> list[Part]:
    return [
        part._replace(start=part.start - begin, end=part.end - begin)
        for part in parts
        if part.start >= begin
    ]


def _is_certain(found: Attribute, parts: Sequence[Part], begin: int) -> bool:
    words = found.key.split("_")
    if len(words) > _MOST_KEY or not is_one_at_a_time(found.key):
        return False
    value = found.value
    if len(value.split()) > _MOST_VALUE or _VERB.search(value) or value.startswith("back "):
        return False
    start, end = found.start + begin, found.end + begin
    inside = [part for part in parts if part.start >= start and part.end <= end]
    covered = sum(part.end - part.start for part in inside if part.kind != "term")
    if covered * 2 >= end - start:
        return True
    return is_attribute_noun(words[-1]) and len(value.split()) <= _MOST_PLAIN and "," not in value


_TRAILING = re.compile(
    r"[\s,]*(?:now|instead|please|currently|at the moment|from now on|as of (?:now|today)|"
    r"these days|right now|by the way|btw|fyi|ok|okay|thanks|thank you|again|then|though)\b",
    re.IGNORECASE,
)


def _after(text: str, end: int) -> int:
    """Where a statement goes on behind its value, past what only rounds it off."""
    while (found := _TRAILING.match(text, end)) is not None:
        end = found.end()
    return end
