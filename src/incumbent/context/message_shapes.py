"""Messages as agents send them to models: where the text is in them, in the common shapes.

Chat completions (`content`, `tool_calls`), content in parts (text, calls of tools and their
results), items of responses (`function_call`, `function_call_output`), `parts` as Google has
them, and `toolUse` and `toolResult` as Amazon has them.
Anything else in a message is passed on as it is: pictures, signatures, a model's thoughts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from incumbent.model.errors import InvalidInput

Path = tuple[str | int, ...]
_UNTOUCHED = frozenset({"thinking", "redacted_thinking", "reasoning", "encrypted_content"})
"""Parts that their provider takes back only as they were."""
_FRAME = frozenset({"system", "developer"})
_RESULTS = frozenset({"tool", "function"})
_CALLED, _RETURNED = "function_call", "function_call_output"
_CALLS = frozenset({"tool_use", "tool_call", _CALLED})
_NAMED = {
    _CALLED: _CALLED,
    "function_response": "function_response",
    "toolUse": "tool_use",
    "toolResult": "tool_result",
}
"""Parts whose kind is the name under which they hold everything."""
_HELD = ((_CALLED, "args"), ("function_response", "response"), ("toolUse", "input"))
_DEEPEST = 64
_PLAIN_TEXT = frozenset({"text", "input_text", "output_text"})


class Stretch(NamedTuple):
    """A text in a message, or a value that a tool was called with or gave back."""

    path: Path
    value: Any
    is_json: bool = False
    """Whether it stands there as the JSON of the value."""


def role_of(message: Mapping[str, Any]) -> str:
    """Who says a message; what a tool is called with, an assistant says."""
    kind = message.get("type")
    if kind == _CALLED:
        return "assistant"
    return "tool" if kind == _RETURNED else str(message.get("role") or "")


def is_frame(message: Mapping[str, Any]) -> bool:
    """Whether a message is the application's own words, and no talk."""
    return role_of(message) in _FRAME


def is_reminder(text: str) -> bool:
    """Whether a text under a person's role is the words of the program that sends it: Claude's own
    agents mark what they add to a message."""
    told = text.strip()
    return told.startswith("<system-reminder>") and told.endswith("</system-reminder>")


def is_from_user(message: Mapping[str, Any]) -> bool:
    """Whether a person says it; what a tool gave back may stand under that role too."""
    if role_of(message) not in ("user", "human"):
        return False
    return not any(_kind(part) in ("tool_result", "function_response") for part in _parts(message))


def calls(message: Mapping[str, Any]) -> bool:
    """Whether a message calls a tool, and belongs with what comes back."""
    if message.get("type") == _CALLED or message.get("tool_calls") or message.get(_CALLED):
        return True
    return any(_kind(part) in _CALLS for part in _parts(message))


def returns(message: Mapping[str, Any]) -> bool:
    """Whether a message has what a tool gave back."""
    if role_of(message) in _RESULTS:
        return True
    return any(_kind(part) in ("tool_result", "function_response") for part in _parts(message))


def is_thought(message: Mapping[str, Any]) -> bool:
    """Whether a message is a model's thought, which its provider takes only with what follows."""
    return message.get("type") == "reasoning"


def is_all_text(message: Mapping[str, Any]) -> bool:
    """Whether a message is nothing but text, and can be left out without breaking anything."""
    if calls(message) or returns(message) or is_frame(message):
        return False
    parts = _parts(message)
    return all(isinstance(p, str) or _kind(p) in (*_PLAIN_TEXT, "") for p in parts)


def stretches(message: Mapping[str, Any]) -> Iterator[Stretch]:
    """The texts of a message with their places, in order."""
    if is_thought(message):
        return
    for name in ("content", "parts", "output"):
        yield from _within(message.get(name), (name,))
    if isinstance(message.get("arguments"), str):
        yield _json(message["arguments"], ("arguments",))
    called = message.get("tool_calls")
    for number, call in enumerate(called if isinstance(called, list | tuple) else ()):
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping) and isinstance(function.get("arguments"), str):
            yield _json(function["arguments"], ("tool_calls", number, "function", "arguments"))


def plain(message: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a message in dicts and lists, whatever it was made of."""
    return {str(name): _plain(value, _DEEPEST) for name, value in message.items()}


def _plain(value: Any, deepest: int) -> Any:
    if not deepest:
        raise InvalidInput(f"a message is nested deeper than {_DEEPEST} levels; send it flatter")
    if isinstance(value, Mapping):
        return {str(name): _plain(one, deepest - 1) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one, deepest - 1) for one in value]
    return value


def rebuilt(message: Mapping[str, Any], changed: Mapping[Path, Any]) -> dict[str, Any]:
    """A copy of a message with other values at these places."""
    made: dict[str, Any] = deepcopy(dict(message))
    for path, value in changed.items():
        place: Any = made
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
    return made


def _within(content: Any, path: Path) -> Iterator[Stretch]:
    if isinstance(content, str):
        yield Stretch(path, content)
    elif isinstance(content, Sequence):
        for number, part in enumerate(content):
            if isinstance(part, str):
                yield Stretch((*path, number), part)
            elif isinstance(part, Mapping):
                yield from _of_part(part, (*path, number))


def _of_part(part: Mapping[str, Any], path: Path) -> Iterator[Stretch]:
    kind = _kind(part)
    if kind in _UNTOUCHED or part.get("thought"):
        return
    if isinstance(part.get("text"), str):
        yield Stretch((*path, "text"), part["text"])
    if kind == "tool_result":
        yield from _within(part.get("content"), (*path, "content"))
    for name in ("input", "args") if kind in _CALLS else ():
        if isinstance(part.get(name), Mapping):
            yield Stretch((*path, name), part[name])
    if kind in _CALLS and isinstance(part.get("arguments"), str):
        yield _json(part["arguments"], (*path, "arguments"))
    for name, inner in _HELD:
        held = part.get(name)
        if isinstance(held, Mapping) and isinstance(held.get(inner), Mapping):
            yield Stretch((*path, name, inner), held[inner])
    returned = part.get("toolResult")
    if isinstance(returned, Mapping):
        yield from _within(returned.get("content"), (*path, "toolResult", "content"))
    elif isinstance(part.get("json"), Mapping):
        yield Stretch((*path, "json"), part["json"])


def _json(text: str, path: Path) -> Stretch:
    """What a tool is called with. What is no JSON is a text like others."""
    try:
        return Stretch(path, _plain(json.loads(text), _DEEPEST), is_json=True)
    except (ValueError, RecursionError, InvalidInput):
        return Stretch(path, text)


def _parts(message: Mapping[str, Any]) -> list[Any]:
    found = (message.get("content"), message.get("parts"))
    return [part for parts in found if isinstance(parts, list | tuple) for part in parts]


def _kind(part: Any) -> str:
    if not isinstance(part, Mapping):
        return ""
    for name, kind in _NAMED.items():
        if name in part:
            return kind
    said = part.get("type")
    if said is None:
        # A part without a type is a text, or something that we do not know.
        return "" if set(part) <= {"text"} else "unknown"
    return str(said)
