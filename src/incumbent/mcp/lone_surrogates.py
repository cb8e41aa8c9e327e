"""Messages that are none: halves of characters, which JSON can write ("\\ud800") and no text can
have, and lines that are no message at all.

The protocol's own parser refuses them without an answer, and whoever sent one would wait for ever.
Here it gets one.
"""

from __future__ import annotations

import json
import re
from typing import Any

from anyio.abc import ObjectReceiveStream
from pydantic import ValidationError

from incumbent.mcp.package import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, Wire, message

_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_TOLD = (
    "the message holds half of a character (a lone surrogate such as \\ud800), which no text can "
    "have; send whole characters"
)
_NO_JSON = "this line is no JSON; send one message of JSON-RPC 2.0 on each line"
_NO_REQUEST = (
    "this is no message of JSON-RPC 2.0; send one object with jsonrpc, id, method and params"
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
        return _error(None, INVALID_REQUEST, _TOLD)
    if sent.get("method") == "tools/call":
        told = {"content": [{"type": "text", "text": _TOLD}], "isError": True}
        return {"jsonrpc": "2.0", "id": named, "result": told}
    return _error(named, INVALID_PARAMS, _TOLD)


def answer_to_none(error: ValidationError) -> Wire | None:
    """The answer to a line that is no message; None for an empty one."""
    found = error.errors(include_url=False, include_context=False)[0]
    given, is_json = found["input"], found["type"] != "json_invalid"
    if is_json:
        named = given.get("id") if isinstance(given, dict) else None
        answerable = type(named) is int or isinstance(named, str)
        return _error(named if answerable else None, INVALID_REQUEST, _NO_REQUEST)
    return _error(None, PARSE_ERROR, _NO_JSON) if str(given).strip() else None


def _error(named: str | int | None, code: int, told: str) -> Wire:
    return {"jsonrpc": "2.0", "id": named, "error": {"code": code, "message": told}}


def _is_whole(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


class AnsweringStream(ObjectReceiveStream[Any]):
    """A stream of messages that itself answers what is none."""

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
            answer = None
            if isinstance(item, ValidationError):
                answer = answer_to(_line_of(item)) or answer_to_none(item)
            try:
                told = None if answer is None else message(answer)
            except ValidationError:  # the package has no error for a request without a usable id
                told = None
            if told is None:
                return item
            await self._answers.send(told)

    async def aclose(self) -> None:
        await self._messages.aclose()


def _line_of(error: ValidationError) -> str:
    """The line that could not be parsed."""
    given = error.errors(include_url=False, include_context=False)[0]["input"]
    return given if isinstance(given, str) else ""
