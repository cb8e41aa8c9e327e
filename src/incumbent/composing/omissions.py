"""The account: what a context leaves out before anything is ranked, and why.

It tells only what the asker may know of. Facts that are not for the asker are left out of it, even
of its counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from incumbent.composing.inquiry import SMALL, Inquiry
from incumbent.context.document import Omission
from incumbent.model.fact import Fact, Status
from incumbent.rules.scope import View
from incumbent.search.space import SearchSpace
from incumbent.stores.port import Selection


def left_out(
    inquiry: Inquiry, space: SearchSpace, view: View, shown: Collection[str]
) -> Iterator[Omission]:
    """The omissions before the ranking, and those that were too far off to be ranked.

    `shown` are facts that are not in office and are shown all the same.
    """
    yield from (Omission("shadowed", fact.id) for fact, _ in view.shadowed)
    yield from (Omission("overruled", fact.id) for fact, _ in view.overruled)
    aside = {fact.id for fact, _ in (*view.shadowed, *view.overruled)}
    known = aside.union([fact.id for fact in view.effective])
    total = space.total if space.facts is None else len(inquiry.everything)
    if inquiry.request.explain or total <= SMALL:
        yield from (
            Omission(_reason(inquiry, fact), fact.id)
            for fact in inquiry.everything
            if fact.id not in known and fact.id not in shown
        )
        yield from _own_elsewhere(inquiry)
    elif space.size > len(known):
        yield Omission("irrelevant", count=space.size - len(known))


def contested_by(
    inquiry: Inquiry, space: SearchSpace, facts: Sequence[Fact]
) -> dict[str, list[Fact]]:
    """For each contested fact, the statements against it, newest first.

    A statement is against the fact that it named, or against the present holder of that address.
    """
    if not space.has_suspects:
        return {}
    lens, reader = inquiry.lens, inquiry.reader
    then = inquiry.bygone(space)
    if then is not None:
        open_ones = then.contested()
    elif lens.past:
        open_ones = [fact for fact in inquiry.everything if fact.status is Status.CONTESTED]
    else:
        open_ones = [
            lens.as_seen(fact)
            for fact in reader.contested(lens.owners)
            if fact.place in lens.places and lens.sees(reader, fact)
        ]
    if not open_ones:
        return {}
    named: dict[str, str] = {
        entry.fact_id: entry.evidence["contests"]
        for entry in reader.verdicts(fact.id for fact in open_ones)
        if "contests" in entry.evidence
    }
    by_id = {fact.id: fact for fact in facts}
    by_address = {fact.address: fact for fact in facts if not fact.multi_valued}
    found: dict[str, list[Fact]] = {}
    for fact in sorted(open_ones, key=lambda fact: (fact.order, fact.id), reverse=True):
        incumbent = by_id.get(named.get(fact.id, "")) or by_address.get(fact.address)
        if incumbent is not None and not incumbent.needs_review:
            found.setdefault(incumbent.id, []).append(fact)
    return found


def _reason(inquiry: Inquiry, fact: Fact) -> str:
    if (fact.started_at or fact.valid_from) > inquiry.lens.when:
        return "not yet"
    return "irrelevant" if fact.is_valid else str(fact.status)


def _own_elsewhere(inquiry: Inquiry) -> Iterator[Omission]:
    """The asker's own facts that hold, but in another place or not for this session.

    A fact in another task or session is named: its owner can ask for it by its id. Of facts that
    this session may not read, only the existence is told.
    """
    lens, reader = inquiry.lens, inquiry.reader
    held = [fact for fact in _owned(inquiry) if fact.held_at(lens.when)]
    hidden = 0
    for fact in sorted(held, key=lambda fact: fact.id):
        may_know = lens.sees(reader, fact)
        if fact.place not in lens.places:
            if may_know:
                yield Omission("out of scope", fact.id)
        elif not may_know:
            hidden += 1
    if hidden:
        yield Omission("not permitted", count=hidden)


def _owned(inquiry: Inquiry) -> list[Fact]:
    """All facts of the asker that may hold; empty if there are more than can be named."""
    lens, reader = inquiry.lens, inquiry.reader
    owner = lens.identity.user_id
    if lens.past:
        found = reader.known(Selection((owner,)), lens.seq(reader))
    elif inquiry.request.explain:
        found = reader.live(Selection((owner,)))
    else:
        found = reader.owned(owner, SMALL + 1)
    return found if inquiry.request.explain or len(found) <= SMALL else []
