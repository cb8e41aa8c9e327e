"""Telemetry: what a memory tells of its work, to whoever asked to be told. Off by default.

`tenure.telemetry.otel` and `tenure.telemetry.prometheus` pass it on; they need the extra
`telemetry`. Nothing here imports them.
"""

from tenure.telemetry.logs import JsonFormatter, OperationLog, log_context
from tenure.telemetry.port import Call, Telemetry, Together

__all__ = ["Call", "JsonFormatter", "OperationLog", "Telemetry", "Together", "log_context"]
