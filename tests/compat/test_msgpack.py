"""MessagePack is read as plain data, whatever the bytes are."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incumbent.compat.exports.msgpack import unpacked
from incumbent.model.errors import InvalidInput
from tests.compat.packing import extended, packed
from tests.conftest import examples

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(max_examples=examples(200, soak=5_000))
@given(VALUES)
def test_what_is_written_is_read(value: Any) -> None:
    """Every kind of value comes back as it was."""
    assert unpacked(packed(value)) == value


@pytest.mark.skipif(find_spec("ormsgpack") is None, reason="ormsgpack is absent: make dropin")
@settings(max_examples=examples(200, soak=5_000))
@given(VALUES)
def test_what_langgraphs_own_writer_writes_is_read(value: Any) -> None:
    """In the short forms as well."""
    import ormsgpack  # type: ignore[import-not-found]

    try:
        written = ormsgpack.packb(value)
    except TypeError:
        return  # a lone surrogate, which it does not write
    assert unpacked(written) == value


@settings(max_examples=examples(300, soak=10_000))
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """Never another error, and nothing is built that they ask for."""
    try:
        unpacked(data)
    except InvalidInput:
        return


def test_of_an_object_only_what_it_is_made_from_is_read() -> None:
    """The class that the bytes name is not looked up."""
    assert unpacked(extended({"content": "hello"})) == {"content": "hello"}


def test_what_is_nested_too_deeply_is_refused() -> None:
    """Before the stack is full."""
    with pytest.raises(InvalidInput, match="nested too deeply"):
        unpacked(b"\x91" * 10_000 + b"\x01")
