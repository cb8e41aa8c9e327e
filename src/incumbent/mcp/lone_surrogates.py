"""Messages with halves of characters: JSON can write them ("\\ud800"), and no text can have them.

The protocol's own parser refuses such a message without an answer, and whoever sent it would wait
for ever. Here it gets one.
"""

from __future__ import annotations

import json
import re
from types import TracebackType
from typing import Any

from anyio import EndOfStream
from pydantic import ValidationError

from incumbent.mcp.package import INVALID_PARAMS, INVALID_REQUEST, Wire, message

_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_TOLD = (
    "the message holds half of a character (a lone surrogate such as \\ud800), which no text can "
    "have; send whole characters"
)


def answer_to(text: str) -> Wire | None:
    """The answer to a message with halves of characters; None for every other, and for one that
    expects no answer."""
    if not _HALF.search(text):
        return None
    try:
        sent = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(sent, dict) or "id" not in sent or _is_whole(sent):
        return None
    named = sent["id"]
    answerable = type(named) is int or (isinstance(named, str) and _is_whole(named))
    if not answerable:
        return _error(None, INVALID_REQUEST)
    if sent.get("method") == "tools/call":
        told = {"content": [{"type": "text", "text": _TOLD}], "isError": True}
        return {"jsonrpc": "2.0", "id": named, "result": told}
    return _error(named, INVALID_PARAMS)


def _error(named: str | int | None, code: int) -> Wire:
    return {"jsonrpc": "2.0", "id": named, "error": {"code": code, "message": _TOLD}}


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

    async def receive(self) -> Any:
        while True:
            item = await self._messages.receive()
            answer = answer_to(_line_of(item)) if isinstance(item, ValidationError) else None
            try:
                told = None if answer is None else message(answer)
            except ValidationError:  # the package has no error for a request without a usable id
                told = None
            if told is None:
                return item
            await self._answers.send(told)

    async def aclose(self) -> None:
        await self._messages.aclose()

    def __aiter__(self) -> AnsweringStream:
        return self

    async def __anext__(self) -> Any:
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
