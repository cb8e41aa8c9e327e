"""For people who test with Incumbent, or write a store for it.

`SteppingClock` is a clock that tests can move. `StoreContract` is the suite that every store has
to pass; it needs pytest, which is loaded only when it is asked for.
"""

from typing import TYPE_CHECKING, Any

from incumbent.testing.clock import SteppingClock

if TYPE_CHECKING:
    from incumbent.testing.contract import StoreContract

__all__ = ["SteppingClock", "StoreContract"]


def __getattr__(name: str) -> Any:
    if name != "StoreContract":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    import pytest

    # So that a failing assertion of the contract shows its values, as one of a test file would.
    pytest.register_assert_rewrite("incumbent.testing.contract")
    return import_module("incumbent.testing.contract").StoreContract
