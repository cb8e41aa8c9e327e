"""Logs as JSON, and nothing that was said in any of them, in any span or in any metric."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import incumbent
from incumbent.telemetry import JsonFormatter, OperationLog, Together, log_context
from incumbent.telemetry.otel import OpenTelemetry
from incumbent.telemetry.prometheus import Prometheus
from tests.conftest import QUICK, OpenMemory
from tests.llm.scripted import Gate, Scripted, answer, entry, keeping
from tests.patience import PATIENCE

CANARY = "kanarie7391"


class Written:
    """What all loggers write, at the level of debugging."""

    def __init__(self) -> None:
        self.stream = io.StringIO()
        self.handler = logging.StreamHandler(self.stream)
        self.handler.setFormatter(JsonFormatter())

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


@pytest.fixture
def written() -> Iterator[Written]:
    found = Written()
    root = logging.getLogger()
    level = root.level
    root.addHandler(found.handler)
    root.setLevel(logging.DEBUG)
    yield found
    root.removeHandler(found.handler)
    root.setLevel(level)


def test_a_line_is_one_json_object(written: Written) -> None:
    """Time, level, logger and message, on one line whatever the message holds."""
    logging.getLogger("incumbent.llm").warning("two\nlines of %s", "ünï")
    (line,) = written.lines
    assert written.text.count("\n") == 1
    assert (line["level"], line["logger"]) == ("warning", "incumbent.llm")
    assert line["message"] == "two\nlines of ünï"
    assert line["time"].endswith("+00:00")


def test_what_is_around_a_line_is_in_it(written: Written) -> None:
    """A request id holds for the lines within, nests, and is gone afterwards."""
    log = logging.getLogger("incumbent.http")
    with log_context(request_id="r-1"):
        with log_context(organization="acme"):
            log.info("within")
        log.info("around")
    log.info("outside")
    told = [(line.get("request_id"), line.get("organization")) for line in written.lines]
    assert told == [("r-1", "acme"), ("r-1", None), (None, None)]


def test_an_exception_is_told_without_its_text(written: Written) -> None:
    """The class and the place of an error are there; what it quotes is there only if asked for."""
    try:
        raise ValueError(f"bad value {CANARY!r}")
    except ValueError:
        logging.getLogger("incumbent").exception("it failed")
    (record,) = written.lines
    assert record["error"] == "ValueError"
    assert "test_an_exception_is_told_without_its_text" in record["trace"][-1]
    assert CANARY not in written.text
    written.handler.setFormatter(JsonFormatter(content=True))
    try:
        raise ValueError(f"bad value {CANARY!r}")
    except ValueError:
        logging.getLogger("incumbent").exception("it failed")
    assert written.lines[-1]["error_text"] == f"bad value {CANARY!r}"


def test_calls_are_logged_where_that_is_wanted(written: Written) -> None:
    """A line for each call: at debug level if it went well, as a warning if it did not."""
    settings = replace(QUICK, telemetry=OperationLog(organization=True))
    with incumbent.open(":memory:", settings=settings) as memory:
        alice = memory.session(user_id="alice", organization="acme")
        alice.write("city", "Bern")
        with pytest.raises(incumbent.UnknownFact):
            alice.retract("country")
    told = [
        (line["level"], line["operation"], line["result"], line.get("organization"))
        for line in written.lines
        if line["logger"] == "incumbent.operations"
    ]
    assert told == [
        ("debug", "write", "ok", "acme"),
        ("warning", "retract", "UnknownFact", "acme"),
        ("debug", "close", "ok", None),
    ]
    assert "country" not in written.text
    assert "alice" not in written.text


def exported(reader: InMemoryMetricReader) -> str:
    data = reader.get_metrics_data()
    assert data is not None
    return data.to_json()


def everything(memory: incumbent.Memory) -> None:
    """Say the canary wherever something can be said, and get it wrong wherever one can."""
    alice = memory.session(
        user_id=f"user-{CANARY}",
        user_name=CANARY,
        organization="acme",
        session_id=f"session-{CANARY}",
    )
    alice.write("city", CANARY, subject=CANARY, id=f"id-{CANARY}")
    alice.write(f"key_{CANARY}", {"deep": [CANARY]})
    alice.write(f"key_{CANARY}", f"{CANARY} again", depends_on=["city"])
    alice.note("turn", f"{CANARY} was said")
    alice.observe(f"My dog is called {CANARY}.", ref=f"ref-{CANARY}")
    alice.observe(f"No, my dog is called Rex, not {CANARY}.")
    alice.observe(f"Forget that my dog is called {CANARY}.")
    context = alice.context(f"What about {CANARY}?", record=True)
    assert CANARY in context.text
    alice.current(f"key_{CANARY}")
    alice.explain(f"key_{CANARY}")
    alice.retract(f"key_{CANARY}", reason=f"because {CANARY}")
    assert memory.flush(timeout=PATIENCE)
    wrong = (
        lambda: alice.retract(CANARY),
        lambda: alice.write(CANARY, {CANARY: object()}),
        lambda: alice.context(CANARY, profile=CANARY),
        lambda: alice.write("city", CANARY, scope=CANARY),
        lambda: alice.write("x", 1, supersedes=CANARY),
        lambda: memory.receipt(CANARY, organization="acme"),
        lambda: alice.undo(CANARY),
    )
    for call in wrong:
        with pytest.raises(incumbent.IncumbentError):
            call()
    list(memory.audit("acme", values=True))
    memory.forget(organization="acme", user_id=f"user-{CANARY}")


def test_nothing_that_was_said_is_in_logs_spans_or_metrics(
    open_memory: OpenMemory, written: Written
) -> None:
    """A value said everywhere, in calls that work and in calls that fail, is nowhere in them."""
    spans, reader, prometheus = InMemorySpanExporter(), InMemoryMetricReader(), Prometheus()
    tracing = TracerProvider(shutdown_on_exit=False)
    tracing.add_span_processor(SimpleSpanProcessor(spans))
    otel = OpenTelemetry(tracer_provider=tracing, meter_provider=MeterProvider([reader]))
    telemetry = Together(otel, prometheus, OperationLog())
    model = Scripted(
        answer(entry("s1", attribute="name", value=CANARY)),
        answer({"nonsense": CANARY}),
        RuntimeError(CANARY),
    )
    llm = incumbent.LLM(model, mode="background", retries=0)
    everything(open_memory(settings=replace(QUICK, telemetry=telemetry, llm=llm)))
    traced = "".join(span.to_json() for span in spans.get_finished_spans())
    measured = (prometheus.exposition().decode(), exported(reader))
    for name, text in (
        ("logs", written.text),
        ("spans", traced),
        *(("metrics", text) for text in measured),
    ):
        assert len(text) > 1000, f"there are {name} to look at"
        assert CANARY not in text, name


class Failing:
    """A store that fails with an error that quotes something."""

    def __init__(self, store: Any, error: Exception) -> None:
        self._store = store
        self._error = error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def write(self, organization: str) -> Any:
        raise self._error


@pytest.mark.parametrize("error", [incumbent.StoreError(CANARY), RuntimeError(CANARY)], ids=repr)
def test_a_second_opinion_that_fails_is_logged_without_what_was_said(
    error: Exception, written: Written
) -> None:
    """The observation has the reason; the log has its class and its place."""
    gate = Gate(keeping)
    settings = replace(QUICK, llm=incumbent.LLM(Scripted(gate), retries=0))
    with incumbent.open(":memory:", settings=settings) as memory:
        made = memory.session(user_id="alice").observe("My dog is called Rex.")
        assert gate.asked.wait(PATIENCE)
        whole: Any = memory.store
        memory.resources.store = failing(whole, error)
        gate.open.set()
        assert memory.flush(timeout=PATIENCE)
        memory.resources.store = whole
    assert made.opinion is not None
    assert made.opinion.status == "failed"
    told = [line["message"] for line in written.lines if line["logger"] == "incumbent.llm"]
    assert any(type(error).__name__ in message for message in told)
    assert CANARY not in written.text


def failing(store: Any, error: Exception) -> Any:
    return Failing(store, error)


def test_the_canary_would_be_found(open_memory: OpenMemory) -> None:
    """The test above can fail: with content, the canary is in the spans."""
    spans = InMemorySpanExporter()
    tracing = TracerProvider(shutdown_on_exit=False)
    tracing.add_span_processor(SimpleSpanProcessor(spans))
    otel = OpenTelemetry(tracer_provider=tracing, content=True)
    memory = open_memory(settings=replace(QUICK, telemetry=otel))
    memory.session(user_id="alice").write("city", CANARY)
    assert CANARY in spans.get_finished_spans()[-1].to_json()
