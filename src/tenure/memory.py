"""Memory: opens a store and hands out sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cached_property, partial
from itertools import chain
from os import PathLike, fspath
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tenure.audit.bells import Bells
from tenure.audit.entries import PAGE, AuditEntry, check_after, read_page
from tenure.composing import receipts
from tenure.context.document import Context, Line
from tenure.context.reach import measured
from tenure.context.receipt import (
    Receipt,
    ReceiptChange,
    compared,
    digest_of,
    reproduced,
)
from tenure.context.tokens import counter
from tenure.engine.erasure import forget
from tenure.engine.proposal import check_key
from tenure.engine.retries import repeated
from tenure.environment import Providers
from tenure.language.llm.config import as_llm
from tenure.model.errors import InvalidInput, NotPermitted, StoreError, UnknownFact
from tenure.model.fact import Fact
from tenure.model.identity import Identity, check_name, check_optional, check_permissions
from tenure.model.ids import new_id
from tenure.model.records import Declaration, Erasure, Usage
from tenure.model.text_cache import forget_texts
from tenure.model.times import moment
from tenure.model.values import canonical
from tenure.rules.temporal import as_seen
from tenure.search.embedders import load
from tenure.search.index import Index, Progress
from tenure.session import Session
from tenure.settings import Settings
from tenure.stores.exports import checked_header, header_of, sealed, unsealed
from tenure.stores.in_memory import MemoryStore
from tenure.stores.port import Store, Transaction
from tenure.stores.sqlite import SQLiteStore
from tenure.telemetry.port import Guarded
from tenure.telemetry.traced import told
from tenure.telemetry.watched_store import watched

if TYPE_CHECKING:
    from tenure.language.detection import Detector
    from tenure.observing.advice import Advice

Clock = Callable[[], datetime]

_NO_LIMIT = 1 << 62


def system_clock() -> datetime:
    """The wall clock. The only place where Tenure reads it; pass `clock=` to use another."""
    return datetime.now(UTC)


def open(
    where: str | PathLike[str],
    *,
    clock: Clock | None = None,
    settings: Settings | None = None,
    key: str | None = None,
) -> Memory:
    """Open a memory: a path to a SQLite file, made if missing, ":memory:" for one that goes away
    when closed, the address of a PostgreSQL database, "postgresql://user@host/database", or that
    of a service, "https://host", with the `key` that it asks for (or TENURE_KEY).

    Use it as a context manager, or call `close()`.
    """
    settings = settings or Settings()
    if fspath(where).startswith(("http://", "https://")):
        return _elsewhere(fspath(where), clock, settings, key)
    if (llm := as_llm(settings.llm)) is not None:
        from tenure.language.llm.client import completion_for

        completion_for(llm)  # a missing key or package is told before a file is made
    return Memory(_store(fspath(where), settings), clock or system_clock, settings)


def _elsewhere(where: str, clock: Clock | None, settings: Settings, key: str | None) -> Memory:
    try:
        from tenure.client.remote import connect
    except ImportError as error:
        raise InvalidInput(f"a memory behind a service needs a client: {error}") from error
    return connect(where, key=key, settings=settings, clock=clock)


def _store(where: str, settings: Settings) -> Store:
    if where == ":memory:":
        return MemoryStore()
    if not where:
        raise InvalidInput('where is empty; give a path such as "agent.db", or ":memory:"')
    kind, mark, _ = where.partition("://")
    if mark and kind in ("postgresql", "postgres"):
        return _postgres(where, settings)
    if mark:
        raise InvalidInput(
            f"{kind!r} addresses are not supported; give a path to a SQLite file, or an address "
            f'such as "postgresql://user@host/database" or "https://host"'
        )
    return SQLiteStore(where, durability=settings.durability, busy_timeout=settings.busy_timeout)


def _postgres(where: str, settings: Settings) -> Store:
    try:
        from tenure.stores.postgres import PostgresStore
    except ImportError as error:
        raise InvalidInput(
            f"a PostgreSQL store needs a driver ({error}); install it with: "
            f"pip install 'tenure[postgres]'"
        ) from error
    return PostgresStore(
        where,
        durability=settings.durability,
        busy_timeout=settings.busy_timeout,
        statement_timeout=settings.statement_timeout,
        pool_size=settings.pool_size,
        read_url=settings.read_url,
    )


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, InvalidInput) else repr(error)


class _Checked:
    """Goes through the records of an export and refuses what a store could not live with."""

    def __init__(self, records: Iterable[Any], declared: Iterable[Declaration]) -> None:
        self._records = records
        self._declared = {declaration.pattern for declaration in declared}
        self._facts: set[str] = set()
        self._named: set[str] = set()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for record in self._records:
            if not isinstance(record, dict):
                raise InvalidInput(f"{record!r:.80} is no record")
            for item in record.values():
                canonical(item, limit=_NO_LIMIT)
            kind = record.get("kind")
            if kind == "declaration" and record["pattern"] in self._declared:
                continue  # declarations hold for every organization; an import changes none
            if kind == "fact":
                self._facts.add(record["id"])
                self._named.update(record["depends_on"], record["predecessors"])
                self._named.update(filter(None, (record["superseded_by"], record["awaits"])))
            elif kind == "verdict":
                self._named.add(record["fact_id"])
            yield record

    def check_complete(self) -> None:
        missing = sorted(self._named - self._facts)
        if missing:
            raise InvalidInput(f"{len(missing)} facts are missing, for example {missing[0]!r}")


@told(but=("now", "session"))
class Memory:
    """One store, its clock and settings. Safe to share between threads."""

    def __init__(self, store: Store, clock: Clock, settings: Settings) -> None:
        telemetry = settings.telemetry
        self._telemetry = Guarded(telemetry) if telemetry is not None else None
        self.store = watched(store, self._telemetry) if self._telemetry is not None else store
        self.settings = settings
        self.environment = Providers(
            settings.timezone, settings.max_signal_bytes, settings.provider_timeout
        )
        self._clock = clock
        self._bells = Bells()
        self.progress: Progress | None = None
        """Told of long work, such as making an index anew: what, how much is done, of how much."""
        self._advice = self._advised()

    @cached_property
    def index(self) -> Index:
        """What contexts search. Made on first use: it loads an embedder and a tokenizer."""
        from tenure.language.values.forms import forms

        count = counter(self.settings.tokenizer)
        chosen = self.settings.embedder
        return Index(
            load(chosen) if isinstance(chosen, str) else chosen,
            tokenizer=self.settings.tokenizer,
            measure=lambda fact: measured(fact, count),
            progress=self._tell,
            read=forms,
        )

    @cached_property
    def detector(self) -> Detector:
        """What tells which values a statement replaces."""
        from tenure.language.detectors import detector

        chosen = self.settings.detector
        return detector(chosen) if isinstance(chosen, str) else chosen

    def _advised(self) -> Advice | None:
        """What asks the user's own model; None, and nothing of it loaded, where none is set."""
        llm = as_llm(self.settings.llm)
        if llm is None:
            return None
        from tenure.observing.advice import Advice

        return Advice(llm, self.store, self.now, self._telemetry)

    def flush(self, *, timeout: float | None = None) -> bool:
        """Wait for the second opinions that are under way; False if they take longer.

        Only a memory with `Settings.llm` in background mode has any.
        """
        return self._advice is None or self._advice.flush(timeout)

    @repeated
    def usage(self, organization: str, *, since: date | None = None) -> list[Usage]:
        """What models were asked for an organization, by day (UTC) and model: calls, tokens, cost.

        `since` leaves out earlier days.
        """
        with self.store.read(check_name(organization, "organization")) as reader:
            return reader.usage(since)

    def _tell(self, what: str, done: int, total: int | None) -> None:
        if self.progress is not None:
            self.progress(what, done, total)

    def reindex(self, organization: str) -> int:
        """Make the index of an organization anew; returns how many facts it has.

        A missing or outdated index is made anew by itself when a context is asked for.
        """
        return self.index.rebuild(self.store, check_name(organization, "organization"))

    def now(self) -> datetime:
        """The present, as this memory's clock has it, in UTC."""
        return moment(self._clock(), "the clock's time")

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
            authority=self.settings.ladder.resolve(authority),
            organization=check_name(organization, "organization"),
            department=check_optional(department, "department"),
            permissions=frozenset(check_permissions(permissions, "permissions")),
        )
        return Session(
            self,
            identity,
            session_id=check_name(session_id or new_id(self.now()), "session_id"),
            task_id=check_optional(task_id, "task_id"),
        )

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
    ) -> Erasure:
        """Erase facts for good: content, history, indexes, reasons, and what quotes them.

        Conditions narrow each other; `user_id` takes what that person owns and what is about them.
        `by` names a person who asks for it: then only what they own goes, and the proof tells of
        nothing else. Returns the proof, which names ids and counts and holds no content. This
        cannot be undone.
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
        with self.store.write(check_name(organization, "organization")) as transaction:
            erasure = self._forget_within(transaction, **conditions)
        self._bells.ring()
        return replace(erasure, scrubbed=self._scrub())

    def _scrub(self) -> bool:
        """Once an erasure is committed: nothing of it is left in this process nor, where that can
        be, on the medium."""
        forget_texts()
        return self.store.scrub()

    def _forget_within(self, transaction: Transaction, **conditions: str | None) -> Erasure:
        """Erase as part of a transaction; what the medium still holds is for `store.scrub()`."""
        redact = partial(receipts.redact, transaction)
        return forget(transaction, self.now(), redact=redact, **conditions)

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
                checked = _Checked(unsealed(header, rows), transaction.declarations())
                count = transaction.restore(checked)
                checked.check_complete()
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise InvalidInput(f"the export is damaged: {_told(error)}") from None
            except StoreError as error:
                raise InvalidInput(f"the export contradicts itself: {error}") from None
        self._bells.ring()
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
        while page := self._page(organization, after, values):
            yield from page
            after = page[-1].seq

    @repeated
    def _page(
        self, organization: str, after: int, values: bool, limit: int = PAGE
    ) -> list[AuditEntry]:
        return read_page(self.store, organization, after, values, limit)

    def _caller(self) -> tuple[None, None, None]:
        """A memory is nobody's; which organization a call is about, its arguments say."""
        return None, None, None

    @repeated
    def record(self, context: Context) -> Receipt:
        """Keep the receipt of a context, so that it can be replayed by its id.

        What was erased since the context was made is not kept.
        """
        receipt = context.receipt
        with self.store.write(receipt.organization) as transaction:
            receipts.keep(transaction, receipt, self.now())
        return receipt

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
        if self._advice is not None:
            self._advice.close()
        self.store.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
