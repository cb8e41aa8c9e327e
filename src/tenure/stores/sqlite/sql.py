"""Loads the named statements of `queries.sql` and the migrations."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

CONTENT = (
    "id",
    "recorded_at",
    "organization",
    "owner",
    "subject",
    "key",
    "value",
    "source",
    "timestamp",
    "valid_from",
    "valid_until",
    "memory_type",
    "scope",
    "scope_id",
    "authority",
    "requires",
    "min_authority",
    "depends_on",
    "when_superseded",
    "is_constraint",
    "constraint_type",
    "multi_valued",
    "time_sensitive",
)
TENURE = (
    "status",
    "superseded_by",
    "predecessors",
    "started_at",
    "ended_at",
    "standing",
    "confirmed_at",
    "awaits",
    "review",
)
INDEX = ("live", "slot", "flagged", "ordinary")
FACT_COLUMNS = (*CONTENT, *TENURE, "seq", "since", *INDEX)
VERDICT = (
    "organization",
    "seq",
    "id",
    "action",
    "outcome",
    "rule",
    "fact_id",
    "superseded",
    "targets",
    "evidence",
    "confidence",
    "by_user",
    "authority",
    "at",
    "recorded_at",
    "reason",
    "repair",
    "undone_by",
)
TURN = (
    "session_id",
    "turn_index",
    "speaker",
    "at",
    "digest",
    "ref",
    "fact_ids",
    "verdict_ids",
)
USAGE = (
    "day",
    "model",
    "calls",
    "failed",
    "turns",
    "input_tokens",
    "output_tokens",
    "micros",
)

_COLUMN_LISTS = {
    "fact": ", ".join((*CONTENT, *TENURE)),
    "content": ", ".join(f"f.{name}" for name in CONTENT),
    "tenure": ", ".join(TENURE),
    "tenure_of_f": ", ".join(f"f.{name}" for name in TENURE),
    "tenure_of_t": ", ".join(f"t.{name}" for name in TENURE),
    "tenure_assignments": ", ".join(f"{name} = :{name}" for name in TENURE),
    "tenure_values": ", ".join(f":{name}" for name in TENURE),
    "fact_columns": ", ".join(FACT_COLUMNS),
    "fact_values": ", ".join("?" for _ in FACT_COLUMNS),
    "verdict": ", ".join(VERDICT),
    "verdict_values": ", ".join("?" for _ in VERDICT),
    "turn": ", ".join(TURN),
    "turn_values": ", ".join(f":{name}" for name in TURN),
    "usage": ", ".join(USAGE),
    "usage_values": ", ".join(f":{name}" for name in USAGE),
    "usage_sums": ", ".join(f"{name} = {name} + excluded.{name}" for name in USAGE[2:]),
}
_FOLDER = files("tenure.stores.sqlite")
_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


@cache
def _templates() -> dict[str, str]:
    parts = _NAME.split((_FOLDER / "queries.sql").read_text(encoding="utf-8"))
    return {
        name: re.sub(r"^--.*\n", "", body, flags=re.MULTILINE).strip().rstrip(";")
        for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }


@cache
def statement(name: str, *, where: str = "", ids: int = 0) -> str:
    """One named statement, with its column lists and placeholders filled in."""
    id_list = ", ".join(f":id{index}" for index in range(ids))
    return _templates()[name].format(**_COLUMN_LISTS, where=where, ids=id_list)


@cache
def probes(name: str, owners: int, scopes: int) -> str:
    """A statement joined from one probe per owner and scope.

    Exact probes, because SQLite builds a temporary table for every IN list it is given.
    Parameters: organization, key, subject, the owners, then each scope id (and scope).
    """
    template = _templates()[name]
    width = 2 if "{scope}" in template else 1
    parts = []
    for owner in range(owners):
        for scope in range(scopes):
            first = 4 + owners + scope * width
            parts.append(
                template.format(
                    **_COLUMN_LISTS,
                    owner=f"?{4 + owner}",
                    scope_id=f"?{first}",
                    scope=f"?{first + 1}",
                )
            )
    return "\nUNION ALL\n".join(parts)


def migrations() -> list[tuple[int, str]]:
    """The migrations in order, each with the schema version it leads to."""
    found = sorted(
        entry.name for entry in (_FOLDER / "migrations").iterdir() if entry.name.endswith(".sql")
    )
    return [
        (int(name[:4]), (_FOLDER / "migrations" / name).read_text(encoding="utf-8"))
        for name in found
    ]
