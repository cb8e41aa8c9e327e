"""The port every store implements.

A store fetches and commits. It never judges: what supersedes what, who may read what and what
needs review is decided above it, and arrives here as finished values. `tenure.testing.contract`
has a test for every sentence below; a backend runs all of it.

One organization at a time: a Reader or Transaction is opened for an organization and can neither
see nor touch another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from tenure.model.fact import Fact
from tenure.model.records import Declaration, Erasure, WorkingItem
from tenure.model.scope import Place
from tenure.model.verdict import Verdict


class Selection(NamedTuple):
    """Which facts to look at. None means any; subject "" means none named."""

    owners: tuple[str, ...] | None = None
    scope_ids: tuple[str, ...] | None = None
    key: str | None = None
    subject: str | None = None


class Glance(NamedTuple):
    """The answer to the most frequent question, kept cheap: the value of one ordinary fact."""

    value_text: str
    declarations: tuple[Declaration, ...]


class Change(NamedTuple):
    """A new tenure for a fact that the store already has."""

    before: Fact
    after: Fact


class Reader(Protocol):
    """A consistent view of one organization: every call sees the same committed state."""

    @property
    def organization(self) -> str: ...

    def declarations(self) -> tuple[Declaration, ...]:
        """All declarations, in the order of their patterns. The same object until one changes."""
        ...

    def head(self) -> tuple[int, datetime | None]:
        """The last sequence number of the organization's log and its time; (0, None) if empty."""
        ...

    def fact(self, fact_id: str) -> Fact | None:
        """The fact of that id as it stands, erased ones included, or None."""
        ...

    def live(self, selection: Selection) -> list[Fact]:
        """Facts that hold office or may yet hold it: status office, or an end still to come.

        Ordered by id. Callers check the term against their own clock.
        """
        ...

    def timeline(self, selection: Selection) -> list[Fact]:
        """Every fact ever written in the selection, of any status but erased, oldest first."""
        ...

    def known(self, selection: Selection, seq: int) -> list[Fact]:
        """The facts of the selection exactly as the store knew them after entry `seq`."""
        ...

    def seq_at(self, moment: datetime) -> int:
        """The last entry recorded at or before that moment; 0 where there is none."""
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

    def naming(self, fact_ids: Iterable[str]) -> list[str]:
        """Ids of the facts whose verdicts have one of these among their `targets`, in order."""
        ...

    def contested(self, owners: tuple[str, ...]) -> list[Fact]:
        """Facts of these owners that are contested, ordered by id."""
        ...

    def derived(self, owners: tuple[str, ...]) -> list[Fact]:
        """Facts of these owners in office that were derived from others, ordered by id."""
        ...

    def verdict(self, verdict_id: str) -> Verdict | None:
        """The verdict of that id, without its fact, or None."""
        ...

    def verdicts(self, fact_ids: Iterable[str]) -> list[Verdict]:
        """Every verdict on these facts, undone ones included, in log order, without facts."""
        ...

    def log(self, after: int, limit: int) -> list[Verdict]:
        """Verdicts with a sequence number above `after`, in log order, at most `limit`."""
        ...

    def working_items(self, user_id: str, session_id: str) -> list[WorkingItem]:
        """The items of one session, expired ones included, in the order they were put."""
        ...

    def desks(self, user_id: str | None = None) -> list[tuple[str, str, WorkingItem]]:
        """(user id, session id, item) for every session, or every session of one user."""
        ...


class Transaction(Reader, Protocol):
    """One unit of writing. Reads see what it has written; others see it on commit, whole.

    Transactions of one store serialise. Leaving the context commits; an exception rolls all back.
    """

    def record(
        self, verdict: Verdict, new: Sequence[Fact] = (), changed: Sequence[Change] = ()
    ) -> None:
        """Append a verdict, with the facts it brought and the tenures it changed.

        Raises DuplicateId when a new fact's id is taken, before anything is written. The tenure
        that a change replaces is kept for `known`. A second valid fact at a single-valued address
        is refused by the store itself with StoreError, whatever the caller believed.
        """
        ...

    def mark_undone(self, verdict_id: str, undone_by: str | None) -> None:
        """Set or clear the verdict that undid another."""
        ...

    def declare(self, declaration: Declaration) -> None:
        """Add a declaration, replacing the one with the same pattern. Not bound to one
        organization."""
        ...

    def put_item(self, user_id: str, session_id: str, item: WorkingItem) -> None:
        """Put a working item, replacing one of the same key."""
        ...

    def drop_items(
        self,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        key: str | None = None,
        expired_at: datetime | None = None,
    ) -> int:
        """Remove working items that match every given condition; returns how many."""
        ...

    def erase(
        self,
        fact_ids: Sequence[str],
        erasure: Erasure,
        *,
        reasons: Sequence[str] = (),
        user_id: str | None = None,
    ) -> Erasure:
        """Empty these facts for good; returns and keeps the proof, with the counts added.

        What stays is a row with the id, the links of the chain and the sequence numbers. The
        content, earlier tenures, dependency legs, and the reasons given in verdicts on them are
        gone from every table and index. So are the reasons of the verdicts named in `reasons`, and
        the name of `user_id` in every verdict they made.
        """
        ...

    def restore(self, records: Iterable[dict[str, Any]]) -> int:
        """Load what `dump` gave into this organization, which must be empty. Returns how many."""
        ...


class Store(Protocol):
    """Opens readers and transactions. Safe to share between threads."""

    def read(self, organization: str) -> AbstractContextManager[Reader]:
        """A consistent view of one organization."""
        ...

    def write(self, organization: str) -> AbstractContextManager[Transaction]:
        """A transaction. Waits its turn; raises StoreBusy when that takes too long."""
        ...

    def glance(
        self,
        organization: str,
        owners: tuple[str, ...],
        places: tuple[Place, ...],
        key: str,
        subject: str,
    ) -> Glance | None:
        """The value in office at these addresses, if exactly one ordinary fact holds one of them.

        Ordinary means: single-valued, started when it was recorded, with no end and no condition
        on who may read it. In every other case None, and the caller takes the long way. One round
        trip, as committed now by whichever process.
        """
        ...

    def organizations(self) -> list[str]:
        """Every organization that has a log, in order."""
        ...

    def erasures(self, organization: str) -> list[Erasure]:
        """The proofs of what was forgotten, oldest first."""
        ...

    def dump(self, organization: str) -> Iterator[dict[str, Any]]:
        """The log and the facts of one organization but what was erased, as JSON objects.

        Declarations, then the log in order, then the facts with their tenures. Working items are
        not part of it: they belong to a session.
        """
        ...

    def scrub(self) -> bool:
        """Overwrite what the medium may still hold of erased content; False if others block it."""
        ...

    def check(self) -> list[str]:
        """Findings of an integrity check; empty when all is well."""
        ...

    def close(self) -> None:
        """Release everything. Further calls raise SessionClosed."""
        ...
