"""The APIs that are understood: where the messages are in a request, and where a context goes."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from incumbent.context.message_shapes import is_frame
from incumbent.model.errors import InvalidInput

Body = Mapping[str, Any]
Messages = Sequence[Mapping[str, Any]]


class MessageApi(ABC):
    """An API that takes messages. The context is added to the application's own instructions, so
    that who speaks after whom stays as it was."""

    path: str

    @abstractmethod
    def messages(self, body: Body) -> list[Any]:
        """The messages of a request."""

    @abstractmethod
    def rebuilt(self, body: Body, messages: Messages, context: str) -> dict[str, Any]:
        """The request with these messages instead, and with a context ("" for none)."""

    def follows(self, body: Body) -> str | None:
        """The answer that a request goes on from, where it names one and leaves out what was said
        before."""
        return None

    def is_elsewhere(self, body: Body) -> bool:
        """Whether the provider keeps the conversation itself, where nothing can be cut."""
        return False


class ChatCompletions(MessageApi):
    """OpenAI's chat completions, which most providers have."""

    path = "/v1/chat/completions"

    def messages(self, body: Body) -> list[Any]:
        return _list(body.get("messages"), "messages")

    def rebuilt(self, body: Body, messages: Messages, context: str) -> dict[str, Any]:
        return {**body, "messages": _instructed(messages, context)}


class ResponsesApi(MessageApi):
    """OpenAI's responses."""

    path = "/v1/responses"

    def messages(self, body: Body) -> list[Any]:
        given = body.get("input")
        if isinstance(given, str):
            return [{"role": "user", "content": given}]
        return [] if given is None else _list(given, "input")

    def rebuilt(self, body: Body, messages: Messages, context: str) -> dict[str, Any]:
        made = dict(body)
        if isinstance(body.get("input"), str):
            made["input"] = messages[0]["content"]
        elif "input" in body:
            made["input"] = list(messages)
        if context:
            made["instructions"] = _joined(body.get("instructions"), context, "instructions")
        return made

    def follows(self, body: Body) -> str | None:
        previous = body.get("previous_response_id")
        return previous if isinstance(previous, str) and previous else None

    def is_elsewhere(self, body: Body) -> bool:
        return bool(body.get("previous_response_id") or body.get("conversation"))


class AnthropicMessages(MessageApi):
    """Anthropic's messages."""

    path = "/v1/messages"

    def messages(self, body: Body) -> list[Any]:
        return _list(body.get("messages"), "messages")

    def rebuilt(self, body: Body, messages: Messages, context: str) -> dict[str, Any]:
        made = {**body, "messages": list(messages)}
        if context:
            made["system"] = _joined(body.get("system"), context, "system")
        return made


_PLAIN = re.compile(r"/v1/[\w.~:@+,=/-]*", re.ASCII)
APIS: tuple[MessageApi, ...] = (ChatCompletions(), ResponsesApi(), AnthropicMessages())


def plain_path(sent: bytes) -> str | None:
    """The one form of a path below /v1/; None for one that somebody might read otherwise.

    Providers and what stands before them disagree about escapes of escapes, parameters, what shows
    nothing and steps back, so such paths name two places. Plain signs, and their escapes, name one.
    """
    path = unquote(sent.decode("latin-1"))
    if not _PLAIN.fullmatch(path):
        return None
    steps = [step for step in path.split("/") if step]
    return None if any(not step.strip(".") for step in steps) else "/" + "/".join(steps)


def api_at(path: str) -> MessageApi | None:
    """The API at a path in its one form. An ending, such as `.json`, makes no other place of it:
    some providers take it off."""
    heads = "/".join(
        re.split(r"[.:@+,=~]", step, maxsplit=1)[0] for step in path.lower().split("/")
    )
    return next((api for api in APIS if api.path == heads), None)


def _list(given: Any, name: str) -> list[Any]:
    if not isinstance(given, list):
        raise InvalidInput(f"/{name}: send a list of messages, not {type(given).__name__}")
    return given


def _instructed(messages: Messages, context: str) -> list[Any]:
    """Messages with a context at the end of the application's instructions.

    It joins the last of them, because some models take a single system message and only at the
    beginning.
    """
    made: list[Any] = list(messages)
    if not context:
        return made
    before = next((n for n, one in enumerate(made) if not is_frame(one)), len(made))
    if not before:
        return [{"role": "system", "content": context}, *made]
    last = made[before - 1]
    made[before - 1] = {**last, "content": _joined(last.get("content"), context, "content")}
    return made


def _joined(given: Any, context: str, name: str) -> Any:
    if given is None or given == "":
        return context
    if isinstance(given, str):
        return f"{given}\n\n{context}"
    if isinstance(given, list):
        return [*given, {"type": "text", "text": context}]
    raise InvalidInput(f"/{name}: send a text or a list of parts, not {type(given).__name__}")
