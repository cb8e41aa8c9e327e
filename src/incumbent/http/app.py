"""The ASGI application: its routes, and nothing that decides anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

import incumbent
from incumbent.http import audit_stream, openapi, streams
from incumbent.http.configuration import Service
from incumbent.http.door import Door, Endpoint, credential, request_id_of
from incumbent.http.operations import make_forms
from incumbent.http.problems import Refusal, response_of
from incumbent.memory import Memory
from incumbent.model.errors import IncumbentError
from incumbent.model.keys import KeyScope
from incumbent.operations import OPERATIONS, Operation

if TYPE_CHECKING:
    from incumbent.http.metrics import Metrics  # takes a package that only a service needs


def application(
    memory: Memory, service: Service | None = None, metrics: Metrics | None = None
) -> FastAPI:
    """The service as an ASGI application, for `incumbent serve` or a server of your own."""
    service = service or Service()
    door = Door(memory, service, metrics)
    make_forms()
    app = _Application(
        title="Incumbent",
        version=incumbent.__version__,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a redirect would go where the Host header says
    )

    def add(path: str, method: str, endpoint: Endpoint) -> None:
        if metrics is not None:
            metrics.paths.add(path)
        guarded = door.guarded(endpoint)
        app.add_route(path, guarded, methods=[method])
        if "{" not in path:
            app.direct[method, path] = guarded

    for operation in OPERATIONS:
        add(f"/v1/{operation.path}", "POST", _endpoint(door, operation))
    streams.register(door, add)
    add(audit_stream.PATH, "POST", audit_stream.endpoint(door))
    add("/health", "GET", _health)
    add("/ready", "GET", _ready(door))
    if metrics is not None:
        add("/metrics", "GET", _exposed(door, metrics))
    add("/openapi.json", "GET", _described(door))
    if service.inspector:
        _add_pages(door, add)
    _add_fallbacks(app, door)
    return app


class _Application(FastAPI):
    """An application that finds its own paths at once.

    An endpoint answers for itself, errors included, so there is nothing that the layers around a
    route would have to do; they take half as long as a short call. Whoever puts a middleware around
    the application gets every request through it.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.direct: dict[tuple[str, str], Endpoint] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = None
        if scope["type"] == "http" and not self.user_middleware:
            endpoint = self.direct.get((scope["method"], scope["path"]))
        if endpoint is None:
            await super().__call__(scope, receive, send)
            return
        scope["app"] = self
        response = await endpoint(Request(scope, receive, send))
        await response(scope, receive, send)


def _endpoint(door: Door, operation: Operation) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        body = await door.body(request)
        answer, again = await door.work(
            await door.caller(credential(request)),
            door.desk.perform,
            operation,
            credential(request),
            body,
            request.headers.get("idempotency-key"),
            writes=operation.changes or operation.rehearsed,
        )
        headers = {"Idempotency-Replayed": "true"} if again else None
        return Response(answer, headers=headers, media_type="application/json")

    return endpoint


async def _health(request: Request) -> Response:
    """Whether the process answers."""
    return JSONResponse({"status": "ok", "version": incumbent.__version__})


def _ready(door: Door) -> Endpoint:
    async def ready(request: Request) -> Response:
        """Whether the store answers too."""

        def look() -> None:
            with door.memory.store.read("incumbent.ready") as reader:
                reader.head()

        try:
            await door.in_thread(look)
        except IncumbentError as error:
            detail = f"the store does not answer ({type(error).__name__})"
            raise Refusal(503, "NotReady", detail, headers={"Retry-After": "1"}) from None
        return JSONResponse({"status": "ready"})

    return ready


def _exposed(door: Door, metrics: Metrics) -> Endpoint:
    async def exposed(request: Request) -> Response:
        await door.in_thread(door.desk.admit, credential(request), KeyScope.METRICS)
        return metrics.exposition()

    return exposed


def _described(door: Door) -> Endpoint:
    async def described(request: Request) -> Response:
        # Made when first asked for, so that no start has to wait for it.
        return JSONResponse(await door.in_thread(openapi.document))

    return described


def _add_pages(door: Door, add: Callable[[str, str, Endpoint], None]) -> None:
    # Here, because its pages are made of parts of this package.
    from incumbent.inspector import app as inspector

    inspector.register(door, add)


def _add_fallbacks(app: FastAPI, door: Door) -> None:
    """Report unknown paths and methods as problems too, and count them."""

    async def missing(request: Request, error: Any) -> Response:
        status = error.status_code
        headers = error.headers or {}
        if status == 405:
            title, detail = "MethodNotAllowed", f"ask for this with {headers.get('Allow', 'POST')}"
        else:
            title = "NotFound" if status == 404 else "Refused"
            detail = "there is nothing here; /openapi.json has what there is"
        response = response_of(
            Refusal(status, title, detail, headers=headers), request_id_of(request)
        )
        if door.metrics is not None:
            door.metrics.count(request, response, 0.0)
        return response

    from starlette.exceptions import HTTPException

    app.add_exception_handler(HTTPException, missing)
