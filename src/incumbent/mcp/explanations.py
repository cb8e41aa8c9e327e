"""Explaining: an explanation and a review in plain sentences, for a model to pass on."""

from __future__ import annotations

from collections.abc import Iterator

from incumbent import Explanation, Review, Session, Verdict
from incumbent.context.quotes import name
from incumbent.mcp.answers import Explained, ReviewShown, fact_shown
from incumbent.words import account, because, grounds, provenance, told, why

_LABELS = {
    "doubts": "puts in doubt",
    "needs review": "needs review, because something it rests on changed",
}


def explained(session: Session, explanation: Explanation) -> Explained:
    """The explanation of a fact: its source, its bases, and every decision on it."""
    lines = [*_grounds(session, explanation)]
    if explanation.verdicts:
        lines.append("Decisions, oldest first:")
    for verdict in explanation.verdicts:
        lines += _decision(session, verdict)
    return Explained(fact=fact_shown(explanation.fact), lines=lines)


def _grounds(session: Session, explanation: Explanation) -> Iterator[str]:
    for label, text in provenance(explanation.fact):
        yield f"{label}: {text}"
    for label, text in grounds(explanation, session.get):
        yield f"{_LABELS.get(label, label)}: {text}"


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
        kind=review.kind,
        fact=fact_shown(review.fact),
        because="; ".join(because(review, session.get)),
    )
