"""The form of an export: a header, the records of an organization, and a trailer that seals them.

The trailer is the last line. It has the number of records before it, and a digest of these and the
header, so that an export that lost its end, or anything else, is not taken for a whole one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

from incumbent.model.errors import InvalidInput
from incumbent.model.fact import UNNAMED

EXPORT_FORMAT = "incumbent-export"
_FORMER_FORMAT = "tenure-export"  # of exports that were made under the former name
EXPORT_VERSION = 4
UNSEALED_VERSION = 1
"""Exports of this version have no trailer."""
_NAMED_VERSION = 2
"""Up to this version, `_FORMER_KEY` stands for the name of what was kept as it was said."""
_FORMER_KEY = "statement"
_TRAILER = "trailer"


class _Seal:
    """Counts and digests the records that pass."""

    def __init__(self) -> None:
        self._digest = sha256()
        self._count = -1  # the header is none of the records

    def add(self, record: Any) -> None:
        try:
            text = json.dumps(record, sort_keys=True, separators=(",", ":"))
        except RecursionError:
            raise InvalidInput("a record is nested too deeply") from None
        self._digest.update(text.encode("ascii") + b"\n")
        self._count += 1

    def trailer(self) -> dict[str, Any]:
        return {"kind": _TRAILER, "records": self._count, "digest": self._digest.hexdigest()}


def header_of(organization: str) -> dict[str, Any]:
    """The first line of an export."""
    return {
        "kind": "header",
        "format": EXPORT_FORMAT,
        "version": EXPORT_VERSION,
        "organization": organization,
    }


def sealed(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A header and its records, and then the trailer."""
    seal = _Seal()
    for record in records:
        seal.add(record)
        yield record
    yield seal.trailer()


def checked_header(header: Any, *, allow_unsealed: bool) -> dict[str, Any]:
    """The header of an export that this Incumbent reads; anything else is refused."""
    if not isinstance(header, dict) or header.get("format") not in (
        EXPORT_FORMAT,
        _FORMER_FORMAT,
    ):
        raise InvalidInput("this is not an Incumbent export: its first line is not a header")
    version = header.get("version")
    if version not in range(UNSEALED_VERSION, EXPORT_VERSION + 1):
        raise InvalidInput(
            f"the export has version {version!r}, this Incumbent reads {UNSEALED_VERSION} to "
            f"{EXPORT_VERSION}; upgrade with: pip install --upgrade incumbent"
        )
    if version == UNSEALED_VERSION and not allow_unsealed:
        raise InvalidInput(
            f"the export has version {UNSEALED_VERSION}, which does not tell whether its end is "
            f"missing; export it again with this Incumbent, or if you know that it is whole, "
            f"import "
            f"it with allow_unsealed=True (--allow-unsealed)"
        )
    return header


def unsealed(header: dict[str, Any], rest: Iterable[Any]) -> Iterator[Any]:
    """The records between a header and its trailer, in the form of today; refused at the end if the
    trailer does not match."""
    records = _checked(header, rest)
    return map(_unnamed, records) if header["version"] <= _NAMED_VERSION else records


def _unnamed(record: Any) -> Any:
    """A record of an earlier version without the word that stood for no name."""
    if isinstance(record, dict) and record.get("key") == _FORMER_KEY:
        source = record.get("source")
        if isinstance(source, dict) and source.get("turn_index") is not None:
            return {**record, "key": UNNAMED}
    return record


def _checked(header: dict[str, Any], rest: Iterable[Any]) -> Iterator[Any]:
    if header["version"] == UNSEALED_VERSION:
        yield from rest
        return
    seal, trailer = _Seal(), None
    seal.add(header)
    for record in rest:
        if trailer is not None:
            raise InvalidInput("something follows its last line; import one export at a time")
        if isinstance(record, dict) and record.get("kind") == _TRAILER:
            trailer = record
        else:
            seal.add(record)
            yield record
    expected = seal.trailer()
    if trailer is None:
        raise InvalidInput(
            f"its end is missing after {expected['records']:,} records; take it from where it was "
            f"exported once more"
        )
    if trailer != expected:
        raise InvalidInput(
            f"its last line is for {trailer.get('records')!r:.40} records with another digest than "
            f"the {expected['records']:,} before it; take it from where it was exported once more"
        )
