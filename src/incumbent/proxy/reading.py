"""Reading by the upstream: the provider of a request is asked to read it, once it is answered.

The key is the caller's own. It is held in memory for as long as a turn waits to be read, goes to
the provider that it was sent to, and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import httpx

from incumbent.memory import Memory
from incumbent.proxy.apis import AnthropicMessages, ChatCompletions, MessageApi
from incumbent.proxy.configuration import ProxySettings, target_of
from incumbent.proxy.headers import Headers, to_upstream
from incumbent.proxy.replies import WholeReply
from incumbent.reading.asked import LLM, Answer, Ask
from incumbent.reading.asked.asking import Nobody, Said, Trouble, answered, instructed, refused_with
from incumbent.turns.rereading.told import Deferred

_MOST_BYTES = 1_000_000
"""Of an answer. A longer one is no reading."""
_ABOUT_ONE_REQUEST = ("accept", "cookie", "idempotency-key", "x-client-request-id", "x-request-id")
_MOST_OUTPUT = 4_000
"""Tokens, among them those that a model thinks with."""
_PLAIN_LIMIT = "max_completion_tokens"
_LIMITS = ("max_tokens", _PLAIN_LIMIT)


class UpstreamReader:
    """Has the provider behind a proxy read what was said in a request."""

    def __init__(self, memory: Memory, settings: ProxySettings) -> None:
        self._settings = settings
        self._model = (settings.reader or "").partition(":")[2]
        self._verify: Any = (  # reading all certificates takes a while
            httpx.create_ssl_context() if settings.upstream.startswith("https:") else False
        )
        self._refused: set[tuple[str, str]] = set()
        """Paths and models that take no form of an answer."""
        llm = LLM(
            Nobody("upstream"),
            max_output_tokens=_MOST_OUTPUT,
            pause=settings.reader_pause,
            calls_per_day=settings.reader_calls,
        )
        self._rereader = memory.resources.rereading(llm)

    def of(
        self, api: MessageApi, path: bytes, query: bytes, headers: Headers, content: bytes
    ) -> Deferred | None:
        """What reads the turns of a request; None where it names no model."""
        try:
            body = json.loads(content)
            model = self._model or body["model"]
        except (ValueError, RecursionError, TypeError, KeyError):
            return None  # it is refused elsewhere
        if not isinstance(model, str) or not model:
            return None
        limit = next((name for name in _LIMITS if name in body), _PLAIN_LIMIT)

        def post(made: Mapping[str, Any], timeout: float) -> Posted:
            return self._post(path, query, headers, made, timeout)

        return Deferred(self._rereader, UpstreamCompletion(api, model, limit, post, self._refused))

    def _post(
        self,
        path: bytes,
        query: bytes,
        headers: Headers,
        body: Mapping[str, Any],
        timeout: float,
    ) -> Posted:
        scheme, host, port, target = target_of(self._settings.upstream, path, query)
        kept = [
            (name, value)
            for name, value in to_upstream(headers, rewritten=True)
            if name.lower().decode("latin-1") not in _ABOUT_ONE_REQUEST
        ]
        request = httpx.Request(
            "POST",
            httpx.URL(scheme=scheme, host=host, port=port, raw_path=target),
            headers=kept,
            content=json.dumps(body, ensure_ascii=False).encode(),
            extensions={"timeout": dict.fromkeys(("connect", "read", "write", "pool"), timeout)},
        )
        try:
            with httpx.HTTPTransport(verify=self._verify, trust_env=False) as transport:
                return _read(transport.handle_request(request))
        except httpx.TimeoutException:
            raise Trouble("timeout", "the provider did not answer in time", may_pass=True) from None
        except httpx.HTTPError:
            message = "the provider could not be reached"
            raise Trouble("unreachable", message, may_pass=True) from None


class Posted(NamedTuple):
    """What came back for a request."""

    status: int
    headers: httpx.Headers
    content: bytes


def _read(response: httpx.Response) -> Posted:
    content = bytearray()
    try:
        for piece in response.iter_raw():
            content += piece
            if len(content) > _MOST_BYTES:
                raise Trouble("malformed", "the answer was too long")
    finally:
        response.close()
    return Posted(response.status_code, response.headers, bytes(content))


class UpstreamCompletion:
    """The model of a request, at its provider, with the credentials of its caller."""

    def __init__(
        self,
        api: MessageApi,
        model: str,
        limit: str,
        post: Callable[[Mapping[str, Any], float], Posted],
        refused: set[tuple[str, str]],
    ) -> None:
        self.name = f"upstream:{model}"
        self._api = api
        self._model = model
        self._limit = limit
        self._post = post
        self._refused = refused
        self._place = (api.path, model)

    def complete(self, ask: Ask, *, timeout: float) -> Answer:
        has_form = self._place not in self._refused
        response = self._post(self._body(ask, has_form=has_form), timeout)
        if has_form and response.status in (400, 404, 422):
            # Not every provider knows every field; the bare request is known to all.
            self._refused.add(self._place)
            response = self._post(self._body(ask, has_form=False), timeout)
        if response.status != 200:
            raise refused_with(response.status, response.headers.get("retry-after"))
        return answered(_said(self._api, response.content))

    def _body(self, ask: Ask, *, has_form: bool) -> dict[str, Any]:
        told = instructed(ask)
        data = [{"role": "user", "content": ask.data}]
        form = {"name": "reading", "schema": ask.schema, "strict": False}
        if isinstance(self._api, ChatCompletions):
            made: dict[str, Any] = {
                "model": self._model,
                "messages": [{"role": "system", "content": told}, *data],
            }
            if has_form:
                made |= {"response_format": {"type": "json_schema", "json_schema": form}}
                made |= {self._limit: ask.max_output_tokens}
            return made
        if isinstance(self._api, AnthropicMessages):
            limit = {"max_tokens": ask.max_output_tokens}
            return {"model": self._model, "system": told, "messages": data, **limit}
        made = {"model": self._model, "instructions": told, "input": data}
        if has_form:
            made |= {"text": {"format": {"type": "json_schema", **form}}, "store": False}
            made |= {"max_output_tokens": ask.max_output_tokens}
        return made


def _said(api: MessageApi, content: bytes) -> Said:
    reply = WholeReply(api, _MOST_BYTES)
    reply.hear(content)
    texts: Sequence[str] = reply.reply()
    usage = json.loads(content).get("usage") if texts else None
    told = usage if isinstance(usage, dict) else {}
    return Said(
        "\n".join(texts), _count(told, "prompt", "input"), _count(told, "completion", "output")
    )


def _count(usage: Mapping[str, Any], *names: str) -> int:
    found = (usage.get(f"{name}_tokens") for name in names)
    return next((one for one in found if type(one) is int and one >= 0), 0)
