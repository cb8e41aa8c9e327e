"""Google's Agent Development Kit: Incumbent as a plugin of a runner. `incumbent[google-adk]`

    app = App(name="shop", root_agent=agent, plugins=[IncumbentPlugin(memory)])
    runner = Runner(app=app, session_service=...)

The session service keeps every event as it was. `IncumbentMemoryService` is for agents that search
memory with ADK's own tools, `load_memory` and `preload_memory`.
"""

from __future__ import annotations

from typing import Any, Unpack

from incumbent.aio import AsyncMemory
from incumbent.integrations.agent_memory import (
    AgentMemory,
    Options,
    Plain,
    caller,
    enter_tool,
    leave_tool,
    on_thread,
    said_in,
)
from incumbent.integrations.model_at_hand import AtHand, Question, Said, counted
from incumbent.memory import Memory
from incumbent.session import Session

try:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.agents.readonly_context import ReadonlyContext
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_request import LlmRequest
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.sessions.session import Session as Conversation
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.tool_context import ToolContext
    from google.genai import types
except ImportError as error:
    raise ImportError(f"{error}; install it with: pip install 'incumbent[google-adk]'") from error


async def _ask(model: BaseLlm, asked: Question) -> Said:
    told = types.GenerateContentConfig(
        system_instruction=asked.instructions, max_output_tokens=asked.most
    )
    data = types.Content(role="user", parts=[types.Part(text=asked.data)])
    text, usage = "", None
    async for response in model.generate_content_async(
        LlmRequest(model=model.model, contents=[data], config=told)
    ):
        text += said_in(plain(response.content)) if response.content is not None else ""
        usage = response.usage_metadata
    return Said(text, *counted(usage, "prompt_token_count", "candidates_token_count"))


_AT_HAND = AtHand(BaseLlm, _ask)


class IncumbentPlugin(BasePlugin):
    """Observes what is said, and sends the models of a runner what holds.

    The person and the session are those of the ADK session. Of whom else the run is for
    (`organization`, `authority`, …), its `RunConfig.custom_metadata` tells, and otherwise what the
    plugin is made with.
    """

    def __init__(self, memory: Memory | AsyncMemory, **options: Unpack[Options]) -> None:
        super().__init__("incumbent")
        self._agent = AgentMemory(memory, options, _AT_HAND)

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> None:
        heard = {**plain(user_message), "role": "user", "id": invocation_context.invocation_id}
        await on_thread(self._agent.hear, self._session(invocation_context), [heard])

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> None:
        given = [plain(content) for content in llm_request.contents]
        sent = await on_thread(self._agent.sent, self._session(callback_context), given)
        if sent.context:
            llm_request.append_instructions([sent.context])
        llm_request.contents = sent.messages(llm_request.contents, rebuilt)

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> None:
        enter_tool(self._session(tool_context))

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: Any
    ) -> None:
        leave_tool()
        session, call_id = self._session(tool_context), tool_context.function_call_id
        await on_thread(self._agent.result, session, _returned(result), call_id)

    async def on_tool_error_callback(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: ToolContext,
        error: Exception,
    ) -> None:
        leave_tool()

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> None:
        if event.is_final_response() and event.content is not None:
            session, said = self._session(invocation_context), said_in(plain(event.content))
            await on_thread(self._agent.answer, session, said, event.id)

    def _session(self, run: InvocationContext | ReadonlyContext) -> Session:
        around = caller()
        if around is not None:
            # A tool that is an agent has a run of its own, which does not tell whom it is for.
            return around
        here = {"user_id": run.session.user_id, "session_id": run.session.id}
        config = run.run_config
        return self._agent.session(here, config.custom_metadata if config else None)


class IncumbentMemoryService(BaseMemoryService):
    """What ADK's own tools search: `Runner(..., memory_service=IncumbentMemoryService(memory))`.

    Sessions can be added any number of times, and beside the plugin: a turn counts once.
    """

    def __init__(self, memory: Memory | AsyncMemory, **options: Unpack[Options]) -> None:
        self._agent = AgentMemory(memory, options)

    async def add_session_to_memory(self, session: Conversation) -> None:
        await on_thread(self._add, session)

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        return await on_thread(self._found, user_id, query)

    def _add(self, conversation: Conversation) -> None:
        who = {"user_id": conversation.user_id, "session_id": conversation.id}
        self._agent.session(who).observe_many([*filter(None, map(_turn, conversation.events))])

    def _found(self, user_id: str, query: str) -> SearchMemoryResponse:
        session = self._agent.session({"user_id": user_id}, session_id="search")
        found = session.context(query, conversation=False)
        return SearchMemoryResponse(
            memories=[
                MemoryEntry(id=line.fact_id, content=types.UserContent(line.text))
                for line in found.lines
                if line.fact_id
            ]
        )


def plain(content: types.Content) -> Plain:
    """A content as `session.guard` takes it: it knows the parts that Google has."""
    return content.model_dump(exclude_none=True)


def rebuilt(content: types.Content, made: dict[str, Any]) -> types.Content:
    """A content from a plain one."""
    return types.Content.model_validate(made)


def _returned(result: Any) -> Any:
    """What a tool gave back; ADK wraps whatever is no mapping into one."""
    if isinstance(result, dict) and result.keys() == {"result"}:
        return result["result"]
    return result


def _turn(event: Event) -> Plain | None:
    """An event as a turn, with the ref that the plugin gives it."""
    said = said_in(plain(event.content)) if event.content is not None else ""
    if event.author == "user":
        turn = {"speaker": "user", "text": said, "ref": event.invocation_id}
    else:
        turn = {"speaker": "assistant", "text": said, "ref": event.id}
    return turn if said.strip() and (event.author == "user" or event.is_final_response()) else None
