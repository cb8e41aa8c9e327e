"""Spans: one for each call, which holds nothing that was said unless somebody asked for it."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

import incumbent
from incumbent.telemetry.otel import OpenTelemetry
from tests.conftest import QUICK


class Traces:
    """An SDK that keeps its spans, and a session whose memory tells it."""

    def __init__(self, *, content: bool = False, organization: bool = False) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        telemetry = OpenTelemetry(
            tracer_provider=self.provider, content=content, organization=organization
        )
        self.memory = incumbent.open(":memory:", settings=replace(QUICK, telemetry=telemetry))
        self.alice = self.memory.session(user_id="alice", organization="acme", session_id="s-17")

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return self.exporter.get_finished_spans()

    @property
    def last(self) -> ReadableSpan:
        return self.spans[-1]


def test_a_call_is_a_span_with_its_verdicts() -> None:
    """Named for the operation, with an event for each verdict, by id, rule and outcome."""
    traces = Traces()
    verdict = traces.alice.write("city", "Bern")
    assert traces.last.name == "incumbent.write"
    assert dict(traces.last.attributes or {}) == {"incumbent.operation": "write"}
    (event,) = traces.last.events
    assert event.name == "incumbent.verdict"
    assert dict(event.attributes or {}) == {
        "incumbent.verdict.id": verdict.id,
        "incumbent.action": "assert",
        "incumbent.rule": "first",
        "incumbent.outcome": "established",
    }


def test_the_span_of_a_context_says_what_it_took() -> None:
    """Profile, style, tokens, budget, and how much is in it and left out."""
    traces = Traces()
    traces.alice.write("city", "Bern")
    context = traces.alice.context("Where?", budget=500, profile="comprehensive")
    told = dict(traces.last.attributes or {})
    assert told == {
        "incumbent.operation": "context",
        "incumbent.context.profile": "comprehensive",
        "incumbent.context.style": "plain",
        "incumbent.context.tokens": context.tokens,
        "incumbent.context.budget": 500,
        "incumbent.context.lines": len(context.lines),
        "incumbent.context.omissions": 0,
        "incumbent.context.guard_hits": 0,
    }


def test_calls_nest_in_the_spans_of_the_application() -> None:
    """A call within a span of the application is its child, and what it calls is its own."""
    traces = Traces()
    tracer = traces.provider.get_tracer("application")
    with tracer.start_as_current_span("request"):
        traces.alice.context("Where?", record=True)
    spans = {span.name: span for span in traces.spans}
    request, context, record = (
        spans[n] for n in ("request", "incumbent.context", "incumbent.record")
    )
    assert context.parent is not None
    assert record.parent is not None
    assert context.parent.span_id == request.context.span_id
    assert record.parent.span_id == context.context.span_id


def test_an_error_is_told_by_its_class_alone() -> None:
    """The text of an error quotes what was given, so it stays out of the trace."""
    traces = Traces()
    with pytest.raises(incumbent.UnknownFact):
        traces.alice.retract("a very private matter")
    assert traces.last.status.status_code is StatusCode.ERROR
    assert traces.last.status.description is None
    assert traces.last.events == ()
    assert dict(traces.last.attributes or {})["error.type"] == "UnknownFact"
    assert "private" not in traces.last.to_json()


def test_content_is_there_where_it_was_asked_for() -> None:
    """With content=True spans have who and what, and the text of errors."""
    traces = Traces(content=True, organization=True)
    traces.alice.write("city", "Bern")
    told = dict(traces.last.attributes or {})
    assert told["user.id"] == "alice"
    assert told["session.id"] == "s-17"
    assert told["incumbent.organization"] == "acme"
    event = dict(traces.last.events[0].attributes or {})
    assert (event["incumbent.fact.key"], event["incumbent.fact.value"]) == ("city", "Bern")
    traces.alice.context("Where does she live?")
    assert dict(traces.last.attributes or {})["incumbent.context.query"] == "Where does she live?"
    with pytest.raises(incumbent.UnknownFact):
        traces.alice.retract("country")
    assert "country" in (traces.last.status.description or "")


def test_a_large_batch_does_not_flood_its_span() -> None:
    """So many verdicts are named, and of the others there is the number."""
    traces = Traces()
    traces.alice.write_many({"key": f"k{number}", "value": number} for number in range(100))
    assert len(traces.last.events) == 32
    assert dict(traces.last.attributes or {})["incumbent.verdicts"] == 100


def test_a_stream_is_nobodys_parent() -> None:
    """What happens between two rows of an export is no part of it, and it ends with the last."""
    traces = Traces()
    traces.alice.write("city", "Bern")
    rows = iter(traces.memory.export("acme"))
    next(rows)
    traces.alice.current("city")
    assert traces.last.name == "incumbent.current"
    assert traces.last.parent is None
    list(rows)
    assert traces.last.name == "incumbent.export"


def test_threads_keep_their_spans_apart() -> None:
    """Calls on many threads at once have spans without parents, and verdicts of their own."""
    traces = Traces()

    def write(name: str) -> None:
        for number in range(20):
            traces.alice.write(f"{name}{number}", number)

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(traces.spans) == 80
    assert all(span.parent is None and len(span.events) == 1 for span in traces.spans)
