"""The provider behind the proxy: requests to it, and its answers as they come."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import httpx

from incumbent.http.problems import Refusal
from incumbent.proxy.configuration import ProxySettings, target_of
from incumbent.proxy.headers import Headers

_KEPT_OPEN = 200
_KEPT_SECONDS = 30.0


class UpstreamBroke(Exception):
    """The provider ended an answer before its end."""


class Upstream:
    """Sends requests to a provider.

    A bare transport: it follows no redirects, keeps no cookies, adds no credentials and reads no
    proxy or password from the environment. What it is given is what is sent.
    """

    def __init__(self, settings: ProxySettings) -> None:
        self._settings = settings
        secure = settings.upstream.startswith("https:")
        self._transport = httpx.AsyncHTTPTransport(
            # Reading all certificates takes longer than a call, and http has no use for them.
            verify=httpx.create_ssl_context() if secure else False,
            trust_env=False,
            limits=httpx.Limits(
                max_connections=None,
                max_keepalive_connections=_KEPT_OPEN,
                keepalive_expiry=_KEPT_SECONDS,
            ),
        )

    async def close(self) -> None:
        await self._transport.aclose()

    @asynccontextmanager
    async def answer(
        self,
        method: str,
        path: bytes,
        query: bytes,
        headers: Headers,
        content: bytes | AsyncIterator[bytes],
    ) -> AsyncIterator[httpx.Response]:
        """The answer to a request. Leaving early cancels it."""
        scheme, host, port, target = target_of(self._settings.upstream, path, query)
        url = httpx.URL(scheme=scheme, host=host, port=port, raw_path=target)
        wait = self._settings.answer_timeout
        timeout = {
            "connect": self._settings.connect_timeout,
            "read": wait,
            "write": wait,
            "pool": None,
        }
        request = httpx.Request(
            method, url, headers=list(headers), content=content, extensions={"timeout": timeout}
        )
        try:
            response = await self._transport.handle_async_request(request)
        except httpx.TimeoutException:
            raise Refusal(504, "UpstreamTimeout", "the provider did not answer in time") from None
        except httpx.LocalProtocolError:
            detail = "a header of the request cannot be passed on; it has signs that HTTP has not"
            raise Refusal(400, "InvalidInput", detail) from None
        except httpx.TransportError as error:
            raise Refusal(
                502, "UpstreamUnavailable", f"the provider cannot be had ({type(error).__name__})"
            ) from None
        try:
            yield response
        finally:
            await response.aclose()


async def pieces_of(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """An answer piece by piece, as it was sent."""
    assert isinstance(response.stream, httpx.AsyncByteStream)
    try:
        async for piece in response.stream:
            if piece:
                yield piece
    except httpx.TransportError as error:
        raise UpstreamBroke(type(error).__name__) from None
