"""The protocol: tools, resources and prompts, from a request to its answer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar
from urllib.parse import quote, unquote, urlsplit

import anyio
from anyio import CapacityLimiter
from pydantic import ValidationError

import incumbent
from incumbent.http.problems import refusal_of
from incumbent.http.turns import METER
from incumbent.mcp import answers, package
from incumbent.mcp.package import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, Wire, WireFailure
from incumbent.mcp.seats import Seat, Seats
from incumbent.mcp.tools import BY_NAME, TOOLS, Tool, chain_shown
from incumbent.model.errors import InvalidInput, UnknownFact, UnknownTarget
from incumbent.model.keys import KeyScope

_log = logging.getLogger("incumbent.mcp")
_THREADS = 8
_MOST_COMPLETIONS = 100
_MOST_FAULTS = 5
SEAT = "incumbent.seat"
"""The key in the ASGI scope under which the door leaves the seat of a request's sender."""

FACTS = "incumbent://facts"
_FACT = "incumbent://facts/{id}"
_CHAIN = "incumbent://chains/{key}"
_TEXT = "text/plain"
_WRONG = "something went wrong here, and nothing is known of the outcome; the log has the place"
_HINT = "; `context`, or the resource incumbent://facts, shows what there is"
PROMPT = "how_to_use_incumbent"

Sent = Mapping[str, Any] | None
"""The ASGI scope that a request came with; None for one over the standard streams."""
T = TypeVar("T")


def _text(name: str) -> str:
    return (files("incumbent.mcp") / "prompts" / f"{name}.md").read_text(encoding="utf-8")


@cache
def _listed(tool: Tool) -> Wire:
    """A tool as clients list it."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.form.model_json_schema(),
        "outputSchema": tool.answer.model_json_schema(mode="serialization"),
        "annotations": {
            "title": tool.title,
            "readOnlyHint": tool.reads_only,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent,
            "openWorldHint": False,
        },
    }


def _as_text(text: str) -> Wire:
    """A text as part of an answer."""
    return {"type": "text", "text": text}


class Handlers:
    """Answers the requests of the protocol for the seat they come from."""

    def __init__(self, seats: Seats, threads: int = _THREADS) -> None:
        self._seats = seats
        self._threads = threads
        self._limiter: CapacityLimiter | None = None

    def _seat(self, sent: Sent) -> Seat:
        """The seat of a request. Over a network only the door gives it."""
        if sent is None:
            return self._seats.here()
        seat = sent.get(SEAT)
        if not isinstance(seat, Seat):
            raise WireFailure(INVALID_REQUEST, "this request did not come through the door")
        return seat

    async def _in_thread(self, call: Callable[..., T], *given: Any) -> T:
        """Run a call of the memory, which may wait for a disk. A call that has begun is
        finished."""
        if self._limiter is None:
            self._limiter = CapacityLimiter(self._threads)
        meter = METER.get()
        if meter is None:
            return await anyio.to_thread.run_sync(call, *given, limiter=self._limiter)
        measured: Callable[..., T] = meter.measured
        return await anyio.to_thread.run_sync(measured, call, *given, limiter=self._limiter)

    # tools

    async def list_tools(self, sent: Sent, params: Any) -> Wire:
        """The tools that this seat may use; others are not even offered."""
        seat = self._seat(sent)
        return {"tools": [_listed(one) for one in TOOLS if seat.allows(one.scope)]}

    async def call_tool(self, sent: Sent, params: Any) -> Wire:
        """Call a tool. Errors are told to the model, which can often do better."""
        seat = self._seat(sent)
        tool = BY_NAME.get(params.name)
        if tool is None:
            known = ", ".join(one.name for one in TOOLS if seat.allows(one.scope))
            return _failed(f"there is no tool {params.name!r:.80}; there are {known}")
        try:
            seat.check(tool.scope)
            form = tool.form.model_validate(params.arguments or {})
            answer = await self._in_thread(tool.call, seat, form)
        except Exception as error:
            return _failed(_told(error))
        return {
            "content": [_as_text(_carried(answer.told()))],
            "structuredContent": answer.model_dump(mode="json"),
        }

    # resources

    async def list_resources(self, sent: Sent, params: Any) -> Wire:
        listed = {
            "uri": FACTS,
            "name": "facts",
            "title": "Facts in office",
            "description": "Every fact that holds for this session, newest first.",
            "mimeType": _TEXT,
        }
        return {"resources": [listed]}

    async def list_templates(self, sent: Sent, params: Any) -> Wire:
        fact = {
            "uriTemplate": _FACT,
            "name": "fact",
            "title": "A fact",
            "description": "One fact by its id, whatever its standing, with all of its value.",
            "mimeType": _TEXT,
        }
        chain = {
            "uriTemplate": _CHAIN,
            "name": "chain",
            "title": "A chain",
            "description": "The values that a key has had, oldest first.",
            "mimeType": _TEXT,
        }
        return {"resourceTemplates": [fact, chain]}

    async def read_resource(self, sent: Sent, params: Any) -> Wire:
        seat, uri = self._seat(sent), str(params.uri)
        try:
            seat.check(KeyScope.READ)
            text = await self._in_thread(_read, seat, uri)
        except Exception as error:
            raise WireFailure(INVALID_PARAMS, _told(error), {"uri": uri}) from None
        return {"contents": [{"uri": uri, "mimeType": _TEXT, "text": _carried(text)}]}

    async def complete(self, sent: Sent, params: Any) -> Wire:
        """The keys and ids that begin with the typed text, for clients that offer them."""
        seat, typed = self._seat(sent), params.argument
        found: list[str] = []
        wanted = getattr(params.ref, "uri", None)
        if wanted in (_FACT, _CHAIN) and seat.allows(KeyScope.READ):
            try:
                facts = await self._in_thread(seat.session().facts)
            except Exception as error:
                raise WireFailure(INTERNAL_ERROR, _told(error)) from None
            names = (fact.id if wanted == _FACT else fact.key for fact in facts)
            found = sorted({_carried(one) for one in names if one and one.startswith(typed.value)})
        offered = {
            "values": found[:_MOST_COMPLETIONS],
            "total": len(found),
            "hasMore": len(found) > _MOST_COMPLETIONS,
        }
        return {"completion": offered}

    # prompts

    async def list_prompts(self, sent: Sent, params: Any) -> Wire:
        listed = {
            "name": PROMPT,
            "title": "How to use Incumbent",
            "description": "Shows a model how to work with this memory.",
        }
        return {"prompts": [listed]}

    async def get_prompt(self, sent: Sent, params: Any) -> Wire:
        if params.name != PROMPT:
            raise WireFailure(
                INVALID_PARAMS, f"there is no prompt {params.name!r:.80}; there is {PROMPT}"
            )
        seat = self._seat(sent)
        hidden = [tool.name for tool in TOOLS if not seat.allows(tool.scope)]
        text = _text(PROMPT)
        if hidden:
            text += f"\nNot offered on this connection: {', '.join(hidden)}.\n"
        said = {"role": "user", "content": _as_text(text)}
        return {"description": "How to use Incumbent", "messages": [said]}


def _read(seat: Seat, uri: str) -> str:
    """The text of a resource."""
    parts = urlsplit(uri)
    kind, name = parts.netloc, unquote(parts.path.removeprefix("/"))
    session = seat.session()
    if parts.scheme == "incumbent" and not parts.query and not parts.fragment:
        if kind == "facts" and not name:
            facts = session.facts()
            return "\n".join(answers.fact_shown(fact).told() for fact in facts) or "No facts."
        if kind == "facts":
            fact = session.get(name)
            if fact is None:
                raise UnknownFact(f"no fact with id {name!r:.80} exists here")
            return answers.fact_shown(fact, whole=True).told()
        if kind == "chains" and name:
            return chain_shown(session, name).told()
    raise InvalidInput(
        f"there is no resource {uri!r:.120}; there are {FACTS}, {_FACT} and {_CHAIN}"
    )


def chain_uri(key: str) -> str:
    """The address of a chain."""
    return _CHAIN.replace("{key}", quote(key, safe=""))


def _failed(message: str) -> Wire:
    return {"content": [_as_text(_carried(message))], "isError": True}


def _told(error: Exception) -> str:
    """An error in one sentence of ours; never a trace, and nothing of the inside."""
    if isinstance(error, ValidationError):
        return _malformed(error)
    refusal = refusal_of(error)
    if refusal.status >= 500:
        # The type, not the message: messages quote what people said.
        _log.error("%s", type(error).__name__, exc_info=_log.isEnabledFor(logging.DEBUG))
    if refusal.status == 500:
        return _WRONG
    if isinstance(error, UnknownFact | UnknownTarget):
        return refusal.detail.partition("; `incumbent facts`")[0] + _HINT
    return refusal.detail


def _malformed(error: ValidationError) -> str:
    """The faults in the arguments of a call, without the arguments themselves."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{_place(one)}: {_fault(one)}" for one in found[:_MOST_FAULTS])


def _place(fault: Any) -> str:
    return ".".join(map(str, fault["loc"]))[:100] or "arguments"


def _fault(fault: Any) -> str:
    if fault["type"] == "extra_forbidden":
        return "the tool does not take this, and who is asking is no argument"
    return str(fault["msg"])


def _carried(text: str) -> str:
    """Text that a message can carry: halves of characters cannot be encoded."""
    return text.encode("utf-8", "replace").decode("utf-8")


def protocol_server(seats: Seats, *, threads: int = _THREADS) -> Any:
    """A server of the protocol, for any transport."""
    handlers = Handlers(seats, threads)
    return package.server(
        "incumbent",
        incumbent.__version__,
        about={
            "title": "Incumbent",
            "description": "State for AI agents: facts hold office until a better one supersedes "
            "them.",
            "instructions": _text("instructions").strip(),
        },
        handlers={
            "list_tools": handlers.list_tools,
            "call_tool": handlers.call_tool,
            "list_resources": handlers.list_resources,
            "list_resource_templates": handlers.list_templates,
            "read_resource": handlers.read_resource,
            "list_prompts": handlers.list_prompts,
            "get_prompt": handlers.get_prompt,
            "completion": handlers.complete,
        },
    )
