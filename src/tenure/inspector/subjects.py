"""Subjects to choose from: what the facts in office are about."""

from __future__ import annotations

from dataclasses import dataclass

from tenure.session import Session

_SHOWN = 40
_READ = 500


@dataclass(frozen=True)
class SubjectChoice:
    """A subject, with how many facts in office are about it, whoever owns them."""

    subject: str
    facts: int


@dataclass(frozen=True)
class SubjectChoices:
    """Some subjects, in the order of their names."""

    items: tuple[SubjectChoice, ...]
    is_cut: bool
    """Whether there are more."""
    is_counted: bool
    """Whether all was read, so that the counts are whole."""


def subjects_of(session: Session, prefix: str) -> SubjectChoices:
    """The subjects that a session sees, those of the organization and its own together."""
    listed = session.list_subjects(prefix=prefix, limit=_READ)
    counts: dict[str, int] = {}
    for one in listed:
        counts[one.subject] = counts.get(one.subject, 0) + one.facts
    found = [SubjectChoice(subject, counts[subject]) for subject in sorted(counts)]
    whole = listed.next is None
    return SubjectChoices(tuple(found[:_SHOWN]), not whole or len(found) > _SHOWN, whole)
