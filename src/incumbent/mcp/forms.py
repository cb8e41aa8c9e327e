"""Forms: what each tool takes, as a model reads it. Anything else in a call is refused."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

_MOST_SUPPOSED = 20
DEFAULT_BUDGET = 2000

KeyOrId = Annotated[
    str,
    Field(
        description="Which fact: its key, such as 'shipping_address', or its id as other tools "
        "give it."
    ),
]
About = Annotated[
    str | None,
    Field(
        description="Whom or what the fact is about, where one key has facts about several: "
        "'order 4711', 'bob'. Leave it out for the user's own."
    ),
]
Query = Annotated[
    str, Field(description="The question or task at hand, in a sentence. Facts are chosen by it.")
]
Budget = Annotated[
    int,
    Field(ge=1, le=200_000, description="The most tokens that the context may have."),
]


def _as_list(given: Any) -> Any:
    """A list that a client sent as text, or a single thing where a list was wanted."""
    if not isinstance(given, str):
        return given
    try:
        parsed = json.loads(given)
    except (ValueError, RecursionError):
        return [given]
    return parsed if isinstance(parsed, list) else [given]


class ToolArguments(BaseModel):
    """What a tool takes."""

    model_config = ConfigDict(extra="forbid")


class Does(ToolArguments):
    to: str = Field(description="The fact: its id, or its key.")
    kind: Literal[
        "replaces", "part", "ends", "reverts", "doubts", "confirms", "adds", "depends"
    ] = Field(
        alias="is",
        description="replaces: stands in its place; part: one stretch of it changed, old to new; "
        "ends: it is over; reverts: what was so before it is so again; doubts: may be out of date; "
        "confirms: says the same; adds: says more; depends: rests on it.",
    )
    old: str = Field("", description="With part: the words of the fact that changed.")
    new: str = Field("", description="With part: what stands for them now, as it was said.")
    sure: bool = Field(True, description="False where it is only likely: then both are shown.")


class Read(ToolArguments):
    quote: str = Field(description="The sentence of the text, or enough of its words.")
    says: str = Field(
        "",
        description="If it cannot be understood alone: the same as one plain sentence, with no "
        "name, number or day that nobody said.",
    )
    about: str = Field("", description="Whom or what a plain value is about; empty for the user.")
    attribute: str = Field("", description="Its name, such as 'shipping address'.")
    value: str = Field("", description="The value, copied from the text.")
    begins: str = Field("", alias="from", description="The day to come (YYYY-MM-DD) it begins.")
    until: str = Field("", description="The day to come on which it stops.")
    does: list[Does] = Field(default_factory=list, description="What it does to known facts.")


class Remember(ToolArguments):
    text: str | None = Field(
        None,
        description="Words to remember, exactly as they were said, not a summary of yours. Facts "
        "are read out of them. Give either text, or key and value.",
    )
    said_by: str = Field(
        "user",
        description="Who said the text: 'user' for the person you talk with, 'assistant' for "
        "yourself, or the name of somebody else. What an assistant says is kept as context of the "
        "conversation and never becomes a fact.",
    )
    reading: Annotated[list[Read] | None, BeforeValidator(_as_list)] = Field(
        None,
        description="With text, if you know what it changes: the sentences of it that will matter, "
        "and what each does to known facts. It is checked against the words; without it the text "
        "is read by rules, which miss much of what changes in passing.",
    )
    key: str | None = Field(
        None,
        description="Instead of text: a short name for one fact, in snake_case, such as "
        "'shipping_address'. The same key again replaces the value.",
    )
    value: Any = Field(None, description="The value at that key: any JSON value but null.")
    about: About = None
    depends_on: Annotated[list[str], BeforeValidator(_as_list)] = Field(
        default_factory=list,
        description="Keys or ids of the facts that this value follows from. When one of them "
        "changes, this one is marked for review.",
    )
    doubts: Annotated[list[str], BeforeValidator(_as_list)] = Field(
        default_factory=list,
        description="Keys or ids of facts that this may have replaced, where nobody has said so. "
        "They are shown as possibly outdated, and are up for review.",
    )


class ContextOf(ToolArguments):
    query: Query
    budget: Budget = DEFAULT_BUDGET
    history: bool = Field(
        False, description="Whether to add what used to be true, marked as such. Rarely needed."
    )
    annotated: bool = Field(
        False,
        description="Whether each fact comes with its id, date and source: for when you want to "
        "correct or explain one of them. Takes more tokens.",
    )


class Correct(ToolArguments):
    key_or_id: KeyOrId
    value: Any = Field(
        None,
        description="The right value: any JSON value but null. It supersedes the one that holds.",
    )
    retract: bool = Field(
        False, description="Instead of a value: take the fact back, with nothing in its place."
    )
    reason: str | None = Field(None, description="With retract: why, in a few words.")
    about: About = None


class Named(ToolArguments):
    key_or_id: KeyOrId
    about: About = None


class HistoryOf(ToolArguments):
    key: str = Field(description="The key, such as 'shipping_address'.")
    about: About = None


class Supposed(ToolArguments):
    """A fact to suppose, by its key."""

    key: str
    value: Any


class WhatIf(ToolArguments):
    suppose: Annotated[list[str | Supposed], BeforeValidator(_as_list)] = Field(
        min_length=1,
        max_length=_MOST_SUPPOSED,
        description="What to suppose, each as a plain statement ('The budget is $900.', not 'What "
        'if the budget were $900?\') or as {"key": ..., "value": ...}.',
    )
    query: Query
    budget: Budget = DEFAULT_BUDGET


class ReviewsOf(ToolArguments):
    settle: str | None = Field(
        None, description="The id of a fact under review, to settle it. Without it, lists them."
    )
    value: Any = Field(None, description="With settle: the new value.")
    still_right: bool = Field(
        False, description="With settle: the fact is right as it is; a contested one takes office."
    )
    retract: bool = Field(False, description="With settle: take the fact back.")
    reason: str | None = Field(None, description="With settle: why, in a few words.")


class Forget(ToolArguments):
    key_or_id: KeyOrId
    about: About = None
