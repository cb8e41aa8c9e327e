"""Sorting: what a stretch of a turn is for, by its words and by the model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from incumbent.language.lines import MARKER, lines_of
from incumbent.language.moods import Kind
from incumbent.language.questions import is_telling
from incumbent.language.statements import Statement as Clause
from incumbent.language.statements import statements
from incumbent.model.forbidding import MAY_NOT
from incumbent.reading.form import Statement, StatementKind

_BY_RULES: Final = {
    Kind.ASSERTION: StatementKind.STATES,
    Kind.REQUEST: StatementKind.STATES,
    Kind.COMMITMENT: StatementKind.STATES,
    Kind.CONFIRMATION: StatementKind.AGREES,
    Kind.RETRACTION: StatementKind.STATES,
    Kind.DRAFT: StatementKind.PROPOSES,
    Kind.HYPOTHETICAL: StatementKind.SUPPOSES,
    Kind.QUESTION: StatementKind.ASKS,
    Kind.REPORT: StatementKind.REPORTS,
    Kind.SMALL_TALK: StatementKind.CHATS,
    Kind.VERBATIM: StatementKind.VERBATIM,
}
_STRENGTH: Final = (
    StatementKind.SUPPOSES,
    StatementKind.PROPOSES,
    StatementKind.STATES,
    StatementKind.REPORTS,
    StatementKind.ASKS,
    StatementKind.AGREES,
    StatementKind.CHATS,
    StatementKind.VERBATIM,
)
"""Of the clauses of a sentence, the first of these tells what the sentence is for."""
_MODEL: Final = {
    "chats": StatementKind.CHATS,
    "asks": StatementKind.ASKS,
    "supposes": StatementKind.SUPPOSES,
    "recalls": StatementKind.RECALLS,
    "orders": StatementKind.ORDERS,
}
_OVER_RULES: Final = 0.8
"""So sure must the model be to make something else of what reads as a statement."""
_ORDERED: Final = 0.33
"""So sure that a request is an order for now; what lasts in it is kept all the same."""
_NEARLY_CERTAIN: Final = 0.97
_SURELY: Final = 0.9
"""So sure that something is stated that reads as if it were only thought of."""
_TOLD: Final = 0.75
"""The same where no word of it supposes."""
_FEW: Final = 5
_CLAUSE: Final = 4
"""A clause of so many words tells something by itself."""
_LONG: Final = 16
"""So many words hardly only suppose, or only propose."""
_MUCH: Final = 6
"""A clause of so many words tells something beside one that is only thought of."""
_STILL_STATES: Final = 0.35
"""So sure that something is stated where the rules see none: showing is the lesser harm."""
_SUGGESTS = re.compile(
    r"(?:maybe|perhaps|possibly|alternatively)[ ,]+(?:add|use|try|include|offer|build|introduce|"
    r"create|make it|do|have|get|start|consider|switch to|go (?:with|for))\b"
    r"(?!.*\b(?:i|we|you|it|they)\b)",
    re.IGNORECASE,
)
"""An idea that is thrown in, and that nobody has said will be: "Maybe add recommendations"."""
_PUT_FORWARD = re.compile(
    r"\W*(?:(?:(?:first|rough|working|new) )?(?:draft|proposal|suggestion|idea)\b[^.:?!]{0,30}:|"
    r"(?:i|we)(?:['’]d)? (?:(?:would|also|now) )?(?:propose|suggest)\b)",
    re.IGNORECASE,
)
"""What says of itself that it is only put forward: "Draft: the discount is 20%"."""
_RULE = re.compile(
    rf"\b(?:must(?:n['’]t)?|{MAY_NOT}|may (?:only|never)|"
    r"(?:is|are) not allowed|not permitted|forbidden|"
    r"prohibited|only \w+(?: \w+){0,3} may|nobody may|no one may|need(?:s)? approval|"
    r"shall not)\b|\b(?:must|should|shall|may|to|please)\s+(?:never|always)\b|"
    r"^\W*no (?:\w+ ){1,3}may\b|"
    r"^\W*(?:[\w ]{1,40}:\s*)?(?:please\s+)?(?:never|always)\s+(?!been\b|was\b|had\b|have\b)",
    re.IGNORECASE,
)
_MAY = re.compile(
    r"(?<=\w )may\b(?! (?:i|we|as|well|be|become|have|need|want|still|yet|come|get|happen)\b)"
)
"""What is allowed: no month, no question, and mostly not what can come."""
_COULD_FAIL = re.compile(r"\bmay (?:or may )?not\b", re.IGNORECASE)
"""Either a rule, or something that may come to nothing: worth knowing in both cases."""


def is_rule(text: str) -> bool:
    """Whether a sentence says what one must, may or may not do."""
    return _RULE.search(text) is not None and "?" not in text


def kind_of(
    text: str, told: Mapping[str, float] | None, *, has_values: bool = False
) -> tuple[StatementKind, float]:
    """What a sentence is for, and how surely. `told` is what the model says of it.

    What is kept can be ignored, and what is not kept is lost: a sentence with a value in it, or
    with more than a few words, is no mere chat unless that is nearly certain.
    """
    found = statements(text)
    kinds = {one.kind for one in found}
    clauses = {_BY_RULES[one] for one in kinds}
    kind = next((one for one in _STRENGTH if one in clauses), StatementKind.CHATS)
    is_kept = is_rule(text) or _COULD_FAIL.search(text) is not None
    if kind is StatementKind.SUPPOSES and is_kept and not _supposes(text):
        kind = StatementKind.STATES
    if kind is StatementKind.STATES and _SUGGESTS.match(text) is not None:
        return StatementKind.PROPOSES, 1.0
    if told is None or (kind is StatementKind.PROPOSES and _PUT_FORWARD.match(text) is not None):
        return kind, 1.0
    states = told["states"]
    if kind is StatementKind.STATES:
        name = max(_MODEL, key=lambda one: told[one])
        tells = has_values or len(text.split()) > _FEW
        sure = _NEARLY_CERTAIN if tells and name in ("chats", "asks") else _OVER_RULES
        if name == "orders" and Kind.REQUEST in kinds and not any(map(_tells, found)):
            sure = _ORDERED
        if told[name] >= sure and not is_rule(text):
            return _MODEL[name], told[name]
        return kind, states
    if kind in (StatementKind.CHATS, StatementKind.REPORTS) and states >= _STILL_STATES:
        return StatementKind.STATES, states
    if kind in (StatementKind.PROPOSES, StatementKind.SUPPOSES) and states >= _NEARLY_CERTAIN:
        return StatementKind.STATES, states
    if kind is StatementKind.ASKS and is_telling(text) and states >= _STILL_STATES:
        return StatementKind.STATES, states
    least = _SURELY if _could_suppose(text) and _MAY.search(text) is None else _TOLD
    if kind is StatementKind.SUPPOSES and states >= least and not _supposes(text):
        return StatementKind.STATES, states
    return kind, 1 - states


def _tells(clause: Clause) -> bool:
    """Whether a clause beside a request tells something: "renamed it to trunk, please pull"."""
    return clause.kind is Kind.ASSERTION and len(clause.text.split()) >= _CLAUSE


def _tells_much(clause: Clause) -> bool:
    """Whether a clause beside one that supposes tells more than "I really don't know"."""
    return clause.kind is Kind.ASSERTION and len(clause.text.split()) >= _MUCH


_SUPPOSING: Final = (
    (re.compile(r", (?:but |and |just )*(?:if|unless|in case)\b", re.IGNORECASE), 3),
    (
        re.compile(r"(?<!,)(?<!, but)(?<!, and)(?<!, just) (?:if|unless|in case)\b", re.IGNORECASE),
        8,
    ),
    (
        re.compile(
            r"\b(?:suppos\w+|imagin\w+|assum\w+|would|wish\w*|hop(?:e|ing)|chance|were to|may|"
            r"maybe|perhaps|possibly|might|could|should|let['’]s|hypothetically|what about|had)\b",
            re.IGNORECASE,
        ),
        8,
    ),
)
"""Words that suppose, and how many words tell something that stand before them."""


def _could_suppose(text: str) -> bool:
    """Whether any word of a sentence could be one that supposes."""
    return any(pattern.search(text) is not None for pattern, _ in _SUPPOSING)


def is_unreal_in_part(text: str) -> bool:
    """Whether a sentence that supposes or proposes says something besides: in a clause of its own,
    or before it begins to suppose. Whoever types on and on for so long has said something too, and
    who may do what is worth knowing."""
    if len(text.split()) >= _LONG or any(map(_tells_much, statements(text))):
        return True
    if _MAY.search(text) is not None and not _supposes(text):
        return True
    places = [
        (len(text[: found.start()].split()), most)
        for pattern, most in _SUPPOSING
        if (found := pattern.search(text)) is not None
    ]
    return bool(places) and all(before >= most for before, most in places)


_IF = re.compile(
    r"\b(?:if|what if|suppose|imagine|assuming|unless|would|wish|were to|hypothetically)\b",
    re.IGNORECASE,
)


def _supposes(text: str) -> bool:
    return _IF.search(text) is not None


def in_lists(text: str, said: Iterable[Statement]) -> Iterator[Statement]:
    """Statements, those that are items of a list told and not ordered: what is to be done by a list
    is to be known for longer than now."""
    items = [one for one in lines_of(text) if MARKER.match(one.text) is not None]
    for one in said:
        is_item = len(items) > 1 and any(a.start <= one.start < a.end for a in items)
        if is_item and one.kind is StatementKind.ORDERS:
            one = replace(one, kind=StatementKind.STATES)
        yield one
