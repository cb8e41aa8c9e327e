"""Facts: what a person may see of them, the last recorded first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from incumbent.engine.lens import Causes, Lens
from incumbent.engine.queries import with_derived
from incumbent.listing.cursors import check_limit, check_span, page_of, place_of
from incumbent.model.authority import Ladder
from incumbent.model.errors import InvalidInput
from incumbent.model.fact import UNNAMED, Fact, MemoryType, Status
from incumbent.model.folding import folded
from incumbent.model.identity import check_name
from incumbent.model.ids import ALIAS
from incumbent.model.listings import Listing
from incumbent.model.scope import Scope
from incumbent.model.values import check_text, text_of
from incumbent.stores.port import FactFilter, Reader

Word = TypeVar("Word", bound=StrEnum)
Place = tuple[datetime, str]
_FACTS = "fact"
_LONGEST = 1_000
_MOST = 1_000
"""The most facts that are read at a time."""
_LISTED = tuple(status for status in Status if status is not Status.ERASED)
# A fact whose status is office has not begun yet, or is over, with no entry in the log to say so.
_UNNOTED = frozenset({Status.EXPIRED, Status.WAITING})


@dataclass(frozen=True)
class FactQuery:
    """Which facts are asked for."""

    text: str
    key: str | None
    subject: str | None
    states: frozenset[Status]
    scope: Scope | None
    memory_type: MemoryType | None
    authority: str | None
    needs_review: bool | None
    since: datetime | None
    until: datetime | None
    limit: int
    place: Place | None

    def matches(self, fact: Fact) -> bool:
        """Whether a fact, as a session sees it, is one of them."""
        return (
            fact.status in self.states
            and self.needs_review in (None, fact.needs_review)
            and self.scope in (None, fact.scope)
            and self.memory_type in (None, fact.memory_type)
            and self.authority in (None, fact.authority)
            and (self.since is None or fact.recorded_at >= self.since)
            and (self.until is None or fact.recorded_at < self.until)
            and self._is_said_in(fact)
        )

    def _is_said_in(self, fact: Fact) -> bool:
        said = (fact.key, fact.subject or "", text_of(fact.value))
        return not self.text or any(self.text in folded(one) for one in said)


def fact_query(ladder: Ladder, *, cursor: str | None, limit: int, **asked: Any) -> FactQuery:
    """Which facts are asked for, checked."""
    since, until = check_span(asked.pop("since"), asked.pop("until"))
    place = place_of(_FACTS, cursor, datetime, str)
    key, subject, needs_review = asked["key"], asked["subject"], asked["needs_review"]
    if needs_review not in (None, True, False):
        raise InvalidInput(
            f"needs_review must be true, false or left out, not {needs_review!r:.80}"
        )
    return FactQuery(
        text=_checked_text(asked["text"]),
        key=key if key in (None, UNNAMED) else check_name(key, "key"),
        subject=check_name(subject, "subject") if subject else subject,
        states=_states(asked["states"]),
        scope=_word(Scope, asked["scope"], "scope"),
        memory_type=_word(MemoryType, asked["memory_type"], "memory_type"),
        authority=_rung(ladder, asked["authority"]),
        needs_review=needs_review,
        since=since,
        until=until,
        limit=check_limit(limit),
        place=None if place is None else (place[0], place[1]),
    )


def facts(reader: Reader, lens: Lens, query: FactQuery) -> Listing[Fact]:
    """A page of the facts that a lens shows, as if there were no others."""
    found = _remembered(reader, lens, query) if lens.past else _walked(reader, lens, query)
    page = page_of(_FACTS, ((_place(fact), fact) for fact in found), query.limit)
    return Listing(tuple(with_derived(reader, lens, list(page))), page.next)


def _place(fact: Fact) -> Place:
    # Another's fact may have the id that the writer of this one chose: none of their business.
    return fact.recorded_at, fact.id.partition(ALIAS)[0]


def _walked(reader: Reader, lens: Lens, query: FactQuery) -> Iterator[Fact]:
    """Along the index of times, as far as somebody asks; more at a time where little is seen."""
    known: Causes = {}
    before, some, wanted = query.place, query.limit + 1, _filter(lens, query)
    while found := reader.recorded(wanted, before, some):
        for fact in found:
            if lens.sees(reader, fact):
                seen = lens.seen(reader, fact, known)
                if query.matches(seen):
                    yield seen
        if len(found) < some:
            return
        before = (found[-1].recorded_at, found[-1].id)
        some = min(2 * some, _MOST)


def _filter(lens: Lens, query: FactQuery) -> FactFilter:
    others = query.states - {Status.OFFICE}
    if others & _UNNOTED:
        others |= {Status.OFFICE}
    return FactFilter(
        owners=lens.owners,
        places=tuple(place for place in lens.places if query.scope in (None, place[0])),
        when=lens.when,
        holding=Status.OFFICE in query.states,
        others=tuple(sorted(others)),
        text=query.text,
        key=query.key,
        subject=query.subject,
        memory_type=query.memory_type,
        authority=query.authority,
        derived=query.needs_review is True,
        since=query.since,
        until=query.until,
    )


def _remembered(reader: Reader, lens: Lens, query: FactQuery) -> Iterator[Fact]:
    """The facts of a moment of the past, for which there is no index."""
    known: Causes = {}
    found = lens.everything(reader, query.key, query.subject)
    for fact in sorted(found, key=lambda fact: (fact.recorded_at, fact.id), reverse=True):
        if query.place is None or (fact.recorded_at, fact.id) < query.place:
            seen = lens.seen(reader, fact, known)
            if query.matches(seen):
                yield seen


def _checked_text(text: object) -> str:
    if not isinstance(text, str):
        raise InvalidInput(f"text must be a string, not {type(text).__name__} ({text!r:.80})")
    if len(text) > _LONGEST:
        raise InvalidInput(
            f"text has {len(text):,} characters and the limit is {_LONGEST:,}; look for part of it"
        )
    return folded(check_text(text, "text"))


def _states(states: Iterable[str]) -> frozenset[Status]:
    if isinstance(states, str) or not isinstance(states, Iterable):
        raise InvalidInput(f"states must be a list, for example ['office'], not {states!r:.80}")
    named = frozenset(_listed(state) for state in states)
    return named or frozenset(_LISTED)


def _listed(state: str) -> Status:
    found = _word(Status, state, "state")
    if found is None or found is Status.ERASED:
        raise InvalidInput(f"state {state!r:.80} is not one of {', '.join(_LISTED)}")
    return found


def _word(kind: type[Word], word: str | None, what: str) -> Word | None:
    if word is None:
        return None
    known = {one.value: one for one in kind}
    if not isinstance(word, str) or word not in known:
        names = ", ".join(one for one in known if one != Status.ERASED)
        raise InvalidInput(f"{what} {word!r:.80} is not one of {names}")
    return known[word]


def _rung(ladder: Ladder, authority: str | None) -> str | None:
    """The rung of a title. A title that nobody knows is no condition that facts can meet."""
    if authority is None:
        return None
    found = ladder.known(authority) if isinstance(authority, str) else None
    if found is None:
        raise InvalidInput(
            f"authority {authority!r:.80} is no rung of the ladder; these are: "
            f"{', '.join(ladder.rungs)}"
        )
    return found.rung
