"""A stand-in for a provider: a real HTTP server that remembers every byte it was sent.

It answers chat completions, responses and Anthropic's messages, whole or as events, and does on
request what real ones do on bad days.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.patience import PATIENCE


@dataclass
class Received:
    """A request as it came in."""

    line: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()

    def header(self, name: bytes) -> list[bytes]:
        return [value for one, value in self.headers if one.lower() == name]


@dataclass
class StandIn:
    """A provider on a free port of this machine."""

    said: list[Any] = field(default_factory=list)
    """What it says next: texts, or whole messages of a chat; "Noted." when there is nothing."""
    received: list[Received] = field(default_factory=list)
    status: int = 200
    breaks_after: int | None = None
    """How many events of a stream, or bytes of a document, come before it breaks off."""
    waits: bool = False
    """Whether it waits in the middle of a stream until `gone` or `go_on`."""
    lingers: bool = False
    """Whether it does so after the last event, before the body ends."""
    raw: bytes | None = None
    """A whole answer to give instead, to the byte."""
    gone: threading.Event = field(default_factory=threading.Event)
    """Set when a client went away in the middle."""
    begun: threading.Event = field(default_factory=threading.Event)
    at_once: int = 0
    most_at_once: int = 0
    barrier: int = 0
    """How many streams must have begun before any goes on."""
    port: int = 0
    tls: ssl.SSLContext | None = None

    def __enter__(self) -> StandIn:
        self._loop = asyncio.new_event_loop()
        self._listens = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._listens.wait(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    @property
    def url(self) -> str:
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}/v1"

    @property
    def last(self) -> Received:
        return self.received[-1]

    def go_on(self) -> None:
        """End the waiting."""
        self._loop.call_soon_threadsafe(self._goes_on.set)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._stopped, self._goes_on, self._all = asyncio.Event(), asyncio.Event(), asyncio.Event()
        server = await asyncio.start_server(
            self._connected, "127.0.0.1", 0, backlog=1000, ssl=self.tls
        )
        self.port = server.sockets[0].getsockname()[1]
        self._listens.set()
        await self._stopped.wait()
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.sleep(0)  # in which closed connections are taken apart

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await _read(reader)) is not None:
                self.received.append(request)
                if not await self._answer(request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self.gone.set()
        finally:
            if self.tls is None:
                writer.close()
            else:  # an orderly end takes two
                writer.transport.abort()

    async def _answer(
        self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer a request; whether the connection goes on."""
        if self.raw is not None:
            writer.write(self.raw)
            await writer.drain()
            return False
        path = request.line.split(b" ")[1].partition(b"?")[0]
        if self.status != 200:
            _whole(writer, self.status, {"error": {"message": "no", "type": "bad", "code": "x"}})
            return True
        if request.line.startswith(b"GET"):
            _whole(writer, 200, {"object": "list", "data": []})
            return True
        said = self.said.pop(0) if self.said else "Noted."
        document, events = _ANSWERS.get(path, _echo)(said, request)
        if path not in _ANSWERS or not request.json.get("stream"):
            return self._document(writer, document)
        return await self._stream(writer, reader, events)

    def _document(self, writer: asyncio.StreamWriter, document: Any) -> bool:
        if self.breaks_after is None:
            _whole(writer, 200, document)
            return True
        text = json.dumps(document).encode()
        writer.write(_head(200, [("Content-Length", str(len(text)))]) + text[: self.breaks_after])
        return False

    async def _stream(
        self, writer: asyncio.StreamWriter, reader: asyncio.StreamReader, events: list[bytes]
    ) -> bool:
        chunked = [("Transfer-Encoding", "chunked")]
        writer.write(_head(200, chunked, "text/event-stream; charset=utf-8"))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            for number, event in enumerate(events):
                if number == self.breaks_after:
                    half = event[: len(event) // 2]
                    writer.write(b"%x\r\n%s\r\n" % (len(half), half))
                    await writer.drain()
                    return False
                writer.write(b"%x\r\n%s\r\n" % (len(event), event))
                await writer.drain()
                self.begun.set()
                if number == 0:
                    await self._wait_for_others()
                if self.waits and number == 1:
                    await self._until_gone(reader)
            if self.lingers:
                await self._until_gone(reader)
            writer.write(b"0\r\n\r\n")
            await writer.drain()
            return True
        finally:
            self.at_once -= 1

    async def _wait_for_others(self) -> None:
        if self.barrier:
            if self.at_once >= self.barrier:
                self._all.set()
            await self._all.wait()

    async def _until_gone(self, reader: asyncio.StreamReader) -> None:
        goes_on = asyncio.ensure_future(self._goes_on.wait())
        hears = asyncio.ensure_future(reader.read(1))
        await asyncio.wait({goes_on, hears}, return_when=asyncio.FIRST_COMPLETED)
        has_gone = hears.done()
        goes_on.cancel()
        hears.cancel()
        await asyncio.gather(goes_on, hears, return_exceptions=True)
        if has_gone:
            raise ConnectionError("the client has gone away")


async def _read(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    line, *rest = head[:-4].split(b"\r\n")
    headers = [(name, value.strip()) for name, _, value in (one.partition(b":") for one in rest)]
    named = {name.lower(): value for name, value in headers}
    if named.get(b"transfer-encoding") == b"chunked":
        body = b""
        while size := int(await reader.readline(), 16):
            body += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
    else:
        body = await reader.readexactly(int(named.get(b"content-length", b"0")))
    return Received(line, headers, body)


def _head(status: int, more: list[tuple[str, str]], kind: str = "application/json") -> bytes:
    headers = [("Content-Type", kind), ("X-Request-Id", "upstream-1"), *more]
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"HTTP/1.1 {status} Whatever\r\n{lines}\r\n".encode()


def _whole(writer: asyncio.StreamWriter, status: int, document: Any) -> None:
    text = json.dumps(document).encode()
    writer.write(_head(status, [("Content-Length", str(len(text)))]) + text)


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), 5):
        yield text[start : start + 5]


def _event(data: Any, name: str | None = None) -> bytes:
    told = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "").encode() + f"data: {told}\n\n".encode()


def _chat(said: Any, request: Received) -> tuple[Any, list[bytes]]:
    message = {"role": "assistant", "content": said} if isinstance(said, str) else said
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    base = {"id": "chatcmpl-1", "created": 1, "model": "m"}
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    document = {**base, "object": "chat.completion", "choices": [choice]}
    deltas: list[Any] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in _pieces(message["content"] or "")]
    calls = [{"index": n, **call} for n, call in enumerate(message.get("tool_calls") or [])]
    deltas += [{"tool_calls": [call]} for call in calls]
    chunk = {**base, "object": "chat.completion.chunk"}
    events = [
        _event({**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        for delta in deltas
    ]
    end = {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    return document, [*events, _event(end), _event("[DONE]")]


def _responses(said: Any, request: Received) -> tuple[Any, list[bytes]]:
    part = {"type": "output_text", "text": said, "annotations": []}
    item = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    document = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "output": [item],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    started = {**document, "status": "in_progress", "output": []}
    told: list[dict[str, Any]] = [{"type": "response.created", "response": started}]
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    begun = {**item, "content": [], "status": "in_progress"}
    told.append({"type": "response.output_item.added", "output_index": 0, "item": begun})
    empty = {**part, "text": ""}
    told.append({"type": "response.content_part.added", **place, "part": empty})
    told += [
        {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
        for piece in _pieces(said)
    ]
    told.append({"type": "response.completed", "response": document})
    events = [_event({**one, "sequence_number": n}, one["type"]) for n, one in enumerate(told)]
    return document, events


def _anthropic(said: Any, request: Received) -> tuple[Any, list[bytes]]:
    blocks = [{"type": "text", "text": said}] if isinstance(said, str) else said
    calls = any(block["type"] == "tool_use" for block in blocks)
    ending = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    usage = {"input_tokens": 1, "output_tokens": 1}
    document = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": blocks,
        **ending,
        "usage": usage,
    }
    start = {**document, "content": [], "stop_reason": None}
    told: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(blocks):
        empty, deltas = _deltas(block)
        told.append({"type": "content_block_start", "index": index, "content_block": empty})
        told += [
            {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
        ]
        told.append({"type": "content_block_stop", "index": index})
    told.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": 1}})
    told.append({"type": "message_stop"})
    return document, [_event(one, one["type"]) for one in told]


def _deltas(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """A block as it begins in a stream, and the pieces that fill it."""
    if block["type"] == "tool_use":
        pieces = _pieces(json.dumps(block["input"]))
        filled = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        return {**block, "input": {}}, filled
    filled = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
    return {"type": "text", "text": ""}, filled


def _echo(said: Any, request: Received) -> tuple[Any, list[bytes]]:
    return {"length": len(request.body)}, []


_ANSWERS = {
    b"/v1/chat/completions": _chat,
    b"/v1/responses": _responses,
    b"/v1/messages": _anthropic,
}
