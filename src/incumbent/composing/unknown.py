"""What is not known: matters in a query whose last fact was taken back or has expired."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incumbent.composing.inquiry import Inquiry
from incumbent.context.rendering import Unknown
from incumbent.context.said_lines import speaks_for_itself
from incumbent.model.fact import Fact, Status
from incumbent.search import analysis
from incumbent.search.space import SearchSpace

if TYPE_CHECKING:
    from incumbent.composing.bygone import Bygone

_RETRACTIONS = 200
_MATCHING = 0.5
"""The share of a key's words that a query must use to ask for the key."""


def unknown_matters(inquiry: Inquiry, space: SearchSpace) -> list[Unknown]:
    """Matters in the query whose last fact was retracted or has expired."""
    then = inquiry.bygone(space)
    if then is not None:
        ended = then.ended(inquiry.asked)
    elif space.facts is not None:
        over = (Status.RETRACTED, Status.EXPIRED)
        ended = [fact for fact in inquiry.everything if fact.status in over]
    else:
        entries = space.collection.rows(space.expired[:_RETRACTIONS])
        expired = inquiry.reader.facts(row.fact_id for row in entries)
        ended = [inquiry.lens.as_seen(fact) for fact in (*_retracted(inquiry), *expired)]
    found: dict[str, Unknown] = {}
    for fact in sorted(ended, key=lambda fact: (fact.until or fact.recorded_at, fact.id)):
        if _is_asked(inquiry, fact) and _is_vacant(inquiry, fact, then):
            unknown = Unknown(fact, _called(inquiry, fact))
            found[unknown.name] = unknown
    return [found[name] for name in sorted(found)]


def _called(inquiry: Inquiry, fact: Fact) -> str:
    """The name that may be shown for a fact that is over.

    The key of a sentence is made of its words. Only those that the query has are shown.
    """
    if not speaks_for_itself(fact):
        return fact.key
    words = fact.key.split("_")
    return "_".join(w for w in words if inquiry.asked.issuperset(analysis.name_terms(w)))


def _retracted(inquiry: Inquiry) -> list[Fact]:
    """The last retractions that may be seen, up to a number."""
    lens, reader = inquiry.lens, inquiry.reader
    limit = _RETRACTIONS
    while True:
        found = reader.retracted(lens.owners, limit)
        seen = [fact for fact in found if fact.place in lens.places and lens.sees(reader, fact)]
        if len(found) < limit or len(seen) >= _RETRACTIONS:
            return seen[:_RETRACTIONS]
        limit *= 4


def _is_asked(inquiry: Inquiry, fact: Fact) -> bool:
    asked = inquiry.asked
    named = [term for term in analysis.name_terms(fact.key) if not term.isdigit()]
    about = analysis.name_terms(fact.subject) if fact.subject else ()
    used = sum(term in asked for term in named)
    return used > 0 and used >= _MATCHING * len(named) and asked.issuperset(about)


def _is_vacant(inquiry: Inquiry, fact: Fact, then: Bygone | None) -> bool:
    lens, reader = inquiry.lens, inquiry.reader
    if fact.place not in lens.places or not lens.sees(reader, fact):
        return False
    if then is not None:
        return then.is_vacant(fact.key, fact.subject)
    return not lens.held(reader, fact.key, fact.subject or "", marks=False)
