"""Time-ordered identifiers (UUID version 7), so that what is written together lies together."""

from __future__ import annotations

import os
from datetime import datetime

from tenure.model.times import to_micros


def new_id(now: datetime) -> str:
    """A fresh UUIDv7 whose leading bits are `now`, down to the microsecond."""
    millis, micros = divmod(to_micros(now), 1000)
    random = int.from_bytes(os.urandom(9), "big")
    # The 12 bits after the version hold the fraction of the millisecond (10 bits) and noise.
    fraction = (micros << 2) | (random >> 70)
    number = (
        ((millis & 0xFFFFFFFFFFFF) << 80)
        | (0x7 << 76)
        | (fraction << 64)
        | (0b10 << 62)
        | (random & 0x3FFFFFFFFFFFFFFF)
    )
    text = f"{number:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
