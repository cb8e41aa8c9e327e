"""Metrics for Prometheus, in a registry of their own."""

from __future__ import annotations

try:
    from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
    from prometheus_client.exposition import CONTENT_TYPE_LATEST
    from prometheus_client.multiprocess import MultiProcessCollector
except ImportError as missing:
    raise ImportError(
        f"metrics for Prometheus need a package ({missing}); install it with: "
        f"pip install 'incumbent[telemetry]'"
    ) from missing

from incumbent.telemetry.instruments import INSTRUMENTS, Instrument, Measuring

_UNITS = {"s": "_seconds"}


def prometheus_name(instrument: Instrument) -> str:
    """The name of an instrument in Prometheus: underscores, the unit, and `_total` for a
    counter."""
    name = instrument.name.replace(".", "_") + _UNITS.get(instrument.unit, "")
    return f"{name}_total" if instrument.kind == "counter" else name


class Prometheus(Measuring):
    """Counts for one process; `exposition()` is the answer of an endpoint.

    With `organization` every series is by organization too, which multiplies their number. With
    `together` it has the counts of all processes that share the folder PROMETHEUS_MULTIPROC_DIR.
    """

    content_type = CONTENT_TYPE_LATEST
    """The content type of `exposition()`."""

    def __init__(self, *, organization: bool = False, together: bool = False) -> None:
        self.registry = CollectorRegistry()
        self._together = together
        self._by_organization = organization
        self._made = {one.name: self._make(one) for one in INSTRUMENTS}

    def _make(self, one: Instrument) -> Counter | Histogram:
        name = prometheus_name(one)
        labels = (*one.attributes, *(("organization",) if self._by_organization else ()))
        if one.kind == "counter":
            return Counter(name, one.about, labels, registry=self.registry)
        return Histogram(name, one.about, labels, buckets=one.buckets, registry=self.registry)

    def measure(
        self, instrument: Instrument, amount: float, organization: str | None, *attributes: str
    ) -> None:
        if self._by_organization:
            attributes = (*attributes, organization or "")
        made = self._made[instrument.name].labels(*attributes)
        if isinstance(made, Counter):
            made.inc(amount)
        else:
            made.observe(amount)

    def exposition(self) -> bytes:
        """All series in the text format, as a scrape reads them."""
        if not self._together:
            return generate_latest(self.registry)
        shared = CollectorRegistry()
        MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
        return generate_latest(shared)
