"""The contract of a store as a test suite: a test for every sentence of `incumbent.stores.port`.

A backend's whole test file:

    from incumbent.testing import StoreContract

    class TestMyStore(StoreContract):
        def make_store(self, tmp_path):
            return MyStore(tmp_path / "facts")

`make_store` gets a fresh folder and returns an empty, open store; the suite closes it. A backend
that lives elsewhere hands out an empty database, schema or prefix each time. Run it with pytest.
"""

from incumbent.testing.contract.batching import BatchingContract
from incumbent.testing.contract.erasing import ErasingContract
from incumbent.testing.contract.fetching import FetchingContract
from incumbent.testing.contract.following import FollowingContract
from incumbent.testing.contract.glancing import GlancingContract
from incumbent.testing.contract.indexing import IndexingContract
from incumbent.testing.contract.keys import KeysContract
from incumbent.testing.contract.links import LinksContract
from incumbent.testing.contract.listing import ListingContract
from incumbent.testing.contract.listing_facts import FactListingContract
from incumbent.testing.contract.logging import LogContract
from incumbent.testing.contract.moving import MovingContract
from incumbent.testing.contract.observing import ObservingContract
from incumbent.testing.contract.passages import PassagesContract
from incumbent.testing.contract.reading import ReadingContract
from incumbent.testing.contract.receipts import ReceiptsContract
from incumbent.testing.contract.sharing import SharingContract
from incumbent.testing.contract.shelving import ShelvingContract
from incumbent.testing.contract.tenures import TenuresContract
from incumbent.testing.contract.usage import UsageContract
from incumbent.testing.contract.writing import WritingContract


class StoreContract(
    ReadingContract,
    LinksContract,
    FetchingContract,
    LogContract,
    ListingContract,
    FactListingContract,
    GlancingContract,
    WritingContract,
    BatchingContract,
    ShelvingContract,
    IndexingContract,
    FollowingContract,
    TenuresContract,
    ReceiptsContract,
    ObservingContract,
    PassagesContract,
    UsageContract,
    KeysContract,
    ErasingContract,
    MovingContract,
    SharingContract,
):
    """Everything a store promises. Subclass it and override `make_store`."""


__all__ = ["StoreContract"]
