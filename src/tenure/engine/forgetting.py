"""Forgetting: removing content for good, wherever it went."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from datetime import datetime

from tenure.engine.registrar import next_moment
from tenure.engine.settling import settle
from tenure.engine.workspace import Workspace
from tenure.model.errors import UnknownFact
from tenure.model.fact import Fact, Status
from tenure.model.ids import new_id
from tenure.model.records import Erasure, WorkingItem
from tenure.model.values import bare, leaves, same_value, text_of
from tenure.model.verdict import Action, Outcome, Repair, Rule, Verdict
from tenure.stores.port import Selection, Transaction

_PAGE = 1_000
_LONG_ENOUGH = 6
"""A value within a statement counts as quoted from so many characters on: not "4" or "Monday"."""

Quotes = Callable[[str], bool]
Redact = Callable[[set[str], Quotes, str | None], int]
"""Takes erased facts out of receipts: their ids, what quotes them, and whose receipts go whole."""


def forget(
    transaction: Transaction,
    now: datetime,
    *,
    redact: Redact,
    user_id: str | None = None,
    subject: str | None = None,
    fact_id: str | None = None,
) -> Erasure:
    """Erase the facts that match every given condition, and what repeats them.

    Facts of the same chain that say the same go with them (the draft of a committed fact, a value
    gone back to), and so do facts derived from them that quote their content; derived facts that
    do not are marked for review. Working items and reasons that quote it go too, and working items
    that state it in whatever words. The turns of a user go with the user: what a turn is called may
    name somebody. So do the keys that speak for the user: what lets in as somebody who is forgotten
    should let nobody in. Turns of erased facts stay, since they hold nothing but ids.
    """
    doomed = _with_copies(transaction, _matching(transaction, user_id, subject, fact_id))
    quoting = _quoting(transaction, doomed)
    items = _drop_items(transaction, [*doomed, *quoting], user_id, subject, fact_id)
    reasons = _reasons(transaction, [*doomed, *quoting])
    everything_of = user_id if subject is None and fact_id is None else None
    turns = 0 if everything_of is None else transaction.drop_turns(user_id=everything_of)
    keys = 0 if everything_of is None else transaction.drop_keys(everything_of)
    pattern = quotes([*doomed, *quoting], names=() if subject is None else (subject,))
    receipts = redact(
        {fact.id for fact in (*doomed, *quoting)},
        lambda text: pattern is not None and bool(pattern.search(bare(text))),
        everything_of,
    )
    erasure = Erasure(
        id=new_id(now),
        organization=transaction.organization,
        at=now,
        fact_ids=tuple(sorted(fact.id for fact in (*doomed, *quoting))),
        quoted_in=tuple(sorted(fact.id for fact in quoting)),
        removed={"working_items": items, "turns": turns, "receipts": receipts, "keys": keys},
    )
    erasure = transaction.erase(erasure.fact_ids, erasure, reasons=reasons, user_id=everything_of)
    if erasure.fact_ids:
        _record(transaction, erasure, now)
    return erasure


def _matching(
    transaction: Transaction, user_id: str | None, subject: str | None, fact_id: str | None
) -> list[Fact]:
    if fact_id is not None:
        fact = transaction.fact(fact_id)
        if fact is None or fact.status is Status.ERASED:
            raise UnknownFact(
                f"no fact with id {fact_id!r} in organization {transaction.organization!r}; "
                f"`tenure history KEY` shows the ids of a key"
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


def quotes(facts: Iterable[Fact], names: Iterable[str] = ()) -> re.Pattern[str] | None:
    """A pattern for text that repeats a value of these facts or one of these names, or None.

    Erring on the side of removal: it looks only at what was derived from the facts or lies on
    their owner's desk, where a repeated word is more likely a quotation than a coincidence.
    """
    facts = list(facts)
    told = {leaf for fact in facts for leaf in leaves(fact.value)}
    told |= {p.text for fact in facts for p in fact.parts if len(p.text) >= _LONG_ENOUGH}
    # A receipt has lines as they were shown, where some characters are escaped.
    told |= {json.dumps(leaf, ensure_ascii=False)[1:-1] for leaf in told}
    found = sorted({_spelled(text) for text in told.union(names)}, key=len, reverse=True)
    if not found:
        return None
    return re.compile("|".join(found), re.IGNORECASE)


def _spelled(text: str) -> str:
    """A pattern for a text however it is spaced and punctuated."""
    words = re.findall(r"[^\W_]+", bare(text))
    inner = r"[\W_]+".join(map(re.escape, words)) if words else re.escape(text)
    return rf"(?<!\w){inner}(?!\w)"


def _with_copies(transaction: Transaction, facts: list[Fact]) -> list[Fact]:
    """These facts, and those of their chains that hold the same value."""
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
    while frontier:
        # A fact in between that quotes nothing can still have passed it on.
        derived = transaction.derived_from([fact.id for fact in frontier])
        frontier = [fact for fact in derived if fact.id not in seen]
        seen.update(fact.id for fact in frontier)
        pattern = quotes([*doomed, *found])
        if pattern is not None:
            found.extend(fact for fact in frontier if pattern.search(bare(text_of(fact.value))))
    return found


def _reasons(transaction: Transaction, erased: list[Fact]) -> list[str]:
    """The verdicts whose reason repeats what is erased."""
    pattern = quotes(erased)
    found: list[str] = []
    after = 0
    while pattern is not None:
        page = transaction.log(after, _PAGE)
        if not page:
            break
        after = page[-1].seq
        found.extend(
            entry.id for entry in page if entry.reason and pattern.search(bare(entry.reason))
        )
    return found


def _drop_items(
    transaction: Transaction,
    erased: list[Fact],
    user_id: str | None,
    subject: str | None,
    fact_id: str | None,
) -> int:
    dropped = 0
    if user_id is not None and subject is None and fact_id is None:
        dropped += transaction.drop_items(user_id=user_id)
    ids = {fact.id for fact in erased}
    pattern = quotes(erased, names=() if subject is None else (subject,))
    # What somebody wants forgotten of their own leaves the desks of others alone: that theirs says
    # the same is nobody's business.
    whose = user_id if fact_id is not None else None
    for owner, session_id, item in transaction.desks(whose) if erased or pattern else ():
        if _names(item, ids) or (pattern is not None and pattern.search(bare(_told(item)))):
            dropped += transaction.drop_items(user_id=owner, session_id=session_id, key=item.key)
    return dropped


def _names(item: WorkingItem, fact_ids: set[str]) -> bool:
    """Whether an item states one of these facts.

    Once their values are gone nobody could find and cut out what it says of them.
    """
    return not fact_ids.isdisjoint((*item.states, *(spot.fact_id for spot in item.spots)))


def _told(item: WorkingItem) -> str:
    """All that an item says: its key, its value, and what its spots repeat of facts."""
    said = (spot.text for spot in item.spots)
    return "\n".join((item.key, text_of(item.value), *leaves(item.value), *said))


def _record(transaction: Transaction, erasure: Erasure, now: datetime) -> None:
    """Put the erasure on the log, with the derived facts that need review because of it."""
    workspace = Workspace(transaction, now)
    marked, lifted = settle(workspace, relinked=erasure.fact_ids)
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
        evidence={"erasure": erasure.id},
        by="",
        authority="",
        at=moment,
        recorded_at=moment,
        repair=Repair(marked, lifted),
    )
    transaction.record(verdict, *workspace.outcome())
