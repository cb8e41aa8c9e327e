"""Unfolding: the statements of a turn, with those taken apart that give reasons or set conditions.

Which clauses make one statement is told by what they are for. What follows from what cuts across
that: "the office is in Lisbon, so the rent is $900" is one assertion, and two facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from incumbent.language import reasoning
from incumbent.language.consequences import consequence
from incumbent.language.reading import BlockKind, blocks, sentences
from incumbent.language.statements import Kind, Statement, statements

_SAID = (Kind.ASSERTION, Kind.REQUEST, Kind.COMMITMENT)
_OPENING = (Kind.SMALL_TALK, Kind.CONFIRMATION, Kind.RETRACTION)
_NOT_MEANT = frozenset(
    {
        "attitude",
        "counterfactual",
        "label",
        "quoted",
        "report",
        "supposition",
        "wish",
    }
)
"""Cues of sentences in which nobody stands by what follows from what."""
_VOUCHED = frozenset({"factive", "hedge"})
"""Cues of a sentence that its speaker stands by, however it is put."""
_SUPPOSED = "supposition"
"""The cue of "in the case that" and of "suppose", likewise."""
_MODAL = "modal"
"""The cue of "can" and "may": what may vary is what it is for now."""
_IRREALIS = "irrealis"
"""The cue of "would", which only what waits for something else may have."""


@dataclass(frozen=True)
class Unfolded:
    """A statement, and how it hangs together with others."""

    statement: Statement
    told: str | None = None
    """What it says, where that is put in other words than it was said in."""
    follows: bool = False
    """Whether it follows from the one before it."""
    bases: tuple[str, ...] = ()
    """The things that it says it follows from."""
    is_presumed: bool = False
    """Whether it takes for granted what it says."""
    is_change: bool = False
    """Whether it says that what it tells was otherwise before."""
    waiting: reasoning.Waiting | None = None
    """What it says is to be so once something else becomes this."""
    relation: reasoning.Relation | None = None
    """What it says that a thing follows from, without saying what that thing is."""
    removes: str = ""
    """The thing that it takes off the record."""
    returns: bool = False
    """Whether it says that something is again what it was before."""
    outdated: tuple[tuple[int, int], ...] = ()
    """Where in the turn it names what is no longer so."""


def unfolded(text: str) -> list[Unfolded]:
    """The statements of a turn in order."""
    done: list[Unfolded] = []
    for piece in _pieces(text):
        linked = piece.relation
        before = done[-1] if done else None
        if linked is None or linked.thing or before is None or not _may_rest(before):
            done.append(piece)
            continue
        # What only says what the statement before it follows from, belongs to that one.
        told = before.told or before.statement.text
        done[-1] = replace(before, told=told, bases=(*before.bases, *linked.bases))
    return done


def _may_rest(piece: Unfolded) -> bool:
    is_plain = piece.waiting is None and piece.relation is None
    return is_plain and piece.statement.kind in (Kind.ASSERTION, Kind.COMMITMENT)


def _pieces(text: str) -> Iterator[Unfolded]:
    found = statements(text)
    apart: dict[int, tuple[Sequence[Statement], list[Unfolded]]] = {}
    antecedent = ""
    bases: tuple[str, ...] = ()
    for start, end in _sentences(text):
        within = [one for one in found if start <= one.start < end]
        while within and _only_opens(within[0]):
            within = within[1:]
        pieces = _taken_apart(text, within, antecedent, bases) if within else []
        antecedent, bases = "", ()
        if pieces:
            apart[within[0].start] = (within, pieces)
            linked = pieces[-1].relation
            if linked is not None:
                antecedent, bases = linked.thing, linked.bases
    replaced = {one.start for within, _ in apart.values() for one in within}
    for statement in found:
        if statement.start in apart:
            yield from apart[statement.start][1]
        elif statement.start not in replaced:
            yield Unfolded(statement)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    for block in blocks(text):
        if block.kind is BlockKind.PROSE:
            for sentence in sentences(block):
                yield sentence.start, sentence.end


def _only_opens(statement: Statement) -> bool:
    if statement.kind is Kind.RETRACTION and reasoning.opens_with_thing(statement.text):
        return False  # "the fee is no longer $5" goes with what it is now
    return statement.kind in _OPENING or statement.cues[:1] == ("rejection",)


def _taken_apart(
    text: str, within: Sequence[Statement], antecedent: str, bases: tuple[str, ...]
) -> list[Unfolded]:
    first, last = within[0], within[-1]
    cues = frozenset(cue for one in within for cue in one.cues)
    unmeant = cues & _NOT_MEANT - {_SUPPOSED}
    if cues & _VOUCHED:
        unmeant -= {"report"}
    if unmeant or any(one.kind is Kind.DRAFT for one in within):
        return []
    sentence = text[first.start : last.end]
    if (told := reasoning.without_check(sentence)) is not None:
        whole = replace(first, text=sentence, end=last.end, kind=Kind.ASSERTION, cues=())
        return [Unfolded(whole, told)]
    waits = reasoning.waiting(sentence)
    if waits is None and cues & {_IRREALIS, _SUPPOSED}:
        return []
    if waits is not None:
        whole = replace(first, text=sentence, end=last.end)
        return [Unfolded(whole, waiting=waits)]
    may_vary = last.kind in _SAID and _MODAL in cues
    if may_vary or any(one.kind in (*_SAID, Kind.RETRACTION) for one in within):
        found = reasoning.strands(sentence, antecedent)
        if found and all(_is_said(within, first.start + one.start) for one in found):
            more = bases if antecedent else ()
            alone = len(found) == 1
            return [_piece(first, sentence, one, more, alone=alone) for one in found]
    if all(one.kind in _SAID for one in within) and (cut := consequence(sentence)) is not None:
        if cut.is_named:
            whole = _stretch(first, sentence, 0, len(sentence))
            return [Unfolded(whole, bases=(sentence[slice(*cut.base)],))]
        return [
            Unfolded(_stretch(first, sentence, *cut.base)),
            Unfolded(_stretch(first, sentence, *cut.then), follows=True),
        ]
    linked = reasoning.relation(sentence)
    if linked is not None and not sentence.rstrip().endswith("?"):
        whole = replace(first, text=sentence, end=last.end, kind=Kind.ASSERTION)
        return [Unfolded(whole, relation=linked)]
    return []


def _stretch(first: Statement, sentence: str, start: int, end: int) -> Statement:
    """A stretch of a sentence as a statement of its own."""
    return Statement(sentence[start:end], first.start + start, first.start + end, Kind.ASSERTION)


def _is_said(within: Sequence[Statement], start: int) -> bool:
    """Whether what begins at a place is told, and not asked or supposed."""
    holding = [one for one in within if one.start <= start < one.end] or within[:1]
    modal = _MODAL in holding[0].cues and within[-1].kind in _SAID
    return modal or holding[0].kind in (*_SAID, Kind.RETRACTION)


def _piece(
    first: Statement,
    sentence: str,
    strand: reasoning.Strand,
    bases: tuple[str, ...],
    *,
    alone: bool,
) -> Unfolded:
    """A strand as a statement; one that stands alone keeps the words of its whole sentence."""
    start, end = (0, len(sentence)) if alone else (strand.start, strand.end)
    statement = Statement(
        sentence[start:end], first.start + start, first.start + end, Kind.ASSERTION
    )
    told = strand.text if strand.text != statement.text else None
    return Unfolded(
        statement,
        told,
        strand.follows,
        (*strand.bases, *bases),
        strand.is_presumed,
        strand.is_change,
    )
