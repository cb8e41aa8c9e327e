"""Streams: observing line by line, exports and imports, as NDJSON."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from itertools import chain, islice
from typing import IO, Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from incumbent.client import encoding
from incumbent.http.admission import (
    SessionForm,
    check_speaks_for_all,
    enter,
    organization_of,
)
from incumbent.http.credentials import Grant
from incumbent.http.door import Door, Endpoint, check_media_type, credential, refused
from incumbent.http.problems import Refusal, document_of
from incumbent.http.turns import Caller
from incumbent.model.errors import InvalidInput
from incumbent.model.keys import KeyScope
from incumbent.session import Session
from incumbent.stores.exports import UNSEALED_VERSION, checked_header, sealed, unsealed
from incumbent.turns.observation import Observation

NDJSON = "application/x-ndjson"
_AT_A_TIME = 200
_LOOK = 0.5
"""Seconds between two looks at whether the service is being stopped."""

Add = Callable[[str, str, Endpoint], None]


class Opening(BaseModel):
    """The first line of a stream of turns: whose they are."""

    session: SessionForm

    model_config = ConfigDict(extra="forbid", strict=True)


class ForOrganization(BaseModel):
    """What an export is of."""

    session: SessionForm = Field(default_factory=SessionForm.model_construct)

    model_config = ConfigDict(extra="forbid", strict=True)


class _Stream(StreamingResponse):
    """An answer in pieces, for a request that may still be arriving.

    Its base class listens whether the caller is gone, and would so take pieces of the request away
    from the reader of the body. Here the reading and the writing notice it.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        pieces = self.body_iterator
        assert isinstance(pieces, AsyncIterator)
        async with aclosing(pieces):  # type: ignore[type-var]
            await self.stream_response(send)


def register(door: Door, add: Add) -> None:
    add("/v1/observe/stream", "POST", _observing(door))
    add("/v1/export", "POST", _exporting(door))
    add("/v1/import", "POST", _importing(door))


# turns


def _observing(door: Door) -> Endpoint:
    async def observing(request: Request) -> Response:
        shown = _shown(request)
        grant = await door.in_thread(door.desk.admit, shown, KeyScope.WRITE)
        lines = _lines(door, request)
        opening = Opening.model_validate_json(await anext(lines, b""))
        session = await door.in_thread(enter, door.memory, grant, opening.session)
        caller = await door.caller(shown)
        told = _observations(door, session, lines, shown, caller, request.state.request_id)
        return _Stream(told, media_type=NDJSON)

    return observing


async def _observations(
    door: Door,
    session: Session,
    lines: AsyncIterator[bytes],
    shown: str | None,
    caller: Caller | None,
    request_id: str,
) -> AsyncIterator[bytes]:
    """A line for each turn, as soon as it is durable; a problem ends the stream."""
    number, awaited = 0, 1
    try:
        async with door.turns.under_way(caller):
            async for line in lines:
                number = awaited
                turn = _record(line, number)
                # A stream can outlast the credential that opened it, and is no way past the limits.
                while pause := await door.in_thread(door.desk.wait, shown, KeyScope.WRITE):
                    await asyncio.sleep(pause)
                (made,) = await door.work(caller, session.observe_many, [turn], writes=True)
                awaited = number + 1
                yield encoding.dumped(Observation, made) + b"\n"
    except ClientDisconnect:
        return
    except Exception as error:
        yield problem_line(error, request_id, turn=awaited)


def problem_line(error: Exception, request_id: str, **more: Any) -> bytes:
    """The last line of a stream that could not go on."""
    told = {"problem": document_of(refused(error, request_id), request_id), **more}
    return json.dumps(told).encode() + b"\n"


async def _pieces(door: Door, request: Request) -> AsyncIterator[bytes]:
    """The pieces of a body as they arrive. Each has to arrive within a time limit.

    Waiting ends when the service is being stopped: a stream may be idle for minutes.
    """
    pieces = request.stream()
    while True:
        arriving = asyncio.ensure_future(anext(pieces, None))
        try:
            await _arrived(arriving, door, request)
        finally:
            arriving.cancel()
        piece = arriving.result()
        if piece is None:
            return
        yield piece


async def _arrived(arriving: asyncio.Future[bytes | None], door: Door, request: Request) -> None:
    ends = time.monotonic() + door.service.idle_timeout
    while not arriving.done():
        left = ends - time.monotonic()
        if left <= 0:
            raise Refusal(408, "Timeout", "nothing more of the body arrived in time")
        await asyncio.wait({arriving}, timeout=min(_LOOK, left))
        if not arriving.done() and getattr(request.app.state, "stopping", False):
            raise Refusal(503, "Stopping", "the service is being stopped; send the rest later")


async def _lines(door: Door, request: Request) -> AsyncIterator[bytes]:
    """The lines of a body as they arrive. The body may be endless, a line may not."""
    limit = door.service.max_body_bytes
    rest = b""
    async for piece in _pieces(door, request):
        rest += piece
        *whole, rest = rest.split(b"\n")
        for line in whole:
            if line.strip():
                yield line
        if len(rest) > limit:
            raise _long_line(limit)
    if rest.strip():
        yield rest


def _long_line(limit: int) -> Refusal:
    return Refusal(413, "TooLarge", f"a line has at most {limit:,} bytes")


def _record(line: bytes, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise Refusal(400, "InvalidInput", f"line {number} is not JSON") from None
    if not isinstance(record, dict):
        raise Refusal(422, "InvalidInput", f"line {number} is no object")
    return record


def _shown(request: Request) -> str | None:
    """The credential of a request that has lines for a body."""
    check_media_type(request, NDJSON)
    return credential(request)


# a whole organization


def _exporting(door: Door) -> Endpoint:
    async def exporting(request: Request) -> Response:
        body = await door.body(request)
        grant = await door.in_thread(door.desk.admit, credential(request), KeyScope.ADMIN)
        form = ForOrganization.model_validate_json(body or b"{}")
        organization = organization_of(grant, form.session)
        records = iter(door.memory.export(organization))
        caller = await door.caller(credential(request))
        first = await door.work(caller, _some, records)
        told = _chunks(door, first, records, caller, request.state.request_id)
        return _Stream(told, media_type=NDJSON)

    return exporting


def _some(records: Iterator[dict[str, Any]]) -> bytes:
    return b"".join(
        json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in islice(records, _AT_A_TIME)
    )


async def _chunks(
    door: Door,
    chunk: bytes,
    records: Iterator[dict[str, Any]],
    caller: Caller | None,
    request_id: str,
) -> AsyncIterator[bytes]:
    """The export, piece by piece. If it cannot go on, its last line is a problem, which no import
    accepts."""
    try:
        while chunk:
            yield chunk
            chunk = await door.work(caller, _some, records)
    except Exception as error:
        yield problem_line(error, request_id)
    finally:
        # A caller who went away must not keep the store's reader.
        close = getattr(records, "close", None)
        if close is not None:
            await door.in_thread(close)


def _importing(door: Door) -> Endpoint:
    async def importing(request: Request) -> Response:
        shown = _shown(request)
        grant = await door.in_thread(door.desk.admit, shown, KeyScope.ADMIN)
        check_speaks_for_all(door.memory, grant)
        named = request.query_params.get("organization")
        allow_unsealed = request.query_params.get("allow_unsealed") == "true"
        form = SessionForm.model_validate({"organization": named})
        # Without an argument, the header of the export decides.
        unsaid = grant.organization is None and named is None
        organization = None if unsaid else organization_of(grant, form)
        limit, size = door.service.max_import_bytes, 0
        with tempfile.SpooledTemporaryFile(max_size=door.service.max_body_bytes) as file:
            async for piece in _pieces(door, request):
                size += len(piece)
                if size > limit:
                    raise Refusal(413, "TooLarge", f"an import has at most {limit:,} bytes")
                file.write(piece)
            caller = await door.caller(shown)
            given = (door, grant, organization, allow_unsealed, file)
            count = await door.work(caller, _imported, *given, writes=True)
        return JSONResponse({"records": count})

    return importing


def _imported(
    door: Door, grant: Grant, organization: str | None, allow_unsealed: bool, file: IO[bytes]
) -> int:
    file.seek(0)
    records: Iterator[dict[str, Any]] = _records(file, door.service.max_body_bytes)
    if grant.organization is not None:
        records = _without_declarations(records, allow_unsealed)
    return door.memory.import_(records, organization=organization, allow_unsealed=allow_unsealed)


def _without_declarations(
    records: Iterator[dict[str, Any]], allow_unsealed: bool
) -> Iterator[dict[str, Any]]:
    """The same export without its declarations, which hold for every organization: a credential is
    for one. The rest is sealed anew after the original was found whole."""
    header = checked_header(next(records, None), allow_unsealed=allow_unsealed)
    kept = (one for one in unsealed(header, records) if not _declares(one))
    whole = chain([header], kept)
    return whole if header["version"] == UNSEALED_VERSION else sealed(whole)


def _declares(record: Any) -> bool:
    return isinstance(record, dict) and record.get("kind") == "declaration"


def _records(file: IO[bytes], limit: int) -> Iterator[dict[str, Any]]:
    number = 0
    while line := file.readline(limit + 1):
        number += 1
        if len(line) > limit:
            raise _long_line(limit)
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            raise InvalidInput(f"line {number} of the export is not JSON") from None
