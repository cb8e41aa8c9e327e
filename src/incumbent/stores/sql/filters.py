"""The conditions of a list of facts, as pieces of a statement."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from incumbent.model.scope import Place
from incumbent.model.times import to_micros
from incumbent.stores.port import FactFilter
from incumbent.stores.sql.dialect import Condition, Dialect
from incumbent.stores.sql.patterns import longest_run


def filtering(
    dialect: Dialect, wanted: FactFilter, before: tuple[datetime, str] | None
) -> Condition:
    """The condition for a filter, but for its owners, and for a place in the list."""
    told = dialect.parameter
    parts = [
        dialect.within("recorded_at", wanted.since, wanted.until),
        dialect.matching(
            key=wanted.key,
            subject=wanted.subject,
            memory_type=None if wanted.memory_type is None else wanted.memory_type.value,
            authority=wanted.authority,
        ),
        placed(dialect, wanted.places),
        _standing(dialect, wanted),
    ]
    if wanted.subject:
        parts.append(("AND subject <> ''", {}))  # as the index of subjects has it
    if wanted.derived:
        parts.append(("AND depends_on IS NOT NULL", {}))
    if run := longest_run(wanted.text):
        condition, pattern = dialect.containing(run)
        any_of = " OR ".join(map(condition.format, ("key", "subject", "value")))
        parts.append((f"AND ({any_of})", {"pattern": pattern}))
    if before is not None:
        at, last = told("place_at"), told("place_id")
        place = {"place_at": to_micros(before[0]), "place_id": before[1]}
        parts.append((f"AND recorded_at <= {at} AND (recorded_at < {at} OR id < {last})", place))
    return " ".join(text for text, _ in parts), {n: v for _, some in parts for n, v in some.items()}


def _standing(dialect: Dialect, wanted: FactFilter) -> Condition:
    given = {"when": to_micros(wanted.when)}
    held = f"({dialect.held()}) IS TRUE"
    if not wanted.others:
        return f"AND {held}" if wanted.holding else "AND false", given
    among = dialect.among("status", "status", len(wanted.others))
    given |= dialect.members("status", [status.value for status in wanted.others])
    if wanted.holding:
        return f"AND ({held} OR {among})", given
    return f"AND {among} AND NOT {held}", given


def placed(dialect: Dialect, places: Sequence[Place]) -> Condition:
    """The condition that a fact is in one of these places."""
    if not places:
        return "AND false", {}
    told = dialect.parameter
    pairs: list[str] = []
    given: dict[str, Any] = {}
    for number, (scope, scope_id) in enumerate(places):
        one, other = f"place_scope{number}", f"place_scope_id{number}"
        pairs.append(f"scope = {told(one)} AND scope_id = {told(other)}")
        given |= {one: scope.value, other: scope_id}
    return f"AND ({' OR '.join(pairs)})", given
