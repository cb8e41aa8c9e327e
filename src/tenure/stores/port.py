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
from datetime import date, datetime
from typing import Any, NamedTuple, Protocol

from tenure.model.fact import Address, Fact
from tenure.model.keys import ApiKey
from tenure.model.records import Declaration, Erasure, Turn, Usage, WorkingItem
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


class Shelf(NamedTuple):
    """Where index entries stand: facts of one owner, scope and condition on readers.

    Every fact of a shelf is for the same readers, so that what others have written can neither
    be found nor be felt in a ranking. Constraints stand apart.
    """

    id: int
    owner: str
    place: Place
    requires: tuple[str, ...]
    min_authority: str | None
    binding: bool
    version: int
    """Grows with every transaction that changes an entry of the shelf."""


class Entry(NamedTuple):
    """How a fact is found: the terms of its text, and a vector of its meaning."""

    fact: Fact
    terms: str
    """The terms of its text, in order, separated by spaces."""
    probes: str
    """The terms by which somebody is noticed who repeats its value, separated by spaces."""
    tokens: int
    """How many tokens its line takes in a context."""
    vector: bytes | None = None


class Placed(NamedTuple):
    """What is kept of an entry for searching: its number, and what decides whether it counts."""

    entry: int
    changed: int
    live: bool
    """Whether its fact holds office or may yet hold it."""
    starts: datetime | None
    """When its term begins and ends; None where it simply holds, or where there is no limit."""
    ends: datetime | None
    derived: bool
    length: int
    """How many terms it has."""
    key: str
    probes: str
    vector: bytes | None


def term_of(fact: Fact, now: datetime) -> tuple[bool, datetime | None, datetime | None]:
    """What an entry keeps of a fact's tenure: live, a start still to come, an end."""
    later = fact.started_at if fact.started_at is not None and fact.started_at > now else None
    return fact.may_hold_after(now), later, fact.until


class Found(NamedTuple):
    """An entry that a search is about to rank."""

    entry: int
    fact_id: str
    key: str
    terms: str
    tokens: int
    vector: bytes | None


class StoredReceipt(NamedTuple):
    """A receipt as a store keeps it: who and when for finding it, the rest as JSON text."""

    id: str
    user_id: str
    at: datetime
    body: str


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

    def owned(self, owner: str, limit: int) -> list[Fact]:
        """What `live` gives of one owner in any scope, at most `limit` of it, ordered by id."""
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

    def facts(self, fact_ids: Iterable[str]) -> list[Fact]:
        """The facts of these ids as they stand, erased ones included, ordered by id."""
        ...

    def live_at(self, addresses: Iterable[Address]) -> list[Fact]:
        """What is live at these addresses of this organization, ordered by id."""
        ...

    def retracted(self, owners: tuple[str, ...], limit: int) -> list[Fact]:
        """Facts of these owners that were retracted, the most recently changed first."""
        ...

    def recipe(self) -> str | None:
        """How the index of this organization was made; None where there is none yet."""
        ...

    def shelves(self, owners: tuple[str, ...], places: tuple[Place, ...]) -> list[Shelf]:
        """The shelves of these owners in these places, ordered by id."""
        ...

    def placed(self, shelf: int, after: int) -> Iterator[Placed]:
        """The entries of a shelf that changed after version `after`, in the order of that.

        With 0, all. An entry whose fact was erased is there too, with nothing in it.
        """
        ...

    def postings(self, shelves: Sequence[int], term: str, limit: int) -> list[int]:
        """The live entries of these shelves that have a term, at most `limit`, ordered."""
        ...

    def many_postings(
        self, shelves: Sequence[int], terms: Sequence[str], limit: int
    ) -> list[list[int]]:
        """What `postings` gives for each of these terms, in their order, in one go."""
        ...

    def found(self, entries: Sequence[int]) -> list[Found]:
        """These entries with what ranking needs, ordered by entry; missing ones left out."""
        ...

    def entries_of(self, fact_ids: Iterable[str]) -> list[Found]:
        """The entries of these facts, live or not, ordered by entry."""
        ...

    def unindexed(self, limit: int, after: str = "") -> list[Fact]:
        """Facts with an id above `after` that have no entry yet, erased ones left out.

        At most `limit`, ordered by id.
        """
        ...

    def receipt(self, receipt_id: str) -> StoredReceipt | None:
        """The receipt of that id, or None."""
        ...

    def receipts(self, user_id: str | None, limit: int) -> list[StoredReceipt]:
        """The receipts of a user, or of everybody, newest first, at most `limit`."""
        ...

    def working_items(self, user_id: str, session_id: str) -> list[WorkingItem]:
        """The items of one session, expired ones included, in the order they were put."""
        ...

    def desks(self, user_id: str | None = None) -> list[tuple[str, str, WorkingItem]]:
        """(user id, session id, item) for every session, or every session of one user."""
        ...

    def turns(self, user_id: str, session_id: str, limit: int) -> list[Turn]:
        """The last `limit` turns of one session, in the order of their `turn_index`."""
        ...

    def turns_called(self, user_id: str, ref: str) -> list[Turn]:
        """Every turn of a user that goes by that ref, in any session, oldest first.

        Turns of one moment are ordered by session and index.
        """
        ...

    def erasures(self, after: str = "") -> list[Erasure]:
        """The proofs of what was forgotten with an id above `after`, oldest first."""
        ...

    def usage(self, since: date | None = None) -> list[Usage]:
        """What was counted from that day on, or ever, ordered by day and model."""
        ...


class Transaction(Reader, Protocol):
    """One unit of writing. Reads see what it has written; others see it on commit, whole.

    Transactions of one organization serialise. Leaving the context commits; an exception rolls
    all back.
    """

    def record(
        self, verdict: Verdict, new: Sequence[Fact] = (), changed: Sequence[Change] = ()
    ) -> None:
        """Append a verdict, with the facts it brought and the tenures it changed.

        Raises DuplicateId when a new fact's id is taken, before anything is written. The tenure
        that a change replaces is kept for `known`. A second valid fact at a single-valued address
        with the same audience (`Fact.audience`) is refused by the store itself with StoreError,
        whatever the caller believed.
        """
        ...

    def mark_undone(self, verdict_id: str, undone_by: str | None) -> None:
        """Set or clear the verdict that undid another."""
        ...

    def declare(self, declaration: Declaration) -> None:
        """Add a declaration, replacing the one with the same pattern. Not bound to one
        organization."""
        ...

    def index(self, entries: Sequence[Entry]) -> None:
        """Add entries, in this transaction, so that they live and die with their facts.

        From here on `record` and `erase` keep them in step by themselves: an entry leaves the
        postings when its fact leaves office, comes back with it, and is emptied with it. The entry
        of a fact that has one already is replaced.
        """
        ...

    def unindex(self, limit: int) -> int:
        """Remove entries of this organization, at most `limit`; returns how many."""
        ...

    def set_recipe(self, recipe: str) -> None:
        """Note how the index of this organization is made."""
        ...

    def put_receipt(self, receipt: StoredReceipt) -> None:
        """Keep a receipt, replacing the one of the same id."""
        ...

    def drop_receipts(self, *, user_id: str | None = None, receipt_id: str | None = None) -> int:
        """Remove the receipts that match every given condition; returns how many."""
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

    def put_turn(self, user_id: str, turn: Turn) -> None:
        """Keep an observed turn, replacing the one of the same session and index."""
        ...

    def drop_turns(self, *, user_id: str | None = None, session_id: str | None = None) -> int:
        """Remove the turns that match every given condition; returns how many."""
        ...

    def drop_keys(self, user_id: str) -> int:
        """Remove the keys that speak for a user, revoked ones too; returns how many."""
        ...

    def count_usage(self, usage: Usage) -> None:
        """Add to what was counted on its day for its model; a negative number takes away."""
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
        the name of `user_id` in every verdict they made. Turns of whoever owned one of these facts,
        or has a turn that stated one, keep of their digest only what stands up to the first "$",
        which is nothing where there is none: the rest tells of words.
        """
        ...

    def restore(self, records: Iterable[dict[str, Any]]) -> int:
        """Load what `dump` gave into this organization, which must be empty. Returns how many."""
        ...


class Store(Protocol):
    """Opens readers and transactions. Safe to share between threads."""

    def read(self, organization: str, user_id: str | None = None) -> AbstractContextManager[Reader]:
        """A consistent view of one organization, for one person where one is named.

        Nobody asks such a view for what belongs to another person alone. A store that can keeps
        it out even so: a fence behind the one that callers keep to.
        """
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

    def add_key(self, key: ApiKey) -> None:
        """Keep a key. The same one again changes nothing; DuplicateId where another has its id,
        in whatever organization."""
        ...

    def key(self, key_id: str) -> ApiKey | None:
        """The key of that id, or None. Of any organization: it is what tells which one it is for.

        As committed now by whichever process, revoked and expired ones included.
        """
        ...

    def keys(self, organization: str | None = None) -> list[ApiKey]:
        """The keys of one organization, or of all, ordered by id: oldest first.

        Revoked and expired ones included.
        """
        ...

    def revoke_key(self, key_id: str, at: datetime) -> ApiKey | None:
        """End a key for good; the key as it is then, or None where there is none.

        One that was revoked before keeps the moment of the first time.
        """
        ...

    def dump(self, organization: str) -> Iterator[dict[str, Any]]:
        """The log and the facts of one organization but what was erased, as JSON objects.

        Declarations, then the log in order, then the facts with their tenures. Working items and
        turns are not part of it: they belong to a session. Nor is usage. Nor are keys: a copy must
        not let anybody in.
        """
        ...

    def scrub(self) -> bool:
        """Overwrite what the medium may still hold of erased content.

        False if others block it, or where it is for whoever runs the server.
        """
        ...

    def check(self) -> list[str]:
        """Findings of an integrity check; empty when all is well."""
        ...

    def close(self) -> None:
        """Release everything. Further calls raise SessionClosed."""
        ...
