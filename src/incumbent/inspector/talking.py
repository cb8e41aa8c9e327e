"""A talk as a page shows it: what each turn was read as, and what it changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from incumbent.inspector.marking import MarkedStretch, MarkKind, TextMark, marked
from incumbent.model.fact import Fact, Status
from incumbent.model.listings import ListedTurn
from incumbent.model.values import text_of
from incumbent.model.verdict import Verdict
from incumbent.reading.form import Statement, StatementKind
from incumbent.turns.observation import Observation
from incumbent.words import account, told, why

_ENDED = frozenset(
    {
        Status.SUPERSEDED,
        Status.OVERRULED,
        Status.RETRACTED,
        Status.DISCARDED,
        Status.WITHDRAWN,
        Status.EXPIRED,
        Status.ERASED,
    }
)
_KINDS = {
    "states": "tells something, and nothing in it was found to keep",
    "orders": "asks for something to be done",
    "asks": "a question: it states nothing",
    "supposes": "a what-if: supposed, not said to be so",
    "proposes": "a proposal: put forward, not settled",
    "reports": "what somebody is said to have said",
    "recalls": "tells how things were",
    "agrees": "agrees to something",
    "chats": "small talk",
    "verbatim": "text that is quoted or pasted",
}

Find = Callable[[str], Fact | None]
"""Looks a fact up by its id; None if it may not be seen."""


@dataclass(frozen=True, slots=True)
class ToldDecision:
    """A verdict in plain words."""

    verdict: Verdict
    about: str
    why: str
    more: tuple[tuple[str, str], ...]
    """What else it concerned, as (label, text)."""


@dataclass(frozen=True, slots=True)
class TurnShown:
    """A turn with its words marked, or with the quotes of its facts where they are not kept."""

    turn: ListedTurn
    stretches: tuple[MarkedStretch, ...]
    facts: tuple[Fact, ...]
    decisions: tuple[ToldDecision, ...]
    untold: int
    """Decisions on facts that are not on this page."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A statement that became no fact, and what it was taken for."""

    text: str
    kind: str
    why: str


def decision(verdict: Verdict, find: Find) -> ToldDecision:
    """A verdict in plain words, with the facts that it concerned."""
    fact = find(verdict.fact_id) or verdict.fact
    about = told(fact) if fact is not None else "a fact that is not shown here"
    return ToldDecision(verdict, about, why(verdict), tuple(account(verdict, find)))


def turn_shown(
    turn: ListedTurn, facts: Mapping[str, Fact], verdicts: Mapping[str, Verdict], find: Find
) -> TurnShown:
    """A turn as it is shown, from the facts and verdicts that are known of it."""
    known = [verdicts[one] for one in turn.verdict_ids if one in verdicts]
    marks = marks_of(turn, facts) if turn.text is not None else ()
    return TurnShown(
        turn,
        tuple(marked(turn.text or "", marks)),
        tuple(facts[one] for one in turn.fact_ids if one in facts),
        tuple(decision(one, find) for one in known),
        len(turn.verdict_ids) - len(known),
    )


def marks_of(turn: ListedTurn, facts: Mapping[str, Fact]) -> list[TextMark]:
    """The places in a turn that were read as something."""
    marks: dict[tuple[int, int, str, str], TextMark] = {}
    brought = {one for one in turn.fact_ids if one in facts}
    spans = {one: facts[one].source.span for one in brought}
    for spot in turn.spots:
        fact = facts.get(spot.fact_id)
        if fact is None and spot.fact_id:
            continue
        whole = spot.fact_id in spans and spans[spot.fact_id] == (spot.start, spot.end)
        mark = _mark(spot.start, spot.end, fact, whole=whole)
        marks[spot.start, spot.end, mark.kind, mark.about] = mark
    for fact_id, span in spans.items():
        if span is not None:
            mark = _mark(*span, facts[fact_id], whole=True)
            marks.setdefault((*span, mark.kind, mark.about), mark)
    return _narrowed(marks.values())


def _mark(start: int, end: int, fact: Fact | None, *, whole: bool) -> TextMark:
    if fact is None:
        return TextMark(start, end, "unreal")
    if not fact.scope.is_real:
        return TextMark(start, end, "unreal", fact.id, fact.status in _ENDED)
    kind: MarkKind = "fact" if whole else "value"
    return TextMark(start, end, kind, fact.id, fact.status in _ENDED)


def _narrowed(marks: Iterable[TextMark]) -> list[TextMark]:
    """Of a fact that no longer holds, its value is struck out; the words around it only where the
    value has no place of its own."""
    found = list(marks)
    valued = {mark.about for mark in found if mark.kind == "value"}
    return [
        TextMark(mark.start, mark.end, mark.kind, mark.about)
        if mark.kind == "fact" and mark.about in valued
        else mark
        for mark in found
    ]


def tried_marks(observation: Observation, text: str) -> list[TextMark]:
    """The places in a turn that a rehearsal reads as something."""
    marks = [
        TextMark(one.start, one.end, "statement", one.kind.value) for one in observation.statements
    ]
    for fact, span in _brought(observation):
        marks.append(_mark(*span, fact, whole=True))
        marks.extend(_values(fact, text, *span))
    return _narrowed(marks)


def _brought(observation: Observation) -> list[tuple[Fact, tuple[int, int]]]:
    """The facts with words in the turn itself. One that it repeats has them in another."""
    return [
        (fact, fact.source.span)
        for fact in observation.facts
        if fact.source.span is not None and fact.source.turn_index == observation.turn_index
    ]


def _values(fact: Fact, text: str, start: int, end: int) -> Iterator[TextMark]:
    for part in fact.source.parts if fact.scope.is_real else ():
        at = text.find(part.text, start, end) if part.text else -1
        if at >= 0:
            yield _mark(at, at + len(part.text), fact, whole=False)


def passed_over(observation: Observation) -> list[Passed]:
    """The statements that became no fact, and what they were taken for."""
    kept = [span for _, span in _brought(observation)]
    own = {fact.id for fact, _ in _brought(observation)}
    known = [text_of(fact.value) for fact in observation.facts if fact.id not in own]
    return [
        Passed(one.text, one.kind.value.replace("_", " "), _why_passed(one, known))
        for one in observation.statements
        if not _touches(kept, one.start, one.end)
    ]


def _why_passed(statement: Statement, known: Sequence[str]) -> str:
    if statement.kind is StatementKind.STATES and any(
        said and said in statement.text for said in known
    ):
        return "says what is known already"
    return _KINDS.get(statement.kind.value, "")


def _touches(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    return any(left < end and start < right for left, right in spans)
