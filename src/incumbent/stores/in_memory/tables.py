"""The tables of one organization in the in-memory store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from incumbent.model.fact import Fact, Status
from incumbent.model.keys import ApiKey
from incumbent.model.records import Declaration, Erasure
from incumbent.model.verdict import Verdict
from incumbent.stores.in_memory.index import IndexTables
from incumbent.stores.in_memory.passages import PassageTables
from incumbent.stores.in_memory.sessions import SessionTables


class FactRow(NamedTuple):
    """A fact with the log entries at which it was born and at which its tenure last changed."""

    fact: Fact
    born: int
    since: int
    live: bool


class EarlierTenure(NamedTuple):
    """An earlier tenure of a fact, known from entry `since` up to, not including, `until`."""

    fact: Fact
    since: int
    until: int


@dataclass
class Declared:
    """The declarations of a store; replaced as a whole when one changes."""

    all: tuple[Declaration, ...] = ()


_APART = (Status.RETRACTED, Status.CONTESTED, Status.WAITING)


@dataclass
class Tables:
    """The data of one organization, with the indexes that keep look-ups short."""

    rows: dict[str, FactRow] = field(default_factory=dict)
    by_key: dict[str, tuple[str, ...]] = field(default_factory=dict)
    live: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    apart: dict[Status, dict[str, None]] = field(
        default_factory=lambda: {status: {} for status in _APART}
    )
    """The facts with a status that is asked for by itself."""
    tenures: dict[str, tuple[EarlierTenure, ...]] = field(default_factory=dict)
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    verdict_seq: dict[str, int] = field(default_factory=dict)
    on_fact: dict[str, tuple[int, ...]] = field(default_factory=dict)
    derived: dict[str, tuple[str, ...]] = field(default_factory=dict)
    doubting: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """For each fact, those that put it in doubt, whatever their status."""
    standing: dict[str, dict[str, None]] = field(default_factory=dict)
    """For each fact, those that stand on it or once did."""
    naming: dict[str, tuple[str, ...]] = field(default_factory=dict)
    contingent: dict[str, None] = field(default_factory=dict)
    sessions: SessionTables = field(default_factory=SessionTables)
    passages: PassageTables = field(default_factory=PassageTables)
    erasures: dict[str, Erasure] = field(default_factory=dict)
    index: IndexTables = field(default_factory=IndexTables)
    keys: dict[str, ApiKey] = field(default_factory=dict)
