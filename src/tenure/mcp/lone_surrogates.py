"""Messages with halves of characters: JSON can write them ("\\ud800"), and no text can have them.

The protocol's own parser refuses such a message without an answer, and whoever sent it would wait
for ever. Here it gets one.
"""

from __future__ import annotations

import json
import re
from types import TracebackType
from typing import Any

import mcp_types as types
from anyio import EndOfStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_TOLD = (
    "the message holds half of a character (a lone surrogate such as \\ud800), which no text can "
    "have; send whole characters"
)

Answer = types.JSONRPCResponse | types.JSONRPCError


def answer_to(text: str) -> Answer | None:
    """The answer to a message with halves of characters; None for every other, and for one that
    expects no answer."""
    if not _HALF.search(text):
        return None
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or "id" not in message or _is_whole(message):
        return None
    named = message["id"]
    answerable = type(named) is int or (isinstance(named, str) and _is_whole(named))
    if not answerable:
        error = types.ErrorData(code=types.INVALID_REQUEST, message=_TOLD)
        return types.JSONRPCError(jsonrpc="2.0", id=None, error=error)
    if message.get("method") == "tools/call":
        content: list[Any] = [types.TextContent(text=_TOLD)]
        failed = types.CallToolResult(content=content, is_error=True)
        told = failed.model_dump(mode="json", by_alias=True, exclude_none=True)
        return types.JSONRPCResponse(jsonrpc="2.0", id=named, result=told)
    error = types.ErrorData(code=types.INVALID_PARAMS, message=_TOLD)
    return types.JSONRPCError(jsonrpc="2.0", id=named, error=error)


def _is_whole(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


class AnsweringStream:
    """A stream of messages that itself answers those with halves of characters."""

    def __init__(self, messages: Any, answers: Any) -> None:
        self._messages = messages
        self._answers = answers

    @property
    def last_context(self) -> Any:
        """The sender's context, for the protocol's server."""
        return self._messages.last_context

    async def receive(self) -> SessionMessage | Exception:
        while True:
            item: SessionMessage | Exception = await self._messages.receive()
            answer = answer_to(_line_of(item)) if isinstance(item, ValidationError) else None
            if answer is None:
                return item
            await self._answers.send(SessionMessage(answer))

    async def aclose(self) -> None:
        await self._messages.aclose()

    def __aiter__(self) -> AnsweringStream:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> AnsweringStream:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


def _line_of(error: ValidationError) -> str:
    """The line that could not be parsed."""
    given = error.errors(include_url=False, include_context=False)[0]["input"]
    return given if isinstance(given, str) else ""
