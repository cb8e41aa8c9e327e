"""Recognising a turn that comes twice: a digest of its words that says as little as it can.

    <mark>$<digest>     a turn that goes by a ref: 128 bits, keyed with the mark
    <mark>$             one without, or one whose words were forgotten
    <four digits>       as earlier versions have it

The mark is random and belongs to one turn, so that two who say the same have nothing in common, and
no list of digests made ahead fits any of them. Whoever reads the database can still try out words
on a turn. Therefore only a turn that can come twice has a digest at all, and an erasure takes it
away from every turn of those who stated, or owned, what is erased: such a turn is known by its ref
alone from then on.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

_MARK_BYTES = 8
_DIGEST_BYTES = 16
_END = "$"
_SHORT = 4


def digest_of(speaker: str, text: str, ref: str | None) -> str:
    """What is kept of a turn's words. Different each time."""
    mark = secrets.token_hex(_MARK_BYTES)
    return f"{mark}{_END}" if ref is None else f"{mark}{_END}{_keyed(mark, speaker, text)}"


def mark_of(digest: str) -> str:
    """What tells a turn from every other, and nothing of what it said."""
    return digest.partition(_END)[0]


def may_say(digest: str, speaker: str, text: str) -> bool:
    """Whether a turn with this digest said these words, as far as it still tells."""
    mark, end, kept = digest.partition(_END)
    if end or not digest:
        return not kept or hmac.compare_digest(kept, _keyed(mark, speaker, text))
    return digest == hashlib.sha256(_said(speaker, text)).hexdigest()[:_SHORT]


def _keyed(mark: str, speaker: str, text: str) -> str:
    made = hashlib.blake2b(_said(speaker, text), key=mark.encode(), digest_size=_DIGEST_BYTES)
    return made.hexdigest()


def _said(speaker: str, text: str) -> bytes:
    return f"{speaker}\n{text}".encode()
