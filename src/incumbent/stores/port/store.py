"""The three protocols of a store, composed of their parts."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from incumbent.model.records import Erasure
from incumbent.model.scope import Place
from incumbent.stores.port.administration import DumpLoader, StoreAdministration
from incumbent.stores.port.declarations import DeclarationReader, DeclarationWriter
from incumbent.stores.port.erasure import ErasureReader, ErasureWriter
from incumbent.stores.port.facts import FactReader, Glance
from incumbent.stores.port.index import IndexReader, IndexWriter
from incumbent.stores.port.keys import KeyStore
from incumbent.stores.port.listing import ListingReader
from incumbent.stores.port.log import LogReader, LogWriter
from incumbent.stores.port.passages import PassageReader, PassageWriter
from incumbent.stores.port.receipts import ReceiptReader, ReceiptWriter, UsageReader, UsageWriter
from incumbent.stores.port.sessions import SessionReader, SessionWriter


class Reader(
    FactReader,
    LogReader,
    DeclarationReader,
    IndexReader,
    SessionReader,
    PassageReader,
    ReceiptReader,
    UsageReader,
    ErasureReader,
    ListingReader,
    Protocol,
):
    """A consistent view of one organization: every call sees the same committed state."""

    @property
    def organization(self) -> str: ...


class Transaction(
    Reader,
    LogWriter,
    DeclarationWriter,
    IndexWriter,
    SessionWriter,
    PassageWriter,
    ReceiptWriter,
    UsageWriter,
    ErasureWriter,
    DumpLoader,
    Protocol,
):
    """One unit of writing. Reads see what it has written; others see it on commit, whole.

    Transactions of one organization serialise. Leaving the context commits; an exception rolls
    all back.
    """

    def taken_back(self) -> AbstractContextManager[None]:
        """Take back what is written inside, and only that: reads see again what they saw before.

        An exception takes nothing back by itself, and has to leave the whole transaction.
        """
        ...


class Store(KeyStore, StoreAdministration, Protocol):
    """Opens readers and transactions. Safe to share between threads."""

    def read(self, organization: str, user_id: str | None = None) -> AbstractContextManager[Reader]:
        """A consistent view of one organization, for one person if one is named.

        Callers never ask such a view for facts that belong to another person alone. A store that
        can keep them out does so even then, as a second fence.
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

        Ordinary means: single-valued, started when it was recorded, with no end and no condition on
        its readers. In every other case None, and the caller takes the long way. One round trip, as
        committed now by any process.
        """
        ...

    def erasures(self, organization: str) -> list[Erasure]:
        """The proofs of erasures, oldest first."""
        ...
