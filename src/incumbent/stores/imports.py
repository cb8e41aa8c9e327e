"""The records of an export, checked while a store takes them in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from incumbent.model.errors import InvalidInput
from incumbent.model.records import Declaration
from incumbent.model.times import LAST_YEAR
from incumbent.model.values import canonical

_NO_LIMIT = 1 << 62
_NUMBERS = frozenset({"seq", "since", "until"})
_GREATEST = (1 << 63) - 1
"""Greater numbers no database can hold."""


class CheckedRecords:
    """Goes through the records of an export and refuses those that a store cannot hold."""

    def __init__(self, records: Iterable[Any], declared: Iterable[Declaration]) -> None:
        self._records = records
        self._declared = {declaration.pattern for declaration in declared}
        self._facts: set[str] = set()
        self._verdicts: set[object] = set()
        self._named: set[str] = set()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for record in self._records:
            if not isinstance(record, dict):
                raise InvalidInput(f"{record!r:.80} is no record")
            for item in record.values():
                canonical(item, limit=_NO_LIMIT)
            kind = record.get("kind")
            if kind == "declaration" and record["pattern"] in self._declared:
                continue  # declarations hold for every organization; an import changes none
            for name in _NUMBERS.intersection(record):
                if type(record[name]) is not int or not 0 <= record[name] <= _GREATEST:
                    raise InvalidInput(f"{name} is {record[name]!r:.40}, no entry of a log")
            if kind == "fact":
                _add(self._facts, record["id"])
                self._named.update(record["depends_on"], record["predecessors"])
                self._named.update((record["review"] or {}).get("doubts", ()))
                self._named.update(filter(None, (record["superseded_by"], record["awaits"])))
            elif kind == "verdict":
                _add(self._verdicts, record["id"])
                _add(self._verdicts, record["seq"])
                if record["recorded_at"] > f"{LAST_YEAR + 1}":
                    raise InvalidInput(f"recorded_at is {record['recorded_at']!r:.40}, too late")
                self._named.add(record["fact_id"])
            yield record

    def check_complete(self) -> None:
        missing = sorted(self._named - self._facts)
        if missing:
            raise InvalidInput(f"{len(missing)} facts are missing, for example {missing[0]!r}")


def _add(known: set[Any], name: Any) -> None:
    """Refuse a repetition where it stands: what is wrong is not read to its end."""
    if name in known:
        raise InvalidInput(f"{name!r:.80} comes twice")
    known.add(name)
