"""An exchange: a request of an application, and the answer that is passed on to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

import httpx
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Send

from incumbent.http.problems import Refusal
from incumbent.proxy.apis import MessageApi
from incumbent.proxy.headers import Headers, to_client, value_of
from incumbent.proxy.replies import Deaf, ReplyListener, WholeEvents, broken_off
from incumbent.proxy.upstream import UpstreamBroke, pieces_of

_BROKE = "the provider broke the answer off; ask again"
_LONGEST_EVENT = 4_000_000
_EVENTS = "text/event-stream"


@dataclass
class Exchange:
    """A request under way, and what is told of it afterwards."""

    request: Request
    receive: Receive
    send: Send
    request_id: str
    status: int = 0
    """0 until the answer has begun."""
    outcome: str = "refused"
    added: list[tuple[bytes, bytes]] = field(default_factory=list)
    """Headers that we add to the answer."""

    @property
    def headers(self) -> Headers:
        found: Headers = self.request.scope["headers"]
        return found

    @property
    def path(self) -> bytes:
        """The path as it was sent."""
        raw: bytes = self.request.scope.get("raw_path") or self.request.scope["path"].encode()
        return raw.partition(b"?")[0]

    @property
    def has_body(self) -> bool:
        said = value_of(self.headers, b"content-length")
        return bool(value_of(self.headers, b"transfer-encoding")) or said not in (b"", b"0")

    async def begin(self, response: httpx.Response) -> None:
        """Pass on the head of an answer."""
        self.status = response.status_code
        headers = to_client(response.headers.raw, *self.added)
        await self.send({"type": "http.response.start", "status": self.status, "headers": headers})

    async def pass_on(self, piece: bytes) -> None:
        await self.send({"type": "http.response.body", "body": piece, "more_body": True})

    async def end(self) -> None:
        await self.send({"type": "http.response.body", "body": b"", "more_body": False})


class PassingBody:
    """The body of a request, passed on piece by piece: nothing of it is kept."""

    def __init__(self, receive: Receive, timeout: float) -> None:
        self._receive = receive
        self._timeout = timeout
        self.was_read = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        is_more = True
        while is_more:
            try:
                async with asyncio.timeout(self._timeout):
                    message = await self._receive()
            except TimeoutError:
                raise Refusal(408, "Timeout", "the body did not arrive in time") from None
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            is_more = message.get("more_body", False)
            if message.get("body"):
                yield message["body"]
        self.was_read.set()


async def while_there(
    receive: Receive, was_read: asyncio.Event | None, work: Callable[[], Awaitable[None]]
) -> None:
    """Do something as long as the client is there; when it goes away, the work is cancelled."""

    async def gone() -> None:
        if was_read is not None:
            await was_read.wait()  # until then whoever reads the body notices
        while (await receive())["type"] != "http.disconnect":
            pass

    working, watching = asyncio.ensure_future(work()), asyncio.ensure_future(gone())
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        await working
    finally:
        working.cancel()
        watching.cancel()
        await asyncio.gather(working, watching, return_exceptions=True)


def is_stream(response: httpx.Response) -> bool:
    """Whether an answer comes as events."""
    return str(response.headers.get("content-type", "")).lower().startswith(_EVENTS)


async def pass_untouched(exchange: Exchange, response: httpx.Response) -> None:
    """Pass an answer on as it comes. If it breaks off, so does what the client gets."""
    await exchange.begin(response)
    async with aclosing(pieces_of(response)) as pieces:
        async for piece in pieces:
            await exchange.pass_on(piece)
    await exchange.end()


async def pass_heard(
    exchange: Exchange, api: MessageApi, response: httpx.Response, reply: ReplyListener
) -> None:
    """Pass an answer on, and hear it on the way.

    Where a stream of events breaks off, its last event tells of it, as the API tells errors:
    clients raise it instead of taking half an answer for a whole one.
    """
    if isinstance(reply, Deaf) or not is_stream(response):
        await _pass_document(exchange, response, reply)
        return
    await exchange.begin(response)
    events = WholeEvents(_LONGEST_EVENT)
    try:
        async with aclosing(pieces_of(response)) as pieces:
            async for piece in pieces:
                whole = events.take(piece)
                for event in whole:
                    reply.hear(event)
                if whole:
                    await exchange.pass_on(b"".join(whole))
        rest = events.rest()
        reply.hear(rest)
        await exchange.pass_on(rest)
    except UpstreamBroke:
        exchange.outcome = "broken off"
        await exchange.pass_on(broken_off(api, _BROKE))
    await exchange.end()


async def _pass_document(
    exchange: Exchange, response: httpx.Response, reply: ReplyListener
) -> None:
    await exchange.begin(response)
    async with aclosing(pieces_of(response)) as pieces:
        async for piece in pieces:
            reply.hear(piece)
            await exchange.pass_on(piece)
    await exchange.end()
