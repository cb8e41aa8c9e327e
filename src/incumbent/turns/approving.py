"""Approving: what comes of a statement once its author says that it is to be kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from incumbent.engine.approvals import approve
from incumbent.engine.proposal import Proposal
from incumbent.engine.registrar import Registrar
from incumbent.engine.reviews import again
from incumbent.model.fact import Fact
from incumbent.model.values import same_value
from incumbent.model.verdict import Rule, Verdict
from incumbent.turns.returning import set_right

TAKES_BACK: Final = "takes_back"
"""The name in evidence for the facts that a request ends once it is approved."""


def already_waiting(proposal: Proposal, facts: Iterable[Fact]) -> Fact | None:
    """The statement that waits already and says the same, if a proposal adds nothing to it."""
    if not proposal.asks_first or proposal.supersedes is not None:
        return None
    address = (proposal.key, proposal.subject, proposal.scope, proposal.scope_id)
    for fact in facts:
        there = (fact.key, fact.subject, fact.scope, fact.scope_id)
        if fact.is_unapproved and there == address and same_value(fact.value, proposal.value):
            return fact
    return None


def approved(registrar: Registrar, fact: Fact, reason: str | None = None) -> Verdict:
    """Keep a statement that has waited, from when it was said, with what it rests on."""
    for base in _waiting_bases(registrar, fact):
        _kept(registrar, base, reason)
    return _kept(registrar, fact, reason)


def _waiting_bases(registrar: Registrar, fact: Fact) -> list[Fact]:
    """What a statement rests on and waits as well, to any depth, what comes first at the front."""
    lens, reader = registrar.lens, registrar.transaction
    found: dict[str, Fact] = {}
    queue = [*fact.depends_on]
    while queue:
        base = lens.glimpse(reader, queue.pop())
        if base is None or not base.is_unapproved:  # nobody sees what waits for somebody else
            continue
        found.pop(base.id, None)
        found[base.id] = base
        queue.extend(base.depends_on)
    return [*reversed(found.values())]


def _kept(registrar: Registrar, fact: Fact, reason: str | None) -> Verdict:
    entry = registrar.transaction.verdicts([fact.id])[0]
    if TAKES_BACK in entry.evidence:
        return _taken_back(registrar, fact, entry.evidence[TAKES_BACK], reason)
    if not entry.targets and _is_known(registrar, fact):
        return _confirmed(registrar, fact, reason)
    verdict = approve(registrar, fact, reason=reason)
    gone = registrar.transaction.facts(verdict.superseded)
    said = again(fact, valid_until=fact.valid_until)
    for _ in set_right(registrar, said, gone, fact.timestamp):
        pass  # each is a decision of its own
    return verdict


def _is_known(registrar: Registrar, fact: Fact) -> bool:
    """Whether what a statement says is in office by now."""
    held = registrar.lens.held(registrar.transaction, fact.key, fact.subject or "", marks=False)
    return any(
        one.address == fact.address and same_value(one.value, fact.value) and not fact.depends_on
        for one in held
    )


def _confirmed(registrar: Registrar, fact: Fact, reason: str | None) -> Verdict:
    proposal = again(fact, at=fact.timestamp, valid_until=fact.valid_until)
    verdict = registrar.propose(proposal, reason=reason)
    registrar.retract(fact, rule=Rule.DISCARD, reason=reason)
    return verdict


def _taken_back(
    registrar: Registrar, request: Fact, named: Iterable[str], reason: str | None
) -> Verdict:
    """Do what a request asks: take back what it names, as far as that has not changed since."""
    lens, reader = registrar.lens, registrar.transaction
    verdict: Verdict | None = None
    words = reason or request.source.quote
    for fact in reader.facts(named):
        end = lens.end_of(reader, fact)
        if end is not None and end.is_valid and end.order <= request.order:
            verdict = registrar.retract(end, at=request.timestamp, reason=words)
    done = registrar.retract(request, rule=Rule.DISCARD, reason=reason)
    return verdict or done
