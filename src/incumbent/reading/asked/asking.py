"""Asking: one request to a model, within a time limit, repeated where that may help; and in words,
for models that can only be sent a text and answer with one.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, Protocol

from incumbent.reading.asked.config import LLM

_LONGEST_PAUSE = 20.0
_LONGEST_WAIT = 3600.0
"""Seconds. A provider that wants more than that is not asked again in any case."""
_PASSING = frozenset({408, 409, 425, 429})
"""Answers of a server below 500 after which the same request may succeed."""

Kind = Literal[
    "timeout", "unreachable", "http", "refused", "malformed", "budget", "error", "dropped", "unfit"
]


class Trouble(Exception):
    """Why a model gave no reading. It stays inside: the offline reading stands, and says so."""

    def __init__(
        self,
        kind: Kind,
        message: str,
        *,
        may_pass: bool = False,
        wait: float = 0.0,
        tokens: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.may_pass = may_pass
        """Whether the same request may well succeed a little later."""
        self.wait = wait
        """Seconds that the provider wants to be left alone before the next request."""
        self.tokens = tokens
        """Tokens in and out that it cost all the same, where that is known."""


def malformed(tokens: tuple[int, int] = (0, 0)) -> Trouble:
    """An answer of another form, with the tokens that it took, where the client tells."""
    message = "the answer was not in the form that was asked for"
    return Trouble("malformed", message, may_pass=True, tokens=tokens if any(tokens) else None)


def refused_with(status: int, retry_after: Any) -> Trouble:
    """The status of a provider that gave no answer. What it wrote is not told."""
    try:
        wait = min(max(0.0, float(retry_after)), _LONGEST_WAIT)
    except (TypeError, ValueError):
        wait = 0.0  # a date: the usual pause is as good a guess
    message = f"the provider answered with status {status}"
    may_pass = status >= 500 or status in _PASSING
    return Trouble("http", message, may_pass=may_pass, wait=wait, tokens=(0, 0))


@dataclass(frozen=True)
class Ask:
    """What a model is asked: instructions of ours, and data that are nobody's instructions."""

    instructions: str
    data: str
    schema: Mapping[str, Any]
    """The JSON schema of the answer."""
    max_output_tokens: int


@dataclass(frozen=True)
class Answer:
    """What a model answered: JSON as Python values, and what it took."""

    content: Any
    input_tokens: int = 0
    output_tokens: int = 0


class Completion(Protocol):
    """A model, as far as Incumbent needs one. Implement this to bring a client of your own."""

    @property
    def name(self) -> str: ...

    def complete(self, ask: Ask, *, timeout: float) -> Answer:
        """Answer in the form of `ask.schema`, or raise; Trouble says why and whether to retry."""
        ...


class Nobody:
    """Stands where a model to ask would be, under a name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def complete(self, ask: Ask, *, timeout: float) -> Answer:
        raise Trouble("error", "nobody is asked")


class Ledger(Protocol):
    """Where requests are paid from."""

    def reserve(self, ask: Ask) -> None:
        """Set aside what a request may take; raises Trouble where the budget is exhausted."""
        ...

    def settle(self, *, tokens: tuple[int, int] | None, failed: bool) -> None:
        """Replace what was set aside by what it took; None where nobody knows."""
        ...


def asked(
    completion: Completion,
    llm: LLM,
    ask: Ask,
    ledger: Ledger,
    read: Callable[[Any], Any],
    *,
    sleep: Callable[[float], None] = time.sleep,
    chance: Callable[[], float] = random.random,
) -> Any:
    """What `read` makes of the answer; raises Trouble when there is none in time.

    `read` refuses an answer of the wrong form by raising Trouble.
    """
    deadline = time.monotonic() + llm.timeout
    attempt = 0
    while True:
        try:
            return _attempt(completion, llm, ask, ledger, read, deadline)
        except Trouble as trouble:
            # Twice as long each time, and never the same for all who wait.
            pause = min(_LONGEST_PAUSE, llm.backoff * 2**attempt) * (0.5 + chance() / 2)
            pause = max(pause, trouble.wait)
            attempt += 1
            late = time.monotonic() + pause >= deadline
            if not trouble.may_pass or attempt > llm.retries or late:
                raise
        sleep(pause)


def _attempt(
    completion: Completion,
    llm: LLM,
    ask: Ask,
    ledger: Ledger,
    read: Callable[[Any], Any],
    deadline: float,
) -> Any:
    ledger.reserve(ask)
    tokens: tuple[int, int] | None = None
    failed = True
    try:
        answer = _completed(completion, ask, deadline - time.monotonic(), llm.timeout)
        used = (answer.input_tokens, answer.output_tokens)
        tokens = used if any(used) else None  # not every client tells
        found = read(answer.content)
        failed = False
    except Trouble as trouble:
        tokens = tokens or trouble.tokens
        raise
    finally:
        ledger.settle(tokens=tokens, failed=failed)
    return found


def _completed(completion: Completion, ask: Ask, timeout: float, told: float) -> Answer:
    """Let the model answer on a thread of its own, so that no client can hold us up."""
    box: list[Answer | BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            box.append(completion.complete(ask, timeout=timeout))
        except BaseException as error:
            box.append(error)
        done.set()

    if timeout > 0:
        threading.Thread(target=run, name="incumbent-llm-call", daemon=True).start()
    if timeout <= 0 or not done.wait(timeout):
        raise Trouble("timeout", f"no answer within {told:g} s")
    found = box[0]
    if isinstance(found, Answer):
        return found
    if isinstance(found, Trouble):
        raise found
    # The text of a client's error can hold a key or what was said; its name holds neither.
    raise Trouble("error", f"the model's client failed with {type(found).__name__}")


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
        raise malformed((said.input_tokens, said.output_tokens))
    return Answer(found, said.input_tokens, said.output_tokens)
