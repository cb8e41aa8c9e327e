"""History: the earlier facts on the matters that a query is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from incumbent.composing.inquiry import Inquiry
from incumbent.context.ranking import Ranked
from incumbent.model.fact import SERVED, Fact
from incumbent.search import analysis
from incumbent.search.space import SearchSpace

_FOREMOST = 64
"""So many of the best facts bring the earlier ones on their matters with them."""
_MOST = 500
_LEAFED = 4_000
"""Characters of a fact that are read to tell whether the query asks for its past."""


def past_of(inquiry: Inquiry, space: SearchSpace, ranked: Sequence[Ranked]) -> list[Fact]:
    """The earlier facts on the matters of the query or of the best facts."""
    matters = {(one.fact.key, one.fact.subject) for one in ranked[:_FOREMOST]}

    def is_wanted(fact: Fact) -> bool:
        return (
            fact.status in SERVED
            and not fact.is_valid
            and fact.started_at is not None
            and ((fact.key, fact.subject) in matters or _says(inquiry, fact))
        )

    then = inquiry.bygone(space)
    if then is not None:
        every: Iterable[Fact] = then.over(matters, inquiry.asked, is_wanted, _MOST)
    elif space.facts is not None or inquiry.looks_at_all(space):
        every = inquiry.everything
    else:
        every = _over(inquiry, space, matters)
    found = [fact for fact in every if is_wanted(fact)]
    found.sort(key=lambda fact: (fact.key, fact.subject or "", fact.started_at, fact.id))
    return found[:_MOST]


def _over(inquiry: Inquiry, space: SearchSpace, matters: set[tuple[str, str | None]]) -> list[Fact]:
    """The facts out of office that may be wanted, found through the index."""
    lens, reader = inquiry.lens, inquiry.reader
    marks = {analysis.matter_mark(key, subject) for key, subject in matters}
    entries = space.over(marks, inquiry.asked)
    rows = space.collection.rows(sorted(entries))
    return [
        lens.as_seen(fact)
        for fact in reader.facts(row.fact_id for row in rows)
        if fact.place in lens.places and lens.sees(reader, fact)
    ]


def _says(inquiry: Inquiry, fact: Fact) -> bool:
    text = analysis.text_for_terms(fact.key, fact.subject, fact.value)
    return not inquiry.asked.isdisjoint(analysis.terms(text[:_LEAFED]))
