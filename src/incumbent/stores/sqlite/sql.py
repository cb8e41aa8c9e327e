"""Loads the named statements of `queries.sql` and the migrations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from incumbent.model.folding import cases_of
from incumbent.stores.sql.dialect import Dialect
from incumbent.stores.sql.patterns import plain_pattern
from incumbent.stores.sql.statements import migrations_in, named


class SQLiteDialect(Dialect):
    """Parameters in the form of SQLite."""

    placeholder = "?"

    def parameter(self, name: str) -> str:
        return f":{name}"

    def among(self, column: str, name: str, count: int) -> str:
        return f"{column} IN ({', '.join(f':{name}{index}' for index in range(count))})"

    def members(self, name: str, values: Sequence[str]) -> dict[str, Any]:
        return {f"{name}{index}": value for index, value in enumerate(values)}

    def flag(self, column: str, value: bool) -> str:
        return f"{column} = {value:d}"

    def containing(self, run: str) -> tuple[str, str]:
        if (pattern := plain_pattern(run)) is not None:
            return "{} LIKE :pattern ESCAPE '\\'", pattern
        return "{} GLOB :pattern", f"*{''.join(map(_glob, run))}*"


def _glob(character: str) -> str:
    """A character in a pattern of GLOB, in any case."""
    cases = cases_of(character)
    return f"[{cases}]" if len(cases) > 1 or character in "*?[" else character


DIALECT = SQLiteDialect()
_COLUMN_LISTS = DIALECT.column_lists()
_FOLDER = files("incumbent.stores.sqlite")


@cache
def _templates() -> Mapping[str, str]:
    return named(_FOLDER / "queries.sql")


@cache
def statement(
    name: str,
    where: str = "",
    ids: int = 0,
    addresses: int = 0,
    owners: int = 0,
    matters: int = 0,
) -> str:
    """One named statement, with its column lists and placeholders filled in."""
    id_list = ", ".join(f":id{index}" for index in range(ids))
    address_list = ", ".join(["(?, ?, ?, ?, ?)"] * addresses)
    return _templates()[name].format(
        **_COLUMN_LISTS,
        where=where,
        ids=id_list,
        addresses=address_list,
        owners=", ".join("?" * owners),
        matters=", ".join(["(?, ?)"] * matters),
    )


@lru_cache(maxsize=64)
def inserting(name: str, literals: tuple[str | None, ...]) -> str:
    """A named INSERT whose columns are given in order, with some of them written down in it."""
    first, *rest = statement(name).split("?")
    assert len(rest) == len(literals), "one parameter a column, and no others"
    told = ("?" if literal is None else literal for literal in literals)
    return first + "".join(f"{value}{text}" for value, text in zip(told, rest, strict=True))


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
