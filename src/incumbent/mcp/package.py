"""The package `mcp`, whichever of its two shapes is installed: from 1.30 on, and from 2.0 on.

An agent's framework says which versions it can stand, and some cannot stand the second shape yet.
The server must not keep anybody from having both, so that nothing outside this module knows the
package. Handlers take and give what goes over the wire; here it becomes what the package wants.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.metadata import version
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

try:
    import mcp as _mcp  # noqa: F401
except ImportError as error:  # pragma: no cover - an environment without the extra
    raise ImportError(f"{error}; install it with: pip install 'incumbent[mcp]'") from error

# By its number: the other shape's types can be installed beside it.
IS_FIRST = int(version("mcp").partition(".")[0]) < 2
"""Whether the installed package has the first of its shapes, that of 1.x."""
_types: Any = import_module("mcp.types" if IS_FIRST else "mcp_types")

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32602, -32603
"""Codes of errors, as JSON-RPC has them."""

Wire = dict[str, Any]
"""A message, or a part of one, as it goes over the wire."""
Handler = Callable[[Mapping[str, Any] | None, Any], Awaitable[Wire]]
"""Answers a request: the ASGI scope that it came with, if any, and its parameters."""

_METHODS = {
    "list_tools": "ListTools",
    "call_tool": "CallTool",
    "list_resources": "ListResources",
    "list_resource_templates": "ListResourceTemplates",
    "read_resource": "ReadResource",
    "list_prompts": "ListPrompts",
    "get_prompt": "GetPrompt",
    "completion": "Complete",
}
"""What a server can be asked for, and how the package calls the request and the result."""


class WireFailure(Exception):
    """A request that is answered with an error of the protocol."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


def server(
    name: str, number: str, about: Mapping[str, str], handlers: Mapping[str, Handler]
) -> Any:
    """A server of the protocol that asks these handlers, by the names of `_METHODS`."""
    made = import_module("mcp.server.lowlevel" if IS_FIRST else "mcp.server").Server
    if IS_FIRST:
        # It has a name, and neither a title nor a description.
        found = made(name, version=number, instructions=about["instructions"])
        for method, handler in handlers.items():
            kind = getattr(_types, f"{_METHODS[method]}Request")
            found.request_handlers[kind] = _first(found, _METHODS[method], handler)
        return found
    asked = {f"on_{method}": _second(_METHODS[method], one) for method, one in handlers.items()}
    return made(name, version=number, **about, **asked)


def _first(found: Any, method: str, handler: Handler) -> Callable[[Any], Awaitable[Any]]:
    async def answer(request: Any) -> Any:
        answered = await _answered(method, handler, found.request_context.request, request.params)
        return _types.ServerResult(answered)

    return answer


def _second(method: str, handler: Handler) -> Callable[[Any, Any], Awaitable[Any]]:
    async def answer(context: Any, params: Any) -> Any:
        return await _answered(method, handler, context.request, params)

    return answer


async def _answered(method: str, handler: Handler, request: Any, params: Any) -> Any:
    scope = None if request is None else request.scope
    try:
        told = await handler(scope, params)
    except WireFailure as failure:
        raise _error(failure) from None
    return getattr(_types, f"{method}Result").model_validate(told)


def _error(failure: WireFailure) -> Exception:
    errors = import_module("mcp.shared.exceptions")
    if IS_FIRST:
        given = {"code": failure.code, "message": failure.message, "data": failure.data}
        told: Exception = errors.McpError(_types.ErrorData(**given))
    else:
        told = errors.MCPError(failure.code, failure.message, failure.data)
    return told


# transports


def message(wire: Wire) -> Any:
    """An answer for the stream of a transport."""
    kind = _types.JSONRPCError if "error" in wire else _types.JSONRPCResponse
    made = kind.model_validate(wire)
    wrapped = _types.JSONRPCMessage(made) if IS_FIRST else made
    return import_module("mcp.shared.message").SessionMessage(wrapped)


def standard_streams() -> Any:
    """The transport over the standard streams: a context that gives messages and answers."""
    return import_module("mcp.server.stdio").stdio_server()


def http_application(found: Any, path: str, max_body_bytes: int) -> ASGIApp:
    """The protocol over HTTP at a path.

    The next caller may be somebody else: nothing is kept between two requests. Whoever is in front
    of it has looked at the names of hosts and origins.
    """
    security = import_module("mcp.server.transport_security").TransportSecuritySettings
    unfenced = security(enable_dns_rebinding_protection=False)
    if not IS_FIRST:
        app: ASGIApp = found.streamable_http_app(
            streamable_http_path=path,
            stateless_http=True,
            json_response=True,
            max_request_body_size=max_body_bytes,
            transport_security=unfenced,
        )
        return app
    manager = import_module("mcp.server.streamable_http_manager").StreamableHTTPSessionManager(
        found,
        stateless=True,
        json_response=True,
        max_request_body_size=max_body_bytes,
        security_settings=unfenced,
    )
    return Starlette(routes=[Route(path, _Managed(manager))], lifespan=_running(manager))


class _Managed:
    """Passes requests on to the package's own manager."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, receive, send)


def _running(manager: Any) -> Any:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    return lifespan
