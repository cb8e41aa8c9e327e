"""The door: the protocol over HTTP, with the same admission as `incumbent serve`.

Every request is admitted by itself, by its credential: there are no sessions of the protocol that
somebody could take over, and a revoked key is refused at the next request.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from incumbent.http.configuration import Service
from incumbent.http.credentials import Gate
from incumbent.http.door import Door, credential, refused, request_id_of
from incumbent.http.limits import Answers, Rates
from incumbent.http.operations import Desk
from incumbent.http.problems import Refusal, response_of
from incumbent.http.server import listening
from incumbent.http.turns import Caller
from incumbent.mcp.lone_surrogates import answer_to
from incumbent.mcp.package import http_application
from incumbent.mcp.seats import Seat, Seats
from incumbent.mcp.server import SEAT, protocol_server
from incumbent.memory import Memory
from incumbent.model.keys import KeyScope

PATH = "/mcp"
_log = logging.getLogger("incumbent.mcp")


class _Unkept(Gate):
    """The gate for a memory that is a service elsewhere, which does not give out its keys."""

    def _look(self) -> None:
        return


def _door(memory: Memory, service: Service) -> Door:
    door = Door(memory, service, None)
    if not hasattr(memory, "store"):
        door.gate = _Unkept(memory, service)
        rates = Rates(service.rate, service.burst)
        door.desk = Desk(memory, door.gate, rates, Answers())
    return door


class _Guarded:
    """Lets requests through to the protocol, with the seat of their sender."""

    def __init__(self, app: ASGIApp, door: Door, seats: Seats) -> None:
        self._app = app
        self._door = door
        self._seats = seats

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        request = Request(scope, receive)
        request_id = request_id_of(request)
        answered = _Status(send)
        async with AsyncExitStack() as held:
            try:
                seat, body, caller = await self._let_in(request)
                await held.enter_async_context(self._door.turns.under_way(caller))
                await held.enter_async_context(self._door.turns.turn(caller))
            except ClientDisconnect:
                return
            except Exception as error:
                response = response_of(refused(error, request_id), request_id)
                response.headers["X-Request-Id"] = request_id
                await response(scope, receive, answered.send)
            else:
                await self._answer(scope, seat, body, receive, answered.send)
        _log.info(
            "%s %s %d",
            request.method,
            request.url.path,
            answered.status,
            extra={
                "incumbent_fields": {
                    "request_id": request_id,
                    "method": request.method,
                    "path": request.url.path,
                    "status": answered.status,
                    "ms": round(1e3 * (time.perf_counter() - began), 2),
                }
            },
        )

    async def _answer(
        self, scope: Scope, seat: Seat, body: bytes, receive: Receive, send: Send
    ) -> None:
        answer = answer_to(body.decode("utf-8", "replace"))
        if answer is None:
            await self._app({**scope, SEAT: seat}, _once(body, receive), send)
            return
        await JSONResponse(answer)(scope, receive, send)

    async def _let_in(self, request: Request) -> tuple[Seat, bytes, Caller | None]:
        self._door.check_origin(request)
        grant = await self._door.in_thread(
            self._door.desk.admit, credential(request), KeyScope.READ
        )
        seat = self._seats.of(grant)
        if request.url.path != PATH:
            raise Refusal(404, "NotFound", f"there is nothing here; the protocol is at {PATH}")
        if request.method != "POST":
            detail = "every message is a POST here; there is no stream to listen to"
            raise Refusal(405, "MethodNotAllowed", detail, headers={"Allow": "POST"})
        body = await self._door.body(request)
        return seat, body, await self._door.caller(credential(request))


class _Status:
    """Passes an answer on, and remembers its status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            private = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
            named = {name.lower() for name, _ in message["headers"]}
            added = [one for one in private if one[0] not in named]
            message = {**message, "headers": [*message["headers"], *added]}
        await self._send(message)


def _once(body: bytes, receive: Receive) -> Receive:
    """A body that was read already, for its next reader."""
    waiting = [body]

    async def again() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return again


def application(memory: Memory, seats: Seats, service: Service) -> ASGIApp:
    """The protocol over HTTP, as an ASGI application."""
    server = protocol_server(seats, threads=service.threads)
    # The door looks at hosts and origins itself, and knows more names for this machine.
    app = http_application(server, PATH, service.max_body_bytes)
    return _Guarded(app, _door(memory, service), seats)


def serve(memory: Memory, seats: Seats, service: Service, announce: Callable[[str], None]) -> None:
    """Answer requests until a signal to stop; calls under way are finished first."""
    app: Any = application(memory, seats, service)
    listening(app, service, lambda address: announce(f"{address}{PATH}"), lifespan="on").run()
