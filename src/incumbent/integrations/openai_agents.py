"""OpenAI Agents SDK: Incumbent as hooks of a run. `incumbent[openai-agents]`

    hooks = IncumbentHooks(memory)
    await Runner.run(
        agent, text, session=session, hooks=hooks, run_config=hooks.run_config(),
        context={"user_id": "alice", "session_id": "7"},
    )

The hooks observe what is said; the run's configuration has a filter, which changes what a model
reads. Any `Session` goes on keeping the whole transcript. A `Session` alone would come too early:
it is asked for the history before anybody knows what the person says now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from inspect import isawaitable
from typing import Any, TypeAlias, Unpack, cast

from incumbent.aio import AsyncMemory
from incumbent.integrations.agent_memory import AgentMemory, Options, Plain, Sent, on_thread
from incumbent.integrations.model_at_hand import AtHand, Question, Said, counted
from incumbent.memory import Memory

try:
    from agents import (
        ItemHelpers,
        Model,
        ModelSettings,
        ModelTracing,
        RunConfig,
        RunContextWrapper,
        RunHooks,
        Tool,
        TResponseInputItem,
    )
    from agents.run_config import CallModelData, CallModelInputFilter, ModelInputData
    from agents.run_context import AgentHookContext
except ImportError as error:
    raise ImportError(
        f"{error}; install it with: pip install 'incumbent[openai-agents]'"
    ) from error

Items: TypeAlias = Sequence[TResponseInputItem]


async def _ask(model: Model, asked: Question) -> Said:
    response = await model.get_response(
        asked.instructions,
        asked.data,
        ModelSettings(max_tokens=asked.most),
        [],
        None,
        [],
        ModelTracing.DISABLED,
        previous_response_id=None,
        conversation_id=None,
        prompt=None,
    )
    said = "".join(ItemHelpers.extract_last_content(item) for item in response.output)
    return Said(said, *counted(response.usage, "input_tokens", "output_tokens"))


_AT_HAND = AtHand(Model, _ask)


class IncumbentHooks(RunHooks[Any]):
    """Observes what is said in a run, and sends its models what holds.

    The person and the session are those that the run's context names (a mapping or an object with
    `user_id` and `session_id`), and otherwise those that the hooks are made with.
    """

    def __init__(self, memory: Memory | AsyncMemory, **options: Unpack[Options]) -> None:
        super().__init__()
        self._agent = AgentMemory(memory, options, _AT_HAND)

    def run_config(self, config: RunConfig | None = None) -> RunConfig:
        """The configuration of a run with these hooks; a filter of yours is asked first.

        Agents that are tools of others inherit it: what they are sent is guarded too, and what
        their caller says to them is not taken for a person's word.
        """
        config = config or RunConfig()
        own = config.call_model_input_filter

        async def guarded(data: CallModelData[Any]) -> ModelInputData:
            asked = await _asked(own, data)
            sent = await on_thread(self._sent, data.context, asked.input)
            items = sent.messages(asked.input, _rebuilt)
            return ModelInputData(input=items, instructions=sent.after(asked.instructions) or None)

        return replace(config, call_model_input_filter=guarded)

    async def on_agent_start(self, context: AgentHookContext[Any], agent: Any) -> None:
        await on_thread(self._hear, context.context, context.turn_input)

    async def on_tool_end(
        self, context: RunContextWrapper[Any], agent: Any, tool: Tool, result: object
    ) -> None:
        call_id = getattr(context, "tool_call_id", None)
        await on_thread(self._note, context.context, result, call_id)

    async def on_agent_end(self, context: AgentHookContext[Any], agent: Any, output: Any) -> None:
        await on_thread(self._answered, context.context, output)

    # What waits for the store.

    def _hear(self, told: Any, items: Items) -> None:
        self._agent.hear(self._agent.session(told), _plain(items))

    def _sent(self, told: Any, items: Items) -> Sent:
        return self._agent.sent(self._agent.session(told), _plain(items))

    def _note(self, told: Any, result: object, call_id: str | None) -> None:
        self._agent.result(self._agent.session(told), result, call_id)

    def _answered(self, told: Any, output: Any) -> None:
        self._agent.answer(self._agent.session(told), output)


async def _asked(own: CallModelInputFilter | None, data: CallModelData[Any]) -> ModelInputData:
    """What the application's own filter leaves, if it has one."""
    if own is None:
        return data.model_data
    made = own(data)
    return await made if isawaitable(made) else made


def _plain(items: Items) -> list[Plain]:
    """Items are plain mappings already, in the shapes of responses or of chat."""
    return [cast(Plain, item) for item in items]


def _rebuilt(item: TResponseInputItem, made: dict[str, Any]) -> TResponseInputItem:
    return cast(TResponseInputItem, made)
