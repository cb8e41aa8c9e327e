"""Loads the named statements of `queries.sql` and the migrations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from incumbent.model.folding import cases_of
from incumbent.stores.sql.dialect import Dialect
from incumbent.stores.sql.patterns import plain_pattern
from incumbent.stores.sql.statements import migrations_in, named


class PostgresDialect(Dialect):
    """Parameters in the form of the PostgreSQL driver."""

    placeholder = "%s"

    def parameter(self, name: str) -> str:
        return f"%({name})s"

    def among(self, column: str, name: str, count: int) -> str:
        return f"{column} = ANY(%({name}s)s)"

    def members(self, name: str, values: Sequence[str]) -> dict[str, Any]:
        return {f"{name}s": list(values)}

    def flag(self, column: str, value: bool) -> str:
        return column if value else f"NOT {column}"

    def containing(self, run: str) -> tuple[str, str]:
        # What a server takes for another case of a letter depends on its locale, unless it is told.
        if (pattern := plain_pattern(run)) is not None:
            return 'lower({} COLLATE "C") LIKE %(pattern)s', pattern
        return "{} ~ %(pattern)s", "".join(map(_bracketed, run))


def _bracketed(character: str) -> str:
    """A character in a regular expression, in any case."""
    cases = cases_of(character)
    if len(cases) > 1:
        return f"[{cases}]"
    return f"\\{character}" if character.isascii() and not character.isalnum() else character


DIALECT = PostgresDialect()
SCHEMA = "incumbent"
APPLICATION_ROLE = "incumbent_app"
STANDING = ("seq", "recorded_at", "recipe", "entries", "revision")
_COLUMN_LISTS = {
    **DIALECT.column_lists(),
    "schema": SCHEMA,
    "role": APPLICATION_ROLE,
    "standing": ", ".join(STANDING),
    "standing_assignments": DIALECT.assignments(STANDING),
}
_FOLDER = files("incumbent.stores.postgres")


def array_of(items: Iterable[str | int]) -> str:
    """Texts or whole numbers as PostgreSQL writes an array.

    For many of them this takes a tenth of the driver's time: the driver goes by the type of each.
    """
    quoted = [str(item).replace("\\", "\\\\").replace('"', '\\"') for item in items]
    return '{"' + '","'.join(quoted) + '"}' if quoted else "{}"


@cache
def _templates() -> Mapping[str, str]:
    return named(_FOLDER / "queries.sql")


@cache
def statement(name: str, where: str = "") -> str:
    """One named statement, with its column lists filled in."""
    return _templates()[name].format(**_COLUMN_LISTS, where=where)


@cache
def migrations() -> list[tuple[int, str]]:
    """The migrations in order, each with the schema version it leads to."""
    return migrations_in(_FOLDER / "migrations")
