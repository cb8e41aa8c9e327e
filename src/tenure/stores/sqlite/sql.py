"""Loads the named statements of `queries.sql` and the migrations."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from tenure.stores.columns import CONTENT, FACT_COLUMNS, KEY, TENURE, TURN, USAGE, VERDICT
from tenure.stores.statements import migrations_in, named

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
    "key": ", ".join(KEY),
    "key_values": ", ".join(f":{name}" for name in KEY),
    "usage": ", ".join(USAGE),
    "usage_values": ", ".join(f":{name}" for name in USAGE),
    "usage_sums": ", ".join(f"{name} = {name} + excluded.{name}" for name in USAGE[2:]),
}
_FOLDER = files("tenure.stores.sqlite")


@cache
def _templates() -> Mapping[str, str]:
    return named(_FOLDER / "queries.sql")


@cache
def statement(name: str, *, where: str = "", ids: int = 0, addresses: int = 0) -> str:
    """One named statement, with its column lists and placeholders filled in."""
    id_list = ", ".join(f":id{index}" for index in range(ids))
    address_list = ", ".join(["(?, ?, ?, ?, ?)"] * addresses)
    return _templates()[name].format(
        **_COLUMN_LISTS, where=where, ids=id_list, addresses=address_list
    )


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
    return migrations_in(_FOLDER / "migrations")
