"""Telemetry: reports of a memory's work, to those who asked for them. Off by default.

`incumbent.telemetry.otel` and `incumbent.telemetry.prometheus` pass it on; they need the extra
`telemetry`. Nothing here imports them.
"""

from incumbent.telemetry.logs import JsonFormatter, OperationLog, log_context
from incumbent.telemetry.port import Call, Telemetry, Together

__all__ = ["Call", "JsonFormatter", "OperationLog", "Telemetry", "Together", "log_context"]
