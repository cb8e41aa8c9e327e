"""mem0's `AsyncMemory`: the same calls, each on a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from types import TracebackType
from typing import Any, NoReturn, Self

from incumbent.compat.mem0.memory import Mem0Memory
from incumbent.compat.mem0.refusals import refuse_given
from incumbent.memory import Memory


def _awaited(method: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    """The same method, awaited."""

    @wraps(method)
    async def awaited(self: Any, /, *given: Any, **named: Any) -> Any:
        return await asyncio.to_thread(getattr(self._plain, method.__name__), *given, **named)

    return awaited


class AsyncMem0Memory:
    """The calls of mem0's `AsyncMemory` on Incumbent. Takes what `Memory` takes."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self._plain = Mem0Memory(*given, **named)

    @classmethod
    def from_config(cls, config_dict: dict[str, Any]) -> NoReturn:
        """Not carried over: a store of Incumbent is opened by its path or address."""
        Mem0Memory.from_config(config_dict)

    @property
    def incumbent(self) -> Memory:
        """The memory of Incumbent that this stands on."""
        return self._plain.incumbent

    async def add(self, messages: Any, *, llm: Any = None, **named: Any) -> dict[str, Any]:
        """Take in messages. See `Memory.add`."""
        refuse_given(llm=llm)
        return await asyncio.to_thread(self._plain.add, messages, **named)

    search = _awaited(Mem0Memory.search)
    get_all = _awaited(Mem0Memory.get_all)
    get = _awaited(Mem0Memory.get)
    update = _awaited(Mem0Memory.update)
    delete = _awaited(Mem0Memory.delete)
    delete_all = _awaited(Mem0Memory.delete_all)
    history = _awaited(Mem0Memory.history)
    reset = _awaited(Mem0Memory.reset)
    chat = _awaited(Mem0Memory.chat)

    def close(self) -> None:
        """Release the store, if it was opened here. Not awaited, as in mem0."""
        self._plain.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.close)
