"""Replies: what a model said, by the answer of its provider, whole or as a stream of events.

A reply is heard only if it came to its end. What was broken off is nobody's finished word: if the
application keeps it, the next request brings it.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from incumbent.proxy.apis import AnthropicMessages, ChatCompletions, MessageApi, ResponsesApi

_END = re.compile(rb"\r\n\r\n|\n\n")
_LONGEST_END = 4


class ReplyListener(ABC):
    """Hears an answer as it passes."""

    @abstractmethod
    def hear(self, event: bytes) -> None:
        """Take in an event of a stream."""

    @abstractmethod
    def reply(self) -> list[str]:
        """What was said, text by text; nothing before the end."""


class Deaf(ReplyListener):
    """Hears nothing: for an answer that is none, or that cannot be read."""

    def hear(self, event: bytes) -> None:
        return

    def reply(self) -> list[str]:
        return []


class WholeReply(ReplyListener):
    """Hears an answer that is one document."""

    def __init__(self, api: MessageApi, most_bytes: int) -> None:
        self._api = api
        self._most = most_bytes
        self._found = bytearray()

    def hear(self, event: bytes) -> None:
        if len(self._found) <= self._most:
            self._found += event

    def reply(self) -> list[str]:
        if len(self._found) > self._most:
            return []
        document = _document(bytes(self._found))
        return list(_texts(self._api, document)) if document is not None else []


class StreamedReply(ReplyListener):
    """Hears a stream of events, and puts its pieces together."""

    def __init__(self, api: MessageApi, most_bytes: int) -> None:
        self._most = most_bytes
        self._length = 0
        self._pieces: dict[int, list[str]] = {}
        self._has_ended = False
        self._take = _TAKING[type(api)]

    def hear(self, event: bytes) -> None:
        self._length += len(event)
        if self._length > self._most or self._has_ended:
            return
        if (data := _data(event)) is not None:
            self._take(self, data)

    def reply(self) -> list[str]:
        if not self._has_ended or self._length > self._most:
            return []
        texts = ("".join(self._pieces[place]) for place in sorted(self._pieces))
        return [text for text in texts if text.strip()]

    def _add(self, place: int, text: object) -> None:
        if isinstance(text, str):
            self._pieces.setdefault(place, []).append(text)

    def _chat(self, data: Mapping[str, Any]) -> None:
        for choice in _maps(data.get("choices")):
            if choice.get("index", 0) != 0:
                # Which of several the application takes, the next request tells.
                self._pieces.clear()
                self._length = self._most + 1
                return
            delta = choice.get("delta")
            self._add(0, delta.get("content") if isinstance(delta, Mapping) else None)
            self._has_ended = choice.get("finish_reason") is not None

    def _responses(self, data: Mapping[str, Any]) -> None:
        if data.get("type") in ("response.completed", "response.incomplete"):
            for place, text in enumerate(_texts(ResponsesApi(), data.get("response"))):
                self._add(place, text)
            self._has_ended = True

    def _anthropic(self, data: Mapping[str, Any]) -> None:
        kind, place = data.get("type"), data.get("index")
        piece = data.get("content_block" if kind == "content_block_start" else "delta")
        told = piece if isinstance(piece, Mapping) else {}
        if isinstance(place, int) and told.get("type") in ("text", "text_delta"):
            self._add(place, told.get("text"))
        self._has_ended = kind == "message_stop"


_TAKING = {
    ChatCompletions: StreamedReply._chat,
    ResponsesApi: StreamedReply._responses,
    AnthropicMessages: StreamedReply._anthropic,
}


def _texts(api: MessageApi, document: Any) -> Iterator[str]:
    """The texts that an answer says, each as the next request will have it."""
    if not isinstance(document, Mapping):
        return
    if isinstance(api, ChatCompletions):
        choices = list(_maps(document.get("choices")))
        message = choices[0].get("message") if len(choices) == 1 else None
        yield from _content(message)
    elif isinstance(api, ResponsesApi):
        for item in _maps(document.get("output")):
            if item.get("type") == "message":
                yield from _content(item)
    else:
        yield from _content(document)


def _content(message: Any) -> Iterator[str]:
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for part in _maps(content):
        text = part.get("text")
        if part.get("type") in ("text", "output_text") and isinstance(text, str) and text.strip():
            yield text


def _maps(found: Any) -> Iterator[Mapping[str, Any]]:
    return (
        (one for one in found if isinstance(one, Mapping)) if isinstance(found, list) else iter(())
    )


def _document(text: bytes) -> Mapping[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, Mapping) else None


def _data(event: bytes) -> Mapping[str, Any] | None:
    """The document of an event; None for one without, such as the last of a stream."""
    lines = [line[5:].lstrip(b" ") for line in event.splitlines() if line.startswith(b"data:")]
    return _document(b"\n".join(lines)) if lines else None


class WholeEvents:
    """Cuts a stream into whole events, so that one that breaks off leaves no half of one."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._held = bytearray()
        self._looked = 0
        """How much of it has no end of an event."""

    def take(self, piece: bytes) -> list[bytes]:
        """The events that are whole now. What is too long to be one is passed on as it is.

        Every byte is looked at once and moved once, however many events a piece has.
        """
        self._held += piece
        events, begin = [], 0
        for end in _END.finditer(self._held, self._looked):
            events.append(bytes(self._held[begin : end.end()]))
            begin = end.end()
        del self._held[:begin]
        self._looked = max(0, len(self._held) - _LONGEST_END + 1)
        return [*events, self.rest()] if len(self._held) > self._most else events

    def rest(self) -> bytes:
        """What came after the last whole event."""
        held, self._held, self._looked = bytes(self._held), bytearray(), 0
        return held


def broken_off(api: MessageApi, detail: str) -> bytes:
    """The event that tells an application that its stream broke off, as its API tells errors."""
    error = {"type": "upstream_error", "message": detail}
    if isinstance(api, AnthropicMessages):
        told: dict[str, Any] = {"type": "error", "error": {**error, "type": "api_error"}}
    elif isinstance(api, ResponsesApi):
        told = {"type": "error", "code": "upstream_error", "message": detail, "param": None}
        told["error"] = error
    else:
        told = {"error": error}
    name = b"" if isinstance(api, ChatCompletions) else b"event: error\n"
    return name + b"data: " + json.dumps(told).encode() + b"\n\n"
