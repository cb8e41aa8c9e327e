"""Prompting: what a model is asked, from versioned files, with what was said fenced in as data."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

from incumbent.language.llm.asking import Ask
from incumbent.language.llm.checking import days_in

VERSION = 2
"""Of the prompt and its schema. A change of either is a new pair of files and a new number."""
_LONGEST_TURN = 8_000
_LONGEST_FACT = 400
_LONGEST_QUOTE = 500
_LONGEST_NAME = 60
_FEW = 2
_CHARACTERS_EACH = 40
"""A turn of so many characters more may say one thing more."""
_MOST_DAYS = 20
_PARTS_EACH = 2
"""So many stretches of a fact may be out of date, on average."""
_FENCE_BYTES = 12
_CONFIDENCES = [tenth / 10 for tenth in range(11)]
"""Named one by one: grammars that hold a model to a schema know no bounds for fractions."""


@dataclass(frozen=True)
class Prompt:
    """A prompt as its files have it."""

    version: int
    instructions: str
    schema: dict[str, Any]
    digest: str
    """The beginning of a hash over both files, so that a verdict names the very words."""

    @property
    def name(self) -> str:
        return f"propose@{self.version}"


@cache
def prompt(version: int = VERSION) -> Prompt:
    """The prompt of a version."""
    folder = files("incumbent.language.llm") / "prompts"
    words = (folder / f"propose_v{version}.md").read_bytes()
    schema = (folder / f"propose_v{version}.json").read_bytes()
    digest = hashlib.sha256(words + b"\0" + schema).hexdigest()[:12]
    return Prompt(version, words.decode("utf-8"), json.loads(schema), digest)


@dataclass(frozen=True)
class SentTurn:
    """A turn as a model is shown it."""

    index: int
    speaker: str
    text: str
    is_read: bool
    """Whether proposals are wanted from it."""
    day: str = ""


@dataclass(frozen=True)
class SentFact:
    """A fact in office as a model is shown it: under a name that holds for one request."""

    handle: str
    key: str
    about: str
    says: str
    turn: int | None = None
    """The turn that brought it, if it is one of those that are read."""
    day: str = ""
    """When it was said."""
    by: str = ""
    """Who said it."""
    is_doubted: bool = False
    """Whether one of the turns put it in doubt."""
    scope: str = "global"


@dataclass(frozen=True)
class SentChange:
    """A fact that a turn was taken to replace."""

    handle: str
    turn: int
    was: str
    now: str


@dataclass(frozen=True)
class Briefing:
    """All that a model is told."""

    at: datetime
    turns: tuple[SentTurn, ...]
    known: tuple[SentFact, ...] = ()
    replaced: tuple[SentChange, ...] = ()


def ask_for(
    briefing: Briefing,
    max_output_tokens: int,
    token: Callable[[int], str] = secrets.token_hex,
) -> Ask:
    """The request for a briefing.

    What was said is encoded as JSON, between lines that nobody who spoke could have known.
    """
    chosen = prompt()
    fence = f"data-{token(_FENCE_BYTES)}"
    data = json.dumps(_document(briefing), ensure_ascii=False)
    text = f"<{fence}>\n{data}\n</{fence}>"
    schema = _bounded(chosen.schema, briefing)
    return Ask(chosen.instructions, text, schema, max_output_tokens)


def _bounded(schema: dict[str, Any], briefing: Briefing) -> dict[str, Any]:
    """The schema with what this request allows: its turns, its facts, and no endless answers.

    A provider that holds a model to a schema cannot bring back what was never shown; what another
    brings back is checked all the same.
    """
    bounded = deepcopy(schema)
    read = [turn for turn in briefing.turns if turn.is_read]
    longest = min(max((len(turn.text) for turn in read), default=1), _LONGEST_QUOTE)
    most = sum(_FEW + len(turn.text) // _CHARACTERS_EACH for turn in read)
    lists = bounded["properties"]
    entries = {name: told["items"]["properties"] for name, told in lists.items()}
    for one in entries.values():
        if read:
            one["turn"] |= {"minimum": read[0].index, "maximum": read[-1].index}
        one["quote"]["maxLength"] = longest
    lists["candidates"]["maxItems"] = lists["keeps"]["maxItems"] = most
    proposed = entries["candidates"]
    proposed["confidence"]["enum"] = _CONFIDENCES
    proposed["value"]["maxLength"] = longest
    proposed["about"]["maxLength"] = proposed["attribute"]["maxLength"] = _LONGEST_NAME
    replaced = proposed["replaces"]["items"]["properties"]
    replaced["old"]["maxLength"] = entries["fates"]["old"]["maxLength"] = _longest_told(briefing)
    entries["fates"]["from"]["enum"] = ["", *_days_ahead(briefing)]
    known = [fact.handle for fact in briefing.known]
    changed = [change.handle for change in briefing.replaced]
    _limit(proposed["replaces"], replaced["fact"], known)
    _limit(lists["objections"], entries["objections"]["fact"], changed)
    _limit(lists["fates"], entries["fates"]["fact"], [*known, *changed])
    lists["fates"]["maxItems"] *= _PARTS_EACH
    return bounded


def _longest_told(briefing: Briefing) -> int:
    """The length of the longest fact that is shown: no words of one are longer."""
    told = [fact.says for fact in briefing.known] + [change.was for change in briefing.replaced]
    return min(max((len(says) for says in told), default=1), _LONGEST_FACT)


def _days_ahead(briefing: Briefing) -> list[str]:
    """The days to come that the turns name: from which something can be otherwise."""
    found = set()
    for turn in briefing.turns:
        if turn.is_read:
            said = datetime.fromisoformat(turn.day) if turn.day else briefing.at
            at = said.replace(tzinfo=briefing.at.tzinfo)
            found |= {day for day in days_in(turn.text, at) if day > at.date()}
    return [day.isoformat() for day in sorted(found)[:_MOST_DAYS]]


def _limit(items: dict[str, Any], name: dict[str, Any], handles: list[str]) -> None:
    """Let a list name each of these once at most."""
    items["maxItems"] = len(handles)
    if handles:
        name["enum"] = handles


def _document(briefing: Briefing) -> dict[str, Any]:
    return {
        "today": briefing.at.date().isoformat(),
        "turns": [
            {
                "turn": turn.index,
                "day": turn.day,
                "speaker": turn.speaker,
                "text": turn.text[:_LONGEST_TURN],
                "read": turn.is_read,
            }
            for turn in briefing.turns
        ],
        "known": [
            {
                "id": fact.handle,
                "key": fact.key,
                "about": fact.about,
                "says": fact.says[:_LONGEST_FACT],
                "day": fact.day,
                "by": fact.by,
                "turn": fact.turn,
                "doubted": fact.is_doubted,
                **({"scope": fact.scope} if fact.scope != "global" else {}),
            }
            for fact in briefing.known
        ],
        "replaced": [
            {
                "id": change.handle,
                "turn": change.turn,
                "was": change.was[:_LONGEST_FACT],
                "now": change.now[:_LONGEST_FACT],
            }
            for change in briefing.replaced
        ],
    }
