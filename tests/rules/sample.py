"""Facts for the tests of the pure rules: no store, no clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from incumbent import Fact, Identity, Ladder, Status

LADDER = Ladder()
NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def a_fact(id: str = "f", *, at: datetime = NOON, **fields: Any) -> Fact:
    """A personal, global fact of an employee, said, recorded and true from `at` on."""
    rung = fields.pop("authority", "employee")
    plain: dict[str, Any] = {
        "organization": "acme",
        "owner": "eve",
        "key": "plan",
        "value": "A",
        "timestamp": at,
        "recorded_at": at,
        "valid_from": at,
        "started_at": at,
        "authority": rung,
        "standing": rung,
    }
    return Fact(id=id, **{**plain, **fields})


def a_candidate(id: str = "new", *, at: datetime = NOON + HOUR, **fields: Any) -> Fact:
    """A fact whose tenure is blank."""
    return a_fact(
        id, at=at, **{"value": "B", "status": Status.WITHDRAWN, "started_at": None, **fields}
    )


def an_identity(**fields: Any) -> Identity:
    title = fields.pop("authority", "employee")
    permissions = frozenset(fields.pop("permissions", ()))
    return Identity(
        **{
            "user_id": "eve",
            "user_name": None,
            "organization": "acme",
            "authority": LADDER.resolve(title),
            "permissions": permissions,
            **fields,
        }
    )
