"""The account of a context: what its budget went to, why a fact is in it, and why another is
not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from incumbent.context.document import OVER_BUDGET, Context, Line, Omission
from incumbent.context.quotes import GONE
from incumbent.context.receipt import ERASED
from incumbent.context.rendering import (
    CUT_MARK,
    ENVIRONMENT,
    HEADINGS,
    IDENTITY,
    WORKING_SET,
    heading_line,
)
from incumbent.context.tokens import Count
from incumbent.model.fact import Fact
from incumbent.words import made_of

QUOTES = "quotes a dead value"
IRRELEVANT = "irrelevant"
_LAYERS = {IDENTITY: "identity", WORKING_SET: "working", ENVIRONMENT: "environment"}
_REASONS = {
    "superseded": "a newer value has taken its place",
    OVER_BUDGET: "there was no room for it",
    IRRELEVANT: "it has too little to do with the question",
    "shadowed": "a value of a narrower scope stands in front of it",
    "overruled": "a fact of higher authority stands",
    "retracted": "it was taken back",
    "expired": "its time is over",
    "discarded": "it was only proposed, and discarded",
    "withdrawn": "it was withdrawn",
    "waiting": "it waits for another fact to leave office, or for somebody to approve it",
    "not yet": "it does not hold yet",
    "contested": "it contradicts a fact in office, and a person has to decide",
    "needs review": "what it rests on has changed",
    "doubted": "a later statement may have replaced it",
    QUOTES: "the guard cut this value out of something that repeats it",
    "out of scope": "it belongs to another task, session or branch",
    "not permitted": "reading it takes a permission that this identity lacks",
}
_CUTS = re.compile("|".join(f"({re.escape(mark)})" for mark in (GONE, CUT_MARK, ERASED)))


def pieces(text: str) -> list[tuple[str, bool]]:
    """A line in pieces, and whether each stands in the place of something that was cut."""
    found, at = [], 0
    for cut in _CUTS.finditer(text):
        found += [(text[at : cut.start()], False), (cut.group(), True)]
        at = cut.end()
    return [piece for piece in (*found, (text[at:], False)) if piece[0]]


def why_left_out(reason: str) -> str:
    """The reason of an omission as a sentence."""
    return _REASONS.get(reason, "")


@dataclass(frozen=True, slots=True)
class SectionShare:
    """What a section takes of the budget, and its place on a bar that is 1000 wide."""

    section: str
    layer: str
    lines: int
    tokens: int
    start: float
    width: float


def shares(context: Context, count: Count) -> list[SectionShare]:
    """What each section takes. Together they take what the context does."""
    found = []
    for section, lines in groupby(context.lines, key=lambda line: line.section):
        texts = [line.text for line in lines]
        heading = [heading_line(section)] if HEADINGS.get(section) else []
        found.append((section, len(texts), count("\n".join((*heading, *texts, "")))))
    missing = context.tokens - sum(tokens for *_, tokens in found)
    if found:  # a break at the end of one section and the gap before the next
        section, lines_, tokens = found[-1]
        found[-1] = (section, lines_, max(0, tokens + missing))
    return _placed(found, max(context.budget, context.tokens, 1))


def _placed(found: Iterable[tuple[str, int, int]], whole: int) -> list[SectionShare]:
    made, used = [], 0
    for section, lines, tokens in found:
        start, width = (round(1000 * part / whole, 2) for part in (used, tokens))
        layer = _LAYERS.get(section, "facts")
        made.append(SectionShare(section, layer, lines, tokens, start, width))
        used += tokens
    return made


@dataclass(frozen=True, slots=True)
class ReasonGroup:
    """The omissions for one reason."""

    reason: str
    why: str
    count: int
    named: tuple[Omission, ...]
    """Those that name a fact, a note or a signal, each once."""


def by_reason(omissions: Sequence[Omission]) -> list[ReasonGroup]:
    """The omissions by reason, what the guard cut first, then the most frequent."""
    found: dict[str, list[Omission]] = {}
    for omission in omissions:
        found.setdefault(omission.reason, []).append(omission)
    groups = [
        ReasonGroup(
            reason,
            why_left_out(reason),
            sum(one.count for one in those),
            tuple(dict.fromkeys(one for one in those if one.fact_id or one.item)),
        )
        for reason, those in found.items()
    ]
    return sorted(groups, key=lambda group: (group.reason != QUOTES, -group.count, group.reason))


@dataclass(frozen=True, slots=True)
class FactAnswer:
    """Whether a fact is in a context, and why or why not."""

    fact: Fact
    found: Literal["shown", "quoted", "left out", "absent"]
    said: str
    line: Line | None = None


def answer_on(
    fact: Fact, context: Context, wide: Context | None = None, otherwise: str = ""
) -> FactAnswer:
    """Whether and why a fact is in a context.

    `wide` is the same with more room: it has the scores of what did not fit. `otherwise` is the
    reason for what a context leaves out without naming it, because there is so much.
    """
    for place, line in enumerate(context.lines, 1):
        if line.fact_id == fact.id:
            return FactAnswer(fact, "shown", _shown(line, place), line)
    reasons = [one for one in context.omissions if one.fact_id == fact.id]
    own = next((one for one in reasons if one.reason != QUOTES), None)
    if own is None and otherwise and any(one.count > 1 for one in context.omissions):
        own = Omission(otherwise, fact.id)
    if own is not None:
        told = f"Left out as {own.reason}: {why_left_out(own.reason) or 'no more is known'}."
        return FactAnswer(fact, "left out", " ".join((told, *_scores(fact, own, context, wide))))
    for place, line in enumerate(context.lines, 1):
        if fact.id in line.quoted:
            told = f"It has no line of its own; line {place} under {line.section} tells of it."
            return FactAnswer(fact, "quoted", told, line)
    if reasons:
        return FactAnswer(fact, "left out", "The guard cut its value wherever it is repeated.")
    return FactAnswer(fact, "absent", "It is not among what this context was made from.")


def _shown(line: Line, place: int) -> str:
    told = f"Line {place}, under {line.section}."
    if line.score is None:
        return told
    parts = f" ({made_of(line.parts)})" if line.parts else ""
    return f"{told} Its score is {line.score:.2f}{parts}."


def _scores(fact: Fact, own: Omission, context: Context, wide: Context | None) -> list[str]:
    """How far a fact that was not relevant enough, or did not fit, was from being shown."""
    if wide is None or own.reason not in (OVER_BUDGET, IRRELEVANT):
        return []
    line = next((one for one in wide.lines if one.fact_id == fact.id), None)
    if line is None or line.score is None:
        return ["It was too far off to be ranked."]
    shown = [one.score for one in context.lines if one.score is not None]
    told = [f"Its score is {line.score:.2f} ({made_of(line.parts)})."]
    if shown:
        told.append(f"Those shown have from {min(shown):.2f} to {max(shown):.2f}.")
    return told
