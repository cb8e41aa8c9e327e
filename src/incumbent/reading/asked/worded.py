"""Asking in words: for models that can only be sent a text, and answer with one."""

from __future__ import annotations

import json
from typing import Final, NamedTuple

from incumbent.reading.asked.asking import Answer, Ask, Trouble

_TRIES: Final = 100
"""In so many places of what was said, the JSON is looked for."""
_FORM: Final = "\n\nAnswer with this JSON and nothing else. Its schema: "


class Said(NamedTuple):
    """What a model said to a text, and the tokens in and out, where it tells."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0


def instructed(ask: Ask) -> str:
    """The instructions with the form of the answer, which is always the same."""
    return ask.instructions + _FORM + json.dumps(ask.schema, separators=(",", ":"))


def answered(said: Said) -> Answer:
    """The JSON in what a model said; around it models think aloud, and put fences."""
    decoder, found, place = json.JSONDecoder(), None, -1
    for _ in range(_TRIES):
        if (place := said.text.find("{", place + 1)) < 0:
            break
        try:
            value, end = decoder.raw_decode(said.text, place)
        except (ValueError, RecursionError):
            continue
        place = end - 1
        found = value if isinstance(value, dict) and "statements" in value else found
    if found is None:
        tokens = (said.input_tokens, said.output_tokens)
        message = "the answer was not in the form that was asked for"
        raise Trouble("malformed", message, may_pass=True, tokens=tokens if any(tokens) else None)
    return Answer(found, said.input_tokens, said.output_tokens)
