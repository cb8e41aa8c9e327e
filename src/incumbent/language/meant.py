"""Meant: whether the speaker of a turn stands by what it says of its things."""

from __future__ import annotations

import re
from collections.abc import Sequence

from incumbent.language.cues import Cues
from incumbent.language.pairing import Pair
from incumbent.language.pairing import pairs as pairs_in
from incumbent.language.signs import signs
from incumbent.language.skeleton import Skeleton
from incumbent.language.statements import Kind, Statement, statements
from incumbent.model.text_cache import remembering

_UNMEANT = frozenset({"attitude", "counterfactual", "label", "quote", "quoted", "wish"})
"""Cues of sentences whose speaker does not stand by them."""
_SAID = (Kind.ASSERTION, Kind.REQUEST, Kind.COMMITMENT, Kind.REPORT, Kind.RETRACTION)
_AROUND = (Kind.SMALL_TALK, Kind.CONFIRMATION)
_BREAK = re.compile(r"[.!?;:–—]\s|\s-\s")


@remembering(256)
def heard(text: str) -> tuple[Statement, ...]:
    """The statements of a turn, without what only tells why or how it is said."""
    plain = signs().remarks.sub(lambda found: " " * len(found.group()), text)
    return tuple(statements(plain if plain.strip() else text))


def is_unconditional(bones: Skeleton) -> bool:
    """Whether no condition limits what a turn says; one that only tells why it is said does not."""
    conditional = any("conditional" in one.cues for one in heard(bones.text))
    return not conditional or _is_harmless(bones)


def _is_harmless(bones: Skeleton) -> bool:
    """Whether a condition only tells why something is said, or that a base may not change."""
    patterns = signs()
    found = patterns.mentioning.search(bones.masked) or patterns.standing.search(bones.masked)
    return found is not None


def is_meant(bones: Skeleton, said: Sequence[Pair], *, is_told: bool = False) -> bool:
    """Whether the speaker stands by what is said, also where it was told by somebody else."""
    patterns = signs()
    if patterns.disbelief.search(patterns.remarks.sub("", bones.masked)):
        return False
    found = [
        one
        for one in heard(bones.text)
        if any(one.start < end and begin < one.end for begin, end in map(_said_at, said))
    ]
    cues = {cue for one in found for cue in one.cues}
    if cues & _UNMEANT or not all(_may_be_meant(bones, one, said) for one in found):
        return False
    clauses = " ".join(_clause(bones.text, pair) for pair in said)
    around = Cues(patterns.not_as_before.sub("", clauses))
    if (
        around.is_possibly
        or around.is_dreamt
        or around.explores
        or patterns.vague.search(bones.masked)
    ):
        return False
    is_ordered = bool(found) and all("imperative" in one.cues for one in found)
    is_past = around.is_past and not is_ordered  # "put" is one or the other
    if not _is_set_off(bones, said) and (is_past or any(map(_is_over, said))):
        return False  # it tells what was so
    return is_told or "report" not in cues or patterns.told.search(bones.text) is not None


def _said_at(pair: Pair) -> tuple[int, int]:
    """Where a value is said of its thing; the thing itself may have been named before."""
    return (pair.start, pair.end) if pair.says else (pair.value.start, pair.value.end)


def _clause(text: str, pair: Pair) -> str:
    """The part of a turn that a pair stands in."""
    begin, end = _said_at(pair)
    start = max((m.end() for m in _BREAK.finditer(text, 0, begin)), default=0)
    after = _BREAK.search(text, end)
    return text[start : after.start() if after is not None else len(text)]


def _is_over(pair: Pair) -> bool:
    return signs().was.search(pair.says) is not None


def _is_set_off(bones: Skeleton, said: Sequence[Pair]) -> bool:
    """Whether what is said is set off against another value of the same thing."""
    settled = {(pair.thing.normal, pair.value.normal) for pair in said}
    return any(
        (pair.is_denied or pair.was_so) and (pair.thing.normal, pair.value.normal) not in settled
        for pair in pairs_in(bones)
    )


def _may_be_meant(bones: Skeleton, one: Statement, said: Sequence[Pair]) -> bool:
    """Whether a statement, by its kind, can be one that somebody stands by."""
    if one.kind in _SAID:
        politely = signs().politely.search(one.text) is not None
        return "irrealis" not in one.cues or politely or not Cues(one.text).proposes
    if one.kind in _AROUND:
        # "Haha, the office is in Porto" is more than a pleasantry.
        return all(pair.is_direct for pair in said)
    if one.kind is Kind.QUESTION:
        if len(said) > 1 and signs().presuming.search(one.text):
            return True  # it takes for granted what it asks the reason of
        # Who only asks whether they were understood, or goes on to answer, wants to know nothing.
        relates = one.start > 0 and one.text[-1] != "?"
        return relates or signs().wondering.match(one.text) is None
    return one.kind is Kind.HYPOTHETICAL and _is_harmless(bones)
