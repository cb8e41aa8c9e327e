"""The port every store implements.

A store fetches and commits. It never judges: the rules above it decide what supersedes what, who
may read what and what needs review, and hand it finished values. `incumbent.testing.contract` has a
test for every sentence of these modules. A backend runs all of it.

A Reader or Transaction is opened for one organization. It can neither see nor touch another.

Each module holds the part of the port that one kind of caller uses. Reader, Transaction and Store
are composed of the parts. A writer of a part reads it as well. A function that needs one part has
that part as the type of its parameter.
"""

from incumbent.stores.port.administration import DumpLoader, StoreAdministration
from incumbent.stores.port.declarations import DeclarationReader, DeclarationWriter
from incumbent.stores.port.erasure import ErasureReader, ErasureWriter
from incumbent.stores.port.facts import FactReader, Glance, Matter, Selection
from incumbent.stores.port.index import (
    Found,
    IndexEntry,
    IndexReader,
    IndexWriter,
    Placed,
    Shelf,
    Tenured,
    TenuredBefore,
    is_moved,
    term_of,
)
from incumbent.stores.port.keys import KeyStore
from incumbent.stores.port.listing import (
    Alike,
    FactCounts,
    FactFilter,
    ListingReader,
    Name,
    NameColumn,
    UserActivity,
)
from incumbent.stores.port.log import LogReader, LogWriter, TenureChange
from incumbent.stores.port.passages import PassageReader, PassageWriter
from incumbent.stores.port.receipts import (
    ReceiptReader,
    ReceiptWriter,
    StoredReceipt,
    UsageReader,
    UsageWriter,
)
from incumbent.stores.port.sessions import SessionReader, SessionWriter
from incumbent.stores.port.store import Reader, Store, Transaction

__all__ = [
    "Alike",
    "DeclarationReader",
    "DeclarationWriter",
    "DumpLoader",
    "ErasureReader",
    "ErasureWriter",
    "FactCounts",
    "FactFilter",
    "FactReader",
    "Found",
    "Glance",
    "IndexEntry",
    "IndexReader",
    "IndexWriter",
    "KeyStore",
    "ListingReader",
    "LogReader",
    "LogWriter",
    "Matter",
    "Name",
    "NameColumn",
    "PassageReader",
    "PassageWriter",
    "Placed",
    "Reader",
    "ReceiptReader",
    "ReceiptWriter",
    "Selection",
    "SessionReader",
    "SessionWriter",
    "Shelf",
    "Store",
    "StoreAdministration",
    "StoredReceipt",
    "TenureChange",
    "Tenured",
    "TenuredBefore",
    "Transaction",
    "UsageReader",
    "UsageWriter",
    "UserActivity",
    "is_moved",
    "term_of",
]
