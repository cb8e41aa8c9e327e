"""The door: the checks that every request passes, whatever it asks for."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import anyio
from anyio import CapacityLimiter
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from incumbent.clock import system_clock
from incumbent.http.configuration import Service, is_here
from incumbent.http.credentials import Gate
from incumbent.http.limits import Answers, Rates
from incumbent.http.operations import Desk
from incumbent.http.problems import Refusal, refusal_of, response_of
from incumbent.http.turns import Caller, Callers, Turns
from incumbent.memory import Memory
from incumbent.model.ids import new_id

if TYPE_CHECKING:
    from incumbent.http.metrics import Metrics  # takes a package that only a service needs

_log = logging.getLogger("incumbent.http")
_LONGEST_ID = 100
_ENDED = "the request ended before its body did"
_SMALL = 65_536
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")

Endpoint = Callable[[Request], Awaitable[Response]]


class Door:
    """The checks that every request passes: origin, credential and size; and the form of errors."""

    def __init__(self, memory: Memory, service: Service, metrics: Metrics | None) -> None:
        self.memory = memory
        self.service = service
        self.metrics = metrics
        self.limiter = CapacityLimiter(service.threads)
        self._writers = CapacityLimiter(max(1, service.threads // 2))
        self.gate = Gate(memory, service)
        self.desk = Desk(memory, self.gate, Rates(service.rate, service.burst), Answers())
        self.desk.most = {"turns": service.max_turns, "writes": service.max_writes}
        self.desk.max_budget = service.max_budget
        self.turns = Turns(threads=service.threads, at_once=service.at_once, share=service.share)
        self._callers = Callers()

    async def in_thread(self, call: Callable[..., Any], *given: Any) -> Any:
        """Run a call of the memory, which may wait for a disk, on one of a few threads.

        A call that has begun is finished even if the caller has gone away: its writes are written
        whole.
        """
        return await anyio.to_thread.run_sync(call, *given, limiter=self.limiter)

    async def work(
        self, caller: Caller | None, call: Callable[..., Any], *given: Any, writes: bool = False
    ) -> Any:
        """Run a call of the memory that may take long, when it is its organization's turn.

        One that `writes` may have to wait for the writers of other organizations, and so does not
        get the last thread: who only reads waits for nobody.
        """
        async with self.turns.turn(caller) as meter:
            if not writes:
                return await self.in_thread(meter.measured, call, *given)
            async with self._writers:
                return await self.in_thread(meter.measured, call, *given)

    async def caller(self, shown: str | None) -> Caller | None:
        """The caller that takes a turn, by the credential shown; None where none is needed."""
        if self.gate.is_open or shown is None:
            return None
        known = self._callers.of(shown)
        if known is None:
            grant = await self.in_thread(self.gate.admit, shown)
            if grant.organization is None:
                return None
            known = self._callers.keep(shown, Caller(grant.name, grant.organization))
        return known

    def guarded(self, endpoint: Endpoint) -> Endpoint:
        """An endpoint whose errors become problem documents, and whose requests are logged."""

        async def guarded(request: Request) -> Response:
            began = time.perf_counter()
            request_id = request_id_of(request)
            request.state.request_id = request_id
            if self.metrics is not None:
                self.metrics.under_way.inc()
            try:
                self.check_origin(request)
                if self.gate.is_open or credential(request) is not None:
                    check_parameters(request)
                async with self.turns.under_way(self._callers.of(credential(request))):
                    response = await endpoint(request)
            except ClientDisconnect:
                response = response_of(Refusal(400, "Disconnected", _ENDED), request_id)
            except Exception as error:
                response = response_of(refused(error, request_id), request_id)
            finally:
                if self.metrics is not None:
                    self.metrics.under_way.dec()
            response.headers["X-Request-Id"] = request_id
            response.headers.setdefault("Cache-Control", "no-store")
            response.headers["X-Content-Type-Options"] = "nosniff"
            seconds = time.perf_counter() - began
            if self.metrics is not None:
                self.metrics.count(request, response, seconds)
            if _log.isEnabledFor(logging.INFO):
                _tell(request, request_id, response.status_code, seconds)
            return response

        return guarded

    def check_origin(self, request: Request) -> None:
        """Without credentials, admit only programs on this machine, and no web page under any name.

        A page in a browser can post to a local port, and an attacker's name can point here; the
        browser then sends the origin of the page and the name it used. A proxy that listens
        elsewhere would let everybody in.
        """
        if not self.gate.is_open:
            return
        if not is_here(request.headers.get("host", "")):
            raise Refusal(403, "NotPermitted", "this service answers to localhost only")
        origin = request.headers.get("origin")
        if origin is not None and not is_here(origin.partition("://")[2]):
            raise Refusal(403, "NotPermitted", "web pages from elsewhere may not call this service")
        if any(name in request.headers for name in _FORWARDED):
            raise Refusal(
                403,
                "NotPermitted",
                "a proxy passed this on, and the service has no credentials yet: anybody could "
                "come in that way. Make a key with `incumbent keys create NAME`",
            )

    async def body(
        self, request: Request, media_type: str = "application/json", shown: str | None = None
    ) -> bytes:
        """The body of a request: of the right type, small enough, and in time.

        `shown` is the credential of a caller who does not show it in a header.
        """
        check_media_type(request, media_type)
        check_length(request, self.service.max_body_bytes)
        if not _is_small(request):
            # Nobody unknown makes us hold much. A small body is quicker read than refused.
            await self.in_thread(self.gate.admit, shown or credential(request))
        return await self.read(request)

    async def read(self, request: Request) -> bytes:
        """The body of a request, small enough and in time, whatever its type."""
        limit = self.service.max_body_bytes
        found = bytearray()
        try:
            async with asyncio.timeout(self.service.body_timeout):
                async for piece in request.stream():
                    found += piece
                    if len(found) > limit:
                        raise too_large(limit)
        except TimeoutError:
            raise Refusal(408, "Timeout", "the body did not arrive in time") from None
        return bytes(found)


def _tell(request: Request, request_id: str, status: int, seconds: float) -> None:
    """Log an answered request."""
    method, path = request.method, request.url.path
    fields = {
        "request_id": request_id,
        "method": method,
        "path": path,
        "status": status,
        "ms": round(1e3 * seconds, 2),
    }
    _log.info("%s %s %d", method, path, status, extra={"incumbent_fields": fields})


def credential(request: Request) -> str | None:
    """The credential that a request shows. Two of them count as none: a proxy on the way may have
    gone by the other one."""
    shown = request.headers.getlist("authorization")
    return shown[0] if len(shown) == 1 else None


def _is_small(request: Request) -> bool:
    said = request.headers.get("content-length", "")
    return said.isdigit() and len(said) < 10 and int(said) <= _SMALL


def check_media_type(request: Request, media_type: str) -> None:
    said = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if said != media_type:
        raise Refusal(415, "UnsupportedMediaType", f"send it with Content-Type: {media_type}")


def check_parameters(request: Request) -> None:
    """Refuse query parameters, which nobody would read: a caller who names an organization there
    means it."""
    if request.method != "POST" or not request.scope.get("query_string"):
        return
    known = ("organization",) if request.url.path == "/v1/import" else ()
    for name in request.query_params:
        if name not in known:
            raise Refusal(
                422,
                "InvalidInput",
                f"?{name[:40]}= is not read here; say it in the body (/openapi.json has how)",
            )


def check_length(request: Request, limit: int) -> None:
    said = request.headers.get("content-length")
    if said is not None and said.isdigit() and (len(said) > 15 or int(said) > limit):
        raise too_large(limit)


def too_large(limit: int) -> Refusal:
    return Refusal(413, "TooLarge", f"a request has at most {limit:,} bytes")


def refused(error: Exception, request_id: str) -> Refusal:
    """The response for an error. Errors of ours are logged too."""
    refusal = refusal_of(error)
    if refusal.status >= 500 and not isinstance(error, Refusal):
        # The type and the place, not the message: messages quote what people said.
        _log.error(
            "%s",
            type(error).__name__,
            extra={"incumbent_fields": {"request_id": request_id, "where": _where(error)}},
        )
    return refusal


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    places = []
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{code.co_name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " > ".join(places[-6:])


def request_id_of(request: Request) -> str:
    """The caller's own id for a request, if it is a proper one."""
    said = request.headers.get("x-request-id", "")
    if 0 < len(said) <= _LONGEST_ID and said.isascii() and said.isprintable():
        return said
    return new_id(system_clock())
