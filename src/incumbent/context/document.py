"""A context: the text a model reads, its lines with their provenance, and the omissions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

from incumbent.context.receipt import LinesTold, Receipt, ReceiptLine, id_of, receipt_of
from incumbent.context.score_parts import ScoreParts
from incumbent.model.errors import InvalidInput
from incumbent.model.fact import Source

Api = Literal["openai", "anthropic", "gemini"]
APIS: tuple[Api, ...] = ("openai", "anthropic", "gemini")

OVER_BUDGET = "over budget"
"""The reason of an omission for lack of room."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a context, and the fact it came from."""

    section: str
    text: str
    fact_id: str | None = None
    score: float | None = None
    """The relevance of the fact to the query; `parts` has its components."""
    parts: Mapping[str, float] = field(default_factory=ScoreParts)
    sources: tuple[Source, ...] = ()
    """The sources of the fact."""
    quoted: tuple[str, ...] = ()
    """The other facts whose text is in the line: the successor of a base, a fact that a note
    states."""


@dataclass(frozen=True, slots=True)
class Omission:
    """A fact, note or signal that was left out, and the reason."""

    reason: str
    fact_id: str | None = None
    item: str | None = None
    """The name of the note, signal or fact whose text was left out or cut."""
    count: int = 1
    """The number of facts this stands for; more than one if they are too many to name."""


_PROVEN = (
    *("text", "tokens", "budget", "query", "profile", "style", "at", "seq"),
    *("organization", "user_id", "tokenizer"),
)


@dataclass(frozen=True)
class Context:
    """The text that a model reads, with its provenance and an account of the omissions.

    Invariant: `tokens` is what `tokenizer` counts for `text`, and never more than `budget`.
    """

    text: str
    tokens: int
    budget: int
    query: str
    profile: str
    at: datetime
    style: str = "plain"
    lines: tuple[Line, ...] = ()
    omissions: tuple[Omission, ...] = ()
    seq: int = 0
    """The last entry of the organization's log that was known."""
    organization: str = ""
    user_id: str = ""
    tokenizer: str = ""
    intact: bool = True
    """False for a replay that differs from the original because something was erased since."""

    def __str__(self) -> str:
        return self.text

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Include the id of its receipt, by which a kept context can be read again."""
        from pydantic_core import core_schema

        known = handler(source)
        # A field like the others: a function of ours would have all of it made twice.
        told = core_schema.computed_field("receipt_id", core_schema.str_schema())
        known["schema"]["computed_fields"] = [told]
        return known

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        told = handler(schema)
        fields = handler.resolve_ref_schema(told)
        fields["properties"]["receipt_id"] = {"type": "string", "title": "Receipt Id"}
        return told

    @cached_property
    def receipt(self) -> Receipt:
        """The proof of this context: enough to reproduce it byte for byte."""
        lines = tuple(
            ReceiptLine(line.section, line.text, line.fact_id, line.score, line.quoted)
            for line in self.lines
        )
        return receipt_of(lines=lines, **self._proven())

    @cached_property
    def receipt_id(self) -> str:
        """The id of its receipt, by which a kept context can be read again."""
        return id_of(lines=LinesTold.of(self.lines), **self._proven())

    def _proven(self) -> dict[str, Any]:
        """What a receipt tells besides the lines."""
        return {name: getattr(self, name) for name in _PROVEN}

    def messages(self, api: Api = "openai") -> list[dict[str, Any]]:
        """Ready chat messages: the context, then the query, in the shape of a common API.

        "openai" has a system and a user message, as most APIs take them. "anthropic" has one user
        message of two blocks, the first marked for caching; "gemini" one of two parts.
        """
        if api == "openai":
            return [
                {"role": "system", "content": self.text},
                {"role": "user", "content": self.query},
            ]
        if api == "anthropic":
            blocks: list[dict[str, Any]] = [
                {"type": "text", "text": text} for text in (self.text, self.query) if text
            ]
            if self.text:
                blocks[0]["cache_control"] = {"type": "ephemeral"}
            return [{"role": "user", "content": blocks}]
        if api == "gemini":
            parts = [{"text": text} for text in (self.text, self.query) if text]
            return [{"role": "user", "parts": parts}]
        raise InvalidInput(f"api {api!r} is not one of {', '.join(APIS)}")
