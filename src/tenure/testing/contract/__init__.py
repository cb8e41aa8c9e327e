"""The contract of a store as a test suite: a test for every sentence of `tenure.stores.port`.

A backend's whole test file:

    from tenure.testing import StoreContract

    class TestMyStore(StoreContract):
        def make_store(self, tmp_path):
            return MyStore(tmp_path / "facts")

`make_store` gets a fresh folder and returns an empty, open store; the suite closes it. A backend
that lives elsewhere hands out an empty database, schema or prefix each time. Run it with pytest.
"""

from tenure.testing.contract.batching import BatchingContract
from tenure.testing.contract.erasing import ErasingContract
from tenure.testing.contract.fetching import FetchingContract
from tenure.testing.contract.following import FollowingContract
from tenure.testing.contract.glancing import GlancingContract
from tenure.testing.contract.indexing import IndexingContract
from tenure.testing.contract.keys import KeysContract
from tenure.testing.contract.links import LinksContract
from tenure.testing.contract.listing import ListingContract
from tenure.testing.contract.listing_facts import FactListingContract
from tenure.testing.contract.logging import LogContract
from tenure.testing.contract.moving import MovingContract
from tenure.testing.contract.observing import ObservingContract
from tenure.testing.contract.reading import ReadingContract
from tenure.testing.contract.receipts import ReceiptsContract
from tenure.testing.contract.sharing import SharingContract
from tenure.testing.contract.shelving import ShelvingContract
from tenure.testing.contract.tenures import TenuresContract
from tenure.testing.contract.usage import UsageContract
from tenure.testing.contract.writing import WritingContract


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
    UsageContract,
    KeysContract,
    ErasingContract,
    MovingContract,
    SharingContract,
):
    """Everything a store promises. Subclass it and override `make_store`."""


__all__ = ["StoreContract"]
