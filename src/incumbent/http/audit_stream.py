"""The audit stream over HTTP: the log of an organization as NDJSON, and its new entries."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from incumbent.audit.entries import PAGE, check_after, read_page
from incumbent.http.admission import SessionForm, organization_of
from incumbent.http.door import Door, Endpoint, credential
from incumbent.http.streams import NDJSON, problem_line
from incumbent.http.turns import Caller
from incumbent.model.keys import KeyScope

PATH = "/v1/audit"
_INTERVAL = 0.5
_SIGN_OF_LIFE = 15.0
"""Seconds after which an empty line is sent, so that a caller who is gone is noticed."""


class AuditRequest(BaseModel):
    """Which part of the log to tell, and whether to go on telling."""

    session: SessionForm = Field(default_factory=SessionForm.model_construct)
    after: int = Field(0, ge=0, lt=2**63, description="The last entry that is known already.")
    values: bool = Field(False, description="With keys, values and reasons.")
    follow: bool = Field(False, description="Go on with what is added, until the caller leaves.")

    model_config = ConfigDict(extra="forbid", strict=True)


def endpoint(door: Door) -> Endpoint:
    """Answers with an entry a line."""

    async def audited(request: Request) -> Response:
        body = await door.body(request)
        shown = credential(request)
        grant = await door.in_thread(door.desk.admit, shown, KeyScope.ADMIN)
        form = AuditRequest.model_validate_json(body or b"{}")
        organization = organization_of(grant, form.session)
        await door.in_thread(check_after, door.memory.store, organization, form.after)
        caller = await door.caller(shown)
        entries = _entries(door, form, organization, shown, caller, request)
        return StreamingResponse(entries, media_type=NDJSON)

    return audited


async def _entries(
    door: Door,
    form: AuditRequest,
    organization: str,
    shown: str | None,
    caller: Caller | None,
    request: Request,
) -> AsyncIterator[bytes]:
    after, quiet = form.after, 0.0
    store = door.memory.store
    admitted = time.monotonic()
    try:
        while True:
            if time.monotonic() - admitted >= _SIGN_OF_LIFE:
                # A stream can outlast the credential that opened it, also a busy one.
                await door.in_thread(door.desk.admit, shown, KeyScope.ADMIN)
                admitted = time.monotonic()
            asked = (store, organization, after, form.values, PAGE)
            page = await door.work(caller, read_page, *asked)
            if page:
                after, quiet = page[-1].seq, 0.0
                yield b"".join(
                    json.dumps(entry.record(), ensure_ascii=False).encode() + b"\n"
                    for entry in page
                )
                continue
            if not form.follow or getattr(request.app.state, "stopping", False):
                return
            await asyncio.sleep(_INTERVAL)
            quiet += _INTERVAL
            if quiet >= _SIGN_OF_LIFE:
                quiet = 0.0
                yield b"\n"
    except Exception as error:
        yield problem_line(error, request.state.request_id)
