"""Lists of what an organization has: read by pages, along an index."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from incumbent.model.fact import Fact, MemoryType, Status
from incumbent.model.listings import ListedSession, VerdictCount
from incumbent.model.records import Turn
from incumbent.model.scope import Place

NameColumn = Literal["subject", "key"]
"""What a list of names is a list of."""

Name = tuple[str, str]
"""An owner, and a subject or key of that owner's facts."""


class Alike(NamedTuple):
    """Live facts that no rule on readers and terms tells apart: one of them stands for all.

    They have the same owner, subject, key, scope, memory type and conditions on readers. Those
    that hold office without a term are counted together, any other fact by itself.
    """

    owner: str
    subject: str
    key: str
    facts: int
    last_at: datetime
    """When the newest of them was recorded."""
    fact_id: str
    """The one that stands for them."""


class UserActivity(NamedTuple):
    """What a user has done."""

    user_id: str
    sessions: int
    """Sessions with a turn that was observed."""
    last_at: datetime | None
    """When the last entry of the log that they brought about was recorded."""


class FactFilter(NamedTuple):
    """The facts to list. None means any; subject or key "" means none named."""

    owners: tuple[str, ...]
    places: tuple[Place, ...]
    when: datetime
    """The moment that `holding` is about."""
    holding: bool
    """Whether those are listed that hold office at that moment (`Fact.held_at`)."""
    others: tuple[Status, ...]
    """The stored statuses of those listed that do not. `erased` is never one of them."""
    text: str = ""
    """Folded (`incumbent.model.folding`): what the key, the subject or the value contains."""
    key: str | None = None
    subject: str | None = None
    memory_type: MemoryType | None = None
    authority: str | None = None
    derived: bool = False
    """Whether only those are listed that depend on others."""
    since: datetime | None = None
    until: datetime | None = None
    """Only those recorded from `since` on and before `until`."""


class FactCounts(NamedTuple):
    """The facts of an organization, in numbers."""

    held: int
    """Those that held office at a moment (`Fact.held_at`)."""
    marked: int
    """Of those whose status is office, the ones that are stored with a cause for review."""
    contested: int


class ListingReader(Protocol):
    """The lists of one organization."""

    def users(self, after: str, prefix: str, limit: int) -> list[str]:
        """Users above `after` whose id begins with `prefix`, at most `limit`, in order.

        They own a fact that is not erased, brought an entry of the log about, have a turn that was
        observed, or a receipt.
        """
        ...

    def activity(self, user_ids: Sequence[str]) -> list[UserActivity]:
        """What these users have done, in the order of their ids."""
        ...

    def names(
        self,
        column: NameColumn,
        owners: tuple[str, ...] | None,
        after: Name | None,
        prefix: str,
        limit: int,
    ) -> list[Name]:
        """The subjects or keys of live facts of these owners, or of all, ordered by owner and name.

        Those above `after`, or all, whose name begins with `prefix`, at most `limit`. Facts that
        name no subject have none to list; those kept under no name have the key "".
        """
        ...

    def alike(self, column: NameColumn, names: Sequence[Name], now: datetime) -> list[Alike]:
        """The live facts with these names, counted by what they have in common.

        `now` tells which of them have begun. Ordered by owner, subject, key and fact id.
        """
        ...

    def holdings(self, owners: Sequence[str], now: datetime) -> list[Alike]:
        """The live facts of these owners, counted by owner and term alone.

        Subject and key are "". Ordered by owner and fact id.
        """
        ...

    def sessions(
        self,
        user_id: str | None,
        since: datetime | None,
        until: datetime | None,
        before: tuple[datetime, str, str] | None,
        limit: int,
    ) -> list[ListedSession]:
        """The sessions of a user, or of everybody, at most `limit`.

        A session begins with its turn of index 1, and its last index is the number of its turns;
        one without is not there. Those that began from `since` on and before `until`. Ordered by
        their beginning, user and session id, the last first; only those below `before`, which has
        the same three.
        """
        ...

    def recorded(
        self, wanted: FactFilter, before: tuple[datetime, str] | None, limit: int
    ) -> list[Fact]:
        """The facts that a filter lets through, the last recorded first, at most `limit`.

        Those of one moment are ordered by id, the last first; only those below `before`, which has
        a time and an id. Of what does not contain the text, a store may give some: it need not
        know how values are written. Callers look once more.
        """
        ...

    def branches(self, owners: tuple[str, ...], after: Place | None, limit: int) -> list[Place]:
        """The hypotheticals and drafts with live facts of these owners, in order, at most `limit`.

        Only those above `after`.
        """
        ...

    def branched(
        self, owners: tuple[str, ...], places: Sequence[Place], now: datetime
    ) -> list[Alike]:
        """The live facts of these owners in these branches, counted by what they have in common.

        As `alike` counts them, in the same order.
        """
        ...

    def turns_after(self, user_id: str, session_id: str, index: int, limit: int) -> list[Turn]:
        """The turns of a session with an index above that, in their order, at most `limit`."""
        ...

    def verdict_counts(self, after: int, last: int) -> list[VerdictCount]:
        """The entries of the log above `after` up to `last`, counted by day, action, outcome and
        rule, in that order."""
        ...

    def fact_counts(self, when: datetime) -> FactCounts:
        """The facts of the organization in any scope, in numbers."""
        ...
