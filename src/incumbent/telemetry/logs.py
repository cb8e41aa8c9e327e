"""Logs as JSON, one object a line, and one line for each call if wanted."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from incumbent.telemetry.port import Call, Telemetry

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_around: ContextVar[Mapping[str, Any]] = ContextVar("incumbent_log_context", default=_NOTHING)
_FIELDS = "incumbent_fields"

log = logging.getLogger("incumbent.operations")


@contextmanager
def log_context(**fields: Any) -> Iterator[None]:
    """Put fields into every line that is logged within: `request_id=`, `organization=` ...

    This holds for the present thread or task, and for those it starts with a copy of its context.
    """
    token = _around.set({**_around.get(), **fields})
    try:
        yield
    finally:
        _around.reset(token)


class JsonFormatter(logging.Formatter):
    """A record as one JSON object on one line.

    For an exception it has the class and the place, and the text only with `content`: errors quote
    the arguments of a call.
    """

    def __init__(self, *, content: bool = False) -> None:
        super().__init__()
        self._content = content

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_around.get(),
            **getattr(record, _FIELDS, {}),
        }
        kind, error, trace = record.exc_info or (None, None, None)
        if kind is not None:
            told["error"] = kind.__name__
            told["trace"] = [
                f"{frame.filename}:{frame.lineno} {frame.name}"
                for frame in traceback.extract_tb(trace)
            ]
            if self._content:
                told["error_text"] = str(error)
        return json.dumps(told, ensure_ascii=False, default=str)


class OperationLog(Telemetry):
    """Logs each call to `incumbent.operations`: a success at debug level, a failure at warning.

    With `content` also the caller, and the text of an error.
    """

    def __init__(self, *, content: bool = False, organization: bool = False) -> None:
        self._content = content
        self._by_organization = organization

    def ended(self, call: Call, began: Any, seconds: float, error: BaseException | None) -> None:
        level = logging.DEBUG if error is None else logging.WARNING
        if not log.isEnabledFor(level):
            return
        result = "ok" if error is None else type(error).__name__
        told: dict[str, Any] = {
            "operation": call.operation,
            "result": result,
            "seconds": round(seconds, 6),
        }
        if self._by_organization and call.organization:
            told["organization"] = call.organization
        if self._content:
            told |= {"user_id": call.user_id, "session_id": call.session_id}
            if error is not None:
                told["error_text"] = str(error)
        log.log(level, "%s: %s in %.6f s", call.operation, result, seconds, extra={_FIELDS: told})
