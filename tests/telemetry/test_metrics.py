"""Metrics: the same names and numbers for Prometheus and for OpenTelemetry, as documented."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from prometheus_client.parser import text_string_to_metric_families

import incumbent
from incumbent.context.request import PROFILES, STYLES
from incumbent.telemetry import Telemetry, Together
from incumbent.telemetry.instruments import INSTRUMENTS
from incumbent.telemetry.otel import OpenTelemetry
from incumbent.telemetry.prometheus import Prometheus, prometheus_name
from tests.conftest import QUICK, OpenMemory
from tests.llm.scripted import Scripted

PAGE = Path(__file__).parents[2] / "docs" / "observability.md"
Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


class Meters:
    """Both kinds of metrics, told together, and what they say."""

    def __init__(self, *, organization: bool = False) -> None:
        self.reader = InMemoryMetricReader()
        self.prometheus = Prometheus(organization=organization)
        self.otel = OpenTelemetry(
            meter_provider=MeterProvider([self.reader]),
            tracer_provider=TracerProvider(shutdown_on_exit=False),
            organization=organization,
        )
        self.telemetry: Telemetry = Together(self.prometheus, self.otel)

    def scraped(self) -> Series:
        """Counters, and the counts and sums of histograms, as a scrape of the endpoint has them."""
        text = self.prometheus.exposition().decode()
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name.endswith(("_total", "_count", "_sum"))
        }

    def exported(self) -> Series:
        """The same from OpenTelemetry, in the words of Prometheus."""
        found: Series = {}
        data: Any = self.reader.get_metrics_data()
        by_name = {one.name: prometheus_name(one) for one in INSTRUMENTS}
        for metric in data.resource_metrics[0].scope_metrics[0].metrics:
            name = by_name[metric.name]
            for point in metric.data.data_points:
                labels = frozenset(
                    (key.removeprefix("incumbent."), value)
                    for key, value in point.attributes.items()
                )
                if hasattr(point, "bucket_counts"):
                    found[f"{name}_count", labels] = point.count
                    found[f"{name}_sum", labels] = point.sum
                else:
                    found[name, labels] = point.value
        return found


@pytest.fixture
def meters() -> Meters:
    return Meters()


@pytest.fixture
def memory(open_memory: OpenMemory, meters: Meters) -> incumbent.Memory:
    llm = incumbent.LLM(Scripted(tokens=(100, 20)), mode="inline")
    return open_memory(settings=replace(QUICK, telemetry=meters.telemetry, llm=llm))


@pytest.fixture
def alice(memory: incumbent.Memory) -> incumbent.Session:
    return memory.session(user_id="alice", authority="manager", organization="acme")


def labelled(series: Series, name: str) -> dict[frozenset[tuple[str, str]], float]:
    return {labels: value for (found, labels), value in series.items() if found == name}


def work(alice: incumbent.Session) -> list[incumbent.Context]:
    """A little of everything that is measured."""
    alice.write("courier", "North Post", subject="order 4711")
    alice.write("courier", "South Express", subject="order 4711")
    alice.note("last_turn", "North Post has order 4711, as always, and will bring it on time.")
    alice.observe("My address is 123 Main St.")
    contexts = [
        alice.context("Which courier has order 4711?"),
        alice.context("Which courier?", budget=100, profile="high-stakes", style="annotated"),
    ]
    with pytest.raises(incumbent.UnknownFact):
        alice.retract("nothing at all")
    return contexts


def test_both_say_the_same(alice: incumbent.Session, meters: Meters) -> None:
    """Every series that one of them has, the other has with the same value."""
    work(alice)
    scraped, exported = meters.scraped(), meters.exported()
    assert scraped.keys() == exported.keys()
    assert all(scraped[key] == pytest.approx(exported[key]) for key in scraped)


def test_verdicts_are_counted_by_action_rule_and_outcome(
    alice: incumbent.Session, memory: incumbent.Memory, meters: Meters
) -> None:
    """The counts are those of the log."""
    work(alice)
    expected: Counter[frozenset[tuple[str, str]]] = Counter(
        frozenset(
            {("action", v.action.value), ("rule", v.rule.value), ("outcome", v.outcome.value)}
        )
        for v in memory.audit("acme")
    )
    assert labelled(meters.scraped(), "incumbent_verdicts_total") == expected


def test_contexts_are_counted_with_their_tokens_and_what_they_leave_out(
    alice: incumbent.Session, meters: Meters
) -> None:
    """By profile and style; tokens and budgets add up; omissions by reason; guard hits."""
    contexts = work(alice)
    series = meters.scraped()
    plain = frozenset({("profile", "balanced"), ("style", "plain")})
    careful = frozenset({("profile", "high-stakes"), ("style", "annotated")})
    assert labelled(series, "incumbent_contexts_total") == {plain: 1, careful: 1}
    tokens = labelled(series, "incumbent_context_tokens_sum")
    assert tokens == {plain: contexts[0].tokens, careful: contexts[1].tokens}
    assert labelled(series, "incumbent_context_budget_sum") == {plain: 4000, careful: 100}
    reasons: Counter[str] = Counter()
    for context in contexts:
        for left in context.omissions:
            reasons[left.reason] += left.count
    omitted = labelled(series, "incumbent_context_omissions_total")
    assert omitted == {frozenset({("reason", name)}): count for name, count in reasons.items()}
    hits = labelled(series, "incumbent_context_guard_hits_total")
    assert sum(hits.values()) == reasons["quotes a dead value"] > 0


def test_calls_are_counted_with_their_result(alice: incumbent.Session, meters: Meters) -> None:
    """A histogram of durations by operation, with ok or the class of the error."""
    work(alice)
    counts = labelled(meters.scraped(), "incumbent_operation_duration_seconds_count")
    told = {(dict(labels)["operation"], dict(labels)["result"]): n for labels, n in counts.items()}
    assert told == {
        ("write", "ok"): 2,
        ("note", "ok"): 1,
        ("observe", "ok"): 1,
        ("context", "ok"): 2,
        ("retract", "UnknownFact"): 1,
    }


def test_models_and_opinions_are_counted(alice: incumbent.Session, meters: Meters) -> None:
    """Calls, tokens in and out, and opinions, by model."""
    work(alice)
    series = meters.scraped()
    model = ("model", "scripted:model")
    assert labelled(series, "incumbent_model_calls_total") == {
        frozenset({model, ("result", "ok")}): 1
    }
    assert labelled(series, "incumbent_model_tokens_total") == {
        frozenset({model, ("direction", "input")}): 100,
        frozenset({model, ("direction", "output")}): 20,
    }
    opined = frozenset({model, ("kind", "given")})
    assert labelled(series, "incumbent_opinions_total") == {opined: 1}
    assert labelled(series, "incumbent_opinion_duration_seconds_count") == {opined: 1}


def test_the_organization_is_an_attribute_only_where_asked_for(open_memory: OpenMemory) -> None:
    """Without it a thousand organizations make no more series than one."""
    for wanted in (False, True):
        meters = Meters(organization=wanted)
        memory = open_memory(settings=replace(QUICK, telemetry=meters.telemetry))
        memory.session(user_id="a", organization="acme").write("city", "Bern")
        memory.session(user_id="b", organization="globex").write("city", "Bern")
        found = {
            dict(labels).get("organization")
            for series in (meters.scraped(), meters.exported())
            for _, labels in series
        }
        assert found == ({"acme", "globex"} if wanted else {None})


def test_attributes_have_few_values(alice: incumbent.Session, meters: Meters) -> None:
    """What may be anything is in no series: no key, id, query or name of a person."""
    work(alice)
    for _, labels in meters.scraped():
        for name, value in labels:
            assert name in {"operation", "result", "action", "rule", "outcome", "profile"} | {
                *("style", "reason", "kind", "model", "direction")
            }
            if name == "profile":
                assert value in PROFILES
            if name == "style":
                assert value in STYLES


def test_two_memories_can_share_a_registry_and_two_registries_a_process(
    open_memory: OpenMemory,
) -> None:
    """Nothing is global: counts go where they were sent, and nowhere else."""
    one, other = Prometheus(), Prometheus()
    for target in (one, one, other):
        memory = incumbent.open(":memory:", settings=replace(QUICK, telemetry=target))
        memory.session(user_id="a").write("city", "Bern")
        memory.close()
    assert b'incumbent_verdicts_total{action="assert",outcome="established",rule="first"} 2.0' in (
        one.exposition()
    )
    assert b'incumbent_verdicts_total{action="assert",outcome="established",rule="first"} 1.0' in (
        other.exposition()
    )


def rows_of(page: Path) -> Iterator[list[str]]:
    text = page.read_text(encoding="utf-8").partition("\n## Metrics\n")[2].partition("\n## ")[0]
    for line in text.splitlines():
        if line.startswith("| `incumbent."):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def test_the_page_names_every_metric() -> None:
    """docs/observability.md has a row for every instrument, with both names and its attributes."""
    written = [
        (cells[0], cells[1], cells[2], re.findall(r"`(\w+)`", cells[3])) for cells in rows_of(PAGE)
    ]
    made = [
        (f"`{one.name}`", f"`{prometheus_name(one)}`", one.kind, list(one.attributes))
        for one in INSTRUMENTS
    ]
    assert written == made
