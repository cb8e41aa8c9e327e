"""Forgetting: removing content for good, wherever it went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from incumbent.engine.erasure_reach import Reach, quotations
from incumbent.engine.registrar import next_moment
from incumbent.engine.review_marks import settle
from incumbent.engine.workspace import Workspace
from incumbent.model.errors import UnknownFact
from incumbent.model.fact import Fact, Status
from incumbent.model.ids import new_id
from incumbent.model.records import Erasure, Passage, WorkingItem, is_turn
from incumbent.model.values import leaves, same_value, text_of
from incumbent.model.verdict import Action, Outcome, Repair, Rule, Verdict
from incumbent.stores.port import Selection, Transaction

_PAGE = 1_000

Redact = Callable[[Reach], Mapping[str, int]]
"""Takes erased content out of receipts; returns the number of changed receipts by user."""


def forget(
    transaction: Transaction,
    now: datetime,
    *,
    redact: Redact,
    user_id: str | None = None,
    subject: str | None = None,
    fact_id: str | None = None,
    by: str | None = None,
) -> Erasure:
    """Erase the facts that match every given condition, and everything that repeats them.

    Facts of the same chain with the same value go too (the draft of a committed fact, a value that
    was reverted to), and so do derived facts that quote the content; other derived facts are marked
    for review. Working items that state the facts go, in any words and on any desk; items and
    reasons of their owners also go if they only quote them. The turns of a user go with the user,
    because the ref of a turn may name somebody. So do the keys that speak for the user: a forgotten
    user's key should let nobody in. Turns of erased facts stay, since they hold nothing but ids;
    their passages go as working items do.

    An erasure that a person asks for (`by`) takes the facts that this person owns. Facts of others
    that quote them go as well, or the content would not be erased; but the proof for this person
    counts only their own, so that nobody learns by erasing of facts they may not see.
    """
    moment = next_moment(now, transaction.head()[1])
    if by is None:
        doomed = _with_copies(transaction, _matching(transaction, user_id, subject, fact_id))
    else:
        doomed = _with_copies(transaction, _owned(transaction, by, subject, fact_id))
        doomed = [fact for fact in doomed if fact.owner == by]
    reach = Reach(
        (*doomed, *_quoting(transaction, doomed)),
        names=() if subject is None else (subject,),
        everything_of=user_id if subject is None and fact_id is None else None,
        by=by,
    )
    return _Erasing(transaction, moment, reach, {fact.id for fact in doomed}).carry_out(redact)


class _Erasing:
    """One erasure under way: the facts that go, counted by owner."""

    def __init__(
        self, transaction: Transaction, now: datetime, reach: Reach, asked: set[str]
    ) -> None:
        self._transaction = transaction
        self._now = now
        self._reach = reach
        self._asked = asked

    def carry_out(self, redact: Redact) -> Erasure:
        transaction, reach = self._transaction, self._reach
        items = _drop_items(transaction, reach)
        passages = _drop_passages(transaction, reach)
        reasons = _reasons(transaction, reach)
        receipts = redact(reach)
        user = reach.everything_of
        turns = 0 if user is None else transaction.drop_turns(user_id=user)
        keys = 0 if user is None else transaction.drop_keys(user)
        told = [fact for fact in reach.facts if reach.by in (None, fact.owner)]
        others = [fact for fact in reach.facts if reach.by not in (None, fact.owner)]
        removed = {
            "working_items": self._told_of(items),
            "passages": self._told_of(passages),
            "turns": turns,
            "receipts": self._told_of(receipts),
            "keys": keys,
        }
        # A name is taken out of what its bearer decided for the organization only by those who
        # answer for the record.
        author = user if reach.by is None else None
        proof = self._erase(told, removed, reasons, author)
        beyond = {
            "working_items": items.total() - removed["working_items"],
            "passages": passages.total() - removed["passages"],
            "receipts": sum(receipts.values()) - removed["receipts"],
        }
        proofs = [proof]
        if others or any(beyond.values()):
            self._now = next_moment(self._now, self._now)  # proofs are ordered by their moments
            proofs.append(self._erase(others, beyond))
        relinked: Iterable[str] = [fact.id for fact in reach.facts]
        for one in proofs:
            if one.fact_ids:
                whose = reach.marks(one.id) if one is proof else ()
                _record(transaction, one, self._now, relinked, whose)
                relinked = ()
        return proof

    def _told_of(self, counts: Mapping[str, int]) -> int:
        """The number, as far as the one who asks may know it."""
        by = self._reach.by
        return sum(counts.values()) if by is None else counts.get(by, 0)

    def _erase(
        self,
        facts: list[Fact],
        removed: Mapping[str, int],
        reasons: list[str] | None = None,
        author: str | None = None,
    ) -> Erasure:
        ids = tuple(sorted(fact.id for fact in facts))
        erasure = Erasure(
            id=new_id(self._now),
            organization=self._transaction.organization,
            at=self._now,
            fact_ids=ids,
            quoted_in=tuple(one for one in ids if one not in self._asked),
            removed=removed,
        )
        return self._transaction.erase(ids, erasure, reasons=reasons or (), user_id=author)


def _matching(
    transaction: Transaction, user_id: str | None, subject: str | None, fact_id: str | None
) -> list[Fact]:
    if fact_id is not None:
        fact = transaction.fact(fact_id)
        if fact is None or fact.status is Status.ERASED:
            raise UnknownFact(
                f"no fact with id {fact_id!r} in organization {transaction.organization!r}; "
                f"`incumbent history KEY` shows the ids of a key"
            )
        found = [fact]
    else:
        found = transaction.timeline(Selection())
    return [
        fact
        for fact in found
        if (user_id is None or user_id in (fact.owner, fact.subject))
        and subject in (None, fact.subject)
    ]


def _owned(
    transaction: Transaction, owner: str, subject: str | None, fact_id: str | None
) -> list[Fact]:
    """The facts that a person owns, with a subject or an id."""
    if fact_id is None:
        return transaction.timeline(Selection((owner,), subject=subject))
    fact = transaction.fact(fact_id)
    # A fact of another and a missing one are refused in the same words.
    if fact is None or fact.owner != owner or subject not in (None, fact.subject):
        raise UnknownFact(
            f"no fact with id {fact_id!r} belongs to {owner!r} in organization "
            f"{transaction.organization!r}; `incumbent history KEY` shows the ids of a key"
        )
    return [fact]


def _with_copies(transaction: Transaction, facts: list[Fact]) -> list[Fact]:
    """These facts, and those of their chains with the same value."""
    found = {fact.id: fact for fact in facts}
    for fact in facts:
        seen = {fact.id}
        queue = [fact]
        while queue:
            current = queue.pop()
            for linked in (current.superseded_by, *current.predecessors):
                near = transaction.fact(linked) if linked and linked not in seen else None
                if near is not None:
                    seen.add(near.id)
                    queue.append(near)
                    if near.status is not Status.ERASED and same_value(near.value, fact.value):
                        found[near.id] = near
    return list(found.values())


def _quoting(transaction: Transaction, doomed: list[Fact]) -> list[Fact]:
    """Facts derived from these, to any depth, that repeat their content."""
    seen = {fact.id for fact in doomed}
    found: list[Fact] = []
    frontier = doomed
    known, told = -1, quotations(())
    while frontier:
        # A fact in between that quotes nothing can still have passed it on.
        derived = transaction.derived_from([fact.id for fact in frontier])
        frontier = [fact for fact in derived if fact.id not in seen]
        seen.update(fact.id for fact in frontier)
        if known < len(found):
            known, told = len(found), quotations([*doomed, *found])
        found.extend(fact for fact in frontier if told.found_in(text_of(fact.value)))
    return found


def _reasons(transaction: Transaction, reach: Reach) -> list[str]:
    """The verdicts whose reason repeats erased content, on facts of its owners; on any facts if the
    content was the organization's."""
    found: list[str] = []
    for owner in reach.owners:
        quotes = reach.quotes(owner)
        on = [fact.id for fact in transaction.timeline(Selection((owner,)))]
        verdicts = transaction.verdicts(on) if quotes else ()
        found.extend(v.id for v in verdicts if v.reason and quotes.found_in(v.reason))
    after = 0
    while reach.shared:
        page = transaction.log(after, _PAGE)
        if not page:
            break
        after = page[-1].seq
        found.extend(v.id for v in page if v.reason and reach.shared.found_in(v.reason))
    return list(dict.fromkeys(found))


def _drop_items(transaction: Transaction, reach: Reach) -> Counter[str]:
    """Take the items that state or quote erased facts off the desks; return the number by owner."""
    dropped: Counter[str] = Counter()
    if (user := reach.everything_of) is not None:
        dropped[user] += transaction.drop_items(user_id=user)
    if not reach.facts:
        return dropped
    for owner, session_id, item in transaction.desks(reach.only):
        if _names(item, reach.ids) or reach.quotes(owner).found_in(_told(item)):
            gone = transaction.drop_items(user_id=owner, session_id=session_id, key=item.key)
            dropped[owner] += gone
    return dropped


def _drop_passages(transaction: Transaction, reach: Reach) -> Counter[str]:
    """Remove the passages that state or quote erased facts; return the number by owner."""
    dropped: Counter[str] = Counter()
    after, user = 0, reach.everything_of
    if user is not None:
        dropped[user] += transaction.passage_count(user)  # they go with the turns
    if not reach.facts:
        return dropped
    while page := transaction.passages(reach.only, after, _PAGE):
        after = page[-1].number
        gone = [
            (number, owner)
            for number, owner, passage in page
            if owner != user
            and (_names(passage, reach.ids) or reach.quotes(owner).found_in(passage.text))
        ]
        transaction.drop_passages([number for number, _ in gone])
        dropped.update(owner for _, owner in gone)
    return dropped


def _names(item: WorkingItem | Passage, fact_ids: frozenset[str]) -> bool:
    """True if an item or a passage states one of these facts.

    Once their values are gone, nobody could find and cut out the words of the item about them.
    """
    return not fact_ids.isdisjoint((*item.states, *(spot.fact_id for spot in item.spots)))


def _told(item: WorkingItem) -> str:
    """All the text of an item: its key, its value, and the words of its spots."""
    said = (spot.text for spot in item.spots)
    key = "" if is_turn(item) else item.key  # what a turn is called says who spoke, and no more
    return "\n".join((key, text_of(item.value), *leaves(item.value), *said))


def _record(
    transaction: Transaction,
    erasure: Erasure,
    now: datetime,
    relinked: Iterable[str],
    whose: Iterable[str],
) -> None:
    """Put the erasure on the log, with the derived facts that need review because of it."""
    workspace = Workspace(transaction, now)
    marked, lifted = settle(workspace, relinked=relinked)
    seq, last = transaction.head()
    moment = next_moment(now, last)
    verdict = Verdict(
        id=new_id(moment),
        organization=transaction.organization,
        seq=seq + 1,
        action=Action.FORGET,
        outcome=Outcome.RETRACTED,
        rule=Rule.ERASURE,
        fact_id=erasure.fact_ids[0],
        evidence={"erasure": erasure.id, "whose": sorted(whose)},
        by="",
        authority="",
        at=moment,
        recorded_at=moment,
        repair=Repair(marked, lifted),
    )
    transaction.record(verdict, *workspace.outcome())
