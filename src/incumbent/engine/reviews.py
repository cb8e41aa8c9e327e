"""Reviews, reversions and branches: requests that put an existing fact forward again."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from incumbent.engine.approvals import unapproved
from incumbent.engine.doubts import doubters, in_doubt
from incumbent.engine.lens import Causes, Lens
from incumbent.engine.proposal import Proposal
from incumbent.engine.queries import find_any
from incumbent.engine.registrar import Registrar
from incumbent.model.errors import InvalidInput, UnknownFact
from incumbent.model.fact import Fact, Status
from incumbent.model.records import Chain, Review
from incumbent.model.scope import Place, Scope
from incumbent.model.values import same_value
from incumbent.model.verdict import Outcome, Rule, Verdict
from incumbent.rules.authority import may_write_as
from incumbent.stores.port import Reader, Selection


def placed(proposal: Proposal, scope: Scope, scope_id: str | None) -> Proposal:
    return replace(proposal, scope=scope, scope_id=scope_id or None)


def again(fact: Fact, **changes: Any) -> Proposal:
    """A proposal with the value and the terms of a fact."""
    return replace(
        Proposal(
            key=fact.key,
            value=fact.value,
            subject=fact.subject,
            scope=fact.scope,
            scope_id=fact.scope_id,
            depends_on=fact.depends_on,
            doubts=fact.doubts,
            source=fact.source,
            memory_type=fact.memory_type,
            is_constraint=fact.is_constraint,
            constraint_type=fact.constraint_type,
            requires=fact.requires,
            min_authority=fact.min_authority,
            multi_valued=fact.multi_valued,
        ),
        **changes,
    )


def reviews(reader: Reader, lens: Lens) -> list[Review]:
    """The review queue of one session, oldest first."""
    if lens.past:
        contested = [f for f in lens.everything(reader) if f.status is Status.CONTESTED]
        derived = [f for f in lens.held(reader) if f.depends_on]
    else:
        contested, derived = reader.contested(lens.owners), reader.derived(lens.owners)
    found = [
        Review(fact, "contested", rival=_rival(reader, lens, fact))
        for fact in contested
        if fact.place in lens.places and lens.sees(reader, fact)
    ]
    known: Causes = {}
    for fact in derived:
        if fact.place in lens.places and lens.sees(reader, fact):
            seen = lens.seen(reader, fact, known)
            if seen.is_valid and seen.needs_review:
                found.append(Review(seen, "base changed", causes=seen.causes))
    found += [Review(fact, "doubted", rival=rival) for fact, rival in in_doubt(reader, lens)]
    found += [
        Review(fact, "unapproved", rival=_rival(reader, lens, fact))
        for fact in unapproved(reader, lens)
    ]
    return sorted(found, key=lambda review: (review.fact.id, review.kind))


def _rival(reader: Reader, lens: Lens, contested: Fact) -> Fact | None:
    """The fact in office that a contested statement is against: the one it named, if it named
    one."""
    named = {target for entry in reader.verdicts([contested.id]) for target in entry.targets}
    ends = (lens.end_of(reader, fact) for fact in reader.facts(named))
    there = [fact for fact in ends if fact is not None and fact.is_valid]
    if contested.multi_valued:
        return there[0] if there else None  # it stands beside all others like it
    held = [
        fact
        for fact in lens.held(reader, contested.key, contested.subject or "")
        if fact.address == contested.address
    ]
    return next((fact for fact in held if fact in there), (*held, *there, None)[0])


def under_review(registrar: Registrar, fact_id: str) -> Fact:
    fact = registrar.lens.by_id(registrar.transaction, fact_id)
    if fact is None:
        raise UnknownFact(f"no fact with id {fact_id!r} exists here; session.reviews() lists them")
    is_undecided = fact.status is Status.CONTESTED or fact.is_unapproved
    if not is_undecided and not _is_open(registrar, fact):
        raise InvalidInput(
            f"{fact.quoted_key} ({fact_id}) is {fact.status} and not under review; "
            f"session.reviews() lists what is"
        )
    return fact


def _is_open(registrar: Registrar, fact: Fact) -> bool:
    """Whether a fact in office needs review, or is in doubt."""
    if not fact.is_valid:
        return False
    return fact.needs_review or bool(doubters(registrar.transaction, registrar.lens, [fact]))


def recalculate(registrar: Registrar, fact: Fact, value: Any, reason: str | None) -> Verdict:
    """Replace a fact under review by a new value that rests on its bases as they stand now."""
    standing = [leg.stands_on for leg in fact.basis]
    bases = tuple(
        dict.fromkeys(
            base
            for base in standing
            if (found := registrar.lens.by_id(registrar.transaction, base)) and found.is_valid
        )
    )
    supersedes: str | None = fact.id
    if fact.status is Status.CONTESTED or fact.is_unapproved:
        rival = _rival(registrar.transaction, registrar.lens, fact) if fact.is_unapproved else None
        supersedes = rival.id if rival is not None else None
    proposal = again(
        fact,
        value=value,
        depends_on=bases,
        supersedes=supersedes,
        valid_until=fact.valid_until,
    )
    verdict = registrar.propose(proposal, rule=Rule.REVIEW, reason=reason)
    if supersedes != fact.id:
        settled = Rule.DISCARD if fact.is_unapproved else Rule.REVIEW
        registrar.retract(fact, rule=settled, reason=reason)
    return verdict


def revert(
    registrar: Registrar,
    key_or_id: str,
    to: str | None,
    subject: str | None,
    branch: Place | None = None,
    *,
    at: datetime | None = None,
    asks_first: bool = False,
) -> Verdict:
    """Put an earlier value of a chain back into office, as a new fact, said at `at` or now.

    The new fact rests on the earlier one's bases: it has no more authority than that, and needs
    review if they have changed. Nobody reads it whom either fact kept out.
    """
    lens, transaction = registrar.lens, registrar.transaction
    fact = find_any(transaction, lens, key_or_id, subject)
    chain = lens.chain(transaction, [fact])
    live = chain.live
    earlier = _earlier(chain, live, to)
    if earlier is None:
        raise UnknownFact(
            f"{key_or_id!r} has no earlier value"
            + (f" with id {to!r}" if to else "")
            + "; session.history(key) shows the chain"
        )
    seat = live or earlier
    limits = [rung for rung in (earlier.min_authority, seat.min_authority) if rung]
    place = branch or seat.place
    proposal = again(
        earlier,
        key=seat.key,
        subject=seat.subject,
        scope=place[0],
        scope_id=place[1] or None,
        memory_type=seat.memory_type,
        requires=tuple(sorted({*earlier.requires, *seat.requires})),
        min_authority=registrar.ladder.highest(*limits) if limits else None,
        supersedes=live.id if live and live.place == place else None,
        at=at,
        asks_first=asks_first,
    )
    return registrar.propose(proposal, rule=Rule.REVERSION, outcome=Outcome.REVERTED)


def _earlier(chain: Chain, live: Fact | None, to: str | None) -> Fact | None:
    """The fact of a chain to go back to: the named one, or the last with another value."""
    if to is not None:
        return next((fact for fact in chain if fact.id == to), None)
    older = chain.facts[: chain.facts.index(live)] if live else chain.facts
    return next(
        (f for f in reversed(older) if live is None or not same_value(f.value, live.value)), None
    )


_OPEN = (Status.OFFICE, Status.CONTESTED, Status.WAITING)


def of_branch(registrar: Registrar, branch: Place) -> list[Fact]:
    """The facts of a branch that are in office, contested or waiting, as they were said."""
    lens, transaction = registrar.lens, registrar.transaction
    found = transaction.timeline(Selection(lens.owners, (branch[1],)))
    return [
        fact
        for fact in found
        if fact.place == branch and fact.status in _OPEN and lens.sees(transaction, fact)
    ]


def commit(registrar: Registrar, branch: Place, place: Place) -> list[Verdict]:
    """Put every fact of a branch forward in the scope it was branched from.

    A fact that is overruled there stays a draft, and so does one that the branch itself has not
    settled.
    """
    moved: dict[str, str] = {}
    verdicts = []
    for fact in of_branch(registrar, branch):
        if fact.status is Status.CONTESTED:
            continue
        verdict = take_over(registrar, fact, place, moved)
        moved[fact.id] = verdict.fact_id
        verdicts.append(verdict)
        if verdict.outcome in (Outcome.CONFIRMED, Outcome.WAITING):
            # It lives on in the wider place, so it leaves the branch.
            registrar.retract(fact, rule=Rule.COMMIT)
    return verdicts


def take_over(
    registrar: Registrar,
    fact: Fact,
    place: Place,
    moved: dict[str, str],
    *,
    at: datetime | None = None,
) -> Verdict:
    """Put a narrower fact forward in a wider place, judged by the same rules as any other.

    It speaks with the authority it was written with, or with the committer's if that is lower.
    `moved` maps the facts already taken over to their new facts. `at` is the moment that was
    settled, if it was not just now.
    """
    rung = fact.authority
    if not may_write_as(registrar.identity, rung, registrar.ladder):
        rung = registrar.identity.authority.rung
    awaited = fact.when_superseded if fact.status is Status.WAITING else None
    proposal = again(
        fact,
        scope=place[0],
        scope_id=place[1] or None,
        when_superseded=moved.get(awaited, awaited) if awaited else None,
        authority=rung,
        depends_on=tuple(moved.get(base, base) for base in fact.depends_on),
        doubts=tuple(moved.get(doubted, doubted) for doubted in fact.doubts),
        valid_from=fact.valid_from if fact.valid_from > registrar.now else None,
        valid_until=fact.valid_until,
        at=at,
    )
    return registrar.propose(
        proposal,
        rule=Rule.COMMIT,
        outcome=Outcome.PROMOTED,
        replaces=None if awaited else fact,
    )
