"""Carrying organizations from one store to another, of any kinds, and proving it.

An organization arrives whole or not at all. The parts that a dump leaves out are not carried:
working sets, observed turns, receipts, usage, and the index, which is made anew.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any

from incumbent.model.errors import IncumbentError, NotPermitted, StoreError
from incumbent.stores.port import Store

Told = Callable[[str, int, int | None], None]
"""The callback for progress: the work, the amount done, and the total if it is known."""

_STEP = 500
_NOBODY = ""
"""The organization under which declarations are made. They hold for all organizations."""


class Fate(StrEnum):
    """The result of copying an organization."""

    COPIED = "copied"
    ALREADY_THERE = "already there"
    DIFFERS = "differs"


@dataclass(frozen=True)
class Copied:
    """One organization, and the result of copying it."""

    organization: str
    fate: Fate
    records: int
    """The number of its records in the source."""
    digest: str
    """The digest of these records. Equal digests mean equal records."""


class _Tally:
    """Counts and digests the records of a dump as they pass, without declarations."""

    def __init__(self, told: Callable[[int], None]) -> None:
        self._told = told
        self._digest = sha256()
        self.kinds: Counter[str] = Counter()

    def __call__(self, records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for record in records:
            if record["kind"] == "declaration":
                continue  # of the whole store, and carried before
            if self.count % _STEP == 0:
                self._told(self.count)
            self.kinds[record["kind"]] += 1
            self._digest.update(json.dumps(record, sort_keys=True).encode())
            self._digest.update(b"\n")
            yield record

    @property
    def count(self) -> int:
        return self.kinds.total()

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()


def copy_declarations(source: Store, target: Store) -> int:
    """Carry over the declarations; return the number of those that the target did not have.

    They hold for every organization of a store. A declaration that differs from one of the target
    is refused: it would change the meaning of other organizations there.
    """
    with source.read(_NOBODY) as reader:
        wanted = reader.declarations()
    with target.write(_NOBODY) as transaction:
        there = {declaration.pattern: declaration for declaration in transaction.declarations()}
        for declaration in wanted:
            other = there.get(declaration.pattern, declaration)
            if other != declaration:
                raise NotPermitted(
                    f"the key {declaration.pattern!r} is declared otherwise in the target, where "
                    f"it holds for every organization ({other} there, {declaration} here); "
                    f"declare it alike in both, then copy"
                )
        missing = [wish for wish in wanted if wish.pattern not in there]
        for declaration in missing:
            transaction.declare(declaration)
    return len(missing)


def copy_organization(source: Store, target: Store, organization: str, told: Told) -> Copied:
    """Carry over one organization, and read it back. One that is there already is compared."""
    if _is_there(target, organization):
        ours = _tallied(source, organization, told, "reading")
        theirs = _tallied(target, organization, told, "comparing")
        fate = Fate.ALREADY_THERE if ours.digest == theirs.digest else Fate.DIFFERS
        return Copied(organization, fate, ours.count, ours.digest)
    carried = _Tally(lambda count: told(f"copying {organization!r}", count, None))
    try:
        with target.write(organization) as transaction:
            transaction.restore(carried(source.dump(organization)))
    except IncumbentError as error:
        raise type(error)(f"organization {organization!r} was not copied: {error}") from error
    arrived = _tallied(target, organization, told, "verifying")
    if arrived.digest != carried.digest:
        raise StoreError(
            f"organization {organization!r} reads otherwise than what was copied "
            f"({_told_kinds(carried)} read, {_told_kinds(arrived)} there); somebody may have "
            f"written to it meanwhile. Copy it again into an empty store"
        )
    return Copied(organization, Fate.COPIED, carried.count, carried.digest)


def _is_there(target: Store, organization: str) -> bool:
    with target.read(organization) as reader:
        return reader.head()[0] > 0


def _tallied(store: Store, organization: str, told: Told, doing: str) -> _Tally:
    tally = _Tally(lambda count: told(f"{doing} {organization!r}", count, None))
    for _ in tally(store.dump(organization)):
        pass
    return tally


def _told_kinds(tally: _Tally) -> str:
    return ", ".join(f"{count:,} {kind}s" for kind, count in sorted(tally.kinds.items()))
