"""MessagePack written out plainly, to make files that are read in tests."""

from __future__ import annotations

import struct
from typing import Any


def packed(value: Any) -> bytes:
    """The bytes of a value, each size in its widest form."""
    if value is None or isinstance(value, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, int):
        return b"\xd3" + struct.pack(">q", value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        text = value.encode("utf-8", "surrogatepass")
        return b"\xdb" + struct.pack(">I", len(text)) + text
    if isinstance(value, bytes):
        return b"\xc6" + struct.pack(">I", len(value)) + value
    if isinstance(value, list):
        return b"\xdd" + struct.pack(">I", len(value)) + b"".join(map(packed, value))
    pairs = b"".join(packed(name) + packed(one) for name, one in value.items())
    return b"\xdf" + struct.pack(">I", len(value)) + pairs


def extended(value: Any, kind: int = 5) -> bytes:
    """An object as LangGraph writes one: a class, and what it is made from."""
    inner = packed(["some.module", "Class", value, "method"])
    return b"\xc9" + struct.pack(">I", len(inner)) + bytes([kind]) + inner
