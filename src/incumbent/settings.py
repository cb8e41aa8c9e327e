"""Settings: everything that can be tuned, with its default, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from incumbent.model.authority import Ladder
from incumbent.model.errors import InvalidInput
from incumbent.model.modes import Mode, check_mode
from incumbent.reading.asked.config import LLM, as_llms
from incumbent.search.embedders import NAMES, Embedder
from incumbent.telemetry.port import Telemetry

if TYPE_CHECKING:
    from incumbent.reading.form import TurnReader

READERS = ("default", "small", "rules")
"""The readers that ship, by name."""
# An hour. Without a limit, one provider that hangs could hold up a context for ever.
_LONGEST_TIMEOUT = 3600


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that can be tuned. Pass it to `incumbent.open(where, settings=Settings(...))`."""

    ladder: Ladder = field(default_factory=Ladder)
    """The order of authority and the titles mapped onto it."""
    speaking_authority: str | None = None
    """The lowest rung on which people may speak for the organization: write facts that all its
    members read. None is the middle of the ladder, "manager" on the one that ships. Below it, the
    permission "organization:write" is needed."""
    binding_authority: str | None = None
    """The lowest rung on which people may bind others: state constraints of the organization. None
    is the middle of the ladder. Below it, the permission "organization:bind" is needed."""
    max_key_length: int = 256
    """Longest key, in characters."""
    max_value_bytes: int = 1_000_000
    """Largest value, as JSON text in UTF-8."""
    max_turn_bytes: int = 100_000
    """Longest turn that `observe` takes, in UTF-8."""
    contest_below: float = 0.55
    """A conflicting candidate with less confidence than this is contested, not believed."""
    retire_from: float = 0.83
    """What a turn puts out of date goes where that is at least so likely."""
    doubt_from: float = 0.35
    """From here on it is put in doubt; 1 puts nothing in doubt."""
    mode: Mode = "both"
    """What the proxy and the adapters do: "both", "observe" (add nothing to what is sent), or "add"
    (observe nothing)."""
    ask_before_keeping: bool = False
    """Whether what a turn says waits in `reviews` until the person approves it."""
    working_set_ttl: timedelta | None = timedelta(days=1)
    """The lifetime of a working-set item whose note gives none."""
    recent_turns: int = 6
    """The number of last observed turns that a context shows; facts hold their content."""
    fact_share: float = 0.7
    """Share of the remaining token budget that facts may take in a context."""
    passages: float = 0.3
    """Share of the token budget for what was said before, in its words; 0 keeps none of it."""
    tokenizer: str = "o200k_base"
    """The tokenizer that counts: any encoding of the `splintr` package, such as cl100k_base."""
    embedder: str | Embedder | None = "minilm"
    """The embedder: "minilm", "static" (faster, weaker), an Embedder, or None."""
    reader: str | TurnReader = "default"
    """The reader of turns: "default" (rules, the model that ships and, where its package is
    installed, a larger one), "small" (without that), "rules", or a TurnReader."""
    llm: str | LLM | Mapping[str, str | LLM] | None = None
    """A model of yours that reads turns again: "provider:name", or an LLM; or one for each
    organization, with "*" for the others."""
    indexing: bool = True
    """Whether writes keep the index that contexts search; without it each context reads all."""
    record_contexts: bool = False
    """Whether every context leaves a receipt in the store."""
    timezone: str = "UTC"
    """IANA name of the zone for current_date."""
    provider_timeout: float = 2.0
    """Seconds a reading of the environment waits for its providers, all of them together."""
    max_signal_bytes: int = 64_000
    """Largest signal of a provider, as JSON text in UTF-8."""
    durability: Literal["full", "process"] = "full"
    """"full" survives a power cut (a sync per commit); "process" survives a killed process."""
    busy_timeout: float = 60.0
    """Seconds a writer waits for other writers before StoreBusy."""
    statement_timeout: float = 60.0
    """Seconds a PostgreSQL server may take for one statement before StoreBusy."""
    pool_size: int = 10
    """The most connections to a PostgreSQL server that one memory uses."""
    read_url: str | None = None
    """The address of a replica of a PostgreSQL server, to read from."""
    telemetry: Telemetry | None = None
    """The receiver of telemetry on every call, verdict and context; None for no telemetry."""

    def __post_init__(self) -> None:
        if not 0 <= self.fact_share <= 1:
            raise InvalidInput(f"fact_share must be between 0 and 1, not {self.fact_share!r}")
        if not 0 <= self.passages <= 1:
            raise InvalidInput(f"passages must be between 0 and 1, not {self.passages!r}")
        if not 0 <= self.contest_below <= 1:
            raise InvalidInput(f"contest_below must be between 0 and 1, not {self.contest_below!r}")
        if not 0 < self.doubt_from <= 1 or not 0 < self.retire_from <= 1:
            raise InvalidInput(
                f"retire_from and doubt_from must be more than 0 and at most 1, not "
                f"{self.retire_from!r} and {self.doubt_from!r}"
            )
        if not 0 < self.provider_timeout <= _LONGEST_TIMEOUT:
            raise InvalidInput(
                f"provider_timeout must be more than 0 and at most {_LONGEST_TIMEOUT} seconds, "
                f"not {self.provider_timeout!r}"
            )
        for name in (
            "max_key_length",
            "max_value_bytes",
            "max_turn_bytes",
            "max_signal_bytes",
            "busy_timeout",
            "statement_timeout",
            "pool_size",
        ):
            if getattr(self, name) <= 0:
                raise InvalidInput(f"{name} must be positive, not {getattr(self, name)!r}")
        check_mode(self.mode)
        if not isinstance(self.ask_before_keeping, bool):
            raise InvalidInput(
                f"ask_before_keeping is True or False, not {self.ask_before_keeping!r:.80}"
            )
        self._check_rungs()
        as_llms(self.llm)  # refuses what is none
        self._check_embedder()
        self._check_reader()
        if not isinstance(self.telemetry, Telemetry | None):
            raise InvalidInput(
                f"telemetry {self.telemetry!r:.80} is no Telemetry; give an instance of a class "
                f"derived from incumbent.telemetry.Telemetry, or None"
            )
        if self.durability not in ("full", "process"):
            raise InvalidInput(f'durability is "full" or "process", not {self.durability!r}')

    @property
    def speaking_rung(self) -> str:
        """The rung of `speaking_authority`."""
        return self._rung(self.speaking_authority)

    @property
    def binding_rung(self) -> str:
        """The rung of `binding_authority`."""
        return self._rung(self.binding_authority)

    def _rung(self, title: str | None) -> str:
        known = self.ladder.known(title) if title is not None else None
        return known.rung if known is not None else self.ladder.middle

    def _check_rungs(self) -> None:
        for name in ("speaking_authority", "binding_authority"):
            given = getattr(self, name)
            if given is not None and (
                not isinstance(given, str) or self.ladder.known(given) is None
            ):
                raise InvalidInput(
                    f"{name} {given!r:.80} is no rung of the ladder and no title; name one of "
                    f"{', '.join(self.ladder.rungs)}, or None for {self.ladder.middle!r}"
                )

    def _check_reader(self) -> None:
        given = self.reader
        if isinstance(given, str):
            if given not in READERS:
                raise InvalidInput(
                    f"reader {given!r} is not one of {', '.join(READERS)}; "
                    f"name one of those, or give a TurnReader of your own"
                )
        elif not all(hasattr(given, part) for part in ("name", "read")):
            raise InvalidInput(f"reader {given!r:.80} is no TurnReader: it needs a name and read()")

    def _check_embedder(self) -> None:
        given = self.embedder
        if isinstance(given, str):
            if given not in NAMES:
                raise InvalidInput(
                    f"embedder {given!r} is not one of {', '.join(NAMES)}; "
                    f"name one of those, or give an Embedder of your own"
                )
        elif given is not None and not all(
            hasattr(given, part) for part in ("name", "dimensions", "embed")
        ):
            raise InvalidInput(
                f"embedder {given!r:.80} is no Embedder: it needs a name, dimensions and embed()"
            )
