"""What a value in a text is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ValueKind(StrEnum):
    """What a value tells: a day, an amount, a name. Where two readings are as long, the one that
    stands first here wins, since it tells more."""

    QUOTED = "quoted"
    EMAIL = "email"
    URL = "url"
    ADDRESS = "address"
    DATE = "date"
    TIME = "time"
    PHONE = "phone"
    DURATION = "duration"
    MONEY = "money"
    PERCENT = "percent"
    QUANTITY = "quantity"
    CODE = "code"
    NAME = "name"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Value:
    """A value as it is written, where it stands, and what it means whatever way it is written."""

    kind: ValueKind
    text: str
    start: int
    end: int
    normal: str
    """One spelling for all: "2026-03-02", "17:30", "05:30|17:30" for half past five of either half
    of the day, "P3D", "USD 5200/month", "15%", "20 mg", "4"; both ends of a range with ".." between
    them; for words, the words in lower case."""
    unit: str = ""
    """For a number, the noun it counts, in the singular, where one follows."""
