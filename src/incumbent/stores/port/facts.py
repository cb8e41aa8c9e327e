"""Facts: read by the engine and the composing of a context."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from incumbent.model.fact import Address, Fact
from incumbent.model.records import Declaration

Matter = tuple[str, str]
"""What facts are about: their key, and their subject or ""."""


class Selection(NamedTuple):
    """The facts to look at. None means any; subject "" means none named, and `said` is the very
    text of a value."""

    owners: tuple[str, ...] | None = None
    scope_ids: tuple[str, ...] | None = None
    key: str | None = None
    subject: str | None = None
    said: str | None = None


class Glance(NamedTuple):
    """The answer to the most frequent question, kept cheap: the value of one ordinary fact."""

    value_text: str
    declarations: tuple[Declaration, ...]


class FactReader(Protocol):
    """The facts of one organization, with their tenures."""

    def fact(self, fact_id: str) -> Fact | None:
        """The fact of that id as it stands, erased ones included, or None."""
        ...

    def facts(self, fact_ids: Iterable[str]) -> list[Fact]:
        """The facts of these ids as they stand, erased ones included, ordered by id."""
        ...

    def live(self, selection: Selection) -> list[Fact]:
        """Facts that hold office or may yet hold it: status office, or an end still to come.

        Ordered by id. Callers check the term against their own clock.
        """
        ...

    def live_at(self, addresses: Iterable[Address]) -> list[Fact]:
        """The live facts at these addresses of this organization, ordered by id."""
        ...

    def met(self, owners: tuple[str, ...], matters: Iterable[Matter]) -> set[Matter]:
        """Those of these matters on which one of the owners has a live fact, in any scope."""
        ...

    def owned(self, owner: str, limit: int) -> list[Fact]:
        """The live facts of one owner in any scope, at most `limit`, ordered by id."""
        ...

    def timeline(self, selection: Selection) -> list[Fact]:
        """Every fact ever written in the selection, of any status but erased, oldest first."""
        ...

    def known(self, selection: Selection, seq: int) -> list[Fact]:
        """The facts of the selection exactly as the store knew them after entry `seq`."""
        ...

    def known_facts(self, fact_ids: Iterable[str], seq: int) -> list[Fact]:
        """What `known` gives of the facts of these ids, oldest first."""
        ...

    def standing_on(self, fact_ids: Iterable[str]) -> list[Fact]:
        """Facts in office that have a leg standing on one of these, ordered by id."""
        ...

    def derived_from(self, fact_ids: Iterable[str]) -> list[Fact]:
        """Facts of any status with one of these among their `depends_on`, ordered by id."""
        ...

    def waiting_on(self, fact_ids: Iterable[str]) -> list[Fact]:
        """Facts that await the departure of one of these, ordered by id."""
        ...

    def contingent_on(self, fact_ids: Iterable[str]) -> list[Fact]:
        """Facts of any status written to wait for one of these, ordered by id."""
        ...

    def contested(self, owners: tuple[str, ...]) -> list[Fact]:
        """Facts of these owners that are contested, ordered by id."""
        ...

    def unapproved(self, owners: tuple[str, ...]) -> list[Fact]:
        """Facts of these owners that wait until somebody approves them, ordered by id."""
        ...

    def derived(self, owners: tuple[str, ...]) -> list[Fact]:
        """Facts of these owners in office that were derived from others, ordered by id."""
        ...

    def doubting(self, fact_ids: Iterable[str]) -> list[Fact]:
        """What `live` gives of the facts that put one of these in doubt, ordered by id."""
        ...

    def ever_doubting(self, fact_ids: Iterable[str]) -> list[Fact]:
        """Facts of any status but erased that put one of these in doubt or once did, ordered by
        id."""
        ...

    def doubters(self, owners: tuple[str, ...] | None) -> list[Fact]:
        """What `live` gives of these owners, or of all, that puts others in doubt, ordered by
        id."""
        ...

    def retracted(self, owners: tuple[str, ...], limit: int) -> list[Fact]:
        """Facts of these owners that were retracted, the most recently changed first."""
        ...
