"""Loads the named statements of `queries.sql` and the migrations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from tenure.stores.columns import CONTENT, FACT_COLUMNS, KEY, TENURE, TURN, USAGE, VERDICT
from tenure.stores.statements import migrations_in, named


def _listed(names: tuple[str, ...], prefix: str = "") -> str:
    return ", ".join(f"{prefix}{name}" for name in names)


def _values(names: tuple[str, ...]) -> str:
    return ", ".join(f"%({name})s" for name in names)


def _assigned(names: tuple[str, ...]) -> str:
    return ", ".join(f"{name} = %({name})s" for name in names)


SCHEMA = "tenure"
APPLICATION_ROLE = "tenure_app"
STANDING = ("seq", "recorded_at", "recipe", "entries", "revision")
_COLUMN_LISTS = {
    "schema": SCHEMA,
    "role": APPLICATION_ROLE,
    "standing": _listed(STANDING),
    "standing_assignments": _assigned(STANDING),
    "fact": _listed((*CONTENT, *TENURE)),
    "content": _listed(CONTENT, "f."),
    "tenure": _listed(TENURE),
    "tenure_of_f": _listed(TENURE, "f."),
    "tenure_of_t": _listed(TENURE, "t."),
    "tenure_assignments": _assigned(TENURE),
    "tenure_values": _values(TENURE),
    "fact_columns": _listed(FACT_COLUMNS),
    "fact_values": _values(FACT_COLUMNS),
    "verdict": _listed(VERDICT),
    "verdict_values": _values(VERDICT),
    "turn": _listed(TURN),
    "turn_values": _values(TURN),
    "turn_assignments": ", ".join(f"{name} = excluded.{name}" for name in TURN),
    "key": _listed(KEY),
    "key_values": _values(KEY),
    "usage": _listed(USAGE),
    "usage_values": _values(USAGE),
    "usage_sums": ", ".join(f"{name} = usage.{name} + excluded.{name}" for name in USAGE[2:]),
}
_FOLDER = files("tenure.stores.postgres")


def array_of(items: Iterable[str | int]) -> str:
    """Texts or whole numbers as PostgreSQL writes an array.

    For many of them this takes a tenth of the time that the driver does, which goes by the type of
    each.
    """
    quoted = [str(item).replace("\\", "\\\\").replace('"', '\\"') for item in items]
    return '{"' + '","'.join(quoted) + '"}' if quoted else "{}"


@cache
def _templates() -> Mapping[str, str]:
    return named(_FOLDER / "queries.sql")


@cache
def statement(name: str, *, where: str = "") -> str:
    """One named statement, with its column lists filled in."""
    return _templates()[name].format(**_COLUMN_LISTS, where=where)


@cache
def migrations() -> list[tuple[int, str]]:
    """The migrations in order, each with the schema version it leads to."""
    return migrations_in(_FOLDER / "migrations")
