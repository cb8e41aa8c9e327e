"""Running statements by their names, for one organization."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from incumbent.stores.sql.dialect import Dialect
from incumbent.stores.sql.rows import Row

Given = dict[str, Any]
"""Parameters by name. The connection adds the organization to them."""


class BoundConnection(ABC):
    """One connection inside a transaction, bound to an organization."""

    dialect: ClassVar[Dialect]
    _organization: str

    @property
    def organization(self) -> str:
        return self._organization

    @abstractmethod
    def rows(self, name: str, given: Given, where: str = "") -> list[Row]:
        """The rows of a statement."""

    @abstractmethod
    def each(self, name: str, given: Given) -> Iterator[Row]:
        """The rows of a statement, one at a time."""

    @abstractmethod
    def rows_of(self, name: str, ids: Iterable[str | int], by: int = 0) -> list[Row]:
        """The rows of a statement for a list of ids, each once.

        Ordered by the column number `by`, which no two rows share.
        """

    @abstractmethod
    def run(self, name: str, given: Given, where: str = "") -> int:
        """Run a statement without rows; return the number of rows it touched."""

    @abstractmethod
    def insert(self, name: str, values: Row) -> int:
        """Run a statement whose parameters have no names; return the number of rows it touched."""

    @abstractmethod
    def run_many(self, name: str, rows: Sequence[Row] | Sequence[Given]) -> int:
        """Run a statement once for each of many rows; return the number of rows it touched."""

    @abstractmethod
    def packed(self, items: Iterable[str | int]) -> str:
        """A list as the value of one parameter."""
