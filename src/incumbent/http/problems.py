"""Problems: every refusal as a problem document (RFC 9457), with a status that tells whose turn it
is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from starlette.responses import Response

from incumbent.model import errors

MEDIA_TYPE = "application/problem+json"
_RETRY_AFTER = "1"

_STATUS: Sequence[tuple[type[errors.IncumbentError], int]] = (
    (errors.UnknownFact, 404),
    (errors.UnknownVerdict, 404),
    (errors.AmbiguousTarget, 409),
    (errors.DependencyCycle, 409),
    (errors.DuplicateId, 409),
    (errors.NothingToUndo, 409),
    (errors.InvalidInput, 422),
    (errors.NotPermitted, 403),
    (errors.SessionClosed, 409),
    (errors.StoreFull, 507),
    (errors.StoreError, 503),
)


class Refusal(Exception):
    """A request that is refused before anything is asked of the memory."""

    def __init__(
        self,
        status: int,
        title: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        fields: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.title = title
        self.detail = detail
        self.headers = dict(headers or {})
        self.fields = list(fields)


def refusal_of(error: Exception) -> Refusal:
    """The refusal for an error."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, ValidationError):
        return _malformed(error)
    if isinstance(error, errors.IncumbentError):
        for kind, status in _STATUS:
            if isinstance(error, kind):
                waits = isinstance(error, errors.StoreBusy | errors.StoreUnavailable)
                headers = {"Retry-After": _RETRY_AFTER} if waits else {}
                return Refusal(status, type(error).__name__, _told(error, status), headers=headers)
    return Refusal(
        500,
        "InternalError",
        "something went wrong here; the log has it under this request id",
    )


def _told(error: errors.IncumbentError, status: int) -> str:
    """The message of an error. If the store failed, its address is not told."""
    if status == 503:
        kind = type(error)
        return (kind.__doc__ or "The storage could not do its part.").partition("\n")[0]
    return str(error)


def _malformed(error: ValidationError) -> Refusal:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    fields = [
        {"field": "/" + "/".join(map(_pointed, one["loc"])), "problem": one["msg"]}
        for one in found[:20]
    ]
    broken = found[0]["type"] == "json_invalid"
    where = fields[0]["field"] if fields else "/"
    detail = (
        f"the body is not JSON: {found[0]['msg']}"
        if broken
        else f"{where}: {found[0]['msg']}" + (f" (and {len(found) - 1} more)" if found[1:] else "")
    )
    return Refusal(400 if broken else 422, "InvalidInput", detail, fields=[] if broken else fields)


def _pointed(part: str | int) -> str:
    """A part of a JSON pointer (RFC 6901)."""
    return str(part).replace("~", "~0").replace("/", "~1")


def document_of(refusal: Refusal, request_id: str) -> dict[str, Any]:
    """The problem document of a refusal."""
    made: dict[str, Any] = {
        "type": f"urn:incumbent:problem:{refusal.title}",
        "title": refusal.title,
        "status": refusal.status,
        "detail": refusal.detail,
        "request_id": request_id,
    }
    if refusal.fields:
        made["fields"] = refusal.fields
    return made


def response_of(refusal: Refusal, request_id: str) -> Response:
    """The answer to a request that was refused."""
    body = json.dumps(document_of(refusal, request_id), ensure_ascii=False)
    # What a caller sent may hold halves of characters, which no answer can carry.
    content = body.encode("utf-8", "replace")
    return Response(content, refusal.status, refusal.headers, MEDIA_TYPE)
