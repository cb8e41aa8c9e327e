"""The instruments: counters and measures, with their names, for any backend.

Names and attributes are part of the interface: dashboards and alerts are built on them. The table
in docs/observability.md is this list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from incumbent.telemetry.port import Call, Telemetry

if TYPE_CHECKING:
    from incumbent.context.document import Context
    from incumbent.model.verdict import Verdict

GUARD = "quotes a dead value"
"""The reason of an omission that the guard made."""

_QUICK = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5)
_SECONDS = (*_QUICK, 1.0, 2.5, 5.0, 10.0, 30.0)
_TOKENS = tuple(float(2**power) for power in range(6, 18))


@dataclass(frozen=True)
class Instrument:
    """A counter, or a histogram with its buckets."""

    name: str
    kind: Literal["counter", "histogram"]
    unit: str
    attributes: tuple[str, ...]
    about: str
    buckets: tuple[float, ...] = ()


def _counter(name: str, unit: str, attributes: tuple[str, ...], about: str) -> Instrument:
    return Instrument(name, "counter", unit, attributes, about)


DURATION = Instrument(
    "incumbent.operation.duration",
    "histogram",
    "s",
    ("operation", "result"),
    "How long a public call took; result is ok, or the class of the error.",
    _SECONDS,
)
VERDICTS = _counter(
    "incumbent.verdicts",
    "{verdict}",
    ("action", "rule", "outcome"),
    "Verdicts that were committed.",
)
CONTEXTS = _counter("incumbent.contexts", "{context}", ("profile", "style"), "Contexts made.")
TOKENS = Instrument(
    "incumbent.context.tokens",
    "histogram",
    "{token}",
    ("profile", "style"),
    "Tokens of a context's text.",
    _TOKENS,
)
BUDGET = Instrument(
    "incumbent.context.budget",
    "histogram",
    "{token}",
    ("profile", "style"),
    "Tokens that a context was allowed.",
    _TOKENS,
)
OMISSIONS = _counter(
    "incumbent.context.omissions",
    "{omission}",
    ("reason",),
    "Facts, notes and signals that contexts left out.",
)
GUARD_HITS = _counter(
    "incumbent.context.guard_hits",
    "{hit}",
    ("profile",),
    "Texts in which the guard found the value of a fact out of office.",
)
REPEATS = _counter(
    "incumbent.repeats",
    "{repeat}",
    ("operation",),
    "Transactions tried again because another got in the way.",
)
OPINIONS = _counter(
    "incumbent.opinions",
    "{opinion}",
    ("model", "kind"),
    "Second opinions on turns: given, or what came between.",
)
OPINION_DURATION = Instrument(
    "incumbent.opinion.duration",
    "histogram",
    "s",
    ("model", "kind"),
    "From the turn to its second opinion.",
    _SECONDS,
)
MODEL_CALLS = _counter(
    "incumbent.model.calls", "{call}", ("model", "result"), "Requests to a model: ok or failed."
)
MODEL_TOKENS = _counter(
    "incumbent.model.tokens", "{token}", ("model", "direction"), "Tokens of them, in and out."
)
INSTRUMENTS = (
    *(DURATION, VERDICTS, CONTEXTS, TOKENS, BUDGET, OMISSIONS, GUARD_HITS, REPEATS),
    *(OPINIONS, OPINION_DURATION, MODEL_CALLS, MODEL_TOKENS),
)


class Measuring(Telemetry):
    """Turns reports into numbers. `measure` decides where they go."""

    def measure(
        self, instrument: Instrument, amount: float, organization: str | None, *attributes: str
    ) -> None:
        """Add to a counter or a histogram; attributes in the order of the instrument's."""
        raise NotImplementedError

    def ended(self, call: Call, began: Any, seconds: float, error: BaseException | None) -> None:
        result = "ok" if error is None else type(error).__name__
        self.measure(DURATION, seconds, call.organization, call.operation, result)

    def decided(self, verdicts: Sequence[Verdict]) -> None:
        kinds = Counter(
            (one.organization, one.action.value, one.rule.value, one.outcome.value)
            for one in verdicts
        )
        for (organization, *attributes), count in kinds.items():
            self.measure(VERDICTS, count, organization, *attributes)

    def composed(self, context: Context) -> None:
        organization, profile, style = context.organization, context.profile, context.style
        self.measure(CONTEXTS, 1, organization, profile, style)
        self.measure(TOKENS, context.tokens, organization, profile, style)
        self.measure(BUDGET, context.budget, organization, profile, style)
        reasons: Counter[str] = Counter()
        for omission in context.omissions:
            reasons[omission.reason] += omission.count
        for reason, count in reasons.items():
            self.measure(OMISSIONS, count, organization, reason)
        if reasons[GUARD]:
            self.measure(GUARD_HITS, reasons[GUARD], organization, profile)

    def repeated(self, operation: str) -> None:
        self.measure(REPEATS, 1, None, operation)

    def asked(self, model: str, organization: str, tokens: tuple[int, int], failed: bool) -> None:
        self.measure(MODEL_CALLS, 1, organization, model, "failed" if failed else "ok")
        for direction, count in zip(("input", "output"), tokens, strict=True):
            if count > 0:  # a client may tell nonsense, and a counter only goes up
                self.measure(MODEL_TOKENS, count, organization, model, direction)

    def opined(self, model: str, organization: str, kind: str, seconds: float) -> None:
        self.measure(OPINIONS, 1, organization, model, kind)
        self.measure(OPINION_DURATION, seconds, organization, model, kind)
