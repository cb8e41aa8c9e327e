"""A context: the text a model reads, its lines with their provenance, and the omissions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
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
        spelled = spelled_of(self)
        told = LinesTold.of(self.lines) if spelled is None else spelled.lines_told(self)
        return id_of(lines=told, **self._proven())

    def _proven(self) -> dict[str, Any]:
        """What a receipt tells besides the lines."""
        return {name: getattr(self, name) for name in _PROVEN}

    def __getstate__(self) -> dict[str, Any]:
        """What goes to another process: not what the copies here share."""
        return {name: value for name, value in self.__dict__.items() if name != _SPELLED}

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


class Spelled:
    """The lines and omissions of a context in writing, for copies of it that have the same ones.

    It lasts as long as the context is kept, and keeps so many bytes at most: what takes more, such
    as long quotes of sources, is spelled every time.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._told: LinesTold | None = None
        self._parts: bytes | None = None

    def lines_told(self, context: Context) -> LinesTold:
        """The lines as a receipt has them."""
        told = self._told or LinesTold.of(context.lines)
        if self._told is None and self._takes(len(told.json)):
            self._told = told
        return told

    def parts(self, make: Callable[[], bytes]) -> bytes:
        """Lines and omissions as JSON, made of them unless they are there."""
        parts = self._parts or make()
        if self._parts is None and self._takes(len(parts)):
            self._parts = parts
        return parts

    def _takes(self, size: int) -> bool:
        fits = size <= self._room
        self._room -= size if fits else 0
        return fits


def copied(context: Context, at: datetime, spelled: Spelled) -> Context:
    """The same context at another moment. What is spelled of one copy is there for all."""
    copy = replace(context, at=at)
    copy.__dict__[_SPELLED] = spelled
    return copy


def spelled_of(context: Context) -> Spelled | None:
    """What its copies share; None for a context that is no copy."""
    return context.__dict__.get(_SPELLED)


_SPELLED = "_spelled"
