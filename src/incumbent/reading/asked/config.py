"""LLM: which model reads turns, in which mode, and what it may cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from incumbent.model.errors import InvalidInput
from incumbent.model.identity import check_name

_LONGEST = 3600.0
"""Seconds. A model that takes longer than an hour reads no conversation."""
_OUTPUTS = ("auto", "schema", "tool", "prompt")
EVERYBODY = "*"
"""Stands for the organizations that have no model of their own."""
MODELS = (
    'give "provider:name", a model of pydantic-ai, or an object with a name and complete(); a '
    "model of another framework goes to reader= of its adapter"
)
_NO_MODELS = (int, float, bytes, list, tuple, dict, set)
_OPEN = ("calls_per_day", "tokens_per_day", "cost_per_day", "pause", "after_turns")
"""What may be None."""


@dataclass(frozen=True)
class LLM:
    """A model of yours that reads turns; the rules decide. `Settings(llm=LLM("openai:…"))`."""

    model: Any
    """"provider:name", such as "openai:gpt-5-mini", "anthropic:…", "google:…", "ollama:…" or
    "vllm:…"; a model of pydantic-ai; or anything with a `name` and `complete()`."""
    mode: Literal["background", "inline"] = field(default="background", kw_only=True)
    """"background": `observe` returns at once; "inline": it waits for the model's reading."""
    base_url: str | None = field(default=None, kw_only=True)
    """Where the provider is reached, if not where it usually is."""
    api_key: str | None = field(default=None, kw_only=True, repr=False)
    """The key, if it is not in the provider's usual environment variable. Never stored or shown."""
    timeout: float = field(default=30.0, kw_only=True)
    """Seconds that one request may take, retries and waits between them included."""
    retries: int = field(default=2, kw_only=True)
    """How often a request is repeated that failed for a reason that may pass."""
    backoff: float = field(default=0.5, kw_only=True)
    """Seconds before the first repetition; each further one waits twice as long, with jitter."""
    pause: float | None = field(default=0.0, kw_only=True)
    """Seconds without a turn after which the turns of a conversation are read: 0 for at once, None
    for not before its end (`session.close()`, `memory.flush()`). In background mode."""
    after_turns: int | None = field(default=None, kw_only=True)
    """How many turns of a conversation are read without such a pause."""
    context_wait: float = field(default=0.0, kw_only=True)
    """Seconds that a context waits at most for readings of the person's turns under way."""
    at_once: int = field(default=4, kw_only=True)
    """How many conversations are read at the same time in background mode."""
    batch_turns: int = field(default=8, kw_only=True)
    """How many turns go into one request at most."""
    known_facts: int = field(default=20, kw_only=True)
    """How many facts in office go with them at most."""
    max_output_tokens: int = field(default=2_000, kw_only=True)
    """How long an answer may be."""
    calls_per_day: int | None = field(default=None, kw_only=True)
    """How many requests an organization has per day (UTC)."""
    tokens_per_day: int | None = field(default=None, kw_only=True)
    """How many tokens, in and out, an organization has per day (UTC)."""
    cost_per_day: float | None = field(default=None, kw_only=True)
    """What an organization may spend per day (UTC), in the currency of the prices."""
    input_price: float = field(default=0.0, kw_only=True)
    """What a million tokens of input cost, in your currency."""
    output_price: float = field(default=0.0, kw_only=True)
    """What a million tokens of output cost."""
    output: Literal["auto", "schema", "tool", "prompt"] = field(default="auto", kw_only=True)
    """How an answer in JSON is asked for: by a schema, as a tool, in words, or what fits best."""
    queue_size: int = field(default=1_000, kw_only=True)
    """How many turns may wait in background mode; one more keeps its offline reading."""
    close_timeout: float = field(default=5.0, kw_only=True)
    """Seconds that `memory.close()` gives the turns that are waiting."""

    def __post_init__(self) -> None:
        self._check_model()
        self._check_address()
        if self.mode not in ("background", "inline"):
            raise InvalidInput(f'llm mode is "background" or "inline", not {self.mode!r}')
        if self.output not in _OUTPUTS:
            raise InvalidInput(f"llm output is one of {', '.join(_OUTPUTS)}, not {self.output!r}")
        for name in ("batch_turns", "max_output_tokens", "queue_size", "at_once", "after_turns"):
            self._check_count(name, least=1)
        for name in ("retries", "known_facts", "calls_per_day", "tokens_per_day"):
            self._check_count(name, least=0)
        for name in ("timeout", "backoff", "close_timeout", "context_wait", "pause"):
            self._check_number(name, most=_LONGEST)
        if not self.timeout:
            raise InvalidInput("llm timeout must be more than 0 seconds")
        for name in ("input_price", "output_price", "cost_per_day"):
            self._check_number(name, most=math.inf)
        if self.cost_per_day is not None and not (self.input_price or self.output_price):
            raise InvalidInput("llm cost_per_day takes input_price and output_price")
        if self.mode == "inline" and (self.pause != 0 or self.after_turns is not None):
            raise InvalidInput('llm pause and after_turns go with mode="background"')

    @property
    def name(self) -> str:
        """What the model is called in verdicts and counts."""
        if isinstance(self.model, str):
            return self.model
        named = getattr(self.model, "name", None) or getattr(self.model, "model_name", None)
        return str(named or type(self.model).__name__)

    def cost(self, input_tokens: int, output_tokens: int) -> int:
        """What tokens cost, in millionths of the currency that the prices are in."""
        # A price is per million tokens, so that a token costs as many millionths.
        return round(input_tokens * self.input_price + output_tokens * self.output_price)

    def _check_model(self) -> None:
        if isinstance(self.model, str):
            provider, colon, name = self.model.partition(":")
            if not (provider.strip() and colon and name.strip()):
                raise InvalidInput(
                    f"llm model {self.model!r:.80} does not say whose it is; write it as "
                    f'"provider:name", for example "openai:gpt-5-mini" or "ollama:qwen3"'
                )
        elif self.model is None or isinstance(self.model, _NO_MODELS):
            raise InvalidInput(f"llm model {type(self.model).__name__} is no model: {MODELS}")

    def _check_address(self) -> None:
        for name in ("base_url", "api_key"):
            given = getattr(self, name)
            if given is not None and not (isinstance(given, str) and given.strip()):
                raise InvalidInput(f"llm {name} must be text that is not empty; or leave it out")
        if self.base_url is None:
            return
        if not isinstance(self.model, str):
            raise InvalidInput("llm base_url goes with a model that is given by name")
        try:
            parts = urlsplit(self.base_url)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput("llm base_url must be an address such as http://localhost:8000/v1")
        if parts.username or parts.password:
            raise InvalidInput("llm base_url holds a name or a password; give it as api_key=")

    def _check_count(self, name: str, *, least: int) -> None:
        given = getattr(self, name)
        if given is None and name in _OPEN:
            return
        if type(given) is not int or given < least:
            raise InvalidInput(f"llm {name} must be a whole number from {least} up, not {given!r}")

    def _check_number(self, name: str, *, most: float) -> None:
        given = getattr(self, name)
        if given is None and name in _OPEN:
            return
        if type(given) not in (int, float) or not 0 <= given <= most or math.isinf(given):
            limit = f" and at most {most:g}" if most < math.inf else ""
            raise InvalidInput(f"llm {name} must be at least 0{limit}, not {given!r}")


Given: TypeAlias = str | LLM | Mapping[str, str | LLM] | None


def as_llms(given: Given) -> dict[str, LLM]:
    """The setting `llm` in its full form: models by organization, "*" for the others."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {check_name(name, "organization"): as_llm(one) for name, one in given.items()}
    return {EVERYBODY: as_llm(given)}


def as_llm(given: str | LLM) -> LLM:
    """A model in its full form; a name stands for the defaults."""
    if isinstance(given, LLM):
        return given
    if isinstance(given, str):
        return LLM(given)
    raise InvalidInput(
        f'llm must be "provider:name" or an incumbent.LLM, not {type(given).__name__}'
    )
