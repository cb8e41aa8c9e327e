"""Explaining: an explanation and a review in plain sentences, for a model to pass on."""

from __future__ import annotations

from collections.abc import Iterator

from incumbent import Explanation, Review, Session, Verdict
from incumbent.context.quotes import name
from incumbent.mcp.answers import Explained, ReviewShown, fact_shown
from incumbent.words import account, asked, called, doubt, provenance, told, why


def explained(session: Session, explanation: Explanation) -> Explained:
    """The explanation of a fact: its source, its bases, and every decision on it."""
    lines = [*_grounds(session, explanation)]
    if explanation.verdicts:
        lines.append("Decisions, oldest first:")
    for verdict in explanation.verdicts:
        lines += _decision(session, verdict)
    return Explained(fact=fact_shown(explanation.fact), lines=lines)


def _grounds(session: Session, explanation: Explanation) -> Iterator[str]:
    fact = explanation.fact
    for label, text in provenance(fact):
        yield f"{label}: {text}"
    for base in fact.depends_on:
        found = session.get(base)
        yield f"rests on: {told(found) if found else base}"
    for derived in fact.derived_facts:
        found = session.get(derived)
        yield f"carries: {told(found) if found else derived}"
    for statement in explanation.doubted_by:
        yield f"in doubt: {doubt(statement)}"
    for doubted in fact.doubts:
        found = session.get(doubted)
        yield f"puts in doubt: {told(found) if found else doubted}"
    for cause in explanation.causes:
        steps = [session.get(step) for step in cause.path]
        path = " -> ".join(called(step) for step in steps)
        yield f"needs review, because something it rests on changed: {path}"


def _decision(session: Session, verdict: Verdict) -> Iterator[str]:
    about = told(verdict.fact) if verdict.fact else verdict.fact_id
    undone = " (undone since)" if verdict.undone_by else ""
    by = f"{name(verdict.by)}, {verdict.authority}" if verdict.by else "the store"
    when = verdict.recorded_at.strftime("%Y-%m-%d %H:%M")
    yield f"- {verdict.outcome}{undone}: {about}"
    yield f"  because {why(verdict)} (rule: {verdict.rule}; by {by}; {when} UTC)"
    yield from (f"  {label} {text}" for label, text in account(verdict, session.get))


def review_shown(session: Session, review: Review) -> ReviewShown:
    """A review, with its cause."""
    return ReviewShown(
        kind=review.kind, fact=fact_shown(review.fact), because="; ".join(_because(session, review))
    )


def _because(session: Session, review: Review) -> Iterator[str]:
    if review.kind == "contested":
        yield f"in office is {told(review.rival)}" if review.rival else "nothing is in office"
        return
    if review.kind == "doubted":
        yield doubt(review.rival)
        return
    if review.kind == "unapproved":
        yield asked(review)
        return
    for cause in review.causes:
        steps = [session.get(step) for step in cause.path]
        path = " -> ".join(called(step) for step in steps)
        now = session.get(cause.now) if cause.now else None
        yield f"{path} (now {told(now)})" if now else path
