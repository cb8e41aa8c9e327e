"""The client: any provider's model, through pydantic-ai. Needs the extra: pip install
incumbent[llm].

The package is imported only here, and only when a model is set up.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from incumbent.model.errors import InvalidInput
from incumbent.reading.asked.asking import Answer, Ask, Completion, Trouble, malformed, refused_with
from incumbent.reading.asked.config import LLM, MODELS

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.usage import RunUsage

_INSTALL = 'pip install "incumbent[llm]"'
_OLLAMA = "http://localhost:11434/v1"
_COMPATIBLE = ("vllm", "openai-compatible")
"""Providers that are reached like OpenAI, at an address that has to be given."""


def completion_for(llm: LLM) -> Completion:
    """What answers for this setting; raises InvalidInput that names what is missing."""
    if hasattr(llm.model, "complete"):
        given: Completion = llm.model
        return given
    if not (isinstance(llm.model, str) or hasattr(llm.model, "request")):
        raise InvalidInput(f"llm model {type(llm.model).__name__} is no model: {MODELS}")
    if importlib.util.find_spec("pydantic_ai") is None:
        raise InvalidInput(
            f"the setting llm={llm.name!r} needs a package that is not installed; "
            f"install it with: {_INSTALL}"
        )
    return PydanticCompletion(llm)


class PydanticCompletion:
    """A model of pydantic-ai."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm
        # A model that was given keeps connections of its own, for one event loop at a time.
        self._turn: Any = nullcontext() if isinstance(llm.model, str) else threading.Lock()
        self._model()  # so that a missing key or package is told now, and not in the background

    @property
    def name(self) -> str:
        return self._llm.name

    def complete(self, ask: Ask, *, timeout: float) -> Answer:
        with self._turn:
            return asyncio.run(self._complete(ask, timeout))

    async def _complete(self, ask: Ask, timeout: float) -> Answer:
        from pydantic_ai import Agent
        from pydantic_ai.settings import ModelSettings
        from pydantic_ai.usage import RunUsage

        used = RunUsage()
        # A client for each request: none is shared between threads, event loops or processes.
        model = self._model()
        agent: Agent[None, Any] = Agent(
            model,
            output_type=self._output(ask, model),
            instructions=ask.instructions,
            retries=0,
        )
        settings = ModelSettings(max_tokens=ask.max_output_tokens)
        if isinstance(self._llm.model, str):
            settings |= ModelSettings(timeout=timeout, max_retries=0)
            if self._llm.model.partition(":")[0] in (*_COMPATIBLE, "ollama"):
                settings |= ModelSettings(temperature=0.0)  # hosted models do not all take it
        try:
            async with asyncio.timeout(timeout), model:
                result = await agent.run(ask.data, model_settings=settings, usage=used)
        except Exception as error:
            raise _trouble(error, used) from None
        return Answer(result.output, used.input_tokens, used.output_tokens)

    def _output(self, ask: Ask, model: Model) -> Any:
        from pydantic_ai import NativeOutput, PromptedOutput, StructuredDict, ToolOutput

        form = StructuredDict(dict(ask.schema))
        chosen = self._llm.output
        if chosen == "auto":
            can = model.profile.get("supports_json_schema_output", False)
            chosen = "schema" if can else "tool"
        kinds: dict[str, Callable[..., Any]] = {
            "schema": NativeOutput,
            "tool": ToolOutput,
            "prompt": PromptedOutput,
        }
        return kinds[chosen](form)

    def _model(self) -> Model:
        if not isinstance(self._llm.model, str):
            given: Model = self._llm.model
            return given
        from pydantic_ai.exceptions import UserError

        provider, _, name = self._llm.model.partition(":")
        try:
            return self._named(provider, name)
        except InvalidInput:
            raise
        except ImportError as error:
            raise InvalidInput(
                f"provider {provider!r} needs a package that is not installed: {_told(error)} "
                f"({_INSTALL} brings those of openai, anthropic and google)"
            ) from None
        except (UserError, ValueError, TypeError, AssertionError) as error:
            raise InvalidInput(f"llm {self._llm.model!r} cannot be used: {_told(error)}") from None

    def _named(self, provider: str, name: str) -> Model:
        from pydantic_ai.models import infer_model
        from pydantic_ai.providers import infer_provider_class

        base_url, api_key = self._llm.base_url, self._llm.api_key
        if provider in _COMPATIBLE and base_url is None:
            raise InvalidInput(
                f"llm {self._llm.model!r} needs base_url=, the address that it is served at, "
                f"for example http://localhost:8000/v1"
            )
        if provider in _COMPATIBLE or (provider == "openai" and _is_elsewhere(base_url)):
            return _compatible(name, base_url, api_key)
        if provider == "ollama":
            base_url = base_url or os.environ.get("OLLAMA_BASE_URL") or _OLLAMA
        given = {"base_url": base_url, "api_key": api_key}
        known = {option: value for option, value in given.items() if value is not None}
        return infer_model(f"{provider}:{name}", lambda named: infer_provider_class(named)(**known))


def _is_elsewhere(base_url: str | None) -> bool:
    """Whether what is called OpenAI is a server that only speaks like it."""
    return base_url is not None or "OPENAI_BASE_URL" in os.environ


def _compatible(name: str, base_url: str | None, api_key: str | None) -> Model:
    """A server that speaks like OpenAI: by chat completions, which all of them know."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIChatModel(name, provider=OpenAIProvider(base_url=base_url, api_key=api_key))


def _told(error: Exception) -> str:
    """What a client says about a setting, in one line; such messages name variables, not keys."""
    first = " ".join(str(error).split()).partition(" To try Pydantic AI")[0]
    return first[:300] or type(error).__name__


def _trouble(error: Exception, used: RunUsage) -> Trouble:
    """Why a request failed, in words that hold nothing of the request, the answer or the key."""
    from pydantic_ai import exceptions as known

    spent = (used.input_tokens, used.output_tokens)
    tokens = spent if any(spent) else None
    if isinstance(error, TimeoutError | known.ModelTimeoutError | known.ModelRequestTimeout):
        return Trouble("timeout", "the provider did not answer in time", may_pass=True)
    if isinstance(error, known.ContentFilterError):
        return Trouble("refused", "the model refused", tokens=tokens)
    if isinstance(error, known.ModelHTTPError):
        # The headers are those of the error of the provider's own client.
        headers = getattr(getattr(error.__cause__, "response", None), "headers", {})
        return refused_with(error.status_code, headers.get("retry-after"))
    if isinstance(error, known.ModelAPIError):
        return Trouble(
            "unreachable", "the provider could not be reached", may_pass=True, tokens=(0, 0)
        )
    if isinstance(error, known.UnexpectedModelBehavior):
        return malformed(spent)
    return Trouble("error", f"the client failed with {type(error).__name__}", tokens=tokens)
