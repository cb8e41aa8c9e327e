"""Time-ordered identifiers (UUID version 7): facts that are written together lie together."""

from __future__ import annotations

import hashlib
import os
from datetime import datetime

from tenure.model.times import to_micros


def new_id(now: datetime) -> str:
    """A fresh UUIDv7 whose leading bits are `now`, down to the microsecond."""
    millis, micros = divmod(to_micros(now), 1000)
    time = f"{millis & 0xFFFFFFFFFFFF:012x}"
    noise = os.urandom(9).hex()
    # After the version come the fraction of the millisecond (10 bits) and 2 bits of noise; after
    # the variant, 62 bits of noise.
    fraction = (micros << 2) | (int(noise[0], 16) >> 2)
    variant = "89ab"[int(noise[1], 16) >> 2]
    return f"{time[:8]}-{time[8:]}-7{fraction:03x}-{variant}{noise[2:5]}-{noise[5:17]}"


def first_id(moment: datetime) -> str:
    """A text that sorts before every fresh UUIDv7 of that moment, and after those of earlier
    ones."""
    millis, micros = divmod(to_micros(moment), 1000)
    time = f"{millis & 0xFFFFFFFFFFFF:012x}"
    return f"{time[:8]}-{time[8:]}-7{micros << 2:03x}"


ALIAS = "\u241f"  # the symbol for a separator of units


def alias(fact_id: str, user_id: str) -> str:
    """The id under which a fact is kept if its id is taken by another fact that the writer may not
    see."""
    told = hashlib.sha256(f"{user_id}\n{fact_id}".encode()).hexdigest()[:16]
    return f"{fact_id}{ALIAS}{told}"
