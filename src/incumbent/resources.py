"""The resources that a memory and its sessions share."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property, partial
from time import monotonic
from typing import TYPE_CHECKING

from incumbent.audit.bells import Bells
from incumbent.audit.entries import PAGE, AuditEntry, read_page
from incumbent.clock import Clock
from incumbent.composing import receipts
from incumbent.composing.kept_contexts import KeptContexts
from incumbent.context.document import Context
from incumbent.context.reach import measured
from incumbent.context.receipt import Receipt
from incumbent.context.tokens import counter
from incumbent.engine.erasure import forget
from incumbent.engine.retries import repeated
from incumbent.environment import Providers
from incumbent.model.errors import InvalidInput
from incumbent.model.identity import check_name
from incumbent.model.records import Erasure
from incumbent.model.text_cache import forget_texts
from incumbent.model.times import LAST_YEAR, moment
from incumbent.reading.asked.config import EVERYBODY, LLM, as_llms
from incumbent.search.embedders import load
from incumbent.search.index import Index, Progress
from incumbent.settings import Settings
from incumbent.stores.port import Store, Transaction
from incumbent.telemetry.port import SafeTelemetry
from incumbent.telemetry.watched_store import watched

if TYPE_CHECKING:
    from incumbent.reading.form import TurnReader
    from incumbent.turns.rereading.rereader import Rereader


class Resources:
    """The store, settings and clock of a memory, and the parts that are made from them.

    Safe to share between threads.
    """

    def __init__(self, store: Store, clock: Clock, settings: Settings) -> None:
        telemetry = settings.telemetry
        self._telemetry = SafeTelemetry(telemetry) if telemetry is not None else None
        self.store = watched(store, self._telemetry) if self._telemetry is not None else store
        self.settings = settings
        self.environment = Providers(
            settings.timezone, settings.max_signal_bytes, settings.provider_timeout
        )
        self.bells = Bells()
        """Rung after every commit."""
        self.progress: Progress | None = None
        """The callback for long work, such as making an index anew: the work, the amount done, the
        total."""
        self.contexts = KeptContexts()
        """The contexts that were made lately."""
        self._clock = clock
        self._rereaders: dict[int, Rereader] = {}
        self._by_organization = {
            name: self.rereading(llm) for name, llm in as_llms(settings.llm).items()
        }

    @property
    def telemetry(self) -> SafeTelemetry | None:
        """The receiver of every call's telemetry; None if there is none."""
        return self._telemetry

    @cached_property
    def index(self) -> Index:
        """The index that contexts search. Made on first use: it loads an embedder and a
        tokenizer."""
        from incumbent.language.values.forms import forms

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
    def reader(self) -> TurnReader:
        """The reader of turns."""
        chosen = self.settings.reader
        if not isinstance(chosen, str):
            return chosen
        from incumbent.reading.readers import named_reader

        return named_reader(chosen)

    def rereader_of(self, organization: str) -> Rereader | None:
        """What asks the model of an organization; None if it has none."""
        found = self._by_organization
        return found.get(organization) or found.get(EVERYBODY)

    def rereading(self, llm: LLM) -> Rereader:
        """What asks a model, the same for the same model. Without any, nothing of it is loaded."""
        from incumbent.turns.rereading.rereader import Rereader

        name = id(llm if isinstance(llm.model, str) else llm.model)
        if name not in self._rereaders:
            self._rereaders[name] = Rereader(llm, self.store, self.now, self._telemetry)
        return self._rereaders[name]

    def flush(self, timeout: float | None) -> bool:
        """Wait for the readings under way; False if they take longer."""
        ends = None if timeout is None else monotonic() + timeout
        for rereader in [*self._rereaders.values()]:
            if not rereader.flush(None if ends is None else max(0.0, ends - monotonic())):
                return False
        return True

    def _tell(self, what: str, done: int, total: int | None) -> None:
        if self.progress is not None:
            self.progress(what, done, total)

    def now(self) -> datetime:
        """The present, as the clock has it, in UTC."""
        now = moment(self._clock(), "the clock's time")
        if now.year > LAST_YEAR:
            raise InvalidInput(
                f"the clock says {now.isoformat()}, and nothing is recorded after {LAST_YEAR}; set "
                f"the clock of this machine, or the one that is given as clock="
            )
        return now

    def reindex(self, organization: str) -> int:
        """Make the index of an organization anew; return the number of its facts."""
        from incumbent.search.passages import repost

        repost(self.index, self.store, check_name(organization, "organization"))
        return self.index.rebuild(self.store, organization)

    def record(self, context: Context) -> Receipt:
        """Keep the receipt of a context, without content that was erased since."""
        receipt = context.receipt
        with self.store.write(receipt.organization) as transaction:
            receipts.keep(transaction, receipt, self.now())
        return receipt

    def erase(self, transaction: Transaction, **conditions: str | None) -> Erasure:
        """Erase as part of a transaction. Once that is committed, call `scrub()`."""
        redact = partial(receipts.redact, transaction)
        return forget(transaction, self.now(), redact=redact, **conditions)

    def scrub(self) -> bool:
        """Remove the traces of a committed erasure from this process and, if possible, from the
        medium; return whether the medium is clean."""
        forget_texts()
        return self.store.scrub()

    @repeated
    def log_page(
        self, organization: str, after: int, values: bool, limit: int = PAGE
    ) -> list[AuditEntry]:
        """The next entries of an organization's log of decisions."""
        return read_page(self.store, organization, after, values, limit)

    def close(self) -> None:
        """Release the store, once the readings under way had their time."""
        for rereader in self._rereaders.values():
            rereader.close()
        self.store.close()
