"""The parameters of a database's statements, and the texts that are made of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, ClassVar

from incumbent.model.fact import SERVED
from incumbent.model.times import to_micros
from incumbent.stores.port import Selection
from incumbent.stores.sql.columns import (
    CONTENT,
    FACT_COLUMNS,
    KEY,
    PASSAGE,
    TENURE,
    TURN,
    USAGE,
    VERDICT,
)
from incumbent.stores.sql.rows import value_text

Condition = tuple[str, dict[str, Any]]
"""A piece of a WHERE clause, and its parameters."""


class Dialect(ABC):
    """The parameters of one database."""

    placeholder: ClassVar[str]
    """A parameter without a name, given by its position."""

    @abstractmethod
    def parameter(self, name: str) -> str:
        """A parameter by its name."""

    @abstractmethod
    def among(self, column: str, name: str, count: int) -> str:
        """The condition that a column has one of `count` values."""

    @abstractmethod
    def members(self, name: str, values: Sequence[str]) -> dict[str, Any]:
        """The parameters of that condition."""

    @abstractmethod
    def flag(self, column: str, value: bool) -> str:
        """The condition on a column of truth, written out: a parameter would hide from a planner
        that an index of some rows alone will do."""

    @abstractmethod
    def containing(self, run: str) -> tuple[str, str]:
        """The condition that a column contains a folded text in any letter case, and its pattern.

        {} stands for the column, and the parameter is `pattern`. It may let others through.
        """

    def held(self) -> str:
        """The condition that a fact holds office at the moment of the parameter `when`."""
        when = self.parameter("when")
        served = ", ".join(f"'{status.value}'" for status in sorted(SERVED))
        return (
            f"status IN ({served}) AND started_at <= {when} "
            f"AND (valid_until IS NULL OR valid_until > {when}) "
            f"AND (ended_at IS NULL OR ended_at > {when})"
        )

    def where(self, selection: Selection, prefix: str = "") -> Condition:
        """The condition for a selection.

        A part that is not asked for is left out: no index could serve an optional condition within
        the statement.
        """
        owners, scope_ids, key, subject, said = selection
        text = _selected(
            self,
            None if owners is None else len(owners),
            None if scope_ids is None else len(scope_ids),
            key is not None,
            subject is not None,
            said is not None,
            prefix,
        )
        given: dict[str, Any] = {"key": key, "subject": subject}
        if said is not None:
            given["said"] = value_text(said)
        if owners is not None:
            given |= self.members("owner", owners)
        if scope_ids is not None:
            given |= self.members("scope_id", scope_ids)
        return text, given

    def matching(self, **conditions: Any) -> Condition:
        """The condition for those columns that have a value given."""
        given = {name: value for name, value in conditions.items() if value is not None}
        text = " ".join(
            f"AND {name} {'<=' if name == 'expires_at' else '='} {self.parameter(name)}"
            for name in given
        )
        return text, given

    def within(self, column: str, since: datetime | None, until: datetime | None) -> Condition:
        """The condition that a moment is from one on, and before another."""
        text, given = "", {}
        for name, sign, bound in (("since", ">=", since), ("until", "<", until)):
            if bound is not None:
                text += f" AND {column} {sign} {self.parameter(name)}"
                given[name] = to_micros(bound)
        return text, given

    def column_lists(self) -> Mapping[str, str]:
        """The texts for the braces in the statements of both databases."""
        return {
            "fact": _listed((*CONTENT, *TENURE)),
            "content": _listed(CONTENT, "f."),
            "tenure": _listed(TENURE),
            "tenure_of_f": _listed(TENURE, "f."),
            "tenure_of_t": _listed(TENURE, "t."),
            "tenure_assignments": self.assignments(TENURE),
            "tenure_values": self._named(TENURE),
            "fact_columns": _listed(FACT_COLUMNS),
            "fact_values": self._unnamed(FACT_COLUMNS),
            "verdict": _listed(VERDICT),
            "verdict_values": self._unnamed(VERDICT),
            "turn": _listed(TURN),
            "turn_values": self._named(TURN),
            "turn_assignments": ", ".join(f"{name} = excluded.{name}" for name in TURN),
            "passage": _listed(PASSAGE),
            "passage_values": self._named(PASSAGE),
            "passage_assignments": ", ".join(f"{name} = excluded.{name}" for name in PASSAGE),
            "key": _listed(KEY),
            "key_values": self._named(KEY),
            "held": self.held(),
            "usage": _listed(USAGE),
            "usage_values": self._named(USAGE),
            "usage_sums": ", ".join(
                f"{name} = usage.{name} + excluded.{name}" for name in USAGE[2:]
            ),
        }

    def assignments(self, names: tuple[str, ...]) -> str:
        """The columns, each set to the parameter of its name."""
        return ", ".join(f"{name} = {self.parameter(name)}" for name in names)

    def _named(self, names: tuple[str, ...]) -> str:
        return ", ".join(map(self.parameter, names))

    def _unnamed(self, names: tuple[str, ...]) -> str:
        return ", ".join([self.placeholder] * len(names))


def _listed(names: tuple[str, ...], prefix: str = "") -> str:
    return ", ".join(f"{prefix}{name}" for name in names)


@lru_cache(maxsize=256)
def _selected(
    dialect: Dialect,
    owners: int | None,
    scope_ids: int | None,
    key: bool,
    subject: bool,
    said: bool,
    prefix: str,
) -> str:
    parts = []
    if owners is not None:
        parts.append(f"AND {dialect.among(f'{prefix}owner', 'owner', owners)}")
    if key:
        parts.append(f"AND {prefix}key = {dialect.parameter('key')}")
    if subject:
        parts.append(f"AND {prefix}subject = {dialect.parameter('subject')}")
    if said:
        parts.append(f"AND {prefix}value = {dialect.parameter('said')}")
    if scope_ids is not None:
        parts.append(f"AND {dialect.among(f'{prefix}scope_id', 'scope_id', scope_ids)}")
    return " ".join(parts)
