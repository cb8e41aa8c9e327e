"""Settings: everything that can be tuned, with its default, in one place."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from tenure.model.authority import Ladder
from tenure.model.errors import InvalidInput


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What can be tuned. Pass to `tenure.open(where, settings=Settings(...))`."""

    ladder: Ladder = field(default_factory=Ladder)
    """The order of authority and the titles mapped onto it."""
    max_key_length: int = 256
    """Longest key, in characters."""
    max_value_bytes: int = 1_000_000
    """Largest value, as JSON text in UTF-8."""
    contest_below: float = 0.6
    """A conflicting candidate with less confidence than this is contested, not believed."""
    working_set_ttl: timedelta | None = timedelta(days=1)
    """How long a working-set item lives when its note says nothing else."""
    fact_share: float = 0.7
    """Share of the remaining token budget that facts may take in a context."""
    tokenizer: str = "o200k_base"
    """Which tokenizer counts: any encoding the `splintr` package carries, such as cl100k_base."""
    timezone: str = "UTC"
    """IANA name of the zone in which current_date is told."""
    durability: Literal["full", "process"] = "full"
    """"full" survives a power cut (a sync per commit); "process" survives a killed process."""
    busy_timeout: float = 60.0
    """Seconds a writer waits for other writers before StoreBusy."""

    def __post_init__(self) -> None:
        if not 0 <= self.fact_share <= 1:
            raise InvalidInput(f"fact_share must be between 0 and 1, not {self.fact_share!r}")
        if not 0 <= self.contest_below <= 1:
            raise InvalidInput(f"contest_below must be between 0 and 1, not {self.contest_below!r}")
        for name in ("max_key_length", "max_value_bytes", "busy_timeout"):
            if getattr(self, name) <= 0:
                raise InvalidInput(f"{name} must be positive, not {getattr(self, name)!r}")
        if self.durability not in ("full", "process"):
            raise InvalidInput(f'durability is "full" or "process", not {self.durability!r}')
