"""Memory: one store, its clock and settings. It hands out sessions and has the calls that belong to
no identity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date, datetime
from itertools import chain
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from incumbent.audit.entries import AuditEntry, check_after
from incumbent.clock import Clock
from incumbent.composing import receipts
from incumbent.context.document import Context, Line
from incumbent.context.receipt import (
    Receipt,
    ReceiptChange,
    compared,
    digest_of,
    reproduced,
)
from incumbent.context.tokens import counter
from incumbent.engine.proposal import check_key
from incumbent.engine.rehearsing import rolled_back
from incumbent.engine.retries import repeated
from incumbent.listing.organization import OrganizationLists
from incumbent.model.authority import Ladder
from incumbent.model.errors import InvalidInput, NotPermitted, StoreError, UnknownFact
from incumbent.model.fact import Fact
from incumbent.model.identity import Identity, check_name, check_optional, check_permissions
from incumbent.model.ids import new_id
from incumbent.model.records import Declaration, Erasure, Usage
from incumbent.resources import Resources
from incumbent.rules.temporal import as_seen
from incumbent.search.index import Index, Progress
from incumbent.session import Session
from incumbent.settings import Settings
from incumbent.stores.exports import checked_header, header_of, sealed, unsealed
from incumbent.stores.imports import CheckedRecords
from incumbent.stores.port import Store
from incumbent.telemetry.traced import traced

if TYPE_CHECKING:
    from incumbent.reading.form import TurnReader


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, InvalidInput) else repr(error)


@traced(but=("now", "session"))
class Memory(OrganizationLists):
    """One store, its clock and settings. Safe to share between threads."""

    def __init__(self, store: Store, clock: Clock, settings: Settings) -> None:
        self._resources = Resources(store, clock, settings)
        self._telemetry = self._resources.telemetry
        self.settings = settings
        self.environment = self._resources.environment

    @property
    def resources(self) -> Resources:
        """The resources that this memory and its sessions share, for parts of Incumbent itself."""
        return self._resources

    @property
    def store(self) -> Store:
        """The store itself. Sessions are the way to its content."""
        return self.resources.store

    @property
    def index(self) -> Index:
        """The index that contexts search. Made on first use: it loads an embedder and a
        tokenizer."""
        return self.resources.index

    @property
    def reader(self) -> TurnReader:
        """The reader of turns: what a turn states, and what that does to what is known."""
        return self.resources.reader

    @property
    def progress(self) -> Progress | None:
        """The callback for long work, such as making an index anew: the work, the amount done, the
        total."""
        return self.resources.progress

    @progress.setter
    def progress(self, traced: Progress | None) -> None:
        self.resources.progress = traced

    def flush(self, *, timeout: float | None = None) -> bool:
        """Wait for the second opinions that are under way; False if they take longer.

        Only a memory with `Settings.llm` in background mode has any.
        """
        return self.resources.flush(timeout)

    @repeated
    def usage(self, organization: str, *, since: date | None = None) -> list[Usage]:
        """What models were asked for an organization, by day (UTC) and model: calls, tokens, cost.

        `since` leaves out earlier days.
        """
        with self.store.read(check_name(organization, "organization")) as reader:
            return reader.usage(since)

    def reindex(self, organization: str) -> int:
        """Make the index of an organization anew; returns how many facts it has.

        A missing or outdated index is made anew by itself when a context is asked for.
        """
        return self.resources.reindex(organization)

    def now(self) -> datetime:
        """The present, as this memory's clock has it, in UTC."""
        return self.resources.now()

    def session(
        self,
        *,
        user_id: str,
        user_name: str | None = None,
        authority: str = "employee",
        organization: str = "default",
        department: str | None = None,
        permissions: Iterable[str] = (),
        session_id: str | None = None,
        task_id: str | None = None,
    ) -> Session:
        """Start a session, or resume one by its `session_id`. The identity is frozen."""
        identity = Identity(
            user_id=check_name(user_id, "user_id"),
            user_name=check_optional(user_name, "user_name"),
            authority=self._ladder.resolve(authority),
            organization=check_name(organization, "organization"),
            department=check_optional(department, "department"),
            permissions=frozenset(check_permissions(permissions, "permissions")),
        )
        named = check_name(session_id or new_id(self.now()), "session_id")
        return self._started(identity, authority, named, check_optional(task_id, "task_id"))

    @property
    def _ladder(self) -> Ladder:
        """The ladder that the authority of a session is looked up in."""
        return self.settings.ladder

    def _started(
        self, identity: Identity, title: str, session_id: str, task_id: str | None
    ) -> Session:
        """A session of an identity, whose authority was given as `title`."""
        return Session(self.resources, identity, session_id=session_id, task_id=task_id)

    @repeated
    def declare(
        self,
        key: str,
        *,
        multi_valued: bool = False,
        time_sensitive: bool = False,
        write_authority: str | None = None,
        requires: Iterable[str] = (),
    ) -> Declaration:
        """Say what is special about a key, or about every key of a pattern like "price.*".

        Several values at once (`multi_valued`), the newest reading wins (`time_sensitive`), who
        may write it (`write_authority`), which permissions reading it takes (`requires`). Holds
        for every organization, in every process, and for reading also what was written before.
        """
        if multi_valued and time_sensitive:
            raise InvalidInput(
                f"{key!r} cannot be both multi-valued and time-sensitive: "
                f"the newest of several values is one value"
            )
        declaration = Declaration(
            check_key(key, self.settings),
            bool(multi_valued),
            bool(time_sensitive),
            self.settings.ladder.resolve(write_authority).rung if write_authority else None,
            check_permissions(requires, "requires"),
        )
        with self.store.write("") as transaction:
            transaction.declare(declaration)
        return declaration

    @repeated
    def forget(
        self,
        *,
        organization: str,
        user_id: str | None = None,
        subject: str | None = None,
        fact_id: str | None = None,
        by: str | None = None,
        rehearse: bool = False,
    ) -> Erasure:
        """Erase facts for good: content, history, indexes, reasons, and what quotes them.

        Conditions narrow each other; `user_id` takes what that person owns and what is about them.
        `by` names a person who asks for it: then only what they own goes, and the proof tells of
        nothing else. Returns the proof, which names ids and counts and holds no content. This
        cannot be undone: with `rehearse` nothing is erased, and what would go is returned, with no
        id, since it proves nothing.
        """
        if user_id is None and subject is None and fact_id is None:
            raise InvalidInput("say what to forget: user_id=, subject= or fact_id=")
        if check_optional(by, "by") is not None and user_id not in (None, by):
            raise NotPermitted(
                f"{by!r:.80} may have forgotten what is theirs, not what is of {user_id!r:.80}; "
                f"leave out by= where you answer for the whole memory"
            )
        conditions = {
            "user_id": check_optional(user_id, "user_id"),
            "subject": check_optional(subject, "subject"),
            "fact_id": check_optional(fact_id, "fact_id"),
            "by": by,
        }
        check_name(organization, "organization")
        if rehearse:
            with rolled_back(self.store, organization) as transaction:
                foreseen = self.resources.erase(transaction, **conditions)
            return replace(foreseen, id="")
        with self.store.write(organization) as transaction:
            erasure = self.resources.erase(transaction, **conditions)
        self.resources.bells.ring()
        return replace(erasure, scrubbed=self.resources.scrub())

    def export(self, organization: str) -> Iterable[dict[str, Any]]:
        """Everything of an organization as JSON objects, for `import_`. What was erased is not in
        it. The last one tells whether all of it is there."""
        yield from sealed(chain([header_of(organization)], self.store.dump(organization)))

    def import_(
        self,
        records: Iterable[dict[str, Any]],
        *,
        organization: str | None = None,
        allow_unsealed: bool = False,
    ) -> int:
        """Load an export into an organization that has no facts yet. All or nothing.

        One that lost its end, or anything else, is refused. Exports of before version 2 cannot
        tell, and are taken with `allow_unsealed` only.
        """
        rows = iter(records)
        header = checked_header(next(rows, None), allow_unsealed=allow_unsealed)
        target = organization or check_name(header.get("organization"), "organization")
        with self.store.write(target) as transaction:
            if transaction.head()[0]:
                raise NotPermitted(
                    f"organization {target!r} already has facts; import into another one with "
                    f"organization=..., or into a new file"
                )
            try:
                checked = CheckedRecords(unsealed(header, rows), transaction.declarations())
                count = transaction.restore(checked)
                checked.check_complete()
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise InvalidInput(f"the export is damaged: {_told(error)}") from None
            except StoreError as error:
                raise InvalidInput(f"the export contradicts itself: {error}") from None
        self.resources.bells.ring()
        return count

    def audit(
        self, organization: str, *, after: int = 0, values: bool = False
    ) -> Iterator[AuditEntry]:
        """The log of an organization from after an entry on, one by one, in order, to its end.

        Entries hold ids, rules, outcomes and names of users, and nothing that was said; with
        `values` also keys, values and reasons, but for what was erased.
        """
        check_after(self.store, check_name(organization, "organization"), after)
        return self._audited(organization, after, values)

    def _audited(self, organization: str, after: int, values: bool) -> Iterator[AuditEntry]:
        while page := self.resources.log_page(organization, after, values):
            yield from page
            after = page[-1].seq

    def _caller(self) -> tuple[None, None, None]:
        """A memory belongs to no organization. Each call names one."""
        return None, None, None

    @repeated
    def record(self, context: Context) -> Receipt:
        """Keep the receipt of a context, so that it can be replayed by its id.

        What was erased since the context was made is not kept.
        """
        return self.resources.record(context)

    @repeated
    def receipt(self, receipt_id: str, *, organization: str = "default") -> Receipt:
        """A receipt that was kept, by its id."""
        check_name(receipt_id, "receipt id")
        with self.store.read(check_name(organization, "organization")) as reader:
            stored = reader.receipt(receipt_id)
        if stored is None:
            raise UnknownFact(
                f"no receipt {receipt_id!r} in organization {organization!r}; contexts are kept "
                f"with context(..., record=True) or Settings(record_contexts=True)"
            )
        return receipts.read(stored)

    def replay(self, receipt: Receipt | str, *, organization: str = "default") -> Context:
        """The same context again, byte for byte, from a receipt or the id of one that was kept.

        What was erased since is shown as erased, and `intact` is then False.
        """
        if isinstance(receipt, str):
            receipt = self.receipt(receipt, organization=organization)
        text, lines = reproduced(receipt, self._shown(receipt))
        return Context(
            text=text,
            tokens=counter(receipt.tokenizer)(text),
            budget=receipt.budget,
            query=receipt.query,
            profile=receipt.profile,
            style=receipt.style,
            at=receipt.at,
            lines=tuple(
                Line(line.section, line.text or "", line.fact_id, line.score, quoted=line.quoted)
                for line in lines
            ),
            seq=receipt.seq,
            organization=receipt.organization,
            user_id=receipt.user_id,
            tokenizer=receipt.tokenizer,
            intact=digest_of(text) == receipt.digest,
        )

    def _shown(self, *shown: Receipt) -> dict[str, Fact]:
        """The facts that receipts name, as they stand now."""
        named = set[str]().union(*(receipt.fact_ids for receipt in shown))
        with self.store.read(shown[0].organization) as reader:
            # The log can be a little ahead of the clock.
            now = max(self.now(), reader.head()[1] or self.now())
            return {fact.id: as_seen(fact, now) for fact in reader.facts(named)}

    def compare(
        self, earlier: Receipt | str, later: Receipt | str, *, organization: str = "default"
    ) -> list[ReceiptChange]:
        """What changed between two contexts, line by line, and why."""
        one, other = (
            self.receipt(given, organization=organization) if isinstance(given, str) else given
            for given in (earlier, later)
        )
        if one.organization != other.organization:
            raise InvalidInput(
                f"the receipts are of two organizations, {one.organization!r} and "
                f"{other.organization!r}; nothing crosses an organization"
            )
        facts = self._shown(one, other)
        return compared(reproduced(one, facts)[1], reproduced(other, facts)[1], facts)

    def close(self) -> None:
        """Release the store. Sessions of this memory stop working.

        Second opinions that are under way get `LLM.close_timeout` seconds; how many are given up
        is told in the log.
        """
        self.resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
