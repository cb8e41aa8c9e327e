"""Entries of the audit stream: verdicts in the form for people who answer for a system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from incumbent.model.errors import InvalidInput
from incumbent.model.fact import Fact, Status
from incumbent.model.verdict import Action, Outcome, Repair, Rule, Verdict
from incumbent.stores.codec import repair_from_record, repair_record
from incumbent.stores.port import Reader, Store

PAGE = 500
"""Entries that are read at a time."""
_HIGHEST = 2**63 - 1
_ABOUT = ("key", "subject", "value", "reason", "erased")


@dataclass(frozen=True, slots=True)
class Content:
    """The content that an entry is about; empty if it was erased since."""

    key: str | None
    subject: str | None
    value: Any
    reason: str | None
    erased: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One decision of an organization's log. It holds ids and no value, and stays as it is.

    Two things change if something is forgotten: `by` is emptied with the user it names, and so is
    the `content`, which is there only where it was asked for.
    """

    seq: int
    """Its place in the log: one more than that of the entry before it."""
    id: str
    """The id of the verdict."""
    organization: str
    action: Action
    outcome: Outcome
    rule: Rule
    fact_id: str
    superseded: tuple[str, ...]
    targets: tuple[str, ...]
    evidence: Mapping[str, Any]
    confidence: float
    by: str
    """The user who brought it about."""
    authority: str
    at: datetime
    recorded_at: datetime
    repair: Repair
    content: Content | None = None

    def record(self) -> dict[str, Any]:
        """The entry as a JSON object; key, subject, value, reason and erased only if asked for."""
        told: dict[str, Any] = {
            "seq": self.seq,
            "id": self.id,
            "organization": self.organization,
            "action": self.action.value,
            "outcome": self.outcome.value,
            "rule": self.rule.value,
            "fact_id": self.fact_id,
            "superseded": list(self.superseded),
            "targets": list(self.targets),
            "evidence": dict(self.evidence),
            "confidence": self.confidence,
            "by": self.by,
            "authority": self.authority,
            "at": self.at.isoformat(),
            "recorded_at": self.recorded_at.isoformat(),
            "repair": repair_record(self.repair),
        }
        if self.content is not None:
            about = self.content
            told |= {"key": about.key, "subject": about.subject, "value": about.value}
            told |= {"reason": about.reason, "erased": about.erased}
        return told


def entry_from_record(record: Mapping[str, Any]) -> AuditEntry:
    """The reverse of `AuditEntry.record`."""
    given = {name: value for name, value in record.items() if name not in _ABOUT}
    content = Content(*(record[name] for name in _ABOUT)) if "erased" in record else None
    return AuditEntry(
        **{
            **given,
            "action": Action(record["action"]),
            "outcome": Outcome(record["outcome"]),
            "rule": Rule(record["rule"]),
            "superseded": tuple(record["superseded"]),
            "targets": tuple(record["targets"]),
            "at": datetime.fromisoformat(record["at"]),
            "recorded_at": datetime.fromisoformat(record["recorded_at"]),
            "repair": repair_from_record(record["repair"]),
            "content": content,
        }
    )


def _entry(verdict: Verdict, content: Content | None) -> AuditEntry:
    # Not in it: whether it was undone, which is known only later, when the undo is an entry itself.
    return AuditEntry(
        seq=verdict.seq,
        id=verdict.id,
        organization=verdict.organization,
        action=verdict.action,
        outcome=verdict.outcome,
        rule=verdict.rule,
        fact_id=verdict.fact_id,
        superseded=verdict.superseded,
        targets=verdict.targets,
        evidence=verdict.evidence,
        confidence=verdict.confidence,
        by=verdict.by,
        authority=verdict.authority,
        at=verdict.at,
        recorded_at=verdict.recorded_at,
        repair=verdict.repair,
        content=content,
    )


def _content(verdict: Verdict, fact: Fact | None) -> Content:
    if fact is None or fact.status is Status.ERASED:
        return Content(None, None, None, verdict.reason, erased=True)
    return Content(fact.key, fact.subject, fact.value, verdict.reason)


def read_page(
    store: Store, organization: str, after: int, values: bool, limit: int
) -> list[AuditEntry]:
    """At most `limit` entries after the one with that number."""
    with store.read(organization) as reader:
        return _entries(reader, reader.log(after, limit), values)


def page_before(reader: Reader, before: int | None, values: bool, limit: int) -> list[AuditEntry]:
    """At most `limit` entries before the one with that number, or of all, the last first."""
    return _entries(
        reader, reader.log_before(_HIGHEST if before is None else before, limit), values
    )


def _entries(reader: Reader, page: list[Verdict], values: bool) -> list[AuditEntry]:
    if not values:
        return [_entry(verdict, None) for verdict in page]
    facts = {fact.id: fact for fact in reader.facts({verdict.fact_id for verdict in page})}
    return [_entry(verdict, _content(verdict, facts.get(verdict.fact_id))) for verdict in page]


def check_after(store: Store, organization: str, after: object) -> int:
    """Refuse a place in the log that does not exist."""
    if isinstance(after, bool) or not isinstance(after, int) or not 0 <= after <= _HIGHEST:
        raise InvalidInput(f"after must be the number of an entry, or 0, not {after!r:.80}")
    with store.read(organization) as reader:
        head = reader.head()[0]
    if after > head:
        raise InvalidInput(
            f"the log of organization {organization!r} ends at {head:,}, before {after:,}; "
            f"go on from a number that it has, or from 0"
        )
    return after
