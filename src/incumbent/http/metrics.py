"""Metrics of a service: those of the memory, and the requests, at /metrics."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram
from starlette.requests import Request
from starlette.responses import Response

from incumbent.telemetry.prometheus import Prometheus

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Counts requests, beside the metrics of the memory in `told`."""

    def __init__(self, told: Prometheus) -> None:
        self.told = told
        self.paths: set[str] = set()
        """The paths of the service."""
        self._requests = Counter(
            "incumbent_http_requests_total",
            "Requests that were answered.",
            ("path", "status"),
            registry=told.registry,
        )
        self._seconds = Histogram(
            "incumbent_http_request_seconds",
            "How long requests took.",
            ("path",),
            buckets=_BUCKETS,
            registry=told.registry,
        )
        self.under_way = Gauge(
            "incumbent_http_requests_under_way",
            "Requests that are being answered.",
            multiprocess_mode="livesum",
            registry=told.registry,
        )

    def count(self, request: Request, response: Response, seconds: float) -> None:
        """Count an answered request. Only existing paths are told apart."""
        path = request.scope["path"]
        path = path if path in self.paths else "other"
        self._requests.labels(path, str(response.status_code)).inc()
        self._seconds.labels(path).observe(seconds)

    def exposition(self) -> Response:
        """All series in the text format."""
        return Response(self.told.exposition(), media_type=self.told.content_type)
