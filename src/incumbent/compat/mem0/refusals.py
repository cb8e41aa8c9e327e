"""What is not carried over from mem0: each refusal names what to do instead."""

from __future__ import annotations

from typing import Any, NoReturn

from incumbent.model.errors import InvalidInput


class NotCarriedOver(InvalidInput, NotImplementedError):
    """Raised for a part of mem0 that Incumbent does in another way, or not at all."""


INSTEAD = {
    "prompt": "Incumbent extracts without a prompt; leave it out, or have a model of yours read "
    "along "
    "with Memory(..., settings=incumbent.Settings(llm=...))",
    "llm": "a model of yours reads along with Memory(..., settings=incumbent.Settings(llm=...))",
    "memory_type": "there are no procedural memories; keep the text as it is with infer=False",
    "rerank": "results come ranked by words and by meaning already; leave rerank out",
    "reference_date": "ask memory.incumbent.session(user_id=...).as_of(when) what was true then",
    "show_expired": "what has expired is out of office; history(memory_id) has it",
    "config": "vector stores, embedders and models of mem0 are not used; name a store instead: "
    'Memory("agent.db"), Memory("postgresql://user@host/database") or Memory("https://host")',
    "reset": "name whose memories go with delete_all(user_id=...), or erase them for good with "
    "memory.incumbent.forget(organization=..., user_id=...)",
    "chat": "mem0 has no chat either; give your model "
    "memory.incumbent.session(user_id=...).context(query)",
    "enable_graph": "there is no graph of entities; what follows from what is told with "
    "memory.incumbent.session(user_id=...).write(..., depends_on=...)",
    "images": "images are not read; describe them in text",
    "expiration_date": "with infer=True a turn may say several things, and one day cannot end them "
    "all; add it with infer=False, or write it with valid_until=...",
    "expiration_alone": "a day to end at goes with the text that ends; give update the text, too",
}
"""What to do instead of each part."""


def refuse(part: str, name: str | None = None) -> NotCarriedOver:
    """The error for a part that is not carried over."""
    return NotCarriedOver(f"{name or part} is not carried over from mem0: {INSTEAD[part]}")


def refuse_given(**given: Any) -> None:
    """Refuse the first of these options that was given."""
    for part, value in given.items():
        if value:
            raise refuse(part)


class Mem0Refusals:
    """The calls of mem0 that are not carried over at all."""

    @classmethod
    def from_config(cls, config_dict: dict[str, Any]) -> NoReturn:
        """Not carried over: a store of Incumbent is opened by its path or address."""
        raise refuse("config", "from_config")

    def reset(self) -> NoReturn:
        """Not carried over: name whose memories go."""
        raise refuse("reset")

    def chat(self, query: str) -> NoReturn:
        """Not carried over."""
        raise refuse("chat")
