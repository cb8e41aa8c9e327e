"""The proxy as an ASGI application: what passes untouched, what is guarded, and what is refused."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager

import httpx
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

import incumbent
from incumbent.http.admission import SessionForm, enter
from incumbent.http.configuration import Service
from incumbent.http.door import Door, check_length, check_media_type, refused, request_id_of
from incumbent.http.problems import MEDIA_TYPE, Refusal, document_of
from incumbent.http.turns import Caller
from incumbent.memory import Memory
from incumbent.model.errors import InvalidInput, StoreError
from incumbent.model.keys import KeyScope
from incumbent.proxy.apis import MessageApi, api_at, plain_path
from incumbent.proxy.configuration import LARGEST_REQUEST, ProxySettings
from incumbent.proxy.exchange import (
    Exchange,
    PassingBody,
    is_stream,
    pass_heard,
    pass_untouched,
    while_there,
)
from incumbent.proxy.headers import (
    ERASURE_REQUESTED,
    RECEIPT,
    UNGUARDED,
    SpeakerForm,
    asked_by,
    in_headers,
    says_who,
    to_upstream,
)
from incumbent.proxy.reading import UpstreamReader
from incumbent.proxy.remembering import PreparedRequest, Remembering
from incumbent.proxy.replies import Deaf, ReplyListener, StreamedReply, WholeReply
from incumbent.proxy.upstream import Upstream, UpstreamBroke
from incumbent.session import Session

_log = logging.getLogger("incumbent.proxy")
_NOTHING_HERE = (
    "there is nothing here; the API of a provider begins with /v1/, and its paths are written with"
    " letters, digits and - _ . ~ : @ + , = alone"
)
_ELSEWHERE = b"kept-by-provider"


Admit = Callable[[SessionForm, str | None], Session]
"""Gives the session that a request asks for with a credential, or refuses it."""


def application(
    memory: Memory,
    settings: ProxySettings,
    service: Service | None = None,
    admit: Admit | None = None,
) -> ProxyApplication:
    """The proxy as an ASGI application, for `incumbent proxy` or a server of your own.

    Who may have which session, `admit` decides, and otherwise what the service does.
    """
    limits = service or Service(max_body_bytes=LARGEST_REQUEST)
    return ProxyApplication(memory, settings, limits, admit)


class ProxyApplication:
    """Passes requests on to a provider, and lets the memory see those that say who is speaking."""

    def __init__(
        self,
        memory: Memory,
        settings: ProxySettings,
        service: Service,
        admit: Admit | None = None,
    ) -> None:
        self._door = Door(memory, service, None)
        self._memory = memory
        self._settings = settings
        self._service = service
        self._upstream = Upstream(settings)
        self._remembering = Remembering(memory, settings.budget, observes=settings.observe)
        self._admit = admit
        self._reader = UpstreamReader(memory, settings) if settings.reader else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._upstream.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        request = Request(scope, receive)
        exchange = Exchange(request, receive, send, request_id_of(request))
        try:
            await self._route(exchange)
        except ClientDisconnect:
            exchange.outcome = "disconnected"
        except UpstreamBroke:
            # Not ended, so that the server closes the connection as the provider did.
            exchange.outcome = "broken off"
        except Exception as error:
            refusal = refused(error, exchange.request_id)
            if not exchange.status:
                exchange.outcome = "refused"
                await self._refuse(exchange, refusal)
        path, method, status = request.url.path, request.method, exchange.status
        told = {
            "request_id": exchange.request_id,
            "method": method,
            "path": path,
            "status": status,
            "outcome": exchange.outcome,
            "ms": round(1e3 * (time.perf_counter() - began), 2),
        }
        _log.info("%s %s %d", method, path, status, extra={"incumbent_fields": told})

    async def _refuse(self, exchange: Exchange, refusal: Refusal) -> None:
        """Refuse with a problem document, in which clients of providers find their `error` too."""
        exchange.status = refusal.status
        error = {"type": refusal.title, "message": refusal.detail, "code": refusal.title}
        document = {**document_of(refusal, exchange.request_id), "error": error}
        content = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
        headers = {
            **refusal.headers,
            "X-Request-Id": exchange.request_id,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        }
        response = Response(content, refusal.status, headers, MEDIA_TYPE)
        await response(exchange.request.scope, exchange.receive, exchange.send)

    async def _route(self, exchange: Exchange) -> None:
        request = exchange.request
        self._door.check_origin(request)
        if exchange.path == b"/health":
            exchange.status, exchange.outcome = 200, "health"
            response = JSONResponse({"status": "ok", "version": incumbent.__version__})
            await response(request.scope, exchange.receive, exchange.send)
            return
        path = plain_path(exchange.path)
        if path is None:
            raise Refusal(404, "NotFound", _NOTHING_HERE)
        if says_who(exchange.headers):
            form, shown = asked_by(exchange.headers)
            api = api_at(path) if request.method == "POST" else None
            if api is not None:
                await self._guarded(exchange, api, form, shown)
                return
            if self._settings.require_user:
                await self._let_in(form, shown)  # a name alone opens no other path either
        elif self._settings.require_user:
            detail = "say who is speaking, with the header X-Incumbent-User"
            raise Refusal(403, "NotPermitted", detail)
        await self._untouched(exchange)

    async def _untouched(self, exchange: Exchange) -> None:
        body = PassingBody(exchange.receive, self._service.body_timeout)
        if not exchange.has_body:
            body.was_read.set()
        content = aiter(body) if exchange.has_body else b""

        async def pass_on() -> None:
            async with self._asked(exchange, content, rewritten=False) as response:
                exchange.outcome = "untouched"
                await pass_untouched(exchange, response)

        await while_there(exchange.receive, body.was_read, pass_on)

    async def _guarded(
        self, exchange: Exchange, api: MessageApi, form: SpeakerForm, shown: str | None
    ) -> None:
        session = caller = None
        try:
            session, caller = await self._let_in(form, shown)
        except StoreError as error:
            if self._settings.require_user and not self._door.gate.is_open:
                raise  # nobody knows who it is
            self._allow_unguarded(exchange, error)
        content = await self._body(exchange.request)
        prepared = None
        with self._read_afterwards(exchange, session, api, content):
            if session is not None:
                prepared = await self._prepared(exchange, session, caller, api, content)
            reply = await self._pass_on(exchange, api, content, prepared)
            is_heard = not isinstance(reply, Deaf)
            if session is not None and prepared is not None and is_heard:
                await self._hear(session, caller, prepared, reply)

    @contextmanager
    def _read_afterwards(
        self, exchange: Exchange, session: Session | None, api: MessageApi, content: bytes
    ) -> Iterator[None]:
        """Have the provider read what is said in a request, once the answer is out."""
        if self._reader is None or session is None:
            yield
            return
        query: bytes = exchange.request.scope.get("query_string", b"")
        deferred = self._reader.of(api, exchange.path, query, exchange.headers, content)
        session.rereader = deferred
        try:
            yield
        finally:
            if deferred is not None and exchange.status == 200:
                deferred.release()
            elif deferred is not None:
                deferred.drop("the provider did not answer the request")

    async def _let_in(self, form: SpeakerForm, shown: str | None) -> tuple[Session, Caller | None]:
        """The session that a request asks for. Whoever may not have it is refused, whatever is
        done when the memory fails."""

        def admitted() -> Session:
            grant = self._door.desk.admit(shown, KeyScope.WRITE)
            grant.check(KeyScope.READ)
            session = enter(self._memory, grant, form)
            session.mode = form.mode or session.mode
            return session

        if self._admit is not None:
            return self._admit(form, shown), None
        try:
            return await self._door.in_thread(admitted), await self._door.caller(shown)
        except InvalidInput as error:
            raise InvalidInput(in_headers(str(error))) from None

    def _allow_unguarded(self, exchange: Exchange, error: Exception) -> None:
        """Let a request pass although the memory failed, where the settings say so."""
        if self._settings.on_failure == "closed":
            raise error
        title = refused(error, exchange.request_id).title
        _log.warning("a request passes unguarded: %s", title)
        exchange.added.append((UNGUARDED, title.encode("ascii", "replace")))

    async def _body(self, request: Request) -> bytes:
        check_media_type(request, "application/json")
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            raise Refusal(415, "UnsupportedMediaType", "send the body without Content-Encoding")
        check_length(request, self._service.max_body_bytes)
        return await self._door.read(request)

    async def _prepared(
        self,
        exchange: Exchange,
        session: Session,
        caller: Caller | None,
        api: MessageApi,
        content: bytes,
    ) -> PreparedRequest | None:
        """A request as the provider gets it; None if the memory failed, and the request may pass
        as it is."""
        async with self._door.turns.under_way(caller):
            try:
                found: PreparedRequest = await self._door.work(
                    caller, self._remembering.prepare, session, api, content
                )
            except Exception as error:
                self._allow_unguarded(exchange, error)
                return None
        if found.is_elsewhere:
            exchange.added.append((UNGUARDED, _ELSEWHERE))
        if found.asks_erasure:
            exchange.added.append((ERASURE_REQUESTED, b"true"))
        return found

    async def _pass_on(
        self,
        exchange: Exchange,
        api: MessageApi,
        content: bytes,
        prepared: PreparedRequest | None,
    ) -> ReplyListener:
        """Pass a request and its answer on, and give back what was heard of the answer."""
        is_rewritten = prepared is not None
        sent = content if prepared is None else prepared.content
        heard: list[ReplyListener] = []
        # Kept while the provider takes its time.
        keeping = asyncio.ensure_future(self._keep_receipt(exchange, prepared))

        async def pass_on() -> None:
            async with self._asked(exchange, sent, rewritten=is_rewritten) as response:
                await keeping
                exchange.outcome = "unguarded" if prepared is None else prepared.outcome
                heard.append(Deaf() if prepared is None else self._listening(api, response))
                await pass_heard(exchange, api, response, heard[0])

        try:
            await while_there(exchange.receive, None, pass_on)
        except ClientDisconnect:
            # Many close once they have read the last event, before the body ends: a reply that
            # came to its end was heard.
            if not heard or not heard[0].reply():
                raise
        finally:
            await asyncio.wait({keeping})
        return heard[0]

    async def _keep_receipt(self, exchange: Exchange, prepared: PreparedRequest | None) -> None:
        if prepared is None or prepared.context is None:
            return
        try:
            receipt = await self._door.in_thread(self._memory.record, prepared.context)
        except Exception as error:
            _log.error("a receipt was not kept: %s", type(error).__name__)
        else:
            exchange.added.append((RECEIPT, receipt.id.encode("ascii")))

    def _listening(self, api: MessageApi, response: httpx.Response) -> ReplyListener:
        """What hears an answer, where it is a reply that can be read."""
        is_packed = response.headers.get("content-encoding", "identity") != "identity"
        if response.status_code != 200 or is_packed:
            return Deaf()
        kind = StreamedReply if is_stream(response) else WholeReply
        return kind(api, self._service.max_body_bytes)

    async def _hear(
        self,
        session: Session,
        caller: Caller | None,
        prepared: PreparedRequest,
        reply: ReplyListener,
    ) -> None:
        """Observe a reply that was passed on. If that fails, the next request brings it."""

        def hear() -> None:
            said = reply.reply()
            if said:
                self._remembering.hear(session, prepared, said)

        try:
            await self._door.work(caller, hear)
        except Exception as error:
            _log.warning("a reply was not observed: %s", type(error).__name__)

    def _asked(
        self, exchange: Exchange, content: bytes | AsyncIterator[bytes], *, rewritten: bool
    ) -> AbstractAsyncContextManager[httpx.Response]:
        request = exchange.request
        headers = to_upstream(exchange.headers, rewritten=rewritten)
        query: bytes = request.scope.get("query_string", b"")
        return self._upstream.answer(request.method, exchange.path, query, headers, content)
