"""Asking a model in plain text, at any server like OpenAI's; answers are kept.

The end-to-end protocol asks thousands of questions. Each answer is written to a file at once, so
that an interrupted run can go on, and nothing is paid for twice.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, TextIO

from incumbent.model.errors import InvalidInput
from incumbent.reading.asked import LLM
from incumbent_eval import peers

FORMAT = "incumbent-answers/1"
RETRIES = 6
"""The most repetitions of a question after a busy server or a broken connection."""
_ADDRESSES = {"ollama": ("OLLAMA_BASE_URL", "http://localhost:11434/v1")}
"""The default address of a provider: the variable's value, else this."""
_LIKE_OPENAI = ("openai", "vllm", "openai-compatible")
"""Providers that take OpenAI's key, as elsewhere in Incumbent."""
_OF_THE_QUESTION = frozenset({400, 413, 422})
"""Statuses of a server that concern one question (too long, against its rules), not all."""
_TRIAL = "Answer with the word yes and nothing else."


class NoAnswer(InvalidInput):
    """A model cannot be asked, or gave no answer after every repetition."""


@dataclass(frozen=True)
class ModelQuestion:
    """A question to a model."""

    prompt: str
    system: str = ""
    max_tokens: int = 1_000
    seed: int | None = None

    def key(self, model: str) -> str:
        """The key of its answer: the same question to the same model has the same one."""
        told = json.dumps([model, asdict(self)], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()

    @property
    def messages(self) -> list[dict[str, str]]:
        instructions = [{"role": "system", "content": self.system}] if self.system else []
        return [*instructions, {"role": "user", "content": self.prompt}]


@dataclass(frozen=True)
class Reply:
    """The answer of a model."""

    text: str
    tokens: int = 0
    """In and out, as the server counts them."""
    refused: str = ""
    """The reason why there is no text, if the server refused this one question."""


# keeping


class KeptAnswers:
    """Replies by the key of their question, in memory, and in a file if one is named."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lock = Lock()
        self._found: dict[str, Reply] = {}
        self._file: TextIO | None = None
        if path is not None:
            whole = self._read(path)
            self._file = self._opened(path, whole)

    def __len__(self) -> int:
        return len(self._found)

    def find(self, key: str) -> Reply | None:
        return self._found.get(key)

    def keep(self, key: str, reply: Reply) -> None:
        """Keep a reply, on disk before anything else is asked."""
        with self._lock:
            self._found[key] = reply
            if self._file is not None:
                self._write({"key": key, "text": reply.text, "tokens": reply.tokens})

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _read(self, path: Path) -> int:
        """Take the content of the file; return the length of the whole part: a line that was cut
        off is left out."""
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read: {error}") from None
        whole = content.rfind(b"\n") + 1
        head, *lines = content[:whole].splitlines() or [content]
        try:
            if content and json.loads(head) != {"format": FORMAT}:
                raise ValueError("its first line names another format")
            for line in lines:
                told = json.loads(line)
                self._found[told["key"]] = Reply(str(told["text"]), int(told["tokens"]))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InvalidInput(
                f"{path} is no file of answers ({error}); name one that `incumbent eval statebench "
                "--answers FILE` has written, or one that does not exist yet"
            ) from None
        return whole

    def _opened(self, path: Path, whole: int) -> TextIO:
        try:
            file = path.open("a", encoding="utf-8", newline="\n")
            file.truncate(whole)
        except OSError as error:
            raise InvalidInput(f"{path} cannot be written: {error}") from None
        self._file = file
        if not whole:
            self._write({"format": FORMAT})
        return file

    def _write(self, told: Mapping[str, Any]) -> None:
        assert self._file is not None
        try:
            self._file.write(json.dumps(told) + "\n")
            self._file.flush()
        except OSError as error:
            raise InvalidInput(f"{self._path} cannot be written: {error}") from None


# asking


class AnsweringModel:
    """A model with the answers that it has given before. Safe to share between threads."""

    def __init__(self, llm: LLM, answers: KeptAnswers | None = None) -> None:
        self._llm = llm
        self._answers = answers if answers is not None else KeptAnswers()
        self._provider, _, self._name = str(llm.model).partition(":")
        self._client = self._connected()
        self._lock = Lock()
        self._turns: dict[str, Lock] = {}
        # Questions that went out, those that were answered before, and what the first took.
        self.calls = self.found = self.tokens = 0

    @property
    def name(self) -> str:
        """The model with its provider, as it is kept and reported."""
        return self._llm.name

    @property
    def bare_name(self) -> str:
        """The model as its server knows it."""
        return self._name

    def try_out(self) -> None:
        """Ask one short question, so that a wrong address, key or name is noticed before the
        rest."""
        reply = self.ask(ModelQuestion(_TRIAL, max_tokens=16, seed=0))
        if reply.refused:
            raise self._failed(f"it takes no question with a seed and a limit ({reply.refused})")

    def ask(self, question: ModelQuestion) -> Reply:
        """The answer to a question. If two ask the same at once, one waits for the other."""
        key = question.key(self.name)
        with self._lock:
            turn = self._turns.setdefault(key, Lock())
        with turn:
            kept = self._answers.find(key)
            reply = self._asked(question) if kept is None else kept
            if kept is None and not reply.refused:  # the server may be set up otherwise next time
                self._answers.keep(key, reply)
        with self._lock:
            self.calls += kept is None
            self.found += kept is not None
            self.tokens += 0 if kept is not None else reply.tokens
        return reply

    @property
    def _address(self) -> str:
        return str(self._client.base_url).rstrip("/")

    def _connected(self) -> Any:
        """A client of the openai package, which the suite's own package brings."""
        try:
            package: Any = import_module("openai")
        except ImportError:
            raise NoAnswer(
                f"asking a model needs the openai package; install it with: {peers.INSTALL}"
            ) from None
        address = self._llm.base_url or _default_address(self._provider)
        key = self._llm.api_key or os.environ.get(_key_variable(self._provider))
        if address is None and self._provider != "openai":
            raise NoAnswer(
                f"{self.name} needs the address at which it is served like OpenAI's models, for "
                "example http://localhost:8000/v1; give it with --llm-url, or --judge-url"
            )
        if address is None and not key:
            raise NoAnswer(f"{self.name} needs a key; put it into {_key_variable(self._provider)}")
        return package.OpenAI(
            base_url=address,
            api_key=key or "none",
            timeout=self._llm.timeout,
            max_retries=self._llm.retries,
        )

    def _asked(self, question: ModelQuestion) -> Reply:
        package: Any = import_module("openai")
        # OpenAI's own service has given the limit another name, which others do not all know.
        own = self._provider == "openai" and _default_address("openai") is None
        limit = "max_completion_tokens" if own and not self._llm.base_url else "max_tokens"
        seed = {} if question.seed is None else {"seed": question.seed}
        try:
            made = self._client.chat.completions.create(
                model=self.bare_name,
                messages=question.messages,
                **{limit: question.max_tokens},
                **seed,
            )
        except package.APIStatusError as error:
            if error.status_code in _OF_THE_QUESTION:
                return Reply("", refused=f"status {error.status_code}")
            raise self._failed(_status_told(error.status_code, self._provider)) from None
        except package.APITimeoutError:
            raise self._failed(f"nothing came within {self._llm.timeout:g} s") from None
        except package.APIConnectionError:
            raise self._failed("it could not be reached; check the address") from None
        except (package.OpenAIError, ValueError) as error:
            raise self._failed(f"its client failed with {type(error).__name__}") from None
        return self._read(made)

    def _read(self, made: Any) -> Reply:
        try:
            [choice, *_] = made.choices
            used = getattr(made, "usage", None)
            return Reply(choice.message.content or "", int(getattr(used, "total_tokens", 0) or 0))
        except (AttributeError, TypeError, ValueError):
            raise self._failed("what came is no chat completion; check the address") from None

    def _failed(self, why: str) -> NoAnswer:
        """The error of a failed question. It quotes neither the question nor the answer nor the
        key."""
        return NoAnswer(f"{self.name} at {self._address} gave no answer: {why}")


def _default_address(provider: str) -> str | None:
    """The default address of a provider; None leaves it to its client."""
    if provider == "openai":
        return os.environ.get("OPENAI_BASE_URL")
    variable, usual = _ADDRESSES.get(provider, ("", ""))
    return os.environ.get(variable) or usual or None


def _key_variable(provider: str) -> str:
    known = "openai" if provider in _LIKE_OPENAI else provider
    return f"{known.upper().replace('-', '_')}_API_KEY"


def _status_told(status: int, provider: str) -> str:
    """The meaning of a server's status, for the person who set it up."""
    advice = {
        401: f"; check the key in {_key_variable(provider)}",
        403: f"; check the key in {_key_variable(provider)}",
        404: "; check the name of the model and the address",
        429: "; ask fewer at a time, or go on later",
    }
    return f"it answered with status {status}{advice.get(status, '')}"
