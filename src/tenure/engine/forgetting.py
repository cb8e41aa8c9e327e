"""Forgetting: removing content for good, wherever it went."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from tenure.engine.registrar import next_moment
from tenure.engine.settling import settle
from tenure.engine.workspace import Workspace
from tenure.model.errors import UnknownFact
from tenure.model.fact import Fact, Status
from tenure.model.ids import new_id
from tenure.model.records import Erasure
from tenure.model.values import text_of
from tenure.model.verdict import Action, Outcome, Repair, Rule, Verdict
from tenure.stores.port import Selection, Transaction


def forget(
    transaction: Transaction,
    now: datetime,
    *,
    user_id: str | None = None,
    subject: str | None = None,
    fact_id: str | None = None,
) -> Erasure:
    """Erase the facts that match every given condition, and what repeats them.

    Facts derived from an erased one that quote its content go with it; those that do not are
    marked for review. Working items that quote it go too.
    """
    doomed = _matching(transaction, user_id, subject, fact_id)
    quoting = _quoting(transaction, doomed)
    items = _drop_items(transaction, [*doomed, *quoting], user_id, subject, fact_id)
    erasure = Erasure(
        id=new_id(now),
        organization=transaction.organization,
        at=now,
        fact_ids=tuple(sorted(fact.id for fact in (*doomed, *quoting))),
        quoted_in=tuple(sorted(fact.id for fact in quoting)),
        removed={"working_items": items},
    )
    erasure = transaction.erase(erasure.fact_ids, erasure)
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


def _leaves(value: Any) -> Iterable[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool):
        text = text_of(value).strip()
        if text:
            yield text


def quotes(facts: Iterable[Fact]) -> re.Pattern[str] | None:
    """A pattern for text that repeats a value of these facts, or None where they hold no text.

    Erring on the side of removal: it looks only at what was derived from the facts or lies on
    their owner's desk, where a repeated word is more likely a quotation than a coincidence.
    """
    found = sorted({leaf for fact in facts for leaf in _leaves(fact.value)}, key=len, reverse=True)
    if not found:
        return None
    return re.compile("|".join(rf"(?<!\w){re.escape(leaf)}(?!\w)" for leaf in found), re.IGNORECASE)


def _quoting(transaction: Transaction, doomed: list[Fact]) -> list[Fact]:
    """Facts derived from these, to any depth, that repeat their content."""
    gone = {fact.id for fact in doomed}
    found: list[Fact] = []
    frontier = doomed
    while frontier:
        pattern = quotes(frontier)
        derived = transaction.derived_from([fact.id for fact in frontier])
        frontier = [
            fact
            for fact in derived
            if fact.id not in gone and pattern is not None and pattern.search(text_of(fact.value))
        ]
        gone.update(fact.id for fact in frontier)
        found.extend(frontier)
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
    pattern = quotes(erased)
    for owner, session_id, item in transaction.desks() if pattern else ():
        if pattern is not None and pattern.search(text_of(item.value)):
            dropped += transaction.drop_items(user_id=owner, session_id=session_id, key=item.key)
    return dropped


def _record(transaction: Transaction, erasure: Erasure, now: datetime) -> None:
    """Put the erasure on the log, with the derived facts that need review because of it."""
    workspace = Workspace(transaction)
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
