"""Spans and metrics for OpenTelemetry. Exporters and the SDK are the application's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

try:
    from opentelemetry import context as around
    from opentelemetry import metrics, trace
except ImportError as missing:
    raise ImportError(
        f"spans and metrics for OpenTelemetry need a package ({missing}); install it with: "
        f"pip install 'incumbent[telemetry]'"
    ) from missing

from incumbent.model.values import text_of
from incumbent.telemetry.instruments import GUARD, INSTRUMENTS, Instrument, Measuring
from incumbent.telemetry.port import Call

if TYPE_CHECKING:
    from incumbent.context.document import Context
    from incumbent.model.verdict import Verdict

_SCOPE = "incumbent"
_MOST_EVENTS = 32
"""The most verdicts of one transaction that a span names; it always has their number."""


class OpenTelemetry(Measuring):
    """A span `incumbent.<operation>` for each call, and the metrics.

    Spans hold no content unless `content` is true: then they have user and session, query, keys,
    values and the text of errors, and readers of traces read facts. Metrics never have any of it.
    With `organization` both have the organization.
    """

    def __init__(
        self,
        *,
        tracer_provider: trace.TracerProvider | None = None,
        meter_provider: metrics.MeterProvider | None = None,
        content: bool = False,
        organization: bool = False,
    ) -> None:
        self._tracer = trace.get_tracer(_SCOPE, tracer_provider=tracer_provider)
        meter = metrics.get_meter(_SCOPE, meter_provider=meter_provider)
        self._content = content
        self._by_organization = organization
        self._made = {one.name: _made(meter, one) for one in INSTRUMENTS}

    def measure(
        self, instrument: Instrument, amount: float, organization: str | None, *attributes: str
    ) -> None:
        told = {
            f"incumbent.{name}": value
            for name, value in zip(instrument.attributes, attributes, strict=True)
        }
        if self._by_organization and organization:
            told["incumbent.organization"] = organization
        made = self._made[instrument.name]
        if isinstance(made, metrics.Counter):
            made.add(amount, told)
        else:
            made.record(amount, told)

    # spans

    def began(self, call: Call) -> Any:
        told: dict[str, str] = {"incumbent.operation": call.operation}
        if self._by_organization and call.organization:
            told["incumbent.organization"] = call.organization
        if self._content:
            who = {"user.id": call.user_id, "session.id": call.session_id}
            told.update((name, value) for name, value in who.items() if value)
        span = self._tracer.start_span(f"incumbent.{call.operation}", attributes=told)
        # A stream is read between other things, and is none of their parents.
        token = None if call.is_stream else around.attach(trace.set_span_in_context(span))
        return span, token

    def ended(self, call: Call, began: Any, seconds: float, error: BaseException | None) -> None:
        super().ended(call, began, seconds, error)
        if began is None:
            return
        span, token = began
        if error is not None:
            span.set_attribute("error.type", type(error).__name__)
            # The text of an error quotes what was wrong, and the usual way of recording an
            # exception would put it into the trace.
            span.set_status(trace.StatusCode.ERROR, str(error) if self._content else None)
        if token is not None:
            around.detach(token)
        span.end()

    def decided(self, verdicts: Sequence[Verdict]) -> None:
        super().decided(verdicts)
        span = trace.get_current_span()
        if not span.is_recording():
            return
        for verdict in verdicts[:_MOST_EVENTS]:
            span.add_event("incumbent.verdict", self._about(verdict))
        if len(verdicts) > _MOST_EVENTS:
            span.set_attribute("incumbent.verdicts", len(verdicts))

    def _about(self, verdict: Verdict) -> dict[str, str]:
        told = {
            "incumbent.verdict.id": verdict.id,
            "incumbent.action": verdict.action.value,
            "incumbent.rule": verdict.rule.value,
            "incumbent.outcome": verdict.outcome.value,
        }
        if self._content and verdict.fact is not None:
            told["incumbent.fact.id"] = verdict.fact_id
            told["incumbent.fact.key"] = verdict.fact.key
            told["incumbent.fact.value"] = text_of(verdict.fact.value)
        return told

    def composed(self, context: Context) -> None:
        super().composed(context)
        span = trace.get_current_span()
        left_out = sum(one.count for one in context.omissions)
        hits = sum(one.count for one in context.omissions if one.reason == GUARD)
        span.set_attributes(
            {
                "incumbent.context.profile": context.profile,
                "incumbent.context.style": context.style,
                "incumbent.context.tokens": context.tokens,
                "incumbent.context.budget": context.budget,
                "incumbent.context.lines": len(context.lines),
                "incumbent.context.omissions": left_out,
                "incumbent.context.guard_hits": hits,
            }
        )
        if self._content:
            span.set_attribute("incumbent.context.query", context.query)

    def repeated(self, operation: str) -> None:
        super().repeated(operation)
        trace.get_current_span().add_event("incumbent.repeat")


def _made(meter: metrics.Meter, one: Instrument) -> metrics.Counter | metrics.Histogram:
    if one.kind == "counter":
        return meter.create_counter(one.name, unit=one.unit, description=one.about)
    return meter.create_histogram(
        one.name,
        unit=one.unit,
        description=one.about,
        explicit_bucket_boundaries_advisory=one.buckets,
    )
