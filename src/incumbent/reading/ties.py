"""Ties: what a statement says it rests on.

"The wine is Merlot because of the menu." rests on what is known of the menu; "So the budget is
5,000." rests on what was said right before. A statement that gives a reason and names the thing of
another one rests on that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from operator import eq
from typing import Final

from incumbent.language.cues import Cues
from incumbent.language.lexicon import data, word_set
from incumbent.language.tokens import stem
from incumbent.model.fact import Part
from incumbent.reading.causes import base_of, begins_at, concludes, ends_at, leans_on, points_back
from incumbent.reading.comparing import fillers, stems_of, tokens
from incumbent.reading.form import Known, Relation, RelationKind, Span, Statement, StatementKind
from incumbent.reading.telling import told_in
from incumbent.reading.things import name_of, things

_LONGEST: Final = 4
"""The name of a thing has no more words that tell something."""
_READ: Final = 400
_VARIES = re.compile(
    r"\b(?:would|will|may|might) (?:change|move|vary|shift) (?:with|if|when)\b|\(from\b|"
    r"\bas (?:things|it|they|matters|that) (?:are|is|stands?)\b|\bgoing (?:off|by)\b",
    re.IGNORECASE,
)
_ENDED = re.compile(r"[.!?](?=\s)|\n")
_COMMA = re.compile(r"[,;:] ")


class _Words:
    def __init__(self, language: str) -> None:
        told = data("ties", language)
        concluding, reason, following = (
            "".join(told[name].split("\n")) for name in ("concluding", "reason", "following")
        )
        said, but, so = (
            r"(?:and |ok |okay |well,? )?",
            "(?:but |and |only |just )*",
            "(?:and |you see, )*",
        )
        self.resting = frozenset(map(stem, told["resting"].split()))
        self.linking = word_set(told["linking"])
        self.concluding = re.compile(rf"{said}(?:{concluding})\b(?! that you)", re.IGNORECASE)
        self.taking_up = re.compile(rf"{said}(?:{told['taking_up']})\b", re.IGNORECASE)
        self.reason = re.compile(rf"{but}(?:{reason})\b\s*", re.IGNORECASE)
        self.reason_within = re.compile(rf"[,;]? (?={but}(?:{reason})\b)", re.IGNORECASE)
        self.following = re.compile(rf"(?:[,;]| -)? (?={so}(?:{following})\b)", re.IGNORECASE)
        self.follows = re.compile(rf"{so}(?:{following})\b\s*", re.IGNORECASE)


@lru_cache(maxsize=2)
def _words(language: str = "en") -> _Words:
    return _Words(language)


def opening(text: str) -> int:
    """Where a statement begins behind words that make it a reason or a conclusion, or 0."""
    words = _words()
    found = words.reason.match(text) or words.follows.match(text)
    return found.end() if found is not None else 0


def is_reason(text: str) -> bool:
    """Whether a stretch opens as the reason for something: "because the rent is $900"."""
    return _words().reason.match(text) is not None


def reasoned(text: str) -> Iterator[tuple[Span, Span]]:
    """Where a sentence may fall into a reason and what follows from it, whichever comes first."""
    words = _words()
    if len(text) > _READ:
        return
    found = [*words.reason_within.finditer(text), *words.following.finditer(text)]
    if words.reason.match(text) is not None:
        found += _COMMA.finditer(text)
    for one in found:
        if one.start() > 0:
            yield (0, one.start()), (one.end(), len(text))


def resting_words() -> frozenset[str]:
    """The words, as they are compared, by which a statement says that it rests on something."""
    return _words().resting


def rests(text: str) -> bool:
    """Whether a sentence says that it rests on something."""
    return (
        not resting_words().isdisjoint(stems_of(text[:_READ]))
        or _VARIES.search(text[:_READ]) is not None
    )


def topic(text: str) -> frozenset[str]:
    """The words for the thing that a sentence is about; none where it names no single thing."""
    words = _words()
    found: list[str] = []
    for token in tokens(text[:_READ]):
        low = token.text.lower()
        if low in words.linking or (low.endswith(("'s", "’s")) and found):
            break
        if low not in fillers() and stem(low) not in words.resting:
            found.append(token.stem)
        if len(found) > _LONGEST:
            return frozenset()
    return frozenset(found)


def ties(
    statements: Sequence[Statement], known: Sequence[Known], text: str = ""
) -> Iterator[Relation]:
    """What the statements of a turn rest on: what is known, or what else the turn says."""
    for number, said in enumerate(statements):
        if said.kind is StatementKind.SUPPOSES:
            yield from _waits(number, said, known)
        elif said.kind in (StatementKind.STATES, StatementKind.ORDERS):
            yield from _bases(number, statements, known, text)


def _bases(
    number: int, statements: Sequence[Statement], known: Sequence[Known], text: str
) -> Iterator[Relation]:
    """What a statement rests on: the one before it, the one behind it, or what it names."""
    said, derived = statements[number], _spoken_of(number, statements)
    for place, base in ((number - 1, 0), (number + 1, 1)) if derived == number else ():
        if _is_base(statements, number, place, base, text):
            yield _rests(number, said, earlier=place)
            return
    found = list(_named(number, derived, statements, known))
    if not found and not number and _words().concluding.match(said.text) is not None:
        last = [one for one in known if one.is_here and one.age == 0]
        found = [_rests(number, said, fact_id=one.id) for one in last[:1]]
    yield from found


def _is_base(
    statements: Sequence[Statement], number: int, place: int, base: int, text: str
) -> bool:
    """Whether the neighbour of a statement is the reason for it, by the words between what each of
    them tells."""
    if not 0 <= place < len(statements):
        return False
    one, other = statements[min(number, place)], statements[max(number, place)]
    told, then = told_in(one.text, one.parts), told_in(other.text, other.parts)
    is_told = bool(then if place > number else told) or statements[place].claim is not None
    if one.kind is not other.kind or len(told if place > number else then) > 1:
        return False
    if told and then and told[-1].name == then[0].name:
        return False
    begin = begins_at(told[0]) if told else opening(one.text)
    end = one.start + (ends_at(told[-1]) if told else len(one.text.rstrip(".!?")))
    start = begins_at(then[0]) if then else opening(other.text)
    between = text[end : other.start + start]
    if _ENDED.search(between) is None:
        return is_told and base_of(one.text[:begin], between) == base
    # Behind the end of a sentence only what points back or draws a conclusion ties the two.
    return base == 0 and _follows(other, other.text[:start] if is_told else "")


def _follows(said: Statement, lead: str) -> bool:
    """Whether a sentence draws a conclusion from what was said right before it. "So" by itself
    often only takes up the talk."""
    words = _words()
    if words.concluding.match(said.text) is not None or concludes(lead):
        return True
    return bool(said.parts) and words.taking_up.match(said.text) is not None


def _named(
    number: int, derived: int, statements: Sequence[Statement], known: Sequence[Known]
) -> Iterator[Relation]:
    """What has the thing that a statement names as its reason, said in this turn or known: by the
    structure of the sentence, or where it only says that it rests on something."""
    said = statements[number]
    named = things(said.text, said.parts)
    names = leans_on(said.text, told_in(said.text, said.parts), named)
    if derived != number:
        names = [name_of(one.key, one.subject) for one in named]
    around = (derived, number, statements, known)
    found = [one for name in names for one in _bearers(partial(eq, name), *around)]
    if not found and rests(said.text):
        own = stems_of(said.text[:_READ])
        about = _names_of(statements[derived])

        def is_said(name: frozenset[str]) -> bool:
            return bool(name) and name <= own and not any(name <= one for one in about)

        found = list(_bearers(is_said, *around))
    yield from found


def _spoken_of(number: int, statements: Sequence[Statement]) -> int:
    """Which statement one speaks of: itself or, as in "It depends on the menu.", the one before."""
    said = statements[number]
    if said.claim is not None or told_in(said.text, said.parts) or not points_back(said.text):
        return number
    for place in range(number - 1, max(-1, number - 3), -1):
        one = statements[place]
        if one.claim is not None or len(told_in(one.text, one.parts)) == 1:
            return place
    return number


def _bearers(
    fits: Callable[[frozenset[str]], bool],
    derived: int,
    number: int,
    statements: Sequence[Statement],
    known: Sequence[Known],
) -> Iterator[Relation]:
    """What a statement rests on by a name: the last that had it in this turn, or what is known."""
    said = statements[derived]
    for place in range(number - 1, -1, -1):
        one = statements[place]
        is_said = place != derived and one.kind is StatementKind.STATES
        if is_said and any(map(fits, _names_of(one))):
            yield _rests(derived, said, earlier=place)
            return
    for fact in known:
        if any(map(fits, (_name_of(fact), *_told_names(fact.text, fact.parts)))):
            yield _rests(derived, said, fact_id=fact.id)


def _waits(number: int, said: Statement, known: Sequence[Known]) -> Iterator[Relation]:
    """What something is to be once another thing changes: "If James leaves, report to Ada."."""
    base = Cues(said.text).contingency or ""
    asked = {stem(word) for word in base.lower().split()}
    for fact in known:
        own = stems_of(f"{fact.key.replace('_', ' ')} {fact.text}"[:_READ])
        if said.awaits == _name_of(fact) if said.awaits else asked and asked <= own:
            yield _rests(number, said, fact_id=fact.id)
            return


def _names_of(said: Statement) -> frozenset[frozenset[str]]:
    """The words for what a statement is about: its name, where it has one, and what it tells of."""
    claim = said.claim
    own = name_of(claim.attribute, claim.subject) if claim is not None else topic(said.text)
    return (_told_names(said.text, said.parts) | {own}) - {frozenset()}


def _told_names(text: str, parts: tuple[Part, ...]) -> frozenset[frozenset[str]]:
    return frozenset(one.name for one in told_in(text, parts))


def _name_of(fact: Known) -> frozenset[str]:
    """The words for what something known is about."""
    return name_of(fact.key, fact.subject) if fact.key else topic(fact.text)


def _rests(
    number: int, said: Statement, *, fact_id: str = "", earlier: int | None = None
) -> Relation:
    return Relation(
        RelationKind.DEPENDS, fact_id, number, 1.0, said.text[:80], is_told=True, earlier=earlier
    )
