"""A server on this machine that speaks like OpenAI and answers from the context in the prompt.

It has no model, and what it says follows from what it was given: to a question about a context the
lines that share a word with it, to the suite's judge whether the words are there.
"""

from __future__ import annotations

import re
from threading import Lock
from typing import Any

from tests.llm.servers import Reply, Trickster, completion

_QUESTION = "User question:"
_WORD = re.compile(r"[a-z0-9$]+")
_SILENT = "I really cannot tell from what I was given here."


class Reader(Trickster):
    """Reads, and now and then fails: some seeds it answers with nothing, some calls not at all."""

    def __init__(self, *, silent: tuple[int, ...] = (), patience: int | None = None) -> None:
        super().__init__()
        self.silent = silent
        self.patience = patience
        """How many questions it answers before it answers with errors."""
        self._lock = Lock()

    @property
    def answered(self) -> list[dict[str, Any]]:
        """The questions about a context that came in."""
        return [body for body in self.bodies if body["messages"][0]["role"] == "system"]

    @property
    def judged(self) -> list[str]:
        """What the judge asked."""
        told = (body["messages"][-1]["content"] for body in self.bodies)
        return [text for text in told if "Response:" in text]

    def reply(self, body: dict[str, Any], key: str | None) -> Reply:
        with self._lock:
            self.bodies.append(body)
            self.keys.append(key)
            if self.patience is not None and len(self.bodies) > self.patience:
                return 503, b"{}"
        prompt = body["messages"][-1]["content"]
        if "Target phrase:" in prompt:
            return completion(_is_conveyed(prompt))
        if "Choose from:" in prompt:
            return completion(_decision(prompt))
        if body.get("seed") in self.silent:
            return completion(_SILENT)
        return completion(_answer(prompt))


def _answer(prompt: str) -> str:
    context, _, question = prompt.rpartition(_QUESTION)
    wanted = {word for word in _words(question) if len(word) > 3}
    found = [line for line in context.splitlines() if wanted & _words(line)]
    return "\n".join(found) or _SILENT


def _is_conveyed(prompt: str) -> str:
    phrase = _between(prompt, 'Target phrase: "', '"')
    return "YES" if _words(phrase) <= _words(prompt.partition("Response:")[2]) else "NO"


def _decision(prompt: str) -> str:
    listed = _between(prompt, "Choose from:", "\n")
    options: list[str] = re.findall(r'"([^"]+)"', listed)
    said = _words(_between(prompt, "Response:", "Answer with"))
    return next((option for option in options if _words(option) <= said), options[-1])


def _between(text: str, start: str, end: str) -> str:
    return text.partition(start)[2].partition(end)[0]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower().replace("_", " ")))
